/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <arpa/inet.h>
#include <string.h>

#include "frame.h"

#define PC_MAGIC 0x50504348u

/** Start of a frame; the rest is filled from a generator seeded with the identity. */
struct pc_head {
	uint8_t dst[6];
	uint8_t src[6];
	uint16_t ethertype;
	uint32_t magic;
	uint32_t run;
	uint32_t seq_high;
	uint32_t seq_low;
	uint8_t dir;
	uint8_t kind;
} __attribute__((packed));

/* splitmix64: any two seeds give unrelated streams, so a frame that carries another's payload is
 * not taken for its own. */
static uint64_t
pc_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t
pc_seed(const struct pc_id *id)
{
	uint64_t state = (uint64_t)id->run << 32 | (uint64_t)id->dir << 8 | id->kind;

	return pc_next(&state) ^ id->seq;
}

unsigned int
pc_frame_build(uint8_t *buf, const struct pc_id *id, unsigned int max_len)
{
	struct pc_head head = {
		.dst = {0x02, 0, 0, 0, 0x88, (uint8_t)(1 - id->dir)},
		.src = {0x02, 0, 0, 0, 0x88, id->dir},
		.ethertype = htons(PC_ETHERTYPE),
		.magic = htonl(PC_MAGIC),
		.run = htonl(id->run),
		.seq_high = htonl((uint32_t)(id->seq >> 32)),
		.seq_low = htonl((uint32_t)id->seq),
		.dir = id->dir,
		.kind = id->kind,
	};
	uint64_t state = pc_seed(id);
	unsigned int len =
		PC_FRAME_MIN + (unsigned int)(pc_next(&state) % (max_len - PC_FRAME_MIN + 1));
	unsigned int at = sizeof(head);

	memcpy(buf, &head, sizeof(head));
	while (at < len) {
		uint64_t word = pc_next(&state);
		unsigned int n = len - at < sizeof(word) ? len - at : (unsigned int)sizeof(word);

		memcpy(buf + at, &word, n);
		at += n;
	}
	return len;
}

bool
pc_frame_parse(const uint8_t *buf, unsigned int len, struct pc_id *id)
{
	struct pc_head head;

	if (len < sizeof(head))
		return false;
	memcpy(&head, buf, sizeof(head));
	if (head.ethertype != htons(PC_ETHERTYPE) || head.magic != htonl(PC_MAGIC))
		return false;
	id->run = ntohl(head.run);
	id->seq = (uint64_t)ntohl(head.seq_high) << 32 | ntohl(head.seq_low);
	id->dir = head.dir;
	id->kind = head.kind;
	return true;
}

bool
pc_frame_intact(const uint8_t *buf, unsigned int len, const struct pc_id *id, unsigned int max_len)
{
	uint8_t want[PC_FRAME_MAX];

	return id->dir <= 1 && pc_frame_build(want, id, max_len) == len &&
	       memcmp(buf, want, len) == 0;
}
