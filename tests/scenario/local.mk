# SPDX-License-Identifier: BSD-2-Clause
# Scenarios in virtual time: each .scn file is one test, run by the runner.
CHECK_TOOLS += tests/scenario/runner
tests_scenario_runner_SOURCES = tests/lib/schema-fits.c tests/lib/schema-fits.h tests/scenario/scenario.h tests/scenario/runner.c tests/scenario/words.c \
	tests/scenario/commands.c tests/scenario/managers.c tests/scenario/ports.c tests/scenario/peers.c tests/scenario/hosts.c tests/scenario/storm.c \
	tests/scenario/look.h tests/scenario/expect.c tests/scenario/expect_ports.c tests/scenario/expect_told.c \
	tests/scenario/expect_peers.c tests/scenario/expect_keys.c \
	tests/scenario/story.c \
	tests/scenario/record.h tests/scenario/record.c tests/scenario/front.h tests/scenario/front.c \
	opensm/daemon/listen_control.c opensm/daemon/stream.c opensm/daemon/stream_listen.c
tests_scenario_runner_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ledger_store_write
tests_scenario_runner_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS)

CHECK_TOOLS += tests/scenario/rest-once
tests_scenario_rest_once_SOURCES = tests/scenario/rest-once.c opensm/rest/backend.c opensm/rest/backend.h $(REST_FAKE)
tests_scenario_rest_once_LDADD = $(REST_LIBS)

TEST_EXTENSIONS += .scn
SCN_LOG_DRIVER = $(TAP_DRIVER)
SCN_LOG_COMPILER = $(TEST_LIMIT) tests/scenario/runner

SCENARIO_TESTS += \
	tests/scenario/actions.scn \
	tests/scenario/alarms-many.scn \
	tests/scenario/alarms.scn \
	tests/scenario/armed-ahead-254.scn \
	tests/scenario/armed-ahead-m-key.scn \
	tests/scenario/armed-ahead-reboot.scn \
	tests/scenario/armed-ahead-rival.scn \
	tests/scenario/audit.scn \
	tests/scenario/audit-cost.scn \
	tests/scenario/audit-forged.scn \
	tests/scenario/audit-turns.scn \
	tests/scenario/back-to-back.scn \
	tests/scenario/bring-up.scn \
	tests/scenario/complaints.scn \
	tests/scenario/complaints-last.scn \
	tests/scenario/configuration.scn tests/scenario/configured-otherwise.scn \
	tests/scenario/cost-of-changes.scn \
	tests/scenario/day.scn \
	tests/scenario/devices.scn \
	tests/scenario/docs-refused.scn \
	tests/scenario/docs-tree.scn \
	tests/scenario/docs-two.scn \
	tests/scenario/dragonfly.scn \
	tests/scenario/drain-aggregation.scn \
	tests/scenario/isolate-switch.scn \
	tests/scenario/isolate-takeover.scn tests/scenario/isolate-wide.scn \
	tests/scenario/duplicate-guid.scn \
	tests/scenario/duplicate-guid-left.scn \
	tests/scenario/early-active.scn \
	tests/scenario/elect-exit.scn \
	tests/scenario/elect-loss.scn \
	tests/scenario/elect-merge-quiet.scn \
	tests/scenario/elect-merge.scn \
	tests/scenario/elect-no-ping-pong.scn \
	tests/scenario/elect-priority.scn \
	tests/scenario/elect-rerouted.scn \
	tests/scenario/elect-takeover-time.scn \
	tests/scenario/elect-two-standbys.scn \
	tests/scenario/equal-priority.scn \
	tests/scenario/events.scn \
	tests/scenario/expected.scn \
	tests/scenario/flap.scn \
	tests/scenario/foreign-top.scn \
	tests/scenario/handover.scn \
	tests/scenario/health-errors.scn \
	tests/scenario/health-far.scn \
	tests/scenario/health-flap.scn \
	tests/scenario/health-found.scn \
	tests/scenario/health-half-dead.scn \
	tests/scenario/health-half-dead-qos.scn \
	tests/scenario/health-host.scn \
	tests/scenario/health-last-way.scn \
	tests/scenario/health-lft-refused.scn \
	tests/scenario/health-oddities.scn \
	tests/scenario/health-policy.scn \
	tests/scenario/health-slow.scn tests/scenario/health-store.scn \
	tests/scenario/health-stuck.scn \
	tests/scenario/hosts.scn \
	tests/scenario/hup.scn \
	tests/scenario/hypercube.scn \
	tests/scenario/ibsim-fields.scn \
	tests/scenario/identity.scn \
	tests/scenario/incr-standby-init.scn \
	tests/scenario/keys.scn tests/scenario/keys-absent.scn tests/scenario/keys-cables.scn \
	tests/scenario/keys-disk.scn tests/scenario/keys-large.scn tests/scenario/keys-managers.scn tests/scenario/keys-newcomer.scn tests/scenario/keys-open.scn \
	tests/scenario/keys-seeds.scn tests/scenario/keys-shared.scn \
	tests/scenario/large-dragonfly.scn \
	tests/scenario/large-fat-tree.scn \
	tests/scenario/large-torus.scn \
	tests/scenario/ledger.scn tests/scenario/ledger-faults.scn tests/scenario/ledger-frozen.scn \
	tests/scenario/ledger-keeping.scn \
	tests/scenario/lmc-reload.scn \
	tests/scenario/lmc.scn \
	tests/scenario/lockout.scn \
	tests/scenario/loopback.scn \
	tests/scenario/loss.scn \
	tests/scenario/lost-set.scn \
	tests/scenario/m-key.scn \
	tests/scenario/mended-trees.scn tests/scenario/mended-trees-torus.scn tests/scenario/mended-trees-wide.scn \
	tests/scenario/marks.scn \
	tests/scenario/marks-clean.scn \
	tests/scenario/marks-managers.scn tests/scenario/marks-store.scn tests/scenario/mark-mid-sweep.scn \
	tests/scenario/merge.scn \
	tests/scenario/mixed-mtu.scn \
	tests/scenario/mkey-fresh-lease0.scn \
	tests/scenario/mkey-fresh.scn \
	tests/scenario/mkey-managers.scn \
	tests/scenario/moved-cable.scn \
	tests/scenario/order.scn tests/scenario/patch.scn \
	tests/scenario/own-port.scn tests/scenario/own-port-key.scn tests/scenario/own-port-mid-sweep.scn tests/scenario/own-port-silent.scn \
	tests/scenario/partial-forever.scn \
	tests/scenario/partial-silence.scn \
	tests/scenario/pkeys.scn tests/scenario/pkeys-reboot.scn \
	tests/scenario/port-down-int0.scn \
	tests/scenario/port0.scn \
	tests/scenario/profiles.scn \
	tests/scenario/quiet-trap.scn \
	tests/scenario/reboot-mid-sweep.scn \
	tests/scenario/reboot.scn \
	tests/scenario/registered.scn \
	tests/scenario/restart.scn \
	tests/scenario/rough.scn \
	tests/scenario/second-sweep.scn \
	tests/scenario/self-armed.scn \
	tests/scenario/silence.scn \
	tests/scenario/silence-many.scn \
	tests/scenario/silent-beside.scn \
	tests/scenario/silent-host.scn \
	tests/scenario/silent-master.scn \
	tests/scenario/silent-restart.scn \
	tests/scenario/silent-spine.scn \
	tests/scenario/silent-start.scn \
	tests/scenario/single-switch.scn \
	tests/scenario/slim-fly.scn \
	tests/scenario/slow-agents.scn \
	tests/scenario/slow-reboot.scn \
	tests/scenario/spine-refuses.scn \
	tests/scenario/state-poll.scn \
	tests/scenario/stale-lids.scn \
	tests/scenario/stale-tables-standby.scn \
	tests/scenario/stale-tables-thawed.scn \
	tests/scenario/storm.scn \
	tests/scenario/swap-mid-sweep.scn \
	tests/scenario/takeover.scn \
	tests/scenario/takeover-moved.scn \
	tests/scenario/tenants.scn tests/scenario/tenants-away.scn tests/scenario/tenants-store.scn \
	tests/scenario/tiny-cap.scn \
	tests/scenario/too-far.scn \
	tests/scenario/torus.scn \
	tests/scenario/trap-link.scn \
	tests/scenario/trap-not-swept.scn \
	tests/scenario/trap-rename.scn \
	tests/scenario/transition.scn \
	tests/scenario/traps.scn \
	tests/scenario/two-managers-storm.scn \
	tests/scenario/unserved.scn \
	tests/scenario/unserved-slow.scn \
	tests/scenario/violations.scn \
	tests/scenario/two-port.scn

EXTRA_DIST += tests/scenario/line.net tests/scenario/ring70.net tests/scenario/two-port.net tests/scenario/wide254.net \
	tests/scenario/wide-groups.net
