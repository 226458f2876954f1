/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Who holds my pages: of each page that is out, who took it, where in the program, when and for what,
 * and who put it last.
 *
 * Off, which is how pools are made, it costs nothing: not an instruction. On, every alloc and put comes
 * out of line and writes down the caller's lcore, process, tag and site (the address in the program
 * that the call returns to), 16 bytes a page (20 in external pools). Puts of pages that are not in use,
 * of foreign pointers and of the inside of a page are then refused and reported with the sites of all
 * concerned, as with PAGEPOOL_F_CHECK; of two puts of one page that race, one may be seen only when the
 * page is handed out again, unless that flag is set too.
 * It can be switched on for all pools of a process by PAGEPOOL_TRACK=1 in the environment.
 *
 * Threads: pagepool_track() and pagepool_poison() are for control threads, one at a time for a pool;
 * they may run while others alloc and put. The reports are for any thread but not inside one another
 * for long: they take a lock that no alloc and no put takes. They read records while these change, so
 * that a page which changes hands just then counts for the old holder or for the new one, and counts
 * are exact when nobody uses the pool meanwhile. doc/tracking.md shows how to find a leak.
 */
#ifndef PAGEPOOL_TRACK_H
#define PAGEPOOL_TRACK_H

#include "pagepool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest name of a module or a function, with its terminating 0; longer ones are cut. */
#define PAGEPOOL_SITE_NAMESIZE 48

/** Classes of ages: below 1 ms, 10 ms, 100 ms, 1 s, 10 s, 100 s, 1000 s, and above. */
#define PAGEPOOL_AGES 8u

/** A place in a program. */
struct pagepool_site {
	uintptr_t addr;         /**< Address in its process, 0: not known. */
	uint64_t offset;        /**< The same from the start of the module, for addr2line -e. */
	uint64_t symbol_offset; /**< From the start of the function. */
	char module[PAGEPOOL_SITE_NAMESIZE]; /**< File name without its folder, or empty. */
	char symbol[PAGEPOOL_SITE_NAMESIZE]; /**< Function, if it is exported, or empty. */
};

/** What the ages of a holder's pages look like, see doc/tracking.md. */
enum pagepool_holder_state {
	/** They come home, and none is out for much longer than those were that did. */
	PAGEPOOL_HOLDER_TURNS_OVER = 0,
	/** None ever came home, and all were taken at about the same time: a ring that was filled. */
	PAGEPOOL_HOLDER_SETTLED = 1,
	/** None ever came home, and more and more are taken: a leak, or somebody who only collects. */
	PAGEPOOL_HOLDER_GROWS = 2,
	/** Others came home, but some are out for more than ten times as long, and for above a second. */
	PAGEPOOL_HOLDER_STUCK = 3,
	/** Taken before tracking began; only their number is known. */
	PAGEPOOL_HOLDER_BEFORE = 4,
};

/** Pages that were taken at one site by one lcore with one tag. */
struct pagepool_holder {
	struct pagepool_site site;    /**< Where they were taken. */
	uint32_t lcore;               /**< Of who took them, LCORE_ID_ANY: a thread without. */
	uint32_t tag;                 /**< What he had set by pagepool_track_tag(). */
	uint32_t process;             /**< The library's number of his process, never used again. */
	int32_t pid;                  /**< His process id. */
	uint32_t state;               /**< enum pagepool_holder_state. */
	uint32_t stuck;               /**< Pages out for ten times as long as any that came home. */
	uint64_t count;               /**< Pages that are out. */
	uint64_t taken;               /**< Pages ever taken. */
	uint64_t home;                /**< Of these, put, or passed on to another holder. */
	uint64_t longest_ms;          /**< Longest time that one of those was out. */
	uint64_t oldest_ms;           /**< Age of the page that is out for longest. */
	uint64_t youngest_ms;         /**< ... and of the one taken last. */
	void *oldest_page;            /**< The page that is out for longest. */
	uint64_t ages[PAGEPOOL_AGES]; /**< Pages that are out, by age; sum is count. */
	uint64_t reserved[4];         /**< 0. */
};

/**
 * Begin or end to track the pages of a pool. Those that are out already are counted, but who has
 * them is not known. The end of tracking keeps the memory of the records until the pool goes.
 *
 * @return
 *   0; -EINVAL (pool is NULL); -ENOMEM (no room in EAL's memory for the records; the log says how
 *   much is needed); -ENOTSUP (built without: meson option tracking).
 */
int pagepool_track(struct pagepool *pool, bool on);

/**
 * Begin or end to fill pages with a pattern at put and to compare it at the next alloc: a write to a
 * page after its put is reported with who put it and who gets it now. For debugging: it touches each
 * byte of a page twice. It begins tracking if that is off.
 *
 * @return
 *   As pagepool_track(); -ENOTSUP also for external pools: the pages of a mempool have contents that
 *   have to stay.
 */
int pagepool_poison(struct pagepool *pool, bool on);

/**
 * Set what the calling thread takes pages for, of all pools, until it sets something else: for example
 * port << 16 | queue. A store; may be called for each burst.
 *
 * @return
 *   The tag it had.
 */
uint32_t pagepool_track_tag(uint32_t tag);

/** @internal Out-of-line half of pagepool_track_move(). */
unsigned int pagepool_track_moved(
	struct pagepool *pool, void *const *pages, unsigned int n, uint32_t tag);

/**
 * The pages have a new holder: the caller of this, with this tag. For who gets pages from somebody else
 * and keeps them, or for who hands them over. From here on their age is counted. Costs a load and a
 * branch when the pool is not tracked.
 *
 * @param pages
 *   Pages of the pool that are in use; others are passed over.
 * @return
 *   Pages that have the new holder; 0 when the pool is not tracked.
 */
static inline unsigned int
pagepool_track_move(struct pagepool *pool, void *const *pages, unsigned int n, uint32_t tag)
{
	n = pagepool_track_moved(pool, pages, n, tag);
	/* Not the last thing that the caller does: a call that ends a function is a jump, and would
	 * return to, and name, the caller's caller. */
	__asm__ volatile("" : "+r"(n));
	return n;
}

/**
 * The holders of the pages that are out, those with most pages first, last the one of pages that were
 * taken before tracking began.
 *
 * @param list
 *   Room for n; may be NULL if n is 0.
 * @return
 *   How many there are, at most n of them are in the list; -EINVAL; -ENODATA (tracking is off);
 *   -ENOMEM.
 */
int pagepool_holders(const struct pagepool *pool, struct pagepool_holder *list, unsigned int n);

/**
 * Print the holders with counts and ages for people, the oldest page marked.
 *
 * @return
 *   0, or as pagepool_holders().
 */
int pagepool_inuse_report(const struct pagepool *pool, FILE *f);

#ifdef __cplusplus
}
#endif

#endif /* PAGEPOOL_TRACK_H */
