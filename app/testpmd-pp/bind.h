/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
/**
 * @file
 * What Linux says of a PCI device, and who drives it. Names of other devices are fine: nothing is
 * known of them. Control thread only.
 */
#ifndef TPP_BIND_H
#define TPP_BIND_H

#include <stdbool.h>

/** Whether vfio-pci drives it. */
bool bind_is_vfio(const char *device);

/** Whether a PCI device has gone: its configuration space cannot be read, or is all ones. */
bool bind_gone(const char *device);

/**
 * Have vfio-pci drive it, whoever does now.
 *
 * @return
 *   0; -EAGAIN: not there yet, or not done yet; another -errno: the kernel refuses
 */
int bind_to_vfio(const char *device);

#endif /* TPP_BIND_H */
