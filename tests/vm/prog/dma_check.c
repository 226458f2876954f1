/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * DMA domains with a real kernel, VFIO and IOMMU, under DPDK's own driver:
 *
 *   dma_check EAL-ARGUMENTS -- TEST
 *
 * The exit status tells whether it passed; the library's log is part of what scenarios look at.
 * The scenarios "dma" and "limits" say which test needs what.
 */
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include "dma_check.h"
#include "mempool_pagepool.h"

struct rte_device *
device(uint16_t port)
{
	struct rte_eth_dev_info info;

	CHECK_EQ(rte_eth_dev_info_get(port, &info), 0);
	return info.device;
}

struct pagepool_dma_info
info_of(struct pagepool *pool, struct rte_device *dev)
{
	struct pagepool_dma_info info;

	CHECK_EQ(pagepool_dma_info_get(pool, dev, &info), 0);
	return info;
}

/* Mappings of ours in the domain of a device: seen through a pool that adds one. */
unsigned int
maps(struct rte_device *dev)
{
	static struct pagepool *probe;
	unsigned int n;

	if (probe == NULL)
		probe = pagepool_create(&(struct pagepool_params){.name = "probe",
			.nb_pages = 1,
			.page_size = 2048,
			.socket_id = SOCKET_ID_ANY});
	CHECK_EQ(probe != NULL, 1);
	CHECK_EQ(pagepool_dma_attach(probe, dev), 0);
	n = info_of(probe, dev).domain_maps;
	CHECK_EQ(pagepool_dma_detach(probe, dev), 0);
	return n - 1;
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{"cycles", test_cycles},
	{"entries", test_entries},
	{"in_flight", test_in_flight},
	{"isolated", test_isolated},
	{"memlock", test_memlock},
	{"no_iommu", test_no_iommu},
	{"shared", test_shared},
	{"user_maps", test_user_maps},
	{"neighbours", test_neighbours},
	{"width", test_width},
};

int
main(int argc, char **argv)
{
	int n;

	if (strcmp(argv[argc - 1], "isolated") == 0)
		hold_groups();
	n = rte_eal_init(argc, argv);
	if (n < 0 || n + 1 >= argc)
		return 2;
	for (unsigned int i = 0; i < RTE_DIM(tests); i++) {
		if (strcmp(tests[i].name, argv[n + 1]) != 0)
			continue;
		/* Else the linker leaves the plugin out. */
		printf("%s, ops %s\n", tests[i].name, pagepool_ops_name);
		tests[i].run();
		rte_eal_cleanup();
		printf("%s passed\n", tests[i].name);
		return 0;
	}
	printf("there is no test '%s'\n", argv[n + 1]);
	return 2;
}
