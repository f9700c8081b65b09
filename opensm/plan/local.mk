# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libplan.a
libplan_a_SOURCES = opensm/plan/lid.c opensm/plan/lid.h opensm/plan/link.c opensm/plan/link.h \
	opensm/plan/mft_order.c opensm/plan/mft_order.h \
	opensm/plan/pkey.c opensm/plan/pkey.h opensm/plan/pkey_member.c opensm/plan/pkey_place.c \
	opensm/plan/pkey_pool.c opensm/plan/pkey_port.c opensm/plan/pkey_internal.h \
	opensm/plan/qos.c opensm/plan/qos.h opensm/plan/slvl.c opensm/plan/slvl_count.c opensm/plan/slvl.h \
	opensm/plan/route_lists.c opensm/plan/route_lists.h
PLAN_LIBS = libplan.a $(ROUTE_LIBS) $(CONF_LIBS)

UNIT_TESTS += tests/unit/test-lid tests/unit/test-pkey tests/unit/test-pkey-random \
	tests/unit/test-pkey-port tests/unit/test-qos
tests_unit_test_qos_SOURCES = tests/unit/test-qos.c tests/lib/topogen.c tests/lib/topogen.h

UNIT_TESTS += tests/unit/test-slvl tests/unit/test-mft-order
