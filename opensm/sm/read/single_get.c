// SPDX-License-Identifier: BSD-2-Clause
/*
 * A single Get for an administrator: any attribute of any device, with the key that the manager has
 * for it. The answer changes nothing here. Limited, so that callers do not crowd out a sweep:
 * GETS_MAX at a time, and a burst, then so many per second. A device that was silent lately is
 * asked all the same, with all tries.
 */
#include <assert.h>
#include <errno.h>

#include "sm/sm_internal.h"
#include "util/mem.h"

#define GETS_MAX      8
#define GETS_BURST    64
#define GETS_INTERVAL (5 * MONO_MS)

struct single_gets {
	struct single_get {
		bool busy;
		sm_smp_fn *done; /* NULL: the caller is gone */
		void *arg;
		struct mad_target target;
	} places[GETS_MAX];
	struct log_limit rate;
};
MACHINE_MEMORY_WITH(single_gets, .rate = { .interval = GETS_INTERVAL, .burst = GETS_BURST });

static void on_answer(void *owner, const struct mad_result *result)
{
	struct single_get *g = result->arg;

	g->busy = false;
	if (g->done)
		g->done(g->arg, result);
}

static struct single_get *free_place(struct single_gets *s)
{
	for (unsigned i = 0; i < GETS_MAX; i++)
		if (!s->places[i].busy)
			return &s->places[i];
	return NULL;
}

int sm_smp_get(struct sm *sm, const struct sm_smp *q, mono_t now, sm_smp_fn *done, void *arg)
{
	struct single_gets *s = sm->m.single_gets;
	struct single_get *g = free_place(s);
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = q->attr,
		.mod = q->mod,
		.path = &q->path,
		.m_key = q->port ? port_of_sma(q->port)->m_key : 0,
		.target = g ? &g->target : NULL,
	};

	assert(done);
	if (!g || !log_allow(&s->rate, now, &(unsigned){ 0 }))
		return -EBUSY;
	*g = (struct single_get){ .busy = true, .done = done, .arg = arg };
	mad_submit(sm->mad, &rq, on_answer, s, g);
	return 0;
}

void sm_smp_abandon(struct sm *sm, const void *arg)
{
	for (unsigned i = 0; i < GETS_MAX; i++)
		if (sm->m.single_gets->places[i].busy && sm->m.single_gets->places[i].arg == arg)
			sm->m.single_gets->places[i].done = NULL;
}
