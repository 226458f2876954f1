/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * Which processes use pools, and which of them still live. Each holds a lock on the byte of its
 * number in a file of EAL's runtime folder, which the kernel takes away when the process ends, however
 * it ends. That works between PID namespaces, and no process id that comes back is mistaken.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>

#include "pagepool_priv.h"

#define FILE_NAME "pagepool_processes"

/** The file with the locks; -1: nobody else can be there, or it cannot be had. */
static int file = -1;
static struct pp_process_record *records;

/* @param first  nobody has used pools here: what the file says is of processes long gone */
static int
open_file(bool first)
{
	const char *dir = rte_eal_get_runtime_dir();
	char path[PATH_MAX];

	if (dir == NULL || dir[0] == '\0')
		return -1;
	/* Without EAL's configuration there no other process can join. */
	snprintf(path, sizeof(path), "%s/config", dir);
	if (access(path, F_OK) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/" FILE_NAME, dir);
	if (first)
		unlink(path);
	return open(path, O_RDWR | O_CLOEXEC | (first ? O_CREAT : 0), 0600);
}

static struct flock
byte_of(uint32_t number)
{
	return (struct flock){
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = number, .l_len = 1};
}

static struct pp_process_record *
find(uint32_t number)
{
	for (unsigned int i = 0; records != NULL && i < PP_PROCESSES; i++)
		/* Relaxed: numbers are compared, nothing else depends on it. */
		if (__atomic_load_n(&records[i].number, __ATOMIC_RELAXED) == number)
			return &records[i];
	return NULL;
}

/* A record of nobody, else that of the one who has been dead for longest. */
static struct pp_process_record *
spare(void)
{
	struct pp_process_record *r = find(0);

	for (unsigned int i = 0; r == NULL && i < PP_PROCESSES; i++)
		if (records[i].ended && (r == NULL || records[i].number < r->number))
			r = &records[i];
	return r;
}

/** This process begins to use pools. EAL's tailq lock is held. */
void
pp_process_join(struct pp_process_record *list, uint32_t number, bool first)
{
	struct flock byte = byte_of(number);
	struct pp_process_record *r;

	records = list;
	file = open_file(first);
	r = spare();
	if (r == NULL || (file >= 0 && fcntl(file, F_SETLK, &byte) < 0)) {
		/* Too many, or no locks on this file system: it goes on without being watched. */
		if (file >= 0)
			close(file);
		file = -1;
	}
	if (r == NULL)
		return;
	*r = (struct pp_process_record){.pid = getpid(), .watched = file >= 0};
	/* Release: who finds the number finds the rest. */
	__atomic_store_n(&r->number, number, __ATOMIC_RELEASE);
}

/** Would others see that this process has died? */
bool
pp_process_watched(void)
{
	return file >= 0;
}

/** Does the process of this number live? Of those of which it cannot be told: yes. */
bool
pp_process_alive(uint32_t number)
{
	struct flock byte = byte_of(number);
	const struct pp_process_record *r;

	if (number == pp_process() || number == PP_PROCESS_UNKNOWN || file < 0 ||
		fcntl(file, F_GETLK, &byte) < 0 || byte.l_type != F_UNLCK)
		return true;
	r = find(number);
	return r != NULL && !r->watched;
}

/** Id of a process, as it sees it itself; 0: not known any more. */
int
pp_process_pid(uint32_t number)
{
	const struct pp_process_record *r = number != 0 ? find(number) : NULL;

	return r != NULL ? r->pid : 0;
}
