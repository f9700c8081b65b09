# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += liboffline.a
liboffline_a_SOURCES = opensm/offline/offline.c opensm/offline/offline.h opensm/offline/verify.c opensm/offline/verify.h \
	opensm/offline/verify_lost.c opensm/offline/verify_mcast.c opensm/offline/verify_read.c opensm/offline/verify_text.c opensm/offline/verify_json.c \
	opensm/offline/plan.c opensm/offline/plan.h opensm/offline/plan_args.c opensm/offline/plan_read.c opensm/offline/plan_route.c \
	opensm/offline/plan_fail.c opensm/offline/plan_hosts.c opensm/offline/plan_rails.c opensm/offline/plan_bill.c opensm/offline/plan_then.c opensm/offline/plan_drain.c opensm/offline/plan_drain_text.c opensm/offline/plan_worst.c opensm/offline/plan_text.c opensm/offline/plan_json.c \
	opensm/offline/plan_dump.c opensm/offline/plan_svg.c opensm/offline/plan_heat.c opensm/offline/base/svg.c opensm/offline/base/svg.h opensm/offline/base/layout.c opensm/offline/base/layout.h \
	opensm/offline/base/cut.c opensm/offline/base/cut.h opensm/offline/base/figures.c opensm/offline/base/figures.h opensm/offline/base/traffic.c opensm/offline/base/traffic.h \
	opensm/offline/base/output.c opensm/offline/base/output.h opensm/offline/base/lanefile.c opensm/offline/base/lanefile.h \
	opensm/offline/diff.c opensm/offline/diff_json.c opensm/offline/findings_json.c
OFFLINE_LIBS = liboffline.a $(FRONT_LIBS) -lm

UNIT_TESTS += tests/unit/test-plan
tests_unit_test_plan_SOURCES = tests/unit/test-plan.c tests/lib/topogen.c tests/lib/topogen.h tests/unit/route-desk.h
tests_unit_test_plan_LDADD = $(OFFLINE_LIBS) $(CMOCKA_LIBS) -lm

UNIT_TESTS += tests/unit/test-traffic
tests_unit_test_traffic_SOURCES = tests/unit/test-traffic.c tests/lib/topogen.c tests/lib/topogen.h tests/unit/route-desk.h
tests_unit_test_traffic_LDADD = $(OFFLINE_LIBS) $(CMOCKA_LIBS) -lm

UNIT_TESTS += tests/unit/test-threads
tests_unit_test_threads_SOURCES = tests/unit/test-threads.c tests/lib/topogen.c tests/lib/topogen.h tests/unit/route-desk.h \
	opensm/offline/base/figures.c opensm/offline/base/cut.c opensm/offline/base/traffic.c
tests_unit_test_threads_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-verify
tests_unit_test_verify_SOURCES = tests/unit/test-verify.c tests/lib/topogen.c tests/lib/topogen.h tests/unit/route-desk.h
tests_unit_test_verify_LDADD = $(OFFLINE_LIBS) $(CMOCKA_LIBS) -lm

UNIT_TESTS += tests/unit/test-mutations
tests_unit_test_mutations_SOURCES = tests/unit/test-mutations.c tests/lib/topogen.c tests/lib/topogen.h tests/unit/route-desk.h
tests_unit_test_mutations_LDADD = $(OFFLINE_LIBS) $(CMOCKA_LIBS) -lm

UNIT_TESTS += tests/unit/test-odd
tests_unit_test_odd_LDADD = $(OFFLINE_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS) -lm

# The helper of tests/bench/bench-engines.
EXTRA_PROGRAMS += bench-engines-row
bench_engines_row_SOURCES = tests/bench/bench-row.c $(TABLES)
bench_engines_row_LDADD = $(OFFLINE_LIBS) -lm
EXTRA_PROGRAMS += bench-auto
bench_auto_SOURCES = tests/bench/bench-auto.c tests/lib/tables.h $(TOPOCUT)
bench_auto_LDADD = $(OFFLINE_LIBS) -lm

# What a patch costs: `make bench-patch && ./bench-patch -e "minhop updn" fat-tree3 36`.
EXTRA_PROGRAMS += bench-patch
bench_patch_SOURCES = tests/bench/bench-patch.c $(TOPOCUT)
bench_patch_LDADD = $(OFFLINE_LIBS) -lm
EXTRA_DIST += tests/bench/bench-engines tests/bench/bench-table tests/bench/bench-table.awk tests/bench/bench-trees tests/bench/engines.tsv tests/bench/engines.md tests/e2e/preload/umadgap.c
