# SPDX-License-Identifier: BSD-2-Clause
# Common ground of scripts/demo and scripts/test: where we are, what must be installed. Sourced only.
# shellcheck shell=bash

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# Where the tools of administrators are; a user's shell may not look there.
PATH=$PATH:/usr/sbin:/sbin

say() {
	printf '%s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Runs a command as root: directly, or through sudo.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root or sudo for: $*"
	fi
}

# Debian packages of the arguments that are not installed.
missing_packages() {
	local package

	for package; do
		dpkg-query -W -f '${db:Status-Abbrev}\n' "$package" 2>/dev/null | grep -q '^ii' ||
			printf '%s\n' "$package"
	done
}

# Installs what is missing of the arguments; touches nothing, not even the network, if nothing is.
need_packages() {
	local missing

	command -v dpkg-query >/dev/null || {
		say "not a Debian system: install the equivalents of: $*"
		return 0
	}
	mapfile -t missing < <(missing_packages "$@")
	[ "${#missing[@]}" -gt 0 ] || return 0
	say "installing: ${missing[*]}"
	as_root apt-get update -qq </dev/null || say "apt-get update failed; going on with the lists there are"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		"${missing[@]}" </dev/null >/dev/null || die "could not install: ${missing[*]}"
}

# shellcheck disable=SC2034 # used by scripts that source this
build_packages=(gcc libc6-dev make autoconf automake pkg-config libibumad-dev libibmad-dev
	libsystemd-dev libjson-c-dev libmicrohttpd-dev libgnutls28-dev libcrypt-dev
	nettle-dev libsqlite3-dev libiniparser-dev zlib1g-dev)
# shellcheck disable=SC2034
fabric_packages=(ibsim-utils infiniband-diags ibutils)
# For tests/e2e/report.bats.
# shellcheck disable=SC2034 # used by scripts/test
browser_packages=(chromium fonts-dejavu-core)
# For tests/e2e/opensmctl*.bats: readers of its output, and a list of connections.
# shellcheck disable=SC2034
reader_packages=(graphviz slurm-client jq python3-yaml iproute2)
# For tests/systemd, which boots machines made of what is installed here.
# shellcheck disable=SC2034
machine_packages=(systemd procps logrotate)
# For sim/serve, the fabric that other people's programs run on.
# shellcheck disable=SC2034
serve_packages=(libfuse3-dev fuse3)
# For scripts/package.
# shellcheck disable=SC2034
deb_packages=(build-essential debhelper dpkg-dev fakeroot)
# shellcheck disable=SC2034
rpm_packages=(rpm bzip2 selinux-policy-dev)
# For scripts/image and its test: the image, what runs it, schemas of Kubernetes.
# shellcheck disable=SC2034
image_packages=(umoci podman crun python3-kubernetes)

# Autotools and make cannot live in a path with blanks, nor build beside a tree that was configured in
# place: from such a tree we work in a copy.
leave_if_unfit() {
	local copy status=0 script=${0##*/}

	case $top in
	*[!A-Za-z0-9_./+@%,=-]*) ;;
	*) [ -e "$top/config.status" ] || return 0 ;;
	esac
	copy=$(mktemp -d /tmp/opensm-tree.XXXXXX)
	tar -C "$top" --exclude=./build --exclude=./.git -cf - . | tar -xf - -C "$copy"
	if [ -e "$copy/config.status" ]; then
		make -C "$copy" distclean >/dev/null 2>&1
		rm -f "$copy/config.status"
	fi
	say "make cannot build beside this tree (blanks in its path, or configured in place): working in $copy"
	"$copy/scripts/$script" "$@" || status=$?
	rm -rf "$copy"
	exit "$status"
}

# Generates configure if it is not there or older than what it is made from.
bootstrap() {
	local stamp=$top/config/bootstrap.stamp

	if [ -x "$top/configure" ] && [ -f "$top/Makefile.in" ] && [ -f "$stamp" ] &&
		[ -z "$(find "$top" -path "$top/build*" -prune -o -newer "$stamp" \
			\( -name configure.ac -o -name Makefile.am -o -name '*.mk' \) -print -quit)" ]; then
		return 0
	fi
	(cd "$top" && autoreconf -i) && touch "$stamp"
}
