# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""Frames from outside: sends them to NICs, and compares every byte of what comes out."""

import hashlib
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

# For local experiments: the emulated NIC drops what looks like IP and is none.
ETHERTYPE = b"\x88\xb5"
# A frame that is not back after so many seconds is lost.
PATIENCE = 2.0
# A number of frames is not sent to its end when nothing has come out after so many seconds.
GIVE_UP = 10.0
SIZE_MIN, SIZE_MAX = 60, 1514
# Ethernet, IPv4 and UDP.
IP_HEAD = 42


def size_of(number):
    """All sizes that there are, in no order: the step has no factor in common with their count."""
    return SIZE_MIN + number * 397 % (SIZE_MAX + 1 - SIZE_MIN)


def ip_head(number, size):
    """IPv4 and UDP without its checksum, from one of 256 addresses, so that RSS spreads them."""
    head = struct.pack(">BBHIBBHI4s", 0x45, 0, size - 14, 0, 64, 17, 0,
                       0x0A000000 + number % 256, bytes((10, 1, 0, 1)))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    check = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return (head[:10] + struct.pack(">H", check) + head[12:]
            + struct.pack(">HHHH", 4789, 4789, size - 34, 0))


def frame(number, sender, receiver, size, ip=False):
    """Frame NUMBER: no two are alike, and all of it can be told from the number."""
    digest = hashlib.blake2b(number.to_bytes(8, "big")).digest()
    kind = b"\x08\x00" + ip_head(number, size) if ip else ETHERTYPE
    head = receiver + sender + kind + number.to_bytes(8, "big")
    return (head + digest * (size // len(digest) + 1))[:size]


def address(number):
    return bytes((2, 0x70, 0x70, 0, 0, number))


class Wires:
    """Our end of each NIC's cable."""

    def __init__(self, count):
        self.ends = []
        for i in range(count):
            end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            end.bind(f"n{i}.host")
            end.setblocking(False)
            self.ends.append(end)

    def send(self, nic, data):
        """False while the NIC takes nothing."""
        try:
            self.ends[nic].sendto(data, f"n{nic}.qemu")
            return True
        except (BlockingIOError, ConnectionRefusedError, FileNotFoundError):
            return False

    def drain(self, nics):
        for end in (self.ends[nic] for nic in nics):
            try:
                while True:
                    end.recv(65536)
            except BlockingIOError:
                pass

    def close(self):
        for end in self.ends:
            end.close()


@dataclass
class Result:
    sent: int = 0
    received: int = 0
    returned: int = 0
    harmed: int = 0
    lost: int = 0
    gap: float = 0.0
    gap_at: float = 0.0
    seconds: float = 0.0
    last: float = 0.0
    outstanding: dict = field(default_factory=dict)
    late: set = field(default_factory=set)

    def __str__(self):
        return (f"sent={self.sent} received={self.received} returned={self.returned} "
                f"harmed={self.harmed} lost={self.lost} gap_ms={self.gap * 1000:.0f} gap_at_ms={self.gap_at * 1000:.0f} ms={self.seconds * 1000:.0f}")


class Traffic(threading.Thread):
    """Frames both ways between two NICs, never more than WINDOW on the way in each direction.
    Stops after COUNT frames each way, or, without a count, when told to; at END at the latest.
    SWAP: who forwards them swaps the addresses. IP: they are UDP. PATIENCE, in ms: until a frame is
    taken for lost and the next one sent; should it come after all, it is not. LEAVING: a NIC may
    go, then what went into the other one comes out of it again ("returned"). RATE: that many a
    second each way."""

    def __init__(self, wires, pair, end, count=0, window=32, size=0, swap=False, ip=False,
                 patience=PATIENCE * 1000, leaving=False, rate=0):
        super().__init__(daemon=True)
        self._end = end
        self._wires, self._pair = wires, pair
        self._count, self._window, self._size = count, window, size
        self._swap, self._ip, self._patience = swap, ip, patience / 1000
        self._leaving, self._rate = leaving, rate
        self._give_up = max(GIVE_UP, 2 * self._patience)
        self._stop_sending = threading.Event()
        self._per_side = [Result(), Result()]
        self._start = self._told = 0.0
        self.result = Result()

    def _may_send(self, result):
        if self._done_sending(result) or len(result.outstanding) >= self._window:
            return False
        due = (time.monotonic() - self._start) * self._rate
        return self._rate == 0 or result.sent <= due

    def _send(self, side):
        result = self._per_side[side]
        near = self._pair[side]
        while self._may_send(result):
            # The same frames in each run, whatever direction is faster.
            number = 2 * result.sent + side
            if not self._wires.send(near, self._frame(number, near)):
                return
            # What comes out at the far side has been sent on this one.
            result.outstanding[number] = time.monotonic()
            result.sent += 1

    def _frame(self, number, near, swap=False):
        """The frame as it is sent to a NIC or, with swapped addresses, as it may come back."""
        ends = (address(0xF0 + near), address(near))
        return frame(number, *(ends[::-1] if swap else ends),
                     self._size or size_of(number), self._ip)

    def _done_sending(self, result):
        return self._stop_sending.is_set() or 0 < self._count <= result.sent

    def _receive(self, side, now):
        end = self._wires.ends[self._pair[side]]
        at = IP_HEAD if self._ip else 14
        for _ in range(2 * self._window):
            try:
                data = end.recv(65536)
            except BlockingIOError:
                return
            number = int.from_bytes(data[at:at + 8], "big")
            sender = number % 2
            result = self._per_side[sender]
            known = result.outstanding.pop(number, None) is not None
            if number in result.late:
                result.late.remove(number)
                result.lost -= 1
                known = True
            # What is not known was never sent, or comes a second time.
            if not known or self._frame(number, self._pair[sender], self._swap) != data:
                result.harmed += 1
            elif sender != side:
                result.received += 1
            elif self._leaving:
                result.returned += 1
            else:
                result.harmed += 1
            self._gap(result, now)

    @staticmethod
    def _gap(result, now):
        if now - result.last > result.gap:
            result.gap, result.gap_at = now - result.last, result.last
        result.last = now

    def _expire(self, now):
        for result in self._per_side:
            for number in [n for n, when in result.outstanding.items()
                           if now - when > self._patience]:
                del result.outstanding[number]
                result.late.add(number)
                result.lost += 1

    def run(self):
        self._start = time.monotonic()
        for result in self._per_side:
            result.last = self._start
        ends = [self._wires.ends[nic] for nic in self._pair]
        while True:
            for side in (0, 1):
                self._send(side)
            select.select(ends, (), (), 0.01)
            now = time.monotonic()
            for side in (0, 1):
                self._receive(side, now)
            self._expire(now)
            dead = not any(r.received or r.returned or r.harmed for r in self._per_side)
            if now > self._end or (self._count and dead and now - self._start > self._give_up):
                self._stop_sending.set()
            if all(self._done_sending(r) and not r.outstanding for r in self._per_side):
                break
        for name in ("sent", "received", "returned", "harmed", "lost"):
            setattr(self.result, name, sum(getattr(r, name) for r in self._per_side))
        for result in self._per_side:
            # Silence counts until we were told to stop: then the frames on the way come to an end.
            self._gap(result, max(result.last, self._told))
        longest = max(self._per_side, key=lambda r: r.gap)
        self.result.gap, self.result.gap_at = longest.gap, longest.gap_at - self._start
        self.result.seconds = time.monotonic() - self._start

    def received(self):
        """Frames that went through so far in each direction, from one NIC to the other."""
        return [result.received for result in self._per_side]

    def all_sent(self):
        return all(self._done_sending(result) for result in self._per_side)

    def abandon(self):
        """Nobody wants to know any more."""
        self._end = 0.0
        for result in self._per_side:
            result.outstanding.clear()
        self.join(1)

    def finish(self):
        self._told = time.monotonic()
        self._stop_sending.set()
        self.join()
        return self.result
