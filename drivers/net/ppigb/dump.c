/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The registers, as numbers for programs (rte_eth_dev_get_reg_info) and in words for people
 * (rte_eth_dev_priv_dump), both from the list in regs.h. What a read would change is left out.
 * Both are for any process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "ppigb.h"

enum { FIELD, RW, RO, RC, SE, WO }; /* RW to WO: a register's mode. */

/** A register, followed by its fields. */
struct entry {
	const char *name;
	uint32_t offset;
	uint16_t count, stride;
	uint8_t mode;
	uint8_t models;
	uint8_t low, width;
};

#define ENTRY_REG(n, o, c, s, m, ms)                                                               \
	{.name = #n, .offset = (o), .count = (c), .stride = (s), .mode = (m), .models = (ms)},
#define ENTRY_FLD(r, f, l, w) {.name = #f, .mode = FIELD, .low = (l), .width = (w)},

static const struct entry entries[] = {PPIGB_REG_LIST(ENTRY_REG, ENTRY_FLD)};

static bool
readable(const struct ppigb *p, const struct entry *e)
{
	return (e->mode == RW || e->mode == RO) && (e->models & ppigb_model(p)->bit) != 0;
}

/** How many of them this model has: the list holds the most that any has. */
static unsigned int
count_of(const struct ppigb *p, const struct entry *e)
{
	const struct ppigb_model *m = ppigb_model(p);
	unsigned int extra_rar = m->nb_rar - RTE_MIN(m->nb_rar, PPIGB_RAL_COUNT);

	if (e->stride == PPIGB_RDT_STRIDE)
		return RTE_MIN(e->count, m->nb_queues);
	if (e->offset == PPIGB_REG(RAL_HIGH) || e->offset == PPIGB_REG(RAH_HIGH))
		return RTE_MIN(e->count, extra_rar);
	return e->count;
}

static uint32_t
regs_total(const struct ppigb *p)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < RTE_DIM(entries); i++) {
		if (readable(p, &entries[i]))
			n += count_of(p, &entries[i]);
	}
	return n;
}

/** Without `data`: how many there are. `offset` and `length` count registers; length 0: all. */
int
ppigb_regs_get(struct rte_eth_dev *dev, struct rte_dev_reg_info *info)
{
	struct ppigb *p = ppigb_priv(dev);
	uint32_t total = regs_total(p), at = 0, end;
	uint32_t *out = info->data;

	if (out == NULL) {
		info->length = total;
		info->width = sizeof(uint32_t);
		return 0;
	}
	if (info->offset > total || info->length > total - info->offset)
		return -EINVAL;
	end = info->length != 0 ? info->offset + info->length : total;
	for (unsigned int i = 0; i < RTE_DIM(entries); i++) {
		const struct entry *e = &entries[i];
		unsigned int n = readable(p, e) ? count_of(p, e) : 0;

		for (unsigned int j = 0; j < n; j++, at++) {
			if (at >= info->offset && at < end)
				*out++ = ppigb_rd(p, e->offset + j * e->stride);
		}
	}
	info->width = sizeof(uint32_t);
	info->version = p->device_id;
	/* Asked last: it may have gone meanwhile. */
	return ppigb_is_gone(p, ppigb_pci(dev)) ? -ENODEV : 0;
}

static void
print_fields(FILE *f, const struct entry *reg, uint32_t value)
{
	const struct entry *end = entries + RTE_DIM(entries);

	for (const struct entry *e = reg + 1; e < end && e->mode == FIELD; e++)
		fprintf(f, " %s=0x%" PRIx64, e->name,
			(value >> e->low) & ((UINT64_C(1) << e->width) - 1));
}

/** Of tables only what is not 0. */
static void
print_register(const struct ppigb *p, FILE *f, const struct entry *e)
{
	unsigned int n = count_of(p, e);

	for (unsigned int i = 0; i < n; i++) {
		uint32_t offset = e->offset + i * e->stride;
		uint32_t value = ppigb_rd(p, offset);
		char name[24];

		if (e->count > 1 && value == 0)
			continue;
		if (e->count > 1)
			snprintf(name, sizeof(name), "%s[%u]", e->name, i);
		else
			snprintf(name, sizeof(name), "%s", e->name);
		fprintf(f, "%05" PRIx32 " %-14s %08" PRIx32, offset, name, value);
		print_fields(f, e, value);
		fputc('\n', f);
	}
}

int
ppigb_priv_dump(struct rte_eth_dev *dev, FILE *f)
{
	struct ppigb *p = ppigb_priv(dev);

	fprintf(f, "net_ppigb %s: %s, device 0x%04x, function %u, NVM %04x, %s container\n",
		p->name, ppigb_model(p)->name, p->device_id, p->func, p->nvm_version,
		p->isolate ? "own" : "shared");
	if (ppigb_is_gone(p, ppigb_pci(dev))) {
		fprintf(f, "the device is gone\n");
		return 0;
	}
	for (unsigned int i = 0; i < RTE_DIM(entries); i++) {
		if (readable(p, &entries[i]))
			print_register(p, f, &entries[i]);
	}
	return 0;
}
