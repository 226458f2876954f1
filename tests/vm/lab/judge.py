# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""Did it pass? What the guest, its kernel, the IOMMU and QEMU say against it."""

import re

# What a healthy kernel never says.
KERNEL_BAD = re.compile(r"WARNING: |BUG: |Oops|segfault at|general protection|traps: |Kernel panic"
                        r"|Call Trace|invalid opcode|Out of memory|hung_task|unchecked MSR|DMAR: .*fault"
                        r"|self-detected stall|lockup")
FAULT = re.compile(r"vtd_dmar_fault sid (0x[0-9a-f]+) .*?addr (0x[0-9a-f]+) write (\d)")


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def all_faults(folder):
    """Accesses of devices that the IOMMU refused: device, address, "1" for a write."""
    return FAULT.findall(text_of(f"{folder}/faults.log"))


def dmar_faults(folder):
    """How many accesses of devices the IOMMU refused, and the first of them."""
    found = all_faults(folder)
    if not found:
        return 0, ""
    source, address, write = found[0]
    return len(found), f"device {source} {'writes' if write == '1' else 'reads'} {address}"


def complaints(folder, status, timed_out, seconds, failure="", may=""):
    """Reasons why it failed, none if it passed. MAY: in lines of the kernel that are none."""
    reasons = []
    if timed_out:
        reasons.append(f"time-out: not done after {seconds:.0f} s")
    elif status is None:
        reasons.append("guest: it ended before its scenario did")
    elif status != 0:
        reasons.append(f"guest: {failure or f'the scenario ended with status {status}'}")
    count, first = dmar_faults(folder)
    if count > 0:
        reasons.append(f"DMAR: {count} faults, the first: {first}")
    # Faults are counted above, by QEMU, of which the kernel sees few.
    lines = [line.strip() for line in text_of(f"{folder}/kernel.log").splitlines()
             if KERNEL_BAD.search(line) and not (count > 0 and "DMAR" in line)
             and not (may and may in line)]
    if lines:
        reasons.append(f"kernel: {lines[0]}" + (f" (and {len(lines) - 1} more)"
                                                if len(lines) > 1 else ""))
    return reasons


def verdict(reasons, must_fail):
    """(passed, text): a control passes if it failed for the reason it names, and no other."""
    if not must_fail:
        return not reasons, "; ".join(reasons)
    if not reasons:
        return False, f"it passed, and had to fail with {must_fail}: the lab is blind"
    if len(reasons) == 1 and reasons[0].startswith(must_fail + ":"):
        return True, f"failed as it had to: {reasons[0]}"
    return False, f"it had to fail with {must_fail} only: {'; '.join(reasons)}"
