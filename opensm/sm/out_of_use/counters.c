// SPDX-License-Identifier: BSD-2-Clause
#include "sm/out_of_use/counters.h"

#include "sm/out_of_use/bad_cable.h"
#include "util/mem.h"

/* Most questions under way at a time. */
#define ASKS 512u

#define PERF_VERSION	1u
#define PORT_SELECT_BIT (65u * 8)

struct counters_ask *counters_new(void)
{
	return xcalloc(ASKS, sizeof(struct counters_ask));
}

static struct counters_ask *find(const struct sm *sm, uint32_t tid)
{
	struct counters_ask *asks = sm->m.out_of_use->asks;

	for (unsigned i = 0; i < ASKS; i++)
		if (asks[i].tid == tid)
			return &asks[i];
	return NULL;
}

unsigned counters_free(const struct sm *sm)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ASKS; i++)
		n += !sm->m.out_of_use->asks[i].tid;
	return n;
}

bool counters_get(struct sm *sm, const struct port *p, const struct counters_ask *ask)
{
	struct transport_addr to = { .lid = p->node->ports[0].lid, .qp = 1, .qkey = MAD_QP1_QKEY };
	struct counters_ask *a = find(sm, 0);
	uint8_t mad[MAD_SIZE] = { 0 };

	if (!a || !to.lid || !node_is_switch(p->node))
		return false;
	to.sl = sm->m.out_of_use->path_sl(sm, to.lid);
	*a = *ask;
	a->tid = mad_gmp_tid(sm->mad, to.lid);
	a->lid = to.lid;
	a->asked = p->num;
	ib_put(mad, SMP_BASE_VERSION, 1);
	ib_put(mad, SMP_CLASS, MAD_CLASS_PERF);
	ib_put(mad, SMP_CLASS_VERSION, PERF_VERSION);
	ib_put(mad, SMP_METHOD, MAD_GET);
	ib_put(mad, SMP_ATTR_ID, a->attr);
	ib_put(mad, SMP_TID, a->tid);
	ib_bits_put(mad, PORT_SELECT_BIT, 8, p->num);
	if (mad_send_gmp(sm->mad, &to, mad, sizeof(mad), sm->conf->transaction_timeout) < 0)
		a->tid = 0;
	return a->tid != 0;
}

static bool is_answer(const struct counters_ask *a, const struct transport_event *ev)
{
	return ev->from.lid == a->lid && ib_get(ev->mad, SMP_METHOD) == MAD_GET_RESP &&
	       ib_get(ev->mad, SMP_ATTR_ID) == a->attr;
}

bool counters_receive(struct sm *sm, struct transport_event *ev)
{
	struct counters_ask *a, was;
	uint32_t tid;
	bool is_good;

	if (ev->kind == TRANSPORT_GONE ||
	    (ev->kind == TRANSPORT_MAD && !(ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT)))
		return false;
	tid = (uint32_t)ib_get(ev->mad, SMP_TID);
	a = tid ? find(sm, tid) : NULL;
	if (!a)
		return false;
	is_good = ev->kind == TRANSPORT_MAD && is_answer(a, ev);
	if (ev->kind == TRANSPORT_MAD && !is_good)
		mad_refuse_gmp(sm->mad, MAD_STRAY_ELSEWHERE, ev);
	was = *a;
	a->tid = 0;
	was.done(sm, &was, is_good && !ib_get(ev->mad, SMP_STATUS) ? ev : NULL);
	return true;
}
