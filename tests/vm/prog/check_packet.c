/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf_ptype.h>

#include "check.h"

/** Frames that were received and not sent yet. */
#define HELD_MAX 512
/** A frame that is not there by then does not come. */
#define RX_MS 10000

static struct rte_mbuf *held[HELD_MAX];
static uint16_t held_count;

static const struct named tx_flags[] = {
	{"ip", RTE_MBUF_F_TX_IP_CKSUM},
	{"ipv4", RTE_MBUF_F_TX_IPV4},
	{"ipv6", RTE_MBUF_F_TX_IPV6},
	{"udp", RTE_MBUF_F_TX_UDP_CKSUM},
	{"tcp", RTE_MBUF_F_TX_TCP_CKSUM},
	{"sctp", RTE_MBUF_F_TX_SCTP_CKSUM},
	{"tso", RTE_MBUF_F_TX_TCP_SEG},
	{"vlan", RTE_MBUF_F_TX_VLAN},
	{"qinq", RTE_MBUF_F_TX_QINQ},
	{NULL, 0},
};

uint32_t
packet_crc(const struct rte_mbuf *packet)
{
	const struct rte_mbuf *segment;
	uint32_t crc = UINT32_MAX;
	uint16_t i;
	int bit;

	for (segment = packet; segment != NULL; segment = segment->next) {
		for (i = 0; i < segment->data_len; i++) {
			crc ^= *rte_pktmbuf_mtod_offset(segment, const uint8_t *, i);
			for (bit = 0; bit < 8; bit++)
				crc = crc >> 1 ^ (UINT32_C(0xedb88320) & -(crc & 1));
		}
	}
	return ~crc;
}

static const char *
cksum_word(uint64_t flags, uint64_t mask, uint64_t good, uint64_t bad)
{
	if ((flags & mask) == good)
		return "good";
	if ((flags & mask) == bad)
		return "bad";
	return (flags & mask) == 0 ? "unknown" : "none";
}

/** What a driver says of a packet, in one line. */
static void
packet_say(uint16_t port, uint16_t queue, const struct rte_mbuf *packet)
{
	char ptype[128], hash[16] = "-", vlan[16] = "-", outer[16] = "-";
	uint64_t flags = packet->ol_flags;
	char *c;

	rte_get_ptype_name(packet->packet_type, ptype, sizeof(ptype));
	/* "L2_ETHER L3_IPV4 L4_UDP " in one word. */
	for (c = ptype; *c != '\0'; c++)
		*c = *c != ' ' ? *c : c[1] == '\0' ? '\0' : '+';
	if (flags & RTE_MBUF_F_RX_RSS_HASH)
		snprintf(hash, sizeof(hash), "%08x", packet->hash.rss);
	if (flags & RTE_MBUF_F_RX_VLAN)
		snprintf(vlan, sizeof(vlan), "%u%s", packet->vlan_tci,
			flags & RTE_MBUF_F_RX_VLAN_STRIPPED ? "" : "*");
	if (flags & RTE_MBUF_F_RX_QINQ)
		snprintf(outer, sizeof(outer), "%u%s", packet->vlan_tci_outer,
			flags & RTE_MBUF_F_RX_QINQ_STRIPPED ? "" : "*");
	say("port=%u q=%u len=%u segs=%u crc=%08x ip=%s l4=%s ptype=%s hash=%s vlan=%s outer=%s",
		port, queue, packet->pkt_len, packet->nb_segs, packet_crc(packet),
		cksum_word(flags, RTE_MBUF_F_RX_IP_CKSUM_MASK, RTE_MBUF_F_RX_IP_CKSUM_GOOD,
			RTE_MBUF_F_RX_IP_CKSUM_BAD),
		cksum_word(flags, RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_GOOD,
			RTE_MBUF_F_RX_L4_CKSUM_BAD),
		ptype, hash, vlan, outer);
}

/* rx PORT [n=1] [q=Q] [quiet]: waits for so many packets in all queues, or one, and holds them. */
int
check_rx(const struct words *words)
{
	uint16_t port = words_port(words), count = (uint16_t)words_number(words, "n", 1), got, i;
	uint16_t first = (uint16_t)words_number(words, "q", 0), last = first, queue, n = 0;
	struct rte_eth_dev_info info;
	struct rte_mbuf **packets;
	int left, ret;

	ret = rte_eth_dev_info_get(port, &info);
	if (ret != 0)
		return ret;
	if (words_get(words, "q") == NULL)
		last = info.nb_rx_queues - 1;
	for (left = RX_MS; left > 0 && n < count; left--) {
		for (queue = first; queue <= last && n < count; queue++) {
			if (held_count >= HELD_MAX)
				return -ENOSPC;
			packets = &held[held_count];
			got = rte_eth_rx_burst(
				port, queue, packets, RTE_MIN(count - n, HELD_MAX - held_count));
			held_count += got;
			n += got;
			for (i = 0; i < got && !words_has(words, "quiet"); i++)
				packet_say(port, queue, packets[i]);
		}
		if (n < count)
			rte_delay_us_sleep(1000);
	}
	answer("n=%u held=%u", n, held_count);
	return n == count ? 0 : -ETIME;
}

/** A copy from a pool, whose segments have so many bytes, or NULL. */
static struct rte_mbuf *
packet_cut(const struct rte_mbuf *packet, struct rte_mempool *pool, uint16_t size)
{
	struct rte_mbuf *head = NULL, *segment;
	uint32_t at = 0;
	const void *data;
	uint16_t length;

	while (at < packet->pkt_len) {
		length = (uint16_t)RTE_MIN(size, packet->pkt_len - at);
		segment = rte_pktmbuf_alloc(pool);
		if (segment == NULL)
			break;
		segment->data_len = length;
		segment->pkt_len = length;
		data = rte_pktmbuf_read(packet, at, length, rte_pktmbuf_mtod(segment, void *));
		if (data != rte_pktmbuf_mtod(segment, void *))
			memcpy(rte_pktmbuf_mtod(segment, void *), data, length);
		if (head == NULL) {
			head = segment;
		} else if (rte_pktmbuf_chain(head, segment) != 0) {
			rte_pktmbuf_free(segment);
			break;
		}
		at += length;
	}
	if (at == packet->pkt_len)
		return head;
	rte_pktmbuf_free(head);
	return NULL;
}

/** What the packets held are to be sent as. */
static int
packets_mark(const struct words *words)
{
	const char *pool = words_get(words, "pool");
	struct rte_mbuf *packet, *cut;
	uint16_t i, size = (uint16_t)words_number(words, "seg", 0);
	uint64_t flags, length = words_number(words, "len", UINT32_MAX);

	if (names_parse(words_get(words, "flags"), tx_flags, &flags) != 0)
		return -EINVAL;
	for (i = 0; i < held_count; i++) {
		packet = held[i];
		if (length < packet->pkt_len)
			rte_pktmbuf_trim(packet, (uint16_t)(packet->pkt_len - length));
		if (size != 0 || pool != NULL) {
			cut = packet_cut(packet, pool != NULL ? check_pool(pool) : packet->pool,
				size != 0 ? size : CHECK_ROOM);
			if (cut == NULL)
				return -ENOMEM;
			rte_pktmbuf_free(packet);
			packet = held[i] = cut;
		}
		if (words_has(words, "aim"))
			packet->buf_iova = check_victim_zone()->iova;
		/* Where its data lie is not ours to say. */
		packet->ol_flags =
			flags | (packet->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL));
		packet->l2_len = words_number(words, "l2", 14) & 0x7f;
		packet->l3_len = words_number(words, "l3", 0) & 0x1ff;
		packet->l4_len = words_number(words, "l4", 0) & 0xff;
		packet->tso_segsz = (uint16_t)words_number(words, "mss", 0);
		packet->vlan_tci = (uint16_t)words_number(words, "vid", 0);
		packet->vlan_tci_outer = (uint16_t)words_number(words, "outer", 0);
	}
	return 0;
}

/* tx PORT [q=0] [flags=NAMES] [l2=14] [l3=0] [l4=0] [mss=0] [vid=0] [seg=SIZE] [len=SIZE]
 * [pool=NAME] [aim]: what is held, or a copy from a pool; from the memory of the victim. */
int
check_tx(const struct words *words)
{
	uint16_t port = words_port(words), queue = (uint16_t)words_number(words, "q", 0);
	uint16_t sent = 0, ready;
	int left = RX_MS, ret;

	ret = packets_mark(words);
	if (ret != 0)
		return ret;
	ready = rte_eth_tx_prepare(port, queue, held, held_count);
	if (ready != held_count) {
		answer("packet %u is refused", ready);
		return -rte_errno;
	}
	while (sent < held_count && left > 0) {
		sent += rte_eth_tx_burst(port, queue, &held[sent], held_count - sent);
		if (sent < held_count)
			rte_delay_us_sleep(1000);
		left--;
	}
	answer("n=%u", sent);
	memmove(held, &held[sent], (held_count - sent) * sizeof(held[0]));
	held_count -= sent;
	return held_count == 0 ? 0 : -ETIME;
}

int
check_drop(const struct words *words)
{
	(void)words;
	answer("n=%u", held_count);
	rte_pktmbuf_free_bulk(held, held_count);
	held_count = 0;
	return 0;
}
