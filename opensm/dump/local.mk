# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libdump.a
libdump_a_SOURCES = opensm/dump/dump.c opensm/dump/dump.h opensm/dump/dump_engine.c opensm/dump/dump_internal.h \
	opensm/dump/dump_lanes.c opensm/dump/dump_mcast.c opensm/dump/dump_out.c opensm/dump/dump_out.h \
	opensm/dump/dump_ports.c opensm/dump/dump_tables.c opensm/dump/dump_turns.c \
	opensm/dump/dump_turns.h opensm/dump/tree_order.c opensm/dump/tree_order.h

UNIT_TESTS += tests/unit/test-dump
tests_unit_test_dump_LDADD = $(FRONT_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-dump-turns
tests_unit_test_dump_turns_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
