/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Receive side scaling: which fields are hashed, the key, and the table of 128 entries that turns a
 * hash into a queue. 82576EB datasheet, MRQC, RETA, RSSRK.
 *
 * Key and types come from the configuration, or from a later update, which then holds across stop
 * and start until the port is configured anew. Reading them is for any process, changing them for
 * the primary.
 */
#include <errno.h>
#include <string.h>

#include "ppigb.h"

#define KEY_LEN  (4u * PPIGB_KEY_WORDS)
#define MODE_RSS 2u /**< MRQC.MODE. */

/** The key that Microsoft's RSS specification verifies hashes with. */
static const uint8_t default_key[KEY_LEN] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41,
	0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
	0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01,
	0xfa};

/**
 * Each type is the bit of the same meaning. QEMU 10.0.2 knows TCP over IPv6 only by TCP6EX, and
 * ignores TCP6 and UDP6EX (measured); nothing is added behind the application's back to help it:
 * who wants TCP over IPv6 there asks for RTE_ETH_RSS_IPV6_TCP_EX as well.
 */
static const struct {
	uint64_t type;
	uint32_t mrqc;
} hash_bits[] = {
	{RTE_ETH_RSS_IPV4, PPIGB_F(MRQC, IP4)},
	{RTE_ETH_RSS_NONFRAG_IPV4_TCP, PPIGB_F(MRQC, TCP4)},
	{RTE_ETH_RSS_NONFRAG_IPV4_UDP, PPIGB_F(MRQC, UDP4)},
	{RTE_ETH_RSS_IPV6, PPIGB_F(MRQC, IP6)},
	{RTE_ETH_RSS_NONFRAG_IPV6_TCP, PPIGB_F(MRQC, TCP6)},
	{RTE_ETH_RSS_NONFRAG_IPV6_UDP, PPIGB_F(MRQC, UDP6)},
	{RTE_ETH_RSS_IPV6_EX, PPIGB_F(MRQC, IP6EX)},
	{RTE_ETH_RSS_IPV6_TCP_EX, PPIGB_F(MRQC, TCP6EX)},
	{RTE_ETH_RSS_IPV6_UDP_EX, PPIGB_F(MRQC, UDP6EX)},
};

/** No type at all turns RSS off (rte_eth_dev_rss_hash_update): every packet goes to queue 0. */
static void
mrqc_write(const struct ppigb *p)
{
	uint32_t mrqc = 0;

	for (unsigned int i = 0; i < RTE_DIM(hash_bits); i++) {
		if ((p->rss_hf & hash_bits[i].type) != 0)
			mrqc |= hash_bits[i].mrqc;
	}
	if (mrqc != 0)
		mrqc |= PPIGB_V(MRQC, MODE, MODE_RSS);
	ppigb_wr(p, PPIGB_REG(MRQC), mrqc);
}

/** Key and table are bytes, four of them a register. */
static void
bytes_write(const struct ppigb *p, uint32_t offset, const uint8_t *bytes, unsigned int n)
{
	for (unsigned int i = 0; i < n; i += 4)
		ppigb_wr(p, offset + i, ppigb_bytes(bytes + i));
}

static void
key_write(const struct ppigb *p)
{
	bytes_write(p, PPIGB_REG(RSSRK), p->rss_key, KEY_LEN);
}

static void
reta_write(const struct ppigb *p)
{
	bytes_write(p, PPIGB_REG(RETA), p->reta, PPIGB_RETA_SIZE);
}

/** A length of 0 is taken as 40: DPDK 22.11 says of rss_key_len that most drivers do not look. */
static int
key_set(struct ppigb *p, const struct rte_eth_rss_conf *conf)
{
	if (conf->rss_key == NULL)
		return 0;
	if (conf->rss_key_len != 0 && conf->rss_key_len != KEY_LEN) {
		PPIGB_LOG(ERR, p->name, "RSS key of %u bytes: it must have %u", conf->rss_key_len,
			KEY_LEN);
		return -EINVAL;
	}
	memcpy(p->rss_key, conf->rss_key, KEY_LEN);
	return 0;
}

/** The application's table holds as long as every queue it names exists. */
static bool
reta_usable(const struct rte_eth_dev *dev)
{
	const struct ppigb *p = ppigb_priv(dev);

	if (!p->reta_set)
		return false;
	for (unsigned int i = 0; i < PPIGB_RETA_SIZE; i++) {
		if (p->reta[i] >= dev->data->nb_rx_queues) {
			PPIGB_LOG(WARNING, p->name,
				"RSS table names queue %u of %u: it is back to an even spread; set "
				"it again",
				p->reta[i], dev->data->nb_rx_queues);
			return false;
		}
	}
	return true;
}

int
ppigb_rss_configure(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	const struct rte_eth_conf *conf = &dev->data->dev_conf;

	if (!reta_usable(dev)) {
		p->reta_set = false;
		for (unsigned int i = 0; i < PPIGB_RETA_SIZE; i++)
			p->reta[i] = (uint8_t)(i % RTE_MAX(dev->data->nb_rx_queues, 1));
	}
	p->rss_hf = 0;
	memcpy(p->rss_key, default_key, KEY_LEN);
	if ((conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) == 0)
		return 0;
	if (key_set(p, &conf->rx_adv_conf.rss_conf) != 0)
		return -EINVAL;
	p->rss_hf = conf->rx_adv_conf.rss_conf.rss_hf & PPIGB_RSS_TYPES;
	return 0;
}

/**
 * Key, table and types, since a reset clears them. MRQC last, and while receive is off
 * (82576EB datasheet, MRQC).
 */
int
ppigb_rss_start(struct rte_eth_dev *dev)
{
	const struct ppigb *p = ppigb_priv(dev);

	key_write(p);
	reta_write(p);
	mrqc_write(p);
	return 0;
}

/** Types that are not ours have been refused by ethdev, which knows them from dev_info. */
int
ppigb_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	struct ppigb *p = ppigb_priv(dev);

	if (key_set(p, conf) != 0)
		return -EINVAL;
	p->rss_hf = conf->rss_hf;
	if (dev->data->dev_started) {
		key_write(p);
		mrqc_write(p);
		ppigb_flush(p);
	}
	return 0;
}

int
ppigb_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf)
{
	const struct ppigb *p = ppigb_priv(dev);

	conf->rss_hf = p->rss_hf;
	if (conf->rss_key == NULL)
		return 0;
	if (conf->rss_key_len != 0 && conf->rss_key_len < KEY_LEN)
		return -EINVAL;
	memcpy(conf->rss_key, p->rss_key, KEY_LEN);
	conf->rss_key_len = KEY_LEN;
	return 0;
}

/** Entry i of an application's table, or NULL if it is not meant. */
static uint16_t *
reta_entry(struct rte_eth_rss_reta_entry64 *conf, unsigned int i)
{
	conf += i / RTE_ETH_RETA_GROUP_SIZE;
	i %= RTE_ETH_RETA_GROUP_SIZE;
	return (conf->mask >> i & 1) != 0 ? &conf->reta[i] : NULL;
}

/** ethdev has seen to it that the queues exist. Packets already hashed keep the queue they had. */
int
ppigb_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size)
{
	struct ppigb *p = ppigb_priv(dev);

	if (size != PPIGB_RETA_SIZE) {
		PPIGB_LOG(ERR, p->name, "RSS table of %u entries: it must have %u", size,
			PPIGB_RETA_SIZE);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < size; i++) {
		if (reta_entry(conf, i) != NULL)
			p->reta[i] = (uint8_t)*reta_entry(conf, i);
	}
	p->reta_set = true;
	if (dev->data->dev_started) {
		reta_write(p);
		ppigb_flush(p);
	}
	return 0;
}

int
ppigb_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size)
{
	const struct ppigb *p = ppigb_priv(dev);

	if (size != PPIGB_RETA_SIZE)
		return -EINVAL;
	for (unsigned int i = 0; i < size; i++) {
		if (reta_entry(conf, i) != NULL)
			*reta_entry(conf, i) = p->reta[i];
	}
	return 0;
}
