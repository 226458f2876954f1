/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "check.h"

#define KEY_BYTES  40
#define RETA_GROUP RTE_ETH_RETA_GROUP_SIZE
#define RETA_MAX   RTE_ETH_RSS_RETA_SIZE_512

static int
key_parse(const char *text, uint8_t *key)
{
	unsigned int i, byte;

	if (strlen(text) != 2 * KEY_BYTES)
		return -EINVAL;
	for (i = 0; i < KEY_BYTES; i++) {
		if (sscanf(&text[2 * i], "%2x", &byte) != 1)
			return -EINVAL;
		key[i] = (uint8_t)byte;
	}
	return 0;
}

/* rss PORT [key=80 DIGITS]: sets the key, says what is set. */
int
check_rss(const struct words *words)
{
	uint8_t key[KEY_BYTES] = {0};
	struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = KEY_BYTES};
	const char *text = words_get(words, "key");
	uint16_t port = words_port(words);
	char hex[2 * KEY_BYTES + 1];
	unsigned int i;
	int ret;

	ret = rte_eth_dev_rss_hash_conf_get(port, &conf);
	if (ret != 0)
		return ret;
	if (text != NULL) {
		/* Which types are hashed stays as it is. */
		conf.rss_key = key;
		conf.rss_key_len = KEY_BYTES;
		ret = key_parse(text, key);
		if (ret != 0)
			return ret;
		ret = rte_eth_dev_rss_hash_update(port, &conf);
		if (ret != 0)
			return ret;
		memset(key, 0, sizeof(key));
		ret = rte_eth_dev_rss_hash_conf_get(port, &conf);
	}
	for (i = 0; i < KEY_BYTES; i++)
		snprintf(&hex[2 * i], 3, "%02x", key[i]);
	answer("key=%s types=%" PRIx64, hex, conf.rss_hf);
	return ret;
}

/* reta PORT [ENTRY=QUEUE...]: sets these, says them all, as one digit each. */
int
check_reta(const struct words *words)
{
	struct rte_eth_rss_reta_entry64 table[RETA_MAX / RETA_GROUP];
	uint16_t port = words_port(words), size;
	struct rte_eth_dev_info info;
	char text[RETA_MAX + 1];
	unsigned int i;
	char *queue;
	int ret;

	ret = rte_eth_dev_info_get(port, &info);
	if (ret != 0)
		return ret;
	size = info.reta_size;
	memset(table, 0, sizeof(table));
	for (i = 2; i < words->count; i++) {
		unsigned long entry = strtoul(words_at(words, i), &queue, 0);

		if (*queue != '=' || entry >= size)
			return -EINVAL;
		table[entry / RETA_GROUP].mask |= UINT64_C(1) << entry % RETA_GROUP;
		table[entry / RETA_GROUP].reta[entry % RETA_GROUP] =
			(uint16_t)strtoul(queue + 1, NULL, 0);
	}
	if (words->count > 2) {
		ret = rte_eth_dev_rss_reta_update(port, table, size);
		if (ret != 0)
			return ret;
	}
	for (i = 0; i < RTE_DIM(table); i++)
		table[i].mask = UINT64_MAX;
	ret = rte_eth_dev_rss_reta_query(port, table, size);
	for (i = 0; i < size; i++)
		text[i] = (char)('0' + table[i / RETA_GROUP].reta[i % RETA_GROUP]);
	text[size] = '\0';
	answer("size=%u reta=%s", size, text);
	return ret;
}
