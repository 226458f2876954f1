/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What can be done to the program while it runs: ports come and go, forwarding starts and stops.
 *
 * Main thread only, since nothing here locks. Forwarding lcores go on meanwhile; whatever a call
 * does to one port, the streams that do not touch it neither stop nor lose a packet.
 * All of them print a message: results to stdout, what is wrong to stderr.
 */
#ifndef TPP_CONTROL_H
#define TPP_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct tpp_app;

/** Stands for all ports that there are, where a port's number is asked for. */
#define CONTROL_ALL RTE_MAX_ETHPORTS

/**
 * Probe a device, and set up, start and forward with its ports. A device that was here before
 * takes the place that it had.
 *
 * @param devargs
 *   As for EAL's -a and --vdev: the name of the device, and its arguments after a comma.
 * @return
 *   0, or -errno after a message and with everything undone:
 *   -EEXIST it is there already, -ENOSPC no room for another port, -EINVAL unusable devargs or
 *   options that its driver does not take, -ENOMEM, or what EAL or the driver says
 */
int control_port_attach(struct tpp_app *app, const char *devargs);

/**
 * Take a port away from the lcores, stop it, unmap the pools from it, close it and remove its
 * device, with all other ports of the device. Buffers that others hold stay valid.
 *
 * @return
 *   0, -ENODEV (no such port), or -errno of EAL after a message; the port is gone even then.
 */
int control_port_detach(struct tpp_app *app, uint16_t id);

/** Take a port away from the lcores and stop it. @return 0, or -errno after a message. */
int control_port_stop(struct tpp_app *app, uint16_t id);

/** Start a port that is stopped or closed, and forward with it. @return 0, or -errno. */
int control_port_start(struct tpp_app *app, uint16_t id);

/**
 * Stop and close a port. Its device stays probed, and its number stays known, so that
 * control_port_start() brings it back, and control_port_detach() lets it go.
 *
 * @return
 *   0, or -errno after a message.
 */
int control_port_close(struct tpp_app *app, uint16_t id);

/**
 * Start forwarding, with counters from zero.
 *
 * @param tx_first
 *   Send a burst on every stream first.
 * @return
 *   0, -EALREADY (it forwards), or -errno after a message.
 */
int control_fwd_start(struct tpp_app *app, bool tx_first);

/** Stop forwarding and print what was forwarded. @return 0, or -EALREADY after a message. */
int control_fwd_stop(struct tpp_app *app);

/** End the program soon: the main thread's loop ends after the call that this comes from. */
void control_quit(struct tpp_app *app);

#endif /* TPP_CONTROL_H */
