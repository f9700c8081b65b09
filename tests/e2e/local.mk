# SPDX-License-Identifier: BSD-2-Clause
E2E_TESTS += tests/e2e/umad.bats tests/e2e/devices.bats tests/e2e/fabric.bats tests/e2e/life.bats tests/e2e/elect.bats tests/e2e/conf-peer.bats tests/e2e/dump.bats \
	tests/e2e/sa.bats tests/e2e/partitions.bats tests/e2e/restart.bats tests/e2e/events.bats tests/e2e/reload.bats
EXTRA_DIST += tests/e2e/run-bats tests/e2e/sa-cases tests/bench/bench-fabric tests/bench/bench-event tests/bench/bench-takeover tests/bench/bench-drains tests/bench/bench-report tests/bench/probe.py tests/bench/lib.bash tests/bench/README.md tests/e2e/lib.bash tests/e2e/umad.bash tests/e2e/README.md tests/e2e/preload/reg81.c tests/e2e/preload/umadcount.c tests/e2e/preload/hang.c tests/e2e/preload/die.c tests/bench/bench-devices
E2E_TESTS += tests/e2e/replica.bats tests/e2e/launch.bats tests/e2e/console.bats
E2E_TESTS += tests/e2e/opensmctl-show.bats
E2E_TESTS += tests/e2e/opensmctl.bats tests/e2e/standby-conf.bats

# Shared objects to preload into other people's programs: no libtool, never installed, no sanitizers.
E2E_PRELOADS = tests/e2e/preload/reg81.so tests/e2e/preload/umadcount.so tests/e2e/preload/hang.so tests/e2e/preload/die.so
check_DATA = $(E2E_PRELOADS)
CLEANFILES += $(E2E_PRELOADS)
PRELOAD_LINK = $(AM_V_CCLD)$(MKDIR_P) tests/e2e/preload && $(CC) $(IBUMAD_CFLAGS) $(CFLAGS) -Wall -Wextra \
	-shared -fPIC

tests/e2e/preload/reg81.so: tests/e2e/preload/reg81.c
	$(PRELOAD_LINK) -o $@ $(srcdir)/tests/e2e/preload/reg81.c -ldl
tests/e2e/preload/umadcount.so: tests/e2e/preload/umadcount.c
	$(PRELOAD_LINK) -o $@ $(srcdir)/tests/e2e/preload/umadcount.c -ldl
# For tests/bench/bench-engines, which makes it.
CLEANFILES += tests/e2e/preload/umadgap.so
tests/e2e/preload/umadgap.so: tests/e2e/preload/umadgap.c
	$(PRELOAD_LINK) -o $@ $(srcdir)/tests/e2e/preload/umadgap.c -ldl
tests/e2e/preload/hang.so: tests/e2e/preload/hang.c
	$(PRELOAD_LINK) -o $@ $(srcdir)/tests/e2e/preload/hang.c -ldl
tests/e2e/preload/die.so: tests/e2e/preload/die.c
	$(PRELOAD_LINK) -o $@ $(srcdir)/tests/e2e/preload/die.c -ldl
E2E_TESTS += tests/e2e/engine-dies.bats
E2E_TESTS += tests/e2e/plugin.bats tests/e2e/metrics.bats tests/e2e/living.bats
EXTRA_DIST += tests/e2e/metrics-lint.awk tests/e2e/metrics-rules.yml
E2E_TESTS += tests/e2e/log.bats tests/e2e/verify.bats tests/e2e/qos.bats tests/e2e/qos-policy.bats
E2E_TESTS += tests/e2e/plan.bats tests/e2e/diff.bats tests/e2e/worn.bats tests/e2e/worn-served.bats
E2E_TESTS += tests/e2e/tenants-storm.bats tests/e2e/tenants-faults.bats tests/e2e/ledger.bats tests/e2e/ledger-apart.bats
EXTRA_DIST += tests/e2e/ledger.bash
E2E_TESTS += tests/e2e/keys-storm.bats tests/e2e/attack.bats
E2E_TESTS += tests/e2e/rest-hostile.bats
EXTRA_DIST += tests/e2e/rest_peer.py
E2E_TESTS += tests/e2e/tenants.bats
E2E_TESTS += tests/e2e/marks.bats tests/e2e/congestion.bats tests/e2e/topology.bats tests/e2e/counters.bats
E2E_TESTS += tests/e2e/rest-replay.bats tests/e2e/rest-slurm.bats
EXTRA_DIST += tests/e2e/rest.bash
E2E_TESTS += tests/e2e/report.bats tests/e2e/pages.bats
EXTRA_DIST += tests/e2e/pages.py tests/e2e/pages.rows
EXTRA_DIST += tests/e2e/browse.py tests/e2e/planes.net
