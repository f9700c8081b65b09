// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks: requests of an administrator, and the end of those that are limited in time (which
 * marks_clean.c decides). Rows of the ledger are above (rows/marks_rows.c).
 *
 *   QUEUED --what it costs is accepted--> STORING --on the disk--> APPLYING --tables are so--> done
 *      '------------- refused -----------------'------- fault ------- done
 *
 * One request is stored at a time. It is answered when tables are as it asks and standbys that
 * answer have stored it, or after 8 s, since clients give up after 10; what it asks for goes on.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/marks/marks_internal.h"
#include "util/mem.h"

MACHINE_MEMORY(marks);

#define PATIENCE (8 * MONO_S)
#define RETRY	 (60 * MONO_S) /* pause after an end that could not be stored */
#define REOPENED (1 * MONO_S)  /* pause if nothing can be changed now */

#define NO_NODE	       "no node in the fabric has GUID 0x%016" PRIx64
#define NOT_MASTER_NOW "it is stored here, but this manager is not MASTER any more"

/* ---- ends of requests ------------------------------------------------------------------------ */

static void end_ask(struct sm *sm, struct mark_ask *a, enum mark_end end, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void end_ask(struct sm *sm, struct mark_ask *a, enum mark_end end, const char *fmt, ...)
{
	struct marks *ms = sm->m.marks;
	struct settle_reach reach = ms->questions->reach(sm, ms->table->generation);
	struct mark_result r = { .end = end,
				 .generation = ms->table->generation,
				 .changed = a->changed,
				 .replicated = reach.with > 0,
				 .n_standbys = reach.of,
				 .n_standbys_with = reach.with,
				 .n_marks = a->n_marks,
				 .cost = a->cost };
	uint32_t i = mark_table_find(ms->table, a->rq.node, a->rq.port);
	mark_done_fn *done = a->done;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r.text, sizeof(r.text), fmt, ap);
	va_end(ap);
	if (i != UINT32_MAX)
		r.state = ms->work[i].state;
	a->phase = ASK_FREE;
	ms->n_asks--;
	routes_unref(take(a->rq.routes));
	if (done)
		done(a->arg, &r);
}

/* ---- another table in force ------------------------------------------------------------------ */

/* Puts table `t` into force; takes it over. Returns the number of cables that must be examined. */
static unsigned put_in_force(struct sm *sm, struct mark_table *t, const char *cause)
{
	_cleanup_(mark_table_freep) struct mark_table *before = mark_table_copy(sm->m.marks->table);

	marks_use(sm, t);
	if (sm->state == SM_MASTER)
		marks_settle(sm); /* shows the next request its result */
	return marks_tell_changes(sm, before, t, cause);
}

void marks_take(struct sm *sm, struct mark_table *t, const char *cause)
{
	assert(t);
	if (cause)
		put_in_force(sm, t, cause);
	else
		marks_use(sm, t);
}

/* ---- storing --------------------------------------------------------------------------------- */

static struct mark_ask *ask_in(struct marks *ms, enum ask_phase phase)
{
	struct mark_ask *first = NULL;

	for (unsigned i = 0; i < MARK_REQUESTS; i++) {
		struct mark_ask *a = &ms->asks[i];

		if (a->phase == phase && (!first || a->serial < first->serial))
			first = a;
	}
	return first;
}

static void ask_stored(struct sm *sm, struct mark_ask *a, struct mark_table *t, const char *fault)
{
	char cause[MARK_BY_MAX + 8];

	if (!t) {
		a->changed = false;
		end_ask(sm, a, MARK_CLOSED, "%s; nothing was changed", fault);
		return;
	}
	snprintf(cause, sizeof(cause), "by %s", a->by);
	a->is_bare = !put_in_force(sm, t, cause);
	if (sm->state != SM_MASTER) {
		end_ask(sm, a, MARK_UNAPPLIED, NOT_MASTER_NOW);
		return;
	}
	a->forced_at = sm->now;
	a->until = sm->now + PATIENCE;
	a->phase = ASK_APPLYING;
	if (!a->rq.wait)
		end_ask(sm, a, MARK_DONE, "%s", "");
}

void marks_committed(struct sm *sm, struct mark_table *t, const char *fault)
{
	struct marks *ms = sm->m.marks;
	struct mark_ask *a = ask_in(ms, ASK_STORING);
	bool is_expired = ms->storing == STORE_EXPIRED;

	assert((t || fault) && ms->storing != STORE_NONE && !a == (ms->storing != STORE_ASKED));
	ms->storing = STORE_NONE;
	if (a) {
		ask_stored(sm, a, t, fault);
		return;
	}
	if (is_expired)
		ms->retry_at = t ? 0 : sm->now + RETRY;
	if (t)
		put_in_force(sm, t, is_expired ? "its time is over" : "as the ledger has it");
}

void marks_store(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	if (ms->storing != STORE_NONE)
		return;
	ms->storing = STORE_IN_FORCE;
	ms->questions->commit(sm, ms->table);
}

/* ---- requests -------------------------------------------------------------------------------- */

bool sm_mark_request(struct sm *sm, const struct mark_request *rq, mark_done_fn *done, void *arg)
{
	struct mark_ask *a = ask_in(sm->m.marks, ASK_FREE);
	struct link_mark texts;

	if (!a)
		return false;
	mark_set_texts(&texts, rq->by, rq->why);
	*a = (struct mark_ask){ .phase = ASK_QUEUED, .rq = *rq, .done = done, .arg = arg };
	a->serial = ++sm->m.marks->serial;
	sm->m.marks->n_asks++;
	memcpy(a->by, texts.by, sizeof(a->by));
	memcpy(a->why, texts.why, sizeof(a->why));
	a->rq.by = a->rq.why = NULL;
	a->rq.routes = rq->routes ? routes_ref(rq->routes) : NULL;
	return true;
}

/* Sets the port of the request to the switch side of the cable. False: the request was answered. */
static bool resolve(struct sm *sm, struct mark_ask *a)
{
	struct node *n = fabric_find_node(sm->fabric, a->rq.node);
	struct port *p;

	if (!n) {
		end_ask(sm, a, MARK_NOT_FOUND, NO_NODE, a->rq.node);
		return false;
	}
	if (node_is_switch(n) && a->rq.port == MARK_WHOLE_SWITCH)
		return true;
	if (!a->rq.port || a->rq.port > n->n_ports) {
		end_ask(sm, a, MARK_NOT_FOUND, "'%.64s' has no port %u", node_name(n), a->rq.port);
		return false;
	}
	p = &n->ports[a->rq.port];
	if (node_is_switch(n))
		return true;
	if (!p->peer || !node_is_switch(p->peer->node)) {
		end_ask(sm, a, MARK_NOT_FOUND, "no switch is known at '%.64s' port %u",
			node_name(n), p->num);
		return false;
	}
	a->rq.node = p->peer->node->guid;
	a->rq.port = p->peer->num;
	return true;
}

/* The mark of this cable, whichever end was named; UINT32_MAX: none. */
static uint32_t find_mark(const struct sm *sm, guid_t node, unsigned port)
{
	const struct mark_table *t = sm->m.marks->table;
	uint32_t i = mark_table_find(t, node, port);
	struct node *n = fabric_find_node(sm->fabric, node);
	const struct port *peer = n && port && port <= n->n_ports ? n->ports[port].peer : NULL;

	if (i != UINT32_MAX || !peer)
		return i;
	return mark_table_find(t, peer->node->guid, peer->num);
}

static void store_ask(struct sm *sm, struct mark_ask *a, const struct mark_table *t)
{
	a->changed = true;
	a->phase = ASK_STORING;
	sm->m.marks->storing = STORE_ASKED;
	sm->m.marks->questions->commit(sm, t);
}

/* Is the i-th mark of this node, or of a cable that ends, or ended, there? */
static bool is_of_node(const struct sm *sm, uint32_t i, guid_t node)
{
	const struct link_mark *m = &sm->m.marks->table->all[i];
	const struct mark_work *w = &sm->m.marks->work[i];
	const struct port *p = mark_port(sm, m);

	if (m->node == node || m->port == MARK_WHOLE_SWITCH)
		return m->node == node;
	return p && p->peer ? p->peer->node->guid == node
			    : mark_met(w, node, w->met_port);
}

static void remove_at(struct mark_table *t, guid_t node, unsigned port)
{
	uint32_t i = mark_table_find(t, node, port);

	if (i != UINT32_MAX)
		mark_table_remove(t, i);
}

/* Removes the marks of both ends, each of which may be of another manager. */
static void remove_cable(const struct sm *sm, struct mark_table *t, guid_t node, unsigned port)
{
	struct node *n = fabric_find_node(sm->fabric, node);
	const struct port *peer = n && port && port <= n->n_ports ? n->ports[port].peer : NULL;

	remove_at(t, node, port);
	if (peer)
		remove_at(t, peer->node->guid, peer->num);
}

/* Removes the marks that the request names from a copy of the table. Returns their number. */
static unsigned take_out(const struct sm *sm, const struct mark_ask *a, struct mark_table *t)
{
	unsigned before = t->n;

	if (a->rq.all) {
		t->n = 0;
	} else if (a->rq.port == MARK_WHOLE_SWITCH) {
		for (uint32_t i = t->n; i-- > 0;)
			if (is_of_node(sm, i, a->rq.node))
				mark_table_remove(t, i);
	} else {
		remove_cable(sm, t, a->rq.node, a->rq.port);
	}
	return before - t->n;
}

/* Is the port, or its neighbour, one of a switch that is marked as a whole? */
static bool is_out_with_switch(const struct sm *sm, guid_t node, unsigned port)
{
	const struct mark_table *t = sm->m.marks->table;
	struct node *n = fabric_find_node(sm->fabric, node);
	const struct port *peer = n && port <= n->n_ports ? n->ports[port].peer : NULL;
	uint32_t i = mark_table_find(t, node, MARK_WHOLE_SWITCH), k = UINT32_MAX;

	if (peer)
		k = mark_table_find(t, peer->node->guid, MARK_WHOLE_SWITCH);
	if (i != UINT32_MAX && (!n || mark_cable(&t->all[i], n, port)))
		return true;
	return k != UINT32_MAX && mark_cable(&t->all[k], peer->node, peer->num);
}

static void start_restore(struct sm *sm, struct mark_ask *a)
{
	_cleanup_(mark_table_freep) struct mark_table *t = mark_table_copy(sm->m.marks->table);
	bool is_part = is_out_with_switch(sm, a->rq.node, a->rq.port);

	a->n_marks = take_out(sm, a, t);
	if (a->n_marks)
		store_ask(sm, a, t);
	else if (a->rq.all)
		end_ask(sm, a, MARK_DONE, "no link is marked");
	else if (is_part)
		end_ask(sm, a, MARK_NOT_FOUND,
			"it is out of service with its whole switch: restore that");
	else if (fabric_find_node(sm->fabric, a->rq.node))
		end_ask(sm, a, MARK_NOT_MARKED, "it is not marked");
	else
		end_ask(sm, a, MARK_NOT_FOUND, NO_NODE ", nor is one marked that has it",
			a->rq.node);
}

static void cost_str(const struct mark_cost *c, char *ret, size_t cap)
{
	snprintf(ret, cap,
		 "%" PRIu64 " pairs of hosts would have no way; %u host ports and %u switches "
		 "could not be reached by the manager",
		 c->pairs_lost, c->hosts, c->switches);
}

/* Are the losses acceptable? False: they are not, and the request was answered. */
static bool is_affordable(struct sm *sm, struct mark_ask *a, const struct link_mark *m)
{
	const struct node *n = fabric_find_node(sm->fabric, m->node);
	const struct mark_cost *cost = &a->cost;
	char text[200];

	sm_mark_cost(sm, a->rq.routes, m->kind, n, m->port, &a->cost);
	cost_str(cost, text, sizeof(text));
	if (cost->own)
		end_ask(sm, a, MARK_REFUSED,
			"the manager reaches the fabric this way: never, and force does not help");
	else if (a->rq.force)
		return true;
	else if (cost->manager)
		end_ask(sm, a, MARK_REFUSED,
			"behind it is another subnet manager, which could not take over (force "
			"does "
			"it all the same)");
	else if (cost->pairs_lost || cost->hosts || cost->switches)
		end_ask(sm, a, MARK_REFUSED, "%s (force does it all the same)", text);
	else
		return true;
	return false;
}

static struct link_mark make_mark(const struct sm *sm, const struct mark_ask *a)
{
	struct link_mark m = { .node = a->rq.node,
			       .port = a->rq.port,
			       .kind = a->rq.action == MARK_DO_ISOLATE ? MARK_ISOLATE : MARK_DRAIN,
			       .forced = a->rq.force,
			       .since = sm_realtime(sm) };

	m.until = a->rq.seconds ? m.since + a->rq.seconds : 0;
	memcpy(m.by, a->by, sizeof(m.by));
	memcpy(m.why, a->why, sizeof(m.why));
	return m;
}

static bool leads_to_host(const struct sm *sm, const struct link_mark *m)
{
	const struct port *p = mark_port(sm, m);

	return p && p->num && p->peer && !node_is_switch(p->peer->node);
}

static void put_mark(struct sm *sm, struct mark_ask *a, const struct link_mark *m)
{
	_cleanup_(mark_table_freep) struct mark_table *t = mark_table_copy(sm->m.marks->table);
	uint32_t old = find_mark(sm, m->node, m->port);

	a->n_marks = 1;
	if (old != UINT32_MAX && t->all[old].node == m->node && t->all[old].port == m->port &&
	    mark_is_same(&t->all[old], m)) {
		a->until = sm->now + PATIENCE;
		a->phase = ASK_APPLYING;
		return;
	}
	remove_cable(sm, t, m->node, m->port);
	if (mark_table_put(t, m))
		store_ask(sm, a, t);
	else
		end_ask(sm, a, MARK_NO_ROOM, "%u links are marked, which is the most that can be",
			MARKS_MAX);
}

static void start_mark(struct sm *sm, struct mark_ask *a)
{
	struct link_mark m = make_mark(sm, a);

	if (m.until && !m.since)
		end_ask(sm, a, MARK_INVALID, "the time of day is not known here");
	else if (m.kind == MARK_DRAIN && leads_to_host(sm, &m) &&
		 node_quirk(sm, mark_port(sm, &m)->peer->node, QUIRK_AGGREGATION))
		end_ask(sm, a, MARK_INVALID,
			"behind it is the aggregation node of the switch, which has no other way: "
			"drain the switch");
	else if (m.kind == MARK_DRAIN && leads_to_host(sm, &m))
		end_ask(sm, a, MARK_INVALID,
			"a host has no other way, and its sessions are the scheduler's to end: "
			"drain the host there, then isolate its link here");
	else if (is_affordable(sm, a, &m) && !a->rq.plan)
		put_mark(sm, a, &m);
	else if (a->phase == ASK_QUEUED)
		end_ask(sm, a, MARK_DONE, "%s", "");
}

/* Finds the mark of a removed cable by the other end that it had. */
static bool take_met(const struct sm *sm, struct mark_request *rq)
{
	const struct marks *ms = sm->m.marks;
	const struct node *n = fabric_find_node(sm->fabric, rq->node);

	if (n && rq->port && rq->port <= n->n_ports && n->ports[rq->port].peer)
		return false;
	for (uint32_t i = 0; i < ms->table->n; i++) {
		if (!mark_met(&ms->work[i], rq->node, rq->port))
			continue;
		rq->node = ms->table->all[i].node;
		rq->port = ms->table->all[i].port;
		return true;
	}
	return false;
}

static void start_ask(struct sm *sm, struct mark_ask *a)
{
	const char *closed = sm->m.marks->questions->closed(sm);

	if (sm->state != SM_MASTER || !sm->first_sweep_done) {
		end_ask(sm, a, MARK_NOT_MASTER, "the manager is %s%s", sm_state_name(sm->state),
			sm->state == SM_MASTER ? ", and its first sweep has not ended" : "");
		return;
	}
	if (closed && !a->rq.plan) {
		end_ask(sm, a, MARK_CLOSED, "%s", closed);
		return;
	}
	if (a->rq.action == MARK_DO_RESTORE) {
		/* A node that is gone keeps its mark, which is removed by its GUID. */
		if (a->rq.all || take_met(sm, &a->rq) ||
		    !fabric_find_node(sm->fabric, a->rq.node) || resolve(sm, a))
			start_restore(sm, a);
	} else if (resolve(sm, a)) {
		start_mark(sm, a);
	}
}

/* ---- is it so? ------------------------------------------------------------------------------- */

/* Do tables comply with the request? If not, the reason is in *ret_text. */
static bool is_applied(const struct sm *sm, const struct mark_ask *a, const char **ret_text)
{
	const struct marks *ms = sm->m.marks;
	uint32_t i = mark_table_find(ms->table, a->rq.node, a->rq.port);

	*ret_text = "";
	if (a->is_bare)
		return true;
	if (sm->sweep != SWEEP_NONE || sm->sweep_started < a->forced_at)
		return false;
	if (a->rq.action == MARK_DO_RESTORE || i == UINT32_MAX)
		return !out_of_use_returning(sm);
	switch (ms->work[i].state) {
	case MARK_SPARED:
		*ret_text = "it is the last way to a part of the fabric and stays in use";
		return true;
	case MARK_STORED:
	case MARK_ABSENT: /* its link trains */
	case MARK_DRAINING:
		return false;
	case MARK_DRAINED:
	case MARK_ISOLATED:
	case MARK_RETURNING:
	case MARK_UNCLEAN:
		return true;
	}
	return false;
}

static void look_at_ask(struct sm *sm, struct mark_ask *a)
{
	const struct marks *ms = sm->m.marks;
	bool stored_there = !ms->questions->reach(sm, ms->table->generation).waited_for;
	const char *text;
	bool applied = is_applied(sm, a, &text);

	if (applied && (stored_there || sm->now >= a->until))
		end_ask(sm, a, MARK_DONE, "%s", text);
	else if (sm->now >= a->until)
		end_ask(sm, a, MARK_UNAPPLIED, "%s",
			"it is stored and in force; tables, or the link, are not so yet, which is "
			"worked at");
}

/* ---- time ------------------------------------------------------------------------------------ */

static void end_expired(struct sm *sm)
{
	struct marks *ms = sm->m.marks;
	_cleanup_(mark_table_freep) struct mark_table *t = NULL;

	if (sm->state != SM_MASTER || ms->storing != STORE_NONE || !ms->n_over ||
	    sm->now < ms->retry_at)
		return;
	if (ms->questions->closed(sm)) {
		ms->retry_at = sm->now + REOPENED;
		return;
	}
	t = mark_table_copy(ms->table);
	for (uint32_t i = t->n; i-- > 0;)
		if (ms->work[i].clean.is_over)
			mark_table_remove(t, i);
	ms->storing = STORE_EXPIRED;
	ms->questions->commit(sm, t);
}

static bool may_start(const struct sm *sm)
{
	const struct marks *ms = sm->m.marks;

	return ms->n_asks && ms->storing == STORE_NONE && !ms->questions->waits(sm);
}

void marks_tick(struct sm *sm)
{
	struct marks *ms = sm->m.marks;
	struct mark_ask *a;

	marks_work_tick(sm);
	marks_clean_tick(sm);
	for (unsigned i = 0; ms->n_asks && i < MARK_REQUESTS; i++)
		if (ms->asks[i].phase == ASK_APPLYING && ms->look_at > sm->now)
			look_at_ask(sm, &ms->asks[i]);
	end_expired(sm);
	for (unsigned i = 0; i < MARK_REQUESTS && may_start(sm); i++) {
		a = ask_in(ms, ASK_QUEUED);
		if (!a)
			break;
		start_ask(sm, a);
	}
}

mono_t marks_next(const struct sm *sm)
{
	const struct marks *ms = sm->m.marks;
	mono_t next = mono_min(marks_work_next(sm), marks_clean_next(sm));

	for (unsigned i = 0; ms->n_asks && i < MARK_REQUESTS; i++) {
		if (ms->asks[i].phase == ASK_QUEUED && may_start(sm))
			next = mono_min(next, sm->now);
		else if (ms->asks[i].phase == ASK_APPLYING)
			next = mono_min(next, ms->asks[i].until);
	}
	return next;
}

/* Ends requests that wait to be applied if this manager is not master any more. */
void marks_state_changed(struct sm *sm)
{
	marks_forget_work(sm);
	sm->m.marks->in_force_told = false;
	for (unsigned i = 0; i < MARK_REQUESTS && sm->state != SM_MASTER; i++)
		if (sm->m.marks->asks[i].phase == ASK_APPLYING)
			end_ask(sm, &sm->m.marks->asks[i], MARK_UNAPPLIED, NOT_MASTER_NOW);
}

/* ---- the machine ----------------------------------------------------------------------------- */

void marks_new(struct sm *sm, const struct marks_questions *q)
{
	struct marks *ms = sm->m.marks;

	ms->questions = q;
	ms->look_at = MONO_NEVER;
	marks_use(sm, xcalloc(1, sizeof(*ms->table)));
}

void marks_end(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	for (unsigned i = 0; i < MARK_REQUESTS; i++)
		if (ms->asks[i].phase != ASK_FREE)
			end_ask(sm, &ms->asks[i], MARK_UNAPPLIED, "the manager ends");
	mark_table_free(take(ms->table));
	free(take(ms->work));
}

const struct mark_table *marks_table(const struct sm *sm)
{
	return sm->m.marks->table;
}

bool sm_mark_at(const struct sm *sm, unsigned n, struct mark_shown *ret)
{
	const struct marks *ms = sm->m.marks;

	if (n >= ms->table->n)
		return false;
	*ret = (struct mark_shown){ .mark = &ms->table->all[n],
				    .state = sm->state == SM_MASTER
						     ? mark_state_of(&ms->work[n])
						     : MARK_STORED,
				    .n_cables = ms->work[n].n_cables,
				    .n_out = ms->work[n].n_out,
				    .n_spared = ms->work[n].n_spared };
	if (sm->state == SM_MASTER)
		mark_kept_str(&ms->work[n], ret->kept);
	ret->port = mark_port(sm, ret->mark);
	ret->peer = ret->port && ret->port->num ? ret->port->peer : NULL;
	return true;
}

unsigned sm_marks(const struct sm *sm, enum mark_kind kind)
{
	const struct mark_table *t = sm->m.marks->table;
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->all[i].kind == kind;
	return n;
}

uint64_t sm_marks_generation(const struct sm *sm)
{
	return sm->m.marks->table->generation;
}
