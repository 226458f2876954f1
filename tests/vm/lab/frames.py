# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""Single frames, written down in scapy's notation: what is sent, and what must come out. Scapy is
the other opinion on checksums, headers and sizes, for it shares no code with any driver or NIC."""

import ipaddress
import select
import struct
import time
import zlib

from scapy.layers.inet import ICMP, IP, IPOption, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.layers.sctp import SCTP, SCTPChunkData
from scapy.packet import Packet, Raw

from qemu import mac

# A frame that is not out by then is lost.
OUT_SECONDS = 10
# What a NIC pads a shorter frame to (IEEE 802.3, without the CRC).
SHORTEST = 60
PEER = "02:70:70:00:00:f0"


class Wrong(Exception):
    """What came out is not what had to; the text says where."""


def eth(nic=0, **fields):
    """A head from the peer to a NIC; type follows from what comes next."""
    return Ether(**{"dst": mac(nic), "src": PEER, **fields})


def ip4(**fields):
    return IP(**{"src": "10.1.0.1", "dst": "10.1.0.2", **fields})


def ip6(**fields):
    return IPv6(**{"src": "fd00::1", "dst": "fd00::2", **fields})


def load(size, seed=0):
    """Bytes of which none is like its neighbours."""
    return Raw(bytes((i * 167 + (i >> 8) * 13 + seed) & 0xFF for i in range(size)))


def mark(number, nic=0):
    """A frame that any NIC takes, with a number; of no protocol that a NIC looks into."""
    return eth(nic, type=0x88B5) / Raw(struct.pack("!I", number) + bytes(60))


def segments(frame, mss):
    """What segmentation must make of a frame: payloads of MSS bytes, numbered on, with identifiers
    that count up, and FIN and PSH in the last one only."""
    data = bytes(frame[TCP].payload)
    made = []
    for start in range(0, len(data), mss):
        part = frame.copy()
        part[TCP].remove_payload()
        part = part / Raw(data[start:start + mss])
        part[TCP].seq = (frame[TCP].seq + start) & 0xFFFFFFFF
        if start + mss < len(data):
            part[TCP].flags = int(frame[TCP].flags) & ~0x09
        part[TCP].chksum = None
        if IP in part:
            part[IP].id = (frame[IP].id + start // mss) & 0xFFFF
            part[IP].len = part[IP].chksum = None
        else:
            part[IPv6].plen = None
        made.append(part)
    return made


def flow(source, target, layer, sport, dport, nic=0):
    """A frame of a flow, as in the test vectors of RSS."""
    version = ipaddress.ip_address(source).version
    head = (ip4 if version == 4 else ip6)(src=source, dst=target)
    return eth(nic) / head / (layer(sport=sport, dport=dport) if layer else load(20)) / load(20)


def toeplitz(key, data):
    """The hash of receive-side scaling, as Microsoft defines it."""
    bits, result = 8 * len(key), 0
    key = int.from_bytes(key, "big")
    for i in range(8 * len(data)):
        if data[i // 8] >> (7 - i % 8) & 1:
            result ^= key >> (bits - 32 - i) & 0xFFFFFFFF
    return result


# What expressions can be made of.
NAMES = {value.__name__: value for value in (
    ARP, Dot1AD, Dot1Q, Ether, ICMP, IP, IPOption, IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
    Raw, SCTP, SCTPChunkData, TCP, UDP, eth, flow, ip4, ip6, load, mac, mark, segments)}


def frames_of(text):
    """Frames from an expression: one, or a list."""
    value = eval(text, dict(NAMES))  # pylint: disable=eval-used  # scenarios are ours
    frames = [value] if isinstance(value, (Packet, bytes)) else value
    return [bytes(frame).ljust(SHORTEST, b"\0") for frame in frames]


def send(wires, nic, text):
    """Sends them; answers with what the guest can compare with."""
    frames = frames_of(text)
    end = time.monotonic() + OUT_SECONDS
    for data in frames:
        while not wires.send(nic, data):
            if time.monotonic() > end:
                raise Wrong(f"nic{nic} takes no frames")
            time.sleep(0.001)
    return (f"frames={len(frames)} len={len(frames[-1])} crc={zlib.crc32(frames[-1]):08x} "
            f"bytes={sum(len(data) for data in frames)}")


def digest(text):
    """What the guest has to see of a frame."""
    return f"len={len(frames_of(text)[-1])} crc={zlib.crc32(frames_of(text)[-1]):08x}"


def rss(key, source, target, *ports):
    """The hash of a flow."""
    data = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    data += b"".join(struct.pack("!H", int(port)) for port in ports)
    return f"hash={toeplitz(bytes.fromhex(key), data):08x}"


def difference(got, wanted):
    """Where two frames differ, or None."""
    if got == wanted:
        return None
    at = next((i for i, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]),
              min(len(got), len(wanted)))
    return (f"{len(got)} bytes came out and {len(wanted)} had to, they differ at byte {at}: "
            f"{got[max(0, at - 2):at + 14].hex()} instead of {wanted[max(0, at - 2):at + 14].hex()}")


def collect(wires, nic, text):
    """Waits for frames to come out of a NIC, and compares each byte."""
    wanted = frames_of(text)
    end = wires.ends[nic]
    for number, frame in enumerate(wanted, 1):
        if not select.select([end], (), (), OUT_SECONDS)[0]:
            raise Wrong(f"frame {number} of {len(wanted)} did not come out of nic{nic}")
        # A NIC pads what it sends; QEMU's does not.
        wrong = difference(end.recv(65536).ljust(SHORTEST, b"\0"), frame)
        if wrong:
            raise Wrong(f"frame {number} of {len(wanted)} out of nic{nic}: {wrong}")
    return f"frames={len(wanted)}"
