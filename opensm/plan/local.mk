# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libplan.a
libplan_a_SOURCES = opensm/plan/lid.c opensm/plan/lid.h opensm/plan/link.c opensm/plan/link.h \
	opensm/plan/mft_order.c opensm/plan/mft_order.h \
	opensm/plan/pkey.c opensm/plan/pkey.h opensm/plan/pkey_member.c opensm/plan/pkey_place.c \
	opensm/plan/pkey_pool.c opensm/plan/pkey_port.c opensm/plan/pkey_internal.h \
	opensm/plan/qos.c opensm/plan/qos.h opensm/plan/slvl.c opensm/plan/slvl_count.c opensm/plan/slvl.h \
	opensm/plan/route_lists.c opensm/plan/route_lists.h
PLAN_LIBS = libplan.a $(ROUTE_LIBS) $(CONF_LIBS)

UNIT_TESTS += tests/unit/test-lid
tests_unit_test_lid_SOURCES = tests/unit/test-lid.c
tests_unit_test_lid_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-pkey tests/unit/test-pkey-random tests/unit/test-pkey-port
tests_unit_test_pkey_port_SOURCES = tests/unit/test-pkey-port.c
tests_unit_test_pkey_port_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)
tests_unit_test_pkey_SOURCES = tests/unit/test-pkey.c
tests_unit_test_pkey_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)
tests_unit_test_pkey_random_SOURCES = tests/unit/test-pkey-random.c
tests_unit_test_pkey_random_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-qos
tests_unit_test_qos_SOURCES = tests/unit/test-qos.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_qos_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-slvl
tests_unit_test_slvl_SOURCES = tests/unit/test-slvl.c
tests_unit_test_slvl_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-mft-order
tests_unit_test_mft_order_SOURCES = tests/unit/test-mft-order.c
tests_unit_test_mft_order_LDADD = $(PLAN_LIBS) $(CMOCKA_LIBS)
