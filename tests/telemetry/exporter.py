# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
"""exporter.py MODULE SOCKET: what DPDK's exporter would make of the module's metrics, a line each."""

import importlib.util
import json
import socket
import sys

sys.dont_write_bytecode = True


class Telemetry:
    """As the exporter's: cmd(URI, ARGUMENT)."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(path)
        self.size = json.loads(self.sock.recv(1024))["max_output_len"]

    def cmd(self, uri, arg=None):
        self.sock.send((uri if arg is None else f"{uri},{arg}").encode())
        return json.loads(self.sock.recv(self.size))[uri]


spec = importlib.util.spec_from_file_location("pagepool", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
info = module.info()
for name, value, labels in module.metrics(Telemetry(sys.argv[2])):
    assert info[name][1] in ("counter", "gauge")
    print(name, *(f"{k}={v}" for k, v in sorted(labels.items())), float(value))
