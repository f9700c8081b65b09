# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libshow.a
libshow_a_SOURCES = opensm/show/show.c opensm/show/show.h opensm/show/show_find.c opensm/show/show_gone.c opensm/show/show_alarm.c opensm/show/show_diff.c \
	opensm/show/show_groups.c opensm/show/show_hosts.c opensm/show/show_internal.h opensm/show/show_json.c opensm/show/show_ledger.c \
	opensm/show/show_lanes.c opensm/show/show_lanes.h opensm/show/show_qos.c opensm/show/show_qos_warnings.c \
	opensm/show/show_partitions.c opensm/show/show_path.c opensm/show/show_policy.c opensm/show/show_ports.c \
	opensm/show/show_routes.c opensm/show/show_sa.c opensm/show/show_tables.c opensm/show/show_topology.c opensm/show/show_vicinity.c

UNIT_TESTS += tests/unit/test-show tests/unit/test-show-tables
tests_unit_test_show_tables_LDADD = libshow.a libapi.a $(RIG_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)
tests_unit_test_show_LDADD = libshow.a libapi.a $(RIG_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-show-qos
tests_unit_test_show_qos_LDADD = libshow.a libapi.a $(RIG_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-show-turns
tests_unit_test_show_turns_LDADD = libshow.a libapi.a $(RIG_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)
