// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subnet manager for its owner: made, dispatched, asked. Machines are rows of machines.c;
 * wires.def says which machine is informed of what.
 */
#include "sm/sm.h"

#include <assert.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/base/news.h"
#include "sm/machines.h"
#include "sm/routing/quiet.h"
#include "sm/routing/rail_watch.h"
#include "sm/routing/route_memory.h"
#include "util/mem.h"

/* ---- which machine learns what --------------------------------------------------------------- */

/* For wires.def: an event that is a column of the table of machines. */
#define TELL_ROWS(each, event, ...)                                                                \
	each(m, event)                                                                             \
	{                                                                                          \
		log_debug("%s -> %s", #event, m->name);                                            \
		m->event(__VA_ARGS__);                                                             \
	}

static void on_registered(struct sm *sm, guid_t guid, const uint8_t *record)
{
	replica_manager_seen(sm, guid, record);
	channel_manager_seen(sm, guid, record);
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

/* ---- what the layers below ask and tell ------------------------------------------------------ */

static void on_sync_ended(void *owner, const struct sync_outcome *o)
{
	program_judge(owner, o);
}

static void on_unsettled(void *owner)
{
	tell_news((struct sm *)owner, NEWS_TABLES, .text = "a Set was not answered");
}

static void on_set_fault(void *owner, struct port *p, bool silent)
{
	tell_news((struct sm *)owner, NEWS_BAD_ANSWER, .port = p,
		  .number = silent ? HEALTH_UNRESPONSIVE : HEALTH_SETERR);
}

/* Only the fall is handled at once; the next sweep reads what the answer to a Set showed. */
static void on_sync_link_fell(void *owner, const struct delta *d)
{
	struct delta state = *d;

	state.kinds = DELTA(DELTA_PORT_STATE);
	tell_delta(owner, &state);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void *memory_of(const struct machine_memory *m)
{
	void *ret = xcalloc(1, m->size);

	if (m->at_first)
		memcpy(ret, m->at_first, m->size);
	return ret;
}

static void memory_new(struct sm *sm)
{
#define ALLOCATE(name) sm->m.name = memory_of(&name##_memory);
	EACH_MEMORY(ALLOCATE)
#undef ALLOCATE
}

/* Ends the Gets and Sets under way by calling their callers back; all objects exist. */
static void cancel_all(struct sm *sm)
{
	mad_cancel(sm->mad, sm, NULL);
#define CANCEL(name) mad_cancel(sm->mad, sm->m.name, NULL);
	EACH_MEMORY(CANCEL)
#undef CANCEL
}

/* Wiped, as some of it holds keys. */
static void memory_free(struct sm *sm)
{
#define WIPE(name) free_wiped(sm->m.name, name##_memory.size);
	EACH_MEMORY(WIPE)
#undef WIPE
}

struct sm *sm_new(const struct conf *conf, struct transport *tr, const struct sm_paths *paths,
		  const struct sm_hooks *hooks)
{
	struct sm *sm = xcalloc(1, sizeof(*sm));
	struct mad_params params;
	const struct sync_hooks sync_hooks = {
		.may_write = elect_may_write,
		.may_arm = settle_may_arm,
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
	memory_new(sm);
	sm->hooks = *hooks;
	sm->tr = tr;
	share_new(sm, conf, paths);
	params = sm_mad_params(sm->conf);
	params.draw = (struct mad_draw){ hooks->draw, hooks->arg };
	sm->mad = mad_new(tr, &params);
	mad_set_inbox(sm->mad, inbox_receive, sm);
	mad_set_gmp(sm->mad, inbox_gmp, sm);
	mad_set_stray(sm->mad, forgery_arrived, sm);
	mad_set_hold(sm->mad, settle_holds, sm);
	sm->fabric = fabric_new();
	sm->sync = sync_new(sm->fabric, sm->mad, &sync_hooks);
	sm->lists = machine_lists_new();
	EACH_MACHINE(m, new)
		m->new(sm, paths);
	EACH_MACHINE(m, listen)
		m->listen(sm);
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
	cancel_all(sm);
	EACH_MACHINE(m, end)
		m->end(sm);
	sm->sync = sync_free(sm->sync);
	EACH_MACHINE_BACK(m, free)
		m->free(sm);
	sm->mad = mad_free(sm->mad);
	sm->fabric = fabric_free(sm->fabric);
	memory_free(sm);
	free(sm->lists);
	free(sm);
	return NULL;
}

static void feed_machines(struct sm *sm)
{
	for (unsigned i = 0; sm->lists->feed[i]; i++)
		sm->lists->feed[i](sm);
}

static void go_on(struct sm *sm)
{
	feed_machines(sm);
	sweep_run(sm);
	feed_machines(sm);
}

static void serve_machines(struct sm *sm)
{
	for (unsigned i = 0; sm->lists->serve[i]; i++)
		sm->lists->serve[i](sm);
}

/*
 * Sends requests that were just queued, without waiting for the next MAD. Some may end at once (a
 * target that rests), after which no event would follow. Answers that have arrived are handled,
 * too. Returns their number, `most` at most, or -ENODEV.
 */
static int drain(struct sm *sm, int most)
{
	uint64_t ended;
	int n = 0, r;

	do {
		ended = mad_ended(sm->mad);
		r = mad_dispatch(sm->mad, sm->now, (unsigned)(most - n));
		if (r < 0)
			return r;
		n += r;
		if (r > 0)
			serve_machines(sm);
		go_on(sm);
	} while (mad_ended(sm->mad) != ended);
	return n;
}

int sm_dispatch(struct sm *sm, mono_t now)
{
	int n, more;

	sm->now = now;
	for (unsigned i = 0; sm->lists->tick[i]; i++)
		sm->lists->tick[i](sm);
	go_on(sm);
	n = mad_dispatch(sm->mad, now, SM_MADS_PER_DISPATCH);
	serve_machines(sm);
	go_on(sm);
	more = n < 0 ? n : drain(sm, SM_MADS_PER_DISPATCH - n);
	return more < 0 ? more : n + more;
}

mono_t sm_next(const struct sm *sm)
{
	mono_t next = mad_next(sm->mad);

	for (unsigned i = 0; sm->lists->next[i]; i++)
		next = mono_min(next, sm->lists->next[i](sm));
	return next;
}

void sm_shutdown(struct sm *sm)
{
	elect_good_bye(sm); /* decides whether to hand over */
	if (sm->first_sweep_done)
		admin_save(sm, true);
}

const struct sm_stats *sm_stats(const struct sm *sm)
{
	return &sm->stats;
}

uint64_t sm_tables_changed(const struct sm *sm)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SM_TABLES; i++)
		n += sm->stats.tables_changed[i];
	return n;
}

bool sm_own_silent(const struct sm *sm)
{
	return own_port_is_silent(sm->m.own_port);
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

uint32_t sm_aggregation_nodes(const struct sm *sm)
{
	uint32_t n_aggregation = 0;

	FABRIC_EACH_NODE(sm->fabric, n)
		n_aggregation += n->type == IB_NODE_CA && node_quirk(sm, n, QUIRK_AGGREGATION);
	return n_aggregation;
}

const struct route_death_count *sm_route_deaths(const struct sm *sm, unsigned *ret_n)
{
	return route_memory_counts(sm->m.route_memory, ret_n);
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
