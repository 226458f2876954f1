/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_errno.h>
#include <rte_ether.h>

#include "check.h"

/** How long a link may take: the emulated NIC needs half a second. */
#define LINK_MS 10000

static const struct named rx_offloads[] = {
	{"vlan_strip", RTE_ETH_RX_OFFLOAD_VLAN_STRIP},
	{"vlan_filter", RTE_ETH_RX_OFFLOAD_VLAN_FILTER},
	{"vlan_extend", RTE_ETH_RX_OFFLOAD_VLAN_EXTEND},
	{"qinq_strip", RTE_ETH_RX_OFFLOAD_QINQ_STRIP},
	{"ipv4_cksum", RTE_ETH_RX_OFFLOAD_IPV4_CKSUM},
	{"udp_cksum", RTE_ETH_RX_OFFLOAD_UDP_CKSUM},
	{"tcp_cksum", RTE_ETH_RX_OFFLOAD_TCP_CKSUM},
	{"sctp_cksum", RTE_ETH_RX_OFFLOAD_SCTP_CKSUM},
	{"keep_crc", RTE_ETH_RX_OFFLOAD_KEEP_CRC},
	{"scatter", RTE_ETH_RX_OFFLOAD_SCATTER},
	{"rss_hash", RTE_ETH_RX_OFFLOAD_RSS_HASH},
	{NULL, 0},
};

static const struct named tx_offloads[] = {
	{"vlan_insert", RTE_ETH_TX_OFFLOAD_VLAN_INSERT},
	{"qinq_insert", RTE_ETH_TX_OFFLOAD_QINQ_INSERT},
	{"ipv4_cksum", RTE_ETH_TX_OFFLOAD_IPV4_CKSUM},
	{"udp_cksum", RTE_ETH_TX_OFFLOAD_UDP_CKSUM},
	{"tcp_cksum", RTE_ETH_TX_OFFLOAD_TCP_CKSUM},
	{"sctp_cksum", RTE_ETH_TX_OFFLOAD_SCTP_CKSUM},
	{"tcp_tso", RTE_ETH_TX_OFFLOAD_TCP_TSO},
	{"multi_segs", RTE_ETH_TX_OFFLOAD_MULTI_SEGS},
	{"fast_free", RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE},
	{NULL, 0},
};

static const struct named rss_types[] = {
	{"ipv4", RTE_ETH_RSS_IPV4},
	{"ipv4_tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP},
	{"ipv4_udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP},
	{"ipv6", RTE_ETH_RSS_IPV6},
	{"ipv6_tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP},
	{"ipv6_udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP},
	{"ipv6_ex", RTE_ETH_RSS_IPV6_EX},
	{"ipv6_tcp_ex", RTE_ETH_RSS_IPV6_TCP_EX},
	{"ipv6_udp_ex", RTE_ETH_RSS_IPV6_UDP_EX},
	{NULL, 0},
};

int
check_ports(const struct words *words)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t port;

	(void)words;
	RTE_ETH_FOREACH_DEV(port) {
		if (rte_eth_dev_get_name_by_port(port, name) == 0)
			say("port=%u name=%s", port, name);
	}
	answer("ports=%u", rte_eth_dev_count_avail());
	return 0;
}

/* attach ADDRESS[,DEVARGS]: of a PCI device. */
int
check_attach(const struct words *words)
{
	return rte_dev_probe(words_at(words, 1));
}

/* detach PORT: closes it, and its device goes. */
int
check_detach(const struct words *words)
{
	struct rte_eth_dev_info info;
	uint16_t port = words_port(words);
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0)
		return ret;
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
	return rte_dev_remove(info.device);
}

int
check_info(const struct words *words)
{
	struct rte_eth_dev_info info;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_ether_addr address;
	uint16_t port = words_port(words), mtu = 0;
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0)
		return ret;
	rte_eth_macaddr_get(port, &address);
	rte_ether_format_addr(mac, sizeof(mac), &address);
	rte_eth_dev_get_mtu(port, &mtu);
	say("driver=%s rxq=%u txq=%u mac=%s mtu=%u max_mtu=%u promisc=%d allmulti=%d",
		info.driver_name, info.max_rx_queues, info.max_tx_queues, mac, mtu, info.max_mtu,
		rte_eth_promiscuous_get(port), rte_eth_allmulticast_get(port));
	say("reta=%u key=%u rx_min=%u rx_max=%u rx_align=%u tx_min=%u tx_max=%u tx_align=%u "
	    "macs=%u max_frame=%u",
		info.reta_size, info.hash_key_size, info.rx_desc_lim.nb_min,
		info.rx_desc_lim.nb_max, info.rx_desc_lim.nb_align, info.tx_desc_lim.nb_min,
		info.tx_desc_lim.nb_max, info.tx_desc_lim.nb_align, info.max_mac_addrs,
		info.max_rx_pktlen);
	say("rx_capa=%" PRIx64 " tx_capa=%" PRIx64 " rx_queue_capa=%" PRIx64 " dev_capa=%" PRIx64,
		info.rx_offload_capa, info.tx_offload_capa, info.rx_queue_offload_capa,
		info.dev_capa);
	return 0;
}

static int
queues_setup(uint16_t port, const struct words *words, uint16_t rx_queues, uint16_t tx_queues)
{
	uint16_t rxd = (uint16_t)words_number(words, "rxd", 256), queue;
	uint16_t txd = (uint16_t)words_number(words, "txd", 256);
	struct rte_mempool *pool = check_pool(CHECK_POOL);
	int ret;

	if (pool == NULL) {
		answer("no mbuf pool: %s", rte_strerror(rte_errno));
		return -ENOMEM;
	}
	for (queue = 0; queue < rx_queues; queue++) {
		ret = rte_eth_rx_queue_setup(port, queue, rxd, SOCKET_ID_ANY, NULL, pool);
		if (ret != 0) {
			answer("rx queue %u", queue);
			return ret;
		}
	}
	for (queue = 0; queue < tx_queues; queue++) {
		ret = rte_eth_tx_queue_setup(port, queue, txd, SOCKET_ID_ANY, NULL);
		if (ret != 0) {
			answer("tx queue %u", queue);
			return ret;
		}
	}
	return 0;
}

/** Waits until there is a link. */
static int
link_wait(uint16_t port, bool up)
{
	struct rte_eth_link link;
	int left;

	for (left = LINK_MS; left > 0; left--) {
		memset(&link, 0, sizeof(link));
		if (rte_eth_link_get_nowait(port, &link) == 0 &&
			link.link_status == (up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN)) {
			answer("link=%s speed=%u duplex=%u", up ? "up" : "down", link.link_speed,
				link.link_duplex);
			return 0;
		}
		rte_delay_us_sleep(1000);
	}
	answer("the link is not %s after %d ms", up ? "up" : "down", LINK_MS);
	return -ETIME;
}

/* start PORT [rxq=1] [txq=1] [rxd=256] [txd=256] [mtu=1500] [rx=NAMES] [tx=NAMES] [rss=NAMES] */
int
check_start(const struct words *words)
{
	uint16_t rx_queues = (uint16_t)words_number(words, "rxq", 1), port = words_port(words);
	uint16_t tx_queues = (uint16_t)words_number(words, "txq", 1);
	struct rte_eth_conf conf = {.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE}};
	int ret;

	if (names_parse(words_get(words, "rx"), rx_offloads, &conf.rxmode.offloads) != 0 ||
		names_parse(words_get(words, "tx"), tx_offloads, &conf.txmode.offloads) != 0 ||
		names_parse(
			words_get(words, "rss"), rss_types, &conf.rx_adv_conf.rss_conf.rss_hf) != 0)
		return -EINVAL;
	if (words_get(words, "rss") != NULL)
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf.rxmode.mtu = (uint32_t)words_number(words, "mtu", RTE_ETHER_MTU);
	ret = rte_eth_dev_stop(port);
	if (ret != 0) {
		answer("stop");
		return ret;
	}
	ret = rte_eth_dev_configure(port, rx_queues, tx_queues, &conf);
	if (ret != 0) {
		answer("configure");
		return ret;
	}
	ret = queues_setup(port, words, rx_queues, tx_queues);
	if (ret != 0)
		return ret;
	ret = rte_eth_dev_start(port);
	if (ret != 0) {
		answer("start");
		return ret;
	}
	return link_wait(port, true);
}

int
check_stop(const struct words *words)
{
	return rte_eth_dev_stop(words_port(words));
}

int
check_close(const struct words *words)
{
	uint16_t port = words_port(words);

	rte_eth_dev_stop(port);
	return rte_eth_dev_close(port);
}

/* link PORT [up|down]: waits for it. */
int
check_link(const struct words *words)
{
	return link_wait(words_port(words), strcmp(words_at(words, 2), "down") != 0);
}

int
check_mtu(const struct words *words)
{
	return rte_eth_dev_set_mtu(
		words_port(words), (uint16_t)strtoul(words_at(words, 2), NULL, 0));
}
