# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libhealth.a
libhealth_a_SOURCES = opensm/health/judge.c opensm/health/judge.h opensm/health/judge_internal.h opensm/health/judge_state.c opensm/health/judge_former.c
HEALTH_LIBS = libhealth.a $(UTIL_LIBS)

UNIT_TESTS += tests/unit/test-health-judge
tests_unit_test_health_judge_LDADD = $(HEALTH_LIBS) $(CMOCKA_LIBS)
