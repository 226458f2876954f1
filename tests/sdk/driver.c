/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the pagepool authors
 *
 * The driver headers fit the libraries: a PCI driver made with them registers, its device is
 * probed, and what the driver writes is what an application reads through the public API. With
 * headers of another version these would be at different places.
 */
#include <bus_pci_driver.h>
#include <ethdev_driver.h>
#include <ethdev_pci.h>

#include "harness.h"

#define MAX_RX_PKTLEN 9018u
#define MTU           1234u

static int
dev_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	CHECK(*(uint64_t *)dev->data->dev_private == UINT64_MAX);
	info->max_rx_pktlen = MAX_RX_PKTLEN;
	return 0;
}

static int
dev_close(struct rte_eth_dev *dev)
{
	/* Closing would free it, and it is not from the heap. */
	dev->data->mac_addrs = NULL;
	return 0;
}

static const struct eth_dev_ops ops = {
	.dev_close = dev_close,
	.dev_infos_get = dev_infos_get,
};

static int
dev_init(struct rte_eth_dev *dev)
{
	static struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 1}};

	*(uint64_t *)dev->data->dev_private = UINT64_MAX;
	dev->data->mac_addrs = &mac;
	dev->data->mtu = MTU;
	dev->dev_ops = &ops;
	return 0;
}

static int
probe(struct rte_pci_driver *driver, struct rte_pci_device *device)
{
	RTE_SET_USED(driver);
	return rte_eth_dev_pci_generic_probe(device, sizeof(uint64_t), dev_init);
}

static int
remove_device(struct rte_pci_device *device)
{
	return rte_eth_dev_pci_generic_remove(device, NULL);
}

static struct rte_pci_driver driver = {
	.driver.name = "net_sdk_test",
	.probe = probe,
	.remove = remove_device,
};

/* As if the bus had found it: EAL looks for no devices here. */
static struct rte_pci_device device = {
	.device = {.name = "0000:ff:1f.7", .driver = &driver.driver},
	.driver = &driver,
};

static void
registers(void)
{
	rte_pci_register(&driver);
	CHECK(driver.next.tqe_prev != NULL);
	CHECK(*driver.next.tqe_prev == &driver);
}

static void
seen_by_applications(void)
{
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	uint16_t port, mtu;

	CHECK_EQ(driver.probe(&driver, &device), 0);
	CHECK_EQ(rte_eth_dev_get_port_by_name("0000:ff:1f.7", &port), 0);
	CHECK_EQ(rte_eth_dev_info_get(port, &info), 0);
	CHECK_EQ(info.max_rx_pktlen, MAX_RX_PKTLEN);
	CHECK(strcmp(info.driver_name, "net_sdk_test") == 0);
	CHECK_EQ(rte_eth_dev_get_mtu(port, &mtu), 0);
	CHECK_EQ(mtu, MTU);
	CHECK_EQ(rte_eth_macaddr_get(port, &mac), 0);
	CHECK_EQ(mac.addr_bytes[5], 1);
	CHECK_EQ(rte_eth_dev_close(port), 0);
	CHECK_EQ(driver.remove(&device), 0);
	CHECK(!rte_eth_dev_is_valid_port(port));
}

int
main(int argc, char **argv)
{
	t_eal(argc, argv, 64, 1);
	RUN(registers);
	RUN(seen_by_applications);
	rte_pci_unregister(&driver);
	return t_end();
}
