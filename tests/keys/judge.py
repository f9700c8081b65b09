#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Can a manager reach the ports? Says which ones not, a line each; exit status 1 then.

  judge.py [--settled LEVEL] [--tally FILE] PORTS FOLDER

PORTS is what `ibfab keys` says of the devices; FOLDER is the cache folder of a manager as it lies on the disk. A port that has
a key must be opened by guid2mkey, or by a key that the ring makes for it: of each seed the last epoch and fifteen before;
or, as its manager may have died when that was written, the one behind that of guid2mkey, 256 epochs back at most.
With --settled every port has the key of the seed and epoch in force, and this level.

--tally adds a line "FORCE FORMER STORED NONE": how many ports have the key in force, one of before, one that only guid2mkey
knows, and none. Keys are made here anew from their definition (keys/key_ring.h), not by the code under test.
"""
import argparse
import hashlib
import hmac
import os
import sys

FORMER = 15
AFTER = 256
SHARED = 0  # in place of an epoch: the seed is one key for all ports
ALL_ONES = (1 << 64) - 1


def key_of(seed, guid, epoch):
    if epoch == SHARED:
        return int.from_bytes(seed[:8], "big")
    for turn in range(3):
        text = b"opensm\x01" + guid.to_bytes(8, "big") + epoch.to_bytes(4, "big") + bytes([turn])
        key = int.from_bytes(hmac.new(seed, text, hashlib.sha256).digest()[:8], "big")
        if key not in (0, ALL_ONES):
            break
    return key


def read_lines(path):
    try:
        with open(path, encoding="ascii") as lines:
            return lines.read().splitlines()
    except FileNotFoundError:
        return []


def read_ring(folder):
    """(seed, epoch) of each seed, the one in force first."""
    lines = read_lines(os.path.join(folder, "m_key_ring"))
    if not lines:
        return []
    if lines[0] != "opensm M_Key ring 1" or not lines[-1].startswith("check "):
        sys.exit("m_key_ring of %s is no ring" % folder)
    return [(bytes.fromhex(seed), int(epoch)) for seed, epoch in map(str.split, lines[1:-1])]


def read_stored(folder):
    pairs = map(str.split, read_lines(os.path.join(folder, "guid2mkey")))
    return {int(pair[0], 16): int(pair[1], 16) for pair in pairs if pair}


def read_ports(path):
    for line in read_lines(path):
        words = line.split()
        if words[0] == "port":
            yield int(words[1], 16), int(words[2], 16), int(words[3]), " port ".join(words[6:8])


def epochs_of(last):
    """Those that ports may have keys of."""
    return [last] if last == SHARED else range(last, max(last - FORMER - 1, 0), -1)


def is_after(guid, key, ring, stored):
    """Is it the key of the epoch behind the one of the stored key?"""
    return any(stored == key_of(seed, guid, epoch) and key == key_of(seed, guid, epoch + 1)
               for seed, last in ring if last != SHARED for epoch in range(last - 1, max(last - AFTER - 1, 0), -1))


def kind_of(guid, key, ring, stored):
    """Which of what the manager has opens the port; None: nothing."""
    if not key:
        return "none"
    if ring and key == key_of(ring[0][0], guid, ring[0][1]):
        return "force"
    for seed, last in ring:
        if any(key == key_of(seed, guid, epoch) for epoch in epochs_of(last)):
            return "former"
    if stored.get(guid) == key or guid in stored and is_after(guid, key, ring, stored[guid]):
        return "stored"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settled", type=int, default=0)
    parser.add_argument("--tally")
    parser.add_argument("ports")
    parser.add_argument("folder")
    args = parser.parse_args()
    ring, stored = read_ring(args.folder), read_stored(args.folder)
    counts = dict.fromkeys(("force", "former", "stored", "none"), 0)
    wrong = 0
    for guid, key, level, name in read_ports(args.ports):
        kind = kind_of(guid, key, ring, stored)
        if kind is None:
            print("%s (0x%016x) is locked out: neither m_key_ring nor guid2mkey has its key" % (name, guid))
        elif args.settled and (kind != "force" or level != args.settled):
            print("%s (0x%016x) has not the key in force and level %d: %s key, level %d" % (
                name, guid, args.settled, kind, level))
        else:
            counts[kind] += 1
            continue
        wrong += 1
    if not wrong and not any(counts.values()):
        print("no port was read")
        wrong = 1
    if args.tally:
        with open(args.tally, "a", encoding="ascii") as tally:
            print(*counts.values(), file=tally)
    sys.exit(1 if wrong else 0)


main()
