// SPDX-License-Identifier: BSD-2-Clause
/*
 * Is a cable at rest, so that taking it down drops nothing?
 *
 *   NEW --asked--> ASKED --all have answered, or were silent--> PAUSE --a packet lifetime--> ASKED
 *                    '-- the second time as the time before, or REST_PATIENCE is over --> OVER
 *
 * Tables of ours say that nothing is led over it; the counter of the devices, PortXmitPkts of
 * PortCountersExtended (16.1.4.11), also sees entries that are not ours. Counted is what switches
 * send into the cables; of a switch as a whole, what its neighbours send to it. Hosts are not
 * asked: their sessions end with the isolation. SMPs count too, so REST_FEW packets are none. A
 * device without such counters, or that is silent, is waited for a packet lifetime, and no longer.
 */
#include <inttypes.h>

#include "sm/base/about.h"
#include "sm/base/lids.h"
#include "sm/links/dampening_internal.h"
#include "sm/links/marks_internal.h"
#include "util/mem.h"

#define REST_FEW      16u
#define REST_PATIENCE (30 * MONO_S)
#define REST_ANSWERS  (10 * MONO_S) /* all have ended before */

#define PERF_VERSION	  1u
#define PORT_SELECT_BIT	  (65u * 8)
#define XMIT_PACKETS_BIT  (88u * 8)

static struct rest_slot *slot_of(struct marks *ms, uint32_t tid)
{
	for (unsigned i = 0; tid && i < REST_SLOTS; i++) {
		if (ms->slots[i].tid == tid)
			return &ms->slots[i];
	}
	return NULL;
}

static struct rest_slot *free_slot(struct marks *ms)
{
	for (unsigned i = 0; i < REST_SLOTS; i++) {
		if (!ms->slots[i].tid)
			return &ms->slots[i];
	}
	return NULL;
}

static bool is_of_mark(const struct marks *ms, const struct mark_work *w)
{
	return ms->table->n && w >= ms->work && w < ms->work + ms->table->n;
}

static struct mark_work *work_of(struct sm *sm, const struct rest_slot *slot)
{
	struct marks *ms = sm->m.marks;
	uint32_t i = slot->other ? UINT32_MAX : mark_table_find(ms->table, slot->node, slot->port);

	if (slot->other)
		return ms->questions->other_work(sm, slot->node, slot->port);
	return i == UINT32_MAX ? NULL : &ms->work[i];
}

unsigned marks_free_slots(const struct marks *ms)
{
	unsigned n = 0;

	for (unsigned i = 0; i < REST_SLOTS; i++)
		n += !ms->slots[i].tid;
	return n;
}

bool marks_ask_port(struct sm *sm, const struct link_mark *m, struct mark_work *w,
		    const struct port *p, uint16_t attr)
{
	struct marks *ms = sm->m.marks;
	struct transport_addr to = { .lid = p->node->ports[0].lid,
				     .qp = 1,
				     .qkey = MAD_QP1_QKEY };
	struct rest_slot *slot = free_slot(ms);
	uint8_t mad[MAD_SIZE] = { 0 };

	if (!slot || !to.lid || !node_is_switch(p->node))
		return false;
	to.sl = ms->questions->path_sl(sm, to.lid);
	*slot = (struct rest_slot){ .tid = mad_gmp_tid(sm->mad, to.lid),
				    .attr = attr,
				    .lid = to.lid,
				    .asked = p->num,
				    .node = m->node,
				    .port = m->port,
				    .other = !is_of_mark(ms, w) };
	ib_put(mad, SMP_BASE_VERSION, 1);
	ib_put(mad, SMP_CLASS, MAD_CLASS_PERF);
	ib_put(mad, SMP_CLASS_VERSION, PERF_VERSION);
	ib_put(mad, SMP_METHOD, MAD_GET);
	ib_put(mad, SMP_ATTR_ID, attr);
	ib_put(mad, SMP_TID, slot->tid);
	ib_bits_put(mad, PORT_SELECT_BIT, 8, p->num);
	if (mad_send_gmp(sm->mad, &to, mad, sizeof(mad), sm->conf->transaction_timeout) < 0)
		slot->tid = 0;
	return slot->tid != 0;
}

static void ask_port(struct sm *sm, const struct link_mark *m, struct mark_work *w,
		     const struct port *p)
{
	w->rest.n_asked += marks_ask_port(sm, m, w, p, PERF_COUNTERS_EXT);
}

static void ask_all(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);

	w->rest.phase = REST_ASKED;
	w->rest.n_asked = 0;
	w->rest.sum = 0;
	w->down_at = sm->now + REST_ANSWERS;
	for (unsigned i = 1; n && i <= n->n_ports; i++) {
		struct port *p = mark_cable(m, n, i);

		if (!p || !cable_is_between_switches(p->damp.cable))
			continue;
		ask_port(sm, m, w, p->peer);
		if (m->port != MARK_WHOLE_SWITCH)
			ask_port(sm, m, w, p);
	}
	if (!w->rest.n_asked)
		w->down_at = sm->now;
}

static void tell_unrest(const struct sm *sm, const struct link_mark *m, uint64_t n)
{
	char where[MARK_PLACE_STRLEN];

	log_on(about_port(LOG_ID_LINK_MARKED, mark_port(sm, m)), LOGB_ERROR,
	       "%s: %" PRIu64 " packets more were sent over it although no table of this manager "
	       "leads there; it is isolated all the same",
	       mark_place_str(sm, m, where), n);
}

static void end_reading(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct mark_rest *r = &w->rest;
	uint64_t more = r->sum - r->before;
	bool rests = r->n_readings && r->sum >= r->before && more <= REST_FEW;

	r->before = r->sum;
	r->n_readings++;
	if (rests || (r->n_readings > 1 && sm->now >= r->until)) {
		r->phase = REST_OVER;
		w->down_at = sm->now;
		if (!rests)
			tell_unrest(sm, m, more);
		return;
	}
	r->phase = REST_PAUSE;
	w->down_at = sm->now + marks_lifetime(sm);
}

bool marks_rest(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	switch (w->rest.phase) {
	case REST_NEW:
		w->rest = (struct mark_rest){ .until = sm->now + REST_PATIENCE };
		ask_all(sm, m, w);
		return false;
	case REST_PAUSE:
		ask_all(sm, m, w);
		return false;
	case REST_ASKED:
		end_reading(sm, m, w);
		return false;
	case REST_OVER:
		return true;
	}
	return false;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_answer(const struct rest_slot *slot, const struct transport_event *ev)
{
	return ev->from.lid == slot->lid && ib_get(ev->mad, SMP_METHOD) == MAD_GET_RESP &&
	       ib_get(ev->mad, SMP_ATTR_ID) == slot->attr;
}

static void take_counter(struct sm *sm, const struct rest_slot *slot,
			 const struct transport_event *ev)
{
	struct marks *ms = sm->m.marks;
	struct mark_work *w = work_of(sm, slot);
	bool is_good = ev->kind == TRANSPORT_MAD && is_answer(slot, ev) &&
		       !ib_get(ev->mad, SMP_STATUS);

	if (w && slot->attr == PERF_COUNTERS) {
		mark_clean_answer(sm, w, slot, is_good ? ev : NULL);
		return;
	}
	if (!w || w->rest.phase != REST_ASKED || !w->rest.n_asked)
		return;
	if (is_good)
		w->rest.sum += ib_bits_get(ev->mad, XMIT_PACKETS_BIT, 64);
	if (--w->rest.n_asked)
		return;
	w->down_at = sm->now;
	ms->next_down = sm->now;
}

bool marks_receive(struct sm *sm, struct transport_event *ev)
{
	struct marks *ms = sm->m.marks;
	struct rest_slot *slot, was;

	if (ev->kind == TRANSPORT_GONE ||
	    (ev->kind == TRANSPORT_MAD && !(ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT)))
		return false;
	slot = slot_of(ms, (uint32_t)ib_get(ev->mad, SMP_TID));
	if (!slot)
		return false;
	if (ev->kind == TRANSPORT_MAD && !is_answer(slot, ev))
		mad_refuse_gmp(sm->mad, MAD_STRAY_ELSEWHERE, ev);
	was = *slot;
	slot->tid = 0;
	take_counter(sm, &was, ev);
	return true;
}
