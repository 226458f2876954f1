# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""What DPDK's dpdk-telemetry-exporter.py (since 24.07) exports of page pools. See doc/telemetry.md."""

# Keys of /pagepool/stats that only grow. What else it has and is a number is a gauge.
COUNTERS = {
    "alloc_fast": "Pages handed out straight from a cache.",
    "alloc_slow": "Bursts taken from slabs.",
    "alloc_slow_high_order": "Bursts taken from slabs, of pages above 4096 bytes.",
    "alloc_empty": "Bursts that found the ring empty.",
    "alloc_refill": "Bursts taken from the ring.",
    "alloc_waive": "Pages waived for lying on another node.",
    "alloc_remote": "Pages taken from another node for want of near ones.",
    "alloc_fail": "Calls that got nothing.",
    "recycle_cached": "Pages put into a cache.",
    "recycle_cache_full": "Puts that found the cache full.",
    "recycle_ring": "Pages put straight into the ring.",
    "recycle_ring_full": "Pages released since the ring was full.",
    "recycle_released_ref": "Pages released by the application.",
    "put_refused": "Pages refused by the checks.",
    "cache_reclaim": "Caches emptied for a starved caller.",
    "hold": "Pages that ever left a slab.",
    "release": "Pages that ever went back to one.",
    "frag_alloc": "Fragments handed out.",
    "frag_pages": "Pages cut into fragments.",
    "frag_reuse": "Pages cut again at once.",
    "released_fallback": "Puts of ordinary pages, which are not recycled.",
    "slabs_added": "Slabs that came.",
    "slabs_removed": "Slabs that went.",
    "low_water": "Times that the low-water mark was passed.",
    "waits": "Calls that had to wait for pages.",
    "not_recycling": "Intervals in which hardly any page was recycled.",
}
GAUGES = {
    "pages": "Pages of the pool.",
    "slab_free": "Pages in slabs.",
    "in_ring": "Pages in the ring.",
    "cached": "Pages in caches.",
    "in_use": "Pages that the application or a device holds.",
    "fallback_slabs": "Slabs of ordinary pages.",
    "fallback_pages": "Pages of those.",
    "slabs": "Slabs.",
    "slab_bytes": "Bytes of all slabs.",
    "recycling_ratio": "Pages recycled, of those handed out.",
}
ZOMBIES = "zombies"
ZOMBIE_PAGES = "zombie_in_use"
ZOMBIE_AGE = "zombie_age_seconds"
MAPPED = "dma_mapped_bytes"


def info():
    out = {name: (text, "counter") for name, text in COUNTERS.items()}
    out.update({name: (text, "gauge") for name, text in GAUGES.items()})
    out[ZOMBIES] = ("Pools that were destroyed while pages were out.", "gauge")
    out[ZOMBIE_PAGES] = ("Pages that such a pool waits for.", "gauge")
    out[ZOMBIE_AGE] = ("Seconds since it was destroyed.", "gauge")
    out[MAPPED] = ("Bytes of the pool that were mapped for a device.", "gauge")
    return out


def items(answer):
    """The dictionaries under numbers, of which DPDK leaves out what an answer has no room for."""
    return [v for k, v in answer.items() if k.isdigit()]


def metrics(sock):
    out = []
    for pool in sock.cmd("/pagepool/list"):
        stats = sock.cmd("/pagepool/stats", pool)
        if "error" in stats:  # it has gone meanwhile
            continue
        for name in [*COUNTERS, *GAUGES]:
            out.append((name, float(stats[name]) if name == "recycling_ratio" else stats[name], {"pool": pool}))
        for a in items(sock.cmd("/pagepool/dma", pool)):
            labels = {"pool": pool, "device": a["device"], "isolated": a["isolated"]}
            out.append((MAPPED, a["mapped_bytes"], labels))
    zombies = sock.cmd("/pagepool/zombies")
    out.append((ZOMBIES, zombies["count"], {}))
    for z in items(zombies):
        labels = {"pool": z["name"], "id": z["id"]}
        out.append((ZOMBIE_PAGES, z["in_use"], labels))
        out.append((ZOMBIE_AGE, z["age_ms"] / 1000, labels))
    return out
