/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "frame.h"
#include "path.h"

/* Frames per turn, so that both directions and receiving get theirs. */
#define PC_BURST 32
/* A forwarder may lose its processor for long on a busy machine; only silence beyond is loss. */
#define PC_STALL_S 2.0
/* After so many silences the answer is known. */
#define PC_STALLS_MAX    3
#define PC_PROBE_EVERY_S 0.005
/* A port that is being started may take a frame, miss some and take the next. */
#define PC_PROBE_RUN 8
/* Wait for duplicates after the last frame. */
#define PC_LINGER_S 0.05

/** Progress of one direction. */
struct pc_progress {
	uint8_t *seen;     /* one bit per number */
	uint64_t room;     /* bits in seen */
	uint64_t given_up; /* frames not waited for any more */
	uint64_t newest;   /* highest number that arrived, plus 1 */
	uint64_t run;      /* how many arrived one after the other up to the newest */
};

static double
pc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void
pc_wait(const struct pc_path *path, double time_s)
{
	struct pollfd fds[2] = {
		{.fd = path->link[0].fd, .events = POLLIN},
		{.fd = path->link[1].fd, .events = POLLIN},
	};

	poll(fds, 2, time_s > 0.001 ? (int)(time_s * 1000) : 1);
}

/** Enter a frame that arrived at the far end of `dir`. */
static void
pc_enter(struct pc_path *path, struct pc_progress *progress, unsigned int dir, const uint8_t *buf,
	unsigned int len, uint8_t kind)
{
	struct pc_count *count = &path->count[dir];
	struct pc_id id;

	if (!pc_frame_parse(buf, len, &id)) {
		count->harmed++;
		return;
	}
	/* A late frame of an earlier run or phase. If its number got harmed it will be missed. */
	if (id.run != path->run || id.kind != kind)
		return;
	if (id.dir != dir || id.seq >= count->sent ||
		!pc_frame_intact(buf, len, &id, path->max_len))
		count->harmed++;
	if (id.dir != dir || id.seq >= progress->room)
		return;
	if (progress->seen[id.seq / 8] & 1u << id.seq % 8) {
		count->duplicate++;
		return;
	}
	progress->seen[id.seq / 8] |= (uint8_t)(1u << id.seq % 8);
	count->arrived++;
	if (id.seq < progress->newest) {
		count->reordered++;
	} else {
		progress->run = id.seq == progress->newest ? progress->run + 1 : 1;
		progress->newest = id.seq + 1;
	}
}

/** Take in what has arrived at the far end of `dir`. @return frames, or -errno. */
static int
pc_receive(struct pc_path *path, struct pc_progress *progress, unsigned int dir, uint8_t kind)
{
	uint8_t buf[PC_FRAME_MAX + 1];
	bool outgoing;
	int n;

	for (n = 0; n < PC_BURST; n++) {
		int len = pc_link_recv(&path->link[1 - dir], buf, sizeof(buf), &outgoing);

		if (len < 0)
			return len;
		if (len == 0)
			break;
		pc_enter(path, progress, dir, buf, (unsigned int)len, kind);
	}
	return n;
}

/** Send the next frames of `dir`, up to `n`. @return 0 or -errno. */
static int
pc_send(struct pc_path *path, unsigned int dir, uint64_t n, uint8_t kind)
{
	struct pc_count *count = &path->count[dir];
	struct pc_id id = {.run = path->run, .dir = (uint8_t)dir, .kind = kind};
	uint8_t buf[PC_FRAME_MAX];

	for (; n > 0; n--) {
		unsigned int len;
		int ret;

		id.seq = count->sent;
		len = pc_frame_build(buf, &id, path->max_len);
		ret = pc_link_send(&path->link[dir], buf, len);
		if (ret <= 0)
			return ret;
		count->sent++;
	}
	return 0;
}

static uint64_t
pc_on_the_way(const struct pc_path *path, const struct pc_progress *progress, unsigned int dir)
{
	uint64_t gone = path->count[dir].arrived + progress->given_up;

	/* One that was given up may have come late after all. */
	return gone < path->count[dir].sent ? path->count[dir].sent - gone : 0;
}

static int
pc_progress_init(struct pc_path *path, struct pc_progress progress[2], uint64_t room)
{
	for (unsigned int dir = 0; dir < 2; dir++) {
		path->count[dir] = (struct pc_count){0};
		progress[dir] = (struct pc_progress){.room = room};
	}
	for (unsigned int dir = 0; dir < 2; dir++) {
		progress[dir].seen = calloc(room / 8 + 1, 1);
		if (progress[dir].seen == NULL) {
			free(progress[0].seen);
			return -ENOMEM;
		}
		/* What an earlier phase left unread must not count in this one. */
		pc_link_overruns(&path->link[1 - dir]);
	}
	return 0;
}

static void
pc_progress_fini(struct pc_path *path, struct pc_progress progress[2])
{
	for (unsigned int dir = 0; dir < 2; dir++) {
		path->count[dir].overrun = pc_link_overruns(&path->link[1 - dir]);
		free(progress[dir].seen);
	}
}

/** Is the path up, and nothing on the way that could still arrive? Frames keep their order. */
static bool
pc_probed(const struct pc_path *path, const struct pc_progress *progress, unsigned int dir)
{
	return progress->run >= PC_PROBE_RUN && progress->newest == path->count[dir].sent;
}

/** Send the next probes: of each way until it has proved itself, of both if nothing moves. */
static int
pc_probe_send(struct pc_path *path, const struct pc_progress progress[2], bool silent)
{
	int ret = 0;

	for (unsigned int dir = 0; dir < 2 && ret >= 0; dir++)
		if (progress[dir].run < PC_PROBE_RUN || silent)
			ret = pc_send(path, dir, 1, PC_KIND_PROBE);
	return ret;
}

int
pc_path_probe(struct pc_path *path, double timeout_s)
{
	struct pc_progress progress[2];
	double end = pc_now() + timeout_s;
	double last = pc_now();
	double next = 0;
	int ret = pc_progress_init(path, progress, (uint64_t)(timeout_s / PC_PROBE_EVERY_S) + 1);

	if (ret < 0)
		return ret;
	while (!(pc_probed(path, &progress[0], 0) && pc_probed(path, &progress[1], 1))) {
		double now = pc_now();
		int got = 0;

		ret = now > end ? -ETIMEDOUT : 0;
		if (ret == 0 && now >= next) {
			next = now + PC_PROBE_EVERY_S;
			ret = pc_probe_send(path, progress, now - last > PC_STALL_S);
		}
		for (unsigned int dir = 0; dir < 2 && ret >= 0; dir++) {
			ret = pc_receive(path, &progress[dir], dir, PC_KIND_PROBE);
			got += ret;
		}
		if (ret < 0)
			break;
		if (got > 0)
			last = pc_now();
		pc_wait(path, PC_PROBE_EVERY_S);
	}
	pc_progress_fini(path, progress);
	return ret < 0 ? ret : 0;
}

/** One turn of a direction: keep the window full, take in. @return frames taken in or -errno. */
static int
pc_turn(struct pc_path *path, struct pc_progress *progress, unsigned int dir, uint64_t frames,
	unsigned int window)
{
	uint64_t out = pc_on_the_way(path, progress, dir);
	uint64_t n = frames - path->count[dir].sent;
	int ret = 0;

	if (n > 0 && out < window) {
		n = n < window - out ? n : window - out;
		ret = pc_send(path, dir, n < PC_BURST ? n : PC_BURST, PC_KIND_CHECK);
	}
	return ret < 0 ? ret : pc_receive(path, progress, dir, PC_KIND_CHECK);
}

static bool
pc_checked(const struct pc_path *path, const struct pc_progress progress[2], uint64_t frames)
{
	for (unsigned int dir = 0; dir < 2; dir++)
		if (path->count[dir].sent < frames || pc_on_the_way(path, &progress[dir], dir) > 0)
			return false;
	return true;
}

int
pc_path_check(struct pc_path *path, uint64_t frames, unsigned int window)
{
	struct pc_progress progress[2];
	double last = pc_now();
	unsigned int stalls = 0;
	int ret = pc_progress_init(path, progress, frames);

	if (ret < 0)
		return ret;
	while (!pc_checked(path, progress, frames) && stalls < PC_STALLS_MAX) {
		int got = 0;

		for (unsigned int dir = 0; dir < 2; dir++) {
			ret = pc_turn(path, &progress[dir], dir, frames, window);
			if (ret < 0)
				goto out;
			got += ret;
		}
		if (got > 0) {
			last = pc_now();
		} else if (pc_now() - last > PC_STALL_S) {
			for (unsigned int dir = 0; dir < 2; dir++)
				progress[dir].given_up += pc_on_the_way(path, &progress[dir], dir);
			last = pc_now();
			stalls++;
		} else {
			pc_wait(path, 0.01);
		}
	}
	for (last = pc_now(); pc_now() - last < PC_LINGER_S; pc_wait(path, PC_LINGER_S))
		for (unsigned int dir = 0; dir < 2 && ret >= 0; dir++)
			ret = pc_receive(path, &progress[dir], dir, PC_KIND_CHECK);
out:
	pc_progress_fini(path, progress);
	return ret < 0 ? ret : 0;
}
