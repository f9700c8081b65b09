# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsm.a
libsm_a_SOURCES = opensm/sm/sm.c opensm/sm/sm.h opensm/sm/sm_internal.h opensm/sm/machines.c opensm/sm/machines.h opensm/sm/read/discover.c opensm/sm/read/discover.h opensm/sm/read/discover_internal.h opensm/sm/read/probe_key.c opensm/sm/read/silent.c opensm/sm/read/ext_port_info.c \
	opensm/sm/read/forget.c opensm/sm/read/light.c opensm/sm/read/light.h opensm/sm/read/light_internal.h opensm/sm/read/audit.c opensm/sm/elect/elect.c opensm/sm/elect/elect.h opensm/sm/elect/elect_internal.h \
	opensm/sm/elect/elect_poll.c opensm/sm/elect/elect_set.c opensm/sm/elect/elect_proof.c opensm/sm/elect/remote_sm.c opensm/sm/inbox.c opensm/sm/sweep/sweep.c opensm/sm/sweep/sweep.h opensm/sm/sweep/sweep_kind.h opensm/sm/sweep/sweep_internal.h opensm/sm/sweep/steps.c opensm/sm/status.c \
	opensm/sm/read/adopt.c opensm/sm/read/adopt.h opensm/sm/read/adopt_mcast.c opensm/sm/read/adopt_mcast.h opensm/sm/read/read_cell.c opensm/sm/read/single_get.c opensm/sm/read/single_get.h opensm/sm/routing/routing.c opensm/sm/routing/routing.h opensm/sm/base/lids.c opensm/sm/base/lids.h opensm/sm/base/keys_file.c opensm/sm/base/keys_internal.h opensm/sm/base/keys.c opensm/sm/base/keys.h opensm/sm/sweep/stale.c opensm/sm/sweep/stale.h opensm/sm/sweep/program.c opensm/sm/sweep/program.h opensm/sm/routing/route_job.c \
	opensm/sm/routing/route_job.h opensm/sm/routing/quiet.c opensm/sm/routing/quiet.h opensm/sm/routing/rail_watch.c opensm/sm/routing/rail_watch.h opensm/sm/routing/replacements.c opensm/sm/routing/replacements.h opensm/sm/routing/route_task.c opensm/sm/routing/route_task.h opensm/sm/routing/route_runner.h \
	opensm/sm/routing/route_memory.c opensm/sm/routing/route_memory.h opensm/sm/routing/route_death.c opensm/sm/routing/route_death.h opensm/sm/answers/admin.c opensm/sm/answers/admin.h opensm/sm/sweep/multicast.c opensm/sm/sweep/multicast.h opensm/sm/base/partition.c opensm/sm/base/partition.h \
	opensm/sm/tenants/tenancy.c opensm/sm/tenants/tenancy.h opensm/sm/tenants/tenancy_internal.h \
	opensm/sm/tenants/tenancy_rows.c opensm/sm/tenants/tenancy_doubt.c opensm/sm/tenants/tenancy_import.c opensm/sm/tenants/tenancy_wire.c opensm/sm/tenants/tenancy_place.c opensm/sm/tenants/tenancy_audit.c opensm/sm/tenants/tenancy_held.c opensm/sm/rows/key_turn.c opensm/sm/rows/key_turn.h opensm/sm/rows/key_rows.c opensm/sm/rows/key_rows.h opensm/sm/rows/key_absent.c opensm/sm/rows/key_absent.h opensm/sm/rows/key_seeds.c opensm/sm/rows/key_seeds.h \
	opensm/sm/sweep/reload.c opensm/sm/sweep/reload.h opensm/sm/read/own_port.c opensm/sm/read/own_port.h opensm/sm/read/node_desc.c opensm/sm/base/change_age.c opensm/sm/base/change_age.h opensm/sm/read/incremental.c opensm/sm/read/incremental.h opensm/sm/out_of_use/out_of_use.c opensm/sm/out_of_use/out_of_use.h \
	opensm/sm/out_of_use/bad_cable.h opensm/sm/out_of_use/cables.c opensm/sm/out_of_use/reasons.c opensm/sm/out_of_use/flaps.c opensm/sm/out_of_use/complaints.c \
	opensm/sm/out_of_use/guard.c opensm/sm/out_of_use/take_down.c opensm/sm/out_of_use/counters.c opensm/sm/out_of_use/counters.h opensm/sm/out_of_use/unserved.c \
	opensm/sm/marks/marks.c opensm/sm/marks/marks.h opensm/sm/marks/marks_internal.h opensm/sm/marks/marks_table.c opensm/sm/marks/marks_table.h opensm/sm/marks/marks_former.c \
	opensm/sm/expected/expected.c opensm/sm/expected/expected.h opensm/sm/expected/expected_internal.h opensm/sm/expected/expected_file.c \
	opensm/sm/expected/expected_judge.c opensm/sm/expected/expected_verdicts.c opensm/sm/expected/expected_compare.c opensm/sm/expected/expected_tell.c \
	opensm/sm/marks/marks_work.c opensm/sm/marks/marks_tell.c opensm/sm/marks/marks_clean.c opensm/sm/health/sick.c opensm/sm/health/sick.h opensm/sm/health/sick_off.c opensm/sm/health/sick_policy.c opensm/sm/health/sick_tell.c opensm/sm/health/sick_internal.h opensm/sm/marks/marks_cost.c opensm/sm/rows/marks_rows.c opensm/sm/rows/marks_rows.h opensm/sm/rows/sick_rows.c opensm/sm/rows/sick_rows.h opensm/sm/ledger/edits.c opensm/sm/ledger/edits.h opensm/sm/ledger/former_file.c opensm/sm/ledger/former_file.h \
	opensm/sm/trust/violations.c opensm/sm/trust/violations.h opensm/sm/trust/lockout.c opensm/sm/trust/lockout.h opensm/sm/read/identity.c opensm/sm/read/identity.h opensm/sm/read/capability.c opensm/sm/read/capability.h \
	opensm/sm/read/strangers.c opensm/sm/read/strangers.h \
	opensm/sm/base/about.c opensm/sm/base/about.h opensm/sm/trust/forgery.c opensm/sm/trust/forgery.h \
	opensm/sm/trust/senders.c opensm/sm/trust/senders.h opensm/sm/trust/traps.c opensm/sm/cc_traps.c opensm/sm/cc_traps.h opensm/sm/trust/traps.h opensm/sm/trust/trap_text.h opensm/sm/trust/trap_flow.c opensm/sm/trust/trap_flow.h opensm/sm/trust/trap_text.c \
	opensm/sm/answers/replica.c opensm/sm/answers/replica.h opensm/sm/answers/replica_internal.h opensm/sm/answers/replica_ask.c opensm/sm/answers/replica_proof.c \
	opensm/sm/channel/channel.c opensm/sm/channel/channel.h opensm/sm/channel/channel_internal.h opensm/sm/channel/channel_in.c \
	opensm/sm/share/share.c opensm/sm/share/share.h opensm/sm/share/share_internal.h opensm/sm/share/share_disk.c opensm/sm/share/share_group.c opensm/sm/share/share_diff.c \
	opensm/sm/share/share_master.c opensm/sm/share/share_rows.c opensm/sm/share/share_standby.c \
	opensm/sm/ledger/settle.c opensm/sm/ledger/settle.h opensm/sm/ledger/settle_internal.h opensm/sm/ledger/settle_disk.c \
	opensm/sm/ledger/settle_peer.c opensm/sm/ledger/settle_words.c opensm/sm/ledger/settle_contact.c opensm/sm/ledger/settle_view.c opensm/sm/sm_ledger.h \
	opensm/sm/channel/channel_out.c opensm/sm/channel/channel_part.c opensm/sm/channel/channel_peer.c opensm/sm/channel/channel_meet.c opensm/sm/channel/channel_key.c \
	opensm/sm/channel/channel_row.c opensm/sm/channel/channel_way.c opensm/sm/channel/peer_rows.c opensm/sm/channel/peer_rows.h \
	opensm/sm/answers/replica_config.c opensm/sm/answers/replica_successor.c opensm/sm/answers/replica_seek.c opensm/sm/answers/standby.c opensm/sm/answers/standby.h \
	opensm/sm/actions.c opensm/sm/base/drawn_key.c opensm/sm/base/drawn_key.h opensm/sm/base/key_mark.c opensm/sm/base/key_mark.h opensm/sm/base/key_epoch.c opensm/sm/base/key_epoch.h opensm/sm/base/events.c opensm/sm/base/events.h opensm/sm/base/news.h opensm/sm/wires.def opensm/sm/deltas.def
SM_LIBS = libsm.a $(SA_LIBS) $(SYNC_LIBS) $(PLAN_LIBS) $(FABRIC_LIBS) $(KEYS_LIBS) $(LEDGER_LIBS) libhealth.a

UNIT_TESTS += tests/unit/test-trap-flow tests/unit/test-sm-traps tests/unit/test-sm-trap-storms
tests_unit_test_trap_flow_SOURCES = tests/unit/test-trap-flow.c
tests_unit_test_trap_flow_LDADD = $(SM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-views
tests_unit_test_sm_views_SOURCES = tests/unit/test-sm-views.c tests/unit/trap-world.h
tests_unit_test_sm_views_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_views_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
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

UNIT_TESTS += tests/unit/test-route-memory
tests_unit_test_route_memory_SOURCES = tests/unit/test-route-memory.c tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_route_memory_LDADD = $(SM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-soak
tests_unit_test_sm_soak_SOURCES = tests/unit/test-sm-soak.c
tests_unit_test_sm_soak_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_soak_LDADD = $(CAMPAIGN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-incremental
tests_unit_test_sm_incremental_SOURCES = tests/unit/test-sm-incremental.c
tests_unit_test_sm_incremental_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_incremental_LDADD = $(CAMPAIGN_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-tenancy
tests_unit_test_sm_tenancy_SOURCES = tests/unit/test-sm-tenancy.c tests/unit/tenancy-desk.h
tests_unit_test_sm_tenancy_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_tenancy_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ledger_store_write
tests_unit_test_sm_tenancy_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-tenancy-blocks
tests_unit_test_sm_tenancy_blocks_SOURCES = tests/unit/test-sm-tenancy-blocks.c tests/unit/tenancy-desk.h
tests_unit_test_sm_tenancy_blocks_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_tenancy_blocks_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-ledger-keeping
tests_unit_test_sm_ledger_keeping_SOURCES = tests/unit/test-sm-ledger-keeping.c tests/unit/tenancy-desk.h
tests_unit_test_sm_ledger_keeping_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_ledger_keeping_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ledger_store_write
tests_unit_test_sm_ledger_keeping_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-tenancy-place
tests_unit_test_sm_tenancy_place_SOURCES = tests/unit/test-sm-tenancy-place.c tests/unit/tenancy-desk.h
tests_unit_test_sm_tenancy_place_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_tenancy_place_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-profile
tests_unit_test_sm_profile_SOURCES = tests/unit/test-sm-profile.c tests/unit/tenancy-desk.h
tests_unit_test_sm_profile_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_profile_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-tenancy-random
tests_unit_test_sm_tenancy_random_SOURCES = tests/unit/test-sm-tenancy-random.c tests/unit/tenancy-desk.h
tests_unit_test_sm_tenancy_random_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_tenancy_random_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-ledger
tests_unit_test_sm_ledger_SOURCES = tests/unit/test-sm-ledger.c tests/unit/ledger-managers.h tests/unit/two-managers.h
tests_unit_test_sm_ledger_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_ledger_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-ledger-faults
tests_unit_test_sm_ledger_faults_SOURCES = tests/unit/test-sm-ledger-faults.c tests/unit/ledger-managers.h tests/unit/two-managers.h
tests_unit_test_sm_ledger_faults_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_ledger_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ledger_store_write
tests_unit_test_sm_ledger_faults_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-tenancy-held
tests_unit_test_sm_tenancy_held_SOURCES = tests/unit/test-sm-tenancy-held.c tests/unit/tenancy-desk.h
tests_unit_test_sm_tenancy_held_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_tenancy_held_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-tenancy-load
tests_unit_test_sm_tenancy_load_SOURCES = tests/unit/test-sm-tenancy-load.c tests/unit/tenancy-desk.h
tests_unit_test_sm_tenancy_load_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_tenancy_load_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=tenants_join -Wl,--wrap=sm_dispatch
tests_unit_test_sm_tenancy_load_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-tenancy-isolation
tests_unit_test_sm_tenancy_isolation_SOURCES = tests/unit/test-sm-tenancy-isolation.c tests/unit/tenancy-desk.h
tests_unit_test_sm_tenancy_isolation_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_tenancy_isolation_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-marks
tests_unit_test_sm_marks_SOURCES = tests/unit/test-sm-marks.c tests/unit/marks-world.h tests/unit/trap-world.h
tests_unit_test_sm_marks_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_marks_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-rails
tests_unit_test_sm_rails_SOURCES = tests/unit/test-sm-rails.c tests/unit/marks-world.h tests/unit/trap-world.h
tests_unit_test_sm_rails_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_rails_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-planes
tests_unit_test_sm_planes_SOURCES = tests/unit/test-sm-planes.c tests/unit/marks-world.h tests/unit/trap-world.h
tests_unit_test_sm_planes_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_planes_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-sick-ledger
tests_unit_test_sm_sick_ledger_SOURCES = tests/unit/test-sm-sick-ledger.c tests/unit/marks-world.h tests/unit/trap-world.h
tests_unit_test_sm_sick_ledger_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_sick_ledger_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
# What an expected topology costs: `make bench-expected && ./bench-expected 36`.
EXTRA_PROGRAMS += bench-expected
bench_expected_SOURCES = tests/bench/bench-expected.c
bench_expected_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_expected_LDADD = $(RIG_LIBS) $(SIM_LIBS)
UNIT_TESTS += tests/unit/test-sm-expected
tests_unit_test_sm_expected_SOURCES = tests/unit/test-sm-expected.c tests/unit/marks-world.h tests/unit/trap-world.h
tests_unit_test_sm_expected_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_expected_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-marks-ledger
UNIT_TESTS += tests/unit/test-sm-marks-fabrics
tests_unit_test_sm_marks_fabrics_SOURCES = tests/unit/test-sm-marks-fabrics.c tests/unit/marks-world.h tests/unit/trap-world.h
tests_unit_test_sm_marks_fabrics_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_marks_fabrics_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_marks_ledger_SOURCES = tests/unit/test-sm-marks-ledger.c tests/unit/marks-world.h tests/unit/trap-world.h
tests_unit_test_sm_marks_ledger_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_marks_ledger_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-marks-table tests/unit/test-sm-marks-managers
tests_unit_test_marks_table_SOURCES = tests/unit/test-marks-table.c
tests_unit_test_marks_table_LDADD = $(SM_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_marks_managers_SOURCES = tests/unit/test-sm-marks-managers.c tests/unit/two-managers.h
tests_unit_test_sm_marks_managers_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_marks_managers_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-keys-peers
tests_unit_test_sm_keys_peers_SOURCES = tests/unit/test-sm-keys-peers.c tests/unit/locked-managers.h tests/unit/two-managers.h
tests_unit_test_sm_keys_peers_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_keys_peers_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-keys-absent
tests_unit_test_sm_keys_absent_SOURCES = tests/unit/test-sm-keys-absent.c tests/unit/locked-managers.h tests/unit/two-managers.h
tests_unit_test_sm_keys_absent_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_keys_absent_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-keys-cables
tests_unit_test_sm_keys_cables_SOURCES = tests/unit/test-sm-keys-cables.c tests/unit/locked-managers.h tests/unit/two-managers.h
tests_unit_test_sm_keys_cables_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_keys_cables_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-keys-seeds
tests_unit_test_sm_keys_seeds_SOURCES = tests/unit/test-sm-keys-seeds.c tests/unit/locked-managers.h tests/unit/two-managers.h
tests_unit_test_sm_keys_seeds_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_keys_seeds_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-keys
tests_unit_test_sm_keys_SOURCES = tests/unit/test-sm-keys.c tests/unit/keys-desk.h
tests_unit_test_sm_keys_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_keys_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-keys-hosts
tests_unit_test_sm_keys_hosts_SOURCES = tests/unit/test-sm-keys-hosts.c tests/unit/keys-desk.h
tests_unit_test_sm_keys_hosts_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_keys_hosts_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-key-mark
tests_unit_test_key_mark_SOURCES = tests/unit/test-key-mark.c
tests_unit_test_key_mark_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
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
UNIT_TESTS += tests/unit/test-sm-proof
tests_unit_test_sm_proof_SOURCES = tests/unit/test-sm-proof.c tests/unit/two-managers.h
tests_unit_test_sm_proof_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_proof_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-share
tests_unit_test_sm_share_SOURCES = tests/unit/test-sm-share.c tests/unit/two-managers.h
tests_unit_test_sm_share_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_share_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-channel tests/unit/test-sm-channel-proof
tests_unit_test_sm_channel_SOURCES = tests/unit/test-sm-channel.c tests/unit/channel-desk.h tests/unit/two-managers.h
tests_unit_test_sm_channel_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_channel_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
tests_unit_test_sm_channel_proof_SOURCES = tests/unit/test-sm-channel-proof.c tests/unit/channel-desk.h tests/unit/two-managers.h
tests_unit_test_sm_channel_proof_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_channel_proof_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

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
UNIT_TESTS += tests/unit/test-sm-reasons
tests_unit_test_sm_reasons_SOURCES = tests/unit/test-sm-reasons.c
tests_unit_test_sm_reasons_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_reasons_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-change-age
tests_unit_test_change_age_SOURCES = tests/unit/test-change-age.c
tests_unit_test_change_age_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_change_age_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-churn
tests_unit_test_sm_churn_SOURCES = tests/unit/test-sm-churn.c
tests_unit_test_sm_churn_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_churn_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-own-port
tests_unit_test_sm_own_port_SOURCES = tests/unit/test-sm-own-port.c
tests_unit_test_sm_own_port_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_own_port_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-dirty
tests_unit_test_sm_dirty_SOURCES = tests/unit/test-sm-dirty.c
tests_unit_test_sm_dirty_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_dirty_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-log
tests_unit_test_sm_log_SOURCES = tests/unit/test-sm-log.c tests/unit/trap-world.h
tests_unit_test_sm_log_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_log_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-lanes
tests_unit_test_sm_lanes_SOURCES = tests/unit/test-sm-lanes.c
tests_unit_test_sm_lanes_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-levels
tests_unit_test_sm_levels_SOURCES = tests/unit/test-sm-levels.c
tests_unit_test_sm_levels_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

# What a cable or host costs in SMPs: `make bench-cable && ./bench-cable -n 64 fat-tree3 16`.
EXTRA_PROGRAMS += bench-cable
bench_cable_SOURCES = tests/bench/bench-cable.c
bench_cable_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_cable_LDADD = $(RIG_LIBS)

UNIT_TESTS += tests/unit/test-sm-loss
tests_unit_test_sm_loss_SOURCES = tests/unit/test-sm-loss.c
tests_unit_test_sm_loss_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-replacements
tests_unit_test_replacements_SOURCES = tests/unit/test-replacements.c tests/lib/topogen.c tests/lib/topogen.h tests/lib/topocut.c tests/lib/topocut.h
tests_unit_test_replacements_LDADD = $(SM_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-quiet
tests_unit_test_sm_quiet_SOURCES = tests/unit/test-sm-quiet.c
tests_unit_test_sm_quiet_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_quiet_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)


UNIT_TESTS += tests/unit/test-sm-rogues
tests_unit_test_sm_rogues_SOURCES = tests/unit/test-sm-rogues.c tests/unit/elect-desk.h
tests_unit_test_sm_rogues_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_rogues_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)


UNIT_TESTS += tests/unit/test-sm-lies
tests_unit_test_sm_lies_SOURCES = tests/unit/test-sm-lies.c tests/unit/trap-world.h
tests_unit_test_sm_lies_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_lies_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-sm-keys-cost
tests_unit_test_sm_keys_cost_SOURCES = tests/unit/test-sm-keys-cost.c
tests_unit_test_sm_keys_cost_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_keys_cost_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-drawn-key
tests_unit_test_sm_drawn_key_SOURCES = tests/unit/test-sm-drawn-key.c tests/unit/trap-world.h
tests_unit_test_sm_drawn_key_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_drawn_key_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-capability
tests_unit_test_sm_capability_SOURCES = tests/unit/test-sm-capability.c tests/unit/trap-world.h
tests_unit_test_sm_capability_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_capability_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sm-forgery
tests_unit_test_sm_forgery_SOURCES = tests/unit/test-sm-forgery.c
tests_unit_test_sm_forgery_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_sm_forgery_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-attacks
tests_unit_test_attacks_SOURCES = tests/unit/test-attacks.c $(ATTACK)
tests_unit_test_attacks_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_attacks_LDADD = $(RIG_LIBS) $(CMOCKA_LIBS)

