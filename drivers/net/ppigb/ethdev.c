/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * A port's life: configure, start, stop, close; what it can do.
 *
 * The order of start is that of DPDK 22.11 igb (eth_igb_start), where a reason is not given here.
 * The order of stop makes sure that the device does no DMA any more before an mbuf or a mapping
 * that it knows is given back: queues off and read back, bus mastering off, then mbufs; mappings
 * go at close, while the device still has its VFIO group.
 */
#include <errno.h>

#include <rte_cycles.h>

#include "compat.h"
#include "pack.h"
#include "pagepool_dma.h"
#include "ppigb.h"
#include "queue.h"

#define SPEEDS                                                                                     \
	(RTE_ETH_LINK_SPEED_10M_HD | RTE_ETH_LINK_SPEED_10M | RTE_ETH_LINK_SPEED_100M_HD |         \
		RTE_ETH_LINK_SPEED_100M | RTE_ETH_LINK_SPEED_1G)

/** Collision threshold of 802.3, for half duplex: 82576EB datasheet, TCTL.CT. */
#define COLLISIONS 15
/** RCTL.LBM: what is sent comes back from the MAC. */
#define LOOPBACK_MAC 1

int
ppigb_configure(struct rte_eth_dev *dev)
{
	struct rte_eth_conf *conf = &dev->data->dev_conf;
	const uint32_t speeds = conf->link_speeds & ~RTE_ETH_LINK_SPEED_FIXED;
	const char *name = ppigb_priv(dev)->name;

	if (conf->rxmode.mq_mode != RTE_ETH_MQ_RX_NONE &&
		conf->rxmode.mq_mode != RTE_ETH_MQ_RX_RSS) {
		PPIGB_LOG(
			ERR, name, "Rx mode %d: there are only none and RSS", conf->rxmode.mq_mode);
		return -ENOTSUP;
	}
	if (conf->txmode.mq_mode != RTE_ETH_MQ_TX_NONE) {
		PPIGB_LOG(ERR, name, "Tx mode %d: there is only none", conf->txmode.mq_mode);
		return -ENOTSUP;
	}
	if (speeds & ~SPEEDS ||
		(conf->link_speeds & RTE_ETH_LINK_SPEED_FIXED && __builtin_popcount(speeds) != 1)) {
		PPIGB_LOG(ERR, name,
			"link speeds 0x%x: 10, 100 (half or full), 1000 Mbit/s full;"
			" exactly one of them if it is to be fixed",
			conf->link_speeds);
		return -EINVAL;
	}
	if (conf->lpbk_mode > LOOPBACK_MAC) {
		PPIGB_LOG(ERR, name, "loopback mode %u: there are 0, none, and 1, in the MAC",
			conf->lpbk_mode);
		return -EINVAL;
	}
	if (conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG)
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_RSS_HASH;
	return ppigb_rss_configure(dev);
}

int
ppigb_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct ppigb_model *m = ppigb_model(ppigb_priv(dev));
	const struct rte_eth_desc_lim lim = {.nb_max = PPIGB_RING_MAX,
		.nb_min = PPIGB_RING_MIN,
		.nb_align = PPIGB_RING_ALIGN,
		.nb_seg_max = PPIGB_TX_SEGS_MAX,
		.nb_mtu_seg_max = PPIGB_TX_SEGS_MAX};

	info->min_rx_bufsize = PPIGB_RX_BUF_UNIT;
	info->max_rx_pktlen = PPIGB_FRAME_MAX;
	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_mtu = PPIGB_FRAME_MAX - PPIGB_OVERHEAD;
	info->max_rx_queues = m->nb_queues;
	info->max_tx_queues = m->nb_queues;
	info->max_mac_addrs = m->nb_rar;
	info->speed_capa = SPEEDS;
	info->rx_desc_lim = lim;
	info->tx_desc_lim = lim;
	info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_VLAN_FILTER |
				RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM |
				RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_KEEP_CRC |
				RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_RSS_HASH |
				(m->outer_vlan ? RTE_ETH_RX_OFFLOAD_VLAN_EXTEND : 0);
	info->tx_queue_offload_capa = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	info->tx_offload_capa = info->tx_queue_offload_capa | RTE_ETH_TX_OFFLOAD_VLAN_INSERT |
				RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
				RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_SCTP_CKSUM |
				RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	info->flow_type_rss_offloads = PPIGB_RSS_TYPES;
	info->reta_size = PPIGB_RETA_SIZE;
	info->hash_key_size = 4 * PPIGB_KEY_WORDS;
	info->dev_capa =
		RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP | RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP;
	info->default_rxconf = (struct rte_eth_rxconf){.rx_free_thresh = PPIGB_RX_CHUNK,
		.rx_thresh = {m->rx_pthresh, m->rx_hthresh, m->rx_wthresh}};
	info->default_txconf =
		(struct rte_eth_txconf){.tx_thresh = {m->tx_pthresh, m->tx_hthresh, m->tx_wthresh}};
	info->default_rxportconf =
		(struct rte_eth_dev_portconf){.burst_size = 32, .ring_size = 512, .nb_queues = 1};
	info->default_txportconf = info->default_rxportconf;
	return 0;
}

int
ppigb_is_removed(struct rte_eth_dev *dev)
{
	return ppigb_is_gone(ppigb_priv(dev), ppigb_pci(dev));
}

/** The limit is set by the length, LPE only says that it counts: 82576EB datasheet, RLPML. */
static void
frame_max_write(struct ppigb *p, uint16_t mtu)
{
	ppigb_wr(p, PPIGB_REG(RLPML), PPIGB_V(RLPML, RLPML, mtu + PPIGB_OVERHEAD));
}

/**
 * The burst functions were chosen for frames that fit into one buffer, or may not: this cannot
 * change while they run.
 */
int
ppigb_mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct ppigb *p = ppigb_priv(dev);

	for (uint16_t q = 0; q < dev->data->nb_rx_queues && dev->data->dev_started; q++) {
		const struct ppigb_rxq *rxq = dev->data->rx_queues[q];

		if (rxq != NULL && !dev->data->scattered_rx && ppigb_rxq_scatters(mtu, rxq)) {
			PPIGB_LOG(ERR, p->name,
				"MTU %u: frames of %u bytes do not fit into buffers of %u; stop"
				" the port first, or use offload scatter or larger mbufs",
				mtu, mtu + PPIGB_OVERHEAD, rxq->buf_size);
			return -EINVAL;
		}
	}
	if (dev->data->dev_started)
		frame_max_write(p, mtu);
	return 0;
}

/** All of the device but queues, link and interrupts, after a reset. */
static void
start_units(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	const struct rte_eth_conf *conf = &dev->data->dev_conf;
	const uint64_t rx = conf->rxmode.offloads;
	uint32_t csum = PPIGB_F(RXCSUM, PCSD);

	/* Firmware leaves the link alone. */
	ppigb_mod(p, PPIGB_REG(CTRL_EXT), 0, PPIGB_F(CTRL_EXT, DRV_LOAD));
	/* Errata workaround of DPDK 22.11 igb_rxtx.c: hash IPv6 with extension headers as without. */
	ppigb_mod(p, PPIGB_REG(RFCTL), 0, PPIGB_F(RFCTL, IPV6_EX_DIS));
	ppigb_mod(p, PPIGB_REG(TCTL), PPIGB_F(TCTL, CT) | PPIGB_F(TCTL, EN),
		PPIGB_F(TCTL, PSP) | PPIGB_F(TCTL, RTLC) | PPIGB_V(TCTL, CT, COLLISIONS));
	/* PCSD: the place of the fragment checksum in the descriptor is the RSS hash's (82576EB
	 * datasheet, RXCSUM). */
	if (rx & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM)
		csum |= PPIGB_F(RXCSUM, IPOFL);
	if (rx & (RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM))
		csum |= PPIGB_F(RXCSUM, TUOFL);
	ppigb_wr(p, PPIGB_REG(RXCSUM), csum);
	ppigb_wr(p, PPIGB_REG(RCTL),
		PPIGB_F(RCTL, BAM) | PPIGB_F(RCTL, LPE) |
			(rx & RTE_ETH_RX_OFFLOAD_KEEP_CRC ? 0 : PPIGB_F(RCTL, SECRC)) |
			PPIGB_V(RCTL, LBM, conf->lpbk_mode));
	frame_max_write(p, dev->data->mtu);
	ppigb_flow_ctrl_start(p);
	ppigb_filter_start(dev);
	ppigb_vlan_start(dev);
}

/** RCTL.EN or TCTL.EN. */
static void
unit_switch(struct ppigb *p, uint32_t offset, uint32_t enable, bool on)
{
	rte_spinlock_lock(&p->lock);
	ppigb_mod(p, offset, enable, on ? enable : 0);
	ppigb_flush(p);
	rte_spinlock_unlock(&p->lock);
}

int
ppigb_start(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	struct rte_pci_device *pci = ppigb_pci(dev);
	int ret;

	if (ppigb_is_gone(p, pci))
		return -EIO;
	ppigb_stats_poll(p); /* The reset clears them. */
	ret = ppigb_reset(p);
	if (ret == 0)
		ret = ppigb_bus_master(pci, true);
	if (ret < 0)
		return ret;
	start_units(dev);
	ret = ppigb_rss_start(dev);
	if (ret == 0)
		ret = ppigb_queues_start(dev);
	if (ret == 0)
		ret = ppigb_intr_start(dev);
	if (ret == 0)
		ret = ppigb_link_start(dev);
	if (ret == 0 && ppigb_is_gone(p, pci))
		ret = -EIO;
	if (ret < 0) {
		ppigb_intr_stop(dev);
		ppigb_queues_stop(dev);
		return ret;
	}
	unit_switch(p, PPIGB_REG(TCTL), PPIGB_F(TCTL, EN), true);
	unit_switch(p, PPIGB_REG(RCTL), PPIGB_F(RCTL, EN), true);
	ppigb_queues_run(dev);
	ppigb_link_update(dev, 0);
	return 0;
}

/** @return 0, or the error of ppigb_queues_stop(). */
int
ppigb_stop(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	const bool gone = ppigb_is_gone(p, ppigb_pci(dev));
	int ret;

#ifdef PPIGB_UNMAP_FIRST
	/* For a test only, which has to see it: the wrong order, and time for the device to show it. */
	ppigb_unreach_all(dev);
	pagepool_dma_detach_all(dev->device);
	rte_delay_us_sleep(300000);
#endif
	ppigb_intr_stop(dev);
	if (!gone)
		unit_switch(p, PPIGB_REG(RCTL), PPIGB_F(RCTL, EN), false);
	ret = ppigb_queues_stop(dev);
	if (!gone) {
		unit_switch(p, PPIGB_REG(TCTL), PPIGB_F(TCTL, EN), false);
		ppigb_stats_poll(p);
		(void)ppigb_link_down(dev);
	}
	p->link_off = true;
	ppigb_link_update(dev, 0);
	return ret;
}

/**
 * Whatever state the port is in: an application closes it also while, or after, it failed to start
 * or to stop. What the device may still write to stays as it is; with the VFIO group, which the bus
 * gives back next, the kernel resets it.
 */
int
ppigb_close(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);

	if (ppigb_stop(dev) < 0)
		PPIGB_LOG(ERR, p->name,
			"closed while it may still do DMA; its rings and their mbufs are lost");
	dev->data->dev_started = 0;
	ppigb_reach_fini(dev);
	ppigb_queues_release(dev);
	pagepool_dma_detach_all(dev->device);
	ppigb_pack_free(p);
	if (!ppigb_is_gone(p, ppigb_pci(dev)))
		ppigb_mod(p, PPIGB_REG(CTRL_EXT), PPIGB_F(CTRL_EXT, DRV_LOAD), 0);
	ppigb_intr_fini(dev);
	ppigb_stats_fini(p);
	return 0;
}

/** As new, but for its number: the application configures it again (rte_eth_dev_reset()). */
int
ppigb_dev_reset(struct rte_eth_dev *dev)
{
	struct ppigb *p = ppigb_priv(dev);
	int ret;

	ppigb_queues_release(dev);
	if (ppigb_is_gone(p, ppigb_pci(dev)))
		return -EIO;
	ret = ppigb_reset(p);
	if (ret == 0)
		ret = ppigb_identify(p);
	if (ret < 0)
		return ret;
	ppigb_init_config(p);
	return ppigb_stats_reset(dev);
}

/** What the application may change, as it is to begin with. */
void
ppigb_init_config(struct ppigb *p)
{
	p->link_off = true;
	memset(p->vfta, 0, sizeof(p->vfta));
	memset(p->mta, 0, sizeof(p->mta));
	p->reta_set = false;
	ppigb_flow_ctrl_init(p);
	ppigb_vlan_init(p);
}
