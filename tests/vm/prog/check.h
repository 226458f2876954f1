/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * pmd_check: a program that does to a port what a scenario says, one command a line, and says what
 * DPDK's API answers: also what stock testpmd does not show. It judges nothing; scenarios do.
 *
 * A command answers with lines that begin with "- ", and at last "= ok TEXT" or "= error TEXT".
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_memzone.h>

/** Words of a line at most. */
#define CHECK_WORDS 96

/** A command's words, the command itself first. */
struct words {
	unsigned int count;
	char *word[CHECK_WORDS];
};

/** A command: 0, or -errno, which answers with an error. */
typedef int (*command_fn)(const struct words *words);

/** A name, and what it stands for. */
struct named {
	const char *name;
	uint64_t value;
};

/** The word after "key=", or NULL. */
const char *words_get(const struct words *words, const char *key);

/** The number after "key=", or another one if there is none. */
uint64_t words_number(const struct words *words, const char *key, uint64_t otherwise);

/** Is there such a word? */
bool words_has(const struct words *words, const char *word);

/** A word by its place, "" behind the last. */
const char *words_at(const struct words *words, unsigned int i);

/** Words 1 and 2 are nearly always a port and a queue. */
uint16_t words_port(const struct words *words);

/** The values of comma separated names, or'ed. -EINVAL if a name is unknown. */
int names_parse(const char *text, const struct named *table, uint64_t *value);

/** A line of the answer, without its "- ". */
__rte_format_printf(1, 2) void say(const char *format, ...);

/** The text of the last line of the answer. */
__rte_format_printf(1, 2) void answer(const char *format, ...);

/** A pool, made if there is none of this name; the first is what all ports receive into. */
struct rte_mempool *check_pool(const char *name);
#define CHECK_POOL "check"

/** Memory that no device has to reach. */
const struct rte_memzone *check_victim_zone(void);

/** Room of an mbuf for a frame. */
#define CHECK_ROOM 2048u
/** Mbufs of the pool. */
#define CHECK_MBUFS 8191u

/** CRC-32 of a packet's bytes, as zlib has it. */
uint32_t packet_crc(const struct rte_mbuf *packet);

int check_ports(const struct words *words);
int check_info(const struct words *words);
int check_start(const struct words *words);
int check_stop(const struct words *words);
int check_close(const struct words *words);
int check_link(const struct words *words);
int check_mtu(const struct words *words);

int check_attach(const struct words *words);
int check_detach(const struct words *words);
int check_pool_state(const struct words *words);
int check_pool_free(const struct words *words);
int check_zombies(const struct words *words);
int check_victim(const struct words *words);
int check_aim(const struct words *words);

int check_rx(const struct words *words);
int check_tx(const struct words *words);
int check_drop(const struct words *words);

int check_promisc(const struct words *words);
int check_allmulti(const struct words *words);
int check_mac(const struct words *words);
int check_mcast(const struct words *words);
int check_vlan(const struct words *words);
int check_vid(const struct words *words);
int check_tpid(const struct words *words);

int check_rss(const struct words *words);
int check_reta(const struct words *words);

int check_stats(const struct words *words);
int check_xstats(const struct words *words);
int check_reset(const struct words *words);

int check_regs(const struct words *words);
int check_eeprom(const struct words *words);
int check_fw(const struct words *words);
int check_desc(const struct words *words);
int check_count(const struct words *words);
int check_burst(const struct words *words);
int check_clean(const struct words *words);
int check_flow(const struct words *words);

#endif /* CHECK_H */
