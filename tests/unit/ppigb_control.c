/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What net_ppigb's control functions write, for every model: the registers are plain memory here,
 * since QEMU has the 82576 only. That the device then does it is tested in the VM lab.
 */
#include "harness.h"

#include "intr.c"

#define BAR_SIZE 0x20000u

static struct ppigb port;
static struct rte_pci_device pci;
static struct rte_eth_dev_data data;
static struct rte_eth_dev dev = {.data = &data, .device = &pci.device};
static struct rte_ether_addr addrs[PPIGB_RAR_MAX];
static volatile uint8_t bar[BAR_SIZE];
static uint16_t phy[32];
static unsigned int link_starts, selects;

/* What the functions under test call of the rest of the driver. */
int ppigb_logtype;

bool
ppigb_is_gone(struct ppigb *p, struct rte_pci_device *d)
{
	RTE_SET_USED(d);
	return p->gone;
}

int
ppigb_phy_read(struct ppigb *p, unsigned int reg, uint16_t *value)
{
	RTE_SET_USED(p);
	*value = phy[reg];
	return 0;
}

int
ppigb_link_start(struct rte_eth_dev *d)
{
	RTE_SET_USED(d);
	link_starts++;
	return 0;
}

int
ppigb_link_update(struct rte_eth_dev *d, int wait)
{
	RTE_SET_USED(d);
	RTE_SET_USED(wait);
	return 0;
}

void
ppigb_burst_select(struct rte_eth_dev *d)
{
	RTE_SET_USED(d);
	selects++;
}

void
ppigb_leaves(struct rte_eth_dev *d)
{
	CHECK(ppigb_priv(d)->gone);
}

static uint32_t
reg(uint32_t offset)
{
	return ppigb_rd(&port, offset);
}

/** A port as after probe and configure, in a device of model i that was just reset. */
static const struct ppigb_model *
fresh(unsigned int i)
{
	memset(&port, 0, sizeof(port));
	memset(&data, 0, sizeof(data));
	memset(addrs, 0, sizeof(addrs));
	memset((void *)(uintptr_t)bar, 0, sizeof(bar));
	port.bar = bar;
	port.copper = true;
	port.model_id = (uint8_t)i;
	rte_spinlock_init(&port.lock);
	snprintf(port.name, sizeof(port.name), "test");
	data.dev_private = &port;
	data.mac_addrs = addrs;
	data.nb_rx_queues = 2;
	addrs[0] = (struct rte_ether_addr){{2, 0x11, 0x22, 0x33, 0x44, 0x55}};
	ppigb_vlan_init(&port);
	ppigb_flow_ctrl_init(&port);
	return ppigb_model(&port);
}

static void
addresses(unsigned int i)
{
	const struct ppigb_model *m = fresh(i);
	struct rte_ether_addr more = {{2, 1, 2, 3, 4, 5}};
	struct rte_ether_addr group = {{1, 0, 0x5e, 0, 0x12, 0x34}};
	unsigned int last = m->nb_rar - 1u;

	addrs[last] = more;
	CHECK_EQ(ppigb_mc_addr_list(&dev, &group, 1), 0);
	memset((void *)(uintptr_t)bar, 0xA5, sizeof(bar)); /* What was there before must go. */
	ppigb_filter_start(&dev);
	CHECK_EQ(reg(0x5400), 0x33221102);
	CHECK_EQ(reg(0x5404), 0x80005544);
	CHECK_EQ(reg(0x540C), 0);
	CHECK_EQ(reg(last < 16 ? 0x5400 + 8 * last : 0x54E0 + 8 * (last - 16)), 0x03020102);
	CHECK_EQ(reg(last < 16 ? 0x5404 + 8 * last : 0x54E4 + 8 * (last - 16)), 0x80000504);
	/* Hash: bits 47:36 of the address, 0x341; one bit of the whole table. */
	for (unsigned int w = 0; w < 128; w++)
		CHECK_EQ(reg(0x5200 + 4 * w), w == 0x341 >> 5 ? UINT32_C(1) << (0x341 & 31) : 0);
	CHECK_EQ(ppigb_mac_addr_add(&dev, &more, 1, 0), 0);
	CHECK_EQ(reg(0x540C), 0x80000504);
	ppigb_mac_addr_remove(&dev, 1);
	CHECK_EQ(reg(0x540C) | reg(0x5408), 0);
	CHECK_EQ(ppigb_mac_addr_add(&dev, &more, m->nb_rar, 0), -ENOSPC);
	CHECK_EQ(ppigb_mac_addr_add(&dev, &more, 1, 1), -EINVAL);
}

static void
modes(void)
{
	const uint32_t upe = 1 << 3, mpe = 1 << 4;

	fresh(0);
	ppigb_filter_start(&dev);
	CHECK_EQ(reg(0x100) & (upe | mpe), 0);
	ppigb_promiscuous_enable(&dev);
	CHECK_EQ(reg(0x100) & (upe | mpe), upe | mpe);
	data.all_multicast = 1;
	ppigb_promiscuous_disable(&dev);
	CHECK_EQ(reg(0x100) & (upe | mpe), mpe);
	ppigb_allmulticast_disable(&dev);
	CHECK_EQ(reg(0x100) & (upe | mpe), 0);
	data.promiscuous = 1;
	ppigb_allmulticast_disable(&dev);
	CHECK_EQ(reg(0x100) & (upe | mpe), upe | mpe);
}

static void
vlans(unsigned int i)
{
	const struct ppigb_model *m = fresh(i);
	uint32_t strip = m->strcrc_queue ? UINT32_C(1) << 30 : 0;

	CHECK_EQ(ppigb_vlan_filter_set(&dev, 4095, 1), 0);
	CHECK_EQ(ppigb_vlan_filter_set(&dev, 33, 1), 0);
	CHECK_EQ(ppigb_vlan_filter_set(&dev, 32, 1), 0);
	CHECK_EQ(ppigb_vlan_filter_set(&dev, 32, 0), 0);
	memset((void *)(uintptr_t)bar, 0, sizeof(bar)); /* A reset. */
	data.dev_conf.rxmode.offloads =
		RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	ppigb_vlan_start(&dev);
	CHECK_EQ(reg(0x5600 + 4 * 127), 0x80000000);
	CHECK_EQ(reg(0x5604), 2);
	CHECK_EQ(reg(0x0) >> 30 & 1, 1);
	CHECK_EQ(reg(0xC038 + 0x40 * (m->nb_queues - 1u)), strip);
	CHECK_EQ(reg(0x100) >> 18 & 3, 1);
	CHECK_EQ(reg(0x18) >> 26 & 1, 0);

	data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_VLAN_EXTEND;
	CHECK_EQ(ppigb_vlan_tpid_set(&dev, RTE_ETH_VLAN_TYPE_OUTER, 0x88A8),
		m->outer_vlan ? 0 : -ENOTSUP);
	CHECK_EQ(ppigb_vlan_tpid_set(&dev, RTE_ETH_VLAN_TYPE_INNER, 0x88A8), -ENOTSUP);
	CHECK_EQ(ppigb_vlan_offload_set(&dev, RTE_ETH_VLAN_EXTEND_MASK),
		m->outer_vlan ? 0 : -ENOTSUP);
	CHECK_EQ(reg(0x18) >> 26 & 1, m->outer_vlan);
	CHECK_EQ(reg(0x38), m->outer_vlan ? 0x88A88100 : 0x81008100);
	CHECK_EQ(reg(0x0) >> 30 & 1, 1);
	CHECK_EQ(ppigb_vlan_offload_set(&dev, RTE_ETH_VLAN_STRIP_MASK | RTE_ETH_VLAN_FILTER_MASK),
		0);
	CHECK_EQ(reg(0x0) >> 30 & 1, 0);
	CHECK_EQ(reg(0x100) >> 18 & 1, 0);
	CHECK_EQ(selects, 0);
	/* On a running port the receive function has to look at tags from now on. */
	data.dev_started = 1;
	data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	CHECK_EQ(ppigb_vlan_offload_set(&dev, RTE_ETH_VLAN_STRIP_MASK), 0);
	CHECK_EQ(selects, 1);
	selects = 0;
}

/** Each type is one bit, and not another's. */
static void
hash_types(void)
{
	static const struct {
		uint64_t type;
		unsigned int bit;
	} types[] = {{RTE_ETH_RSS_NONFRAG_IPV4_TCP, 16}, {RTE_ETH_RSS_IPV4, 17},
		{RTE_ETH_RSS_IPV6_TCP_EX, 18}, {RTE_ETH_RSS_IPV6_EX, 19}, {RTE_ETH_RSS_IPV6, 20},
		{RTE_ETH_RSS_NONFRAG_IPV6_TCP, 21}, {RTE_ETH_RSS_NONFRAG_IPV4_UDP, 22},
		{RTE_ETH_RSS_NONFRAG_IPV6_UDP, 23}, {RTE_ETH_RSS_IPV6_UDP_EX, 24}};
	struct rte_eth_rss_conf conf = {0};

	fresh(0);
	data.dev_started = 1;
	for (unsigned int i = 0; i < RTE_DIM(types); i++) {
		conf.rss_hf = types[i].type;
		CHECK_EQ(ppigb_rss_hash_update(&dev, &conf), 0);
		CHECK_EQ(reg(0x5818), 2 | 1 << types[i].bit);
	}
	conf.rss_hf = 0;
	CHECK_EQ(ppigb_rss_hash_update(&dev, &conf), 0);
	CHECK_EQ(reg(0x5818), 0);
}

static void
hash_key(void)
{
	uint8_t key[40], back[40];
	struct rte_eth_rss_conf conf = {
		.rss_key = key, .rss_key_len = 40, .rss_hf = RTE_ETH_RSS_IPV4};

	fresh(0);
	data.dev_conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	data.dev_conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IPV4;
	CHECK_EQ(ppigb_rss_configure(&dev), 0);
	ppigb_rss_start(&dev);
	CHECK_EQ(reg(0x5C80), 0xda565a6d);
	CHECK_EQ(reg(0x5818), 2 | 1 << 17);
	for (unsigned int i = 0; i < 40; i++)
		key[i] = (uint8_t)(i + 1);
	CHECK_EQ(ppigb_rss_hash_update(&dev, &conf), 0);
	CHECK_EQ(reg(0x5C80), 0xda565a6d); /* Stopped: at the next start. */
	ppigb_rss_start(&dev);
	CHECK_EQ(reg(0x5C80), 0x04030201);
	CHECK_EQ(reg(0x5C80 + 36), 0x28272625);
	conf.rss_key_len = 39;
	CHECK_EQ(ppigb_rss_hash_update(&dev, &conf), -EINVAL);
	conf = (struct rte_eth_rss_conf){.rss_key = back, .rss_key_len = 40};
	CHECK_EQ(ppigb_rss_hash_conf_get(&dev, &conf), 0);
	CHECK(memcmp(key, back, 40) == 0);
	CHECK_EQ(conf.rss_hf, RTE_ETH_RSS_IPV4);
}

static void
table(void)
{
	struct rte_eth_rss_reta_entry64 conf[2] = {0};

	fresh(0);
	CHECK_EQ(ppigb_rss_configure(&dev), 0);
	ppigb_rss_start(&dev);
	CHECK_EQ(reg(0x5C00), 0x01000100);
	CHECK_EQ(reg(0x5C7C), 0x01000100);
	CHECK_EQ(reg(0x5818), 0); /* Not configured for RSS. */
	conf[1].mask = UINT64_C(1) << 63;
	CHECK_EQ(ppigb_reta_update(&dev, conf, 64), -EINVAL);
	data.dev_started = 1;
	CHECK_EQ(ppigb_reta_update(&dev, conf, 128), 0);
	CHECK_EQ(reg(0x5C7C), 0x00000100);
	/* It stays as long as its queues exist. */
	CHECK_EQ(ppigb_rss_configure(&dev), 0);
	CHECK_EQ(port.reta[127], 0);
	conf[0].mask = conf[1].mask = UINT64_MAX;
	CHECK_EQ(ppigb_reta_query(&dev, conf, 128), 0);
	CHECK_EQ(conf[1].reta[63], 0);
	CHECK_EQ(conf[0].reta[63], 1);
	data.nb_rx_queues = 1;
	CHECK_EQ(ppigb_rss_configure(&dev), 0);
	CHECK_EQ(port.reta[1], 0);
}

/** IEEE 802.3 table 28B-3, all of it: bits are PAUSE (1) and ASM_DIR (2) of each side. */
static void
negotiation(void)
{
	static const uint8_t want[4][4] = {[1] = {[1] = RTE_ETH_FC_FULL, [3] = RTE_ETH_FC_FULL},
		[2] = {[3] = RTE_ETH_FC_TX_PAUSE},
		[3] = {[1] = RTE_ETH_FC_FULL, [2] = RTE_ETH_FC_RX_PAUSE, [3] = RTE_ETH_FC_FULL}};

	fresh(0);
	phy[0] = 1 << 12;
	for (unsigned int ours = 0; ours < 4; ours++) {
		for (unsigned int theirs = 0; theirs < 4; theirs++) {
			phy[4] = (uint16_t)(ours << 10);
			phy[5] = (uint16_t)(theirs << 10);
			ppigb_flow_ctrl_resolve(&port);
			CHECK_EQ(reg(0) >> 27 & 3, want[ours][theirs]);
		}
	}
	/* Asked to obey only, it must not send. */
	port.fc.mode = RTE_ETH_FC_RX_PAUSE;
	ppigb_flow_ctrl_resolve(&port);
	CHECK_EQ(reg(0) >> 27 & 3, RTE_ETH_FC_RX_PAUSE);
	phy[0] = 0; /* Forced speed. */
	phy[5] = 0;
	ppigb_flow_ctrl_resolve(&port);
	CHECK_EQ(reg(0) >> 27 & 3, RTE_ETH_FC_RX_PAUSE);
}

static void
flow_control(void)
{
	struct rte_eth_fc_conf conf;

	fresh(0);
	ppigb_wr(&port, 0x2404, 64);
	ppigb_flow_ctrl_init(&port);
	CHECK_EQ(ppigb_flow_ctrl_get(&dev, &conf), 0);
	CHECK_EQ(conf.mode, RTE_ETH_FC_FULL);
	CHECK_EQ(conf.high_water, 65536 - 2 * 1518);
	ppigb_flow_ctrl_start(&port);
	CHECK_EQ(reg(0x28), 0x00C28001);
	CHECK_EQ(reg(0x2168), (65536 - 2 * 1518) & ~15u);
	CHECK_EQ(reg(0x2160), ((65536 - 2 * 1518 - 1500) & ~15u) | 0x80000000);
	CHECK_EQ(reg(0x170), 0x680);
	data.dev_started = 1;
	conf.mode = RTE_ETH_FC_NONE;
	CHECK_EQ(ppigb_flow_ctrl_set(&dev, &conf), 0);
	CHECK_EQ(link_starts, 1); /* To negotiate again. */
	CHECK_EQ(reg(0x2168) | reg(0x2160), 0);
	conf.mode = RTE_ETH_FC_TX_PAUSE;
	conf.autoneg = 0;
	conf.mac_ctrl_frame_fwd = 1;
	CHECK_EQ(ppigb_flow_ctrl_set(&dev, &conf), 0);
	CHECK_EQ(link_starts, 1);
	CHECK_EQ(reg(0) >> 27 & 3, 2);
	CHECK_EQ(reg(0x100) >> 23 & 1, 1);
	/* Negotiation, of what was forced and never advertised. */
	conf.autoneg = 1;
	CHECK_EQ(ppigb_flow_ctrl_set(&dev, &conf), 0);
	CHECK_EQ(link_starts, 2);
	/* A link that the application has set down stays so; the next one is negotiated anyway. */
	port.link_off = true;
	conf.mode = RTE_ETH_FC_RX_PAUSE;
	CHECK_EQ(ppigb_flow_ctrl_set(&dev, &conf), 0);
	CHECK_EQ(link_starts, 2);
	conf.high_water = 65536;
	CHECK_EQ(ppigb_flow_ctrl_set(&dev, &conf), -EINVAL);
	conf.high_water = UINT32_MAX;
	CHECK_EQ(ppigb_flow_ctrl_set(&dev, &conf), -EINVAL);
	conf.high_water = 100;
	conf.low_water = 101;
	CHECK_EQ(ppigb_flow_ctrl_set(&dev, &conf), -EINVAL);
}

/** Where each queue's vector stands in IVAR: 82576 from DPDK 22.11, the others in pairs. */
static void
vectors(unsigned int i)
{
	const struct ppigb_model *m = fresh(i);

	for (unsigned int q = 0; q < m->nb_queues; q++)
		ivar_write(&port, q, q + 1);
	for (unsigned int q = 0; q < m->nb_queues; q++) {
		uint32_t entry = m->bit == PPIGB_82576 ? q % 8 : q / 2;
		uint32_t half = m->bit == PPIGB_82576 ? q / 8 : q % 2;

		CHECK_EQ(reg(0x1700 + 4 * entry) >> 16 * half & 0xFFFF, 0x80 | (q + 1));
	}
}

static void
dump(unsigned int i)
{
	const struct ppigb_model *m = fresh(i);
	struct rte_dev_reg_info info = {0};
	uint32_t *all, some[3];

	for (uint32_t o = 0; o < BAR_SIZE; o += 4)
		ppigb_wr(&port, o, o);
	CHECK_EQ(ppigb_regs_get(&dev, &info), 0);
	CHECK_EQ(info.width, 4);
	CHECK(info.length > 400);
	all = calloc(info.length + 1, 4);
	all[info.length] = 0xA5A5A5A5;
	info.data = all;
	CHECK_EQ(ppigb_regs_get(&dev, &info), 0);
	CHECK_EQ(all[0], 0);
	CHECK_EQ(all[1], 8); /* STATUS */
	CHECK_EQ(all[info.length], 0xA5A5A5A5);
	/* Each register once, no counter, and no queue that the model does not have. */
	for (uint32_t j = 1; j < info.length; j++) {
		CHECK(all[j] != 0 && all[j] < BAR_SIZE);
		CHECK_EQ(reg(all[j]), all[j]);
		ppigb_wr(&port, all[j], 0);
		CHECK(all[j] < 0x4000 || all[j] >= 0x4200);
		CHECK(all[j] < 0xC000 || (all[j] & 0x1FFF) < 0x40u * m->nb_queues ||
			all[j] > 0x10000);
	}
	for (uint32_t o = 0; o < BAR_SIZE; o += 4)
		ppigb_wr(&port, o, o);
	info = (struct rte_dev_reg_info){.data = some, .offset = info.length - 3, .length = 3};
	CHECK_EQ(ppigb_regs_get(&dev, &info), 0);
	CHECK(memcmp(some, &all[info.offset], sizeof(some)) == 0);
	info.length = 4;
	CHECK_EQ(ppigb_regs_get(&dev, &info), -EINVAL);
	free(all);
}

static void
each_model(void)
{
	for (unsigned int i = 0; i < (unsigned int)__builtin_popcount(PPIGB_ALL); i++) {
		printf("    %s\n", ppigb_models[i].name);
		addresses(i);
		vlans(i);
		vectors(i);
		dump(i);
	}
}

static void
dump_in_words(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	fresh(0);
	ppigb_wr(&port, 0x100, 1 << 18);
	ppigb_wr(&port, 0x5604, 2);
	CHECK_EQ(ppigb_priv_dump(&dev, f), 0);
	fclose(f);
	CHECK_LOG(text, "00100 RCTL           00040000");
	CHECK_LOG(text, " VFE=0x1");
	CHECK_LOG(text, "05604 VFTA[1]        00000002\n");
	CHECK(strstr(text, "VFTA[0]") == NULL);
	CHECK(strstr(text, " ICR ") == NULL);
	free(text);
}

int
main(void)
{
	RUN(each_model);
	RUN(modes);
	RUN(hash_types);
	RUN(hash_key);
	RUN(table);
	RUN(negotiation);
	RUN(flow_control);
	RUN(dump_in_words);
	return 0;
}
