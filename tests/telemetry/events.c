/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * events PREFIX FOLDER [TRACE-OPTION]: does what has trace points, in a known order, with what must be
 * recorded of it printed; events.sh compares. The trace goes into a folder below FOLDER.
 */
#include <rte_dev.h>
#include <rte_eal.h>

#include <pagepool_numa.h>

#include "harness.h"
#include "pagepool_priv.h"
#include "vfio_fake.h"

static void *pages[256];

/* The names of fields and their order are what babeltrace2 prints. */
#define EXPECT(event, fmt, ...) printf("lib.pagepool." event ": " fmt "\n", __VA_ARGS__)
#define POOL                    "pool = \"%s\", id = 0x%X"

static void
expect_pages(const char *event, const char *total, const struct pagepool_state *st,
	const void *page, unsigned int n, unsigned int sum)
{
	printf("lib.pagepool.%s: " POOL ", page = 0x%" PRIXPTR ", n = 0x%X, %s = 0x%X\n", event,
		st->name, st->id, (uintptr_t)page, n, total, sum);
}

static void
expect_attached(const struct pagepool_state *st, struct rte_device *dev, const char *what)
{
	if (strcmp(what, "attach") == 0)
		EXPECT("attach", POOL ", device = \"%s\", slabs = 0x1, maps = 0x1, ret = 0",
			st->name, st->id, rte_dev_name(dev));
	else
		EXPECT("detach", POOL ", device = \"%s\", maps = 0x1, ret = 0", st->name, st->id,
			rte_dev_name(dev));
}

static void
live(void)
{
	struct pagepool *pool =
		T_CREATE(.name = "traced", .nb_pages = 256, .page_size = 8192, .cache_size = 32);
	struct pagepool_state *st = pool->state;
	struct rte_device *a, *b;
	uint32_t id = st->id;

	EXPECT("grow",
		POOL ", slab = 0x%" PRIXPTR ", bytes = 0x200000, slab_pages = 0x100, pages = 0x100",
		st->name, id, st->slabs[0]->base);
	fake_pair_begin(&a, &b);
	CHECK_EQ(pagepool_dma_attach(pool, a), 0);
	expect_attached(st, a, "attach");
	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	expect_pages("hold", "hold", st, pages[0], 100, 100);
	pagepool_release(pool, pages, 40);
	expect_pages("release", "release", st, pages[0], 40, 40);
	/* Caches and the ring: nothing to record. */
	pagepool_put_bulk(pool, pages + 40, 10);
	CHECK_EQ(pagepool_alloc_bulk(pool, pages + 40, 10), 10);
	pagepool_put_ring(pool, pages + 40, 10);
	CHECK_EQ(pagepool_update_nid(pool, SOCKET_ID_ANY), 0);
	EXPECT("update_nid", POOL ", node = -1", st->name, id);
	CHECK_EQ(pagepool_dma_detach(pool, a), 0);
	expect_attached(st, a, "detach");
	fake_pair_end(a, b);
	EXPECT("destroy", POOL ", in_use = 0x32", "traced", id);
	CHECK_EQ(pagepool_destroy(pool), 50);
	pagepool_put_bulk(pool, pages + 50, 50);
	EXPECT("zombie_end", POOL, "traced", id);
}

int
main(int argc, char **argv)
{
	char prefix[64], dir[300];
	const char *args[] = {argv[0], prefix, dir, "--no-huge", "-m64", "--no-pci",
		"--no-telemetry", "--no-shconf", "--iova-mode=va", argc > 3 ? argv[3] : "-l0"};

	CHECK(argc >= 3);
	snprintf(prefix, sizeof(prefix), "--file-prefix=%s", argv[1]);
	snprintf(dir, sizeof(dir), "--trace-dir=%s", argv[2]);
	fake_init();
	if (rte_eal_init(RTE_DIM(args), (char **)(uintptr_t)args) < 0)
		t_fail(__FILE__, __LINE__, "rte_eal_init: %s", rte_strerror(rte_errno));
	live();
	fake_end();
	rte_eal_cleanup();
	return 0;
}
