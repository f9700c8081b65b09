// SPDX-License-Identifier: BSD-2-Clause
/*
 * A sweep is a list of steps. A step starts something and is busy until that has ended; the
 * interpreter below runs the list, and the timer decides which list is next.
 *
 * Whatever asks for a sweep while one runs is remembered, and served once the running one has been
 * finished and applied: a storm of traps costs one follow-up, never convergence.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/events.h"
#include "sm/say.h"
#include "util/mem.h"

/* After errors the next heavy sweep comes this soon, and no later than that. */
#define RETRY_FIRST	   (1 * MONO_S)
#define RETRY_LAST	   (60 * MONO_S)
/* Between two sweeps that traps asked for. */
#define HOLD_FIRST	   (100 * MONO_MS)
#define HOLD_LAST	   (2 * MONO_S)
/* How often our own link is looked at while it is down. */
#define PORT_DOWN_INTERVAL (10 * MONO_S)

enum step_result { STEP_NEXT, STEP_STOP };

struct step {
	const char *name;
	enum step_result (*start)(struct sm *sm);
	bool (*busy)(const struct sm *sm); /* NULL: never */
};

static const char *kind_name(const struct sm *sm);

static enum step_result discover_step(struct sm *sm)
{
	bool proof = sm->prove_tables && sm->first_sweep_done;

	if (sm->rival_seen) {
		prepare_distrust(sm);
		sm->takeover = false;
	}
	sm->rival_seen = false;
	if (sm->takeover) {
		standby_start_takeover(sm);
	} else {
		sm->sweep_no++;
		discover_start(sm);
	}
	sm->takeover = false;
	sm->read_tables = sm->tables_stale || proof;
	sm->prove_tables = sm->prove_tables && !proof;
	return STEP_NEXT;
}

static bool discover_busy(const struct sm *sm)
{
	if (sm->partial)
		return dirty_busy(sm);
	return sm->discover_pending + sm->descs_pending > 0;
}

/* Our own link is down: everything behind it is out of reach, and there is nothing to be master of. */
static enum step_result port_is_down(struct sm *sm)
{
	if (!sm->port_down_told)
		log_sys_on(about_port(LOG_ID_PORT_DOWN, sm->fabric->own_port), "SM port is down");
	if (!sm->port_down_told)
		event_plain(sm, SM_EVENT_PORT_DOWN);
	sm->port_down_told = true;
	sm->stats.up = false;
	if (sm->state == SM_MASTER)
		sm_enter(sm, SM_DISCOVERING);
	return STEP_STOP;
}

static enum step_result settle_step(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;

	if (!own || own->seen != sm->sweep_no) {
		sm->errors++;
		return STEP_STOP;
	}
	if (own->silent && port_state(own) > IB_PORT_DOWN) {
		log_on(about_port(LOG_ID_SILENT, own), LOGB_ERROR,
		       "who is next to our own port does not answer: this sweep ends here, nothing is "
		       "changed");
		sm->errors++;
		return STEP_STOP;
	}
	if (!sm->partial)
		discover_finish(sm);
	else if (!dirty_settle(sm))
		return STEP_STOP;
	if (!node_is_switch(own->node) && port_state(own) == IB_PORT_DOWN)
		return port_is_down(sm);
	if (sm->port_down_told)
		log_sys_on(about_port(LOG_ID_PORT_DOWN, sm->fabric->own_port), "SM port is up");
	sm->port_down_told = false;
	event_sweep(sm, SM_EVENT_DISCOVERED, kind_name(sm), true);
	return elect_decide(sm) ? STEP_NEXT : STEP_STOP;
}

static enum step_result lids_step(struct sm *sm)
{
	return prepare_lids(sm) < 0 ? STEP_STOP : STEP_NEXT;
}

static enum step_result partitions_step(struct sm *sm)
{
	reload_files(sm);
	if (partition_load(sm) < 0) {
		sm->errors++;
		return STEP_STOP;
	}
	admin_restore(sm);
	return STEP_NEXT;
}

/*
 * No switch has a LID: nobody was here since the power came on, so no switch forwards multicast. One
 * switch without a LID proves nothing: it may have been written to after it lost power, before anybody
 * knew.
 */
static void trust_cold_switches(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (node_is_switch(n) && (!n->ports[0].known || ib_get(n->ports[0].info, PI_LID)))
			return;
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		mft_have_clear(&n->mft);
		n->mft.inherited = false;
	}
}

static enum step_result tables_step(struct sm *sm)
{
	if (!sm->first_sweep_done)
		trust_cold_switches(sm);
	adopt_start(sm);
	return STEP_NEXT;
}

static enum step_result routes_step(struct sm *sm)
{
	sm->tables_stale &= !sm->read_tables;
	adopt_done(sm);
	prepare_routes(sm);
	return STEP_NEXT;
}

static bool job_busy(const struct sm *sm)
{
	return sm->route_pending;
}

/* A partition with an SL that routes decide; NULL: none. */
static const struct partition *overruled_partition(const struct sm *sm, const struct lanes *l)
{
	for (size_t i = 0; l && l->by != LANES_BY_NOTHING && sm->partitions && i < sm->partitions->n; i++) {
		if (sm->partitions->list[i].sl & l->sl_mask)
			return &sm->partitions->list[i];
	}
	return NULL;
}

/* What of the configuration counts for nothing is said once, until it is something else. */
static void plan_lanes(struct sm *sm)
{
	const struct partition *part;
	struct qos_plan plan;

	qos_plan_make(sm->plan_conf, sm->routes, &plan);
	part = overruled_partition(sm, plan.lanes);
	if (part && !plan.note[0])
		snprintf(plan.note, sizeof(plan.note),
			 "%s decides the SL of every path: sl=%u of partition '%.64s' is without effect",
			 sm->routes->engine, part->sl, part->name);
	if (plan.note[0] && strcmp(plan.note, sm->qos.note))
		log_info("%s", plan.note);
	sm->qos = plan;
}

/*
 * Without new routes (said by prepare_routes()) those of before stay in force, whatever they still lead to: a host that
 * comes back, a switch that lost power and partitions do not wait until an engine likes the fabric again.
 */
static enum step_result program_step(struct sm *sm)
{
	sm->errors += !sm->new_routes;
	if (!sm->new_routes && !sm->routes)
		return STEP_STOP;
	partition_plan(sm);
	if (sm->new_routes) {
		routes_unref(sm->routes);
		sm->routes = take(sm->new_routes);
		event_routes(sm, sm->sweep == SWEEP_REROUTE);
	}
	conf_unref(sm->plan_conf);
	sm->plan_conf = conf_ref(sm->conf);
	plan_lanes(sm);
	sm->plan = (struct plan){ .conf = sm->plan_conf,
				  .routes = sm->routes,
				  .transition = sm->transition,
				  .pkeys = sm->partitions_keep ? NULL : sm->pkeys,
				  .qos = &sm->qos,
				  .sm_lid = sm->fabric->own_port->lid,
				  .registry = sm->registry };
	sm->sync_rounds = 0;
	sm->ports_released = false;
	sync_start(sm->sync, &sm->plan);
	return STEP_NEXT;
}

static bool program_busy(const struct sm *sm)
{
	return sync_running(sm->sync);
}

/* Hosts are answered from here on; then their groups get their trees. */
static enum step_result multicast_step(struct sm *sm)
{
	admin_publish(sm);
	multicast_sweep(sm);
	return STEP_NEXT;
}

/* Cables that had to wait for multicast tables: the rest of the run finds nothing to do. */
static enum step_result release_step(struct sm *sm)
{
	sm->ports_released = true;
	if (sm->ports_held)
		sync_start(sm->sync, &sm->plan);
	return STEP_NEXT;
}

static enum step_result light_step(struct sm *sm)
{
	light_start(sm);
	return STEP_NEXT;
}

static enum step_result light_settle_step(struct sm *sm)
{
	if (!sm->light_found_change && !sm->light_missed)
		light_prove(sm);
	return STEP_NEXT;
}

/* From what is there to what should be: the same for all sweeps of a master. */
/* clang-format off */
#define STEPS_TO_WRITE                                              \
	{ "programming", program_step, program_busy },              \
	{ "multicast", multicast_step, multicast_busy },            \
	{ "cables that waited", release_step, program_busy },
#define STEPS_TO_SET_UP                                             \
	{ "LIDs", lids_step, NULL },                                \
	{ "reading tables", tables_step, adopt_busy },              \
	{ "routing", routes_step, job_busy },                       \
	STEPS_TO_WRITE
/* clang-format on */

static const struct step heavy_steps[] = {
	{ "discovery", discover_step, discover_busy },
	{ "election", settle_step, NULL },
	{ "partitions", partitions_step, NULL },
	STEPS_TO_SET_UP
};

static enum step_result dirty_step(struct sm *sm)
{
	dirty_start(sm);
	return STEP_NEXT;
}

static enum step_result dirty_settle_step(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;

	if (!dirty_settle(sm))
		return STEP_STOP;
	if (!node_is_switch(own->node) && port_state(own) == IB_PORT_DOWN)
		return port_is_down(sm);
	event_sweep(sm, SM_EVENT_DISCOVERED, kind_name(sm), true);
	return elect_decide(sm) ? STEP_NEXT : STEP_STOP;
}

static const struct step dirty_steps[] = {
	{ "reading what changed", dirty_step, discover_busy },
	{ "election", dirty_settle_step, NULL },
	STEPS_TO_SET_UP
};

static enum step_result reroute_step(struct sm *sm)
{
	sm->routes_fresh = true;
	prepare_routes(sm);
	return STEP_NEXT;
}

/* The fabric is taken to be what it was: an administrator asked for other routes, not for news. */
static const struct step reroute_steps[] = {
	{ "routing", reroute_step, job_busy },
	STEPS_TO_WRITE
};

static enum step_result watch_step(struct sm *sm)
{
	standby_look(sm);
	return STEP_NEXT;
}

static enum step_result watch_settle_step(struct sm *sm)
{
	return standby_settle(sm) ? STEP_NEXT : STEP_STOP;
}

static enum step_result watch_tables_step(struct sm *sm)
{
	adopt_start(sm);
	return STEP_NEXT;
}

static enum step_result watched_step(struct sm *sm)
{
	standby_seen(sm);
	adopt_done(sm);
	return STEP_NEXT;
}

/* What a standby does: see standby.c. */
static const struct step watch_steps[] = {
	{ "reading", watch_step, discover_busy },
	{ "what is there", watch_settle_step, NULL },
	{ "reading tables", watch_tables_step, adopt_busy },
	{ "what is known", watched_step, NULL },
};

static const struct step light_steps[] = {
	{ "light sweep", light_step, discover_busy },
	{ "light sweep result", light_settle_step, NULL },
};

static const struct kind {
	const char *name;
	const struct step *steps;
	unsigned n_steps;
} kinds[] = {
	[SWEEP_NONE] = { "no", NULL, 0 },
	[SWEEP_LIGHT] = { "light", light_steps, ARRAY_SIZE(light_steps) },
	[SWEEP_DIRTY] = { "dirty", dirty_steps, ARRAY_SIZE(dirty_steps) },
	[SWEEP_WATCH] = { "watch", watch_steps, ARRAY_SIZE(watch_steps) },
	[SWEEP_HEAVY] = { "heavy", heavy_steps, ARRAY_SIZE(heavy_steps) },
	[SWEEP_REROUTE] = { "rerouting", reroute_steps, ARRAY_SIZE(reroute_steps) },
};

static const char *kind_name(const struct sm *sm)
{
	return kinds[sm->sweep].name;
}

/* ---- the timer ----------------------------------------------------------------------------- */

void sweep_want(struct sm *sm, enum sweep_kind kind, const char *why)
{
	bool *wanted = kind == SWEEP_HEAVY     ? &sm->heavy_wanted
		       : kind == SWEEP_DIRTY   ? &sm->dirty_wanted
		       : kind == SWEEP_REROUTE ? &sm->reroute_wanted
					       : &sm->light_wanted;

	if (!*wanted)
		snprintf(sm->why, sizeof(sm->why), "%s", why);
	*wanted = true;
}

static mono_t interval(const struct sm *sm)
{
	return sm->conf->sweep_interval ? (mono_t)sm->conf->sweep_interval * MONO_S : MONO_NEVER;
}

/* 1 s, doubled with every sweep that failed in a row. */
static mono_t retry_delay(const struct sm *sm)
{
	return mono_min(RETRY_FIRST << MIN(sm->failed_sweeps - 1, 6u), RETRY_LAST);
}

/* Sweeps on demand keep a distance that grows while they find nothing to do: a storm of traps. */
static mono_t hold(const struct sm *sm)
{
	return mono_min(HOLD_FIRST << MIN(sm->fruitless, 5u), HOLD_LAST);
}

/* There are no light sweeps. */
bool sweep_all_heavy(const struct sm *sm)
{
	return sm->conf->force_heavy_sweep || !sm->fabric->n_switches;
}

/* When the timer is due next, and what for. */
static void plan_next_timer(struct sm *sm)
{
	mono_t every = interval(sm);
	bool heavy = sm->audit_wanted || sweep_all_heavy(sm);

	sm->sweep_at = every == MONO_NEVER ? MONO_NEVER : sm->now + every;
	sm->timer_heavy = heavy;
	sm->hold_until = sm->now + hold(sm);
}

/* Is it a sweep that writes on the picture that the one before left? */
static bool writes_change(const struct sm *sm)
{
	return sm->sweep == SWEEP_DIRTY || sm->sweep == SWEEP_REROUTE;
}

/* Whatever went wrong in a sweep that did not read all, a heavy one sets it right. */
static void plan_next(struct sm *sm)
{
	bool failed = sm->errors || sm->soft_faults;

	if (failed)
		sm->failed_sweeps++;
	else if (sm->sweep == SWEEP_HEAVY)
		sm->failed_sweeps = 0;
	if (sm->sweep == SWEEP_HEAVY || (writes_change(sm) && failed))
		sm->retry_at = sm->failed_sweeps ? sm->now + retry_delay(sm) : MONO_NEVER;
	if (sm->port_down_told)
		sm->retry_at = sm->now + PORT_DOWN_INTERVAL;
	if (writes_change(sm))
		dirty_ended(sm);
	else
		plan_next_timer(sm);
}

/* A dirty sweep needs a whole picture to start from, and nobody else at work. */
static bool can_be_dirty(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->first_sweep_done && sm->fabric->own_port &&
	       sm->fabric->n_switches && !sm->rival_seen && !sm->port_down_told;
}

static enum sweep_kind due(struct sm *sm)
{
	bool timer = sm->now >= sm->sweep_at;

	if (sm->state == SM_NOT_ACTIVE || sm->sweeping_off)
		return SWEEP_NONE;
	sm->reroute_wanted &= sm->state == SM_MASTER;
	if (sm->state == SM_STANDBY) {
		sm->light_wanted = false;
		sm->watch_whole |= sm->heavy_wanted;
		return standby_due(sm) || sm->heavy_wanted ? SWEEP_WATCH : SWEEP_NONE;
	}
	if ((sm->heavy_wanted && sm->now >= sm->hold_until) || sm->now >= sm->retry_at ||
	    (timer && sm->timer_heavy))
		return SWEEP_HEAVY;
	if (sm->dirty_wanted && sm->now >= sm->dirty_at)
		return can_be_dirty(sm) ? SWEEP_DIRTY : SWEEP_HEAVY;
	if (sm->reroute_wanted && can_be_dirty(sm))
		return SWEEP_REROUTE;
	if ((sm->light_wanted && sm->now >= sm->hold_until) || timer)
		return SWEEP_LIGHT;
	return SWEEP_NONE;
}

mono_t sweep_next(const struct sm *sm)
{
	mono_t timer = mono_min(sm->sweep_at, sm->retry_at);

	if (sm->sweep != SWEEP_NONE || sm->state == SM_NOT_ACTIVE || sm->sweeping_off)
		return MONO_NEVER;
	if (sm->state == SM_STANDBY)
		return sm->heavy_wanted ? 0 : standby_next(sm);
	if (sm->reroute_wanted && can_be_dirty(sm))
		return 0;
	if (sm->dirty_wanted)
		timer = mono_min(timer, sm->dirty_at);
	if (sm->heavy_wanted || sm->light_wanted)
		timer = mono_min(timer, sm->hold_until);
	return timer;
}

/* ---- the run ------------------------------------------------------------------------------- */

static void begin(struct sm *sm, enum sweep_kind kind)
{
	snprintf(sm->sweep_why, sizeof(sm->sweep_why), "%s", sm->why[0] ? sm->why : "timer");
	log_verbose("%s sweep: %s", kinds[kind].name, sm->sweep_why);
	sm->sweep = kind;
	sm->step = 0;
	sm->step_pending = false;
	sm->errors = sm->soft_faults = 0;
	sm->sweep_started = sm->step_started = sm->now;
	sm->sweep_gets = mad_sent(sm->mad, MAD_GET);
	sm->sweep_sets = mad_sent(sm->mad, MAD_SET);
	if (kind == SWEEP_REROUTE)
		sm->reroute_wanted = false;
	else if (kind != SWEEP_DIRTY)
		sm->light_wanted = false;
	if (kind == SWEEP_HEAVY || kind == SWEEP_WATCH)
		sm->heavy_wanted = false;
	sm->read_tables = sm->believe_bits = false;
	sm->why[0] = '\0';
	event_sweep(sm, SM_EVENT_SWEEP_START, kind_name(sm), false);
}

/* A switch that does not tell of its ports keeps nobody waiting. */
static bool is_served(const struct node *n)
{
	return !n->misses && (!node_is_switch(n) || (n->switch_known && n->ports[0].known));
}

/* A port between two that answer, which should be ACTIVE by now. */
static bool is_pending(const struct port *p)
{
	return p->peer && !p->quarantined && !p->held && is_served(p->node) &&
	       is_served(p->peer->node) &&
	       (!p->known || port_state(p) == IB_PORT_INIT || port_state(p) == IB_PORT_ARMED);
}

static void note_pending(struct sm *sm, struct port *p)
{
	if (!is_pending(p)) {
		if (p->pending >= PORT_STUCK_AFTER && p->avoided)
			dirty_port(sm, p, "a port that was stuck is not any more");
		p->pending = 0;
		return;
	}
	sm->stats.ports_pending++;
	p->pending += sm->sweep == SWEEP_HEAVY && p->pending < UINT8_MAX;
	if (p->pending >= PORT_STUCK_AFTER)
		health_stuck(sm, p);
}

static void report_ports(struct sm *sm)
{
	struct sm_stats *st = &sm->stats;

	st->ports_active = st->ports_pending = st->silent_nodes = 0;
	FABRIC_EACH_NODE(sm->fabric, n) {
		st->silent_nodes += n->misses > 0;
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			st->ports_active += port_state(p) == IB_PORT_ACTIVE;
			note_pending(sm, p);
			p->is_new = false;
		}
		n->is_new = false;
	}
}

/* What happened between reading and clearing shows nowhere. (After the first sweep all are read again.) */
static void read_cleared_late(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->cleared_late)
			dirty_switch(sm, n, "PortStateChange was cleared after ports were read");
	}
}

/* A sweep that writes went through to its last step, as MASTER. */
static void complete(struct sm *sm)
{
	struct sm_stats *st = &sm->stats;
	bool heavy = sm->sweep == SWEEP_HEAVY;

	st->heavy_sweeps += heavy;
	st->dirty_sweeps += sm->sweep == SWEEP_DIRTY;
	st->last_gets = mad_sent(sm->mad, MAD_GET) - sm->sweep_gets;
	st->last_sets = mad_sent(sm->mad, MAD_SET) - sm->sweep_sets;
	report_ports(sm);
	sm->errors += st->ports_pending;
	st->last_errors = sm->errors;
	st->up = sm->errors == 0;
	log_milestone(ABOUT(.id = LOG_ID_NONE), LOGB_INFO,
		      "%s sweep %u (%s): %u Gets, %u Sets, %u errors in %" PRId64 " ms",
		      kinds[sm->sweep].name, heavy ? st->heavy_sweeps : st->dirty_sweeps,
		      sm->sweep_why, st->last_gets, st->last_sets, sm->errors,
		      (sm->now - sm->sweep_started) / MONO_MS);
	if (st->up)
		log_milestone(ABOUT(.id = LOG_ID_SUBNET_UP), LOGB_INFO, "SUBNET UP");
	else if (!sm->errors_told)
		log_sys_on(ABOUT(.id = LOG_ID_ERRORS), "Errors during initialization");
	else
		log_on(ABOUT(.id = LOG_ID_ERRORS), LOGB_ERROR,
		       "%u errors in this sweep; the next comes in at most %d s", sm->errors,
		       (int)(RETRY_LAST / MONO_S));
	sm->errors_told = !st->up;
	sm->fruitless = st->last_sets || !st->up ? 0 : sm->fruitless + 1;
	if (heavy)
		sm->audit_wanted = !sm->first_sweep_done;
	if (sm->first_sweep_done && !sm->audit_wanted)
		read_cleared_late(sm);
	sm->first_sweep_done = true;
	if (sm->prove_tables)
		sweep_want(sm, SWEEP_HEAVY, "what was taken over is proved");
	sm->former_sm_lid = 0;
	prepare_save(sm);
	event_sweep(sm, SM_EVENT_SUBNET_UP, kind_name(sm), true);
	if (sm->hooks.subnet_up)
		sm->hooks.subnet_up(sm->hooks.arg, sm);
}

static void end(struct sm *sm, bool through)
{
	if (through && (sm->sweep == SWEEP_HEAVY || writes_change(sm)))
		complete(sm);
	else if (sm->sweep == SWEEP_LIGHT)
		sm->stats.light_sweeps++;
	if (through && sm->sweep == SWEEP_HEAVY && sweep_all_heavy(sm))
		light_audit_names(sm);
	if (sm->sweep == SWEEP_WATCH)
		standby_watched(sm, through);
	else
		plan_next(sm);
	event_sweep(sm, SM_EVENT_SWEEP_DONE, kind_name(sm), through);
	sm->sweep = SWEEP_NONE;
	reload_take(sm);
	health_sweep_ended(sm);
	if (sm->hooks.status)
		sm->hooks.status(sm->hooks.arg, sm_status_line(sm));
}

/* One step forward. False: nothing can be done now. */
static bool advance(struct sm *sm)
{
	const struct step *st = &kinds[sm->sweep].steps[sm->step];

	if (!sm->step_pending) {
		sm->step_pending = true;
		if (st->start(sm) == STEP_STOP) {
			end(sm, false);
			return true;
		}
	}
	if (st->busy && st->busy(sm))
		return false;
	log_debug("step '%s' took %" PRId64 " ms", st->name,
		  (sm->now - sm->step_started) / MONO_MS);
	sm->step_started = sm->now;
	sm->step_pending = false;
	if (++sm->step == kinds[sm->sweep].n_steps)
		end(sm, true);
	return true;
}

void sweep_run(struct sm *sm)
{
	for (;;) {
		if (sm->sweep == SWEEP_NONE) {
			enum sweep_kind kind = due(sm);

			if (kind == SWEEP_NONE)
				return;
			begin(sm, kind);
		}
		if (!advance(sm))
			return;
	}
}
