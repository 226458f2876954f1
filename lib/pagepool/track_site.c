/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Holders: who takes and puts pages, by site, lcore, tag and process. Each has a number, found by hash
 * without a lock. Names of a site are looked up when it is seen first, by the process whose it is: nobody
 * else can, and nobody at all when that one has gone.
 */
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "track.h"

/** Who takes pages. */
struct key {
	uintptr_t site;
	uint32_t tag, lcore, process;
};

/** Of a thread: its tag, and its number at the site from which it came last. */
struct thread {
	uint32_t tag;
	uint32_t id;
	const struct pp_track *track; /**< Compared, not looked into ... */
	uint32_t pool; /**< ... with the pool's, since others may come to lie there. */
	struct key key;
};

/* Two of them: a thread allocs and puts by turns. Initial-exec: it is looked at for every call of tracked
 * pools; a few bytes are there for plugins as well. */
static __thread struct thread self[2] __attribute__((tls_model("initial-exec")));

PP_EXPORT uint32_t
pagepool_track_tag(uint32_t tag)
{
	uint32_t was = self[0].tag;

	self[0].tag = tag;
	return was;
}

uint32_t
pp_track_tag_now(void)
{
	return self[0].tag;
}

/** Names of an address of this process. */
void
pp_site_find(struct pagepool_site *where, uintptr_t addr)
{
	/* An address that a call returns to may be the next function's first; this is in the call. */
	const char *call = (const char *)addr - 1;
	struct link_map *map = NULL;
	const char *name;
	Dl_info info;

	memset(where, 0, sizeof(*where));
	where->addr = addr;
	if (addr == 0 || dladdr1(call, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
		return;
	/* From where it was linked to be, which is what addr2line wants to be told. */
	where->offset = (uintptr_t)call - map->l_addr;
	if (info.dli_fname != NULL) {
		name = strrchr(info.dli_fname, '/');
		strlcpy(where->module, name != NULL ? name + 1 : info.dli_fname,
			sizeof(where->module));
	}
	if (info.dli_sname != NULL) {
		strlcpy(where->symbol, info.dli_sname, sizeof(where->symbol));
		where->symbol_offset = call - (const char *)info.dli_saddr;
	}
}

/** A site for people: module+offset (function+offset). */
void
pp_site_text(const struct pagepool_site *where, char *buf, size_t len)
{
	if (where->module[0] == '\0')
		snprintf(buf, len, "0x%" PRIxPTR, where->addr);
	else if (where->symbol[0] == '\0')
		snprintf(buf, len, "%s+0x%" PRIx64, where->module, where->offset);
	else
		snprintf(buf, len, "%s+0x%" PRIx64 " (%s+0x%" PRIx64 ")", where->module,
			where->offset, where->symbol, where->symbol_offset);
}

/** The same with who it was. */
void
pp_holder_text(const struct pp_holder *h, char *buf, size_t len)
{
	char site[PP_DESCRIBE];

	if (h->site == 0) {
		snprintf(buf, len, "one of many (there are more than %u holders)", PP_HOLDERS);
		return;
	}
	pp_site_text(&h->where, site, sizeof(site));
	if (h->lcore == LCORE_ID_ANY)
		snprintf(buf, len, "%s, no lcore, tag 0x%x, pid %d", site, h->tag, h->pid);
	else
		snprintf(
			buf, len, "%s, lcore %u, tag 0x%x, pid %d", site, h->lcore, h->tag, h->pid);
}

static bool
is(const struct pp_holder *h, const struct key *k)
{
	return h->site == k->site && h->tag == k->tag && h->lcore == k->lcore &&
	       h->process == k->process;
}

/* Once for each holder. */
static __rte_noinline __rte_cold uint32_t
holder_new(struct pp_track *t, const struct key *want, uint32_t first)
{
	struct pagepool_site where;
	uint32_t id = PP_HOLDER_OTHER;
	int cancel = pp_cancel_off();

	/* Outside the lock: it has locks of its own. */
	pp_site_find(&where, want->site);
	rte_spinlock_lock(&t->holders_lock);
	for (uint32_t i = 0; i < PP_HOLDER_PROBE; i++) {
		uint32_t slot = (first + i) % PP_HOLDERS;
		struct pp_holder *h = &t->holder[slot];

		if (h->used == 0) {
			h->site = want->site;
			h->tag = want->tag;
			h->lcore = want->lcore;
			h->process = want->process;
			h->pid = getpid();
			h->where = where;
			/* Release: pairs with the acquire in pp_holder_get(): the key is seen. */
			__atomic_store_n(&h->used, 1, __ATOMIC_RELEASE);
		}
		if (is(h, want)) {
			id = slot + 1;
			break;
		}
	}
	rte_spinlock_unlock(&t->holders_lock);
	pp_cancel_restore(cancel);
	return id;
}

static __rte_noinline uint32_t
holder_find(struct pp_track *t, const struct key *k)
{
	uint64_t hash = k->site ^ (uint64_t)k->tag << 32 ^ (uint64_t)k->lcore << 20 ^
			(uint64_t)k->process << 8;
	/* Multiplicative hashing, by 2^64 over the golden ratio. */
	uint32_t first = (hash * UINT64_C(0x9e3779b97f4a7c15)) >> 53;

	RTE_BUILD_BUG_ON(PP_HOLDERS != 1u << (64 - 53));
	for (uint32_t i = 0; i < PP_HOLDER_PROBE; i++) {
		uint32_t slot = (first + i) % PP_HOLDERS;
		const struct pp_holder *h = &t->holder[slot];

		/* Acquire: pairs with the release in holder_new(). */
		if (__atomic_load_n(&h->used, __ATOMIC_ACQUIRE) == 0)
			break;
		if (likely(is(h, k)))
			return slot + 1;
	}
	return holder_new(t, k, first);
}

/** Number of the caller as a holder. @param which  0 or 1: who allocs, who puts; only where it is looked
 * for first */
uint32_t
pp_holder_get(const struct pagepool_state *st, uintptr_t site, uint32_t tag, unsigned int which)
{
	struct key k = {.site = site, .tag = tag, .lcore = rte_lcore_id()};
	struct thread *me = &self[which];

	/* A process has one number for good. */
	if (likely(me->pool == st->id && me->key.site == site && me->key.tag == tag &&
		    me->key.lcore == k.lcore && me->track == st->track))
		return me->id;
	k.process = pp_process();
	me->id = holder_find(st->track, &k);
	me->key = k;
	me->pool = st->id;
	me->track = st->track;
	return me->id;
}
