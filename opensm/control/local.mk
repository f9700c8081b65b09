# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libcontrol.a
libcontrol_a_SOURCES = opensm/control/control.c opensm/control/control.h opensm/control/control_act.c \
	opensm/control/control_call.c opensm/control/control_change.c opensm/control/control_change.h \
	opensm/control/control_change_read.c opensm/control/control_history.c opensm/control/control_jobs.c opensm/control/control_partitions.c opensm/control/control_conf.c opensm/control/control_events.c \
	opensm/control/control_internal.h opensm/control/control_security.c opensm/control/control_congestion.c opensm/control/control_status.c \
	opensm/control/control_smp.c opensm/control/control_smp.h opensm/control/control_smp_find.c opensm/control/control_marks.c opensm/control/control_marks_load.c opensm/control/control_marks_load.h opensm/control/control_detour.c opensm/control/control_detour.h opensm/control/control_health.c opensm/control/control_alarms.c opensm/control/control_ledger.c opensm/control/control_counters.c opensm/control/control_topology.c opensm/control/control_expected.c

UNIT_TESTS += tests/unit/test-detour
tests_unit_test_detour_SOURCES = tests/unit/test-detour.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_detour_LDADD = libcontrol.a $(ROUTE_LIBS) $(CMOCKA_LIBS)

# Schemas of all documents, for opensmctl: a program of the build writes them as C.
noinst_PROGRAMS += opensm/control/schemas/make-schemas
opensm_control_schemas_make_schemas_SOURCES = opensm/control/schemas/make_schemas.c
opensm_control_schemas_make_schemas_LDADD = $(FRONT_LIBS)

UNIT_TESTS += tests/unit/test-control-jobs
tests_unit_test_control_jobs_LDADD = $(FRONT_LIBS) $(CMOCKA_LIBS)
