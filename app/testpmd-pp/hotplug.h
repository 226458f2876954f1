/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * Devices that are removed and come back. EAL tells of them in its interrupt thread; what is to be
 * done is done by the main thread.
 */
#ifndef TPP_HOTPLUG_H
#define TPP_HOTPLUG_H

struct tpp_app;

/** Begin to listen, if the options say so. @return 0, or -errno after a message. */
int hotplug_start(struct tpp_app *app);

/** Readable when something has happened; -1: nobody listens. */
int hotplug_fd(void);

/** Do what is to be done. */
void hotplug_poll(struct tpp_app *app);

/** After how many ms hotplug_poll() has something to do, events or not; -1: never. */
int hotplug_timeout(void);

/** Stop to listen. */
void hotplug_stop(void);

#endif /* TPP_HOTPLUG_H */
