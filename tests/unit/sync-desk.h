// SPDX-License-Identifier: BSD-2-Clause
/*
 * The differ of sync/ on a simulated fabric whose facts are looked up, not discovered: six hosts
 * h0..h5, three at each of leaf1 and leaf2, spine1 between. What a sweep does, a test does by hand:
 * desk_observe(), desk_run().
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric_internal.h"
#include "sim/gen/gen.h"
#include "sim/sim.h"
#include "sync/sync.h"
#include "util/mem.h"

#define N_HOSTS	  6
#define MAX_NODES 16

struct desk {
	struct sim *sim;
	struct transport *tr;
	struct mad_engine *mad;
	struct fabric *fabric;
	struct sync *sync;
	struct conf *conf;
	struct node *nodes[MAX_NODES]; /* by index in the simulator */
	struct sync_outcome outcome;
	const struct pkey_plan *pkeys;
	void (*watch)(void *arg); /* after every step; NULL: not wanted */
	void *watch_arg;
	bool ended;
	unsigned unsettled;
};

static inline bool desk_may_write(void *arg)
{
	return true;
}

static inline void desk_on_ended(void *arg, const struct sync_outcome *outcome)
{
	struct desk *d = arg;

	d->outcome = *outcome;
	d->ended = true;
}

static inline void desk_on_unsettled(void *arg)
{
	((struct desk *)arg)->unsettled++;
}

static inline int desk_host_index(const struct desk *d, unsigned h)
{
	char id[8];

	snprintf(id, sizeof(id), "h%u", h);
	return sim_find(d->sim, id);
}

static inline struct port *desk_host(const struct desk *d, unsigned h)
{
	return &d->nodes[desk_host_index(d, h)]->ports[1];
}

/* ---- facts ---------------------------------------------------------------------------------- */

static inline void desk_add_node(struct desk *d, int node)
{
	uint8_t ni[SMP_DATA_SIZE];

	assert_int_equal(sim_read(d->sim, node, IB_ATTR_NODE_INFO, 0, ni), 0);
	ib_put(ni, NI_LOCAL_PORT, 1);
	d->nodes[node] = fabric_add_node(d->fabric, ni);
	assert_non_null(d->nodes[node]);
	if (!sim_node_is_switch(d->sim, node))
		fabric_set_port_guid(d->fabric, &d->nodes[node]->ports[1],
				     ib_get(ni, NI_PORT_GUID));
}

static inline void desk_connect(struct desk *d)
{
	unsigned port;
	int peer;

	for (unsigned i = 0; i < sim_n_nodes(d->sim); i++) {
		for (unsigned k = 1; k <= d->nodes[i]->n_ports; k++) {
			if (sim_peer(d->sim, (int)i, k, &peer, &port))
				fabric_connect(&d->nodes[i]->ports[k],
					       &d->nodes[peer]->ports[port]);
		}
	}
	d->fabric->own = d->nodes[desk_host_index(d, 0)];
	d->fabric->own_port = desk_host(d, 0);
}

/* Breadth first from our own host. */
static inline void desk_find_paths(struct desk *d)
{
	struct node *queue[MAX_NODES] = { d->fabric->own };
	unsigned n = 1;

	for (unsigned at = 0; at < n; at++) {
		for (unsigned k = 1; k <= queue[at]->n_ports; k++) {
			struct port *peer = queue[at]->ports[k].peer;

			if (!peer || peer->node == d->fabric->own || peer->node->path.length)
				continue;
			assert_int_equal(dr_path_extend(&queue[at]->path, k, &peer->node->path), 0);
			if (node_is_switch(peer->node))
				queue[n++] = peer->node;
		}
	}
}

/* What a sweep would see now. */
static inline void desk_observe(struct desk *d)
{
	uint8_t si[SMP_DATA_SIZE];

	for (unsigned i = 0; i < sim_n_nodes(d->sim); i++) {
		struct node *n = d->nodes[i];

		mad_target_revive(&n->target);
		if (node_is_switch(n)) {
			assert_int_equal(sim_read(d->sim, (int)i, IB_ATTR_SWITCH_INFO, 0, si), 0);
			memcpy(n->switch_info, si, SI_BYTES);
			n->switch_known = true;
		}
		for (unsigned k = node_is_switch(n) ? 0 : 1; k <= n->n_ports; k++) {
			struct port *p = &n->ports[k];

			assert_int_equal(sim_read(d->sim, (int)i, IB_ATTR_PORT_INFO, k, p->info),
					 0);
			p->known = true;
			p->doubt = false;
			p->lid = (lid_t)(i + 1);
			if (!port_is_live(p))
				fabric_forget_cells(d->fabric, p);
		}
	}
}

static inline struct desk *desk_new(unsigned seed)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 3, 1, 1);
	const struct mad_params params = {
		.max_wire = 8, .timeout_ms = 20, .retries = 1, .per_target = 4, .silent_after = 8
	};
	struct desk *d = xcalloc(1, sizeof(*d));
	const struct sync_hooks hooks = { .may_write = desk_may_write,
					  .ended = desk_on_ended,
					  .unsettled = desk_on_unsettled,
					  .arg = d };

	d->sim = sim_new(net, seed);
	d->tr = sim_attach(d->sim, "h0", 0);
	d->mad = mad_new(d->tr, &params);
	d->fabric = fabric_new();
	d->sync = sync_new(d->fabric, d->mad, &hooks);
	d->conf = conf_new();
	for (unsigned i = 0; i < sim_n_nodes(d->sim); i++)
		desk_add_node(d, (int)i);
	desk_connect(d);
	desk_find_paths(d);
	desk_observe(d);
	return d;
}

static inline void desk_free(struct desk *d)
{
	sync_free(d->sync);
	mad_free(d->mad);
	transport_close(d->tr);
	fabric_free(d->fabric);
	conf_unref(d->conf);
	sim_free(d->sim);
	free(d);
}

/* Another manager takes over: what it did not see it does not know. */
static inline void desk_forget_all(struct desk *d)
{
	FABRIC_EACH_NODE(d->fabric, n) {
		for (unsigned k = 0; k <= n->n_ports; k++)
			fabric_forget_cells(d->fabric, &n->ports[k]);
	}
}

static inline void desk_step(struct desk *d)
{
	mono_t next = mono_min(sim_next(d->sim), mad_next(d->mad));

	sim_advance(d->sim, mono_min(next, sim_now(d->sim) + MONO_S));
	while (mad_dispatch(d->mad, sim_now(d->sim), 256) > 0 || sim_has_mail(d->tr))
		sync_feed(d->sync);
	sync_feed(d->sync);
	mad_dispatch(d->mad, sim_now(d->sim), 0);
	if (d->watch)
		d->watch(d->watch_arg);
}

static inline void desk_run_for(struct desk *d, mono_t t)
{
	mono_t end = sim_now(d->sim) + t;

	while (sim_now(d->sim) < end)
		desk_step(d);
}

static inline const struct sync_outcome *
desk_run_by(struct desk *d, void (*start)(struct sync *s, const struct plan *plan))
{
	const struct plan p = { .conf = d->conf,
				.pkeys = d->pkeys,
				.sm_lid = desk_host(d, 0)->lid };

	d->ended = false;
	start(d->sync, &p);
	while (!d->ended)
		desk_step(d);
	return &d->outcome;
}

/* One run of the differ. */
static inline const struct sync_outcome *desk_run(struct desk *d)
{
	return desk_run_by(d, sync_start);
}

/* One of what needs no routes. */
static inline const struct sync_outcome *desk_run_ahead(struct desk *d)
{
	return desk_run_by(d, sync_start_ahead);
}
