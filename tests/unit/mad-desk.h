// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transaction engine on a desk, with a transport made of paper: the test reads what was sent,
 * and says what comes back and when. For test-mad-*.c alone.
 */
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mad/mad.h"
#include "util/mem.h"

#define MAX_ASKS 512

/* The transport */

struct sent {
	struct transport_addr to;
	unsigned timeout_ms;
	uint8_t mad[MAD_SIZE];
	enum transport_fate fate; /* of a request in the window */
	mono_t at;		  /* when it went on the wire; the test says so */
};

struct paper {
	struct transport base;
	struct sent sent[512];
	unsigned n_sent;
	struct transport_event in[512];
	unsigned in_head, in_tail;
	int refuse;      /* what send() returns */
	unsigned accept; /* sends before it refuses */
	unsigned window; /* of the windowed transport */
};

static inline int paper_send(struct transport *t, const struct transport_addr *to,
			     const uint8_t *mad, size_t length, unsigned timeout_ms)
{
	struct paper *p = (struct paper *)t;
	struct sent *s = &p->sent[p->n_sent];

	assert_int_equal(length, MAD_SIZE);
	if (p->refuse && p->accept-- == 0) {
		p->accept = 0;
		return p->refuse;
	}
	assert_true(p->n_sent < ARRAY_SIZE(p->sent));
	s->to = *to;
	s->timeout_ms = timeout_ms;
	memcpy(s->mad, mad, MAD_SIZE);
	p->n_sent++;
	return 0;
}

static inline bool paper_set_window(struct transport *t, unsigned window)
{
	struct paper *p = (struct paper *)t;

	if (window > 100)
		return false;
	p->window = window;
	return true;
}

static inline int paper_queue(struct transport *t, const struct transport_addr *to,
			      const uint8_t *mad, uint32_t tid, unsigned timeout_ms)
{
	struct paper *p = (struct paper *)t;

	assert_int_equal(tid, (uint32_t)ib_get(mad, SMP_TID));
	p->sent[p->n_sent].fate = TRANSPORT_WAITS;
	return paper_send(t, to, mad, MAD_SIZE, timeout_ms);
}

static inline struct sent *paper_find(struct transport *t, uint32_t tid)
{
	struct paper *p = (struct paper *)t;

	for (unsigned i = 0; i < p->n_sent; i++)
		if ((uint32_t)ib_get(p->sent[i].mad, SMP_TID) == tid)
			return &p->sent[i];
	fail_msg("no such request");
	return NULL;
}

static inline enum transport_fate paper_forget(struct transport *t, uint32_t tid)
{
	struct sent *s = paper_find(t, tid);
	enum transport_fate before = s->fate;

	s->fate = TRANSPORT_ENDED;
	return before;
}

static inline enum transport_fate paper_fate(struct transport *t, uint32_t tid, int64_t *ret_us)
{
	const struct sent *s = paper_find(t, tid);

	*ret_us = s->at;
	return s->fate;
}

static inline int paper_receive(struct transport *t, struct transport_event *ret)
{
	struct paper *p = (struct paper *)t;

	if (p->in_head == p->in_tail)
		return 0;
	*ret = p->in[p->in_head++];
	return 1;
}

static const struct transport_ops paper_ops = { .send = paper_send, .receive = paper_receive };

/* It refills the wire by itself. */
static const struct transport_ops windowed_ops = {
	.send = paper_send,
	.receive = paper_receive,
	.set_window = paper_set_window,
	.queue = paper_queue,
	.forget = paper_forget,
	.fate = paper_fate,
};

/* A transport, an engine, and what became of the requests */

struct desk;

struct ask {
	struct desk *desk;
	unsigned ends;
	struct mad_result result;
	uint8_t first_byte;           /* of the response */
	void (*then)(struct ask *a);  /* done inside the completion */
};

struct desk {
	struct paper paper;
	struct mad_engine *engine;
	struct ask ask[MAX_ASKS];
	unsigned n_asks, ended;
	unsigned inbox;
	uint16_t inbox_attr;
	bool refuse_wanted;
	unsigned wanted_asked;
	struct mad_target *target; /* of the following asks */
	bool urgent;		   /* requests from now on are urgent */
	mono_t now;
	bool now_known; /* the engine was told */
};

static const struct mad_params plain = {
	.max_wire = 4, .max_wire2 = 4, .stall = 600 * MONO_MS, .timeout_ms = 200,
	.long_timeout_ms = 500, .retries = 3,
};

static inline struct desk *desk_on(const struct transport_ops *ops, const struct mad_params *params)
{
	struct desk *d = xcalloc(1, sizeof(*d));

	d->paper.base.ops = ops;
	d->now = 1000 * MONO_S;
	d->engine = mad_new(&d->paper.base, params);
	return d;
}

static inline struct desk *desk_new(const struct mad_params *params)
{
	return desk_on(&paper_ops, params);
}

static inline void desk_free(struct desk *d)
{
	mad_free(d->engine);
	free(d);
}

static inline void desk_freep(struct desk **d)
{
	if (*d)
		desk_free(*d);
}

#define _desk_ _cleanup_(desk_freep) struct desk *

static inline void on_done(void *owner, const struct mad_result *result)
{
	struct ask *a = result->arg;

	assert_ptr_equal(owner, a->desk);
	a->ends++;
	a->result = *result;
	a->first_byte = result->payload ? result->payload[0] : 0;
	a->desk->ended++;
	if (a->desk->now_known)
		assert_int_equal(result->now, a->desk->now);
	if (a->then)
		a->then(a);
}

static inline bool on_wanted(void *owner, void *arg)
{
	struct desk *d = owner;

	d->wanted_asked++;
	return !d->refuse_wanted;
}

static const struct dr_path two_hops = { .length = 2, .hop = { 0, 3, 7 } };

/* Node `mod` is asked for its PortInfo. */
static inline struct ask *ask(struct desk *d, uint32_t mod)
{
	struct ask *a = &d->ask[d->n_asks++];
	struct mad_request rq = {
		.method = MAD_GET, .attr = IB_ATTR_PORT_INFO, .mod = mod,
		.m_key = 0x1122334455667788, .path = &two_hops, .target = d->target,
		.wanted = on_wanted, .urgent = d->urgent,
	};

	assert_true(d->n_asks <= MAX_ASKS);
	a->desk = d;
	mad_submit(d->engine, &rq, on_done, d, a);
	return a;
}

static inline int run(struct desk *d, mono_t later)
{
	d->now += later;
	d->now_known = true;
	return mad_dispatch(d->engine, d->now, 100);
}

/* Puts an event before the engine; the MAD is that of send `i`. */
static inline struct transport_event *paper_push(struct desk *d, unsigned i,
						 enum transport_kind kind)
{
	struct transport_event *ev = &d->paper.in[d->paper.in_tail++];

	assert_true(d->paper.in_tail <= ARRAY_SIZE(d->paper.in));
	assert_true(i < d->paper.n_sent);
	*ev = (struct transport_event){ .kind = kind,
					.from = d->paper.sent[i].to,
					.length = MAD_SIZE };
	memcpy(ev->mad, d->paper.sent[i].mad, MAD_SIZE);
	return ev;
}

static inline uint8_t *answer(struct desk *d, unsigned i, uint16_t status)
{
	struct transport_event *ev = paper_push(d, i, TRANSPORT_MAD);
	uint8_t payload[SMP_DATA_SIZE] = { 0x5A };

	ib_put(ev->mad, SMP_TID, ib_get(ev->mad, SMP_TID) | 0xABull << 32);
	smp_make_response(ev->mad, status, payload);
	return ev->mad;
}

static inline void give_back(struct desk *d, unsigned i)
{
	paper_push(d, i, TRANSPORT_RETURNED)->error = -ETIMEDOUT;
}

static inline uint32_t tid_of(const struct desk *d, unsigned i)
{
	return ib_get(d->paper.sent[i].mad, SMP_TID);
}

static inline void assert_end(const struct ask *a, enum mad_end end)
{
	assert_int_equal(a->ends, 1);
	assert_int_equal(a->result.end, end);
}

