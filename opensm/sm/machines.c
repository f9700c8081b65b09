// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machines of sm/, a row each: all that sm.c does for a machine is a column of its row. One
 * order serves all columns, because a machine needs those above it and not those below:
 *
 *   reload to drawn_key       how the fabric is read, written and shown to hosts
 *   elect                     the state, which the ticks of all rows below ask for
 *   traps to rail_watch       links and hosts, and what is wrong with them
 *   replica to strangers      other managers; the channel stands before those that send by it
 *   alarms, status            look at all others
 *
 * So machines are made, and work, from the first to the last, and let go of nodes and end from the
 * last to the first; their memory is freed when all have ended. A machine that asks one further
 * down is given a function for it, such as struct marks_questions.
 */
#include "sm/machines.h"

#include <assert.h>

#include "sm/alarms/alarms.h"
#include "sm/base/drawn_key.h"
#include "sm/routing/quiet.h"
#include "sm/routing/rail_watch.h"
#include "sm/sweep/sweep_internal.h"
#include "util/mem.h"

/* ---- questions to other machines ------------------------------------------------------------- */

static const struct discover_questions discover_questions = {
	.is_unchanged = incremental_is_unchanged,
	.is_in_question = incremental_is_in_question,
	.is_hidden = sick_is_hidden,
};

static const struct channel_questions channel_questions = {
	.path_sl = sm_path_sl,
};

static const struct replica_questions replica_questions = {
	.has_rows = settle_has_all,
	.has_rest = share_is_with,
	.has_keys = key_rows_have_keys,
};

static const struct marks_questions marks_questions = {
	.closed = settle_unready,
	.waits = settle_is_asking,
	.commit = marks_rows_commit,
	.reach = marks_rows_reach,
};

/* ---- tables of the ledger -------------------------------------------------------------------- */

static const struct settle_owner owners[LEDGER_TABLES] = {
	[LEDGER_PARTITION] = { .changed = tenancy_derive },
	[LEDGER_MEMBER] = { .changed = tenancy_derive },
	[LEDGER_MARK] = { .changed = marks_rows_take, .former = &marks_rows_former },
	[LEDGER_HEALTH] = { .changed = sick_rows_take, .former = &sick_rows_former },
	[LEDGER_CONFIG] = { .changed = share_take_rows },
	[LEDGER_SEED] = { .changed = key_turn_take_seeds },
	[LEDGER_EPOCH] = { .changed = key_rows_take_epochs },
	[LEDGER_CABLE] = { .changed = key_rows_take_cables },
};

/* Defines the column `new` of a machine that needs functions of others. */
#define MAKE(machine, ...)                                                                         \
	static void make_##machine(struct sm *sm, const struct sm_paths *paths)                    \
	{ machine##_new(sm, __VA_ARGS__); }

MAKE(reload, share_own(sm), share_layered)
MAKE(sweep, sweep_lists)
MAKE(discover, &discover_questions)
MAKE(elect, replica_may_succeed)
MAKE(patching, multicast_mended)
MAKE(out_of_use, sm_path_sl)
MAKE(marks, &marks_questions)
MAKE(violations, elect_is_listed)
MAKE(identity, expected_place)
MAKE(replica, &replica_questions)
MAKE(channel, &channel_questions)
MAKE(alarms, sm_unserved)
MAKE(settle, paths, owners, tenancy_unexplained)

/* ---- rows ------------------------------------------------------------------------------------ */

/* Columns that most rows fill with functions of these names. */
#define LIFE(machine)  #machine, .new = machine##_new, .free = machine##_free
#define ASKED(machine) #machine, .new = make_##machine, .free = machine##_free
#define TICKS(machine) .tick = machine##_tick, .next = machine##_next

const struct machine machines[] = {
	{ ASKED(reload), .sweep_ended = reload_take },
	{ ASKED(sweep), .next = sweep_next, .state_changed = sweep_state_changed },
	{ "discover", .new = make_discover, .serve = discover_serve, .next = discover_next,
	  .node_goes = cell_reader_node_goes },
	{ "incremental", .feed = incremental_feed },
	{ "state_poll", TICKS(state_poll) },
	{ "adopt", .feed = adopt_feed },
	{ "standby", .state_leaves = standby_state_leaves },
	{ LIFE(lids), .node_goes = lids_node_goes },
	{ LIFE(keys) },
	{ LIFE(routing) },
	{ ASKED(patching), .feed = patching_feed, .next = patching_next,
	  .node_goes = patching_node_goes },
	{ "program", .free = program_free, .feed = program_feed, .node_goes = program_node_goes },
	{ LIFE(partition) },
	{ LIFE(multicast), .feed = multicast_feed, .next = multicast_next,
	  .state_changed = multicast_state_changed, .node_goes = multicast_node_goes },
	{ LIFE(admin), .serve = admin_tick, .next = admin_next,
	  .state_changed = admin_state_changed },
	{ LIFE(drawn_key) },
	{ ASKED(elect), TICKS(elect), .reconfigured = elect_reconfigured,
	  .node_goes = elect_node_goes },
	{ LIFE(traps), TICKS(traps) },
	{ ASKED(out_of_use), TICKS(out_of_use), .state_changed = out_of_use_state_changed,
	  .sweep_ended = out_of_use_sweep_ended, .node_goes = out_of_use_node_goes },
	{ "marks", .new = make_marks, .listen = marks_rows_listen, .end = marks_end, TICKS(marks),
	  .state_changed = marks_state_changed, .sweep_ended = marks_sweep_ended },
	{ LIFE(sick), TICKS(sick), .state_changed = sick_state_changed,
	  .sweep_ended = sick_sweep_ended, .node_goes = sick_node_goes },
	{ LIFE(expected), TICKS(expected), .state_changed = expected_state_changed,
	  .sweep_ended = expected_sweep_ended },
	{ ASKED(violations), .node_goes = violations_forget },
	{ ASKED(identity), TICKS(identity), .node_goes = identity_node_goes },
	{ "lockout", TICKS(lockout), .state_leaves = lockout_state_leaves },
	{ "quiet", .free = quiet_free },
	{ "rail_watch", .free = rail_watch_free, TICKS(rail_watch) },
	{ ASKED(replica), TICKS(replica), .state_changed = replica_state_changed },
	{ ASKED(channel), TICKS(channel), .state_changed = channel_state_changed },
	{ ASKED(settle), TICKS(settle), .listen = settle_listen,
	  .state_changed = settle_state_changed, .sweep_ended = settle_sweep_ended },
	{ "sick_rows", TICKS(sick_rows) },
	/* requests are judged as soon as they arrive, and answered */
	{ LIFE(tenancy), TICKS(tenancy), .serve = tenancy_tick,
	  .state_changed = tenancy_state_changed, .sweep_ended = tenancy_sweep_ended,
	  .node_goes = tenancy_node_goes },
	/* sm_new() has called share_new(), as other machines need the configuration */
	{ "share", .free = share_free, TICKS(share), .reconfigured = share_reconfigured,
	  .state_changed = share_state_changed },
	{ "key_turn", .free = key_turn_free, TICKS(key_turn), .reconfigured = key_turn_reconfigured,
	  .state_changed = key_turn_state_changed, .sweep_ended = key_turn_sweep_ended },
	{ "key_rows", TICKS(key_rows), .state_changed = key_rows_state_changed,
	  .sweep_ended = key_rows_sweep_ended },
	{ "strangers", TICKS(strangers), .state_changed = strangers_reset,
	  .sweep_ended = strangers_look },
	{ ASKED(alarms), .state_changed = alarms_state_changed,
	  .sweep_ended = alarms_sweep_ended, .node_goes = alarms_node_goes },
	{ "status", TICKS(status), .sweep_ended = status_tell },
};
const unsigned n_machines = ARRAY_SIZE(machines);

struct machine_lists *machine_lists_new(void)
{
	struct machine_lists *ret = xcalloc(1, sizeof(*ret));
	unsigned ticks = 0, serves = 0, feeds = 0, nexts = 0;

	assert(n_machines < MACHINES_MAX);
	EACH_MACHINE(m, tick)
		ret->tick[ticks++] = m->tick;
	EACH_MACHINE(m, serve)
		ret->serve[serves++] = m->serve;
	EACH_MACHINE(m, feed)
		ret->feed[feeds++] = m->feed;
	EACH_MACHINE(m, next)
		ret->next[nexts++] = m->next;
	return ret;
}
