# SPDX-License-Identifier: BSD-2-Clause
# Needs root and the packages that scripts/package makes: not with `make check`. deb.bats is the longest: first.
PACKAGE_TESTS = tests/packages/deb.bats tests/packages/rpm.bats tests/packages/dist.bats tests/packages/image.bats
EXTRA_DIST += $(PACKAGE_TESTS) tests/packages/lib.bash tests/packages/in-minimal tests/packages/make-root tests/packages/old.rpmspec tests/packages/rpmlint.toml tests/packages/manifest_check.py

check-packages: all sim/serve/ibfab
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(PACKAGE_TESTS)' $(CHECK_TOOLS_ONLY)
.PHONY: check-packages
