// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes against the transaction engine: as MADs from the wire, and as the order in which
 * things happen. The input is a list of commands, one byte each with their operands behind:
 *
 *   0  time passes (1 byte, 10 ms each), dispatch     4  like 3, as a returned MAD
 *   1  a request (1 byte: target, attribute)          5  cancel (1 byte: owner, target)
 *   2  a MAD arrives (1 byte length, bytes)           6  the transport refuses (1 byte: how)
 *   3  an answer to a MAD sent (1 byte: which;        7  the port is gone
 *      1 byte: changes, each offset and value)
 *
 * Whatever happens, each request ends exactly once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mad/mad.h"
#include "util/mem.h"

#define MAX_ASKS 256
#define N_TARGETS 4
#define N_SENT 16

static void count_ids(void *arg, void *ret, size_t len)
{
	uint32_t *next_id = arg;

	for (size_t at = 0; at + sizeof(*next_id) <= len; at += sizeof(*next_id)) {
		memcpy((uint8_t *)ret + at, next_id, sizeof(*next_id));
		(*next_id)++;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

struct bytes {
	const uint8_t *p, *end;
};

struct world;

struct owner {
	struct world *world;
};

struct world {
	struct transport base;
	struct mad_engine *engine;
	struct mad_target target[N_TARGETS];
	struct owner owner[2];
	uint8_t ends[MAX_ASKS];
	unsigned n_asks;
	uint8_t sent[N_SENT][MAD_SIZE]; /* the last ones, round robin */
	unsigned n_sent;
	struct transport_event in;
	bool arrived;
	int refuse;
	mono_t now;
};

static uint8_t next(struct bytes *b)
{
	return b->p < b->end ? *b->p++ : 0;
}

static int world_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		      size_t length, unsigned timeout_ms)
{
	struct world *w = (struct world *)t;

	if (w->refuse)
		return w->refuse;
	memcpy(w->sent[w->n_sent++ % N_SENT], mad, MAD_SIZE);
	return 0;
}

static int world_receive(struct transport *t, struct transport_event *ret)
{
	struct world *w = (struct world *)t;

	if (!w->arrived)
		return 0;
	*ret = w->in;
	w->arrived = false;
	return 1;
}

static const struct transport_ops world_ops = { .send = world_send, .receive = world_receive };

static void submit(struct world *w, uint8_t choice);

static void on_done(void *owner, const struct mad_result *result)
{
	struct world *w = ((struct owner *)owner)->world;
	uint8_t *ends = result->arg, sum = 0;

	if (++*ends != 1)
		abort();
	if (!result->payload)
		return;
	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		sum += result->payload[i]; /* all of it may be read */
	if (sum % 4 == 1)
		submit(w, sum);
	else if (sum % 4 == 2)
		mad_cancel(w->engine, owner, &w->target[sum / 4 % N_TARGETS]);
}

static void on_inbox(void *owner, const struct transport_addr *from, const uint8_t *mad, mono_t now)
{
	uint8_t answer[MAD_SIZE];

	memcpy(answer, mad, sizeof(answer));
	smp_make_response(answer, 0, NULL);
	mad_send_once(((struct world *)owner)->engine, from, answer);
}

static void submit(struct world *w, uint8_t choice)
{
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	struct mad_request rq = {
		.method = choice & 1 ? MAD_GET : MAD_SET,
		.attr = IB_ATTR_NODE_INFO + choice % 3,
		.path = choice & 2 ? &path : NULL,
		.target = choice & 4 ? &w->target[choice / 8 % N_TARGETS] : NULL,
	};

	if (w->n_asks < MAX_ASKS)
		mad_submit(w->engine, &rq, on_done, &w->owner[choice >> 7], &w->ends[w->n_asks++]);
}

static void dispatch(struct world *w, mono_t later)
{
	w->now += later;
	mad_dispatch(w->engine, w->now, 4);
}

static void arrive(struct world *w, enum transport_kind kind, size_t length)
{
	w->in.kind = kind;
	w->in.length = length;
	w->arrived = true;
	dispatch(w, 0);
}

static void take_raw(struct world *w, struct bytes *b)
{
	size_t length = next(b) + 1u;

	memset(w->in.mad, 0, MAD_SIZE);
	for (size_t i = 0; i < length; i++)
		w->in.mad[i] = next(b);
	arrive(w, TRANSPORT_MAD, length);
}

static void take_answer(struct world *w, struct bytes *b, enum transport_kind kind)
{
	unsigned which = next(b), changes = next(b) % 16;

	memcpy(w->in.mad, w->sent[which % N_SENT], MAD_SIZE);
	if (kind == TRANSPORT_MAD)
		smp_make_response(w->in.mad, 0, NULL);
	while (changes--) {
		unsigned at = next(b);

		w->in.mad[at] = next(b);
	}
	arrive(w, kind, MAD_SIZE);
}

static void cancel(struct world *w, uint8_t choice)
{
	mad_cancel(w->engine, &w->owner[choice & 1],
		   choice & 2 ? &w->target[choice / 4 % N_TARGETS] : NULL);
}

static void obey(struct world *w, struct bytes *b)
{
	static const int refusals[] = { 0, -EAGAIN, -EINVAL, -ENODEV };

	switch (next(b) % 8) {
	case 0:
		dispatch(w, next(b) * 10 * MONO_MS);
		break;
	case 1:
		submit(w, next(b));
		break;
	case 2:
		take_raw(w, b);
		break;
	case 3:
		take_answer(w, b, TRANSPORT_MAD);
		break;
	case 4:
		take_answer(w, b, TRANSPORT_RETURNED);
		break;
	case 5:
		cancel(w, next(b));
		break;
	case 6:
		w->refuse = refusals[next(b) % ARRAY_SIZE(refusals)];
		break;
	case 7:
		if (next(b) % 8 == 0)
			arrive(w, TRANSPORT_GONE, 0);
		break;
	}
}

/* Nothing is answered any more: all must end by themselves. */
static void drain(struct world *w)
{
	w->refuse = 0;
	for (unsigned turn = 0; mad_pending(w->engine); turn++) {
		mono_t when = mad_next(w->engine);

		if (when == MONO_NEVER || turn > 100 * MAX_ASKS)
			abort();
		dispatch(w, MAX(when - w->now, (mono_t)0));
	}
	for (unsigned i = 0; i < w->n_asks; i++)
		if (w->ends[i] != 1)
			abort();
	for (unsigned i = 0; i < N_TARGETS; i++)
		if (w->target[i].on_wire || w->target[i].members.first)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct bytes b = { input, input + len };
	uint32_t next_id = UINT32_MAX - 2;
	struct mad_params params = { .stall = 100 * MONO_MS,
				     .timeout_ms = 200,
				     .long_timeout_ms = 500,
				     .draw = { count_ids, &next_id } };
	struct world *w = xcalloc(1, sizeof(*w));

	params.max_wire = next(&b) % 8;
	params.max_wire2 = next(&b) % 16;
	params.retries = next(&b) % 4;
	params.per_target = next(&b) % 4;
	params.silent_after = next(&b) % 4;
	w->base.ops = &world_ops;
	w->owner[0].world = w->owner[1].world = w;
	w->engine = mad_new(&w->base, &params);
	mad_set_inbox(w->engine, on_inbox, w);
	while (b.p < b.end)
		obey(w, &b);
	drain(w);
	mad_free(w->engine);
	free(w);
	return 0;
}
