/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Arguments of a device: numbers, each with its limits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_kvargs.h>

#include "pack.h"
#include "ppigb.h"

/* What fits into half a page, so that no page is worse used than by half; headroom for a tag or
 * two; and what 24,576 packets of 64 bytes take. */
static const struct ppigb_args defaults = {.isolate = 0,
	.rx_frags = 0,
	.rx_frags_max = 224,
	.rx_frags_headroom = 16,
	.rx_frags_mib = 2};

#define ARG(field, lo, hi)                                                                         \
	{                                                                                          \
#field, offsetof(struct ppigb_args, field), lo, hi                                 \
	}
static const struct {
	const char *name;
	size_t offset;
	uint16_t min, max;
} table[] = {
	ARG(isolate, 0, 1),
	ARG(rx_frags, 0, 1),
	/* With the headroom a packet has to fit into a page. */
	ARG(rx_frags_max, 14, 352),
	ARG(rx_frags_headroom, 0, 128),
	ARG(rx_frags_mib, 2, 1024),
};
static_assert(352 + 128 <= PPIGB_PACK_ROOM, "the largest packet fits into a page");

static int
parse_number(const char *name, unsigned int i, const char *value, uint16_t *number)
{
	unsigned long n = 0;
	char *end;

	errno = 0;
	if (value != NULL && value[0] >= '0' && value[0] <= '9') {
		n = strtoul(value, &end, 10);
		if (*end == '\0' && errno == 0 && n >= table[i].min && n <= table[i].max) {
			*number = (uint16_t)n;
			return 0;
		}
	}
	if (table[i].max == 1)
		PPIGB_LOG(ERR, name, "%s=%s: must be 0 or 1", table[i].name,
			value == NULL ? "" : value);
	else
		PPIGB_LOG(ERR, name, "%s=%s: must be a number from %u to %u", table[i].name,
			value == NULL ? "" : value, table[i].min, table[i].max);
	return -EINVAL;
}

static int
parse_pair(const char *name, const char *key, const char *value, struct ppigb_args *args)
{
	for (unsigned int i = 0; i < RTE_DIM(table); i++)
		if (strcmp(key, table[i].name) == 0)
			return parse_number(name, i, value, RTE_PTR_ADD(args, table[i].offset));
	PPIGB_LOG(ERR, name, "unknown argument '%s'; there are " PPIGB_ARGS, key);
	return -EINVAL;
}

int
ppigb_args_parse(const char *name, const char *text, struct ppigb_args *args)
{
	struct rte_kvargs *list;
	int ret = 0;

	*args = defaults;
	if (text == NULL || text[0] == '\0')
		return 0;
	/* All keys, so that the message can name the one that is wrong. */
	list = rte_kvargs_parse(text, NULL);
	if (list == NULL) {
		PPIGB_LOG(ERR, name, "'%s' is not of the form key=value", text);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < list->count && ret == 0; i++)
		ret = parse_pair(name, list->pairs[i].key, list->pairs[i].value, args);
	rte_kvargs_free(list);
	return ret;
}
