/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb: the device and its parts. The prototypes below are grouped by file: this header is
 * the map of the driver.
 *
 *   ids.c        PCI ids, what differs between models
 *   regs.h       registers; desc.h descriptors
 *   hw.c         reset, semaphores, identity;  nvm.c  EEPROM;  phy.c  MDIO, autonegotiation
 *   args.c       devargs
 *   probe.c      bus: probe, remove, isolation, maps for DMA;  release.c  a device that is
 *                gone
 *   ethdev.c     configure, start, stop, close, device information
 *   ops.c        the tables of operations, and the turns that they take
 *   link.c       link status, set up and down;  flow_ctrl.c  pause frames
 *   queue.[ch]   descriptor rings: set-up, release;  ring.c  start, stop
 *   queue_info.c what ethdev wants to know of queues; choice of the burst functions
 *   reach.c      pools that the device can reach
 *   rx.c         receive: plain;  rx_offload.c  with scatter and flags from the descriptors
 *   pack.[ch]    small packets out of the device's buffers;  pack_make.c  what they are made of
 *   tx.c         transmit: plain;  tx_offload.c  several segments, checksums, TSO, VLAN;
 *   tx_free.c    what was sent
 *   filter.c     addresses, promiscuous;  vlan.c;  rss.c
 *   intr.c       link and Rx interrupts;  watch.c  removal
 *   stats.[ch]   counters;  xstats.c  all of them by name;  dump.c  registers
 *
 * Locking: ethdev's rules. Control calls on one port come from one thread at a time (ops.c helps
 * where an application closes it from EAL's interrupt thread), burst calls on one queue likewise.
 * The interrupt thread reads the link and calls the application back; it takes `lock` for the
 * registers that both write.
 */
#ifndef PPIGB_H
#define PPIGB_H

#include <stdbool.h>
#include <stdint.h>

#include <bus_pci_driver.h>
#include <ethdev_driver.h>
#include <rte_ether.h>
#include <rte_io.h>
#include <rte_log.h>
#include <rte_spinlock.h>

#include "regs.h"

extern int ppigb_logtype;
/** "net_ppigb 0000:01:00.0: ..."; say what is wrong and what helps. */
#define PPIGB_LOG(level, dev_name, fmt, ...)                                                       \
	rte_log(RTE_LOG_##level, ppigb_logtype, "net_ppigb %s: " fmt "\n", dev_name, ##__VA_ARGS__)

#define PPIGB_VENDOR     0x8086u
#define PPIGB_QUEUES_MAX 16u
#define PPIGB_RAR_MAX    32u
#define PPIGB_RETA_SIZE  128u
#define PPIGB_KEY_WORDS  10u
#define PPIGB_MSIX_MAX   25u
/** Ring sizes: RDLEN and TDLEN are multiples of 128 bytes (82576EB datasheet, RDLEN). */
#define PPIGB_RING_MIN   32u
#define PPIGB_RING_MAX   4096u
#define PPIGB_RING_ALIGN 8u
/** Jumbo frames of up to 9.5 KiB, which is also what RLPML is after a reset (82576EB datasheet,
 * RLPML; 0x2600 on QEMU 10.0.2). */
#define PPIGB_FRAME_MAX 0x2600u
/** Ethernet header, CRC and two VLAN tags. */
#define PPIGB_OVERHEAD (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN)

/** What differs between models: one line each in ids.c. */
struct ppigb_model {
	const char *name;
	uint32_t bit;      /**< PPIGB_82576, ... */
	uint8_t nb_queues; /**< Rx and Tx, each. */
	uint8_t nb_rar;    /**< Receive address registers. */
	bool ivar_split;   /**< IVAR[q & 7] instead of IVAR[q >> 1]. */
	bool wthresh_1;    /**< Write-back threshold must be 1 (82576). */
	bool strcrc_queue; /**< CRC stripping per queue in DVMOLR. */
	bool vlan_swap;    /**< VLAN tags of looped-back packets are big endian. */
	bool vfta_repeat;  /**< VFTA writes must be repeated (I350). */
	bool outer_vlan;   /**< Extended VLAN. */
	bool phpm;         /**< PHPM.GO_LINKD must be cleared for a link. */
	bool nvm_flash;    /**< NVM by EERD_I21X; may have none (iNVM). */
	uint8_t rxpbs;     /**< Coding of RXPBS: PPIGB_RXPBS_*. */
	uint8_t rx_pthresh, rx_hthresh, rx_wthresh;
	uint8_t tx_pthresh, tx_hthresh, tx_wthresh;
};
enum { PPIGB_RXPBS_KIB, PPIGB_RXPBS_TABLE, PPIGB_RXPBS_6BIT };

/** Counters of the hardware, accumulated: they are cleared by reading. stats.c. */
struct ppigb_counters;
struct ppigb_chunk;
struct ppigb_pack;

/** A port; dev->data->dev_private, in memory that processes share. */
struct ppigb {
	volatile uint8_t *bar; /**< BAR 0; EAL maps it at the same address in every process. */
	uint8_t model_id; /**< Index; a pointer would not hold in every process: ppigb_model(). */
	char name[RTE_DEV_NAME_MAX_LEN];
	uint16_t port_id;
	uint16_t device_id;
	uint8_t func;     /**< STATUS.FUNC: which port of the chip. */
	uint8_t phy_addr; /**< MDIC's. */
	bool isolate;     /**< Has a VFIO container of its own. */
	bool gone;        /**< Found to have been removed. */
	bool leaving;     /**< Somebody wants it back: watch.c, interrupt thread. */
	bool leave_told;  /**< The application has been told so: the same. */
	bool link_off;    /**< Stopped, or set down by the application. */
	bool copper;      /**< Has a PHY that we drive; else SerDes or the like. */
	struct rte_ether_addr perm_addr;
	uint16_t nvm_version;
	uint32_t etrack;

	/** Packed receive, as the device's arguments say: pack.h. */
	struct {
		bool on;
		uint16_t max, headroom; /**< Bytes. */
		uint16_t mib;           /**< Of pages. */
	} rx_frags;
	struct ppigb_pack *pack; /**< NULL: not yet, or not at all. */

	rte_spinlock_t lock; /**< CTRL, RCTL, IMS/EIMS: also written by the interrupt thread. */

	/* What a reset would lose, kept to be programmed again. */
	uint32_t vfta[128]; /**< VLANs. */
	uint32_t mta[128];  /**< Multicast addresses, hashed. The others are in dev->data. */
	uint16_t outer_tpid;
	struct {
		uint32_t high_water, low_water;
		uint16_t pause_time;
		bool send_xon, autoneg, mac_ctrl_fwd;
		uint8_t mode; /**< enum rte_eth_fc_mode. */
	} fc;
	uint8_t rss_key[4 * PPIGB_KEY_WORDS];
	uint8_t reta[PPIGB_RETA_SIZE];
	uint64_t rss_hf;
	bool reta_set; /**< The application set RETA: keep it at the next start. */
	bool intr_on;  /**< Vectors are connected to event files. */

	struct ppigb_counters *counters;

	rte_spinlock_t reach_lock;  /**< Chunks, and the mempools of Rx queues. */
	struct ppigb_chunk *chunks; /**< Mapped for the device one by one: reach.c. */
};

static inline struct ppigb *
ppigb_priv(const struct rte_eth_dev *dev)
{
	return (struct ppigb *)dev->data->dev_private;
}

/** Has anybody found that it has been removed? */
static inline bool
ppigb_known_gone(const struct ppigb *p)
{
	/* Relaxed: it becomes true once, and orders nothing. */
	return __atomic_load_n(&p->gone, __ATOMIC_RELAXED);
}

static inline struct rte_pci_device *
ppigb_pci(const struct rte_eth_dev *dev)
{
	return RTE_DEV_TO_PCI(dev->device);
}

/* Registers. All access of the control path goes through these. */

static inline uint32_t
ppigb_rd(const struct ppigb *p, uint32_t offset)
{
	return rte_le_to_cpu_32(rte_read32(p->bar + offset));
}

static inline void
ppigb_wr(const struct ppigb *p, uint32_t offset, uint32_t value)
{
	rte_write32(rte_cpu_to_le_32(value), p->bar + offset);
}

/** Clear some bits, then set some. */
static inline void
ppigb_mod(const struct ppigb *p, uint32_t offset, uint32_t clear, uint32_t set)
{
	ppigb_wr(p, offset, (ppigb_rd(p, offset) & ~clear) | set);
}

/** The same for registers that the interrupt thread changes too: CTRL, RCTL. */
static inline void
ppigb_mod_locked(struct ppigb *p, uint32_t offset, uint32_t clear, uint32_t set)
{
	rte_spinlock_lock(&p->lock);
	ppigb_mod(p, offset, clear, set);
	rte_spinlock_unlock(&p->lock);
}

/** Four bytes as a register has them, the first one lowest. */
static inline uint32_t
ppigb_bytes(const uint8_t *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/** Writes are posted: a read makes sure that they have arrived. */
static inline void
ppigb_flush(const struct ppigb *p)
{
	(void)ppigb_rd(p, PPIGB_REG(STATUS));
}

/* ids.c */
extern const struct rte_pci_id ppigb_ids[];
extern const struct ppigb_model ppigb_models[];
int ppigb_model_id(uint16_t device_id);

static inline const struct ppigb_model *
ppigb_model(const struct ppigb *p)
{
	return &ppigb_models[p->model_id];
}

/* args.c */
/** What a device's arguments say. */
struct ppigb_args {
	uint16_t isolate;
	uint16_t rx_frags, rx_frags_max, rx_frags_headroom, rx_frags_mib;
};
#define PPIGB_ARGS                                                                                 \
	"isolate=<0|1> rx_frags=<0|1> rx_frags_max=<bytes> rx_frags_headroom=<bytes> "             \
	"rx_frags_mib=<MiB>"
/** Of the device `name`. @return 0 or -EINVAL, which the log explains. */
int ppigb_args_parse(const char *name, const char *text, struct ppigb_args *args);

/* hw.c */
bool ppigb_is_gone(struct ppigb *p, struct rte_pci_device *pci);
/** The same without a port. */
bool ppigb_pci_is_gone(struct rte_pci_device *pci);

/** The same where only the port is at hand. */
static inline bool
ppigb_gone(const struct ppigb *p)
{
	struct rte_eth_dev *dev = &rte_eth_devices[p->port_id];

	return ppigb_is_gone(ppigb_priv(dev), ppigb_pci(dev));
}

int ppigb_poll(
	const struct ppigb *p, uint32_t offset, uint32_t mask, uint32_t want, unsigned int us);
int ppigb_reset(struct ppigb *p);
int ppigb_identify(struct ppigb *p);
int ppigb_sync_get(struct ppigb *p, uint32_t bits);
void ppigb_sync_put(struct ppigb *p, uint32_t bits);
uint32_t ppigb_phy_bit(const struct ppigb *p);
int ppigb_bus_master(struct rte_pci_device *pci, bool on);

/* nvm.c */
int ppigb_nvm_read(struct ppigb *p, uint16_t word, uint16_t *data, unsigned int n);
int ppigb_nvm_check(struct ppigb *p);
int ppigb_eeprom_length(struct rte_eth_dev *dev);
int ppigb_eeprom_get(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info);
int ppigb_fw_version_get(struct rte_eth_dev *dev, char *fw_version, size_t fw_size);

/* phy.c */
int ppigb_phy_read(struct ppigb *p, unsigned int reg, uint16_t *value);
int ppigb_phy_write(struct ppigb *p, unsigned int reg, uint16_t value);
int ppigb_phy_init(struct ppigb *p);
int ppigb_phy_setup_link(struct ppigb *p, uint32_t speeds);
int ppigb_phy_power(struct ppigb *p, bool on);

/* probe.c: registers the driver */

/* release.c */
/** rte_pci_unmap_device(), of a device that may be gone. */
void ppigb_release(struct rte_pci_device *pci, bool gone);

/* ops.c */
extern const struct eth_dev_ops ppigb_ops;
extern const struct eth_dev_ops ppigb_secondary_ops;
/** As rte_eth_dev_close(), for the bus. */
int ppigb_dev_close(struct rte_eth_dev *dev);

/* ethdev.c */
int ppigb_configure(struct rte_eth_dev *dev);
int ppigb_start(struct rte_eth_dev *dev);
int ppigb_stop(struct rte_eth_dev *dev);
int ppigb_close(struct rte_eth_dev *dev);
int ppigb_dev_reset(struct rte_eth_dev *dev);
int ppigb_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);
int ppigb_is_removed(struct rte_eth_dev *dev);
void ppigb_init_config(struct ppigb *p); /**< At probe, after reset. */
int ppigb_mtu_set(struct rte_eth_dev *dev, uint16_t mtu);

/* link.c */
int ppigb_link_update(struct rte_eth_dev *dev, int wait);
int ppigb_link_up(struct rte_eth_dev *dev);
int ppigb_link_down(struct rte_eth_dev *dev);
int ppigb_link_start(struct rte_eth_dev *dev);

/* flow_ctrl.c */
void ppigb_flow_ctrl_init(struct ppigb *p);  /**< At probe, after reset: defaults. */
void ppigb_flow_ctrl_start(struct ppigb *p); /**< At start, after RCTL was written. */
/** The link has come up (ppigb_link_update, primary process): set CTRL.RFCE and TFCE by what was
 * negotiated; phy.c advertises fc.mode. */
void ppigb_flow_ctrl_resolve(struct ppigb *p);
int ppigb_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf);
int ppigb_flow_ctrl_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf);

/* queue.c, ring.c, queue_info.c, rx.c, tx.c: see queue.h */
int ppigb_rx_queue_setup(struct rte_eth_dev *dev, uint16_t q, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *mp);
int ppigb_tx_queue_setup(struct rte_eth_dev *dev, uint16_t q, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf);
void ppigb_rx_queue_release(struct rte_eth_dev *dev, uint16_t q);
void ppigb_tx_queue_release(struct rte_eth_dev *dev, uint16_t q);
int ppigb_rx_queue_start(struct rte_eth_dev *dev, uint16_t q);
int ppigb_rx_queue_stop(struct rte_eth_dev *dev, uint16_t q);
int ppigb_tx_queue_start(struct rte_eth_dev *dev, uint16_t q);
int ppigb_tx_queue_stop(struct rte_eth_dev *dev, uint16_t q);
/** Before RCTL.EN: fill and program the rings of all queues that are not deferred, and choose the
 * burst functions; TCTL and RCTL are the caller's. */
int ppigb_queues_start(struct rte_eth_dev *dev);
/** After RCTL.EN: give the filled rings to the device (RDT must be written after enable). */
void ppigb_queues_run(struct rte_eth_dev *dev);
/** Disable all queues, read back that they are off, return their mbufs. */
int ppigb_queues_stop(struct rte_eth_dev *dev);
void ppigb_queues_release(struct rte_eth_dev *dev);
/** Burst functions by the queues' and the port's configuration; secondaries call it too. */
void ppigb_burst_select(struct rte_eth_dev *dev);
void ppigb_rxq_info_get(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_rxq_info *info);
void ppigb_txq_info_get(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_txq_info *info);
int ppigb_rx_burst_mode(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_burst_mode *mode);
int ppigb_tx_burst_mode(struct rte_eth_dev *dev, uint16_t q, struct rte_eth_burst_mode *mode);
int ppigb_tx_done_cleanup(void *txq, uint32_t free_cnt);
int ppigb_rx_descriptor_status(void *rxq, uint16_t offset);
int ppigb_tx_descriptor_status(void *txq, uint16_t offset);
uint32_t ppigb_rx_queue_count(void *rxq);
int ppigb_tx_queue_count(void *txq);
uint16_t ppigb_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t n);
const uint32_t *ppigb_ptypes_get(struct rte_eth_dev *dev);

/* reach.c */
int ppigb_reach_init(struct rte_eth_dev *dev); /**< At probe. */
void ppigb_reach_fini(struct rte_eth_dev *dev);

/* filter.c; RCTL's bits UPE, MPE, BAM, PMCF and VFE are changed one by one: write the rest of RCTL
 * before these start functions. */
void ppigb_filter_start(struct rte_eth_dev *dev);
int ppigb_promiscuous_enable(struct rte_eth_dev *dev);
int ppigb_promiscuous_disable(struct rte_eth_dev *dev);
int ppigb_allmulticast_enable(struct rte_eth_dev *dev);
int ppigb_allmulticast_disable(struct rte_eth_dev *dev);
int ppigb_mac_addr_add(
	struct rte_eth_dev *dev, struct rte_ether_addr *addr, uint32_t i, uint32_t pool);
void ppigb_mac_addr_remove(struct rte_eth_dev *dev, uint32_t i);
int ppigb_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr);
int ppigb_mc_addr_list(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t n);

/* vlan.c */
void ppigb_vlan_init(struct ppigb *p); /**< At probe. */
void ppigb_vlan_start(struct rte_eth_dev *dev);
int ppigb_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vid, int on);
int ppigb_vlan_offload_set(struct rte_eth_dev *dev, int mask);
int ppigb_vlan_tpid_set(struct rte_eth_dev *dev, enum rte_vlan_type type, uint16_t tpid);

/* rss.c */
int ppigb_rss_configure(struct rte_eth_dev *dev); /**< At configure: key and types from it. */
int ppigb_rss_start(struct rte_eth_dev *dev);
int ppigb_rss_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int ppigb_rss_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int ppigb_reta_update(
	struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size);
int ppigb_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *conf, uint16_t size);
/** Hash types that the family knows, RTE_ETH_RSS_*. */
#define PPIGB_RSS_TYPES                                                                            \
	(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |          \
		RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP |   \
		RTE_ETH_RSS_IPV6_EX | RTE_ETH_RSS_IPV6_TCP_EX | RTE_ETH_RSS_IPV6_UDP_EX)

/* intr.c */
int ppigb_intr_init(struct rte_eth_dev *dev); /**< At probe. */
void ppigb_intr_fini(struct rte_eth_dev *dev);
int ppigb_intr_start(struct rte_eth_dev *dev); /**< At start: vectors, IVAR, enable. */
void ppigb_intr_stop(struct rte_eth_dev *dev);
int ppigb_rx_intr_enable(struct rte_eth_dev *dev, uint16_t q);
int ppigb_rx_intr_disable(struct rte_eth_dev *dev, uint16_t q);

/** Unregister a callback that may be running at this moment. */
void ppigb_intr_leave(struct rte_intr_handle *handle, rte_intr_callback_fn callback, void *arg);

/* watch.c */
int ppigb_watch_start(struct rte_eth_dev *dev); /**< At probe. */
void ppigb_watch_stop(struct rte_eth_dev *dev);
/** In the interrupt thread: tell the application that the device leaves or has left, once. It may
 * have closed the port then, which must not be touched any more. */
void ppigb_leaves(struct rte_eth_dev *dev);

/* stats.c */
int ppigb_stats_init(struct ppigb *p, int socket);
void ppigb_stats_fini(struct ppigb *p);
/** Read the hardware's counters into ours; before a reset loses them. */
void ppigb_stats_poll(struct ppigb *p);
void ppigb_stats_queue_new(struct ppigb *p, uint16_t q, bool rx);
int ppigb_stats_reset(struct rte_eth_dev *dev);
int ppigb_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats);

/* xstats.c */
int ppigb_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int n);
int ppigb_xstats_get_names(
	struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int n);

/* dump.c */
int ppigb_regs_get(struct rte_eth_dev *dev, struct rte_dev_reg_info *info);
int ppigb_priv_dump(struct rte_eth_dev *dev, FILE *f);

#endif /* PPIGB_H */
