/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "bind.h"

#define DRIVER "vfio-pci"

static void
sysfs_path(char *path, size_t size, const char *device, const char *file)
{
	snprintf(path, size, "/sys/bus/pci/devices/%s/%s", device, file);
}

static int
write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* The name of the driver, empty without one. */
static void
driver_of(const char *device, char *name, size_t size)
{
	char path[PATH_MAX], link[PATH_MAX];
	const char *slash;
	ssize_t n;

	name[0] = '\0';
	sysfs_path(path, sizeof(path), device, "driver");
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = '\0';
	slash = strrchr(link, '/');
	rte_strscpy(name, slash == NULL ? link : slash + 1, size);
}

bool
bind_is_vfio(const char *device)
{
	char name[NAME_MAX];

	driver_of(device, name, sizeof(name));
	return strcmp(name, DRIVER) == 0;
}

bool
bind_gone(const char *device)
{
	char path[PATH_MAX];
	uint16_t vendor = 0;
	ssize_t n;
	int fd;

	sysfs_path(path, sizeof(path), device, "config");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	n = read(fd, &vendor, sizeof(vendor));
	close(fd);
	return n != (ssize_t)sizeof(vendor) || vendor == UINT16_MAX;
}

int
bind_to_vfio(const char *device)
{
	char path[PATH_MAX], name[NAME_MAX];
	int ret;

	sysfs_path(path, sizeof(path), device, "driver_override");
	if (access(path, F_OK) != 0)
		return -EAGAIN;
	driver_of(device, name, sizeof(name));
	if (strcmp(name, DRIVER) == 0)
		return 0;
	ret = write_text(path, DRIVER);
	if (ret == 0 && name[0] != '\0') {
		sysfs_path(path, sizeof(path), device, "driver/unbind");
		ret = write_text(path, device);
	}
	if (ret == 0)
		ret = write_text("/sys/bus/pci/drivers_probe", device);
	if (ret != 0)
		return ret;
	return bind_is_vfio(device) ? 0 : -EAGAIN;
}
