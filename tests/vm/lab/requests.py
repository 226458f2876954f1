# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""What a scenario asks the lab for. It prints a line "@@ NAME ARGUMENT..." on its console, and reads
one line: "ok" or "error", and a text. guest/lab.sh has a shell function for each."""

import base64
import binascii
import time

import judge
import qemu
from traffic import Traffic


class Refused(Exception):
    """What is asked for cannot be done; the text goes to the scenario."""


def value_of(text):
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else text


def named(words):
    """key=value words as a dictionary."""
    for word in words:
        if "=" not in word:
            raise Refused(f"'{word}' is not key=value")
    return {key: value_of(value) for key, value in (word.split("=", 1) for word in words)}


class Requests:
    def __init__(self, machine, wires):
        self._machine, self._wires = machine, wires
        # When the time of the scenario is over.
        self.end = 0.0
        # By the pair of NICs.
        self._traffic = {}
        self._file = None
        self.figure = ""
        self.failure = ""
        self.status = None

    def close(self):
        for traffic in self._traffic.values():
            traffic.abandon()

    def line(self, line):
        """Takes a line that is meant for us; returns what to answer, or None."""
        words = line.split()
        method = getattr(self, "on_" + words[0].replace("-", "_"), None) if words else None
        if method is None:
            return "error the lab knows no such request"
        try:
            text = method(*words[1:])
        except (Refused, qemu.Gone, TypeError, ValueError, binascii.Error) as error:
            return f"error {error}"
        # An expression can fail in any way; the scenario shall hear of it.
        except Exception as error:  # pylint: disable=broad-except
            return f"error {type(error).__name__}: {error}"
        return None if text is None else f"ok {text}"

    # Without an answer.

    def on_figure(self, *words):
        self.figure = " ".join(words)

    def on_failed(self, *words):
        self.failure = " ".join(words)

    def on_end(self, status):
        self.status = int(status)

    def on_file(self, name):
        self._file = (name.rsplit("/", 1)[-1], [])

    def on_data(self, text):
        self._file[1].append(base64.b64decode(text))

    def on_file_end(self):
        name, parts = self._file
        with open(name, "wb") as file:
            file.write(b"".join(parts))

    # With one.

    def on_qmp(self, name, *words):
        self._machine.execute(name, **named(words))
        return ""

    def on_unplug(self, *words):
        """Asks the guest to let NICs go, at once; answers after how many milliseconds they were
        gone, the last of them. The last word is how many seconds it may take."""
        *nics, seconds = words
        start = time.monotonic()
        for nic in nics:
            self._machine.execute("device_del", id=nic)
        for nic in nics:
            when = self._machine.wait_event("DEVICE_DELETED", float(seconds), start, device=nic)
            if when is None:
                raise Refused(f"{nic} is still there after {seconds} s")
        return f"{(time.monotonic() - start) * 1000:.0f}"

    def on_gone(self, nic, seconds):
        """Waits until there is no such NIC any more. Of one whose slot has no power QEMU sends no
        event."""
        end = time.monotonic() + float(seconds)
        while self._machine.has_device(nic):
            if time.monotonic() > end:
                raise Refused(f"{nic} is still there after {seconds} s")
            time.sleep(0.01)
        return ""

    def on_plug(self, *nics):
        for nic in nics:
            self._machine.execute("device_add", **qemu.nic_device(self._nic(nic)))
        return ""

    def on_faults(self, first="0", end="0xffffffffffffffff"):
        """Accesses that the IOMMU refused so far: which kind, and how many outside of a range."""
        faults = judge.all_faults(".")
        writes = sum(write == "1" for _, _, write in faults)
        elsewhere = sum(not int(first, 0) <= int(where, 0) < int(end, 0) for _, where, _ in faults)
        return (f"faults={len(faults)} reads={len(faults) - writes} writes={writes} "
                f"elsewhere={elsewhere}")

    def on_frame(self, nic, *words):
        """Sends frames into a NIC, see frames.py."""
        return self._frames().send(self._wires, self._nic(nic), " ".join(words))

    def on_digest(self, *words):
        """What the guest has to see of a frame that is not sent as it is."""
        return self._frames().digest(" ".join(words))

    def on_rss(self, key, *flow):
        """The hash of source, target and ports."""
        return self._frames().rss(key, *flow)

    def on_out(self, nic, *words):
        """Compares what comes out of a NIC with what has to."""
        return self._frames().collect(self._wires, self._nic(nic), " ".join(words))

    def on_traffic(self, first, second, *words):
        """Sends and compares a number of frames; answers when all are through or lost."""
        traffic = self._new_traffic(first, second, words)
        traffic.start()
        traffic.join()
        return str(traffic.result)

    def on_traffic_start(self, first, second, *words):
        traffic = self._new_traffic(first, second, words)
        self._traffic[first, second] = traffic
        traffic.start()
        return ""

    def on_traffic_stop(self, *pair):
        """Of the only pair there is, if none is named."""
        key = pair or next(iter(self._traffic), None)
        if key not in self._traffic:
            raise Refused("there is no such traffic")
        return str(self._traffic.pop(key).finish())

    def on_traffic_moves(self, first, second, seconds, count="100"):
        """Until so many frames more have gone through in each direction: what was sent before them
        has come out, or will not."""
        if (first, second) not in self._traffic:
            raise Refused("there is no such traffic")
        traffic = self._traffic[first, second]
        end, before = time.monotonic() + float(seconds), traffic.received()
        while (new := min(now - old for now, old in zip(traffic.received(), before))) < int(count):
            if time.monotonic() > end:
                raise Refused(f"{new} of {count} frames came within {seconds} s")
            time.sleep(0.005)
        return ""

    def on_traffic_sent(self, first, second, seconds):
        """Until all of its count has been sent."""
        if (first, second) not in self._traffic:
            raise Refused("there is no such traffic")
        end = time.monotonic() + float(seconds)
        while not self._traffic[first, second].all_sent():
            if time.monotonic() > end:
                raise Refused(f"not all has been sent within {seconds} s")
            time.sleep(0.01)
        return ""

    def on_traffic_wait(self, *pair):
        """Until all of its count is through or lost."""
        if pair not in self._traffic:
            raise Refused("there is no such traffic")
        traffic = self._traffic.pop(pair)
        traffic.join()
        return str(traffic.result)

    @staticmethod
    def _frames():
        # Not every machine has scapy, and not every scenario needs it.
        import frames  # pylint: disable=import-outside-toplevel
        return frames

    def _nic(self, name):
        number = int(name.removeprefix("nic"))
        if number >= len(self._wires.ends):
            raise Refused(f"there is no {name}")
        return number

    def _new_traffic(self, first, second, words):
        if any({first, second} & set(pair) for pair in self._traffic):
            raise Refused("there is traffic already")
        pair = [self._nic(nic) for nic in (first, second)]
        # What came out before anybody asked is nobody's.
        self._wires.drain(pair)
        return Traffic(self._wires, pair, self.end, **named(words))
