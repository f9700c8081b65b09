# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libplan.a
libplan_a_SOURCES = opensm/plan/lid.c opensm/plan/lid.h opensm/plan/link.c opensm/plan/link.h
PLAN_LIBS = libplan.a $(ROUTE_LIBS) $(CONF_LIBS)

UNIT_TESTS += tests/unit/test-lid
tests_unit_test_lid_SOURCES = tests/unit/test-lid.c
tests_unit_test_lid_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)
