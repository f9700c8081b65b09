# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsm.a
libsm_a_SOURCES = opensm/sm/sm.c opensm/sm/sm.h opensm/sm/impl.h opensm/sm/discover.c \
	opensm/sm/forget.c opensm/sm/light.c opensm/sm/elect.c opensm/sm/elect.h \
	opensm/sm/elect_poll.c opensm/sm/elect_set.c opensm/sm/remote_sm.c opensm/sm/inbox.c opensm/sm/sweep.c \
	opensm/sm/adopt.c opensm/sm/read_cell.c opensm/sm/prepare.c opensm/sm/route_job.c \
	opensm/sm/route_job.h opensm/sm/admin.c opensm/sm/multicast.c opensm/sm/partition.c \
	opensm/sm/reload.c opensm/sm/dirty.c opensm/sm/health.c \
	opensm/sm/health.h opensm/sm/hold.c opensm/sm/left_out.c \
	opensm/sm/say.c opensm/sm/say.h opensm/sm/traps.c opensm/sm/traps.h opensm/sm/trap_flow.c opensm/sm/trap_flow.h opensm/sm/trap_words.c \
	opensm/sm/replica.c opensm/sm/replica.h opensm/sm/replica_ask.c \
	opensm/sm/replica_config.c opensm/sm/replica_heir.c opensm/sm/standby.c \
	opensm/sm/actions.c opensm/sm/events.c opensm/sm/events.h
SM_LIBS = libsm.a $(SA_LIBS) $(SYNC_LIBS) $(PLAN_LIBS) $(FABRIC_LIBS)

UNIT_TESTS += tests/unit/test-trap-flow tests/unit/test-sm-traps tests/unit/test-sm-trap-storms
tests_unit_test_trap_flow_SOURCES = tests/unit/test-trap-flow.c
tests_unit_test_trap_flow_LDADD = $(SM_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_traps_SOURCES = tests/unit/test-sm-traps.c tests/unit/trap-world.h
tests_unit_test_sm_trap_storms_SOURCES = tests/unit/test-sm-trap-storms.c tests/unit/trap-world.h
tests_unit_test_sm_trap_storms_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_trap_storms_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_traps_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_traps_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-core tests/unit/test-sm-storms tests/unit/test-sm-admin \
	tests/unit/test-sm-crowd tests/unit/test-sm-groups
tests_unit_test_sm_groups_SOURCES = tests/unit/test-sm-groups.c
tests_unit_test_sm_groups_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_groups_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_crowd_SOURCES = tests/unit/test-sm-crowd.c
tests_unit_test_sm_crowd_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_crowd_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_admin_SOURCES = tests/unit/test-sm-admin.c
tests_unit_test_sm_admin_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_admin_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_core_SOURCES = tests/unit/test-sm-core.c
tests_unit_test_sm_core_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_core_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_storms_SOURCES = tests/unit/test-sm-storms.c
tests_unit_test_sm_storms_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_storms_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-soak
tests_unit_test_sm_soak_SOURCES = tests/unit/test-sm-soak.c
tests_unit_test_sm_soak_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_soak_LDADD = $(CAMPAIGN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-incremental
tests_unit_test_sm_incremental_SOURCES = tests/unit/test-sm-incremental.c
tests_unit_test_sm_incremental_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_incremental_LDADD = $(CAMPAIGN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-pkeys
tests_unit_test_sm_pkeys_SOURCES = tests/unit/test-sm-pkeys.c
tests_unit_test_sm_pkeys_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_pkeys_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-liars
tests_unit_test_sm_liars_SOURCES = tests/unit/test-sm-liars.c
tests_unit_test_sm_liars_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_liars_LDADD = $(SM_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-replica tests/unit/test-sm-replica-trust
tests_unit_test_sm_replica_SOURCES = tests/unit/test-sm-replica.c tests/unit/two-managers.h
tests_unit_test_sm_replica_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_replica_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_replica_trust_SOURCES = tests/unit/test-sm-replica-trust.c tests/unit/two-managers.h
tests_unit_test_sm_replica_trust_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_replica_trust_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-actions
tests_unit_test_sm_actions_SOURCES = tests/unit/test-sm-actions.c
tests_unit_test_sm_actions_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_actions_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-reload
tests_unit_test_sm_reload_SOURCES = tests/unit/test-sm-reload.c
tests_unit_test_sm_reload_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_reload_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-elect
tests_unit_test_sm_elect_SOURCES = tests/unit/test-sm-elect.c
tests_unit_test_sm_elect_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_elect_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-rivals
tests_unit_test_sm_rivals_SOURCES = tests/unit/test-sm-rivals.c
tests_unit_test_sm_rivals_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_rivals_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-health
tests_unit_test_sm_health_SOURCES = tests/unit/test-sm-health.c
tests_unit_test_sm_health_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_health_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-dirty
tests_unit_test_sm_dirty_SOURCES = tests/unit/test-sm-dirty.c
tests_unit_test_sm_dirty_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_dirty_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-events
tests_unit_test_sm_events_SOURCES = tests/unit/test-sm-events.c
tests_unit_test_sm_events_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_events_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-log
tests_unit_test_sm_log_SOURCES = tests/unit/test-sm-log.c tests/unit/trap-world.h
tests_unit_test_sm_log_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_log_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-lanes
tests_unit_test_sm_lanes_SOURCES = tests/unit/test-sm-lanes.c
tests_unit_test_sm_lanes_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
