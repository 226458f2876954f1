/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What each endpoint answers, through DPDK's own client, against what the library says in this program.
 */
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_mempool.h>

#include "client.h"
#include "harness.h"
#include "mempool_pagepool.h"
#include "pagepool_priv.h"
#include "pagepool_track.h"
#include "vfio_fake.h"

static void *pages[1024];

/* Pages everywhere: two caches, the ring, in use, in the slab. */
static struct pagepool *
mixed(const char *name)
{
	struct pagepool *pool = T_CREATE(.name = name, .nb_pages = 1024, .page_size = 2048,
		.cache_size = 64, .burst = 32);

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 100), 100);
	t_be_lcore(1);
	pagepool_put_bulk(pool, pages, 20);
	t_be_lcore(0);
	pagepool_put_bulk(pool, pages + 20, 7);
	pagepool_put_ring(pool, pages + 27, 13);
	pagepool_release(pool, pages + 40, 5);
	CHECK_EQ(t_stats(pool).in_use, 55);
	return pool;
}

static void
mixed_end(struct pagepool *pool)
{
	pagepool_put_bulk(pool, pages + 45, 55);
	T_DESTROY(pool);
}

static void
check_stats(const json_t *a, const struct pagepool *pool)
{
	struct pagepool_stats s = t_stats(pool);
	unsigned int fields = 0;
	char ratio[32];

#define FIELD(f)                                                                                   \
	CHECK_EQ(client_int(a, #f), s.f);                                                          \
	fields++
	FIELD(alloc_fast);
	FIELD(alloc_slow);
	FIELD(alloc_slow_high_order);
	FIELD(alloc_empty);
	FIELD(alloc_refill);
	FIELD(alloc_waive);
	FIELD(alloc_remote);
	FIELD(alloc_fail);
	FIELD(recycle_cached);
	FIELD(recycle_cache_full);
	FIELD(recycle_ring);
	FIELD(recycle_ring_full);
	FIELD(recycle_released_ref);
	FIELD(put_refused);
	FIELD(cache_reclaim);
	FIELD(hold);
	FIELD(release);
	FIELD(pages);
	FIELD(slab_free);
	FIELD(in_ring);
	FIELD(cached);
	FIELD(in_use);
	FIELD(frag_alloc);
	FIELD(frag_pages);
	FIELD(frag_reuse);
	FIELD(fallback_slabs);
	FIELD(fallback_pages);
	FIELD(released_fallback);
	FIELD(slabs_added);
	FIELD(slabs_removed);
	FIELD(low_water);
	FIELD(waits);
	FIELD(not_recycling);
#undef FIELD
	/* None has been forgotten here, or there. */
	CHECK_EQ(fields * sizeof(uint64_t) + sizeof(double), sizeof(s));
	CHECK_EQ(client_int(a, "in_flight"), s.hold - s.release);
	snprintf(ratio, sizeof(ratio), "%.6f", s.recycling_ratio);
	CHECK(strcmp(client_string(a, "recycling_ratio"), ratio) == 0);
}

static void
check_info(const json_t *a, const struct pagepool *pool)
{
	struct pagepool_info i;

	CHECK_EQ(pagepool_info_get(pool, &i), 0);
	CHECK(strcmp(client_string(a, "name"), i.name) == 0);
	CHECK_EQ(client_int(a, "page_size"), i.page_size);
	CHECK_EQ(client_int(a, "pages"), i.nb_pages);
	CHECK_EQ(client_int(a, "cache_size"), i.cache_size);
	CHECK_EQ(client_int(a, "burst"), i.burst);
	CHECK_EQ(client_int(a, "ring_size"), i.ring_size);
	CHECK_EQ(client_int(a, "slabs"), i.nb_slabs);
	CHECK_EQ(client_int(a, "socket_id"), i.socket_id);
	CHECK_EQ(client_int(a, "pages_min"), i.min_pages);
	CHECK_EQ(client_int(a, "pages_max"), i.max_pages);
	CHECK_EQ(client_int(a, "slab_bytes"), i.slab_bytes);
	CHECK_EQ(client_int(a, "meta_bytes"), i.meta_bytes);
	CHECK_EQ(client_int(a, "cache_bytes"), i.cache_bytes);
	CHECK(json_is_array(json_object_get(a, "flags")));
}

static void
stock_client(void)
{
	static const char *const commands[] = {"/pagepool/list", "/pagepool/info,mixed",
		"/pagepool/stats,mixed", "/pagepool/inuse,mixed", "/pagepool/zombies",
		"/pagepool/dma,mixed", "/pagepool/stats,nobody"};
	struct pagepool *pool = mixed("mixed");
	json_t *a[RTE_DIM(commands)];
	const json_t *caches;

	client_ask_stock(commands, a, RTE_DIM(commands));
	CHECK_EQ(json_array_size(a[0]), 1);
	CHECK(strcmp(json_string_value(json_array_get(a[0], 0)), "mixed") == 0);
	check_info(a[1], pool);
	check_stats(a[2], pool);
	caches = json_object_get(a[2], "caches");
	CHECK_EQ(json_object_size(caches), 2);
	CHECK_EQ(client_int(caches, "0"), 7);
	CHECK_EQ(client_int(caches, "1"), 20);
	CHECK_EQ(client_int(a[2], "slabs"), 1);
	CHECK_EQ(client_int(a[2], "in_use_bytes"), 55 * 2048);
	CHECK_EQ(client_int(a[3], "in_use"), 55);
	CHECK_EQ(client_int(a[4], "count"), 0);
	CHECK_EQ(client_int(a[5], "count"), 0);
	CHECK_EQ(client_int(a[6], "errno"), ENOENT);
	for (unsigned int i = 0; i < RTE_DIM(a); i++)
		json_decref(a[i]);
	mixed_end(pool);
}

/* Never silence, and never "null". */
static void
errors(void)
{
	static const char *const named[] = {"info", "stats", "inuse", "dma"};
	char command[200];

	for (unsigned int i = 0; i < RTE_DIM(named); i++) {
		snprintf(command, sizeof(command), "/pagepool/%s", named[i]);
		client_check_error(command, EINVAL);
		snprintf(command, sizeof(command), "/pagepool/%s,nobody", named[i]);
		client_check_error(command, ENOENT);
		snprintf(command, sizeof(command), "/pagepool/%s,a\"b\\c\x01,d", named[i]);
		client_check_error(command, ENOENT);
		snprintf(command, sizeof(command), "/pagepool/%s,%0100d", named[i], 1);
		client_check_error(command, EINVAL);
	}
	client_check_error("/pagepool/list,x", EINVAL);
	client_check_error("/pagepool/zombies,x", EINVAL);
}

/* The pool under a mempool has a name too, also one with characters that keys cannot have. */
static void
of_mempool(void)
{
	struct rte_mempool *mp = rte_mempool_create_empty("of-a.mempool", 500, 256, 0, 0, 0, 0);
	json_t *a;

	CHECK(mp != NULL);
	CHECK_EQ(rte_mempool_set_ops_byname(mp, pagepool_ops_name, NULL), 0);
	CHECK_EQ(rte_mempool_populate_default(mp), 500);
	a = client_ask_once("/pagepool/info,MP_of-a.mempool");
	CHECK_EQ(client_int(a, "mempool"), 1);
	CHECK_EQ(client_int(a, "created_here"), 1);
	json_decref(a);
	CHECK_EQ(rte_mempool_get_bulk(mp, pages, 33), 0);
	a = client_ask_once("/pagepool/stats,MP_of-a.mempool");
	check_stats(a, pagepool_from_mempool(mp));
	CHECK_EQ(client_int(a, "in_use"), 33);
	json_decref(a);
	rte_mempool_put_bulk(mp, pages, 33);
	rte_mempool_free(mp);
	client_check_error("/pagepool/info,MP_of-a.mempool", ENOENT);
}

static void
zombies(void)
{
	struct pagepool *pool = mixed("gone");
	uint32_t id = pool->state->id;
	const json_t *z;
	json_t *a;

	CHECK_EQ(pagepool_destroy(pool), 55);
	a = client_ask_once("/pagepool/zombies");
	CHECK_EQ(client_int(a, "count"), 1);
	z = json_object_get(a, "0");
	CHECK(strcmp(client_string(z, "name"), "gone") == 0);
	CHECK_EQ(client_int(z, "id"), id);
	CHECK_EQ(client_int(z, "in_use"), 55);
	CHECK_EQ(client_int(z, "bytes"), PAGEPOOL_GRANULE);
	CHECK(client_int(z, "age_ms") < 60000);
	json_decref(a);
	client_check_error("/pagepool/stats,gone", ENOENT);
	pagepool_put_bulk(pool, pages + 45, 55);
	a = client_ask_once("/pagepool/zombies");
	CHECK_EQ(client_int(a, "count"), 0);
	json_decref(a);
}

static void
attached(void)
{
	struct pagepool *pool = mixed("attached");
	struct rte_device *dev[2];
	struct pagepool_dma_info i;
	const json_t *d;
	json_t *a;

	fake_pair_begin(&dev[0], &dev[1]);
	for (unsigned int k = 0; k < 2; k++)
		CHECK_EQ(pagepool_dma_attach(pool, dev[k]), 0);
	a = client_ask_once("/pagepool/dma,attached");
	CHECK_EQ(client_int(a, "count"), 2);
	for (unsigned int k = 0; k < 2; k++) {
		/* The youngest first. */
		d = json_object_get(a, k == 0 ? "1" : "0");
		CHECK_EQ(pagepool_dma_info_get(pool, dev[k], &i), 0);
		CHECK(strcmp(client_string(d, "device"), rte_dev_name(dev[k])) == 0);
		CHECK_EQ(client_int(d, "pool_id"), pool->state->id);
		CHECK_EQ(client_int(d, "zombie"), 0);
		CHECK_EQ(client_int(d, "isolated"), i.isolated);
		CHECK_EQ(client_int(d, "iommu"), 1);
		CHECK_EQ(client_int(d, "slabs"), 1);
		CHECK_EQ(client_int(d, "mapped"), 1);
		CHECK_EQ(client_int(d, "mapped_bytes"), PAGEPOOL_GRANULE);
		CHECK_EQ(client_int(d, "domain_maps"), i.domain_maps);
		CHECK_EQ(client_int(d, "domain_devices"), i.domain_devices);
	}
	json_decref(a);
	a = client_ask_once("/pagepool/info,attached");
	CHECK_EQ(client_int(a, "attachments"), 2);
	json_decref(a);
	CHECK_EQ(pagepool_dma_detach(pool, dev[1]), 0);
	/* A device may reach what is a zombie. */
	CHECK_EQ(pagepool_destroy(pool), 55);
	a = client_ask_once("/pagepool/dma,attached");
	CHECK_EQ(client_int(a, "count"), 1);
	d = json_object_get(a, "0");
	CHECK_EQ(client_int(d, "zombie"), 1);
	CHECK_EQ(client_int(d, "mapped_bytes"), PAGEPOOL_GRANULE);
	json_decref(a);
	CHECK_EQ(pagepool_dma_detach(pool, dev[0]), 0);
	client_check_error("/pagepool/dma,attached", ENOENT);
	pagepool_put_bulk(pool, pages + 45, 55);
	fake_pair_end(dev[0], dev[1]);
}

/* Who has the pages: one who took 10 with a tag, and one who came before tracking. */
static void
holders(void)
{
	struct pagepool *pool = T_CREATE(.name = "held", .nb_pages = 1024, .page_size = 2048);
	const json_t *h, *ages;
	int64_t sum = 0;
	uint32_t tag;
	json_t *a;

	CHECK_EQ(pagepool_alloc_bulk(pool, pages, 3), 3);
	a = client_ask_once("/pagepool/inuse,held");
	CHECK_EQ(client_int(a, "in_use"), 3);
	CHECK_EQ(client_int(a, "tracked"), 0);
	json_decref(a);
	if (pagepool_track(pool, true) == -ENOTSUP) {
		printf("    without tracking\n");
	} else {
		tag = pagepool_track_tag(0x20001);
		CHECK_EQ(pagepool_alloc_bulk(pool, pages + 3, 10), 10);
		pagepool_track_tag(tag);
		a = client_ask_once("/pagepool/inuse,held");
		CHECK_EQ(client_int(a, "in_use"), 13);
		CHECK_EQ(client_int(a, "tracked"), 1);
		CHECK_EQ(client_int(a, "holders"), 2);
		h = json_object_get(a, "0");
		CHECK_EQ(client_int(h, "count"), 10);
		CHECK_EQ(client_int(h, "tag"), 0x20001);
		CHECK_EQ(client_int(h, "lcore"), 0);
		CHECK_EQ(client_int(h, "pid"), getpid());
		CHECK(strstr(client_string(h, "site"), "telemetry-endpoints+0x") != NULL);
		ages = json_object_get(h, "ages");
		CHECK_EQ(json_array_size(ages), PAGEPOOL_AGES);
		for (unsigned int i = 0; i < PAGEPOOL_AGES; i++)
			sum += json_integer_value(json_array_get(ages, i));
		CHECK_EQ(sum, 10);
		h = json_object_get(a, "1");
		CHECK_EQ(client_int(h, "count"), 3);
		CHECK(strcmp(client_string(h, "state"), "taken before tracking") == 0);
		json_decref(a);
		pagepool_put_bulk(pool, pages + 3, 10);
	}
	pagepool_put_bulk(pool, pages, 3);
	T_DESTROY(pool);
}

/* What DPDK's exporter is told by the module that comes with the library. */
static void
exported(const char *module, const char *client)
{
	struct pagepool *pool = mixed("exported"), *gone;
	static char text[1 << 16];
	char call[1024], want[128];
	size_t got;
	FILE *f;

	void *held[55];

	memcpy(held, pages + 45, sizeof(held));
	gone = mixed("exported_gone");
	CHECK_EQ(pagepool_destroy(gone), 55);
	snprintf(call, sizeof(call), "python3 '%s' '%s' '%s/dpdk_telemetry.v2'", client, module,
		rte_eal_get_runtime_dir());
	fflush(NULL);
	f = popen(call, "r");
	CHECK(f != NULL);
	got = fread(text, 1, sizeof(text) - 1, f);
	text[got] = 0;
	CHECK_EQ(pclose(f), 0);
	snprintf(want, sizeof(want), "\nhold pool=exported %.1f\n", (double)t_stats(pool).hold);
	CHECK_LOG(text, want);
	CHECK_LOG(text, "\nin_use pool=exported 55.0\n");
	CHECK_LOG(text, "\nzombies 1.0\n");
	snprintf(want, sizeof(want), "\nzombie_in_use id=%u pool=exported_gone 55.0\n",
		gone->state->id);
	CHECK_LOG(text, want);
	pagepool_put_bulk(gone, pages + 45, 55);
	pagepool_put_bulk(pool, held, 55);
	T_DESTROY(pool);
}

static void
check_rate(const json_t *a, const char *key, uint64_t slabs, uint64_t ms)
{
	uint64_t milli = slabs * 1000000 / ms;
	char want[32];

	snprintf(want, sizeof(want), "%" PRIu64 ".%03" PRIu64, milli / 1000, milli % 1000);
	if (strcmp(client_string(a, key), want) != 0)
		t_fail(__FILE__, __LINE__, "%s is %s, should be %s", key, client_string(a, key),
			want);
}

/* Slabs that come and go in an interval, which the test makes long: nobody waits. */
static void
rates(void)
{
	static char memory[3][4096] __rte_aligned(4096);
	struct pagepool *pool = T_CREATE(.name = "rates", .nb_pages = 3, .page_size = 1024,
		.flags = PAGEPOOL_F_EXTERNAL);
	struct pp_rates *r = &pool->state->rates;
	json_t *a = client_ask_once("/pagepool/stats,rates");
	uint64_t ms;

	check_rate(a, "slabs_added_per_second", 0, 1);
	/* The first interval begins with the pool. */
	CHECK(client_int(a, "rate_interval_ms") < 200000 && r->when != 0);
	json_decref(a);
	for (unsigned int i = 0; i < RTE_DIM(memory); i++)
		CHECK_EQ(pagepool_adopt_slab(pool, memory[i], sizeof(memory[i])), 0);
	r->when -= 20 * rte_get_timer_hz();
	a = client_ask_once("/pagepool/stats,rates");
	ms = client_int(a, "rate_interval_ms");
	CHECK(ms >= 20000 && ms < 200000);
	check_rate(a, "slabs_added_per_second", client_int(a, "slabs_added"), ms);
	check_rate(a, "slabs_removed_per_second", 0, ms);
	json_decref(a);
	/* One that asks too soon is told the same. Another is at it: told, without a wait. */
	r->when = rte_get_timer_cycles();
	for (unsigned int busy = 0; busy < 2; busy++) {
		r->busy = busy;
		a = client_ask_once("/pagepool/stats,rates");
		if (busy == 1 || client_int(a, "rate_interval_ms") == (int64_t)ms)
			CHECK_EQ(client_int(a, "rate_interval_ms"), ms);
		json_decref(a);
		r->when -= 20 * rte_get_timer_hz();
	}
	r->busy = 0;
	/* Nothing has come since. */
	a = client_ask_once("/pagepool/stats,rates");
	check_rate(a, "slabs_added_per_second", 0, 1);
	json_decref(a);
	pagepool_destroy(pool);
}

int
main(int argc, char **argv)
{
	fake_init();
	client_eal(argv[0], 64);
	RUN(stock_client);
	RUN(errors);
	RUN(of_mempool);
	RUN(zombies);
	RUN(attached);
	RUN(holders);
	RUN(rates);
	if (argc == 3) {
		printf("  exported\n");
		exported(argv[1], argv[2]);
	}
	fake_end();
	return client_end();
}
