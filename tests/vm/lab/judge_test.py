# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""Each thing that must make a scenario fail does, and nothing else does. Needs no QEMU."""

import tempfile
import unittest

import judge

# As kernels and QEMU wrote them.
HEALTHY = """[    5.155317] VFIO - User Level meta-driver version: 0.3
[   27.163137] vfio-pci 0000:04:00.0: Relaying device request to user (#0)
[    6.929437] reboot: Power down
"""
SICK = {
    "segfault": "dpdk-testpmd[95]: segfault at 8 ip 00007f1c sp 00007ffd error 4 in librte_net_e1000",
    "trap": "traps: testpmd-pp[95] trap invalid opcode ip:55d sp:7ff error:0",
    "warning": "WARNING: CPU: 1 PID: 95 at drivers/iommu/intel/iommu.c:1 domain_unmap+0x1/0x2",
    "bug": "BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "oops": "Oops: 0002 [#1] PREEMPT SMP NOPTI",
    "panic": "Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100",
    "fault": "DMAR: DRHD: handling fault status reg 2",
}
FAULTS = """vtd_dmar_fault sid 0x100 fault 6 addr 0x1dead0000 write 0
vtd_dmar_fault sid 0x100 fault 6 addr 0x1dead0004 write 0
"""


class Judge(unittest.TestCase):
    def complaints(self, kernel=HEALTHY, faults="", status=0, timed_out=False, may=""):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("kernel.log", kernel), ("faults.log", faults)):
                with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                    file.write(text)
            return judge.complaints(folder, status, timed_out, 1, may=may)

    def test_healthy_passes(self):
        self.assertEqual(self.complaints(), [])

    def test_kernel(self):
        for what, line in SICK.items():
            with self.subTest(what):
                reasons = self.complaints(kernel=HEALTHY + f"[    9.000000] {line}\n")
                self.assertEqual(len(reasons), 1)
                self.assertIn(line, reasons[0])

    def test_what_may_be(self):
        segfault = HEALTHY + "[    9.000000] app[7]: segfault at 0 ip 0\n"
        self.assertEqual(len(self.complaints(kernel=segfault)), 1)
        self.assertEqual(self.complaints(kernel=segfault, may="segfault at"), [])
        self.assertEqual(len(self.complaints(kernel=segfault, may="Oops")), 1)
        self.assertEqual(len(self.complaints(faults=FAULTS, may="segfault at")), 1)

    def test_faults_are_counted(self):
        self.assertEqual(self.complaints(faults=FAULTS),
                         ["DMAR: 2 faults, the first: device 0x100 reads 0x1dead0000"])

    def test_guest(self):
        self.assertEqual(len(self.complaints(status=1)), 1)
        self.assertEqual(len(self.complaints(status=None)), 1)

    def test_time_out(self):
        self.assertEqual(len(self.complaints(status=None, timed_out=True)), 1)

    def test_control(self):
        fault = self.complaints(faults=FAULTS)
        self.assertFalse(judge.verdict([], "DMAR")[0])
        self.assertTrue(judge.verdict(fault, "DMAR")[0])
        self.assertFalse(judge.verdict(self.complaints(status=1), "DMAR")[0])
        self.assertFalse(judge.verdict(self.complaints(status=1, faults=FAULTS), "DMAR")[0])

    def test_normal(self):
        self.assertTrue(judge.verdict([], "")[0])
        self.assertFalse(judge.verdict(self.complaints(faults=FAULTS), "")[0])


if __name__ == "__main__":
    unittest.main()
