// SPDX-License-Identifier: BSD-2-Clause
/*
 * The steps of sweeps, and their list for each kind of sweep. A step asks one machine to do one
 * thing; sweep.c decides which step is next, and handles a list that stops.
 */
#include <stdio.h>

#include "sm/base/events.h"
#include "sm/routing/quiet.h"
#include "sm/base/about.h"
#include "sm/sweep/sweep_internal.h"
#include "util/mem.h"

static void discover_step(struct sm *sm)
{
	if (elect_rival_seen(sm))
		standby_distrust(sm);
	elect_rival_dealt_with(sm);
	if (!standby_start_takeover(sm))
		discover_start(sm);
}

static bool is_reading(const struct sm *sm)
{
	return discover_is_partial(sm) ? incremental_busy(sm) : discover_busy(sm);
}

/* Called after reading. False: our own link is down, or another manager must be master. */
static bool election_goes_on(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;
	bool down = !node_is_switch(own->node) && port_state(own) == IB_PORT_DOWN;

	sweep_port_down(sm, down);
	if (down && sm->state == SM_MASTER)
		elect_enter(sm, SM_DISCOVERING);
	if (down)
		return false;
	sweep_tell(sm, SM_EVENT_DISCOVERED, true);
	return elect_decide(sm);
}

/* Describes how the keys are sought if our neighbour is locked, for a log record. */
static void seek_keys(struct sm *sm, char ret[200])
{
	const char *why = replica_seek_keys(sm);

	if (why)
		snprintf(ret, 200,
			 "copy m_key_ring, guid2mkey and neighbors of the master's cache folder "
			 "(the master is not asked for keys: %s)", why);
	else
		snprintf(ret, 200, "the master is asked for the keys");
}

/*
 * Is our neighbour locked? It shows that it has a key, but not which, so nothing could be set up.
 * This manager then does not become master.
 */
static bool is_locked_out(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;
	struct port *next = own->peer;
	char todo[200];

	if (!keys_ring(sm) || sm->state == SM_MASTER || !next ||
	    !fabric_hides_mkey(port_of_sma(next)))
		return false;
	seek_keys(sm, todo);
	log_port(port_of_sma(next), LOG_ID_LOCKED, LOGB_ERROR,
		 "its M_Key is not known here: this sweep ends here, nothing is changed; %s", todo);
	return true;
}

/* Does our neighbour not answer? At level 2 a locked node is as silent as a broken one. */
static bool is_shut_off(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;
	char todo[200] = "";

	if (!own->silent || port_state(own) <= IB_PORT_DOWN)
		return false;
	if (sm->state != SM_MASTER && keys_ring(sm) && ib_get(own->info, PI_M_KEY))
		seek_keys(sm, todo);
	log_on(about_port(LOG_ID_SILENT, own), LOGB_ERROR,
	       "the node next to our own port does not answer: this sweep ends here, "
	       "nothing is changed%s%s", todo[0] ? "; if it is locked: " : "", todo);
	return true;
}

static bool settle_step(struct sm *sm)
{

	if (!own_port_was_read(sm))
		return false;
	if (is_locked_out(sm) || is_shut_off(sm)) {
		sweep_fault(sm, 1);
		return false;
	}
	if (!discover_is_partial(sm)) {
		lids_forget_ports(sm);
		discover_finish(sm);
	} else if (!incremental_settle(sm)) {
		return false;
	}
	return election_goes_on(sm);
}

static bool load_partitions(struct sm *sm)
{
	if (partition_load(sm))
		return true;
	sweep_fault(sm, 1);
	return false;
}

static bool partitions_step(struct sm *sm)
{
	bool restored;

	reload_files(sm);
	if (!load_partitions(sm))
		return false;
	restored = replica_restore(sm);
	if (restored)
		lids_left_by_ours(sm);
	admin_restore(sm, restored);
	return true;
}

/* Notes that no switch forwards multicast if no manager was here since power came on. */
static void trust_cold_switches(struct sm *sm)
{
	if (!discover_is_cold(sm))
		return;
	FABRIC_EACH_NODE(sm->fabric, n)
		observe_cold(n);
}

static void tables_step(struct sm *sm)
{
	if (!sm->first_sweep_done)
		trust_cold_switches(sm);
	sm->stats.tables_began = sm->now;
	adopt_start(sm);
}

/* Forgets routes that no switch holds: the tables that were found take their place. */
static void take_found_tables(struct sm *sm)
{
	if (!adopt_done(sm) || !sm_routes(sm))
		return;
	log_at(sweep_reads_again(sm) ? LOGB_VERBOSE : LOGB_INFO,
	       "forwarding tables of switches were changed by another program, or another manager: "
	       "routes begin with what was found");
	routing_forget(sm);
}

static void routes_step(struct sm *sm)
{
	standby_tables_read(sm);
	take_found_tables(sm);
	routing_start(sm);
	/* On the first setup all P_Key tables and links are still to be written. */
	if (!sm->first_sweep_done && routing_busy(sm))
		program_start_ahead(sm);
}

static bool routes_are_open(const struct sm *sm)
{
	return routing_busy(sm) || program_busy(sm) || patching_busy(sm);
}

/* Publishes the view, by which hosts are answered; then plans trees of their groups. */
static void multicast_step(struct sm *sm)
{
	admin_publish(sm);
	multicast_sweep(sm);
}

/* Steps from the present to the wanted fabric: the same for all sweeps of a master. */
/* clang-format off */
#define STEPS_TO_WRITE                                                                \
	{ "programming", .try_start = program_start, .busy = program_busy },          \
	{ "multicast", .start = multicast_step, .busy = multicast_busy },             \
	{ "cables that waited", .start = program_release, .busy = program_busy },
#define STEPS_TO_SET_UP                                                               \
	{ "LIDs", .try_start = lids_assign },                                         \
	{ "reading tables", .start = tables_step, .busy = adopt_busy },               \
	{ "routing", .start = routes_step, .busy = routes_are_open, .computes = true }, \
	STEPS_TO_WRITE
/* clang-format on */

static const struct step heavy_steps[] = { { "expected topology", .start = expected_recall,
					     .busy = expected_busy, .computes = true },
					   { "discovery", .start = discover_step,
					     .busy = is_reading },
					   { "election", .try_start = settle_step },
					   { "partitions", .try_start = partitions_step,
					     .busy = expected_busy, .computes = true },
					   STEPS_TO_SET_UP };

static void incremental_step(struct sm *sm)
{
	incremental_start(sm, false);
}

static bool incremental_settle_step(struct sm *sm)
{
	return own_port_was_read(sm) && incremental_settle(sm) && election_goes_on(sm);
}

/* Loads partitions if SIGHUP has brought another file. */
static bool new_partitions_step(struct sm *sm)
{
	return !partition_has_news(sm) || load_partitions(sm);
}

static const struct step incremental_steps[] = {
	{ "reading what changed", .start = incremental_step, .busy = is_reading },
	{ "election", .try_start = incremental_settle_step },
	{ "partitions", .try_start = new_partitions_step, .busy = expected_busy, .computes = true },
	STEPS_TO_SET_UP
};

static void reroute_step(struct sm *sm)
{
	struct route_report report;

	if (quiet_has_better(sm)) {
		struct routes *better = quiet_take(sm, &report);

		routing_take_quiet(sm, better, &report);
		return;
	}
	routing_afresh(sm);
	routing_start(sm);
}

/* Routing of an unchanged fabric: an administrator asked for other routes, or quiet.c has them. */
static const struct step reroute_steps[] = { { "routing", .start = reroute_step,
					       .busy = routing_busy, .computes = true },
					     STEPS_TO_WRITE };

static void watched_step(struct sm *sm)
{
	standby_seen(sm);
	take_found_tables(sm);
}

/* The sweep of a standby: see standby.c. */
static const struct step watch_steps[] = {
	{ "expected topology", .start = expected_recall, .busy = expected_busy, .computes = true },
	{ "reading", .start = standby_look, .busy = is_reading },
	{ "settling", .try_start = standby_settle },
	{ "reading tables", .start = adopt_start, .busy = adopt_busy },
	{ "publishing", .start = watched_step },
};

static const struct step light_steps[] = {
	{ "light sweep", .start = light_start, .busy = light_busy },
	{ "light sweep result", .start = light_settle },
};

const struct step_list sweep_lists[SWEEP_KINDS] = {
	[SWEEP_NONE] = { "no", NULL, 0 },
	[SWEEP_LIGHT] = { "light", light_steps, ARRAY_SIZE(light_steps) },
	[SWEEP_INCREMENTAL] = { "dirty", incremental_steps, ARRAY_SIZE(incremental_steps) },
	[SWEEP_WATCH] = { "watch", watch_steps, ARRAY_SIZE(watch_steps) },
	[SWEEP_HEAVY] = { "heavy", heavy_steps, ARRAY_SIZE(heavy_steps) },
	[SWEEP_REROUTE] = { "rerouting", reroute_steps, ARRAY_SIZE(reroute_steps) },
};

const char *sweep_kind_name(enum sweep_kind kind)
{
	return sweep_lists[kind].name;
}
