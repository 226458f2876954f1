/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "frame.h"
#include "path.h"

/* Frames per turn of a link. */
#define PC_BURST 64

/** The frame that all have to be equal to. */
struct pc_reference {
	uint8_t frame[PC_FRAME_MAX + 1];
	unsigned int len;
};

static double
pc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/** Look at a frame on link `at`. @return 0, or -EBADMSG if the source's frames differ. */
static int
pc_look(struct pc_path *path, struct pc_reference ref[2], unsigned int at, const uint8_t *buf,
	unsigned int len, bool outgoing)
{
	/* What leaves link 0 goes direction 0, what arrives there came by direction 1. */
	unsigned int dir = outgoing ? at : 1 - at;
	struct pc_count *count = &path->count[dir];
	bool same = ref[dir].len == len && memcmp(ref[dir].frame, buf, len) == 0;

	if (outgoing) {
		count->sent++;
		if (ref[dir].len == 0) {
			memcpy(ref[dir].frame, buf, len);
			ref[dir].len = len;
		} else if (!same) {
			return -EBADMSG;
		}
		return 0;
	}
	/* Nothing to compare with yet. */
	if (ref[dir].len == 0)
		return 0;
	count->arrived++;
	if (!same)
		count->harmed++;
	return 0;
}

static int
pc_look_all(struct pc_path *path, struct pc_reference ref[2], unsigned int at)
{
	uint8_t buf[PC_FRAME_MAX + 1];
	bool outgoing;

	for (int n = 0; n < PC_BURST; n++) {
		int len = pc_link_recv(&path->link[at], buf, sizeof(buf), &outgoing);
		int ret;

		if (len <= 0)
			return len;
		ret = pc_look(path, ref, at, buf, (unsigned int)len, outgoing);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int
pc_path_watch(struct pc_path *path, double time_s)
{
	struct pc_reference ref[2] = {{.len = 0}, {.len = 0}};
	double end = pc_now() + time_s;
	int ret = 0;

	memset(path->count, 0, sizeof(path->count));
	while (ret >= 0 && pc_now() < end) {
		struct pollfd fds[2] = {
			{.fd = path->link[0].fd, .events = POLLIN},
			{.fd = path->link[1].fd, .events = POLLIN},
		};

		poll(fds, 2, 10);
		for (unsigned int at = 0; at < 2 && ret >= 0; at++)
			ret = pc_look_all(path, ref, at);
	}
	if (ret < 0)
		return ret;
	return path->count[0].arrived == 0 || path->count[1].arrived == 0 ? -ENODATA : 0;
}
