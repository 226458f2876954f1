/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * A checker that lets something pass is worse than none: every single byte of a frame, its length
 * and its direction have to matter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

#define MAX_LEN 1514u

static const struct pc_id id = {.run = 77, .dir = 1, .kind = PC_KIND_CHECK, .seq = 123456789};

static void
test_round_trip(void **state)
{
	uint8_t buf[PC_FRAME_MAX];
	unsigned int shortest = MAX_LEN;
	unsigned int longest = 0;

	(void)state;
	for (uint64_t seq = 0; seq < 20000; seq++) {
		struct pc_id want = id;
		struct pc_id got;
		unsigned int len;

		want.seq = seq;
		len = pc_frame_build(buf, &want, MAX_LEN);
		assert_in_range(len, PC_FRAME_MIN, MAX_LEN);
		assert_true(pc_frame_parse(buf, len, &got));
		assert_int_equal(got.seq, seq);
		assert_int_equal(got.run, want.run);
		assert_int_equal(got.dir, want.dir);
		assert_int_equal(got.kind, want.kind);
		assert_true(pc_frame_intact(buf, len, &got, MAX_LEN));
		shortest = len < shortest ? len : shortest;
		longest = len > longest ? len : longest;
	}
	assert_int_equal(shortest, PC_FRAME_MIN);
	assert_int_equal(longest, MAX_LEN);
}

static void
test_each_byte_matters(void **state)
{
	uint8_t buf[PC_FRAME_MAX];
	unsigned int len = pc_frame_build(buf, &id, MAX_LEN);

	(void)state;
	for (unsigned int at = 0; at < len; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct pc_id got;

			buf[at] ^= (uint8_t)(1u << bit);
			assert_false(pc_frame_parse(buf, len, &got) &&
				     memcmp(&got.seq, &id.seq, sizeof(got.seq)) == 0 &&
				     got.run == id.run && pc_frame_intact(buf, len, &got, MAX_LEN));
			buf[at] ^= (uint8_t)(1u << bit);
		}
	assert_true(pc_frame_intact(buf, len, &id, MAX_LEN));
}

static void
test_length_matters(void **state)
{
	uint8_t buf[PC_FRAME_MAX] = {0};
	unsigned int len = pc_frame_build(buf, &id, MAX_LEN);
	struct pc_id got;

	(void)state;
	assert_false(pc_frame_intact(buf, len - 1, &id, MAX_LEN));
	assert_false(pc_frame_intact(buf, len + 1, &id, MAX_LEN));
	assert_false(pc_frame_parse(buf, 14, &got));
	assert_false(pc_frame_parse(buf, 0, &got));
}

static void
test_other_frames_are_foreign(void **state)
{
	uint8_t buf[PC_FRAME_MIN] = {0};
	struct pc_id got;

	(void)state;
	assert_false(pc_frame_parse(buf, sizeof(buf), &got));
	memset(buf, 0xff, sizeof(buf));
	assert_false(pc_frame_parse(buf, sizeof(buf), &got));
	/* A direction that does not exist must not index anything. */
	got = id;
	got.dir = 7;
	assert_false(pc_frame_intact(buf, sizeof(buf), &got, MAX_LEN));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_each_byte_matters),
		cmocka_unit_test(test_length_matters),
		cmocka_unit_test(test_other_frames_are_foreign),
	};

	return cmocka_run_group_tests_name("run/frame", tests, NULL, NULL);
}
