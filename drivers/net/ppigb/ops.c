/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The tables of operations. Those that make and break what others of them use take turns: ethdev
 * wants one thread at a time, but applications close a port that is unplugged from EAL's interrupt
 * thread, as stock testpmd does, whatever their main thread is doing with it at the moment.
 */
#include <errno.h>
#include <pthread.h>

#include <rte_cycles.h>

#include "compat.h"
#include "ppigb.h"
#include "queue.h"

/** After an operation ethdev looks at the port once more: a close lets that thread get out. */
#define GET_OUT_US 20000u

/** Not in the port's memory: who waits for a port may find it closed. */
static pthread_mutex_t turns[RTE_MAX_ETHPORTS];

RTE_INIT(init_turns)
{
	for (unsigned int i = 0; i < RTE_DIM(turns); i++)
		pthread_mutex_init(&turns[i], NULL);
}

static pthread_mutex_t *
turn_of(const struct rte_eth_dev *dev)
{
	return &turns[dev - rte_eth_devices];
}

/* With the lock: has the port been closed while we waited? */
static bool
closed(const struct rte_eth_dev *dev)
{
	return dev->data == NULL || dev->data->dev_private == NULL;
}

static int
begin(const struct rte_eth_dev *dev)
{
	pthread_mutex_lock(turn_of(dev));
	if (!closed(dev))
		return 0;
	pthread_mutex_unlock(turn_of(dev));
	return -ENODEV;
}

static void
end(const struct rte_eth_dev *dev)
{
	pthread_mutex_unlock(turn_of(dev));
}

/** An operation in its turn: parameters, and what is handed on of them besides the port. */
#define IN_TURN(name, function, params, ...)                                                       \
	static int name params                                                                     \
	{                                                                                          \
		int ret = begin(dev);                                                              \
                                                                                                   \
		if (ret == 0) {                                                                    \
			ret = function(dev, ##__VA_ARGS__);                                        \
			end(dev);                                                                  \
		}                                                                                  \
		return ret;                                                                        \
	}

IN_TURN(configure, ppigb_configure, (struct rte_eth_dev * dev))
IN_TURN(start, ppigb_start, (struct rte_eth_dev * dev))
IN_TURN(stop, ppigb_stop, (struct rte_eth_dev * dev))
IN_TURN(reset, ppigb_dev_reset, (struct rte_eth_dev * dev))
IN_TURN(link_up, ppigb_link_up, (struct rte_eth_dev * dev))
IN_TURN(link_down, ppigb_link_down, (struct rte_eth_dev * dev))
IN_TURN(rx_queue_setup, ppigb_rx_queue_setup,
	(struct rte_eth_dev * dev, uint16_t q, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_rxconf *conf, struct rte_mempool *mp),
	q, nb_desc, socket, conf, mp)
IN_TURN(tx_queue_setup, ppigb_tx_queue_setup,
	(struct rte_eth_dev * dev, uint16_t q, uint16_t nb_desc, unsigned int socket,
		const struct rte_eth_txconf *conf),
	q, nb_desc, socket, conf)
IN_TURN(rx_queue_start, ppigb_rx_queue_start, (struct rte_eth_dev * dev, uint16_t q), q)
IN_TURN(rx_queue_stop, ppigb_rx_queue_stop, (struct rte_eth_dev * dev, uint16_t q), q)
IN_TURN(tx_queue_start, ppigb_tx_queue_start, (struct rte_eth_dev * dev, uint16_t q), q)
IN_TURN(tx_queue_stop, ppigb_tx_queue_stop, (struct rte_eth_dev * dev, uint16_t q), q)

static void
rx_queue_release(struct rte_eth_dev *dev, uint16_t q)
{
	if (begin(dev) == 0) {
		ppigb_rx_queue_release(dev, q);
		end(dev);
	}
}

static void
tx_queue_release(struct rte_eth_dev *dev, uint16_t q)
{
	if (begin(dev) == 0) {
		ppigb_tx_queue_release(dev, q);
		end(dev);
	}
}

int
ppigb_dev_close(struct rte_eth_dev *dev)
{
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	/* Without the lock: it waits for a callback, in which the application may want it. */
	ppigb_watch_stop(dev);
	if (pthread_mutex_trylock(turn_of(dev)) == 0) {
		end(dev);
	} else if (begin(dev) == 0) {
		end(dev);
		rte_delay_us_sleep(GET_OUT_US);
	}
	ret = begin(dev);
	if (ret == 0) {
		ret = ppigb_close(dev);
		end(dev);
	}
	return ret;
}

#if PPIGB_HAS_TXQ_COUNT
static const uint32_t *
ptypes_get(struct rte_eth_dev *dev, size_t *count)
{
	const uint32_t *list = ppigb_ptypes_get(dev);

	*count = 0;
	while (list != NULL && list[*count] != RTE_PTYPE_UNKNOWN)
		(*count)++;
	return list;
}
#else
#define ptypes_get ppigb_ptypes_get
#endif

/* Operations that read only, for any process. */
/* clang-format off */
#define SHARED_OPS \
	.dev_infos_get = ppigb_infos_get, .is_removed = ppigb_is_removed, .link_update = ppigb_link_update, \
	.stats_get = ppigb_stats_get, .stats_reset = ppigb_stats_reset, \
	.xstats_get = ppigb_xstats_get, .xstats_reset = ppigb_stats_reset, \
	.xstats_get_names = ppigb_xstats_get_names, .fw_version_get = ppigb_fw_version_get, \
	.get_eeprom_length = ppigb_eeprom_length, .get_eeprom = ppigb_eeprom_get, \
	.get_reg = ppigb_regs_get, .eth_dev_priv_dump = ppigb_priv_dump, \
	.flow_ctrl_get = ppigb_flow_ctrl_get, .reta_query = ppigb_reta_query, \
	.rss_hash_conf_get = ppigb_rss_hash_conf_get, .rxq_info_get = ppigb_rxq_info_get, \
	.txq_info_get = ppigb_txq_info_get, .rx_burst_mode_get = ppigb_rx_burst_mode, \
	.tx_burst_mode_get = ppigb_tx_burst_mode, .dev_supported_ptypes_get = ptypes_get, \
	.tx_done_cleanup = ppigb_tx_done_cleanup, .dev_close = ppigb_dev_close

const struct eth_dev_ops ppigb_secondary_ops = {SHARED_OPS};

const struct eth_dev_ops ppigb_ops = {
	SHARED_OPS, .dev_configure = configure, .dev_start = start, .dev_stop = stop,
	.dev_reset = reset, .dev_set_link_up = link_up,
	.dev_set_link_down = link_down, .mtu_set = ppigb_mtu_set,
	.promiscuous_enable = ppigb_promiscuous_enable,
	.promiscuous_disable = ppigb_promiscuous_disable,
	.allmulticast_enable = ppigb_allmulticast_enable,
	.allmulticast_disable = ppigb_allmulticast_disable, .mac_addr_add = ppigb_mac_addr_add,
	.mac_addr_remove = ppigb_mac_addr_remove, .mac_addr_set = ppigb_mac_addr_set,
	.set_mc_addr_list = ppigb_mc_addr_list, .vlan_filter_set = ppigb_vlan_filter_set,
	.vlan_offload_set = ppigb_vlan_offload_set, .vlan_tpid_set = ppigb_vlan_tpid_set,
	.rss_hash_update = ppigb_rss_hash_update, .reta_update = ppigb_reta_update,
	.flow_ctrl_set = ppigb_flow_ctrl_set, .rx_queue_setup = rx_queue_setup,
	.rx_queue_release = rx_queue_release, .rx_queue_start = rx_queue_start,
	.rx_queue_stop = rx_queue_stop, .tx_queue_setup = tx_queue_setup,
	.tx_queue_release = tx_queue_release, .tx_queue_start = tx_queue_start,
	.tx_queue_stop = tx_queue_stop, .rx_queue_intr_enable = ppigb_rx_intr_enable,
	.rx_queue_intr_disable = ppigb_rx_intr_disable,
};
/* clang-format on */
