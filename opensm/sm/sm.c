// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subnet manager as its owner sees it: made, dispatched, asked; and the table that joins its
 * machines.
 */
#include "sm/sm.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/drawn_key.h"
#include "sm/base/events.h"
#include "sm/base/news.h"
#include "sm/routing/quiet.h"
#include "sm/routing/rail_watch.h"
#include "sm/routing/route_memory.h"
#include "sm/routing/seats.h"
#include "sm/base/about.h"
#include "sm/sweep/sweep_internal.h"
#include "util/mem.h"

/* MADs taken in per dispatch: signals and control sockets get their turn in between. */
#define MADS_PER_DISPATCH 256

/* ---- which machine learns what --------------------------------------------------------------- */

static void on_sweep_ended(struct sm *sm)
{
	reload_take(sm);
	dampening_sweep_ended(sm);
	marks_sweep_ended(sm);
	sick_sweep_ended(sm);
	expected_sweep_ended(sm);
	key_turn_sweep_ended(sm);
	strangers_look(sm);
	settle_sweep_ended(sm);
	key_rows_sweep_ended(sm);
	if (sm->hooks.status)
		sm->hooks.status(sm->hooks.arg, sm_status_line(sm));
}

static void on_node_goes(struct sm *sm, struct node *n)
{
	event_node_gone(sm, n);
	tenancy_node_goes(sm, n);
	sync_forget(sm->sync, n);
	cell_reader_forget(sm->m.reader, n);
	sick_node_goes(sm, n);
	dampening_forget(sm, n);
	violations_forget(sm, n);
	identity_node_goes(sm, n);
	mft_sync_forget(multicast_tables(sm), n);
	for (unsigned i = 0; i <= n->n_ports; i++)
		lids_forget(sm, &n->ports[i]);
}

static void on_state_leaves(struct sm *sm, enum sm_state next)
{
	if (sm->state == SM_STANDBY) {
		standby_leave(sm);
		lids_left_standby(sm);
		keys_ruled(sm);
	}
	if (next == SM_STANDBY)
		standby_enter(sm);
}

/*
 * These machines send as MASTER, to managers that have registered as standbys: of others, and in
 * other states, they are told nothing but that they are gone.
 */
static void on_standby(struct sm *sm, guid_t guid, bool connected)
{
	bool is_standby = connected && channel_is_standby(sm, guid);

	marks_peers_standby(sm, guid, is_standby);
	sick_peers_standby(sm, guid, is_standby);
}

static void on_manager(struct sm *sm, guid_t guid, bool connected)
{
	settle_peer(sm, guid, connected);
	on_standby(sm, guid, connected);
}

static void on_registered(struct sm *sm, guid_t guid, const uint8_t *record)
{
	bool was_standby = channel_is_standby(sm, guid);

	replica_manager_seen(sm, guid, record);
	channel_manager_seen(sm, guid, record);
	if (!was_standby && channel_is_standby(sm, guid))
		on_standby(sm, guid, true);
}

/* A manager that is not master any more has no standbys. */
static void leave_standbys(struct sm *sm)
{
	struct channel_peer_view p;

	for (unsigned i = 0; channel_peer_at(sm, i, &p); i++)
		on_standby(sm, p.guid, false);
}

static void on_state_entered(struct sm *sm, enum sm_state before)
{
	sweep_entered(sm);
	if (sm->state == SM_MASTER) {
		admin_open(sm);
	} else {
		multicast_stop(sm);
		admin_withdraw(sm);
	}
	replica_state_changed(sm);
	channel_state_changed(sm);
	settle_state_changed(sm, before);
	if (before == SM_MASTER)
		leave_standbys(sm);
	tenancy_state_changed(sm);
	share_state_changed(sm);
	key_turn_state_changed(sm);
	key_rows_state_changed(sm);
	marks_state_changed(sm);
	sick_state_changed(sm);
	expected_state_changed(sm);
	marks_peers_state_changed(sm);
	sick_peers_state_changed(sm);
	strangers_reset(sm);
	lockout_state_entered(sm, before);
	event_state(sm, before, sm->state);
}

static void act_on_delta(struct sm *sm, const struct delta *d, enum delta_kind kind)
{
	switch (kind) {
#define EFFECT(kind, event, to, effect)                                                            \
	case DELTA_##kind:                                                                         \
		log_debug("%s -> %s", event, to);                                                  \
		effect;                                                                            \
		break;
#include "sm/deltas.def"
#undef EFFECT
	case N_DELTAS:
		break;
	}
}

static void on_delta(struct sm *sm, const struct delta *d)
{
	for (enum delta_kind kind = 0; kind < N_DELTAS; kind++) {
		if (d->kinds & DELTA(kind))
			act_on_delta(sm, d, kind);
	}
}

static const struct wire {
	const char *event, *from, *to;
} wires[NEWS_KINDS] = {
#define WIRE(kind, event, from, to, effect) { event, from, to },
#include "sm/wires.def"
#undef WIRE
};

static void act_on_news(struct sm *sm, const struct news *n)
{
	switch (n->kind) {
#define WIRE(kind, event, from, to, effect)                                                        \
	case NEWS_##kind:                                                                          \
		effect;                                                                            \
		break;
#include "sm/wires.def"
#undef WIRE
	case NEWS_KINDS:
		break;
	}
}

static void tell_machines(struct sm *sm, const struct news *news)
{
	const struct wire *w = &wires[news->kind];

	log_debug("%s: %s -> %s%s%s", w->event, w->from, w->to, news->text ? ": " : "",
		  news->text ? news->text : "");
	act_on_news(sm, news);
}

/*
 * ---- what the layers below ask and tell -------------------------------------------------------
 */

static void on_sync_ended(void *owner, const struct sync_outcome *o)
{
	program_judge(owner, o);
}

static void on_unsettled(void *owner)
{
	struct sm *sm = owner;

	tell_news(sm, NEWS_TABLES, .text = "a Set was not answered");
}

static void on_set_fault(void *owner, struct port *p, bool silent)
{
	tell_news((struct sm *)owner, NEWS_BAD_ANSWER, .port = p,
		  .number = silent ? HEALTH_UNRESPONSIVE : HEALTH_SETERR);
}

/* The next sweep reads what a Set's answer showed: only the fall counts at once. */
static void on_sync_link_fell(void *owner, const struct delta *d)
{
	struct delta state = *d;

	state.kinds = DELTA(DELTA_PORT_STATE);
	tell_delta(owner, &state);
}

static bool has_rest(const struct sm *sm, guid_t standby)
{
	return share_is_with(sm, standby) && marks_peers_is_with(sm, standby);
}

/* Of links that are taken down as marked ones are. */
static struct mark_work *work_without_mark(struct sm *sm, guid_t node, uint8_t port)
{
	return sick_work(sm, node, port) ?: expected_work(sm, node, port);
}

static void make_machines(struct sm *sm, const struct sm_paths *paths)
{
	static const struct discover_questions questions = {
		.is_unchanged = incremental_is_unchanged,
		.is_in_question = incremental_is_in_question,
		.is_hidden = sick_is_hidden,
	};

	static const struct channel_questions channel_questions = {
		.is_from_master = replica_is_from_master,
		.path_sl = sm_path_sl,
	};

	static const struct replica_questions replica_questions = {
		.has_rows = settle_has_all,
		.has_rest = has_rest,
		.has_keys = key_rows_have_keys,
	};

	static const struct marks_questions marks_questions = {
		.is_replicated = marks_peers_have,
		.has_standby = marks_peers_are_there,
		.other_work = work_without_mark,
		.path_sl = sm_path_sl,
	};

	reload_new(sm, share_own(sm), share_layered);
	sm->m.change_age = change_age_new();
	sweep_new(sm, sweep_lists);
	discover_new(sm, &questions);
	sm->m.incremental = incremental_new();
	sm->m.light = light_new();
	sm->m.own = own_port_new();
	sm->m.reader = cell_reader_new(sm);
	sm->m.asker = single_gets_new();
	sm->m.adopt = adopt_new();
	sm->m.standby = standby_new();
	lids_new(sm, paths);
	keys_new(sm, paths);
	routing_new(sm, paths);
	sm->m.route_memory = route_memory_new();
	sm->m.program = program_new();
	partition_new(sm, paths);
	admin_new(sm, paths);
	multicast_new(sm);
	traps_new(sm);
	cc_traps_new(sm);
	sm->m.forgery = forgery_new();
	dampening_new(sm);
	marks_new(sm, paths, &marks_questions);
	sick_new(sm, paths);
	expected_new(sm, paths);
	violations_new(sm, elect_is_listed);
	lockout_new(sm);
	identity_new(sm, expected_place);
	strangers_new(sm);
	sm->m.quiet = quiet_new();
	sm->m.rail_watch = rail_watch_new();
	sm->m.seats = seats_new();
	replica_new(sm, &replica_questions);
	channel_new(sm, &channel_questions);
	marks_peers_new(sm);
	sick_peers_new(sm);
	settle_new(sm, paths, tenancy_unexplained);
	key_turn_new(sm);
	key_rows_new(sm);
	tenancy_new(sm, paths);
	settle_ready(sm);
	share_listen(sm);
	marks_peers_listen(sm);
	sick_peers_listen(sm);
	elect_new(sm, replica_may_succeed);
}

struct sm *sm_new(const struct conf *conf, struct transport *tr, const struct sm_paths *paths,
		  const struct sm_hooks *hooks)
{
	struct sm *sm = xcalloc(1, sizeof(*sm));
	struct mad_params params;
	const struct sync_hooks sync_hooks = {
		.may_write = elect_may_write,
		.may_activate = multicast_may_activate,
		.ended = on_sync_ended,
		.link_fell = on_sync_link_fell,
		.set_fault = on_set_fault,
		.unsettled = on_unsettled,
		.table_written = hooks->event ? event_table : NULL,
		.arg = sm,
	};

	assert(conf && tr && hooks && hooks->submit_job);
	sm->tell = tell_machines;
	sm->hooks = *hooks;
	sm->tr = tr;
	share_new(sm, conf, paths);
	params = sm_mad_params(sm->conf);
	params.draw = (struct mad_draw){ hooks->draw, hooks->arg };
	sm->mad = mad_new(tr, &params);
	mad_set_inbox(sm->mad, inbox_receive, sm);
	mad_set_gmp(sm->mad, inbox_gmp, sm);
	mad_set_stray(sm->mad, forgery_arrived, sm);
	sm->fabric = fabric_new();
	sm->sync = sync_new(sm->fabric, sm->mad, &sync_hooks);
	make_machines(sm, paths);
	drawn_key_new(sm, paths);
	sm->state = SM_NOT_ACTIVE;
	if (conf->sm_inactive) {
		log_sys_on(ABOUT(.id = LOG_ID_STATE_NOT_ACTIVE), "Entering %s state",
			   sm_state_name(SM_NOT_ACTIVE));
	} else {
		elect_enter(sm, SM_DISCOVERING);
		sweep_want(sm, SWEEP_HEAVY, "start");
	}
	return sm;
}

struct sm *sm_free(struct sm *sm)
{
	if (!sm)
		return NULL;
	mad_cancel(sm->mad, sm, NULL); /* while all that wait for answers are there */
	sm->m.reader = cell_reader_free(sm->m.reader);
	single_gets_free(sm);
	elect_free(sm);
	key_turn_free(sm);
	marks_free(sm);
	sick_free(sm);
	expected_free(sm);
	marks_peers_free(sm);
	sick_peers_free(sm);
	channel_free(sm);
	replica_free(sm);
	dampening_free(sm);
	violations_free(sm);
	lockout_free(sm);
	identity_free(sm);
	strangers_free(sm);
	quiet_free(sm->m.quiet);
	rail_watch_free(sm->m.rail_watch);
	seats_free(sm->m.seats);
	traps_free(sm);
	cc_traps_free(sm);
	sm->m.forgery = forgery_free(sm->m.forgery);
	multicast_free(sm);
	admin_free(sm);
	drawn_key_free(sm);
	sm->sync = sync_free(sm->sync);
	tenancy_free(sm);
	key_rows_free(sm);
	settle_free(sm);
	sm->mad = mad_free(sm->mad);
	routing_free(sm);
	sm->m.route_memory = route_memory_free(sm->m.route_memory);
	sm->m.program = program_free(sm->m.program);
	sm->fabric = fabric_free(sm->fabric);
	keys_free(sm);
	lids_free(sm);
	partition_free(sm);
	free(sm->m.standby);
	sm->m.adopt = adopt_free(sm->m.adopt);
	sm->m.own = own_port_free(sm->m.own);
	sm->m.light = light_free(sm->m.light);
	sm->m.incremental = incremental_free(sm->m.incremental);
	discover_free(sm);
	free(sm->m.sweeper);
	free(sm->m.change_age);
	share_free(sm);
	reload_free(sm);
	free(sm);
	return NULL;
}

/* Machines that have more to ask or to write than was queued so far. */
static void feed_machines(struct sm *sm)
{
	if (sm->sweep != SWEEP_NONE && discover_is_partial(sm))
		incremental_feed(sm);
	if (adopt_busy(sm))
		adopt_feed(sm);
	sync_feed(sm->sync);
	multicast_tick(sm);
}

static void go_on(struct sm *sm)
{
	feed_machines(sm);
	sweep_run(sm);
	feed_machines(sm);
}

int sm_dispatch(struct sm *sm, mono_t now)
{
	uint64_t ended;
	int r;

	sm->now = now;
	elect_tick(sm);
	traps_tick(sm);
	dampening_tick(sm);
	marks_tick(sm);
	sick_tick(sm);
	expected_tick(sm);
	identity_tick(sm);
	lockout_tick(sm);
	strangers_tick(sm);
	rail_watch_tick(sm);
	replica_tick(sm);
	channel_tick(sm);
	settle_tick(sm);
	share_tick(sm);
	key_turn_tick(sm);
	marks_peers_tick(sm);
	sick_peers_tick(sm);
	key_rows_tick(sm);
	status_tick(sm);
	tenancy_tick(sm);
	go_on(sm);
	r = mad_dispatch(sm->mad, now, MADS_PER_DISPATCH);
	admin_tick(sm);
	tenancy_tick(sm);
	go_on(sm);
	/*
	 * Requests just queued go out now, not at the next MAD. Some of them may end at once (a
	 * target that rests): then nothing else would wake us.
	 */
	do {
		ended = mad_ended(sm->mad);
		if (r < 0 || mad_dispatch(sm->mad, now, 0) < 0)
			break;
		go_on(sm);
	} while (mad_ended(sm->mad) != ended);
	return r;
}

mono_t sm_next(const struct sm *sm)
{
	mono_t next = mono_min(mad_next(sm->mad), mono_min(sweep_next(sm), elect_next(sm)));

	next = mono_min(next, mono_min(dampening_next(sm), replica_next(sm)));
	next = mono_min(next, mono_min(traps_next(sm), status_next(sm)));
	next = mono_min(next, mono_min(identity_next(sm), lockout_next(sm)));
	next = mono_min(next, mono_min(strangers_next(sm), rail_watch_next(sm)));
	next = mono_min(next, mono_min(channel_next(sm), share_next(sm)));
	next = mono_min(next, mono_min(key_turn_next(sm), settle_next(sm)));
	next = mono_min(next, mono_min(marks_next(sm), marks_peers_next(sm)));
	next = mono_min(next, mono_min(sick_peers_next(sm), key_rows_next(sm)));
	next = mono_min(next, mono_min(sick_next(sm), tenancy_next(sm)));
	next = mono_min(next, expected_next(sm));
	return mono_min(next, mono_min(admin_next(sm), multicast_next(sm)));
}

void sm_shutdown(struct sm *sm)
{
	elect_good_bye(sm); /* decides whether these are last words */
	if (sm->first_sweep_done)
		admin_save(sm, true);
}

const struct sm_stats *sm_stats(const struct sm *sm)
{
	return &sm->stats;
}

bool sm_own_silent(const struct sm *sm)
{
	return own_port_is_silent(sm->m.own);
}

const struct view *sm_view(const struct sm *sm)
{
	return sm->state == SM_MASTER ? admin_view(sm) : NULL;
}

enum sm_state sm_state(const struct sm *sm)
{
	return sm->state;
}

bool sm_sweeping(const struct sm *sm)
{
	return sm->sweep != SWEEP_NONE;
}

const struct fabric *sm_fabric(const struct sm *sm)
{
	return sm->fabric;
}

const struct route_death_count *sm_route_deaths(const struct sm *sm, unsigned *ret_n)
{
	return route_memory_counts(sm->m.route_memory, ret_n);
}

uint8_t sm_path_sl(const struct sm *sm, lid_t lid)
{
	uint8_t wish = sm->conf->sm_sl;
	const struct view *v = admin_view(sm);

	return v ? view_path_sl(v, v->sm_port, view_port_at(v, lid), lid, wish) : wish;
}

const struct conf *sm_conf(const struct sm *sm)
{
	return sm->conf;
}

const struct mad_engine *sm_mad(const struct sm *sm)
{
	return sm->mad;
}

struct mad_engine *sm_gmp_engine(struct sm *sm)
{
	return sm->mad;
}

const struct sa *sm_sa(const struct sm *sm)
{
	return sm->sa;
}
