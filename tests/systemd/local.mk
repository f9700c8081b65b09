# SPDX-License-Identifier: BSD-2-Clause
# opensm.service in machines booted by the test: `make check-systemd`. Needs root or sudo.
SYSTEMD_TESTS = tests/systemd/faults.bats tests/systemd/modes.bats tests/systemd/journal.bats tests/systemd/life.bats \
	tests/systemd/windows.bats tests/systemd/rest.bats
EXTRA_DIST += $(SYSTEMD_TESTS) tests/systemd/box tests/systemd/guard tests/systemd/rig.bash tests/systemd/unit.bash \
	tests/systemd/two.net

CHECK_TOOLS += tests/systemd/udev-event
tests_systemd_udev_event_SOURCES = tests/systemd/udev-event.c

# What is tested is what `make install` puts where.
systemd_installed = $(abs_builddir)/tests/systemd/installed
check-systemd: all
	rm -rf '$(systemd_installed)'
	$(MAKE) $(AM_MAKEFLAGS) install DESTDIR='$(systemd_installed)'
	INSTALLED='$(systemd_installed)' $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(SYSTEMD_TESTS)' $(CHECK_TOOLS_ONLY)
	rm -rf '$(systemd_installed)'
.PHONY: check-systemd
