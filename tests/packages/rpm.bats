#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# needs: root
# The rpm packages: what is in them, what their scripts do.
# shellcheck disable=SC2154 # of lib.bash
bats_require_minimum_version 1.5.0

load lib

setup_file() {
	root_unpack
}

teardown_file() {
	root_remove
}

setup() {
	FABRIC=
	RPM=$(echo "$PACKAGES"/opensm-"$VERSION"-*.x86_64.rpm)
	export RPM
}

teardown() {
	[ -z "$FABRIC" ] || machine_stop
}

machine_fill() {
	cp "$RPM" "$1/root/opensm.rpm"
	[ ! -e "$BATS_TEST_TMPDIR/old.rpm" ] || cp "$BATS_TEST_TMPDIR/old.rpm" "$1/root"
}

# Debian's rpm wants to be asked twice; the names of dependencies are those of other distributions.
machine_rpm() {
	box_run rpm --force-debian --nodeps "$@"
}

# Red Hat's package, in what matters here.
old_package() {
	rpmbuild -bb --define "_topdir $BATS_TEST_TMPDIR/rpm" --define "program $abs_top_builddir/sbin/opensm" \
		"$here/old.rpmspec" >"$BATS_TEST_TMPDIR/rpmbuild.log" 2>&1
	cp "$BATS_TEST_TMPDIR"/rpm/RPMS/*/opensm-3*.rpm "$BATS_TEST_TMPDIR/old.rpm"
}

running() {
	[ "$(box_run systemctl is-active opensm)" = active ] && fabric_is_up
}

@test "rpmlint has nothing to say" {
	run -0 rpmlint -c "$here/rpmlint.toml" "$PACKAGES"/opensm-*.rpm "$abs_top_srcdir/opensm.spec"
	echo "$output"
	[[ $output == *" 0 errors, 0 warnings"* ]]
}

@test "the packages hold what they must" {
	list=$(rpm -qpl "$RPM")
	for file in /usr/sbin/opensm /usr/sbin/opensm-rest /usr/lib/systemd/system/opensm-rest.service \
		/usr/lib/sysusers.d/opensm.conf /usr/share/doc/opensm/examples/opensm-rest.conf /usr/bin/opensmctl /usr/libexec/opensm-launch /usr/lib/systemd/system/opensm.service \
		/usr/lib/systemd/system/opensm@.service /usr/lib/udev/rules.d/90-opensm.rules \
		/usr/share/doc/opensm/guides/migration.md /usr/share/doc/opensm/guides/troubleshooting.md \
		/usr/lib/tmpfiles.d/opensm.conf /etc/logrotate.d/opensm /var/cache/opensm /etc/rdma; do
		grep -qx "$file" <<<"$list" || { echo "$file is missing"; return 1; }
	done
	grep -q '^/usr/share/man/man8/opensm\.8' <<<"$list"
	# an update never writes over a changed file, nor removes it
	[ "$(rpm -qp --qf '[%{FILEFLAGS:fflags} %{FILENAMES}\n]' "$RPM" | sed -n 's/^cn //p' | sort | xargs)" = \
		"/etc/logrotate.d/opensm /etc/rdma/opensm.conf /etc/rdma/partitions.conf /etc/sysconfig/opensm" ]
	rpm -qpl "$PACKAGES"/opensm-devel-"$VERSION"-*.noarch.rpm | grep -q '^/usr/include/opensm/.*\.h$'
	for script in preinstall postinstall preuninstall postuninstall posttrans; do
		rpm -qp --scripts "$RPM" | grep -q "^$script scriptlet"
	done
	rpm -qp --scripts "$RPM" | grep -q 'try-restart opensm.service'
	run ! grep -E 'rm .*/var/cache/opensm( |/?\*|$)' <(rpm -qp --scripts "$RPM")
}

# spec DEFINITION: the spec as a distribution reads it.
spec() {
	rpmspec -P --define "$1" "$abs_top_srcdir/opensm.spec"
}

@test "one spec for Fedora, EPEL and openSUSE: folders, names of packages, macros of services, the policy module" {
	cd "$BATS_TEST_TMPDIR"
	for distribution in 'fedora 41' 'rhel 9' 'suse_version 1600'; do
		spec "$distribution" >as_read
		case $distribution in
		suse*)
			grep -qx '%config(noreplace) /etc/opensm/opensm.conf' as_read
			grep -qx 'BuildRequires:  libiniparser-devel' as_read
			run ! grep -i selinux-policy as_read
			;;
		*)
			grep -qx '%config(noreplace) /etc/rdma/opensm.conf' as_read
			grep -qx 'BuildRequires:  iniparser-devel' as_read
			grep -qx 'BuildRequires:  selinux-policy-devel' as_read
			;;
		esac
		run ! grep -E '%\{|%(if|else|endif)' <(grep -v "^#" as_read)
	done
	# where its macros are defined, SUSE's scripts call them
	rpmspec -P --define 'suse_version 1600' --define 'service_add_pre pre_of_suse' --define 'service_add_post post_of_suse' \
		--define 'service_del_preun preun_of_suse' --define 'service_del_postun postun_of_suse' "$abs_top_srcdir/opensm.spec" >as_read
	for word in pre_of_suse post_of_suse preun_of_suse postun_of_suse; do
		grep -qx "$word opensm.service opensm-rest.service" as_read
	done
}

@test "the policy module of SELinux compiles, and its files are those of the package" {
	cd "$BATS_TEST_TMPDIR"
	cp "$abs_top_srcdir"/config/selinux/opensm.{te,fc,if} .
	make -s -f /usr/share/selinux/devel/Makefile NAME=targeted opensm.pp >said 2>&1 || { cat said; return 1; }
	run ! grep -iE 'error|warning' said
	semodule_unpackage opensm.pp module contexts
	grep -q 'system_u:object_r:opensm_exec_t:s0' contexts
	# each program and unit has a type of ours
	rpm -qpl "$RPM" | grep -E '^/usr/(sbin/|libexec/|lib/systemd/system/)' >files
	while read -r file; do
		awk -v file="$file" '$1 ~ /^\// && file ~ "^" $1 "$" { found = 1 } END { exit !found }' contexts || { echo "no type for $file"; return 1; }
	done <files
	# and so have the folders of the units
	for path in /run/opensm/opensm.sock /var/cache/opensm/guid2lid /var/log/opensm.log /var/lib/private/opensm-rest/tokens; do
		awk -v file="$path" '$1 ~ /^\// && file ~ "^" $1 "$" { found = 1 } END { exit !found }' contexts || { echo "no type for $path"; return 1; }
	done
	rpm -qpl "$PACKAGES"/opensm-selinux-"$VERSION"-*.noarch.rpm | grep -qx /usr/share/selinux/packages/targeted/opensm.pp.bz2
	rpm -qp --scripts "$PACKAGES"/opensm-selinux-"$VERSION"-*.noarch.rpm | grep -q 'semodule .*-X 200 -i'
}

@test "installed into an empty folder, the programs run" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	rpm --force-debian --root "$BATS_TEST_TMPDIR/empty" --nodeps --noscripts -i "$RPM"
	cd "$BATS_TEST_TMPDIR/empty"
	[[ $(./usr/sbin/opensm --version) == *"$VERSION"* ]]
	./usr/libexec/opensm-launch --version
	./usr/bin/opensmctl help >/dev/null
	# the configuration that comes with it says nothing but the defaults
	./usr/sbin/opensm -c "$BATS_TEST_TMPDIR/opensm.conf"
	diff "$BATS_TEST_TMPDIR/opensm.conf" etc/rdma/opensm.conf
}

@test "in a clean root: systemctl start opensm brings the fabric up; erasing keeps the LID cache" {
	machine_start
	box_run mkdir -p /etc/systemd/system-preset
	put /etc/systemd/system-preset/10-site.preset <<<'disable opensm.service'
	machine_rpm -i /root/opensm.rpm
	[ "$(box_run systemctl is-enabled opensm)" = disabled ]
	box_run systemctl start opensm
	wait_for 30 running
	lids=$(lids)
	[ "$(wc -l <<<"$lids")" -ge 8 ]
	machine_rpm -e opensm
	run ! box_run pgrep -x opensm
	[ "$(lids)" = "$lids" ]
	# The other preset: enabled, and left to be started.
	put /etc/systemd/system-preset/10-site.preset <<<'enable opensm.service'
	machine_rpm -i /root/opensm.rpm
	[ "$(box_run systemctl is-enabled opensm)" = enabled ]
	[ "$(box_run systemctl is-active opensm)" = inactive ]
}

@test "an update from Red Hat's package keeps what was changed, and the LID cache that it deletes" {
	old_package
	machine_start
	machine_rpm -i /root/old.rpm
	put /etc/rdma/partitions.conf <<<'Default=0x7fff, ipoib : ALL=full; blue=0x0123 : ALL=full;'
	put /etc/rdma/opensm.conf <<<'sweep_interval 7'
	put /etc/sysconfig/opensm <<<'PRIORITY=9'
	before=$(box_run sh -c 'sha256sum /etc/sysconfig/opensm /etc/rdma/*.conf')
	box_run systemctl start opensm
	wait_for 30 running
	# a host that is away now gets its LID back later
	wait_for 20 box_run grep -q . /var/cache/opensm/guid2lid
	put /var/cache/opensm/away <<<'0x00000000deadbeef 0x0777 0x0777'
	box_run sh -c 'systemctl stop opensm; cat /var/cache/opensm/away >>/var/cache/opensm/guid2lid; systemctl start opensm'
	wait_for 30 running
	lids=$(lids)
	grep -q 0x00000000deadbeef <<<"$lids"

	machine_rpm -U /root/opensm.rpm
	wait_for 30 running
	[ "$(box_run sh -c 'sha256sum /etc/sysconfig/opensm /etc/rdma/*.conf')" = "$before" ]
	[ "$(lids)" = "$lids" ]
	run ! box_run sh -c 'ls /etc/rdma/*.rpmsave /var/lib/rpm-state/opensm /var/cache/opensm/.updating'
	box_run pgrep -x opensm-launch
	box_run cat "/proc/$(box_run pgrep -x opensm)/cmdline" | tr '\0' ' ' | grep -q -- '-p 9'
}

@test "another opensm's partitions in /etc/opensm: nothing is installed" {
	machine_start
	box_run mkdir -p /etc/opensm
	put /etc/opensm/partitions.conf <<<'Default=0x7fff : ALL=limited;'
	run ! machine_rpm -i /root/opensm.rpm
	[[ $output == *"/etc/opensm/partitions.conf is there"* ]]
	run ! box_run test -e /usr/sbin/opensm
}
