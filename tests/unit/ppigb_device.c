/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include "pagepool_dma.h"
#include "ppigb_device.h"

#define BAR_SIZE 0x20000u

bool d_stuck, d_master;
const struct pagepool *d_unreachable;
unsigned int d_attached;
struct ppigb d_port;
int ppigb_logtype;

static volatile uint8_t bar[BAR_SIZE] __rte_cache_aligned;
static void *rx_queues[RTE_MAX_QUEUES_PER_PORT], *tx_queues[RTE_MAX_QUEUES_PER_PORT];
static struct rte_eth_dev_data data;
static struct rte_pci_device pci;
static struct rte_eth_dev device = {.data = &data, .device = &pci.device};
struct rte_eth_dev *const d_dev = &device;

/* What the files under test call of the rest of the driver. */
bool
ppigb_is_gone(struct ppigb *p, struct rte_pci_device *d)
{
	(void)d;
	return p->gone;
}

int
ppigb_poll(const struct ppigb *p, uint32_t offset, uint32_t mask, uint32_t want, unsigned int us)
{
	(void)us;
	return (ppigb_rd(p, offset) & mask) == want && !(d_stuck && want == 0) ? 0 : -ETIMEDOUT;
}

int
ppigb_bus_master(struct rte_pci_device *d, bool on)
{
	(void)d;
	d_master = on;
	return 0;
}

/* The port is on no bus that has DMA to map for. */
int
pagepool_dma_attach(struct pagepool *pool, struct rte_device *dev)
{
	d_attached++;
	return pool == NULL || dev != &pci.device ? -EINVAL : pool == d_unreachable ? -ENOSPC : 0;
}

int
pagepool_dma_detach_all(struct rte_device *dev)
{
	return dev == &pci.device ? 0 : -EINVAL;
}

int
pagepool_dma_map(struct rte_device *dev, void *addr, size_t len)
{
	return dev == &pci.device && addr != NULL && len > 0 ? 0 : -EINVAL;
}

int
pagepool_dma_unmap(struct rte_device *dev, void *addr, size_t len)
{
	return pagepool_dma_map(dev, addr, len);
}

uint32_t
d_reg(uint32_t offset)
{
	return ppigb_rd(&d_port, offset);
}

void
d_fresh(uint64_t rx_offloads, uint64_t tx_offloads)
{
	memset(&d_port, 0, sizeof(d_port));
	memset(&data, 0, sizeof(data));
	memset(rx_queues, 0, sizeof(rx_queues));
	memset(tx_queues, 0, sizeof(tx_queues));
	memset((void *)(uintptr_t)bar, 0, sizeof(bar));
	d_stuck = false;
	d_unreachable = NULL;
	d_attached = 0;
	rte_eth_devices[7] = device;
	d_master = true;
	d_port.bar = bar;
	d_port.port_id = 7;
	snprintf(d_port.name, sizeof(d_port.name), "test");
	data.dev_private = &d_port;
	data.port_id = 7;
	data.rx_queues = rx_queues;
	data.tx_queues = tx_queues;
	data.nb_rx_queues = data.nb_tx_queues = 1;
	data.mtu = RTE_ETHER_MTU;
	data.dev_conf.rxmode.offloads = rx_offloads;
	data.dev_conf.txmode.offloads = tx_offloads;
}

void
d_start(struct rte_mempool *mp, uint16_t nb_rx, uint16_t nb_tx)
{
	const struct rte_eth_rxconf rxconf = {0};
	const struct rte_eth_txconf txconf = {0};

	CHECK_EQ(ppigb_rx_queue_setup(d_dev, 0, nb_rx, 0, &rxconf, mp), 0);
	CHECK_EQ(ppigb_tx_queue_setup(d_dev, 0, nb_tx, 0, &txconf), 0);
	CHECK_EQ(ppigb_queues_start(d_dev), 0);
	ppigb_queues_run(d_dev);
	data.dev_started = 1;
}

void
d_end(struct rte_mempool *mp)
{
	CHECK_EQ(ppigb_queues_stop(d_dev), 0);
	data.dev_started = 0;
	ppigb_queues_release(d_dev);
	mempool_end(mp);
}

struct rte_mempool *
d_pool(const char *name, unsigned int n, unsigned int room)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops(name, n, 0, 0,
		(uint16_t)(RTE_PKTMBUF_HEADROOM + room), SOCKET_ID_ANY, pagepool_ops_name);

	if (mp == NULL)
		t_fail(__FILE__, __LINE__, "%s: %s", name, rte_strerror(rte_errno));
	return mp;
}

static void *
ring(uint32_t low, uint32_t high)
{
	return (void *)(uintptr_t)((uint64_t)d_reg(high) << 32 | d_reg(low));
}

static uint32_t
between(uint32_t head, uint32_t tail, uint32_t len)
{
	uint32_t size = d_reg(len) / 16;

	return (d_reg(tail) + size - d_reg(head)) % size;
}

unsigned int
d_buffers(void)
{
	return between(PPIGB_REG(RDH), PPIGB_REG(RDT), PPIGB_REG(RDLEN));
}

bool
d_receive(unsigned int len, uint8_t seed, const struct d_rx *what)
{
	union ppigb_rx_desc *r = ring(PPIGB_REG(RDBAL), PPIGB_REG(RDBAH));
	uint32_t size = d_reg(PPIGB_REG(RDLEN)) / 16, head = d_reg(PPIGB_REG(RDH));
	unsigned int room = 1024 * PPIGB_G(SRRCTL, BSIZEPKT, d_reg(PPIGB_REG(SRRCTL))), done = 0;

	CHECK(d_reg(PPIGB_REG(RXDCTL)) & PPIGB_F(RXDCTL, ENABLE));
	if (d_buffers() * room < len)
		return false;
	do {
		union ppigb_rx_desc *d = &r[head];
		uint8_t *to = (uint8_t *)(uintptr_t)d->read.addr;
		unsigned int n = RTE_MIN(room, len - done);

		CHECK_EQ(d->read.hdr_addr, 0);
		for (unsigned int i = 0; i < n; i++)
			to[i] = (uint8_t)(seed + done + i);
		done += n;
		*d = (union ppigb_rx_desc){
			.wb = {.pkt_info = what->info,
				.rss = what->rss,
				.status = PPIGB_RXS_DD |
					  (done == len ? PPIGB_RXS_EOP | what->status : 0),
				.len = (uint16_t)n,
				.vlan = what->vlan}};
		head = (head + 1) % size;
	} while (done < len);
	ppigb_wr(&d_port, PPIGB_REG(RDH), head);
	return true;
}

const union ppigb_tx_desc *
d_tx_desc(unsigned int i)
{
	return (const union ppigb_tx_desc *)ring(PPIGB_REG(TDBAL), PPIGB_REG(TDBAH)) + i;
}

unsigned int
d_transmit(unsigned int n)
{
	uint32_t size = d_reg(PPIGB_REG(TDLEN)) / 16, head = d_reg(PPIGB_REG(TDH));
	uint32_t wb = d_reg(PPIGB_REG(TDWBAL)), done = 0;
	uint32_t *word = (uint32_t *)ring(PPIGB_REG(TDWBAL), PPIGB_REG(TDWBAH));

	CHECK(d_reg(PPIGB_REG(TXDCTL)) & PPIGB_F(TXDCTL, ENABLE));
	CHECK(wb & 1);
	word = (uint32_t *)((uintptr_t)word & ~(uintptr_t)1);
	n = RTE_MIN(n, between(PPIGB_REG(TDH), PPIGB_REG(TDT), PPIGB_REG(TDLEN)));
	for (; done < n; done++) {
		uint32_t cmd = d_tx_desc(head)->data.cmd;

		head = (head + 1) % size;
		if ((cmd & PPIGB_TXC_RS) && (cmd & PPIGB_TXC_DTYP_DATA) == PPIGB_TXC_DTYP_DATA)
			*word = head;
	}
	ppigb_wr(&d_port, PPIGB_REG(TDH), head);
	return done;
}

void
d_check_packet(const struct rte_mbuf *m, unsigned int len, uint8_t seed, unsigned int segs)
{
	const char *why;
	unsigned int at = 0;

	if (rte_mbuf_check(m, 1, &why) != 0)
		t_fail(__FILE__, __LINE__, "mbuf: %s", why);
	CHECK_EQ(m->pkt_len, len);
	CHECK_EQ(m->nb_segs, segs);
	CHECK_EQ(m->port, 7);
	CHECK_EQ(m->data_off, RTE_PKTMBUF_HEADROOM);
	for (; m != NULL; m = m->next)
		for (unsigned int i = 0; i < m->data_len; i++, at++)
			if (rte_pktmbuf_mtod(m, const uint8_t *)[i] != (uint8_t)(seed + at))
				t_fail(__FILE__, __LINE__, "byte %u of %u is wrong", at, len);
	CHECK_EQ(at, len);
}

void
d_dirty(struct rte_mbuf *m)
{
	m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_TX_VLAN;
	m->packet_type = RTE_PTYPE_L4_TCP;
	m->port = 3;
	m->data_off = 5;
	m->hash.rss = 0xdead;
	m->vlan_tci = 99;
	m->pkt_len = m->data_len = 1;
	rte_pktmbuf_free(m);
}

struct rte_mbuf *
d_packet(struct rte_mempool *mp, unsigned int segs, unsigned int len)
{
	struct rte_mbuf *m = rte_mbuf_raw_alloc(mp), *seg;

	/* As everybody may take an mbuf from a pool for granted. */
	CHECK(m != NULL && m->next == NULL && m->nb_segs == 1 && rte_mbuf_refcnt_read(m) == 1);
	rte_pktmbuf_reset(m);
	CHECK(m != NULL && rte_pktmbuf_append(m, (uint16_t)len) != NULL);
	for (unsigned int i = 1; i < segs; i++) {
		seg = rte_pktmbuf_alloc(mp);
		CHECK(seg != NULL && rte_pktmbuf_append(seg, (uint16_t)(len + i)) != NULL);
		CHECK_EQ(rte_pktmbuf_chain(m, seg), 0);
	}
	return m;
}
