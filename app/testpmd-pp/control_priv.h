/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * @internal Between what can be done to ports and how they are attached. Main thread only.
 */
#ifndef TPP_CONTROL_PRIV_H
#define TPP_CONTROL_PRIV_H

struct tpp_app;
struct tpp_port;

/** What has become of a port, on stdout. */
void control_say(const struct tpp_port *port, const char *what);

/** Start a port and give it to the lcores. @return 0, or -errno after a message. */
int control_set_going(struct tpp_app *app, struct tpp_port *port);

/** Take it away from them. */
void control_take_away(struct tpp_app *app, struct tpp_port *port);

/**
 * Probe a device and take in its ports.
 *
 * @param name
 *   The device's name, as in the devargs.
 * @return
 *   0, or -errno after a message and with everything undone.
 */
int attach_device(struct tpp_app *app, const char *name, const char *devargs);

#endif /* TPP_CONTROL_PRIV_H */
