#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How long the control socket keeps a caller waiting: asks for the priority every 12 ms until it is ended by SIGTERM.

probe.py SOCKET

Prints the number of calls, and of the times to their answers the median, the 99th percentile and the most, in ms.
"""
import signal
import socket
import sys
import time

CALL = b'{"method":"org.opensm.GetPriority"}\0'
times = []
ended = False


def end(*_):
    global ended
    ended = True


def ask(s):
    began = time.monotonic()
    s.sendall(CALL)
    rest = b""
    while not rest.endswith(b"\0"):
        more = s.recv(65536)
        if not more:
            raise SystemExit("the socket was closed")
        rest += more
    times.append((time.monotonic() - began) * 1000)
    if b"error" in rest:
        raise SystemExit(rest.decode())


signal.signal(signal.SIGTERM, end)
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
while not ended:
    ask(s)
    time.sleep(0.012)
times.sort()
print(f"{len(times)} calls, median {times[len(times) // 2]:.1f} ms, 99 % {times[len(times) * 99 // 100]:.1f} ms, most {times[-1]:.1f} ms")
