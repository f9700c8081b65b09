# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsm.a
libsm_a_SOURCES = opensm/sm/sm.c opensm/sm/sm.h opensm/sm/sm_internal.h opensm/sm/machines.c opensm/sm/machines.h opensm/sm/read/discover.c opensm/sm/read/discover.h opensm/sm/read/discover_internal.h opensm/sm/read/probe_key.c opensm/sm/read/silent.c opensm/sm/read/ext_port_info.c \
	opensm/sm/read/forget.c opensm/sm/read/light.c opensm/sm/read/light.h opensm/sm/read/light_internal.h opensm/sm/read/state_poll.c opensm/sm/read/audit.c opensm/sm/elect/elect.c opensm/sm/elect/elect.h opensm/sm/elect/elect_internal.h \
	opensm/sm/elect/elect_poll.c opensm/sm/elect/elect_set.c opensm/sm/elect/elect_proof.c opensm/sm/elect/remote_sm.c opensm/sm/inbox.c opensm/sm/sweep/sweep.c opensm/sm/sweep/sweep.h opensm/sm/sweep/sweep_kind.h opensm/sm/sweep/sweep_internal.h opensm/sm/sweep/steps.c opensm/sm/status.c \
	opensm/sm/base/job.c opensm/sm/base/job.h opensm/sm/read/adopt.c opensm/sm/read/adopt.h opensm/sm/read/adopt_mcast.c opensm/sm/read/adopt_mcast.h opensm/sm/read/read_cell.c opensm/sm/read/single_get.c opensm/sm/read/single_get.h opensm/sm/routing/routing.c opensm/sm/routing/routing.h opensm/sm/base/lids.c opensm/sm/base/lids.h opensm/sm/base/keys_file.c opensm/sm/base/keys_internal.h opensm/sm/base/keys.c opensm/sm/base/keys.h opensm/sm/sweep/stale.c opensm/sm/sweep/stale.h opensm/sm/sweep/program.c opensm/sm/sweep/program.h opensm/sm/routing/route_job.c \
	opensm/sm/routing/route_job.h opensm/sm/routing/dead_cables.c opensm/sm/routing/dead_cables.h opensm/sm/routing/patching.c opensm/sm/routing/patching.h opensm/sm/routing/quiet.c opensm/sm/routing/quiet.h opensm/sm/routing/rail_watch.c opensm/sm/routing/rail_watch.h opensm/sm/routing/replacements.c opensm/sm/routing/replacements.h opensm/sm/routing/route_task.c opensm/sm/routing/route_task.h opensm/sm/routing/route_runner.h \
	opensm/sm/routing/route_memory.c opensm/sm/routing/route_memory.h opensm/sm/routing/route_death.c opensm/sm/routing/route_death.h opensm/sm/answers/admin.c opensm/sm/answers/admin.h opensm/sm/sweep/multicast.c opensm/sm/sweep/multicast.h opensm/sm/base/partition.c opensm/sm/base/partition.h \
	opensm/sm/tenants/tenancy.c opensm/sm/tenants/tenancy.h opensm/sm/tenants/tenancy_internal.h \
	opensm/sm/tenants/tenancy_rows.c opensm/sm/tenants/tenancy_doubt.c opensm/sm/tenants/tenancy_import.c opensm/sm/tenants/tenancy_wire.c opensm/sm/tenants/tenancy_place.c opensm/sm/tenants/tenancy_audit.c opensm/sm/tenants/tenancy_held.c opensm/sm/rows/key_turn.c opensm/sm/rows/key_turn.h opensm/sm/rows/key_rows.c opensm/sm/rows/key_rows.h opensm/sm/rows/key_absent.c opensm/sm/rows/key_absent.h opensm/sm/rows/key_seeds.c opensm/sm/rows/key_seeds.h \
	opensm/sm/sweep/reload.c opensm/sm/sweep/reload.h opensm/sm/read/own_port.c opensm/sm/read/own_port.h opensm/sm/read/node_desc.c opensm/sm/base/change_age.c opensm/sm/base/change_age.h opensm/sm/read/incremental.c opensm/sm/read/incremental.h opensm/sm/out_of_use/out_of_use.c opensm/sm/out_of_use/out_of_use.h \
	opensm/sm/out_of_use/bad_cable.h opensm/sm/out_of_use/cables.c opensm/sm/out_of_use/reasons.c opensm/sm/out_of_use/flaps.c opensm/sm/out_of_use/complaints.c \
	opensm/sm/out_of_use/guard.c opensm/sm/out_of_use/take_down.c opensm/sm/out_of_use/counters.c opensm/sm/out_of_use/counters.h opensm/sm/out_of_use/unserved.c opensm/sm/alarms/alarms.c opensm/sm/alarms/alarms.h opensm/sm/alarms/alarms_internal.h opensm/sm/alarms/alarm_add.c opensm/sm/base/alarm_kinds.c opensm/sm/base/alarm_kinds.h opensm/sm/base/alarm_kinds.def \
	opensm/sm/alarms/alarms_fabric.c opensm/sm/alarms/alarms_links.c opensm/sm/alarms/alarms_manager.c opensm/sm/alarms/alarms_planned.c \
	opensm/sm/marks/marks.c opensm/sm/marks/marks.h opensm/sm/marks/marks_internal.h opensm/sm/marks/marks_table.c opensm/sm/marks/marks_table.h opensm/sm/marks/marks_former.c \
	opensm/sm/expected/expected.c opensm/sm/expected/expected.h opensm/sm/expected/expected_internal.h opensm/sm/expected/expected_file.c \
	opensm/sm/expected/expected_judge.c opensm/sm/expected/expected_verdicts.c opensm/sm/expected/expected_compare.c opensm/sm/expected/expected_tell.c \
	opensm/sm/marks/marks_work.c opensm/sm/marks/marks_place.c opensm/sm/marks/marks_tell.c opensm/sm/marks/marks_clean.c opensm/sm/health/sick.c opensm/sm/health/sick.h opensm/sm/health/sick_case.c opensm/sm/health/sick_decide.c opensm/sm/health/sick_off.c opensm/sm/health/sick_policy.c opensm/sm/health/sick_tell.c opensm/sm/health/sick_internal.h opensm/sm/marks/marks_cost.c opensm/sm/rows/marks_rows.c opensm/sm/rows/marks_rows.h opensm/sm/rows/sick_rows.c opensm/sm/rows/sick_rows.h opensm/sm/ledger/edits.c opensm/sm/ledger/edits.h opensm/sm/ledger/former_file.c opensm/sm/ledger/former_file.h \
	opensm/sm/trust/violations.c opensm/sm/trust/violations.h opensm/sm/trust/lockout.c opensm/sm/trust/lockout.h opensm/sm/read/identity.c opensm/sm/read/identity.h opensm/sm/read/capability.c opensm/sm/read/capability.h \
	opensm/sm/read/strangers.c opensm/sm/read/strangers.h \
	opensm/sm/base/about.c opensm/sm/base/about.h opensm/sm/trust/forgery.c opensm/sm/trust/forgery.h \
	opensm/sm/trust/senders.c opensm/sm/trust/senders.h opensm/sm/trust/traps.c opensm/sm/trust/cc_traps.c opensm/sm/trust/cc_traps.h opensm/sm/trust/traps.h opensm/sm/trust/trap_text.h opensm/sm/trust/trap_flow.c opensm/sm/trust/trap_flow.h opensm/sm/trust/trap_text.c \
	opensm/sm/answers/replica.c opensm/sm/answers/replica.h opensm/sm/answers/replica_internal.h opensm/sm/answers/replica_ask.c opensm/sm/answers/replica_proof.c \
	opensm/sm/channel/channel.c opensm/sm/channel/channel.h opensm/sm/channel/channel_internal.h opensm/sm/channel/channel_in.c \
	opensm/sm/share/share.c opensm/sm/share/share.h opensm/sm/share/share_internal.h opensm/sm/share/share_disk.c opensm/sm/share/share_group.c opensm/sm/share/share_diff.c \
	opensm/sm/share/share_master.c opensm/sm/share/share_rows.c opensm/sm/share/share_standby.c \
	opensm/sm/ledger/settle.c opensm/sm/ledger/settle.h opensm/sm/ledger/settle_internal.h opensm/sm/ledger/settle_disk.c \
	opensm/sm/ledger/settle_peer.c opensm/sm/ledger/settle_words.c opensm/sm/ledger/settle_contact.c opensm/sm/ledger/settle_view.c opensm/sm/sm_ledger.h \
	opensm/sm/channel/channel_out.c opensm/sm/channel/channel_part.c opensm/sm/channel/channel_peer.c opensm/sm/channel/channel_meet.c opensm/sm/channel/channel_key.c \
	opensm/sm/channel/channel_row.c opensm/sm/channel/channel_way.c opensm/sm/channel/peer_rows.c opensm/sm/channel/peer_rows.h \
	opensm/sm/answers/replica_config.c opensm/sm/answers/replica_successor.c opensm/sm/answers/replica_seek.c opensm/sm/answers/standby.c opensm/sm/answers/standby.h \
	opensm/sm/actions.c opensm/sm/base/drawn_key.c opensm/sm/base/drawn_key.h opensm/sm/base/key_mark.c opensm/sm/base/key_mark.h opensm/sm/base/key_epoch.c opensm/sm/base/key_epoch.h opensm/sm/base/events.c opensm/sm/base/events.h opensm/sm/base/changes.c opensm/sm/base/changes.h opensm/sm/base/news.h opensm/sm/wires.def opensm/sm/deltas.def
SM_LIBS = libsm.a $(SA_LIBS) $(SYNC_LIBS) $(PLAN_LIBS) $(FABRIC_LIBS) $(KEYS_LIBS) $(LEDGER_LIBS) libhealth.a

UNIT_TESTS += tests/unit/test-trap-flow tests/unit/test-sm-traps tests/unit/test-sm-trap-storms \
	tests/unit/test-sm-views tests/unit/test-sm-core tests/unit/test-sm-storms \
	tests/unit/test-sm-admin tests/unit/test-sm-crowd tests/unit/test-sm-groups \
	tests/unit/test-route-memory
tests_unit_test_route_memory_SOURCES = tests/unit/test-route-memory.c tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h

UNIT_TESTS += tests/unit/test-sm-soak tests/unit/test-sm-incremental tests/unit/test-sm-tenancy
UNIT_TESTS += tests/unit/test-sm-tenancy-blocks
UNIT_TESTS += tests/unit/test-sm-tenancy-random tests/unit/test-sm-ledger tests/unit/test-sm-ledger-faults
tests_unit_test_sm_ledger_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ledger_store_write
UNIT_TESTS += tests/unit/test-sm-tenancy-load
tests_unit_test_sm_tenancy_load_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=tenants_join -Wl,--wrap=sm_dispatch
UNIT_TESTS += tests/unit/test-sm-tenancy-isolation tests/unit/test-sm-marks \
	tests/unit/test-sm-rails tests/unit/test-sm-planes tests/unit/test-sm-sick-ledger
# What an expected topology costs: `make bench-expected && ./bench-expected 36`.
EXTRA_PROGRAMS += bench-expected
bench_expected_SOURCES = tests/bench/bench-expected.c
bench_expected_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_expected_LDADD = $(RIG_LIBS) $(SIM_LIBS)
UNIT_TESTS += tests/unit/test-sm-expected \
	tests/unit/test-sm-marks-fabrics tests/unit/test-marks-table \
	tests/unit/test-sm-keys-absent \
	tests/unit/test-sm-keys-seeds tests/unit/test-sm-keys tests/unit/test-sm-keys-hosts \
	tests/unit/test-key-mark tests/unit/test-sm-pkeys tests/unit/test-sm-liars \
	tests/unit/test-sm-replica tests/unit/test-sm-replica-trust tests/unit/test-sm-proof \
	tests/unit/test-sm-share tests/unit/test-sm-channel tests/unit/test-sm-channel-proof \
	tests/unit/test-sm-actions tests/unit/test-sm-reload tests/unit/test-sm-elect \
	tests/unit/test-sm-rivals tests/unit/test-sm-health tests/unit/test-sm-reasons \
	tests/unit/test-change-age tests/unit/test-sm-churn \
	tests/unit/test-sm-dirty tests/unit/test-sm-log tests/unit/test-sm-lanes \
	tests/unit/test-sm-levels

# What cables that die cost until the patch is written: `make bench-dead-port && ./bench-dead-port -e updn fat-tree3 16`.
EXTRA_PROGRAMS += bench-dead-port
bench_dead_port_SOURCES = tests/bench/bench-dead-port.c
bench_dead_port_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_dead_port_LDADD = $(RIG_LIBS)
# What a cable or host costs in SMPs: `make bench-cable && ./bench-cable -n 64 fat-tree3 16`.
EXTRA_PROGRAMS += bench-cable
bench_cable_SOURCES = tests/bench/bench-cable.c
bench_cable_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_cable_LDADD = $(RIG_LIBS)

UNIT_TESTS += tests/unit/test-sm-loss tests/unit/test-replacements
tests_unit_test_replacements_SOURCES = tests/unit/test-replacements.c tests/lib/topogen.c tests/lib/topogen.h tests/lib/topocut.c tests/lib/topocut.h
UNIT_TESTS += tests/unit/test-sm-quiet tests/unit/test-sm-rogues tests/unit/test-sm-lies \
	tests/unit/test-sm-keys-cost tests/unit/test-sm-drawn-key tests/unit/test-sm-capability \
	tests/unit/test-sm-forgery tests/unit/test-sm-state-poll tests/unit/test-attacks
tests_unit_test_attacks_SOURCES = tests/unit/test-attacks.c $(ATTACK)

