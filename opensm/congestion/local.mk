# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libcongestion.a
libcongestion_a_SOURCES = opensm/congestion/congestion.c opensm/congestion/entries.c opensm/congestion/congestion.h \
	opensm/congestion/congestion_internal.h opensm/congestion/ask.c opensm/congestion/log.c \
	opensm/congestion/want.c opensm/congestion/want.h opensm/congestion/links.c opensm/congestion/rates.c \
	opensm/congestion/numbers.c opensm/congestion/numbers.h
CONGESTION_LIBS = libcongestion.a

UNIT_TESTS += tests/unit/test-congestion tests/unit/test-congestion-profile
tests_unit_test_congestion_SOURCES = tests/unit/test-congestion.c tests/unit/congestion-world.h opensm/daemon/counters.c
tests_unit_test_congestion_LDADD = libcongestion.a $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_congestion_profile_SOURCES = tests/unit/test-congestion-profile.c tests/unit/congestion-world.h \
	opensm/daemon/counters.c
tests_unit_test_congestion_profile_LDADD = libcongestion.a $(RIG_LIBS) $(CMOCKA_LIBS)
