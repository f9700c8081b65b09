# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libperf.a
libperf_a_SOURCES = opensm/perf/perf.c opensm/perf/perf.h opensm/perf/perf_internal.h opensm/perf/totals.c \
	opensm/perf/answer.c opensm/perf/growth.c opensm/perf/admin.c \
	opensm/perf/decode.c opensm/perf/decode.h opensm/perf/kinds.h opensm/perf/print.c
PERF_LIBS = libperf.a $(SYNC_LIBS) $(PLAN_LIBS) $(FABRIC_LIBS)

UNIT_TESTS += tests/unit/test-perf
tests_unit_test_perf_SOURCES = tests/unit/test-perf.c opensm/daemon/counters.c
tests_unit_test_perf_LDADD = libperf.a libcongestion.a $(RIG_LIBS) $(CMOCKA_LIBS)

# What polling costs: `make bench-perf && ./bench-perf 36`.
EXTRA_PROGRAMS += bench-perf
bench_perf_SOURCES = tests/bench/bench-perf.c opensm/daemon/counters.c
bench_perf_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_perf_LDADD = libperf.a libcongestion.a $(RIG_LIBS) $(SIM_LIBS)

# libibmad is the oracle of ib/pm.h.
UNIT_TESTS += tests/unit/test-pm
tests_unit_test_pm_SOURCES = tests/unit/test-pm.c tests/unit/ibmad-oracle-pm.c tests/unit/ibmad-oracle-pm.h \
	$(ORACLE_SOURCES) opensm/perf/decode.c
tests_unit_test_pm_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
tests_unit_test_pm_LDADD = $(IB_LIBS) $(IBMAD_LIBS) $(CMOCKA_LIBS)
