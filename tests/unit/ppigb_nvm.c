/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * net_ppigb: EEPROM, PHY, counters, against a device that the program plays: it answers when the
 * driver waits for it. Models that QEMU does not have are played too.
 */
#include "harness.h"

#include "ppigb.h"
#include "queue.h"
#include "pack.h"

#define BAR_SIZE 0x20000u
#define WORDS    256u

/* The port packs nothing. */
void
ppigb_pack_use(const struct ppigb *p, struct ppigb_pack_use *use)
{
	CHECK(p->pack == NULL);
	memset(use, 0, sizeof(*use));
}

static volatile uint8_t bar[BAR_SIZE];
static struct ppigb port;
static struct rte_pci_device pci;
static struct rte_eth_dev_data data;
static struct rte_eth_dev dev = {.data = &data, .device = &pci.device};
static uint16_t eeprom[WORDS], phy[32];
static unsigned int held; /* Locks. */
static bool silent;

int ppigb_logtype;

int
ppigb_sync_get(struct ppigb *p, uint32_t bits)
{
	CHECK(p == &port && bits != 0);
	CHECK_EQ(held++, 0);
	return 0;
}

void
ppigb_sync_put(struct ppigb *p, uint32_t bits)
{
	CHECK(p == &port && bits != 0);
	CHECK_EQ(--held, 0);
}

uint32_t
ppigb_phy_bit(const struct ppigb *p)
{
	return PPIGB_F(SW_FW_SYNC, SW_PHY0) << p->func;
}

/* Where the driver waits, the device acts. */
int
ppigb_poll(const struct ppigb *p, uint32_t offset, uint32_t mask, uint32_t want, unsigned int us)
{
	uint32_t v = ppigb_rd(p, offset);

	CHECK(us > 0);
	if (silent)
		return -ETIMEDOUT;
	CHECK_EQ(held, 1);
	if (offset == PPIGB_REG(MDIC)) {
		uint16_t *reg = &phy[PPIGB_G(MDIC, REGADD, v)];

		CHECK_EQ(mask, want);
		if (PPIGB_G(MDIC, OP, v) == 1)
			*reg = PPIGB_G(MDIC, DATA, v);
		v = (v & ~PPIGB_F(MDIC, DATA)) | *reg | PPIGB_F(MDIC, READY);
		/* IEEE 802.3: there is no other PHY on the bus. */
		if (PPIGB_G(MDIC, PHY, v) != 1)
			v |= PPIGB_F(MDIC, ERR);
	} else {
		CHECK(v & PPIGB_F(EERD, START));
		v = PPIGB_V(EERD, DATA, eeprom[PPIGB_G(EERD, ADDR, v) % WORDS]) |
		    PPIGB_F(EERD, DONE);
	}
	ppigb_wr(p, offset, v);
	return 0;
}

static void
fresh(uint16_t device_id)
{
	memset(&port, 0, sizeof(port));
	memset(&data, 0, sizeof(data));
	memset((void *)(uintptr_t)bar, 0, sizeof(bar));
	memset(phy, 0, sizeof(phy));
	for (unsigned int i = 0; i < WORDS; i++)
		eeprom[i] = (uint16_t)(0x1000 + i);
	eeprom[0x3F] = 0xBABA;
	for (unsigned int i = 0; i < 0x3F; i++)
		eeprom[0x3F] -= eeprom[i];
	silent = false;
	port.bar = bar;
	port.device_id = device_id;
	port.model_id = (uint8_t)ppigb_model_id(device_id);
	data.dev_private = &port;
	ppigb_wr(&port, PPIGB_REG(EECD), PPIGB_V(EECD, SIZE, 2));
}

static void
checksum(void)
{
	fresh(0x10C9);
	CHECK_EQ(ppigb_nvm_check(&port), 0);
	eeprom[7]++;
	CHECK_EQ(ppigb_nvm_check(&port), -EIO);
	silent = true;
	CHECK_EQ(ppigb_nvm_check(&port), -EIO);
	CHECK_EQ(held, 0);
	/* An I210 reads elsewhere, and without flash it has no EEPROM. */
	fresh(0x1533);
	CHECK_EQ(ppigb_nvm_check(&port), 0);
	CHECK_EQ(ppigb_rd(&port, PPIGB_REG(EERD_I21X)), 0);
	CHECK_EQ(ppigb_eeprom_length(&dev), -ENOTSUP);
	ppigb_wr(&port, PPIGB_REG(EEC_I21X), PPIGB_F(EEC_I21X, FLASH_DETECTED));
	CHECK_EQ(ppigb_nvm_check(&port), 0);
	CHECK(ppigb_rd(&port, PPIGB_REG(EERD_I21X)) & PPIGB_F(EERD, DONE));
}

static void
version(const char *wanted)
{
	char text[32];

	CHECK_EQ(ppigb_nvm_check(&port), 0);
	CHECK_EQ(ppigb_fw_version_get(&dev, text, 4), strlen(wanted) + 1);
	CHECK_EQ(ppigb_fw_version_get(&dev, text, sizeof(text)), 0);
	CHECK_EQ(strcmp(text, wanted), 0);
}

static void
word(unsigned int i, uint16_t value)
{
	eeprom[0x3F] += i < 0x3F ? eeprom[i] - value : 0;
	eeprom[i] = value;
}

static void
versions(void)
{
	fresh(0x1521);
	word(5, 0x1063);
	word(0x42, 0x0D5E);
	word(0x43, 0x8000);
	version("1.63, 0x80000d5e");
	word(5, 0x1632);
	version("1.63, 0x80000d5e");
	fresh(0x10C9);
	ppigb_wr(&port, PPIGB_REG(EECD), 0);
	word(5, 0x2015);
	word(0x42, 0);
	word(0x43, 0);
	version("2.1.5");
}

static void
eeprom_bytes(void)
{
	uint8_t all[2 * WORDS], part[16];
	struct rte_dev_eeprom_info info = {.data = all, .length = sizeof(all)};

	fresh(0x10C9);
	CHECK_EQ(ppigb_eeprom_length(&dev), sizeof(all));
	CHECK_EQ(ppigb_eeprom_get(&dev, &info), 0);
	CHECK_EQ(memcmp(all, eeprom, sizeof(all)), 0);
	CHECK_EQ(info.magic, 0x10C98086);
	for (unsigned int at = 0; at < 4; at++)
		for (unsigned int n = 1; n < sizeof(part); n++) {
			info = (struct rte_dev_eeprom_info){
				.data = part, .offset = at, .length = n};
			memset(part, 0xEE, sizeof(part));
			CHECK_EQ(ppigb_eeprom_get(&dev, &info), 0);
			CHECK_EQ(memcmp(part, all + at, n), 0);
			CHECK_EQ(part[n], 0xEE);
		}
	info = (struct rte_dev_eeprom_info){.data = part, .offset = sizeof(all) - 1, .length = 2};
	CHECK_EQ(ppigb_eeprom_get(&dev, &info), -EINVAL);
}

static void
link_of(uint32_t speeds, uint16_t bmcr, uint16_t anar, uint16_t gbcr)
{
	phy[0] = 0x0800; /* Powered down. */
	phy[4] = 0x0DE1;
	phy[9] = 0x0300;
	CHECK_EQ(ppigb_phy_setup_link(&port, speeds), 0);
	CHECK_EQ(phy[0], bmcr);
	CHECK_EQ(phy[4], anar);
	CHECK_EQ(phy[9], gbcr);
}

static void
speeds(void)
{
	fresh(0x10C9);
	phy[2] = 0x02A8;
	CHECK_EQ(ppigb_phy_init(&port), 0);
	CHECK(port.copper);
	port.fc.mode = RTE_ETH_FC_FULL;
	link_of(RTE_ETH_LINK_SPEED_AUTONEG, 0x1200, 0x0DE1, 0x0200);
	port.fc.mode = RTE_ETH_FC_TX_PAUSE;
	link_of(RTE_ETH_LINK_SPEED_100M | RTE_ETH_LINK_SPEED_10M_HD, 0x1200, 0x0921, 0);
	port.fc.mode = RTE_ETH_FC_NONE;
	link_of(RTE_ETH_LINK_SPEED_1G | RTE_ETH_LINK_SPEED_FIXED, 0x1200, 0x0001, 0x0200);
	link_of(RTE_ETH_LINK_SPEED_100M | RTE_ETH_LINK_SPEED_FIXED, 0x2100, 0x0DE1, 0x0300);
	CHECK_EQ(PPIGB_G(CTRL, SPEED, ppigb_rd(&port, PPIGB_REG(CTRL))), 1);
	link_of(RTE_ETH_LINK_SPEED_10M_HD | RTE_ETH_LINK_SPEED_FIXED, 0, 0x0DE1, 0x0300);
	CHECK_EQ(PPIGB_G(CTRL, FD, ppigb_rd(&port, PPIGB_REG(CTRL))), 0);
	CHECK_EQ(ppigb_phy_power(&port, false), 0);
	CHECK_EQ(phy[0], 0x0800);
	silent = true;
	CHECK_EQ(ppigb_phy_init(&port), -EIO);
	CHECK_EQ(held, 0);
	/* Fiber: no PHY to ask. */
	ppigb_wr(&port, PPIGB_REG(CTRL_EXT), PPIGB_V(CTRL_EXT, LINK_MODE, 3));
	CHECK_EQ(ppigb_phy_init(&port), 0);
	CHECK(!port.copper);
}

static uint64_t
xstat(const char *name)
{
	struct rte_eth_xstat_name names[128];
	struct rte_eth_xstat values[128];
	int n = ppigb_xstats_get_names(&dev, NULL, 0);

	CHECK_EQ(ppigb_xstats_get_names(&dev, names, (unsigned int)n), n);
	CHECK_EQ(ppigb_xstats_get(&dev, values, (unsigned int)n - 1), n);
	/* Registers are not cleared by reading here, so all is counted again at each look. */
	memset((void *)(uintptr_t)(bar + 0x4000), 0, 0x200);
	CHECK_EQ(ppigb_xstats_get(&dev, values, (unsigned int)n), n);
	for (int i = 0; i < n; i++)
		if (strcmp(names[i].name, name) == 0)
			return values[i].value;
	t_fail(__FILE__, __LINE__, "no xstat %s", name);
	return 0;
}

static void
counters(void)
{
	static struct ppigb_rxq rxq;
	static struct ppigb_txq txq;
	void *rx[] = {&rxq}, *tx[] = {&txq};
	struct rte_eth_stats s = {0};

	fresh(0x10C9);
	data.rx_queues = rx;
	data.tx_queues = tx;
	data.nb_rx_queues = data.nb_tx_queues = 1;
	CHECK_EQ(ppigb_stats_init(&port, SOCKET_ID_ANY), 0);
	rxq.packets = 5;
	rxq.nombuf = 3;
	txq.bytes = 700;
	txq.too_long = 6;
	ppigb_wr(&port, 0x4074, 10);   /* GPRC */
	ppigb_wr(&port, 0x4088, 1000); /* GORCL */
	ppigb_wr(&port, 0x408C, 1);    /* GORCH */
	ppigb_wr(&port, 0x4010, 4);    /* MPC */
	ppigb_wr(&port, 0x40A0, 9);    /* RNBC: not lost */
	ppigb_wr(&port, 0x4000, 2);    /* CRCERRS */
	ppigb_wr(&port, 0x4020, 1);    /* LATECOL */
	ppigb_stats_poll(&port);
	memset((void *)(uintptr_t)(bar + 0x4000), 0, 0x200);
	CHECK_EQ(ppigb_stats_get(&dev, &s), 0);
	CHECK_EQ(s.ipackets, 10);
	CHECK_EQ(s.ibytes, (UINT64_C(1) << 32) + 1000 - 4 * 10);
	CHECK_EQ(s.imissed, 4);
	CHECK_EQ(s.rx_nombuf, 3);
	CHECK_EQ(s.oerrors, 1 + 6);
	CHECK_EQ(s.ierrors, 2);
	CHECK_EQ(s.q_ipackets[0], 5);
	CHECK_EQ(s.q_obytes[0], 700);
	CHECK_EQ(xstat("rx_crc_errors"), 2);
	CHECK_EQ(xstat("rx_refill_failures"), 3);
	CHECK_EQ(xstat("rx_pp_alloc_fast"), 0);
	/* A device that is gone has counted nothing. */
	memset((void *)(uintptr_t)bar, 0xFF, sizeof(bar));
	ppigb_stats_poll(&port);
	memset((void *)(uintptr_t)bar, 0, sizeof(bar));
	CHECK_EQ(xstat("rx_crc_errors"), 2);
	/* After a reset: only what comes then, of a queue too, and of one that is set up anew. */
	CHECK_EQ(ppigb_stats_reset(&dev), 0);
	rxq.packets = 6;
	CHECK_EQ(ppigb_stats_get(&dev, &s), 0);
	CHECK_EQ(s.ipackets, 0);
	CHECK_EQ(s.q_ipackets[0], 1);
	ppigb_stats_queue_new(&port, 0, true);
	rxq.packets = 2;
	CHECK_EQ(ppigb_stats_get(&dev, &s), 0);
	CHECK_EQ(s.q_ipackets[0], 2);
	rxq.packets = 9; /* More than it had at the reset. */
	CHECK_EQ(ppigb_stats_get(&dev, &s), 0);
	CHECK_EQ(s.q_ipackets[0], 9);
	CHECK_EQ(s.q_obytes[0], 0);
	ppigb_stats_fini(&port);
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	RUN(checksum);
	RUN(versions);
	RUN(eeprom_bytes);
	RUN(speeds);
	RUN(counters);
	return t_end();
}
