# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsa.a
libsa_a_SOURCES = opensm/sa/sa.c opensm/sa/sa.h opensm/sa/base/sa_internal.h opensm/sa/base/limits.h \
	opensm/sa/base/requester.c opensm/sa/base/requester.h \
	opensm/sa/base/answer.c opensm/sa/base/ports.c opensm/sa/base/tally.c opensm/sa/base/trust.c opensm/sa/base/trust.h opensm/sa/base/askers.c opensm/sa/base/match.c opensm/sa/base/query.c opensm/sa/base/turns.c opensm/sa/types.c \
	opensm/sa/records.c opensm/sa/records.h \
	opensm/sa/records_ports.c opensm/sa/records_tables.c opensm/sa/base/select.c \
	opensm/sa/path/path.c opensm/sa/path/path.h opensm/sa/path/path_pair.c opensm/sa/path/path_policy.c \
	opensm/sa/path/path_group.c opensm/sa/path/multipath.c \
	opensm/sa/mcast/mgroup.c opensm/sa/mcast/mgroup.h opensm/sa/mcast/mgroup_store.h opensm/sa/base/quota.c \
	opensm/sa/mcast/mgroup_view.c opensm/sa/mcast/mcmember.c \
	opensm/sa/notice/inform.c opensm/sa/notice/inform.h opensm/sa/notice/report.c \
	opensm/sa/notice/event_log.c opensm/sa/notice/event_log.h opensm/sa/events.c \
	opensm/sa/service.c opensm/sa/service.h opensm/sa/guidinfo.c opensm/sa/guidinfo.h \
	opensm/sa/base/roll.c opensm/sa/base/roll.h opensm/sa/base/chain.h opensm/sa/db.c opensm/sa/db_read.c opensm/sa/db_records.c
SA_LIBS = libsa.a libview.a $(SYNC_LIBS) $(PLAN_LIBS) $(FABRIC_LIBS)

# The desk: a small fabric, an SA on it, and a transport of paper (tests/lib/sa-desk.h).
SA_DESK = tests/lib/sa-desk.c tests/lib/sa-desk.h
SA_DESK_LIBS = $(SA_LIBS) $(SIM_LIBS)

UNIT_TESTS += tests/unit/test-sa-core tests/unit/test-sa-records tests/unit/test-sa-flood
tests_unit_test_sa_flood_SOURCES = tests/unit/test-sa-flood.c $(SA_DESK)
tests_unit_test_sa_records_SOURCES = tests/unit/test-sa-records.c $(SA_DESK)
tests_unit_test_sa_core_SOURCES = tests/unit/test-sa-core.c $(SA_DESK)

# Views on the desk: libview.a is below this folder, the desk is not.
UNIT_TESTS += tests/unit/test-view-pkeys tests/unit/test-view-copy
tests_unit_test_view_copy_SOURCES = tests/unit/test-view-copy.c $(SA_DESK)
tests_unit_test_view_pkeys_SOURCES = tests/unit/test-view-pkeys.c $(SA_DESK)

UNIT_TESTS += tests/unit/test-sa-path tests/unit/test-sa-walk tests/unit/test-sa-multipath \
	tests/unit/test-sa-select
PATH_ASKING = tests/unit/path-asking.h
tests_unit_test_sa_path_SOURCES = tests/unit/test-sa-path.c $(PATH_ASKING) $(SA_DESK)
UNIT_TESTS += tests/unit/test-sa-policy
tests_unit_test_sa_policy_SOURCES = tests/unit/test-sa-policy.c $(PATH_ASKING) $(SA_DESK)
tests_unit_test_sa_walk_SOURCES = tests/unit/test-sa-walk.c $(PATH_ASKING) $(SA_DESK)
tests_unit_test_sa_multipath_SOURCES = tests/unit/test-sa-multipath.c $(SA_DESK)

UNIT_TESTS += tests/unit/test-sa-inform
tests_unit_test_sa_inform_SOURCES = tests/unit/test-sa-inform.c tests/unit/sa-events.h $(SA_DESK)
UNIT_TESTS += tests/unit/test-sa-report
tests_unit_test_sa_report_SOURCES = tests/unit/test-sa-report.c tests/unit/sa-events.h $(SA_DESK)
UNIT_TESTS += tests/unit/test-sa-quota
tests_unit_test_sa_quota_SOURCES = tests/unit/test-sa-quota.c tests/unit/sa-events.h $(MC_DESK)
UNIT_TESTS += tests/unit/test-sa-trust
tests_unit_test_sa_trust_SOURCES = tests/unit/test-sa-trust.c tests/unit/sa-events.h $(MC_DESK)
UNIT_TESTS += tests/unit/test-sa-askers
tests_unit_test_sa_askers_SOURCES = tests/unit/test-sa-askers.c $(MC_DESK)
UNIT_TESTS += tests/unit/test-sa-service
tests_unit_test_sa_service_SOURCES = tests/unit/test-sa-service.c $(SA_DESK)
UNIT_TESTS += tests/unit/test-sa-guidinfo
tests_unit_test_sa_guidinfo_SOURCES = tests/unit/test-sa-guidinfo.c tests/unit/sa-events.h $(SA_DESK)
UNIT_TESTS += tests/unit/test-sa-db
tests_unit_test_sa_db_SOURCES = tests/unit/test-sa-db.c tests/unit/sa-events.h $(SA_DESK)

UNIT_TESTS += tests/unit/test-sa-mgroup tests/unit/test-sa-mgroup-view \
	tests/unit/test-sa-mgroup-life tests/unit/test-sa-mcmember
MC_DESK = tests/unit/mc-desk.h $(SA_DESK)
tests_unit_test_sa_mgroup_SOURCES = tests/unit/test-sa-mgroup.c tests/unit/sa-events.h $(MC_DESK)
tests_unit_test_sa_mgroup_view_SOURCES = tests/unit/test-sa-mgroup-view.c $(MC_DESK)
tests_unit_test_sa_mgroup_life_SOURCES = tests/unit/test-sa-mgroup-life.c $(MC_DESK)
tests_unit_test_sa_mcmember_SOURCES = tests/unit/test-sa-mcmember.c $(MC_DESK)
# Rights that change at run time.
UNIT_TESTS += tests/unit/test-sa-tenants
tests_unit_test_sa_tenants_SOURCES = tests/unit/test-sa-tenants.c tests/unit/sa-events.h $(MC_DESK)

# `make bench-mgroup && ./bench-mgroup fat-tree3 36`
EXTRA_PROGRAMS += bench-mgroup
bench_mgroup_SOURCES = tests/bench/bench-mgroup.c $(SA_DESK)
bench_mgroup_LDADD = $(SA_DESK_LIBS)

# Numbers, not verdicts: `make bench-sa && ./bench-sa fat-tree3 36`; sa-load is for bench-paths.
EXTRA_PROGRAMS += bench-sa sa-load
bench_sa_SOURCES = tests/bench/bench-sa.c $(SA_DESK)
bench_sa_LDADD = $(SA_DESK_LIBS)
sa_load_SOURCES = tests/bench/sa-load.c
sa_load_CPPFLAGS = $(AM_CPPFLAGS) $(IBUMAD_CFLAGS)
sa_load_LDADD = $(UTIL_LIBS) $(IBUMAD_LIBS)
UNIT_TESTS += tests/unit/test-event-log tests/unit/test-sa-tally
tests_unit_test_sa_tally_SOURCES = tests/unit/test-sa-tally.c $(SA_DESK)
