/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Ports of stock drivers leave under traffic and come back, over and over, with buffers held across
 * each departure; after each block of cycles everything that could grow is counted. See
 * doc/host-cycles.md.
 *
 * Two ports of one kind forward to each other on an lcore; one or both leave at a time. The main
 * thread is the control thread, and only it calls what is declared here.
 */
#ifndef PAGEPOOL_TEST_CYCLES_H
#define PAGEPOOL_TEST_CYCLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define PORTS    2    /**< Ports of a run. */
#define HELD     48   /**< Frames that are held while their port leaves. */
#define FRAME    256  /**< Bytes of a frame that we make. */
#define KEPT_MAX 8192 /**< More than any pool has. */

/** A driver and what is peculiar about it. */
struct kind {
	const char *name;
	bool made;      /**< The worker makes the frames; nobody else would. */
	bool injected;  /**< Frames come from the kernel: another thread sends them. */
	bool veth;      /**< Sits on an interface that we make. */
	bool fresh;     /**< Wants a new interface each time. */
	bool rings;     /**< Mbufs of one port's pool lie in the other's queues. */
	bool keeps;     /**< Keeps mbufs at close; none of the others may. */
	bool socket;    /**< Does not close its AF_XDP socket. */
	bool pair;      /**< The two ports are the ends of one link. */
	bool one_chunk; /**< Takes only pools of one chunk. */
	/** What each departure leaves behind whatever the pool: the driver's own leaks. */
	unsigned int fds, allocs, bytes;
};

/** How long the mempool of a port lives. */
enum life {
	LIFE_LONG,  /**< As long as the run. */
	LIFE_OWN,   /**< Freed after the port was closed, with mbufs out. */
	LIFE_FIRST, /**< Freed before the port is closed. */
	LIFE_HOME,  /**< Freed when its last frame is home, as other ops than ours need it. */
};

/** Frames that are out while their port is gone. */
struct bag {
	uint64_t tag; /**< Seed of the pattern in their payload. */
	unsigned int n;
	struct rte_mbuf *mbuf[HELD];
};

struct port {
	const struct kind *kind;
	unsigned int index;
	unsigned int birth; /**< How often it was attached. */
	char name[32];
	unsigned int veth; /**< Number of its interface, if it was made for it. */
	char iface[16];    /**< Where frames are injected; empty: nowhere. */
	uint16_t id;
	bool there;
	bool forwarded; /**< Belongs into the worker's next table. */
	struct rte_device *dev;
	struct rte_mempool *mp; /**< NULL once freed. */
	enum life life;
	bool native;             /**< Made by pagepool_pktmbuf_pool_create(). */
	struct bag bag;          /**< Of the worker while the port is in its table. */
	atomic_uint held;        /**< bag.n, for others than the worker. */
	atomic_uint_fast64_t rx; /**< Frames received since attach. */
	unsigned int nb_kept;
	struct rte_mbuf *kept[KEPT_MAX];
	uint64_t total_kept, closes_kept;
};

/** Options of the run. */
extern const char *stock_ops; /**< Control: pools with these ops; else NULL. */

/* kind.c */
const struct kind *kind_find(const char *name);
/** Skips the test if the kind cannot be had here. */
void kind_need(const struct kind *kind);
/** What has to be there before the first port. */
void kind_prepare(const struct kind *kind);
/** Make the interface, if there is to be one, and write the arguments of the device. */
void kind_args(struct port *port, char *args, size_t len);
/** Remember the socket that the driver has opened for a port. */
void kind_socket(struct port *port);
/** After the close: if the driver has left the socket, close it in its place. */
void kind_socket_left(struct port *port);
/** The interface goes, if it was for this attach only. */
void kind_gone(struct port *port);

/* port.c */
/** Probe, set up, start. The worker does not know it yet. */
void port_attach(struct port *port);
/** Stop, detach, close and remove; the worker does not know it any more. */
void port_leave(struct port *port);
/** Connect a port to a peer that came back. */
void port_reconnect(const struct port *port);
/** Wait for the link, and until the interrupt thread is done with it. */
void port_wait_link(const struct port *port, bool up);

/* pool.c */
void pool_make(struct port *port);
void pool_free(struct port *port);
/** Free it with nothing out. */
void pool_free_home(struct port *port);
/** Put into port->kept what is neither free nor in the bag. */
void pool_find_kept(struct port *port);
/** Put into port->kept what lies in the rings of a net_ring port. */
void ring_find_kept(struct port *port);
/** Give back what a driver has forgotten. */
void pool_return_kept(struct port *port);

/* worker.c */
void worker_start(unsigned int lcore);
void worker_stop(void);
/** Publish which ports are forwarded and wait until the worker has let go of the others. */
void worker_publish(struct port *ports);
/** Sleep for so many microseconds or less. Not rte_delay_us_sleep(), which sleeps for seconds when the
 * signals by which net_tap tells itself of frames interrupt it. */
void nap(unsigned int us);
/** Wait for the worker to hold HELD frames of a port. */
void worker_wait_held(struct port *port);
/** Wait for the worker to receive more frames from a port. */
void worker_wait_rx(struct port *port);
/** Who returns the frames of a bag. */
enum returner { BY_MAIN, BY_WORKER, BY_THREAD, NB_RETURNERS };
/** Check the payload of what is held and return it. */
void bag_return(struct bag *bag, enum returner by);

/* inject.c */
void inject_start(void);
void inject_stop(void);
/** Send frames from an interface; NULL: no more for this index. */
void inject_set(unsigned int index, const char *iface);

/* count.c */
enum count {
	COUNT_FDS,
	COUNT_THREADS,
	COUNT_HEAP_ALLOCS,
	COUNT_HEAP_BYTES,
	COUNT_MEMZONES,
	COUNT_MEMPOOLS,
	COUNT_SEGMENT_LISTS,
	COUNT_SEGMENTS,
	COUNT_HUGE_KB,
	COUNT_PORTS,
	NB_COUNTS
};
extern const char *const count_names[NB_COUNTS];
void count_get(int64_t counts[NB_COUNTS]);
/** Count until nothing is more than it was first, but for what the driver leaks in so many
 * departures. What others than the pools give back may take a while; else the test fails. */
void count_settle(const struct kind *kind, const int64_t first[NB_COUNTS], int64_t now[NB_COUNTS],
	unsigned int n);

#endif /* PAGEPOOL_TEST_CYCLES_H */
