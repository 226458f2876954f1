# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""A scenario: a shell script that runs in the virtual machine, and says in its head what it needs.

    # what: one line for people
    # nics: 4                     how many igb there are
    # timeout: 90                 seconds for all of it
    # driver: ppigb               whose driver moves the NICs: ppigb, or stock (net_e1000_igb)
    # kernel: iomem=relaxed       more words for the kernel's command line
    # must-fail: DMAR             a control: passes only if exactly this made it fail
    # iommu: aw-bits=39           more properties of the IOMMU
"""

import re
from dataclasses import dataclass


DRIVERS = ("stock", "ppigb")


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
    kernel: str = ""
    must_fail: str = ""
    iommu: str = ""


def driver(name):
    if name not in DRIVERS:
        raise ValueError(f"'{name}' is none of {', '.join(DRIVERS)}")
    return name


CONVERT = {"what": str, "nics": int, "timeout": float, "driver": driver, "kernel": str,
           "must-fail": str, "iommu": str}


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
