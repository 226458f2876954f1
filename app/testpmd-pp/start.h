/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * The ports that are there when the program starts. Main thread only.
 */
#ifndef TPP_START_H
#define TPP_START_H

struct tpp_app;

/** Take in the ports of --portmask, looked at and found fit. @return 0, or -errno after a message. */
int start_probe(struct tpp_app *app);

/** Whether EAL has the node of --socket-num. @return 0, or -EINVAL after a message. */
int start_check_socket(const struct tpp_app *app);

/** Make the pools and start the ports. @return 0, or -errno after a message. */
int start_ports(struct tpp_app *app);

/** Say what there is. */
void start_announce(const struct tpp_app *app);

/** Wait for the links of the ports, but not for ever. */
void start_wait_links(struct tpp_app *app);

#endif /* TPP_START_H */
