#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# needs: root
# The OCI image, made of the package and run by podman on a simulated fabric, by the commands of man/guides/containers.md;
# and the manifest for Kubernetes.
# shellcheck disable=SC2154 # of lib.bash
bats_require_minimum_version 1.5.0

load lib
PAGE=$abs_top_srcdir/man/guides/containers.md

setup_file() {
	cd "$abs_top_srcdir"
	OUT=$BATS_FILE_TMPDIR/opensm-image scripts/image
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	export IBFAB_DIR=$BATS_TEST_TMPDIR/fabric
}

teardown() {
	"$IBFAB" stop >/dev/null 2>&1 || true
}

# commands HEADING: the commands of a section of the page.
commands() {
	awk -v heading="## $1" '/^## / { here = $0 == heading } here && sub(/^    /, "")' "$PAGE"
}

# What the simulation has otherwise than a host: devices are no device nodes, so that they are mounted; podman's storage is
# ours; control groups and limits are not to be had in every container in which tests run; there is no udev.
stand_ins() {
	mkdir bin
	cat >bin/podman <<'END'
#!/usr/bin/env bash
own=(--root "$STORE/store" --runroot "$STORE/run" --storage-driver vfs --cgroup-manager cgroupfs --runtime crun --events-backend none)
word=$1
shift
[ "$word" != run ] || set -- --cgroups disabled --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --volume /sys:/sys:ro "${@/#--device/--volume}"
for i; do
	case $i in
	/dev/infiniband/*) i=$i:$i ;;
	esac
	words+=("$i")
done
exec /usr/bin/podman "${own[@]}" "$word" "${words[@]}"
END
	# shellcheck disable=SC2016 # of the script
	printf '#!/bin/sh\n[ "$1" = control ] || [ "$1" = trigger ]\n' >bin/udevadm
	chmod 755 bin/*
	PATH=$PWD/bin:$PATH
}

# On node h0, whose /etc and /var/cache are in memory: what is written there is gone afterwards.
on_the_host() {
	umount /sys/fs/cgroup/unified 2>/dev/null || true # crun takes either kind of control groups, not both
	mount -t tmpfs image-test "$STORE"
	mkdir "$STORE"/{etc,etc.work}
	mount -t overlay -o "lowerdir=/etc,upperdir=$STORE/etc,workdir=$STORE/etc.work" image-test /etc
	mount -t tmpfs image-test /var/cache
	mkdir -p build /etc/udev/rules.d
	ln -s "$BATS_FILE_TMPDIR" build/packages
	(set -e; eval "$(commands 'The image' | grep -v '^scripts/image$')") && (set -e; eval "$(commands 'What the host gives')") && run_it
}

logged() {
	podman logs opensm >log 2>&1 && grep -q "$1" log
}

# The commands of the section one by one, with a look between them.
run_it() {
	commands podman >all
	mapfile -t lines < <(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' all)
	[ "${#lines[@]}" -eq 7 ] || { echo "the page has ${#lines[@]} commands"; return 1; }
	echo 'Default=0x7fff, ipoib : ALL=full; blue=0x5 : ALL=full;' >/etc/rdma/partitions.conf
	eval "${lines[0]}" || return 1
	wait_for 30 logged 'SUBNET UP' || { cat log; return 1; }
	eval "${lines[1]}" >log 2>&1 && grep -q 'Entering MASTER state' log || return 1
	eval "${lines[2]}" | tee status | grep -q 'MASTER .* port sim0/1' || { cat status; return 1; }
	grep -q 'subnet  *up, 8 hosts' status || return 1
	eval "${lines[3]}" || return 1
	[ "$(podman exec opensm id)" = 'uid=10001(opensm) gid=0(root) groups=0(root)' ] || return 1
	podman exec opensm cat /proc/1/status | grep -E '^(Cap(Eff|Prm|Bnd)|NoNewPrivs)' | awk '{ print $2 }' | sort | xargs >rights
	[ "$(cat rights)" = "0000000000000000 0000000000000000 0000000000000000 1" ] || { cat rights; return 1; }
	! podman exec opensm touch /new 2>refused && grep -q 'Read-only file system' refused || return 1
	# another configuration, and SIGHUP
	echo 'Default=0x7fff, ipoib : ALL=full;' >/etc/rdma/partitions.conf
	eval "${lines[4]}" || return 1
	wait_for 20 logged 'SIGHUP' || { cat log; return 1; }
	[ "$(stat -c %u /var/cache/opensm/guid2lid)" = 10001 ] || return 1
	# ended by SIGTERM, of its own accord
	eval "${lines[5]}" || return 1
	[ "$(podman inspect --format '{{.State.ExitCode}}' opensm)" = 0 ] || return 1
	logged 'Exiting SM' || return 1
	eval "${lines[6]}"
}

@test "the image says what it is: labels, user, command; no file in it is setuid" {
	config=$BATS_TEST_TMPDIR/bundle/config.json
	umoci unpack --image "$BATS_FILE_TMPDIR/opensm-image:$VERSION" bundle >/dev/null
	[ "$(jq -c '[.process.user.uid, .process.user.gid]' "$config")" = '[10001,0]' ]
	[ "$(jq -c .process.args "$config")" = '["/usr/sbin/opensm","--log_file","stdout"]' ]
	[ "$(jq -r '.annotations["org.opencontainers.image.version"]' "$config")" = "$VERSION" ]
	[ "$(jq -r '.annotations["org.opencontainers.image.stopSignal"]' "$config")" = SIGTERM ]
	[[ $(chroot bundle/rootfs opensm --version) == *"$VERSION"* ]]
	[ -z "$(find bundle/rootfs -xdev -type f -perm /6000 -print -quit)" ]
	chroot bundle/rootfs dpkg -s opensm | grep -q '^Status: install ok installed'
}

@test "by the commands of the page: unprivileged, on a read-only root, the fabric comes up; SIGHUP, SIGTERM" {
	stand_ins
	export STORE=$BATS_TEST_TMPDIR/store PAGE abs_top_srcdir
	mkdir "$STORE"
	export -f on_the_host commands run_it logged wait_for
	"$IBFAB" start fat-tree2 4 >/dev/null 3>&-
	"$IBFAB" run h0 -- timeout 200 bash -c on_the_host
	"$IBFAB" check
}

@test "the manifest for Kubernetes has the form of its API, and its parts fit" {
	/usr/bin/python3 "$here/manifest_check.py" "$abs_top_srcdir/config/examples/kubernetes/opensm.yaml"
	# a check that finds nothing is none
	for change in 's/readOnlyRootFilesystem/readonlyRootFilesystem/' 's/periodSeconds: 2$/periodSeconds: two/' \
		's/matchLabels:/matchLabls:/' 's/mountPath: \/tmp/mountPath: \/var\/tmp/' 's/drop: .*/drop: ["KILL"]/'; do
		sed "$change" "$abs_top_srcdir/config/examples/kubernetes/opensm.yaml" >bad.yaml
		run -1 /usr/bin/python3 "$here/manifest_check.py" bad.yaml
		[ -n "$output" ]
	done
	# the user, the folders and the names are those of the image and the page
	grep -q 'runAsUser: 10001' "$abs_top_srcdir/config/examples/kubernetes/opensm.yaml"
	commands Kubernetes | grep -q 'opensm.infiniband/manager='
	grep -q 'opensm.infiniband/manager: ""' "$abs_top_srcdir/config/examples/kubernetes/opensm.yaml"
}
