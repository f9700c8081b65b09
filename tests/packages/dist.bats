#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What a distributor starts from: the tarball.
# shellcheck disable=SC2154 # of lib.bash
bats_require_minimum_version 1.5.0

load lib

in_tarball() {
	tar -tf "$PACKAGES/opensm-$VERSION.tar.xz" | sed -n "s,^opensm-$VERSION/,,p" | grep -v '/$' | sort
}

# Every file of the repository but what is about the repository; in an unpacked tarball, every file there is.
in_tree() {
	if git -C "$abs_top_srcdir" rev-parse -q HEAD >/dev/null 2>&1; then
		git -C "$abs_top_srcdir" ls-files | grep -v '^\.git'
	else
		(cd "$abs_top_srcdir" && find debian opensm.spec -type f)
	fi | sort
}

@test "every file is in the tarball" {
	missing=$(comm -23 <(in_tree) <(in_tarball))
	echo "$missing"
	[ -z "$missing" ]
}

@test "one version, everywhere" {
	[ -n "$VERSION" ]
	[ "$(sed -n 's/^Version: *//p' "$abs_top_srcdir/opensm.spec")" = "$VERSION" ]
	[[ $(sed -n '1s/^opensm (\(.*\)-.*) .*/\1/p' "$abs_top_srcdir/debian/changelog") = "$VERSION" ]]
	[[ $("$abs_top_builddir/sbin/opensm" --version) == *"$VERSION"* ]]
}
