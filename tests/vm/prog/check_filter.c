/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ether.h>

#include "check.h"

static const struct named vlan_parts[] = {
	{"strip", RTE_ETH_VLAN_STRIP_OFFLOAD},
	{"filter", RTE_ETH_VLAN_FILTER_OFFLOAD},
	{"extend", RTE_ETH_VLAN_EXTEND_OFFLOAD},
	{"qinq", RTE_ETH_QINQ_STRIP_OFFLOAD},
	{NULL, 0},
};

static bool
is_on(const char *word)
{
	return strcmp(word, "on") == 0;
}

/* promisc PORT on|off */
int
check_promisc(const struct words *words)
{
	uint16_t port = words_port(words);
	int ret = is_on(words_at(words, 2)) ? rte_eth_promiscuous_enable(port)
					    : rte_eth_promiscuous_disable(port);

	answer("promisc=%d", rte_eth_promiscuous_get(port));
	return ret;
}

/* allmulti PORT on|off */
int
check_allmulti(const struct words *words)
{
	uint16_t port = words_port(words);
	int ret = is_on(words_at(words, 2)) ? rte_eth_allmulticast_enable(port)
					    : rte_eth_allmulticast_disable(port);

	answer("allmulti=%d", rte_eth_allmulticast_get(port));
	return ret;
}

/* mac PORT add|remove|default ADDRESS */
int
check_mac(const struct words *words)
{
	const char *what = words_at(words, 2);
	uint16_t port = words_port(words);
	struct rte_ether_addr address;

	if (rte_ether_unformat_addr(words_at(words, 3), &address) != 0)
		return -EINVAL;
	if (strcmp(what, "add") == 0)
		return rte_eth_dev_mac_addr_add(port, &address, 0);
	if (strcmp(what, "remove") == 0)
		return rte_eth_dev_mac_addr_remove(port, &address);
	return rte_eth_dev_default_mac_addr_set(port, &address);
}

/* mcast PORT [ADDRESS...]: the whole list. */
int
check_mcast(const struct words *words)
{
	struct rte_ether_addr list[CHECK_WORDS];
	unsigned int i;

	for (i = 2; i < words->count; i++) {
		if (rte_ether_unformat_addr(words_at(words, i), &list[i - 2]) != 0)
			return -EINVAL;
	}
	return rte_eth_dev_set_mc_addr_list(words_port(words), list, i - 2);
}

/* vlan PORT [strip,filter,extend,qinq]: what is named is on, the rest off. */
int
check_vlan(const struct words *words)
{
	uint16_t port = words_port(words);
	uint64_t parts;
	int ret = names_parse(words_at(words, 2), vlan_parts, &parts);

	if (ret != 0)
		return ret;
	ret = rte_eth_dev_set_vlan_offload(port, (int)parts);
	answer("vlan=%d", rte_eth_dev_get_vlan_offload(port));
	return ret;
}

/* vid PORT NUMBER on|off */
int
check_vid(const struct words *words)
{
	return rte_eth_dev_vlan_filter(words_port(words),
		(uint16_t)strtoul(words_at(words, 2), NULL, 0), is_on(words_at(words, 3)));
}

/* tpid PORT TYPE: of the outer tag. */
int
check_tpid(const struct words *words)
{
	return rte_eth_dev_set_vlan_ether_type(words_port(words), RTE_ETH_VLAN_TYPE_OUTER,
		(uint16_t)strtoul(words_at(words, 2), NULL, 0));
}
