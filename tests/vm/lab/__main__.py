# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""Boots a virtual machine, runs a scenario in it, and judges. Called by tests/vm/run."""

import argparse
import glob
import os
import selectors
import signal
import sys
import time

import image
import judge
import qemu
import scenario as scenarios
from requests import Requests
from traffic import Wires


def arguments():
    parser = argparse.ArgumentParser(prog="tests/vm/run")
    parser.add_argument("scenario")
    parser.add_argument("--timeout", type=float, help="seconds, instead of the scenario's own")
    parser.add_argument("--driver", choices=scenarios.DRIVERS, help="instead of the scenario's own")
    parser.add_argument("--cycles", type=int, help="instead of the scenario's own")
    parser.add_argument("--devargs", default="", help="for our driver, for instance isolate=1")
    for name in ("file", "build", "qemu", "kernel", "busybox"):
        parser.add_argument(f"--{name}", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


# On a starved processor the guest's kernel sometimes never starts. That is not the scenario's fault.
BOOT_SECONDS = 45
# With one thread for all of its processors it takes longer.
BOOT_SECONDS_ICOUNT = 90
BOOT_TRIES = 2


class NoBoot(Exception):
    """The guest said nothing at all."""


def lines_of(pipe, limit):
    """Lines that come from a pipe until it is closed; TimeoutError after LIMIT(), a time."""
    selector = selectors.DefaultSelector()
    selector.register(pipe, selectors.EVENT_READ)
    rest = b""
    while True:
        if not selector.select(max(0, limit() - time.monotonic())):
            raise TimeoutError
        data = os.read(pipe.fileno(), 65536)
        if not data:
            return
        *complete, rest = (rest + data).split(b"\n")
        for line in complete:
            yield line.decode(errors="replace").rstrip("\r")


def serve(machine, requests, log, boot_limit, seconds):
    """The console: what is meant for us is answered, the rest shown and kept. The scenario has its
    time from the guest's first word on."""
    start = time.monotonic()
    requests.end = start + boot_limit
    booted = False
    try:
        for line in lines_of(machine.process.stdout, lambda: requests.end):
            if not booted:
                booted = True
                requests.end = time.monotonic() + seconds
            log.write(f"{time.monotonic() - start:7.2f} {line}\n")
            log.flush()
            if line.startswith("@@ "):
                answer = requests.line(line[3:])
                if answer is not None:
                    log.write(f"{time.monotonic() - start:7.2f} -> {answer}\n")
                    machine.process.stdin.write(answer.encode() + b"\n")
                    machine.process.stdin.flush()
            elif line.strip():
                print(f"  {line}", flush=True)
    except TimeoutError:
        if not booted:
            raise NoBoot from None
        raise


def boot_seconds(scenario):
    return BOOT_SECONDS if scenario.icount is None else BOOT_SECONDS_ICOUNT


def attempt(options, scenario, kernel, seconds):
    """Runs it; returns the requests, which know how it ended, and whether that took too long."""
    wires = Wires(scenario.nics)
    machine = qemu.Machine(qemu.command(options, scenario, kernel))
    requests = Requests(machine, wires)
    timed_out = False
    try:
        with open("console.log", "w", encoding="utf-8") as log:
            serve(machine, requests, log, boot_seconds(scenario), seconds)
    except TimeoutError:
        timed_out = True
    except BrokenPipeError:
        # QEMU has ended; the verdict will say so.
        pass
    finally:
        machine.stop()
        requests.close()
        wires.close()
        sweep("*.host", "*.qemu", "qmp")
    return requests, timed_out


def boot(options, scenario, seconds):
    kernel = image.write("initramfs", options, scenario)
    for tries_left in reversed(range(BOOT_TRIES)):
        try:
            return attempt(options, scenario, kernel, seconds)
        except NoBoot:
            print(f"  the guest did not start within {boot_seconds(scenario)} s"
                  + ("; once more" if tries_left else ""), flush=True)
    return None, True


def sweep(*patterns):
    """Removes files of an earlier run, or of this one."""
    for pattern in patterns:
        for name in glob.glob(pattern):
            os.unlink(name)


def scale_to(cycles, scenario):
    """More cycles than it has of its own take more time, too."""
    if cycles is None:
        return
    if not scenario.cycles or cycles < 1:
        sys.exit(f"--cycles {cycles}: scenario '{scenario.name}' has no cycles to count")
    scenario.timeout *= max(1, cycles / scenario.cycles)
    scenario.cycles = cycles


def main():
    options = arguments()
    scenario = scenarios.read(os.path.abspath(options.file))
    scale_to(options.cycles, scenario)
    seconds = scenario.timeout = options.timeout or scenario.timeout
    scenario.driver = options.driver or scenario.driver
    scenario.devargs = options.devargs
    options.build = os.path.abspath(options.build)
    folder = f"{options.build}/vm/{scenario.name}"
    # Names of sockets must be short, so all names are relative.
    os.chdir(folder)
    sweep("*.log", "*.json", "*.host", "*.qemu", "qmp")
    # An orderly end, which ends QEMU.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    start = time.monotonic()
    try:
        requests, timed_out = boot(options, scenario, seconds)
    finally:
        sweep("initramfs")
    if requests is None:
        print(f"Logs: {folder}\n{scenario.name}: FAILED: boot: the guest did not start")
        return 1
    reasons = judge.complaints(".", requests.status, timed_out, seconds, requests.failure,
                               scenario.may)
    passed, text = judge.verdict(reasons, scenario.must_fail)
    print(f"Logs: {folder}")
    if passed:
        print(f"{scenario.name}: {text or requests.figure} ({time.monotonic() - start:.0f} s)")
    else:
        print(f"{scenario.name}: FAILED: {text}")
    return 0 if passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except image.Missing as error:
        print(f"skipped: {error}")
        sys.exit(77)
