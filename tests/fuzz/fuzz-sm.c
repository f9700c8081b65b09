// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary MADs against a manager that is MASTER of a small fabric: requests, traps and answers
 * that were not asked for arrive at its own port. The input is MADs of 256 bytes; a short one is
 * filled with zeroes. Whatever arrives, the manager keeps running and its fabric comes up again.
 *
 * Not here: the order of events in the transaction engine (fuzz-mad).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/gen/gen.h"
#include "sim/sim.h"
#include "sm/sm.h"
#include "util/log.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 800; /* replay.c: a manager comes up for each */

#define MAX_MADS 16
#define SETTLE (30 * MONO_S)

/* Stands before the simulator's transport and adds MADs of its own. */
struct world {
	struct transport base;
	struct transport *real;
	const uint8_t *input;
	size_t left;
	struct sim *sim;
	struct sm *sm;
};

static struct world *world_of(struct transport *t)
{
	return (struct world *)t;
}

static int op_fd(struct transport *t)
{
	return -1;
}

static int op_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		   size_t length, unsigned timeout_ms)
{
	return transport_send(world_of(t)->real, to, mad, length, timeout_ms);
}

/* The last byte, so that the few LIDs of the fabric are met often; the base version is 1. */
static uint16_t sender_of(const uint8_t *mad, size_t n)
{
	return mad[n - 1] == 0xFF ? 0xFFFF : (uint16_t)((mad[0] & 0xFE) << 8 | mad[n - 1]);
}

static int op_receive(struct transport *t, struct transport_event *ret)
{
	struct world *w = world_of(t);
	size_t n = MIN(w->left, (size_t)TRANSPORT_MAD_SIZE);

	if (!n)
		return transport_receive(w->real, ret);
	memset(ret, 0, sizeof(*ret));
	ret->kind = TRANSPORT_MAD;
	ret->length = TRANSPORT_MAD_SIZE;
	ret->from.lid = sender_of(w->input, n);
	memcpy(ret->mad, w->input, n);
	w->input += n;
	w->left -= n;
	return 1;
}

static int op_set_issm(struct transport *t, bool on)
{
	return 0;
}

static struct transport *op_close(struct transport *t)
{
	return NULL;
}

static void submit_job(void *arg, struct sm_job *job)
{
	job->run(job);
	job->done(job);
}

static void run_until(struct world *w, mono_t end)
{
	while (sim_now(w->sim) < end) {
		mono_t next;

		while (sm_dispatch(w->sm, sim_now(w->sim)) > 0)
			;
		next = mono_min(mono_min(sim_next(w->sim), sm_next(w->sm)), end);
		sim_advance(w->sim, MAX(next, sim_now(w->sim) + 1));
	}
}

static void require_up(const struct world *w, const char *when)
{
	if (sm_state(w->sm) == SM_MASTER && sm_stats(w->sm)->up)
		return;
	fprintf(stderr, "%s: %s\n", when, sm_state_name(sm_state(w->sm)));
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	static const struct transport_ops ops = {
		.fd = op_fd, .send = op_send, .receive = op_receive,
		.set_issm = op_set_issm, .close = op_close,
	};
	const struct sm_hooks hooks = { .submit_job = submit_job };
	const struct log_config quiet = { .path = "/dev/null", .quiet = true };
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 1, 1);
	struct world w = { .base = { .ops = &ops }, .sim = sim_new(net, 1) };
	struct conf *conf = conf_new();

	log_open(&quiet);
	w.real = sim_attach(w.sim, "h0", 0);
	w.base.port_guid = w.real->port_guid;
	w.sm = sm_new(conf, &w.base, NULL, &hooks);
	run_until(&w, 5 * MONO_S);
	require_up(&w, "before");
	w.input = input;
	w.left = MIN(len, (size_t)MAX_MADS * TRANSPORT_MAD_SIZE);
	run_until(&w, sim_now(w.sim) + SETTLE);
	require_up(&w, "after");
	sm_free(w.sm);
	sim_free(w.sim);
	conf_unref(conf);
	return 0;
}
