# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libcongestion.a
libcongestion_a_SOURCES = opensm/congestion/congestion.c opensm/congestion/congestion.h \
	opensm/congestion/congestion_internal.h opensm/congestion/ask.c opensm/congestion/log.c \
	opensm/congestion/want.c opensm/congestion/want.h
CONGESTION_LIBS = libcongestion.a

UNIT_TESTS += tests/unit/test-congestion
tests_unit_test_congestion_SOURCES = tests/unit/test-congestion.c opensm/daemon/counters.c
tests_unit_test_congestion_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_congestion_LDADD = libcongestion.a $(RIG_LIBS) $(CMOCKA_LIBS)
