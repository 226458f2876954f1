/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * What is mapped in a domain, and for how many.
 *
 * VFIO's type 1 refuses a range that overlaps a mapping, which EAL takes for success; and takes
 * away whole mappings only. So each domain has its regions, which do not overlap: a range that is
 * to be mapped counts one more user for each region that it touches, and makes regions of what is
 * between them. The same range finds the same regions when it is unmapped, since none of them goes
 * before.
 *
 * A region that the kernel refuses to unmap stays, without users: it is stuck. Unmapping it is tried
 * again when somebody wants to map there, and before its memory is freed, which is not done until it
 * succeeds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_memory.h>

#include "dma.h"
#include "pagepool_priv.h"

/** What an IOMMU maps at least. */
#define IOMMU_PAGE 4096u

/** A domain as it is to be made for a container. */
struct pp_domain *
pp_domain_new(int container)
{
	struct pp_domain *domain = calloc(1, sizeof(*domain));

	if (domain != NULL)
		domain->container = container;
	return domain;
}

/** The end of a domain in which nothing is mapped. */
void
pp_domain_free(struct pp_domain *domain)
{
	free(domain->region);
	free(domain);
}

/* How far from an address on, at most to the end, device addresses go on without a jump. */
static size_t
contiguous(uintptr_t base, uintptr_t end, rte_iova_t iova)
{
	uintptr_t addr = base;

	if (rte_eal_iova_mode() == RTE_IOVA_VA)
		return end - base;
	do {
		addr += IOMMU_PAGE;
	} while (addr < end && rte_mem_virt2iova((void *)addr) == iova + (addr - base));
	return addr - base;
}

/* Map what begins at base and ends at `end` or before, as region i. */
static int
region_add(struct pp_domain *domain, uint32_t i, uintptr_t base, uintptr_t end, const char *what)
{
	struct pp_region *r = realloc(domain->region, (domain->nb + 1) * sizeof(*r));
	rte_iova_t iova = rte_mem_virt2iova((void *)base);
	int ret;

	if (r == NULL)
		return -ENOMEM;
	domain->region = r;
	if (iova == RTE_BAD_IOVA) {
		PP_LOG(ERR, "%s: the physical address of %p is not known; run as root\n", what,
			(void *)base);
		return -EPERM;
	}
	memmove(&r[i + 1], &r[i], (domain->nb - i) * sizeof(*r));
	r[i] = (struct pp_region){{base, contiguous(base, end, iova)}, iova, 1};
	ret = pp_vfio_map(domain->container, r[i].range, iova, what, domain->nb);
	if (ret < 0)
		memmove(&r[i], &r[i + 1], (domain->nb - i) * sizeof(*r));
	else
		domain->nb++;
	return ret;
}

/* Index of the first region that ends above the address. */
static uint32_t
region_from(const struct pp_domain *domain, uintptr_t addr)
{
	uint32_t lo = 0, hi = domain->nb;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct pp_range *r = &domain->region[mid].range;

		if (r->base + r->len <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Nobody uses region i any more. @return 0: it is off the list; -EIO: and the kernel cannot have
 * unmapped it, since there is no device left; -EBUSY: it is stuck */
static int
region_end(struct pp_domain *domain, uint32_t i)
{
	struct pp_region *r = &domain->region[i];
	int ret = pp_vfio_unmap(domain->container, r->range, r->iova);

	if (ret == -EIO)
		return -EBUSY;
	memmove(r, r + 1, (--domain->nb - i) * sizeof(*r));
	return ret < 0 ? -EIO : 0;
}

/* One user less of all regions from base to end, which ends a user's range. */
static int
drop(struct pp_domain *domain, uintptr_t base, uintptr_t end)
{
	uint32_t i = region_from(domain, base), nb;
	int ret = 0;

	while (i < domain->nb && domain->region[i].range.base < end) {
		nb = domain->nb;
		if (--domain->region[i].users == 0 && region_end(domain, i) < 0)
			ret = -EIO;
		if (domain->nb == nb)
			i++;
	}
	return ret;
}

/** Is any of the range stuck, although unmapping it was tried once more? */
bool
pp_domain_stuck(struct pp_domain *domain, struct pp_range range)
{
	uint32_t i = region_from(domain, range.base), nb;
	bool stuck = false;

	while (i < domain->nb && domain->region[i].range.base < range.base + range.len) {
		nb = domain->nb;
		if (domain->region[i].users == 0 && region_end(domain, i) == -EBUSY)
			stuck = true;
		if (domain->nb == nb)
			i++;
	}
	return stuck;
}

/** Regions that are stuck. */
uint32_t
pp_domain_count_stuck(const struct pp_domain *domain)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < domain->nb; i++)
		n += domain->region[i].users == 0;
	return n;
}

/** Map a range, or count one more for what is mapped of it. All of it, or nothing.
 * @return 0 or -errno, as pagepool_dma_attach() */
int
pp_domain_map(struct pp_domain *domain, struct pp_range range, const char *what)
{
	uintptr_t base = RTE_ALIGN_FLOOR(range.base, (uintptr_t)IOMMU_PAGE), pos = base;
	uintptr_t end = RTE_ALIGN_CEIL(range.base + range.len, (uintptr_t)IOMMU_PAGE);
	int ret = 0;
	uint32_t i;

	/* What an old mapping leads to may be other memory than there is now. */
	if (pp_domain_stuck(domain, (struct pp_range){base, end - base}))
		return -EBUSY;
	i = region_from(domain, base);
	while (pos < end) {
		bool known = i < domain->nb && domain->region[i].range.base <= pos;

		if (known) {
			domain->region[i].users++;
		} else {
			uintptr_t next = i < domain->nb ? domain->region[i].range.base : end;

			ret = region_add(domain, i, pos, RTE_MIN(next, end), what);
			if (ret < 0)
				break;
		}
		pos = domain->region[i].range.base + domain->region[i].range.len;
		i++;
	}
	if (ret < 0)
		drop(domain, base, pos);
	return ret;
}

/** Undo one pp_domain_map() of this range. @return 0 or -EIO; it is not ours any more even then */
int
pp_domain_unmap(struct pp_domain *domain, struct pp_range range)
{
	return drop(domain, range.base, range.base + range.len);
}
