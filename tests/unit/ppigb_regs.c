/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The register list of net_ppigb: no two registers lie in the same place, fields lie inside their
 * register and not on each other, and what a read changes is not in the dump.
 */
#include "harness.h"

#include "regs.h"

#define BAR_SIZE 0x20000u

enum { FIELD, RW, RO, RC, SE, WO };

struct entry {
	const char *name, *of;
	uint32_t offset, count, stride, mode, models;
	uint32_t low, width, mask;
};

#define ENTRY_REG(n, o, c, s, m, ms)                                                               \
	{.name = #n, .offset = (o), .count = (c), .stride = (s), .mode = (m), .models = (ms)},
#define ENTRY_FLD(r, f, l, w)                                                                      \
	{.name = #f, .of = #r, .mode = FIELD, .low = (l), .width = (w), .mask = PPIGB_F(r, f)},

static const struct entry entries[] = {PPIGB_REG_LIST(ENTRY_REG, ENTRY_FLD)};
#define NB_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const char *taken[BAR_SIZE / 4];

static void
places(void)
{
	for (unsigned int i = 0; i < NB_ENTRIES; i++) {
		const struct entry *e = &entries[i];

		if (e->mode == FIELD)
			continue;
		CHECK(e->count == 1 ? e->stride == 0 : e->count > 1 && e->stride >= 4);
		CHECK(e->models != 0 && (e->models & ~(uint32_t)PPIGB_ALL) == 0);
		for (unsigned int j = 0; j < e->count; j++) {
			uint32_t offset = e->offset + j * e->stride;

			if (offset % 4 != 0 || offset >= BAR_SIZE)
				t_fail(__FILE__, __LINE__, "%s[%u] at 0x%x", e->name, j, offset);
			if (taken[offset / 4] != NULL)
				t_fail(__FILE__, __LINE__, "%s[%u] lies on %s, 0x%x", e->name, j,
					taken[offset / 4], offset);
			taken[offset / 4] = e->name;
		}
	}
}

static void
fields(void)
{
	const struct entry *reg = NULL;
	uint32_t used = 0;

	for (unsigned int i = 0; i < NB_ENTRIES; i++) {
		const struct entry *e = &entries[i];

		if (e->mode != FIELD) {
			reg = e;
			used = 0;
			continue;
		}
		CHECK(reg != NULL);
		if (strcmp(reg->name, e->of) != 0)
			t_fail(__FILE__, __LINE__, "%s.%s stands below %s", e->of, e->name,
				reg->name);
		if (e->width == 0 || e->low + e->width > 32)
			t_fail(__FILE__, __LINE__, "%s.%s: bits %u to %u", e->of, e->name, e->low,
				e->low + e->width - 1);
		CHECK_EQ(e->mask, (uint32_t)(((UINT64_C(1) << e->width) - 1) << e->low));
		if ((used & e->mask) != 0)
			t_fail(__FILE__, __LINE__, "%s.%s lies on another field", e->of, e->name);
		used |= e->mask;
	}
}

/** Registers that a read changes, from the 82576EB datasheet; statistics have a list of their own. */
static bool
fragile(const struct entry *e)
{
	static const char *const names[] = {
		"EERD", "EERD_I21X", "EICR", "ICR", "MDIC", "RQDPC", "SWSM"};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], e->name) == 0)
			return true;
	}
	return e->offset >= 0x4000 && e->offset < 0x4200;
}

static void
dump_changes_nothing(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < NB_ENTRIES; i++) {
		const struct entry *e = &entries[i];

		if (e->mode == FIELD || !fragile(e))
			continue;
		n++;
		if (e->mode == RW || e->mode == RO)
			t_fail(__FILE__, __LINE__, "%s would be in the dump", e->name);
	}
	CHECK(n >= 7); /* All of the names. */
}

static void
macros(void)
{
	CHECK_EQ(PPIGB_REG(RCTL), 0x100);
	CHECK_EQ(PPIGB_REG_AT(RDT, 15), 0xC018 + 15 * 0x40);
	CHECK_EQ(PPIGB_F(RCTL, VFE), 1 << 18);
	CHECK_EQ(PPIGB_V(SRRCTL, BSIZEHDR, 0xFFF), 0x3F00);
	CHECK_EQ(PPIGB_G(SRRCTL, BSIZEHDR, 0xFFFFC5FF), 5);
}

int
main(void)
{
	RUN(places);
	RUN(fields);
	RUN(dump_changes_nothing);
	RUN(macros);
	return 0;
}
