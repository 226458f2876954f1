/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 */
#include <dlfcn.h>
#include <ftw.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_memory.h>
#include <rte_vfio.h>

#include "harness.h"
#include "vfio_fake.h"

#define MAPS_MAX       1024
#define CONTAINERS_MAX 8

struct map {
	int container;
	uint64_t addr, iova, len;
};

struct fake {
	const char *name, *driver;
	int group;
	const char *group_name;
};

static const struct fake fakes[FAKE_DEVS] = {
	[FAKE_A] = {"0000:01:00.0", "vfio-pci", 11, NULL},
	[FAKE_B] = {"0000:02:00.0", "vfio-pci", 12, NULL},
	[FAKE_C0] = {"0000:03:00.0", "vfio-pci", 13, NULL},
	[FAKE_C1] = {"0000:03:00.1", "vfio-pci", 13, NULL},
	[FAKE_UIO] = {"0000:04:00.0", "uio_pci_generic", 0, NULL},
	[FAKE_KERNEL] = {"0000:05:00.0", "mlx5_core", 15, NULL},
	[FAKE_UNBOUND] = {"0000:06:00.0", NULL, 16, NULL},
	[FAKE_NOIOMMU] = {"0000:07:00.0", "vfio-pci", 17, "vfio-noiommu"},
	[FAKE_NOGROUP] = {"0000:08:00.0", "vfio-pci", 0, NULL},
	[FAKE_VDEV] = {"net_fake0", NULL, 0, NULL},
	[FAKE_SHORT] = {"01:00.0", NULL, 11, NULL},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[] = "/tmp/pagepool-vfio.XXXXXX";
static char buses[2];
static struct map maps[MAPS_MAX];
static unsigned int nb_maps, ever, unmaps, fail_unmap_at, fail_unmap_times;
static int fail_unmap_errno;
static struct fake_failure failure;
static void (*on_unmap)(void);
static bool busy;
/* Group of each container, by container - 1; 0: none, -1: no such container. */
static int group_of[CONTAINERS_MAX] = {-1, -1, -1, -1, -1, -1, -1, -1};

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void
make_device(const struct fake *fake)
{
	char path[512], target[512];

	snprintf(path, sizeof(path), "%s/%s", folder, fake->name);
	CHECK_EQ(mkdir(path, 0700), 0);
	if (fake->driver != NULL) {
		snprintf(path, sizeof(path), "%s/%s/driver", folder, fake->name);
		snprintf(target, sizeof(target), "../../drivers/%s", fake->driver);
		CHECK_EQ(symlink(target, path), 0);
	}
	if (fake->group == 0)
		return;
	snprintf(target, sizeof(target), "%s/groups/%d", folder, fake->group);
	CHECK(mkdir(target, 0700) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/%s/iommu_group", folder, fake->name);
	CHECK_EQ(symlink(target, path), 0);
	if (fake->group_name != NULL) {
		snprintf(path, sizeof(path), "%.200s/name", target);
		write_file(path, fake->group_name);
	}
}

void
fake_init(void)
{
	char path[512];

	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/groups", folder);
	CHECK_EQ(mkdir(path, 0700), 0);
	for (unsigned int i = 0; i < FAKE_VDEV; i++)
		make_device(&fakes[i]);
	setenv("SYSFS_PCI_DEVICES", folder, 1);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	RTE_SET_USED(st);
	RTE_SET_USED(type);
	RTE_SET_USED(ftw);
	return remove(path);
}

void
fake_end(void)
{
	CHECK_EQ(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

struct rte_device *
fake_device(enum fake_dev dev)
{
	return (struct rte_device *)(uintptr_t)&fakes[dev];
}

static const struct fake *
is_fake(const struct rte_device *dev)
{
	const struct fake *fake = (const struct fake *)dev;

	return fake >= fakes && fake < fakes + FAKE_DEVS ? fake : NULL;
}

void
fake_fail(struct fake_failure f)
{
	failure = f;
}

void
fake_fail_unmap(unsigned int at, unsigned int times, int sys)
{
	fail_unmap_at = at;
	fail_unmap_times = times;
	fail_unmap_errno = sys;
}

void
fake_on_unmap(void (*fn)(void))
{
	__atomic_store_n(&on_unmap, fn, __ATOMIC_RELEASE);
}

bool
fake_on_unmap_pending(void)
{
	return __atomic_load_n(&on_unmap, __ATOMIC_ACQUIRE) != NULL;
}

void
fake_busy(bool is)
{
	busy = is;
}

unsigned int
fake_maps(int container)
{
	unsigned int n = 0;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nb_maps; i++)
		n += maps[i].container == container;
	pthread_mutex_unlock(&lock);
	return n;
}

unsigned int
fake_maps_ever(void)
{
	return ever;
}

unsigned int
fake_unmaps_ever(void)
{
	return unmaps;
}

bool
fake_reaches(int container, const void *addr, size_t len)
{
	uint64_t pos = (uintptr_t)addr, end = pos + len;
	bool found = true;

	while (pos < end && found) {
		found = false;
		for (unsigned int i = 0; i < nb_maps && !found; i++)
			if (maps[i].container == container && pos - maps[i].addr < maps[i].len) {
				pos = maps[i].addr + maps[i].len;
				found = true;
			}
	}
	return found;
}

int
fake_container(enum fake_dev dev)
{
	for (int i = 0; i < CONTAINERS_MAX; i++)
		if (group_of[i] == fakes[dev].group)
			return i + 1;
	return FAKE_DEFAULT;
}

unsigned int
fake_containers(void)
{
	unsigned int n = 0;

	for (int i = 0; i < CONTAINERS_MAX; i++)
		n += group_of[i] >= 0;
	return n;
}

/* In place of EAL's. */

#define NEXT(ret, name, ...)                                                                       \
	ret (*next)(__VA_ARGS__);                                                                  \
	void *next_ = dlsym(RTLD_NEXT, #name);                                                     \
	CHECK(next_ != NULL);                                                                      \
	memcpy(&next, &next_, sizeof(next))

const char *
rte_dev_name(const struct rte_device *dev)
{
	NEXT(const char *, rte_dev_name, const struct rte_device *);
	return is_fake(dev) ? is_fake(dev)->name : next(dev);
}

const struct rte_bus *
rte_dev_bus(const struct rte_device *dev)
{
	NEXT(const struct rte_bus *, rte_dev_bus, const struct rte_device *);
	if (is_fake(dev) == NULL)
		return next(dev);
	return (const struct rte_bus *)&buses[is_fake(dev) == &fakes[FAKE_VDEV]];
}

const char *
rte_bus_name(const struct rte_bus *bus)
{
	NEXT(const char *, rte_bus_name, const struct rte_bus *);
	if ((const char *)bus >= buses && (const char *)bus < buses + 2)
		return (const char *)bus == buses ? "pci" : "vdev";
	return next(bus);
}

int
rte_vfio_container_create(void)
{
	for (int i = 0; i < CONTAINERS_MAX; i++)
		if (group_of[i] < 0) {
			group_of[i] = 0;
			return i + 1;
		}
	return -1;
}

int
rte_vfio_container_group_bind(int container, int group)
{
	CHECK(container > 0 && group_of[container - 1] == 0);
	if (busy) {
		errno = EBUSY;
		return -1;
	}
	group_of[container - 1] = group;
	return 100;
}

int
rte_vfio_container_destroy(int container)
{
	CHECK(container > 0 && group_of[container - 1] >= 0);
	CHECK_EQ(fake_maps(container), 0);
	group_of[container - 1] = -1;
	return 0;
}

static int
map(int container, uint64_t addr, uint64_t iova, uint64_t len)
{
	if (failure.at > 0 && --failure.at == 0) {
		if (failure.sys != 0)
			errno = failure.sys;
		if (failure.eal != 0)
			rte_errno = failure.eal;
		return -1;
	}
	for (unsigned int i = 0; i < nb_maps; i++)
		if (maps[i].container == container && addr < maps[i].addr + maps[i].len &&
			maps[i].addr < addr + len)
			t_fail(__FILE__, __LINE__, "map of %#" PRIx64 " overlaps", addr);
	CHECK(nb_maps < MAPS_MAX);
	maps[nb_maps++] = (struct map){container, addr, iova, len};
	ever++;
	return 0;
}

int
rte_vfio_container_dma_map(int container, uint64_t addr, uint64_t iova, uint64_t len)
{
	int ret;

	CHECK_EQ(iova, rte_mem_virt2iova((void *)(uintptr_t)addr));
	CHECK_EQ(addr % 4096, 0);
	CHECK_EQ(len % 4096, 0);
	CHECK(len > 0);
	CHECK(container == FAKE_DEFAULT || group_of[container - 1] > 0);
	/* A system call takes its time, in which others have theirs. */
	sched_yield();
	pthread_mutex_lock(&lock);
	ret = map(container, addr, iova, len);
	pthread_mutex_unlock(&lock);
	return ret;
}

static bool
unmap_fails(void)
{
	if (fail_unmap_at > 1)
		fail_unmap_at--;
	else if (fail_unmap_at == 1 && fail_unmap_times > 0 && fail_unmap_times-- > 0)
		return true;
	return false;
}

int
rte_vfio_container_dma_unmap(int container, uint64_t addr, uint64_t iova, uint64_t len)
{
	void (*fn)(void) = __atomic_exchange_n(&on_unmap, NULL, __ATOMIC_ACQ_REL);
	unsigned int i;

	if (fn != NULL)
		fn();
	sched_yield();
	pthread_mutex_lock(&lock);
	for (i = 0; i < nb_maps; i++)
		if (maps[i].container == container && maps[i].addr == addr &&
			maps[i].iova == iova && maps[i].len == len)
			break;
	if (i == nb_maps)
		t_fail(__FILE__, __LINE__, "unmap of %#" PRIx64 ", which is not mapped", addr);
	if (unmap_fails() && rte_errno != ENODEV) {
		/* The entry stays, as EAL does it, unless its caller says that there is no device. */
		pthread_mutex_unlock(&lock);
		errno = fail_unmap_errno;
		return -1;
	}
	maps[i] = maps[--nb_maps];
	unmaps++;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Memory that is given back must not be in any device's reach any more. */
int
rte_extmem_unregister(void *va, size_t len)
{
	uint64_t addr = (uintptr_t)va;

	NEXT(int, rte_extmem_unregister, void *, size_t);
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nb_maps; i++)
		if (addr < maps[i].addr + maps[i].len && maps[i].addr < addr + len)
			t_fail(__FILE__, __LINE__, "%p is freed while it is mapped", va);
	pthread_mutex_unlock(&lock);
	return next(va, len);
}

int
fake_pair_begin(struct rte_device **a, struct rte_device **b)
{
	bool huge = t_huge();

	*a = fake_device(huge ? FAKE_A : FAKE_C0);
	*b = fake_device(huge ? FAKE_B : FAKE_C1);
	if (huge)
		return FAKE_DEFAULT;
	CHECK_EQ(pagepool_dma_isolate(*a), 0);
	CHECK_EQ(pagepool_dma_isolate(*b), 0);
	return fake_container(FAKE_C0);
}

void
fake_pair_end(struct rte_device *a, struct rte_device *b)
{
	if (t_huge())
		return;
	CHECK_EQ(pagepool_dma_unisolate(a), 0);
	CHECK_EQ(pagepool_dma_unisolate(b), 0);
}
