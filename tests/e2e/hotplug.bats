#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A port that comes: udev says so, and the launcher starts an instance on it. The message is one as udevd sends it, in a
# network of its own; without it the launcher would look by itself after 30 s only.
# needs: root
load lib

LAUNCHER=${LAUNCHER:-$abs_top_builddir/libexec/opensm-launch}
GUID=0x0000000000000011

setup() {
	WORK=$BATS_TEST_TMPDIR
	cd "$WORK" || return 1
	mkdir -p etc run cache log sys/infiniband_mad
	echo PORTS=ALL >defaults
	printf '#!/bin/sh\nexec sleep 1000\n' >program
	chmod +x program
	LAUNCH_PID=
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED:-}" ] || sed 's/^/# /' out
	[ -z "$LAUNCH_PID" ] || { kill "$LAUNCH_PID" && wait "$LAUNCH_PID"; }
}

# Its own network, and the sign that there is a udevd, which makes it poll slowly.
launch_start() {
	unshare --net --mount bash -c 'mkdir -p /run/udev && mount -t tmpfs none /run/udev && : >/run/udev/control && exec "$@"' \
		sh "$LAUNCHER" --conf-dir "$WORK/etc" --sysconfig "$WORK/none" --defaults "$WORK/defaults" --run-dir "$WORK/run" \
		--cache-dir "$WORK/cache" --log-dir "$WORK/log" --program "$WORK/program" --sys-dir "$WORK/sys" >out 2>&1 3>&- &
	LAUNCH_PID=$!
	wait_for 10 test -e run/instances.json
}

port_comes() {
	mkdir -p sys/infiniband/x0/ports/1/gids sys/infiniband_mad/umad0
	echo InfiniBand >sys/infiniband/x0/ports/1/link_layer
	echo fe80:0000:0000:0000:0000:0000:0000:0011 >sys/infiniband/x0/ports/1/gids/0
	echo x0 >sys/infiniband_mad/umad0/ibdev
	echo 1 >sys/infiniband_mad/umad0/port
}

# As udevd to those who listen: a magic, lengths, a hash of the subsystem for their filters, properties.
udev_says() {
	nsenter --net --target "$LAUNCH_PID" python3 - <<-'END'
		import socket, struct
		M = 0xffffffff
		def murmur2(data):
		    h, m = len(data), 0x5bd1e995
		    while len(data) >= 4:
		        k = struct.unpack('<I', data[:4])[0] * m & M
		        k = (k ^ k >> 24) * m & M
		        h = h * m & M ^ k
		        data = data[4:]
		    if data:
		        h = (h ^ int.from_bytes(data, 'little')) * m & M
		    h = (h ^ h >> 13) * m & M
		    return h ^ h >> 15
		subsystem = b'infiniband_mad'
		properties = b'\0'.join([b'ACTION=add', b'DEVPATH=/devices/x/infiniband_mad/umad0', b'SUBSYSTEM=' + subsystem,
		    b'DEVNAME=/dev/infiniband/umad0', b'SEQNUM=1', b'MAJOR=231', b'MINOR=0', b''])
		header = b'libudev\0' + struct.pack('>I', 0xfeedcafe) + struct.pack('=III', 40, 40, len(properties)) + \
		    struct.pack('>I', murmur2(subsystem)) + struct.pack('=III', 0, 0, 0)
		s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_KOBJECT_UEVENT if hasattr(socket,
		    'NETLINK_KOBJECT_UEVENT') else 15)
		s.sendto(header + properties, (0, 2))
	END
}

@test "udev tells of a port: it gets its instance" {
	launch_start
	grep -q '"instances":\[\]\|"instances":\[$' run/instances.json
	port_comes
	udev_says
	wait_for 20 grep -q "instance $GUID starts" out
}
