// SPDX-License-Identifier: BSD-2-Clause
/* Requests of an administrator to the manager of a simulated tree: what tests of marks stand on. */
#pragma once

#include "trap-world.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fabric/words.h"
#include "sm/marks/marks.h"
#include "sm/sm_internal.h"

struct answer {
	struct mark_result r;
	unsigned n;
};

static inline void on_answer(void *arg, const struct mark_result *r)
{
	struct answer *a = arg;

	a->r = *r;
	a->n++;
}

static inline guid_t guid_of(struct world *w, const char *name)
{
	return sim_node_guid(w->sim, node_of(w, name));
}

static inline struct port *port_of(struct world *w, const char *name, unsigned num)
{
	return &((struct node *)known(w, name))->ports[num];
}

/* Pairs without a way, or looping, at any moment of a request. */
struct watch {
	uint64_t unreachable, loops;
};

static inline struct mark_result ask_watched(struct world *w, const struct mark_request *rq,
					     struct watch *watch)
{
	mono_t until = sim_now(w->sim) + 20 * MONO_S;
	struct answer a = { .n = 0 };

	assert_true(sm_mark_request(w->sm, rq, on_answer, &a));
	assert_int_equal(a.n, 0);
	while (!a.n) {
		struct sim_verdict v;

		assert_true(rig_step(w->rig, until));
		if (!watch)
			continue;
		sim_check_all(w->sim, &v);
		watch->unreachable = MAX(watch->unreachable, v.unreachable);
		watch->loops = MAX(watch->loops, v.loops_ever);
	}
	assert_int_equal(a.n, 1);
	return a.r;
}

static inline struct mark_request request(struct world *w, enum mark_action action,
					  const char *name, unsigned port)
{
	return (struct mark_request){ .action = action,
				      .node = guid_of(w, name),
				      .port = (uint8_t)port,
				      .wait = true,
				      .by = "root",
				      .why = "a test" };
}

static inline struct mark_result ask(struct world *w, enum mark_action action, const char *name,
				     unsigned port)
{
	const struct mark_request rq = request(w, action, name, port);

	return ask_watched(w, &rq, NULL);
}

static inline struct mark_result force(struct world *w, enum mark_action action, const char *name,
				       unsigned port)
{
	struct mark_request rq = request(w, action, name, port);

	rq.force = true;
	return ask_watched(w, &rq, NULL);
}

static inline unsigned state(struct world *w, const char *name, unsigned port)
{
	return sim_port_state(w->sim, node_of(w, name), port);
}

/* Both ends. */
static inline bool link_is(struct world *w, const char *name, unsigned port, unsigned want)
{
	const struct port *p = port_of(w, name, port);

	return state(w, name, port) == want && p->peer &&
	       sim_port_state(w->sim, node_of(w, node_name(p->peer->node)), p->peer->num) == want;
}

static inline unsigned uplink(struct world *w, const char *leaf, const char *spine)
{
	const struct node *n = known(w, leaf);

	for (unsigned i = 1; i <= n->n_ports; i++)
		if (n->ports[i].peer && !strcmp(node_name(n->ports[i].peer->node), spine))
			return i;
	fail();
	return 0;
}

static inline uint64_t unreachable(struct world *w)
{
	struct sim_verdict v;

	sim_check_all(w->sim, &v);
	assert_int_equal(v.loops_ever, 0);
	return v.unreachable;
}

/* Entries of the leaf's own table that lead to this port. */
static inline unsigned entries_to(struct world *w, const char *name, unsigned port)
{
	unsigned n = 0;

	for (unsigned block = 0; block < 4; block++) {
		uint8_t lft[SMP_DATA_SIZE];

		assert_int_equal(sim_read(w->sim, node_of(w, name), IB_ATTR_LFT, block, lft), 0);
		for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
			n += lft[i] == port;
	}
	return n;
}

/* ---- files ----------------------------------------------------------------------------------- */

static inline void start_in(struct world *w, const char *dir)
{
	int i;

	w->rig->epoch = RIG_EPOCH;
	i = rig_start(w->rig, "h0", 0, w->conf, dir);
	assert_true(i >= 0);
	w->sm = w->rig->sms[i].sm;
	run_for(w, 15 * MONO_S);
	assert_ptr_equal(w->sm, rig_master(w->rig));
}

static inline void start_again(struct world *w, const char *dir)
{
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
	start_in(w, dir);
}

static inline bool has_file(const char *dir, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);

	return access(path, F_OK) == 0;
}

/* No file of this process can grow any more, or it can again. */
static inline void fill_disk(bool full)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = full ? 0 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
