/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Where slabs come from: of the provider that the parameters name, or of huge pages of the pool's
 * own, and, where these cannot be had, of EAL's memory or of ordinary pages. A slab knows its own
 * provider, since those of one pool may have come from several.
 */
#include <errno.h>

#include <rte_errno.h>

#include "dma.h"
#include "memfd.h"
#include "pagepool_priv.h"
#include "provider.h"

#define F_ALL (PAGEPOOL_PROVIDER_F_MAP | PAGEPOOL_PROVIDER_F_EXACT)

/* What is wrong with a provider, or NULL. */
static const char *
fault(const struct pagepool_params *p)
{
	const struct pagepool_provider_ops *ops = p->provider;

	if (ops == NULL)
		return p->provider_arg != NULL ? "provider_arg without a provider" : NULL;
	if (p->flags & PAGEPOOL_F_EXTERNAL)
		return "a provider is not for external pools, whose memory is announced";
	if ((p->flags & PAGEPOOL_F_EAL_MEMORY) && ops != &pagepool_provider_eal)
		return "PAGEPOOL_F_EAL_MEMORY and a provider of other memory";
	if (ops->name == NULL || ops->init == NULL || ops->alloc_slab == NULL ||
		ops->free_slab == NULL)
		return "a provider needs name, init, alloc_slab and free_slab";
	if (ops->flags & ~F_ALL)
		return "unknown flags of the provider";
	return NULL;
}

/* Why there can be no ordinary pages in this pool, or NULL. */
static const char *
fallback_fault(const struct pagepool_params *p)
{
	if (!(p->flags & PAGEPOOL_F_FALLBACK))
		return NULL;
	if (p->flags & PAGEPOOL_F_EXTERNAL)
		return "PAGEPOOL_F_FALLBACK is not for external pools";
	if (p->flags & PAGEPOOL_F_EAL_MEMORY)
		return "PAGEPOOL_F_FALLBACK with PAGEPOOL_F_EAL_MEMORY: other processes could not "
		       "see ordinary pages";
	if (p->provider != NULL && (p->provider->flags & PAGEPOOL_PROVIDER_F_EXACT))
		return "PAGEPOOL_F_FALLBACK with a provider whose memory cannot be replaced";
	if (!pp_ordinary_fits(p->page_size))
		return "PAGEPOOL_F_FALLBACK with physical addresses takes a page_size that divides "
		       "4096; use --iova-mode=va, or do without it";
	return NULL;
}

/** Look at what the parameters say of providers. @return 0 or -EINVAL, logged */
int
pp_provider_check(const struct pagepool_params *p)
{
	const char *why = fault(p);

	if (why == NULL)
		why = fallback_fault(p);
	if (why == NULL)
		return 0;
	PP_LOG(ERR, "%s: %s\n", p->name, why);
	return -EINVAL;
}

static const struct pagepool_provider_ops *
choose(const struct pagepool_params *p)
{
	if (p->provider != NULL)
		return p->provider;
	if ((p->flags & PAGEPOOL_F_EAL_MEMORY) || !pp_memfd_usable(p->socket_id))
		return &pagepool_provider_eal;
	return &pagepool_provider_memfd;
}

/** Is the pool's memory that of a provider that is not ours? */
bool
pp_provider_foreign(const struct pagepool_state *st)
{
	return st->provider != NULL && st->provider != &pagepool_provider_eal &&
	       st->provider != &pagepool_provider_memfd &&
	       st->provider != &pagepool_provider_memory;
}

/** Begin with the provider of a new pool. @return 0 or -errno, logged */
int
pp_provider_begin(struct pagepool_state *st, const struct pagepool_params *p)
{
	const struct pagepool_provider_ops *ops = choose(p);
	char reason[256] = "";
	int ret;

	if (p->flags & PAGEPOOL_F_EXTERNAL)
		return 0;
	ret = ops->init(p, &st->provider_priv, reason, sizeof(reason));
	if (ret != 0) {
		ret = ret < 0 ? ret : -EINVAL;
		PP_LOG(ERR, "%s: provider \"%s\" refuses: %s\n", p->name, ops->name,
			reason[0] != 0 ? reason : rte_strerror(-ret));
		return ret;
	}
	st->provider = ops;
	st->provider_begun = true;
	/* Ordinary pages are the better way out for a pool that may have them: they are its own. */
	st->way_out = p->provider == NULL && !(p->flags & PAGEPOOL_F_FALLBACK) &&
		      ops != &pagepool_provider_eal;
	st->own_memory = (p->provider != NULL && ops != &pagepool_provider_eal) ||
			 (p->flags & PAGEPOOL_F_FALLBACK);
	st->provider_info.kind = PAGEPOOL_MEMORY_OTHER;
	if (ops->describe != NULL)
		ops->describe(st->provider_priv, &st->provider_info);
	st->provider_info.text[sizeof(st->provider_info.text) - 1] = 0;
	return 0;
}

/** The end of a pool's provider, after its last slab. */
void
pp_provider_end(struct pagepool_state *st)
{
	/* In another process there is nothing to end: the provider is EAL's. */
	if (!st->provider_begun || st->owner != pp_process())
		return;
	st->provider_begun = false;
	if (st->provider_kept)
		PP_LOG(ERR,
			"%s: provider \"%s\" is not ended, since a device may still reach some of "
			"its memory\n",
			st->name, st->provider->name);
	else if (st->provider->destroy != NULL)
		st->provider->destroy(st->provider_priv);
}

static bool
usable(const struct pagepool_provider_slab *mem, size_t len)
{
	return mem->addr != NULL && (uintptr_t)mem->addr % PAGEPOOL_GRANULE == 0 && mem->len != 0 &&
	       mem->len % PAGEPOOL_GRANULE == 0 && mem->len <= len;
}

/* Ask a provider for memory of a slab. @return 0 or -errno */
static int
ask(struct pagepool_state *st, const struct pagepool_provider_ops *ops, void *priv, size_t len,
	struct pp_slab *slab)
{
	struct pagepool_provider_slab mem = {.len = len, .node = SOCKET_ID_ANY};
	/* Relaxed: a pool that moves just now gets memory where it was, or where it will be. */
	int node = __atomic_load_n(&st->socket_id, __ATOMIC_RELAXED);
	int ret = ops->alloc_slab(priv, node, &mem);

	if (ret != 0)
		return ret < 0 ? ret : -EINVAL;
	if (!usable(&mem, len)) {
		PP_LOG(ERR,
			"%s: provider \"%s\" gave %zu bytes at %p for %zu; it has to give a "
			"multiple of %u, at one, and no more than it is asked for\n",
			st->name, ops->name, mem.len, mem.addr, len, PAGEPOOL_GRANULE);
		ops->free_slab(priv, &mem);
		return -EINVAL;
	}
	slab->provider = ops;
	slab->handle = mem.handle;
	slab->node = mem.node >= 0 && mem.node < RTE_MAX_NUMA_NODES ? mem.node : -1;
	slab->eal = ops == &pagepool_provider_eal;
	slab->map = ops->flags & PAGEPOOL_PROVIDER_F_MAP;
	if (!slab->eal)
		/* Relaxed: other processes see the pool, or what it gives them, later. */
		__atomic_store_n(&st->own_memory, true, __ATOMIC_RELAXED);
	pp_slab_init(slab, st, (uintptr_t)mem.addr, mem.len);
	return 0;
}

/** Get memory for a slab, of len bytes or fewer; sets its range and what pp_provider_free() needs.
 * @return 0 or -errno */
int
pp_provider_alloc(struct pagepool_state *st, size_t len, struct pp_slab *slab)
{
	int ret, own;

	if (st->owner != pp_process())
		return -ENOTSUP;
	own = ask(st, st->provider, st->provider_priv, len, slab);
	if (own == 0 || !st->way_out)
		return own;
	/* What EAL has reserved for itself may be all that there is. */
	ret = ask(st, &pagepool_provider_eal, NULL, len, slab);
	if (ret == 0)
		PP_LOG(NOTICE,
			"%s: %zu MiB are EAL's, which all devices can reach, since there are no "
			"huge pages "
			"of its own: %s\n",
			st->name, len >> 20, pp_memfd_remedy(own));
	return ret;
}

/** The same of ordinary pages. */
int
pp_provider_fallback(struct pagepool_state *st, size_t len, struct pp_slab *slab)
{
	int ret;

	if (st->owner != pp_process())
		return -ENOTSUP;
	ret = ask(st, &pp_provider_ordinary, NULL, len, slab);
	if (ret == 0)
		slab->fallback = true;
	return ret;
}

void
pp_provider_free(struct pp_slab *slab)
{
	struct pagepool_state *st = slab->st;
	const struct pagepool_provider_slab mem = {
		(void *)slab->base, slab->len, slab->node, slab->handle};

	if (slab->provider == NULL)
		return;
	if (!slab->eal)
		/* External pools may have pages in it that are ours. */
		pp_dma_forget(slab->base);
	if (pp_dma_keep(slab->base, slab->len))
		st->provider_kept |= slab->provider == st->provider;
	else if (slab->eal)
		pagepool_provider_eal.free_slab(NULL, &mem);
	else if (st->owner == pp_process())
		slab->provider->free_slab(
			slab->provider == st->provider ? st->provider_priv : NULL, &mem);
	else
		PP_LOG(ERR, "the memory at %p is another process's and stays\n", mem.addr);
	slab->provider = NULL;
}
