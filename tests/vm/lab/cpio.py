# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""Writes archives that Linux unpacks as its first file system (cpio, format newc)."""

import os
import stat


class Archive:
    """Collects entries, each path once; folders above a path are made on the way."""

    def __init__(self):
        self._parts = []
        self._seen = set()
        # Without an entry of its own "/" is 1777, and EAL loads no plugin below such a folder.
        self._entry(".", stat.S_IFDIR | 0o755, b"")

    def _entry(self, name, mode, data, rdev=(0, 0)):
        if name in self._seen:
            return
        self._seen.add(name)
        encoded = name.encode() + b"\0"
        fields = (len(self._seen), mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(encoded), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self._parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def folder(self, path):
        parts = path.strip("/").split("/")
        for i in range(len(parts)):
            self._entry("/".join(parts[: i + 1]), stat.S_IFDIR | 0o755, b"")

    def _above(self, path):
        if os.path.dirname(path.strip("/")):
            self.folder(os.path.dirname(path))

    def data(self, path, data, mode=0o644):
        self._above(path)
        self._entry(path.strip("/"), stat.S_IFREG | mode, data)

    def link(self, path, target):
        self._above(path)
        self._entry(path.strip("/"), stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, path, major, minor):
        self._above(path)
        self._entry(path.strip("/"), stat.S_IFCHR | 0o600, b"", (major, minor))

    def copy(self, source, path=None):
        """A file of this machine, under its own path if none is given; links stay links."""
        path = path or source
        if os.path.islink(source):
            target = os.readlink(source)
            self.link(path, target)
            beside = os.path.normpath(os.path.join(os.path.dirname(source), target))
            self.copy(beside, os.path.normpath(os.path.join(os.path.dirname(path), target)))
            return
        with open(source, "rb") as file:
            self.data(path, file.read(), 0o755 if os.access(source, os.X_OK) else 0o644)

    def write(self, path):
        self._entry("TRAILER!!!", 0, b"")
        with open(path, "wb") as file:
            file.writelines(self._parts)
