// SPDX-License-Identifier: BSD-2-Clause
/*
 * A sweep is a list of steps. A step starts something and is busy until that has ended; the
 * interpreter below runs the list, and the timer chooses the next list. Requests during a sweep are
 * remembered, and served after it has been finished and applied: a storm of traps costs one
 * additional sweep, never convergence.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/events.h"
#include "sm/routing/quiet.h"
#include "sm/base/about.h"
#include "sm/sweep/sweep_internal.h"
#include "sm/base/news.h"
#include "util/mem.h"
#include "util/told.h"

/* First and longest pause before the heavy sweep that follows errors. */
#define RETRY_FIRST	   (1 * MONO_S)
#define RETRY_LAST	   (60 * MONO_S)
/* Least time between sweeps that traps ask for, at first and at most. */
#define HOLD_FIRST	   (100 * MONO_MS)
#define HOLD_LAST	   (2 * MONO_S)
/* Period at which our own link is read while it is down. */
#define PORT_DOWN_INTERVAL (10 * MONO_S)

/* Records that were logged on our own link, and on the last complete sweep. */
enum { TOLD_PORT_DOWN, TOLD_ERRORS, TOLD_UP };

struct sweep {
	const struct step_list *lists; /* indexed by enum sweep_kind */
	unsigned step;		       /* index in the running list */
	bool step_pending;
	unsigned wanted;    /* bits of the kinds that are wanted: 1 << enum sweep_kind */
	char next_why[160]; /* reason for the next sweep */
	char why[160];	    /* reason for this sweep */
	bool timer_heavy;   /* set if the timer asks for a heavy sweep */
	bool audit_wanted; /* set if the first sweep cleared change bits that it had not seen set */
	struct told told;
	unsigned failed;    /* number of failed sweeps in a row */
	unsigned fruitless; /* number of heavy sweeps in a row with nothing to write */
	mono_t retry_at;    /* time of the heavy sweep after errors, or MONO_NEVER */
	mono_t timer_at;
	mono_t hold_until; /* no sweep on demand before this time */
	mono_t step_started;
	uint64_t n_gets, n_sets; /* counters at the start of the sweep */
	/* n_answers: counter at the start; n_moved: at the last progress */
	uint64_t n_answers, n_moved;
	unsigned errors;      /* errors of this sweep: nodes that took part and failed */
	unsigned soft_faults; /* silent nodes, and tables that had to wait, in this sweep */
};
MACHINE_MEMORY(sweep);

void sweep_new(struct sm *sm, const struct step_list *lists)
{
	assert(lists);
	sm->m.sweep->lists = lists;
	sm->m.sweep->timer_at = sm->m.sweep->retry_at = MONO_NEVER;
	sm->m.change_age = change_age_new();
}

void sweep_free(struct sm *sm)
{
	free(sm->m.change_age);
}

/* ---- what others say, and may know ---------------------------------------------------------- */

void sweep_fault(struct sm *sm, unsigned n)
{
	sm->m.sweep->errors += n;
}

void sweep_soft_fault(struct sm *sm)
{
	sm->m.sweep->soft_faults++;
}

unsigned sweep_errors(const struct sm *sm)
{
	return sm->m.sweep->errors;
}

mono_t sweep_step_since(const struct sm *sm)
{
	return sm->m.sweep->step_started;
}

/*
 * The number of answers; without those of other managers and of the port state poll, which do not
 * depend on sweeps.
 */
static uint64_t answers(const struct sm *sm)
{
	return mad_answered(sm->mad, IB_ATTR_SM_INFO) - state_poll_stats_of(sm)->answered;
}

/* The number of Gets sent, without those of the port state poll. */
static uint64_t gets_sent(const struct sm *sm)
{
	return mad_sent(sm->mad, MAD_GET) - state_poll_stats_of(sm)->asked;
}

/* The poll counts a Get that the transport may yet refuse. */
static uint64_t gets_of_sweep(const struct sm *sm)
{
	uint64_t now = gets_sent(sm);

	return now > sm->m.sweep->n_gets ? now - sm->m.sweep->n_gets : 0;
}

uint64_t sweep_answers(const struct sm *sm)
{
	return answers(sm) - sm->m.sweep->n_answers;
}

bool sweep_retries(const struct sm *sm)
{
	return sm->m.sweep->retry_at != MONO_NEVER;
}

bool sweep_left_errors(const struct sm *sm)
{
	return told_holds(&sm->m.sweep->told, TOLD_ERRORS);
}

bool sweep_reads_again(const struct sm *sm)
{
	return sm->m.sweep->audit_wanted;
}

bool sweep_said_up(const struct sm *sm)
{
	return told_holds(&sm->m.sweep->told, TOLD_UP);
}

bool sweep_port_is_down(const struct sm *sm)
{
	return told_holds(&sm->m.sweep->told, TOLD_PORT_DOWN);
}

void sweep_count_silent(struct sm *sm, bool silent)
{
	uint32_t *n = &sm->stats.silent_nodes;

	if (silent)
		++*n;
	else if (*n)
		--*n;
}

void sweep_count_routing(struct sm *sm, bool made_tables)
{
	sm->stats.no_routes = made_tables ? 0 : sm->stats.no_routes + 1;
}

void sweep_tell(struct sm *sm, enum sm_event_kind event, bool through)
{
	const struct sweep *s = sm->m.sweep;
	struct sm_event e = {
		.kind = event,
		.sweep = {
			.kind = sm->sweep,
			.why = s->why,
			.n_gets = (unsigned)gets_of_sweep(sm),
			.n_sets = (unsigned)(mad_sent(sm->mad, MAD_SET) - s->n_sets),
			.errors = s->errors,
			.ms = (unsigned)((sm->now - sm->sweep_started) / MONO_MS),
			.through = through,
		},
	};

	event_raise(sm, &e);
}

void sweep_port_down(struct sm *sm, bool down)
{
	enum told_change change = told_change(&sm->m.sweep->told, TOLD_PORT_DOWN, down);

	if (change != TOLD_SAME)
		log_sys_on(about_port(LOG_ID_PORT_DOWN, sm->fabric->own_port), "SM port is %s",
			   down ? "down" : "up");
	if (change == TOLD_BEGINS)
		event_plain(sm, SM_EVENT_PORT_DOWN);
	if (change != TOLD_SAME)
		tell_news(sm, NEWS_CUT_OFF);
	if (down)
		sm->stats.up = false;
}

void sweep_state_changed(struct sm *sm)
{
	if (sm->state == SM_NOT_ACTIVE)
		change_age_drop(sm->m.change_age, ~0u);
	if (sm->state != SM_MASTER) {
		told_change(&sm->m.sweep->told, TOLD_UP, false);
		change_age_drop(sm->m.change_age, 1u << SWEEP_REROUTE);
		sm->first_sweep_done = false;
	}
}

const char *sweep_step_name(const struct sm *sm)
{
	return sm->sweep == SWEEP_NONE
		       ? ""
		       : sm->m.sweep->lists[sm->sweep].steps[sm->m.sweep->step].name;
}

/* ---- the timer ----------------------------------------------------------------------------- */

bool sweep_is_wanted(const struct sm *sm, enum sweep_kind kind)
{
	return sm->m.sweep->wanted >> kind & 1;
}

void sweep_want(struct sm *sm, enum sweep_kind kind, const char *why)
{
	struct sweep *s = sm->m.sweep;

	assert(kind > SWEEP_NONE && kind < SWEEP_KINDS && why);
	if (!sweep_is_wanted(sm, kind))
		snprintf(s->next_why, sizeof(s->next_why), "%s", why);
	s->wanted |= 1u << kind;
	if (sm->state != SM_NOT_ACTIVE && !(kind == SWEEP_LIGHT && sm->state == SM_STANDBY))
		change_age_asked(sm->m.change_age, kind, why, sm->now);
}

void sweep_want_now(struct sm *sm, enum sweep_kind kind, const char *why)
{
	sweep_want(sm, kind, why);
	sm->m.sweep->hold_until = sm->now;
}

void sweep_because(struct sm *sm, const char *why)
{
	struct sweep *s = sm->m.sweep;

	if (!s->next_why[0])
		snprintf(s->next_why, sizeof(s->next_why), "%s", why);
}

static mono_t timer_interval(const struct sm *sm)
{
	return sm->conf->sweep_interval ? (mono_t)sm->conf->sweep_interval * MONO_S : MONO_NEVER;
}

/* The pause after failed sweeps: 1 s, doubled for each in a row. */
static mono_t retry_delay(const struct sm *sm)
{
	return mono_min(RETRY_FIRST << MIN(sm->m.sweep->failed - 1, 6u), RETRY_LAST);
}

/*
 * The pause between sweeps on demand, which grows while they find nothing to do, as in a storm of
 * traps.
 */
static mono_t hold_time(const struct sm *sm)
{
	return mono_min(HOLD_FIRST << MIN(sm->m.sweep->fruitless, 5u), HOLD_LAST);
}

/* Are there no light sweeps? */
bool sweep_all_heavy(const struct sm *sm)
{
	return sm->conf->force_heavy_sweep || !sm->fabric->n_switches;
}

void sweep_plan_timer(struct sm *sm)
{
	mono_t every = timer_interval(sm);

	sm->m.sweep->timer_at = every == MONO_NEVER ? MONO_NEVER : sm->now + every;
	sm->m.sweep->timer_heavy = sm->m.sweep->audit_wanted || sweep_all_heavy(sm);
}

/* Sets the timer for the next sweep, and its kind. */
static void plan_next_timer(struct sm *sm)
{
	sweep_plan_timer(sm);
	sm->m.sweep->hold_until = sm->now + hold_time(sm);
}

/* Does this sweep write on the fabric as the sweep before left it? */
static bool writes_change(const struct sm *sm)
{
	return sm->sweep == SWEEP_INCREMENTAL || sm->sweep == SWEEP_REROUTE;
}

/* Plans the next sweep: a heavy one if this one failed, or did not read everything. */
static void plan_next(struct sm *sm)
{
	struct sweep *s = sm->m.sweep;
	bool failed = s->errors || s->soft_faults;

	if (failed)
		s->failed++;
	else if (sm->sweep == SWEEP_HEAVY)
		s->failed = 0;
	if (sm->sweep == SWEEP_HEAVY || (writes_change(sm) && failed))
		s->retry_at = s->failed ? sm->now + retry_delay(sm) : MONO_NEVER;
	if (sweep_port_is_down(sm))
		s->retry_at = sm->now + PORT_DOWN_INTERVAL;
	if (writes_change(sm))
		incremental_ended(sm);
	else
		plan_next_timer(sm);
}

/*
 * Is a dirty sweep possible? It needs a complete picture to start from, and no other active master.
 */
static bool can_be_dirty(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->first_sweep_done && picture_holds(sm) &&
	       sm->fabric->n_switches && !elect_rival_seen(sm) && !sweep_port_is_down(sm);
}

/* Is there a request for a part of the fabric, but no picture to which it could be added? */
static bool needs_picture(const struct sm *sm)
{
	return !picture_holds(sm) &&
	       (sweep_is_wanted(sm, SWEEP_LIGHT) || sm->now >= incremental_next(sm));
}

/*
 * Lets an engine run again that died some time ago: routes from scratch, which change nothing if it
 * dies again.
 */
static void ask_engines_again(struct sm *sm)
{
	if (!can_be_dirty(sm))
		return;
	if (routing_try_process_again(sm))
		tell_news(sm, NEWS_TABLES, .text = "a process for routing is tried again");
	if (!routing_ask_engines_again(sm))
		return;
	sweep_want(sm, SWEEP_REROUTE, "an engine that died is asked again");
}

/*
 * May routes be replaced, by request of an administrator or for a quiet time? Those of a quiet time
 * are dropped if a sweep is wanted that may change tables.
 */
static bool may_reroute(const struct sm *sm)
{
	bool quiet = quiet_has_better(sm) && !sweep_is_wanted(sm, SWEEP_INCREMENTAL) &&
		     !sweep_is_wanted(sm, SWEEP_HEAVY);

	return (sweep_is_wanted(sm, SWEEP_REROUTE) || quiet) && can_be_dirty(sm);
}

static enum sweep_kind due_sweep(struct sm *sm)
{
	struct sweep *s = sm->m.sweep;
	bool timer = sm->now >= s->timer_at;

	if (sm->state == SM_NOT_ACTIVE || sm->sweeping_off ||
	    (own_port_is_silent(sm->m.own_port) && sm->now < own_port_next(sm->m.own_port)))
		return SWEEP_NONE;
	ask_engines_again(sm);
	if (sm->state != SM_MASTER)
		s->wanted &= ~(1u << SWEEP_REROUTE);
	if (own_port_is_silent(sm->m.own_port))
		return sm->state == SM_STANDBY ? SWEEP_WATCH : SWEEP_HEAVY;
	if (sm->state == SM_STANDBY) {
		s->wanted &= ~(1u << SWEEP_LIGHT);
		if (sweep_is_wanted(sm, SWEEP_HEAVY))
			standby_watch_whole(sm);
		return standby_due(sm) || sweep_is_wanted(sm, SWEEP_HEAVY) ? SWEEP_WATCH
									   : SWEEP_NONE;
	}
	if (((sweep_is_wanted(sm, SWEEP_HEAVY) || needs_picture(sm)) && sm->now >= s->hold_until) ||
	    sm->now >= s->retry_at || (timer && (s->timer_heavy || !picture_holds(sm))))
		return SWEEP_HEAVY;
	if (!picture_holds(sm))
		return SWEEP_NONE;
	if (sm->now >= incremental_next(sm))
		return can_be_dirty(sm) ? SWEEP_INCREMENTAL : SWEEP_HEAVY;
	if (may_reroute(sm))
		return SWEEP_REROUTE;
	if ((sweep_is_wanted(sm, SWEEP_LIGHT) && sm->now >= s->hold_until) || timer)
		return SWEEP_LIGHT;
	return SWEEP_NONE;
}

mono_t sweep_next(const struct sm *sm)
{
	const struct sweep *s = sm->m.sweep;
	mono_t timer = mono_min(s->timer_at, s->retry_at);

	if (sm->sweep != SWEEP_NONE || sm->state == SM_NOT_ACTIVE || sm->sweeping_off)
		return MONO_NEVER;
	if (own_port_is_silent(sm->m.own_port))
		return own_port_next(sm->m.own_port);
	if (sm->state == SM_STANDBY)
		return sweep_is_wanted(sm, SWEEP_HEAVY) ? 0 : standby_next(sm);
	if (may_reroute(sm))
		return 0;
	if (can_be_dirty(sm))
		timer = mono_min(timer, routing_next(sm));
	timer = mono_min(timer, quiet_next(sm));
	if (sweep_is_wanted(sm, SWEEP_INCREMENTAL))
		timer = mono_min(timer, picture_holds(sm)
						? incremental_next(sm)
						: MAX(incremental_next(sm), s->hold_until));
	if (sweep_is_wanted(sm, SWEEP_HEAVY) || sweep_is_wanted(sm, SWEEP_LIGHT))
		timer = mono_min(timer, s->hold_until);
	return timer;
}

/* ---- the run ------------------------------------------------------------------------------- */

static void begin_sweep(struct sm *sm, enum sweep_kind kind)
{
	struct sweep *s = sm->m.sweep;

	snprintf(s->why, sizeof(s->why), "%s", s->next_why[0] ? s->next_why : "timer");
	log_verbose("%s sweep: %s", s->lists[kind].name, s->why);
	sm->sweep = kind;
	s->step = 0;
	s->step_pending = false;
	s->errors = s->soft_faults = 0;
	sm->sweep_started = s->step_started = sm->now;
	s->n_gets = gets_sent(sm);
	s->n_sets = mad_sent(sm->mad, MAD_SET);
	s->n_answers = s->n_moved = answers(sm);
	if (kind == SWEEP_HEAVY || kind == SWEEP_INCREMENTAL ||
	    (kind == SWEEP_REROUTE && sweep_is_wanted(sm, SWEEP_REROUTE)))
		quiet_interrupted(sm);
	s->wanted &= ~sweep_covers(kind);
	adopt_plan(sm, false);
	s->next_why[0] = '\0';
	change_age_began(sm->m.change_age, kind, sm->now);
	sweep_tell(sm, SM_EVENT_SWEEP_START, false);
}

/* Is the node served? A port of a switch that does not report its ports is not waited for. */
static bool is_served(const struct node *n)
{
	return !n->misses && (!node_is_switch(n) || (n->switch_known && n->ports[0].known));
}

/* Should the port be ACTIVE by now, as both ends of its cable answer? */
static bool is_pending(const struct port *p)
{
	return p->peer && !p->quarantined && !p->out.held && is_served(p->node) &&
	       is_served(p->peer->node) &&
	       (!p->known || port_state(p) == IB_PORT_INIT || port_state(p) == IB_PORT_ARMED);
}

static void note_pending(struct sm *sm, struct port *p)
{
	if (!is_pending(p)) {
		if (p->pending >= PORT_STUCK_AFTER && p->out.avoided)
			tell_port(sm, p, "a port that was stuck is not any more");
		if (p->pending)
			observe_shown(p->node);
		p->pending = 0;
		return;
	}
	sm->stats.ports_pending++;
	sm->stats.ports_stuck += p->pending >= PORT_STUCK_AFTER;
	p->pending += sm->sweep == SWEEP_HEAVY && p->pending < UINT8_MAX;
	if (p->pending == PORT_STUCK_AFTER)
		observe_shown(p->node);
	if (p->pending >= PORT_STUCK_AFTER)
		out_of_use_stuck(sm, p);
}

static void report_ports(struct sm *sm)
{
	struct sm_stats *st = &sm->stats;

	st->ports_active = st->ports_pending = st->ports_stuck = st->silent_nodes = 0;
	FABRIC_EACH_NODE(sm->fabric, n) {
		st->silent_nodes += n->misses > 0 || node_is_mute(n);
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			st->ports_active += port_state(p) == IB_PORT_ACTIVE;
			note_pending(sm, p);
		}
	}
}

/* Has switches read again whose ports changed between reading and clearing PortStateChange. */
static void read_cleared_late(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->cleared_late)
			tell_switch(sm, n, "PortStateChange was cleared after ports were read");
	}
}

/*
 * Logs the end of a sweep: at the default level only what changed. SUBNET UP is for the subnet that
 * comes up, when this manager became master or errors are over; log_compat has it every time.
 */
static void tell_end(struct sm *sm, unsigned n)
{
	struct sweep *s = sm->m.sweep;
	const struct sm_stats *st = &sm->stats;
	bool came_up = told_change(&s->told, TOLD_UP, st->up) == TOLD_BEGINS;

	log_milestone(ABOUT(.id = LOG_ID_NONE), LOGB_VERBOSE,
		      "%s sweep %u (%s): %u Gets, %u Sets, %u errors in %" PRId64 " ms",
		      s->lists[sm->sweep].name, n, s->why, st->last_gets, st->last_sets, s->errors,
		      (sm->now - sm->sweep_started) / MONO_MS);
	if (st->up) {
		told_change(&s->told, TOLD_ERRORS, false);
		if (came_up || sm->conf->log_compat)
			log_milestone(ABOUT(.id = LOG_ID_SUBNET_UP), LOGB_INFO, "SUBNET UP");
	} else if (told_first(&s->told, TOLD_ERRORS)) {
		log_sys_on(ABOUT(.id = LOG_ID_ERRORS), "Errors during initialization");
		log_on(ABOUT(.id = LOG_ID_ERRORS), LOGB_ERROR,
		       "the subnet is not set up whole: %u ports or tables are not as they should "
		       "be ('opensmctl status' names them); sweeps try again, at most %d s apart, "
		       "and SUBNET UP follows when all is well",
		       s->errors, (int)(RETRY_LAST / MONO_S));
	}
}

/* Completes a sweep of a master that went through all steps. */
static void complete_sweep(struct sm *sm)
{
	struct sweep *s = sm->m.sweep;
	struct sm_stats *st = &sm->stats;
	bool heavy = sm->sweep == SWEEP_HEAVY;

	st->heavy_sweeps += heavy;
	if (heavy)
		st->tables_read_since = st->tables_began;
	st->dirty_sweeps += sm->sweep == SWEEP_INCREMENTAL;
	st->last_gets = gets_of_sweep(sm);
	st->last_sets = mad_sent(sm->mad, MAD_SET) - s->n_sets;
	report_ports(sm);
	s->errors += settle_links_wait(sm) ? 0 : st->ports_pending;
	st->last_errors = s->errors;
	st->up = s->errors == 0;
	tell_end(sm, heavy ? st->heavy_sweeps : st->dirty_sweeps);
	s->fruitless = st->last_sets || !st->up ? 0 : s->fruitless + 1;
	if (heavy)
		s->audit_wanted = !sm->first_sweep_done;
	if (sm->first_sweep_done && !s->audit_wanted)
		read_cleared_late(sm);
	sm->first_sweep_done = true;
	if (standby_written(sm))
		sweep_want(sm, SWEEP_HEAVY,
			   "tables and registrations of the former master are verified");
	lids_save(sm);
	sweep_tell(sm, SM_EVENT_SUBNET_UP, true);
	if (sm->hooks.subnet_up)
		sm->hooks.subnet_up(sm->hooks.arg, sm);
}

/* Are all errors ports that are reported as stuck, so that no further sweep is awaited? */
static bool left_nothing_open(const struct sm *sm)
{
	if (!picture_holds(sm) || (sm->state == SM_MASTER && elect_polled(sm)))
		return false;
	return sm->m.sweep->errors <= sm->stats.ports_stuck;
}

static void end_sweep(struct sm *sm, bool through)
{
	if (through && (sm->sweep == SWEEP_HEAVY || writes_change(sm)))
		complete_sweep(sm);
	else if (sm->sweep == SWEEP_LIGHT)
		sm->stats.light_sweeps++;
	if (through && sm->sweep == SWEEP_HEAVY && sweep_all_heavy(sm))
		light_audit(sm);
	own_port_compare_devices(sm);
	if (sm->sweep == SWEEP_WATCH)
		standby_watched(sm, through, sm->m.sweep->errors || sm->m.sweep->soft_faults);
	else
		plan_next(sm);
	change_age_ended(sm->m.change_age, left_nothing_open(sm), sm->now);
	sweep_tell(sm, SM_EVENT_SWEEP_DONE, through);
	sm->sweep = SWEEP_NONE;
	tell_news(sm, NEWS_SWEEP_ENDED);
}

/* Notes progress of a step that waits for answers. */
static void note_answers(struct sm *sm, const struct step *st)
{
	struct sweep *s = sm->m.sweep;
	uint64_t now = answers(sm);

	if (now != s->n_moved && !st->computes)
		change_age_moved(sm->m.change_age, sm->now);
	s->n_moved = now;
}

/* Runs the present step. False: nothing can be done now. */
static bool advance_step(struct sm *sm)
{
	struct sweep *s = sm->m.sweep;
	const struct step *st = &s->lists[sm->sweep].steps[s->step];

	if (!s->step_pending) {
		s->step_pending = true;
		if (st->start) {
			st->start(sm);
		} else if (!st->try_start(sm)) {
			end_sweep(sm, false);
			return true;
		}
	}
	if (st->busy && st->busy(sm)) {
		note_answers(sm, st);
		return false;
	}
	log_debug("step '%s' took %" PRId64 " ms", st->name, (sm->now - s->step_started) / MONO_MS);
	change_age_moved(sm->m.change_age, sm->now);
	s->step_started = sm->now;
	s->step_pending = false;
	if (++s->step == s->lists[sm->sweep].n_steps)
		end_sweep(sm, true);
	return true;
}

void sweep_run(struct sm *sm)
{
	for (;;) {
		if (sm->sweep == SWEEP_NONE) {
			enum sweep_kind kind = due_sweep(sm);

			if (kind == SWEEP_NONE) {
				quiet_tick(sm);
				return;
			}
			begin_sweep(sm, kind);
		}
		if (!advance_step(sm))
			return;
	}
}
