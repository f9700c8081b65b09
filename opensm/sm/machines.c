// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machines of sm/, a row each: all that sm.c does for a machine is a column of its row. One
 * order serves all columns: what a row needs stands above it.
 *
 *   the fabric as it is read and written   reload to drawn_key
 *   the election                           before all that ask the state in their ticks
 *   links, and what is wrong with them     traps to lockout
 *   standbys                               replica to strangers: the channel before those that send
 *
 * Machines that ask others below them in this table are given functions (struct x_questions).
 */
#include "sm/machines.h"

#include "sm/base/drawn_key.h"
#include "sm/routing/quiet.h"
#include "sm/routing/rail_watch.h"
#include "sm/sweep/sweep_internal.h"

/* ---- questions to other machines ------------------------------------------------------------- */

static bool has_stored(const struct sm *sm, guid_t standby)
{
	return tenancy_is_with(sm, standby) && share_is_with(sm, standby) &&
	       marks_peers_is_with(sm, standby) && line_peers_is_with(sm, standby);
}

/* Of links that are taken down as marked ones are. */
static struct mark_work *work_without_mark(struct sm *sm, guid_t node, uint8_t port)
{
	return sick_work(sm, node, port) ?: expected_work(sm, node, port);
}

static const struct discover_questions discover_questions = {
	.is_unchanged = incremental_is_unchanged,
	.is_in_question = incremental_is_in_question,
	.is_hidden = sick_is_hidden,
};

static const struct channel_questions channel_questions = {
	.is_from_master = replica_is_from_master,
	.path_sl = sm_path_sl,
};

static const struct replica_questions replica_questions = {
	.has_stored = has_stored,
	.has_lines = line_peers_have_lines,
};

static const struct marks_questions marks_questions = {
	.is_replicated = marks_peers_have,
	.has_standby = marks_peers_are_there,
	.other_work = work_without_mark,
	.path_sl = sm_path_sl,
};

/* The column `new` of a machine with questions. */
#define MAKE(machine, ...)                                                                         \
	static void make_##machine(struct sm *sm, const struct sm_paths *paths)                    \
	{                                                                                          \
		machine##_new(sm, __VA_ARGS__);                                                    \
	}

MAKE(reload, share_own(sm), share_layered)
MAKE(sweep, sweep_lists)
MAKE(discover, &discover_questions)
MAKE(elect, replica_may_succeed)
MAKE(marks, paths, &marks_questions)
MAKE(violations, elect_is_listed)
MAKE(identity, expected_place)
MAKE(replica, &replica_questions)
MAKE(channel, &channel_questions)

/* ---- rows ------------------------------------------------------------------------------------ */

const struct machine machines[] = {
	{ "reload", .new = make_reload, .sweep_ended = reload_take, .free = reload_free },
	{ "sweep", .new = make_sweep, .next = sweep_next, .state_changed = sweep_state_changed,
	  .free = sweep_free },
	{ "discover", .new = make_discover, .free = discover_free },
	{ "incremental", .new = incremental_new, .feed = incremental_feed,
	  .free = incremental_free },
	{ "light", .new = light_new, .free = light_free },
	{ "own_port", .new = own_port_new, .free = own_port_free },
	{ "cell_reader", .new = cell_reader_new, .node_goes = cell_reader_node_goes,
	  .end = cell_reader_end },
	{ "single_gets", .new = single_gets_new, .end = single_gets_end },
	{ "adopt", .new = adopt_new, .feed = adopt_feed, .free = adopt_free },
	{ "standby", .new = standby_new, .state_leaves = standby_state_leaves,
	  .free = standby_free },
	{ "lids", .new = lids_new, .state_leaves = lids_state_leaves, .node_goes = lids_node_goes,
	  .free = lids_free },
	{ "keys", .new = keys_new, .state_leaves = keys_state_leaves, .free = keys_free },
	{ "routing", .new = routing_new, .free = routing_free },
	{ "program", .new = program_new, .feed = program_feed, .node_goes = program_node_goes,
	  .free = program_free },
	{ "partition", .new = partition_new, .free = partition_free },
	{ "multicast", .new = multicast_new, .feed = multicast_feed, .next = multicast_next,
	  .state_changed = multicast_state_changed, .node_goes = multicast_node_goes,
	  .free = multicast_free },
	{ "admin", .new = admin_new, .serve = admin_tick, .next = admin_next,
	  .state_changed = admin_state_changed, .free = admin_free },
	{ "drawn_key", .new = drawn_key_new, .free = drawn_key_free },
	{ "elect", .new = make_elect, .tick = elect_tick, .next = elect_next,
	  .reconfigured = elect_reconfigured, .free = elect_free },
	{ "traps", .new = traps_new, .tick = traps_tick, .next = traps_next, .free = traps_free },
	{ "cc_traps", .new = cc_traps_new, .free = cc_traps_free },
	{ "forgery", .new = forgery_new, .free = forgery_free },
	{ "dampening", .new = dampening_new, .tick = dampening_tick, .next = dampening_next,
	  .sweep_ended = dampening_sweep_ended, .node_goes = dampening_forget,
	  .free = dampening_free },
	{ "marks", .new = make_marks, .tick = marks_tick, .next = marks_next,
	  .state_changed = marks_state_changed, .sweep_ended = marks_sweep_ended,
	  .end = marks_end },
	{ "sick", .new = sick_new, .tick = sick_tick, .next = sick_next,
	  .state_changed = sick_state_changed, .sweep_ended = sick_sweep_ended,
	  .node_goes = sick_node_goes, .free = sick_free },
	{ "expected", .new = expected_new, .tick = expected_tick, .next = expected_next,
	  .state_changed = expected_state_changed, .sweep_ended = expected_sweep_ended,
	  .free = expected_free },
	{ "violations", .new = make_violations, .node_goes = violations_forget,
	  .free = violations_free },
	{ "identity", .new = make_identity, .tick = identity_tick, .next = identity_next,
	  .node_goes = identity_node_goes, .free = identity_free },
	{ "lockout", .new = lockout_new, .tick = lockout_tick, .next = lockout_next,
	  .state_leaves = lockout_state_leaves, .free = lockout_free },
	{ "quiet", .new = quiet_new, .free = quiet_free },
	{ "rail_watch", .new = rail_watch_new, .tick = rail_watch_tick, .next = rail_watch_next,
	  .free = rail_watch_free },
	{ "replica", .new = make_replica, .tick = replica_tick, .next = replica_next,
	  .state_changed = replica_state_changed, .free = replica_free },
	{ "channel", .new = make_channel, .tick = channel_tick, .next = channel_next,
	  .state_changed = channel_state_changed, .free = channel_free },
	/* Its requests are judged as soon as they arrive, and answered. */
	{ "tenancy", .new = tenancy_new, .tick = tenancy_tick, .serve = tenancy_tick,
	  .next = tenancy_next, .state_changed = tenancy_state_changed, .standby = tenancy_standby,
	  .node_goes = tenancy_node_goes, .free = tenancy_free },
	/* Made by sm_new(): the layers below are made with the configuration that it finds. */
	{ "share", .listen = share_listen, .tick = share_tick, .next = share_next,
	  .state_changed = share_state_changed, .free = share_free },
	{ "key_turn", .new = key_turn_new, .listen = key_turn_listen, .tick = key_turn_tick,
	  .next = key_turn_next, .state_changed = key_turn_state_changed,
	  .reconfigured = key_turn_reconfigured, .sweep_ended = key_turn_sweep_ended,
	  .standby = key_turn_standby, .free = key_turn_free },
	{ "marks_peers", .new = marks_peers_new, .listen = marks_peers_listen,
	  .tick = marks_peers_tick, .next = marks_peers_next,
	  .state_changed = marks_peers_state_changed, .standby = marks_peers_standby,
	  .free = marks_peers_free },
	{ "sick_peers", .new = sick_peers_new, .listen = sick_peers_listen,
	  .tick = sick_peers_tick, .next = sick_peers_next,
	  .state_changed = sick_peers_state_changed, .standby = sick_peers_standby,
	  .free = sick_peers_free },
	{ "line_peers", .new = line_peers_new, .listen = line_peers_listen,
	  .tick = line_peers_tick, .next = line_peers_next,
	  .state_changed = line_peers_state_changed, .sweep_ended = line_peers_sweep_ended,
	  .standby = line_peers_standby, .free = line_peers_free },
	{ "strangers", .new = strangers_new, .tick = strangers_tick, .next = strangers_next,
	  .state_changed = strangers_reset, .sweep_ended = strangers_look,
	  .free = strangers_free },
	{ "status", .tick = status_tick, .next = status_next, .sweep_ended = status_tell },
};
const unsigned n_machines = ARRAY_SIZE(machines);
