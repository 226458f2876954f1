/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb, all of it, by ethdev's API, with a device that goes: at each single register access of
 * probe, configure, start and stop, and before every other operation. Registers read all ones then,
 * or zeros, and configuration space all ones. Nothing hangs or crashes, all mbufs come home.
 */
#include "ppigb_hook.h"

#include "mempool.h"
#include "ppigb.h"

#include <pthread.h>
#include <rte_bus.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BAR_SIZE 0x20000u
#define MBUFS    1023u
/** Stop and close of a device that is gone. */
#define END_US 100000u

static uint32_t regs[BAR_SIZE / 4];
static uint16_t nvm[64], phy[32];
static uint32_t dead_value;
static atomic_bool dead;
static unsigned int accesses, dies_at, closes_at, slept;
static pthread_t closing;
/* Sequentially consistent, as is the default: nothing here is fast. */
static atomic_bool closed;
static struct rte_pci_driver *driver;
static struct rte_pci_device pci = {.kdrv = RTE_PCI_KDRV_UIO_GENERIC, .name = "0000:0a:00.0"};
static struct rte_mempool *mp;
static uint16_t port;

/* In place of the bus's and the driver's. */
void
rte_pci_register(struct rte_pci_driver *d)
{
	if (strcmp(d->driver.name, "net_ppigb") == 0)
		driver = d;
}

void
rte_pci_unregister(struct rte_pci_driver *d)
{
	RTE_SET_USED(d);
}

int
rte_pci_map_device(struct rte_pci_device *dev)
{
	dev->mem_resource[0].addr = regs;
	return 0;
}

void
rte_pci_unmap_device(struct rte_pci_device *dev)
{
	dev->mem_resource[0].addr = NULL;
}

int
rte_pci_read_config(const struct rte_pci_device *dev, void *buf, size_t len, off_t offset)
{
	/* Of its capabilities MSI-X, with 10 vectors. */
	static uint8_t config[256] = {[0x34] = 0x70, [0x70] = 0x11, [0x72] = 9};

	RTE_SET_USED(dev);
	if (dead)
		memset(buf, 0xFF, len);
	else
		memcpy(buf, config + offset, len);
	return (int)len;
}

int
rte_pci_write_config(const struct rte_pci_device *dev, const void *buf, size_t len, off_t offset)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(buf);
	RTE_SET_USED(offset);
	return (int)len;
}

void
hook_sleep(unsigned int us)
{
	/* Of one thread. */
	if (closes_at == 0)
		slept += us;
}

/* As an application that closes its port from EAL's interrupt thread. */
static void *
closer(void *arg)
{
	RTE_SET_USED(arg);
	CHECK_EQ(rte_eth_dev_close(port), 0);
	CHECK_EQ(driver->remove(&pci), 0);
	closed = true;
	return NULL;
}

static void
touch(void)
{
	if (++accesses == dies_at)
		dead = true;
	if (accesses == closes_at) {
		CHECK_EQ(pthread_create(&closing, NULL, closer, NULL), 0);
		/* It must not get through, however long it has. */
		for (unsigned int ms = 0; ms < 10 && !closed; ms++)
			usleep(1000);
	}
}

static uint32_t *
reg_of(const volatile void *addr)
{
	size_t at = (size_t)((const volatile uint8_t *)addr - (const uint8_t *)regs);

	CHECK(at < BAR_SIZE && at % 4 == 0);
	/* Not after the BAR was unmapped. */
	CHECK(pci.mem_resource[0].addr == regs);
	return &regs[at / 4];
}

uint32_t
hook_read(const volatile void *addr)
{
	uint32_t *r = reg_of(addr), value = *r;

	touch();
	if (dead)
		return dead_value;
	if (r == &regs[PPIGB_REG(SWSM) / 4])
		*r |= PPIGB_F(SWSM, SMBI); /* Reading takes it. */
	return value;
}

/* What a device does at once: it resets, reads its EEPROM and asks its PHY. */
void
hook_write(uint32_t value, volatile void *addr)
{
	uint32_t *r = reg_of(addr);

	touch();
	if (dead)
		return;
	*r = value;
	if (r == &regs[PPIGB_REG(CTRL) / 4]) {
		*r &= ~PPIGB_F(CTRL, RST);
	} else if (r == &regs[PPIGB_REG(EERD) / 4]) {
		*r = PPIGB_F(EERD, DONE) |
		     PPIGB_V(EERD, DATA, nvm[PPIGB_G(EERD, ADDR, value) % RTE_DIM(nvm)]);
	} else if (r == &regs[PPIGB_REG(MDIC) / 4]) {
		uint16_t *p = &phy[PPIGB_G(MDIC, REGADD, value)];

		if (PPIGB_G(MDIC, OP, value) == 1)
			*p = (uint16_t)PPIGB_G(MDIC, DATA, value);
		*r = PPIGB_F(MDIC, READY) | PPIGB_V(MDIC, DATA, *p);
	}
}

static void
fresh(unsigned int at, uint32_t value)
{
	memset(regs, 0, sizeof(regs));
	regs[PPIGB_REG_AT(RAL, 0) / 4] = 0x72717002;
	regs[PPIGB_REG_AT(RAH, 0) / 4] = 0x7473;
	memset(nvm, 0, sizeof(nvm));
	nvm[0] = 0xBABA;
	phy[2] = 0x02A8;
	dead = false;
	dead_value = value;
	dies_at = at;
	accesses = slept = 0;
}

static int
probe(void)
{
	int ret = driver->probe(driver, &pci);

	if (ret == 0) {
		pci.device.driver = &driver->driver;
		CHECK_EQ(rte_eth_dev_get_port_by_name(pci.name, &port), 0);
	}
	return ret;
}

static int
configure(void)
{
	struct rte_eth_conf conf = {.intr_conf = {.lsc = 1, .rxq = 1}};
	int ret = rte_eth_dev_configure(port, 1, 1, &conf);

	if (ret == 0)
		ret = rte_eth_rx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL, mp);
	return ret == 0 ? rte_eth_tx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL) : ret;
}

/* What moves packets, and the queues that it uses. */
static void
packets(void)
{
	struct rte_mbuf *burst[32];

	for (unsigned int i = 0; i < 4; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

		if (m != NULL && (rte_pktmbuf_append(m, 60) == NULL ||
					 rte_eth_tx_burst(port, 0, &m, 1) == 0))
			rte_pktmbuf_free(m);
		CHECK_EQ(rte_eth_rx_burst(port, 0, burst, RTE_DIM(burst)), 0);
	}
	(void)rte_eth_tx_done_cleanup(port, 0, 0);
	(void)rte_eth_rx_queue_count(port, 0);
	(void)rte_eth_rx_descriptor_status(port, 0, 0);
	(void)rte_eth_tx_descriptor_status(port, 0, 0);
	(void)rte_eth_dev_rx_queue_stop(port, 0);
	(void)rte_eth_dev_rx_queue_start(port, 0);
	(void)rte_eth_dev_tx_queue_stop(port, 0);
	(void)rte_eth_dev_tx_queue_start(port, 0);
}

/* A few of what ethdev has to offer, each of which comes back. */
static void
operations(void)
{
	struct rte_ether_addr addr = {{2, 1, 2, 3, 4, 5}};
	struct rte_eth_fc_conf fc = {.mode = RTE_ETH_FC_FULL, .autoneg = 1};
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = 1}, {.mask = 1}};
	struct rte_eth_rss_conf rss = {.rss_hf = RTE_ETH_RSS_IPV4};
	static uint8_t room[8192];
	struct rte_dev_eeprom_info eeprom = {.data = room, .length = 64};
	struct rte_dev_reg_info reg = {.data = NULL};
	struct rte_eth_xstat xstats[256];
	struct rte_eth_stats stats;
	struct rte_eth_link link;
	char version[32];
	FILE *null = fopen("/dev/null", "w");
	int results = 0;

	/* DPDK 24.11 wants these looked at. */
	results |= rte_eth_link_get(port, &link);
	results |= rte_eth_link_get_nowait(port, &link);
	CHECK(!dead || link.link_status == RTE_ETH_LINK_DOWN);
	(void)rte_eth_stats_get(port, &stats);
	CHECK(!dead || stats.ipackets < UINT32_MAX);
	(void)rte_eth_xstats_get(port, xstats, RTE_DIM(xstats));
	(void)rte_eth_stats_reset(port);
	(void)rte_eth_xstats_reset(port);
	(void)rte_eth_dev_set_link_down(port);
	(void)rte_eth_dev_set_link_up(port);
	(void)rte_eth_promiscuous_enable(port);
	(void)rte_eth_promiscuous_disable(port);
	(void)rte_eth_allmulticast_enable(port);
	(void)rte_eth_allmulticast_disable(port);
	(void)rte_eth_dev_mac_addr_add(port, &addr, 0);
	(void)rte_eth_dev_mac_addr_remove(port, &addr);
	(void)rte_eth_dev_default_mac_addr_set(port, &addr);
	(void)rte_eth_dev_set_mc_addr_list(port, &addr, 0);
	(void)rte_eth_dev_set_mtu(port, 1400);
	(void)rte_eth_dev_vlan_filter(port, 5, 1);
	(void)rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_STRIP_OFFLOAD);
	(void)rte_eth_dev_set_vlan_ether_type(port, RTE_ETH_VLAN_TYPE_OUTER, 0x88a8);
	(void)rte_eth_dev_rss_reta_update(port, reta, 128);
	(void)rte_eth_dev_rss_reta_query(port, reta, 128);
	(void)rte_eth_dev_rss_hash_update(port, &rss);
	(void)rte_eth_dev_rss_hash_conf_get(port, &rss);
	(void)rte_eth_dev_flow_ctrl_get(port, &fc);
	(void)rte_eth_dev_flow_ctrl_set(port, &fc);
	results |= rte_eth_dev_fw_version_get(port, version, sizeof(version));
	(void)rte_eth_dev_get_eeprom_length(port);
	(void)rte_eth_dev_get_eeprom(port, &eeprom);
	results |= rte_eth_dev_get_reg_info(port, &reg);
	reg.data = room;
	CHECK(!dead || rte_eth_dev_get_reg_info(port, &reg) < 0);
	(void)rte_eth_dev_priv_dump(port, null);
	(void)rte_eth_dev_rx_intr_enable(port, 0);
	(void)rte_eth_dev_rx_intr_disable(port, 0);
	fclose(null);
	packets();
	RTE_SET_USED(results);
}

static void
end(void)
{
	if (dead)
		slept = 0;
	CHECK_EQ(rte_eth_dev_stop(port), 0);
	CHECK_EQ(rte_eth_dev_close(port), 0);
	CHECK_EQ(driver->remove(&pci), 0);
	if (dead)
		CHECK(slept < END_US);
	CHECK_EQ(rte_mempool_avail_count(mp), MBUFS);
}

/* A life, in which the device goes at one of its accesses, or never. @return accesses. */
static unsigned int
life(unsigned int at, uint32_t value, bool all)
{
	fresh(at, value);
	if (probe() == 0) {
		if (configure() == 0 && rte_eth_dev_start(port) == 0 && all)
			operations();
		end();
	} else {
		CHECK(dead);
	}
	CHECK(slept < 2000000);
	return accesses;
}

static void
each_access(void)
{
	unsigned int n = life(0, 0, false);

	CHECK(!dead && n > 300);
	printf("    %u accesses\n", n);
	for (unsigned int at = 1; at <= n; at++) {
		life(at, UINT32_MAX, false);
		CHECK(dead);
		life(at, 0, false);
		CHECK(dead);
	}
}

/* Gone before each operation: the device goes at the last access of start. */
static void
each_operation(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		fresh(0, i == 0 ? UINT32_MAX : 0);
		CHECK_EQ(probe(), 0);
		CHECK_EQ(configure(), 0);
		CHECK_EQ(rte_eth_dev_start(port), 0);
		dead = true;
		slept = 0;
		operations();
		CHECK(slept < 1000000);
		CHECK(rte_eth_dev_is_removed(port));
		end();
	}
}

/* Not only at the start of an operation. */
static void
within_operations(void)
{
	unsigned int n = life(0, 0, true);

	/* All of it is long; the step has no factor in common with what repeats. */
	for (unsigned int at = 300; at <= n; at += 7) {
		life(at, UINT32_MAX, true);
		life(at, 0, true);
	}
}

/* Another thread closes the port in the middle of its start. Not by ethdev, which looks at the port
 * once more when the driver is through. */
static void
closed_while_it_starts(void)
{
	for (unsigned int after = 1; after < 200; after += 19) {
		struct rte_eth_dev *dev;

		fresh(0, 0);
		CHECK_EQ(probe(), 0);
		CHECK_EQ(configure(), 0);
		dev = &rte_eth_devices[port];
		closed = false;
		closes_at = accesses + after;
		CHECK_EQ(dev->dev_ops->dev_start(dev), 0);
		CHECK_EQ(pthread_join(closing, NULL), 0);
		closes_at = 0;
		CHECK(closed);
		CHECK_EQ(rte_mempool_avail_count(mp), MBUFS);
	}
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	rte_log_set_level(ppigb_logtype, RTE_LOG_EMERG);
	rte_log_set_level_pattern("lib.ethdev", RTE_LOG_EMERG);
	pci.id = (struct rte_pci_id){.vendor_id = PPIGB_VENDOR, .device_id = 0x10C9};
	pci.device.name = pci.name;
	pci.driver = driver;
	pci.device.bus = rte_bus_find_by_name("vdev"); /* Which has no DMA to map for. */
	pci.intr_handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	CHECK(pci.intr_handle != NULL);
	CHECK_EQ(rte_intr_type_set(pci.intr_handle, RTE_INTR_HANDLE_VDEV), 0);
	CHECK_EQ(rte_intr_fd_set(pci.intr_handle, eventfd(0, EFD_NONBLOCK)), 0);
	mp = rte_pktmbuf_pool_create_by_ops(
		"gone", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, pagepool_ops_name);
	CHECK(mp != NULL);
	RUN(each_operation);
	RUN(each_access);
	RUN(within_operations);
	RUN(closed_while_it_starts);
	return t_end();
}
