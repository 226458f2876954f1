/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What packed packets are made of, see pack.h: heads and pages, and how many of them are out.
 */
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "pack.h"
#include "pagepool_dma.h"
#include "queue.h"

/** The packets that there are heads for when all pages are full of them. */
#define USUAL_LEN 64u
/** Pages in an lcore's cache: few, since the pool is small. */
#define CACHE_SIZE 64u
#define OPS        "pagepool"

static void
unmake(struct ppigb_pack *pack)
{
	if (pack == NULL)
		return;
	rte_mempool_free(pack->heads);
	pagepool_destroy(pack->pages);
	rte_free(pack);
}

/* The memory is EAL's, as that of a usual mempool: so each device that the application may send
 * through reaches it, or can be given it. @return 0 or -errno */
static int
make(struct rte_eth_dev *dev, struct ppigb_pack *pack, int socket)
{
	const struct ppigb *p = ppigb_priv(dev);
	/* Those of the port's last life may be there still. */
	static unsigned int times;
	char name[PAGEPOOL_NAMESIZE];
	struct pagepool_params params = {
		.name = name,
		.nb_pages = p->rx_frags.mib * ((1u << 20) / PPIGB_PACK_PAGE),
		.page_size = PPIGB_PACK_PAGE,
		.cache_size = CACHE_SIZE,
		.socket_id = socket,
		.flags = PAGEPOOL_F_EAL_MEMORY,
	};
	unsigned int n;

	pack->max = p->rx_frags.max;
	pack->headroom = p->rx_frags.headroom;
	n = params.nb_pages *
	    (PPIGB_PACK_ROOM / ppigb_pack_slot(pack, RTE_MIN((uint32_t)pack->max, USUAL_LEN)));
	snprintf(name, sizeof(name), "rx_frags_%u_%u", p->port_id, times);
	pack->pages = pagepool_create(&params);
	if (pack->pages == NULL)
		return -rte_errno;
	snprintf(name, sizeof(name), "rx_heads_%u_%u", p->port_id, times++);
	pack->heads = rte_pktmbuf_pool_create_by_ops(name, n, 0, 0, 0, socket, OPS);
	if (pack->heads == NULL)
		return -rte_errno;
	pack->heads_pool = pagepool_from_mempool(pack->heads);
	/* What was sent from an earlier pool at this address is no reason to think that the device
	 * reaches this one. Relaxed: as in reach.c. */
	__atomic_fetch_add(&ppigb_pools_gone, 1, __ATOMIC_RELAXED);
	return pagepool_dma_attach(pack->pages, dev->device);
}

int
ppigb_pack_make(struct rte_eth_dev *dev, int socket)
{
	struct ppigb *p = ppigb_priv(dev);
	struct ppigb_pack *pack;
	int ret = -ENOMEM;

	if (!p->rx_frags.on || p->pack != NULL)
		return 0;
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, OPS) == 0)
			ret = 0;
	if (ret < 0) {
		PPIGB_LOG(ERR, p->name,
			"rx_frags=1 needs the mempool ops '" OPS "': start with "
			"-d librte_mempool_pagepool.so");
		return -ENOENT;
	}
	pack = rte_zmalloc_socket("ppigb_pack", sizeof(*pack), 0, socket);
	ret = pack == NULL ? -ENOMEM : make(dev, pack, socket);
	if (ret < 0) {
		PPIGB_LOG(ERR, p->name,
			"no memory for packed packets: %s; give EAL more huge pages (-m, "
			"vm.nr_hugepages), or the port a smaller rx_frags_mib than %u",
			rte_strerror(-ret), p->rx_frags.mib);
		unmake(pack);
		return ret;
	}
	p->pack = pack;
	return 0;
}

void
ppigb_pack_free(struct ppigb *p)
{
	unmake(p->pack);
	p->pack = NULL;
}

int
ppigb_pack_queue(struct ppigb_rxq *rxq, int socket)
{
	struct ppigb_pack *pack = rxq->p->pack;
	struct ppigb_pack_rxq *q;
	struct rte_mbuf head = {
		.refcnt = 1,
		.nb_segs = 1,
	};

	if (pack == NULL)
		return 0;
	q = rte_zmalloc_socket("ppigb_pack_rxq", sizeof(*q) + rxq->size * sizeof(*q->spare),
		RTE_CACHE_LINE_SIZE, socket);
	if (q == NULL)
		return -ENOMEM;
	head.data_off = pack->headroom;
	head.port = rxq->p->port_id;
	memcpy(&q->rearm, RTE_PTR_ADD(&head, offsetof(struct rte_mbuf, rearm_data)),
		sizeof(q->rearm));
	q->pack = pack;
	rxq->pack = q;
	return 0;
}

void
ppigb_pack_use(const struct ppigb *p, struct ppigb_pack_use *use)
{
	const struct ppigb_pack *pack = p->pack;

	memset(use, 0, sizeof(*use));
	if (pack == NULL)
		return;
	use->packets = rte_mempool_in_use_count(pack->heads);
	use->bytes = use->packets * (pack->heads->header_size + pack->heads->elt_size +
					    pack->heads->trailer_size) +
		     (uint64_t)pagepool_in_use_count(pack->pages) * PPIGB_PACK_PAGE;
}
