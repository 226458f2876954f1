/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which devices net_ppigb takes: each id once, each belongs to a model, and models are told apart.
 */
#include "harness.h"

#include "ids.c"

static void
ids(void)
{
	unsigned int n = 0, of_model[RTE_DIM(ppigb_models)] = {0};

	for (; ppigb_ids[n].vendor_id != 0; n++) {
		int model = ppigb_model_id(ppigb_ids[n].device_id);

		CHECK_EQ(ppigb_ids[n].vendor_id, 0x8086);
		CHECK(model >= 0 && model < (int)RTE_DIM(ppigb_models));
		of_model[model]++;
		for (unsigned int i = 0; i < n; i++)
			CHECK(ppigb_ids[i].device_id != ppigb_ids[n].device_id);
	}
	for (unsigned int i = 0; i < RTE_DIM(of_model); i++)
		CHECK(of_model[i] > 0);
	CHECK(ppigb_model_id(0x10C9) >= 0);
	CHECK(ppigb_model_id(0x10CA) < 0); /* A virtual function. */
	CHECK(ppigb_model_id(0x10D3) < 0); /* 82574L: another family. */
}

static void
models(void)
{
	uint32_t bits = 0;

	for (unsigned int i = 0; i < RTE_DIM(ppigb_models); i++) {
		const struct ppigb_model *m = &ppigb_models[i];

		CHECK(m->name != NULL);
		CHECK_EQ(__builtin_popcount(m->bit), 1);
		CHECK((bits & m->bit) == 0);
		bits |= m->bit;
		CHECK(m->nb_queues > 0 && m->nb_queues <= PPIGB_QUEUES_MAX);
		CHECK(m->nb_rar >= 16 && m->nb_rar <= PPIGB_RAR_MAX);
		/* Two in an entry of IVAR, of which there are 8. */
		CHECK(m->ivar_split || m->nb_queues <= PPIGB_IVAR_COUNT * 2);
		/* DVMOLR is in the list for those that have it. */
		CHECK_EQ(m->strcrc_queue, (m->bit & PPIGB_GE_I350) != 0);
	}
	CHECK_EQ(bits, PPIGB_ALL);
}

int
main(void)
{
	RUN(ids);
	RUN(models);
	return 0;
}
