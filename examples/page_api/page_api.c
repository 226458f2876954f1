/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The page API from top to bottom: memory of any size cut from pages, packets of any size on pages of
 * one pool, clones that keep their data, who holds the pages that do not come home, and what happens
 * to them when the pool is destroyed. It says what it does, and fails if anything is not as it says.
 *
 *     page_api --no-huge -m 64 --no-pci
 *
 * More: doc/fragments.md, doc/tracking.md, doc/destroy.md.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include <pagepool.h>
#include <pagepool_frag.h>
#include <pagepool_mbuf.h>
#include <pagepool_track.h>

#define PAGE_SIZE 4096u
#define HEADROOM  RTE_PKTMBUF_HEADROOM

static void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	exit(1);
}

static void
expect(uint64_t is, uint64_t want, const char *what)
{
	if (is != want)
		die("%s: %" PRIu64 ", expected %" PRIu64 "\n", what, is, want);
}

/* A thousand records of 200 bytes share pages; the size that comes back is what each really has. */
static void
fragments(struct pagepool *pool)
{
	void *record[1000];
	uint32_t size;

	for (unsigned int i = 0; i < RTE_DIM(record); i++) {
		size = 200;
		record[i] = pagepool_alloc_frag(pool, &size);
		if (record[i] == NULL)
			die("fragment %u: %s\n", i, rte_strerror(rte_errno));
		memset(record[i], (int)i, size);
	}
	printf("1000 records of 200 bytes: %u bytes each, in %u pages of %u\n", size,
		pagepool_in_use_count(pool), PAGE_SIZE);
	for (unsigned int i = 0; i < RTE_DIM(record); i++)
		expect(*(uint8_t *)record[i], i % 256, "a record");
	/* Any thread may; those of a page that lie side by side cost one atomic operation. */
	pagepool_put_frag_bulk(pool, record, RTE_DIM(record));
}

/* Packets of 64 and of 9,000 bytes live on the same pages: the small ones in fragments, the large one as
 * a chain of whole pages. */
static void
packets(struct pagepool *pool, struct rte_mempool *heads)
{
	struct rte_mbuf *small[64], *large, *clone;
	static const char text[] = "still here";
	char *data;

	if (pagepool_mbuf_alloc_bulk(pool, heads, small, RTE_DIM(small), 64, HEADROOM) == 0 ||
		pagepool_mbuf_alloc_bulk(pool, heads, &large, 1, 9000, HEADROOM) == 0)
		die("no packets: %s\n", rte_strerror(rte_errno));
	printf("64 packets of 64 bytes and one of 9000, %u segments: %u pages\n", large->nb_segs,
		pagepool_in_use_count(pool));

	data = rte_pktmbuf_append(small[0], sizeof(text));
	if (data == NULL)
		die("no room in a packet\n");
	memcpy(data, text, sizeof(text));
	/* The clone counts in the fragment's own shared information, so it outlives the packet. */
	clone = rte_pktmbuf_clone(small[0], heads);
	if (clone == NULL)
		die("no clone\n");
	pagepool_mbuf_free_bulk(small, RTE_DIM(small));
	rte_pktmbuf_free(large);
	expect(strcmp(rte_pktmbuf_mtod(clone, char *), text), 0, "the clone's data");
	rte_pktmbuf_free(clone);
}

/* Somebody who takes pages and forgets them. Exported, so that the report can name it. */
void *forgets(struct pagepool *pool);

void *__attribute__((noinline)) forgets(struct pagepool *pool)
{
	void *page = pagepool_alloc(pool);

	/* Not a tail call: the report shows whence pagepool_alloc() was called. */
	__asm__ volatile("" : "+r"(page));
	return page;
}

/* Who has what is not home? The lcore itself is among them: it keeps pages for the next fragments. */
static void
holders(struct pagepool *pool, void **lost, unsigned int n)
{
	const uint32_t tag = 7u << 16 | 2u; /* port 7, queue 2, say */
	struct pagepool_holder holder[8];
	int nb, i;

	pagepool_track_tag(tag);
	for (unsigned int k = 0; k < n; k++)
		if ((lost[k] = forgets(pool)) == NULL)
			die("no page\n");
	pagepool_inuse_report(pool, stdout);
	nb = RTE_MIN(pagepool_holders(pool, holder, RTE_DIM(holder)), (int)RTE_DIM(holder));
	for (i = 0; i < nb && holder[i].tag != tag; i++)
		;
	if (i >= nb)
		die("nobody has pages with this tag\n");
	expect(holder[i].count, n, "pages with this tag");
	expect(strcmp(holder[i].site.symbol, "forgets"), 0, "the function that took them");
	printf("%u pages of port 7, queue 2 are held by %s\n", n, holder[i].site.symbol);
}

int
main(int argc, char **argv)
{
	struct pagepool_params params = {
		.name = "example",
		.nb_pages = 4096,
		.page_size = PAGE_SIZE,
		.socket_id = SOCKET_ID_ANY,
	};
	struct rte_mempool *heads;
	struct pagepool *pool;
	unsigned int n;
	void *lost[5];

	if (rte_eal_init(argc, argv) < 0)
		die("EAL does not start\n");
	pool = pagepool_create(&params);
	/* Heads only: their data is the pool's. */
	heads = rte_pktmbuf_pool_create("heads", 1023, 0, 0, 0, SOCKET_ID_ANY);
	if (pool == NULL || heads == NULL)
		die("no memory: %s\n", rte_strerror(rte_errno));
	if (pagepool_track(pool, true) < 0)
		die("cannot track\n");

	fragments(pool);
	packets(pool, heads);
	expect(rte_mempool_in_use_count(heads), 0, "heads in use");
	holders(pool, lost, RTE_DIM(lost));

	/* Destroyed with pages out: these stay valid, and the last put frees the pool. */
	n = pagepool_destroy(pool);
	printf("destroyed with %u pages in use\n", n);
	expect(n, RTE_DIM(lost), "pages out at destroy");
	memset(lost[0], 0, PAGE_SIZE);
	expect(pagepool_zombies(NULL, 0), 1, "zombies");
	pagepool_put_bulk(pool, lost, RTE_DIM(lost));
	expect(pagepool_zombies(NULL, 0), 0, "zombies after the last put");

	rte_mempool_free(heads);
	rte_eal_cleanup();
	return 0;
}
