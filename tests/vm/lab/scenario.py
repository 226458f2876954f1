# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""A scenario: a shell script that runs in the virtual machine, and says in its head what it needs.

    # what: one line for people
    # nics: 4                     how many igb there are
    # timeout: 90                 seconds for all of it
    # driver: ppigb               whose driver moves the NICs: ppigb, or stock (net_e1000_igb)
    # wired: pairs                what nic0 sends nic1 gets, and so on; else the lab is at each end
    # icount: 1                   the clock counts instructions, 2^1 ns each: the same in every run
    # kernel: iomem=relaxed       more words for the kernel's command line
    # needs: scapy                what must be on this machine besides QEMU
    # may: segfault at            what its kernel may say, though no healthy one does
    # must-fail: DMAR             a control: passes only if exactly this made it fail
    # iommu: aw-bits=39           more properties of the IOMMU
    # hotplug: native             slots as PCI Express has them, whose power can be cut; else ACPI's
    # nodes: 2                    NUMA nodes, each with a processor and its part of the memory
    # cycles: 20                  how often it does what it does; --cycles and the time scale it
"""

import re
from dataclasses import dataclass


DRIVERS = ("stock", "ppigb")
WIRED = ("lab", "pairs")
HOTPLUG = ("acpi", "native")


class Bad(Exception):
    """The head of a scenario says something that is not known."""


@dataclass
class Scenario:
    name: str
    path: str
    what: str = ""
    nics: int = 2
    timeout: float = 90
    driver: str = "stock"
    # Of the command line alone.
    devargs: str = ""
    wired: str = "lab"
    icount: int | None = None
    kernel: str = ""
    needs: str = ""
    may: str = ""
    must_fail: str = ""
    iommu: str = ""
    hotplug: str = "acpi"
    cycles: int = 0
    nodes: int = 1


def one_of(names):
    def convert(name):
        if name not in names:
            raise ValueError(f"'{name}' is none of {', '.join(names)}")
        return name
    return convert


CONVERT = {"what": str, "nics": int, "timeout": float, "driver": one_of(DRIVERS),
           "wired": one_of(WIRED), "icount": int, "kernel": str, "needs": str, "may": str, "must-fail": str,
           "iommu": str, "hotplug": one_of(HOTPLUG), "cycles": int, "nodes": int}


def read(path):
    scenario = Scenario(path.rsplit("/", 1)[-1], path)
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                break
            match = re.match(r"# ([a-z-]+): +(.*\S)", line)
            if not match or match[1].startswith("shellcheck"):
                continue
            if match[1] not in CONVERT:
                raise Bad(f"{path}: '{match[1]}' is none of {', '.join(CONVERT)}")
            setattr(scenario, match[1].replace("-", "_"), CONVERT[match[1]](match[2]))
    return scenario
