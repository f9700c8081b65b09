// SPDX-License-Identifier: BSD-2-Clause
/*
 * The life of marks: before each routing their cables get a reason not to be used (out_of_use.h);
 * after each sweep the progress of each mark is noted.
 */
#include <stdlib.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/marks/marks_internal.h"
#include "sm/out_of_use/bad_cable.h"
#include "util/mem.h"

#define TRAINING MONO_S /* pause between two looks at a link that trains */

/* ---- another table --------------------------------------------------------------------------- */

static struct mark_work work_of(const struct marks *old, const struct link_mark *m)
{
	uint32_t i = old->table ? mark_table_find(old->table, m->node, m->port) : UINT32_MAX;
	struct mark_work w = { .state = MARK_DRAINING };

	if (i == UINT32_MAX)
		return w;
	if (old->table->all[i].kind == m->kind && old->table->all[i].forced == m->forced) {
		w = old->work[i];
		if (old->table->all[i].until != m->until)
			w.clean = (struct mark_clean){ 0 };
		return w;
	}
	w.met_guid = old->work[i].met_guid;
	w.met_end = old->work[i].met_end;
	w.met_port = old->work[i].met_port;
	return w;
}

void marks_use(struct sm *sm, struct mark_table *t)
{
	struct marks *ms = sm->m.marks;
	struct mark_work *work = xcalloc(t->n + 1u, sizeof(*work));

	for (uint32_t i = 0; i < t->n; i++)
		work[i] = work_of(ms, &t->all[i]);
	free(ms->work);
	mark_table_free(ms->table);
	ms->work = work;
	ms->table = t;
	marks_clean_anew(ms);
}

void marks_forget_work(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	for (uint32_t i = 0; i < ms->table->n; i++) {
		ms->work[i].state = MARK_DRAINING;
		ms->work[i].clean = (struct mark_clean){ 0 };
	}
	ms->look_at = MONO_NEVER;
	marks_clean_anew(ms);
}

bool mark_met(const struct mark_work *w, guid_t guid, unsigned port)
{
	return guid && (w->met_guid == guid || w->met_end == guid) && w->met_port == port;
}

/* ---- before routing -------------------------------------------------------------------------- */

/* Notes the other end; the mark stays with the port that was named, whatever is behind it. */
static void note_met(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	const struct port *p = m->port == MARK_WHOLE_SWITCH ? NULL : mark_port(sm, m);
	char where[PORT_STRLEN];

	if (!p || !p->peer || mark_met(w, p->peer->node->guid, p->peer->num))
		return;
	if (w->met_guid)
		log_on(about_port(LOG_ID_LINK_MARKED, p), LOGB_ERROR,
		       "%s: another device is behind this port; the port stays marked (%s) until "
		       "it is restored",
		       fabric_port_str(p, where), mark_kind_name(m->kind));
	w->met_guid = p->peer->node->guid;
	w->met_end = port_is_end(p->peer) ? p->peer->guid : 0;
	w->met_port = p->peer->num;
}

/* The first port of `n` that the mark concerns: the one that it names, or port 1. */
static unsigned first_port(const struct link_mark *m)
{
	return m->port == MARK_WHOLE_SWITCH ? 1 : m->port;
}

static unsigned last_port(const struct link_mark *m, const struct node *n)
{
	return MIN(m->port == MARK_WHOLE_SWITCH ? n->n_ports : (unsigned)m->port,
		   (unsigned)n->n_ports);
}

/*
 * The port, if the mark concerns it. Its link may be down, as when it was taken down, and may
 * train.
 */
static struct port *port_to_mark(const struct link_mark *m, struct node *n, unsigned port)
{
	struct port *p = &n->ports[port];
	bool whole = m->port == MARK_WHOLE_SWITCH;

	if (p->peer || !p->out.cable || (!whole && port != m->port))
		return mark_cable(m, n, port);
	return whole && m->kind == MARK_DRAIN && !cable_is_between_switches(p->out.cable) ? NULL
											  : p;
}

static void settle_mark(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	enum out_reason reason = m->kind == MARK_ISOLATE ? OUT_ISOLATED : OUT_DRAINED;
	struct node *n = fabric_find_node(sm->fabric, m->node);

	if (!n)
		return;
	for (unsigned i = first_port(m); i <= last_port(m, n); i++) {
		struct port *p = port_to_mark(m, n, i);

		if (p)
			out_of_use_give(sm, p, reason, m->forced);
	}
	if (m->port == MARK_WHOLE_SWITCH && m->kind == MARK_ISOLATE && node_is_switch(n))
		out_of_use_give_switch(sm, n, m->forced);
	note_met(sm, m, w);
}

void marks_settle(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	out_of_use_take_all(sm, OUT_DRAINED);
	out_of_use_take_all(sm, OUT_ISOLATED);
	for (uint32_t i = 0; i < ms->table->n; i++)
		settle_mark(sm, &ms->table->all[i], &ms->work[i]);
}

/* ---- how far it is --------------------------------------------------------------------------- */

struct seen {
	unsigned n_cables, n_out, n_spared;
	/*
	 * number of cables that no reason applies to: the manager's own, those of hosts of a
	 * drained switch
	 */
	unsigned n_used;
	unsigned n_routed; /* number of cables that are out, with tables that lead over them */
	unsigned n_up;	   /* number of cables that are out, and above INIT */
	unsigned n_trains; /* number of cables taken down just now, and not read since */
};

static struct seen count_cables(const struct sm *sm, const struct link_mark *m, struct node *n)
{
	struct seen s = { 0 };

	for (unsigned i = first_port(m); i <= last_port(m, n); i++) {
		const struct port *p = mark_cable(m, n, i);
		const struct bad_cable *c = p ? p->out.cable : NULL;

		s.n_trains += out_of_use_trains(sm, &n->ports[i]);
		s.n_cables += p != NULL;
		s.n_used += p && (!c || !cable_reasons(c));
		if (!c)
			continue;
		s.n_out += c->out;
		s.n_spared += c->spared;
		s.n_routed += c->out && !c->down.unrouted;
		s.n_up += c->out && !out_of_use_is_down(p);
	}
	return s;
}

/* One cable of a drained switch is kept for packets to the switch itself. */
static bool is_kept(const struct link_mark *m, const struct seen *s)
{
	bool has_stub = m->port == MARK_WHOLE_SWITCH && m->kind == MARK_DRAIN && s->n_out;

	return s->n_spared > (has_stub ? 1u : 0u);
}

static enum mark_state state_of(const struct link_mark *m, const struct seen *s)
{
	if (!s->n_cables)
		return MARK_ABSENT;
	if (is_kept(m, s) || s->n_used)
		return MARK_SPARED;
	if (!s->n_out || s->n_routed)
		return MARK_DRAINING;
	if (m->kind == MARK_DRAIN)
		return MARK_DRAINED;
	return s->n_up || s->n_trains ? MARK_DRAINING : MARK_ISOLATED;
}

/* Notes the state of a mark. True: a link of it trains, and must be looked at again. */
static bool look_at_mark(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);
	struct seen s = n ? count_cables(sm, m, n) : (struct seen){ 0 };
	enum mark_state before = w->state;

	w->n_cables = s.n_cables;
	w->n_out = s.n_out;
	w->n_spared = s.n_spared;
	w->state = state_of(m, &s);
	if (w->state != before)
		mark_tell_state(sm, m, w);
	return s.n_trains;
}

void marks_sweep_ended(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	if (sm->state != SM_MASTER || !sm->first_sweep_done)
		return;
	if (!ms->in_force_told)
		marks_tell_in_force(sm);
	ms->in_force_told = true;
	if (ms->table->n)
		ms->look_at = sm->now;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool may_look(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->sweep == SWEEP_NONE && !out_of_use_is_looking(sm);
}

void marks_work_tick(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	if (!may_look(sm) || sm->now < ms->look_at)
		return;
	ms->look_at = MONO_NEVER;
	for (uint32_t i = 0; i < ms->table->n; i++)
		if (look_at_mark(sm, &ms->table->all[i], &ms->work[i]))
			ms->look_at = sm->now + TRAINING;
}

mono_t marks_work_next(const struct sm *sm)
{
	return may_look(sm) ? sm->m.marks->look_at : MONO_NEVER;
}
