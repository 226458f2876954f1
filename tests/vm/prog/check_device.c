/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev_info.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#include "check.h"

static const struct named flow_modes[] = {
	{"none", RTE_ETH_FC_NONE},
	{"rx", RTE_ETH_FC_RX_PAUSE},
	{"tx", RTE_ETH_FC_TX_PAUSE},
	{"full", RTE_ETH_FC_FULL},
	{NULL, 0},
};

/* regs PORT: how many registers there are, and how many of them are not 0. */
int
check_regs(const struct words *words)
{
	struct rte_dev_reg_info info = {0};
	uint16_t port = words_port(words);
	uint32_t *values;
	unsigned int i, n = 0;
	int ret;

	ret = rte_eth_dev_get_reg_info(port, &info);
	if (ret != 0)
		return ret;
	if (info.width != sizeof(uint32_t))
		return -ENOTSUP;
	values = calloc(info.length, sizeof(*values));
	if (values == NULL)
		return -ENOMEM;
	info.data = values;
	ret = rte_eth_dev_get_reg_info(port, &info);
	for (i = 0; i < info.length; i++)
		n += values[i] != 0;
	/* Registers 0 and 8 of the device come first: CTRL and STATUS. */
	answer("registers=%u nonzero=%u first=%08x second=%08x", info.length, n, values[0],
		info.length > 1 ? values[1] : 0);
	free(values);
	return ret;
}

/* eeprom PORT [words=64]: the sum of the first words, which has to be baba, and the address in it. */
int
check_eeprom(const struct words *words)
{
	uint16_t data[256], port = words_port(words), sum = 0;
	uint64_t count = RTE_MIN(words_number(words, "words", 64), RTE_DIM(data));
	struct rte_dev_eeprom_info info = {.data = data, .length = (uint32_t)(2 * count)};
	const uint8_t *bytes = (const uint8_t *)data;
	int size = rte_eth_dev_get_eeprom_length(port);
	uint64_t i;
	int ret;

	if (size < 0)
		return size;
	memset(data, 0, sizeof(data));
	ret = rte_eth_dev_get_eeprom(port, &info);
	for (i = 0; i < count; i++)
		sum = (uint16_t)(sum + data[i]);
	answer("bytes=%d sum=%04x mac=%02x:%02x:%02x:%02x:%02x:%02x", size, sum, bytes[0], bytes[1],
		bytes[2], bytes[3], bytes[4], bytes[5]);
	return ret;
}

int
check_fw(const struct words *words)
{
	char version[128] = "";
	int ret = rte_eth_dev_fw_version_get(words_port(words), version, sizeof(version));

	answer("fw=%s", version);
	return ret > 0 ? -ENOSPC : ret;
}

/* desc PORT rx|tx QUEUE OFFSET: the state of a descriptor. */
int
check_desc(const struct words *words)
{
	static const char *const rx[] = {"avail", "done", "unavail"};
	static const char *const tx[] = {"full", "done", "unavail"};
	uint16_t queue = (uint16_t)strtoul(words_at(words, 3), NULL, 0), port = words_port(words);
	uint16_t offset = (uint16_t)strtoul(words_at(words, 4), NULL, 0);
	bool is_rx = strcmp(words_at(words, 2), "rx") == 0;
	int ret;

	ret = is_rx ? rte_eth_rx_descriptor_status(port, queue, offset)
		    : rte_eth_tx_descriptor_status(port, queue, offset);
	if (ret >= 0)
		answer("desc=%s", is_rx ? rx[ret] : tx[ret]);
	return ret < 0 ? ret : 0;
}

/* count PORT rx|tx QUEUE: descriptors in use. */
int
check_count(const struct words *words)
{
	uint16_t queue = (uint16_t)strtoul(words_at(words, 3), NULL, 0), port = words_port(words);
	int ret;

	if (strcmp(words_at(words, 2), "rx") == 0) {
		ret = rte_eth_rx_queue_count(port, queue);
	} else {
#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
		ret = rte_eth_tx_queue_count(port, queue);
#else
		/* The call came with DPDK 24.03. */
		answer("this DPDK has no call for it");
		return -ENOTSUP;
#endif
	}
	answer("count=%d", ret);
	return ret < 0 ? ret : 0;
}

/* burst PORT rx|tx QUEUE: what the driver calls its way to receive or send. */
int
check_burst(const struct words *words)
{
	uint16_t queue = (uint16_t)strtoul(words_at(words, 3), NULL, 0), port = words_port(words);
	struct rte_eth_burst_mode mode = {0};
	int ret;

	ret = strcmp(words_at(words, 2), "rx") == 0 ? rte_eth_rx_burst_mode_get(port, queue, &mode)
						    : rte_eth_tx_burst_mode_get(port, queue, &mode);
	answer("mode=%s", mode.info);
	return ret;
}

/* clean PORT QUEUE [COUNT]: has sent mbufs freed; how many are free in the pool before and after. */
int
check_clean(const struct words *words)
{
	uint16_t queue = (uint16_t)strtoul(words_at(words, 2), NULL, 0), port = words_port(words);
	uint32_t count = (uint32_t)strtoul(words_at(words, 3), NULL, 0);
	unsigned int before = rte_mempool_avail_count(check_pool(CHECK_POOL));
	int ret = rte_eth_tx_done_cleanup(port, queue, count);

	answer("freed=%d back=%u", ret, rte_mempool_avail_count(check_pool(CHECK_POOL)) - before);
	return ret < 0 ? ret : 0;
}

/* flow PORT [none|rx|tx|full] [high=] [low=] [pause=] [autoneg=]: sets flow control, says what is set. */
int
check_flow(const struct words *words)
{
	uint16_t port = words_port(words);
	struct rte_eth_fc_conf conf;
	uint64_t mode;
	int ret;

	memset(&conf, 0, sizeof(conf));
	ret = rte_eth_dev_flow_ctrl_get(port, &conf);
	if (ret != 0)
		return ret;
	if (words->count > 2) {
		if (names_parse(words_at(words, 2), flow_modes, &mode) != 0)
			return -EINVAL;
		conf.mode = (enum rte_eth_fc_mode)mode;
		conf.autoneg = (uint8_t)words_number(words, "autoneg", conf.autoneg);
		conf.high_water = (uint32_t)words_number(words, "high", conf.high_water);
		conf.low_water = (uint32_t)words_number(words, "low", conf.low_water);
		conf.pause_time = (uint16_t)words_number(words, "pause", conf.pause_time);
		ret = rte_eth_dev_flow_ctrl_set(port, &conf);
		if (ret != 0)
			return ret;
		memset(&conf, 0, sizeof(conf));
		ret = rte_eth_dev_flow_ctrl_get(port, &conf);
	}
	answer("mode=%s high=%u low=%u pause=%u autoneg=%u", flow_modes[conf.mode & 3].name,
		conf.high_water, conf.low_water, conf.pause_time, conf.autoneg);
	return ret;
}
