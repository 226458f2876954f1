# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""QEMU: its command line, its life, and its monitor (QMP)."""

import json
import os
import queue
import socket
import subprocess
import threading
import time

MEMORY_MIB = 1024
# A processor that others use too must not look like a hung kernel.
KERNEL = ("console=ttyS1 quiet panic=-1 intel_iommu=on iommu=nopt nowatchdog "
          "rcupdate.rcu_cpu_stall_suppress=1 no_timer_check hugepages=144 ")
# Addresses that are the same in every run.
SAME = "nokaslr norandmaps "


class Gone(Exception):
    """QEMU has ended, or does not answer."""


def mac(number):
    return f"02:70:70:00:00:{number:02x}"


def nic_device(number):
    """What makes a NIC, on the command line and again in device_add."""
    return {"driver": "igb", "id": f"nic{number}", "netdev": f"n{number}", "bus": f"rp{number}",
            "mac": mac(number)}


def clock(scenario):
    """Words for the processors. With a count of instructions as its clock, 2^N ns for each, the
    machine does the same thing in every run: one thread, no host's time or chance."""
    if scenario.icount is None:
        return ["-accel", "tcg,thread=multi"]
    return ["-accel", "tcg,thread=single", "-icount", f"shift={scenario.icount},sleep=off",
            "-seed", "1", "-rtc", "base=2024-01-01,clock=vm"]


def wire(scenario, number):
    """What the cable of a NIC ends in: the lab, or, wired to its neighbour, that one."""
    if scenario.wired == "pairs":
        return f"hubport,id=n{number},hubid={number // 2}"
    return (f"dgram,id=n{number},local.type=unix,local.path=n{number}.qemu,"
            f"remote.type=unix,remote.path=n{number}.host")


def memory(scenario):
    """The memory, on as many NUMA nodes as the scenario wants: node i has processor i and its part."""
    words = ["-m", str(MEMORY_MIB)]
    for i in range(scenario.nodes if scenario.nodes > 1 else 0):
        size = MEMORY_MIB // scenario.nodes
        words += ["-object", f"memory-backend-ram,id=m{i},size={size}M",
                  "-numa", f"node,nodeid={i},cpus={i},memdev=m{i}"]
    return words


def hotplug(scenario):
    """How NICs come and go: ACPI's way is fast, but only the native one can cut a slot's power."""
    if scenario.hotplug != "native":
        return []
    return ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]


def command(options, scenario, image):
    """The command line, for the folder of the logs. NIC i sits behind root port i and is 0000:(i+1):00.0 to the guest."""
    words = [options.qemu, "-no-user-config", "-nodefaults", "-display", "none", "-no-reboot",
             "-M", "q35", *clock(scenario), "-cpu", "max", "-smp", "2",
             *memory(scenario), *hotplug(scenario),
             # Before the devices whose accesses it is to translate.
             "-device", ",".join(filter(None, ("intel-iommu,intremap=on", scenario.iommu)))]
    for i in range(scenario.nics):
        words += ["-device", f"pcie-root-port,id=rp{i},chassis={i + 1},slot={i + 1}",
                  "-netdev", wire(scenario, i), "-device", json.dumps(nic_device(i))]
    return words + ["-kernel", image, "-initrd", "initramfs",
                    "-append", KERNEL + SAME * (scenario.icount is not None) + scenario.kernel,
                    "-serial", "stdio", "-serial", "file:kernel.log",
                    "-qmp", "unix:qmp,server=on,wait=off",
                    # The kernel's own messages are limited in number; this counts every access.
                    "-trace", "vtd_dmar_fault", "-D", "faults.log"]


class Machine:
    def __init__(self, words):
        with open("qemu.log", "wb") as log:
            # The kernel kills it when we die, whatever we die of.
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *words],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=log)
        self.events = []
        self.changed = threading.Condition()
        self._answers = queue.Queue()
        self._qmp = None

    def _connect(self):
        end = time.monotonic() + 20
        while not os.path.exists("qmp"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Gone("QEMU did not start, see qemu.log")
            time.sleep(0.02)
        self._qmp = socket.socket(socket.AF_UNIX)
        self._qmp.connect("qmp")
        threading.Thread(target=self._read, daemon=True).start()
        self.execute("qmp_capabilities")

    def _read(self):
        for line in self._qmp.makefile():
            message = json.loads(line)
            if "event" in message:
                with self.changed:
                    self.events.append((time.monotonic(), message))
                    self.changed.notify_all()
            elif "QMP" not in message:
                self._answers.put(message)
        self._answers.put({"error": {"desc": "QEMU has ended"}})

    def execute(self, name, /, **arguments):
        """A command to QEMU; its answer, or Gone with the error it gave."""
        if self._qmp is None:
            self._connect()
        line = json.dumps({"execute": name, "arguments": arguments})
        self._qmp.sendall(line.encode() + b"\n")
        try:
            answer = self._answers.get(timeout=30)
        except queue.Empty:
            raise Gone(f"QEMU does not answer to {name}") from None
        if "return" not in answer:
            raise Gone(f"{name}: {answer['error']['desc']}")
        return answer["return"]

    def has_device(self, name):
        return any(child["name"] == name
                   for child in self.execute("qom-list", path="/machine/peripheral"))

    def wait_event(self, name, seconds, since=0.0, **data):
        """The time of an event that carries this data, or None when there was none in time."""
        def found():
            return next((when for when, event in self.events if when >= since
                         and event["event"] == name
                         and data.items() <= event.get("data", {}).items()), None)

        with self.changed:
            self.changed.wait_for(found, seconds)
            return found()

    def stop(self):
        """Ends it if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
