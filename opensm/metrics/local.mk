# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libmetrics.a
libmetrics_a_SOURCES = opensm/metrics/gzip.c opensm/metrics/gzip.h opensm/metrics/metrics.c opensm/metrics/metrics.h opensm/metrics/metrics_counters.c \
	opensm/metrics/metrics_alarms.c opensm/metrics/metrics_mads.c opensm/metrics/metrics_manager.c opensm/metrics/metrics_sa.c opensm/metrics/metrics_subnet.c opensm/metrics/metrics_sweeps.c \
	opensm/metrics/metrics_fabric.c opensm/metrics/metrics_links.c opensm/metrics/metrics_security.c opensm/metrics/metrics_congestion.c opensm/metrics/metrics_topology.c opensm/metrics/metrics_rails.c opensm/metrics/metrics_internal.h opensm/metrics/metrics_tally.c \
	opensm/metrics/metrics_tally.h opensm/metrics/metrics_ledger.c opensm/metrics/metrics_tenants.c opensm/metrics/metrics_text.c opensm/metrics/metrics_text.h

UNIT_TESTS += tests/unit/test-gzip
tests_unit_test_gzip_LDADD = libmetrics.a $(UTIL_LIBS) $(ZLIB_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-metrics
tests_unit_test_metrics_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)

# What a page of metrics costs: `make bench-metrics && ./bench-metrics 36`.
EXTRA_PROGRAMS += bench-metrics
bench_metrics_SOURCES = tests/bench/bench-metrics.c
bench_metrics_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_metrics_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(ZLIB_LIBS)
