#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Both neighbours of opensm-rest, for tests/e2e/rest-*.bats.

  manager SOCKET LOG [MEMBERS]  a control socket; each call is a line "METHOD PARAMETERS" of LOG
  slow HOST PORT N              N connections of 64 addresses 127.9.x.1 that send a byte a second; a line "open N"
  readers HOST PORT N TARGET    N connections that ask for TARGET (Authorization: $AUTH) and read nothing; "open N"
  raw HOST PORT                 sends standard input, prints the status of each answer
  port                          a TCP port that is free
"""
import json
import os
import socket
import sys
import threading
import time


def answer(call, members):
    method = call["method"].rsplit(".", 1)[-1]
    if method == "TenantPartitions":
        guids = [{"guid": "0x%016x" % (0x200000000000000 + i), "membership": "full", "index0": False,
                  "pending": None} for i in range(members)]
        return {"parameters": {"generation": 7, "changed": None, "closed": None, "standbys": 0, "partitions": [
            {"pkey": "0x0005", "name": "api_pkey_0x5", "source": "api", "ip_over_ib": True, "mtu": 4, "rate": 2,
             "sl": 0, "generation": 7, "n_members": members, "members": guids}]}}
    if method == "ChangePartition":
        return {"parameters": {"generation": 8, "changed": True, "replicated": False, "standbys": 0, "standbys_with": 0,
                               "n_members": 1, "pending": [], "text": None}}
    return {"error": "org.opensm.NotReady", "parameters": {"text": "the first sweep is not over"}}


def serve_one(peer, log, members):
    text = b""
    with peer:
        while True:
            piece = peer.recv(65536)
            if not piece:
                return
            text += piece
            while b"\0" in text:
                message, text = text.split(b"\0", 1)
                call = json.loads(message)
                with open(log, "a", encoding="ascii") as out:
                    out.write("%s %s\n" % (call["method"], json.dumps(call.get("parameters"))))
                peer.sendall(json.dumps(answer(call, members)).encode() + b"\0")


def manager(path, log, members="3"):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    open(log, "w", encoding="ascii").close()
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=serve_one, args=(peer, log, int(members)), daemon=True).start()


def reach(host, port, source=None):
    s = socket.socket()
    s.settimeout(10)
    if source:
        s.bind((source, 0))
    try:
        s.connect((host, int(port)))
    except OSError:
        s.close()
        return None
    return s


def hold(peers, piece):
    print("open %d" % len(peers), flush=True)
    while True:
        for s in peers:
            try:
                if piece:
                    s.send(piece)
            except OSError:
                pass
        time.sleep(1)


def slow(host, port, n):
    """A connection that the server ended is opened anew, until the test is over."""
    peers = [None] * int(n)
    told = False
    while True:
        for i, s in enumerate(peers):
            try:
                if s is None:
                    s = peers[i] = reach(host, port, "127.9.%d.1" % (i % 64))
                    if s:
                        s.send(b"GET /ufmRest/app/ufm_version HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                elif s:
                    s.send(b"x")
            except OSError:
                s.close()
                peers[i] = None
        if not told:
            print("open %d" % sum(1 for s in peers if s), flush=True)
            told = True
        time.sleep(1)


def readers(host, port, n, target):
    peers = []
    for i in range(int(n)):
        s = reach(host, port, "127.9.%d.1" % (i % 64))
        if s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.send(("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n\r\n" % (target, os.environ["AUTH"])).encode())
            peers.append(s)
    hold(peers, b"")


def raw(host, port):
    s = reach(host, port)
    s.settimeout(20)
    text = sys.stdin.buffer.read()
    got = b""
    try:
        s.sendall(text)
    except OSError:
        pass
    try:
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            got += piece
    except OSError:
        pass
    for line in got.split(b"\r\n"):
        # Behind a body that does not end in a line the next answer begins.
        at = line.find(b"HTTP/1.1 ")
        if at >= 0:
            print(line[at + 9:at + 12].decode())
    if not got:
        print("closed")


def port():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
