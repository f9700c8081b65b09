// SPDX-License-Identifier: BSD-2-Clause
/*
 * The life of marks in force: cables are named to dampening before each routing; after each
 * sweep it is seen how far each mark is, and links that are to be isolated are taken down when no
 * table leads over them and packets on their way have ended.
 *
 * A link is taken down at its switch; between two switches at the one nearer to the manager: its
 * answer does not cross the link that is about to fall, so it is not lost and not asked for twice.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/links/dampening_internal.h"
#include "sm/links/marks_internal.h"
#include "util/mem.h"

#define LOOKS_PER_TICK 32u
#define WALKS_PER_TICK 16u /* tables gone through, of whole switches once; 2 to 3 ms at most */
#define AGAIN	       (5 * MONO_S)  /* a link taken down that is up; then twice as long, */
#define AGAIN_DOUBLES  7u	     /* so often: about 10 minutes */
#define TELL_DOWNS     4u	     /* it is told when this one did not help either */
#define LIFETIME_LEAST (1100 * MONO_MS)
#define LIFETIME_MOST  19u /* 4.096 us * 2^19: 2.1 s; 20 and above mean none */

/* ---- names and places ------------------------------------------------------------------------ */

struct port *mark_port(const struct sm *sm, const struct link_mark *m)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);

	if (m->port == MARK_WHOLE_SWITCH)
		return n && node_is_switch(n) ? &n->ports[0] : NULL;
	return n && m->port <= n->n_ports ? &n->ports[m->port] : NULL;
}

struct port *mark_cable(const struct link_mark *m, struct node *n, unsigned port)
{
	struct port *p = port <= n->n_ports ? &n->ports[port] : NULL;

	if (!p || !p->peer || p->peer == p || (m->port != MARK_WHOLE_SWITCH && port != m->port))
		return NULL;
	if (m->port == MARK_WHOLE_SWITCH && m->kind == MARK_DRAIN && !node_is_switch(p->peer->node))
		return NULL;
	return p;
}

char *mark_place_str(const struct sm *sm, const struct link_mark *m, char ret[MARK_PLACE_STRLEN])
{
	const struct port *p = mark_port(sm, m);
	char a[PORT_STRLEN], b[PORT_STRLEN];

	if (!p && m->port == MARK_WHOLE_SWITCH)
		snprintf(ret, MARK_PLACE_STRLEN, "switch 0x%016" PRIx64, m->node);
	else if (!p)
		snprintf(ret, MARK_PLACE_STRLEN, "0x%016" PRIx64 " port %u", m->node, m->port);
	else if (!p->num)
		snprintf(ret, MARK_PLACE_STRLEN, "%s", fabric_node_str(p->node, a));
	else if (!p->peer)
		snprintf(ret, MARK_PLACE_STRLEN, "%s", fabric_port_str(p, a));
	else
		snprintf(ret, MARK_PLACE_STRLEN, "%s - %s", fabric_port_str(p, a),
			 fabric_port_str(p->peer, b));
	return ret;
}

int64_t marks_realtime(const struct sm *sm)
{
	return sm->hooks.realtime ? MAX(sm->hooks.realtime(sm->hooks.arg), (int64_t)0) : 0;
}

/* ---- another table --------------------------------------------------------------------------- */

static struct mark_work work_of(const struct marks *old, const struct link_mark *m)
{
	uint32_t i = old->table ? mark_table_find(old->table, m->node, m->port) : UINT32_MAX;
	struct mark_work w = { .state = MARK_DRAINING, .down_at = MONO_NEVER };

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

static void note_next_down(struct marks *ms)
{
	ms->next_down = MONO_NEVER;
	for (uint32_t i = 0; i < ms->table->n; i++)
		ms->next_down = mono_min(ms->next_down, ms->work[i].down_at);
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
	ms->cursor = 0; /* a look that is due is not put off: no sweep may come of this table */
	note_next_down(ms);
	marks_clean_anew(ms);
}

void marks_forget_work(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	for (uint32_t i = 0; i < ms->table->n; i++) {
		ms->work[i].state = MARK_DRAINING;
		ms->work[i].unrouted = false;
		ms->work[i].down_at = MONO_NEVER;
		ms->work[i].downs = 0;
		ms->work[i].rest.phase = REST_NEW;
		ms->work[i].clean = (struct mark_clean){ 0 };
	}
	ms->look_at = MONO_NEVER;
	note_next_down(ms);
	marks_clean_anew(ms);
}

bool mark_met(const struct mark_work *w, guid_t guid, unsigned port)
{
	return guid && (w->met_guid == guid || w->met_end == guid) && w->met_port == port;
}

/* ---- before routing -------------------------------------------------------------------------- */

/* The mark stays with the port that was named, whatever is behind it. */
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

/* The n-th port as above, and one whose link is down, as when it was taken down, and may train. */
static struct port *port_to_mark(const struct link_mark *m, struct node *n, unsigned port)
{
	struct port *p = &n->ports[port];
	bool whole = m->port == MARK_WHOLE_SWITCH;

	if (p->peer || !p->damp.cable || (!whole && port != m->port))
		return mark_cable(m, n, port);
	return whole && m->kind == MARK_DRAIN && !cable_is_between_switches(p->damp.cable) ? NULL
											   : p;
}

static void settle_mark(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	enum cable_mark mark = m->kind == MARK_ISOLATE ? CABLE_ISOLATED : CABLE_DRAINED;
	struct node *n = fabric_find_node(sm->fabric, m->node);

	if (!n)
		return;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = port_to_mark(m, n, i);

		if (p)
			dampening_mark(sm, p, mark, m->forced);
	}
	if (m->port == MARK_WHOLE_SWITCH && m->kind == MARK_ISOLATE && node_is_switch(n))
		dampening_mark_switch(sm, n, m->forced);
	note_met(sm, m, w);
}

void marks_settle(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	dampening_unmark(sm);
	for (uint32_t i = 0; i < ms->table->n; i++)
		settle_mark(sm, &ms->table->all[i], &ms->work[i]);
}

/* ---- how far it is --------------------------------------------------------------------------- */

/* The switch of an end port that is in use; NULL: none. */
static const struct node *switch_of(const struct port *end)
{
	if (node_is_switch(end->node))
		return end->node;
	return end->peer && node_is_switch(end->peer->node) && !dampening_is_out(end)
		       ? end->peer->node
		       : NULL;
}

/*
 * Does the table of `p`'s switch, as far as it is known, lead any LID to `p` to which there is a
 * way? Entries of others are kept as they are. `part`: hold_parts().
 */
static bool leads_unicast(const struct sm *sm, const uint32_t *part, const struct port *p)
{
	FABRIC_EACH_END_PORT(sm->fabric, end) {
		const struct node *sw = switch_of(end);
		bool has_way = sw && end->lid && part[sw->index] == part[p->node->index];
		unsigned n = has_way ? 1u << end->lmc : 0;

		for (unsigned i = 0; i < n; i++) {
			unsigned lid = end->lid + i;
			const uint8_t *block = lft_have_block(&p->node->lft, lid / LFT_BLOCK_LIDS);

			if (block && block[lid % LFT_BLOCK_LIDS] == p->num)
				return true;
		}
	}
	return false;
}

static bool leads_multicast(const struct port *p)
{
	unsigned end = mft_have_end(&p->node->mft);

	for (unsigned mlid = MFT_FIRST_MLID; mlid < end; mlid++) {
		uint64_t mask[4] = { 0 };

		if (mft_have_row(&p->node->mft, (lid_t)mlid, mask) &&
		    (mask[p->num / 64] >> p->num % 64 & 1))
			return true;
	}
	return false;
}

/* Of a switch that is left out as a whole the table does not matter: nothing comes to it. */
static bool is_led_to(const struct sm *sm, const uint32_t *part, const struct port *p)
{
	return node_is_switch(p->node) && node_is_routable(p->node) &&
	       (leads_unicast(sm, part, p) || leads_multicast(p));
}

static bool is_above_init(const struct port *p)
{
	return port_state(p) > IB_PORT_INIT || port_state(p->peer) > IB_PORT_INIT;
}

struct seen {
	unsigned n_cables, n_out, n_spared, n_up; /* up: out, and above INIT */
	unsigned n_exempt; /* no mark counts: the manager's own, a host's that is drained */
};

static struct seen count_cables(const struct link_mark *m, struct node *n)
{
	struct seen s = { 0 };

	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = mark_cable(m, n, i);

		if (!p)
			continue;
		s.n_cables++;
		s.n_out += dampening_is_out(p);
		s.n_spared += dampening_is_spared(p);
		s.n_up += dampening_is_out(p) && is_above_init(p);
		s.n_exempt += !p->damp.cable || !cable_is_bad(p->damp.cable);
	}
	return s;
}

/* The work of one tick. */
struct looks {
	uint32_t *part;	  /* hold_parts(); NULL: not asked for yet */
	unsigned n_walks; /* over the table of a switch */
};

static bool is_unrouted(const struct sm *sm, const struct link_mark *m, struct node *n,
			struct looks *looks)
{
	if (!looks->part)
		looks->part = hold_parts(sm->fabric);
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = mark_cable(m, n, i);

		if (!p || !dampening_is_out(p))
			continue;
		looks->n_walks += 2;
		if (is_led_to(sm, looks->part, p) || is_led_to(sm, looks->part, p->peer))
			return false;
	}
	return true;
}

/* One cable of a drained switch is kept for packets to the switch itself. */
static bool is_kept(const struct link_mark *m, const struct seen *s)
{
	bool has_stub = m->port == MARK_WHOLE_SWITCH && m->kind == MARK_DRAIN && s->n_out;

	return s->n_spared > (has_stub ? 1u : 0u);
}

static enum mark_state state_of(const struct link_mark *m, const struct mark_work *w,
				const struct seen *s)
{
	if (!s->n_cables)
		return MARK_ABSENT;
	if (is_kept(m, s) || s->n_exempt)
		return MARK_SPARED;
	if (!s->n_out || !w->unrouted)
		return MARK_DRAINING;
	if (m->kind == MARK_DRAIN)
		return MARK_DRAINED;
	return s->n_up ? MARK_DRAINING : MARK_ISOLATED;
}

mono_t marks_lifetime(const struct sm *sm)
{
	unsigned code = MIN((unsigned)sm->conf->packet_life_time, LIFETIME_MOST);

	return MAX(LIFETIME_LEAST, ((mono_t)4096 << code) / 1000 * MONO_US);
}

static void look_at_mark(struct sm *sm, const struct link_mark *m, struct mark_work *w,
			 struct looks *looks)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);
	struct seen s = n ? count_cables(m, n) : (struct seen){ 0 };

	if (s.n_out != w->n_out)
		w->unrouted = false;
	w->unrouted = s.n_out && (w->unrouted || is_unrouted(sm, m, n, looks));
	w->n_cables = s.n_cables;
	w->n_out = s.n_out;
	w->n_spared = s.n_spared;
	w->state = state_of(m, w, &s);
	if (m->kind != MARK_ISOLATE || !w->unrouted || !s.n_up) {
		w->down_at = MONO_NEVER;
		w->downs = 0;
		w->rest.phase = REST_NEW;
	} else if (w->down_at == MONO_NEVER) {
		w->down_at = sm->now;
	}
}

void mark_look_at(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct looks looks = { 0 };

	look_at_mark(sm, m, w, &looks);
	free(looks.part);
}

void marks_sweep_ended(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	if (sm->state != SM_MASTER || !ms->table->n)
		return;
	ms->look_at = sm->now;
	ms->cursor = 0;
}

static void look_at_some(struct sm *sm)
{
	struct marks *ms = sm->m.marks;
	uint32_t end = MIN(ms->cursor + LOOKS_PER_TICK, ms->table->n);
	struct looks looks = { 0 };

	for (; ms->cursor < end && looks.n_walks < WALKS_PER_TICK; ms->cursor++) {
		struct mark_work *w = &ms->work[ms->cursor];
		enum mark_state before = w->state;

		look_at_mark(sm, &ms->table->all[ms->cursor], w, &looks);
		if (w->state != before)
			mark_tell_state(sm, &ms->table->all[ms->cursor], w);
	}
	free(looks.part);
	if (ms->cursor >= ms->table->n)
		ms->look_at = MONO_NEVER;
}

/* ---- taking down ----------------------------------------------------------------------------- */

static void on_taken_down(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	if (r->end == MAD_END_ANSWERED || r->end == MAD_END_TIMEOUT)
		tell_port(sm, p, "an isolated link was taken down");
}

struct port *mark_near_end(struct port *p)
{
	struct port *q = p->peer;

	if (!node_is_switch(p->node) || !node_is_switch(q->node))
		return node_is_switch(p->node) ? p : q;
	return q->node->path.length < p->node->path.length ? q : p;
}

static void tell_stays_up(const struct sm *sm, const struct link_mark *m)
{
	char where[MARK_PLACE_STRLEN];

	log_on(about_port(LOG_ID_LINK_MARKED, mark_port(sm, m)), LOGB_ERROR,
	       "%s: is to be isolated and stays up: its device was told %u times to take the link "
	       "down, and is told again ever less often",
	       mark_place_str(sm, m, where), TELL_DOWNS - 1);
}

void mark_take_down(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);

	if (!marks_rest(sm, m, w))
		return;
	w->down_at = sm->now + (AGAIN << MIN(w->downs, AGAIN_DOUBLES));
	if (++w->downs == TELL_DOWNS)
		tell_stays_up(sm, m);
	for (unsigned i = 1; n && i <= n->n_ports; i++) {
		struct port *p = mark_cable(m, n, i);

		if (!p || !dampening_is_out(p) || !is_above_init(p))
			continue;
		p = mark_near_end(p);
		sync_take_down(sm->sync, p, on_taken_down, sm, p);
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Between sweeps: what is done here begins one. */
void marks_work_tick(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	if (sm->state != SM_MASTER || sm->sweep != SWEEP_NONE)
		return;
	if (sm->now >= ms->look_at)
		look_at_some(sm);
	else if (sm->now < ms->next_down)
		return; /* thousands of marks are not gone through at each MAD */
	for (uint32_t i = 0; i < ms->table->n; i++)
		if (sm->now >= ms->work[i].down_at)
			mark_take_down(sm, &ms->table->all[i], &ms->work[i]);
	note_next_down(ms);
}

mono_t marks_work_next(const struct sm *sm)
{
	const struct marks *ms = sm->m.marks;

	if (sm->state != SM_MASTER || sm->sweep != SWEEP_NONE)
		return MONO_NEVER;
	return mono_min(ms->look_at, ms->next_down);
}
