# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""What is in the virtual machine: a kernel of Debian's, busybox, this machine's DPDK, our build."""

import glob
import lzma
import os
import re
import subprocess

from cpio import Archive

LIB = "/usr/lib/x86_64-linux-gnu"
# In the order in which they load. What a kernel does not have as a module it has built in.
MODULES = ("irqbypass", "vfio_virqfd", "iommufd", "vfio", "vfio_iommu_type1", "vfio-pci-core",
           "vfio-pci", "uio", "uio_pci_generic")
# Plugins of DPDK that a scenario may need.
PLUGINS = ("librte_bus_pci", "librte_bus_vdev", "librte_net_e1000", "librte_net_null",
           "librte_mempool_ring")
# Our build, as it lies in the build folder: programs find their libraries by relative paths.
OURS = ("app/testpmd-pp/testpmd-pp", "lib/pagepool/libpagepool.so",
        "drivers/mempool/pagepool/librte_mempool_pagepool.so")
# The driver, which is not built where there are no headers for one.
PMD = "drivers/net/ppigb/librte_net_ppigb.so"
# Programs that scenarios run in the guest, all that are there.
PROGRAMS = "tests/vm/prog"
# Loaded at run time by libpthread, when a thread is cancelled.
EXTRA = (f"{LIB}/libgcc_s.so.1", "/usr/libexec/coreutils/libstdbuf.so")


class Missing(Exception):
    """Something without which there is no virtual machine."""


def libraries(program):
    """The shared libraries that a program is linked with, as paths."""
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    if "not found" in out:
        raise Missing(f"{program} lacks a library: {out}")
    return re.findall(r"(?:=> |^\s+)(/\S+)", out, re.MULTILINE)


def add_library(archive, path):
    """A library, and the link by which DPDK's plugins find each other if it is one of them."""
    # Debian's /lib is a link to /usr/lib.
    path = re.sub("^/lib", "/usr/lib", path)
    archive.copy(path)
    beside = f"{LIB}/{os.path.basename(path)}"
    if "/dpdk/pmds-" in path and os.path.exists(beside):
        archive.copy(beside)


def add_program(archive, program, path=None):
    archive.copy(program, path)
    for library in libraries(program):
        if os.path.realpath(library).startswith("/usr/lib"):
            add_library(archive, library)


def add_plugins(archive):
    for plugin in PLUGINS:
        found = glob.glob(f"{LIB}/dpdk/pmds-*/{plugin}.so*")
        if not found:
            raise Missing(f"no {plugin} below {LIB}/dpdk: is package libdpdk-dev complete?")
        for path in found + libraries(found[0]):
            add_library(archive, path)


def kernel_image(kernel):
    """The kernel file and the folder of its modules in an unpacked package."""
    images = glob.glob(f"{kernel}/boot/vmlinuz-*")
    folders = glob.glob(f"{kernel}/lib/modules/*") + glob.glob(f"{kernel}/usr/lib/modules/*")
    if not images or not folders:
        raise Missing(f"{kernel} has no kernel in it")
    return images[0], folders[0]


def add_modules(archive, folder):
    names = []
    for module in MODULES:
        pattern = re.sub("[-_]", "[-_]", module)
        found = glob.glob(f"{folder}/kernel/**/{pattern}.ko*", recursive=True)
        if not found:
            continue
        with open(found[0], "rb") as file:
            data = file.read()
        if found[0].endswith(".xz"):
            data = lzma.decompress(data)
        archive.data(f"/lab/modules/{module}.ko", data)
        names.append(module)
    archive.data("/lab/modules/order", "\n".join(names).encode() + b"\n")


def add_ours(archive, build, scenario):
    """The build; which driver the scenario is about, and its arguments, are in files."""
    if scenario.driver == "ppigb" and not os.path.exists(f"{build}/{PMD}"):
        raise Missing(f"{PMD} is not built in {build}: see what meson says about the driver")
    optional = [PMD] + [name[len(build) + 1:] for name in glob.glob(f"{build}/{PROGRAMS}/*")]
    for name in OURS + tuple(name for name in optional if os.path.isfile(f"{build}/{name}")):
        add_program(archive, f"{build}/{name}", f"/pagepool/{name}")
    archive.data("/lab/driver", scenario.driver.encode() + b"\n")
    archive.data("/lab/devargs", scenario.devargs.encode() + b"\n")
    archive.data("/lab/cycles", f"{scenario.cycles}\n".encode())
    archive.data("/lab/timeout", f"{scenario.timeout:.0f}\n".encode())


def write(path, options, scenario):
    """Writes the first file system of the virtual machine; returns the kernel's file."""
    image, modules = kernel_image(options.kernel)
    archive = Archive()
    archive.character_device("/dev/console", 5, 1)
    archive.link("/lib", "usr/lib")
    archive.link("/lib64", "usr/lib64")
    archive.link("/var/run", "/run")
    for folder in ("/proc", "/sys", "/tmp", "/run", "/root", "/mnt/huge", "/usr/lib", "/bin"):
        archive.folder(folder)
    archive.copy(f"{options.busybox}/bin/busybox" if os.path.exists(
        f"{options.busybox}/bin/busybox") else f"{options.busybox}/usr/bin/busybox", "/bin/busybox")
    archive.copy("/lib64/ld-linux-x86-64.so.2", "/usr/lib64/ld-linux-x86-64.so.2")
    add_modules(archive, modules)
    add_program(archive, os.path.realpath("/usr/bin/dpdk-testpmd"), "/usr/bin/dpdk-testpmd")
    add_plugins(archive)
    add_ours(archive, options.build, scenario)
    for name in EXTRA:
        archive.copy(name)
    here = os.path.dirname(os.path.abspath(__file__))
    archive.copy(f"{here}/../guest/init", "/init")
    for script in glob.glob(f"{here}/../guest/*.sh"):
        archive.copy(script, f"/lab/{os.path.basename(script)}")
    archive.copy(scenario.path, "/lab/scenario")
    archive.write(path)
    return image
