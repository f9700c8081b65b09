// SPDX-License-Identifier: BSD-2-Clause
/* A fabric, groups, and what multicast makes of them. Facts come straight from the simulator. */
#include "tests/lib/field.h"

#include <string.h>

#include "fabric/fabric_internal.h"
#include "fabric/snapshot.h"
#include "sm/read/adopt_mcast.h"
#include "util/mem.h"

/* ---- facts --------------------------------------------------------------------------------- */

static struct node *node_of(const struct field *f, int node)
{
	return fabric_find_node(f->fabric, sim_node_guid(f->sim, node));
}

static void read_node(struct field *f, int i)
{
	uint8_t data[SMP_DATA_SIZE];
	struct node *n = node_of(f, i);

	sim_read(f->sim, i, IB_ATTR_NODE_INFO, 0, data);
	if (!n) {
		n = fabric_add_node(f->fabric, data);
		n->mft.inherited = f->planner; /* it was there before, and comes back */
	}
	if (!node_is_switch(n)) {
		fabric_set_port_guid(f->fabric, &n->ports[1], ib_get(data, NI_PORT_GUID));
	} else {
		sim_read(f->sim, i, IB_ATTR_SWITCH_INFO, 0, data);
		memcpy(n->switch_info, data, SI_BYTES);
		n->switch_known = true;
	}
	for (unsigned p = node_is_switch(n) ? 0 : 1; p <= n->n_ports; p++) {
		sim_read(f->sim, i, IB_ATTR_PORT_INFO, p, n->ports[p].info);
		n->ports[p].known = true;
	}
}

static void read_cables(struct field *f, int i)
{
	struct node *n = node_of(f, i);

	for (unsigned p = 1; p <= n->n_ports; p++) {
		unsigned peer_port;
		int peer;

		if (port_state(&n->ports[p]) > IB_PORT_DOWN &&
		    sim_peer(f->sim, i, p, &peer, &peer_port))
			fabric_connect(&n->ports[p], &node_of(f, peer)->ports[peer_port]);
		else
			fabric_disconnect(&n->ports[p]);
	}
}

static void find_paths(struct field *f)
{
	_cleanup_free_ struct node **queue = xcalloc(f->fabric->n_nodes, sizeof(struct node *));
	_cleanup_free_ bool *seen = xcalloc(f->fabric->n_nodes, sizeof(*seen));
	uint32_t head = 0, tail = 0;

	f->fabric->own->path.length = 0;
	seen[f->fabric->own->index] = true;
	queue[tail++] = f->fabric->own;
	while (head < tail) {
		struct node *n = queue[head++];

		for (unsigned p = 1; p <= n->n_ports; p++) {
			struct node *to = n->ports[p].peer ? n->ports[p].peer->node : NULL;

			if (!to || seen[to->index] || (!node_is_switch(n) && n != f->fabric->own))
				continue;
			seen[to->index] = true;
			dr_path_extend(&n->path, (uint8_t)p, &to->path);
			queue[tail++] = to;
		}
	}
	/* Nodes that are not reached are gone. */
	for (uint32_t i = f->fabric->n_nodes; i-- > 0;) {
		struct node *n = f->fabric->nodes[i];

		if (seen[i])
			continue;
		mft_sync_forget(f->sync, n);
		mad_cancel(f->mad, f, &n->target);
		fabric_remove_node(f->fabric, n);
		seen[i] = seen[f->fabric->n_nodes]; /* the last one took its place */
	}
}

static void read_facts(struct field *f)
{
	for (int i = 0; i < (int)sim_n_nodes(f->sim); i++)
		read_node(f, i);
	for (int i = 0; i < (int)sim_n_nodes(f->sim); i++)
		read_cables(f, i);
	f->fabric->own = node_of(f, field_host(f, 0));
	f->fabric->own_port = &f->fabric->own->ports[1];
	find_paths(f);
}

/* ---- states -------------------------------------------------------------------------------- */

static void on_state(void *owner, const struct mad_result *r)
{
}

static void set_state(struct field *f, struct port *p, unsigned state)
{
	struct dr_path path;
	uint8_t info[SMP_DATA_SIZE];
	const struct mad_request rq = {
		.method = MAD_SET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = p->num,
		.path = &path,
		.payload = info,
	};

	if (fabric_port_path(f->fabric, p, &path) < 0)
		return;
	memcpy(info, p->info, sizeof(info));
	ib_put(info, PI_PORT_STATE, state);
	ib_put(info, PI_PHYS_STATE, IB_PHYS_NO_CHANGE);
	if (port_is_end(p)) { /* refused without addresses, which are not used */
		ib_put(info, PI_LID, 1);
		ib_put(info, PI_MASTER_SM_LID, 1);
	}
	mad_submit(f->mad, &rq, on_state, f, NULL);
}

static bool step(struct field *f)
{
	mono_t at = sim_next(f->sim), mad = mad_next(f->mad);

	mad_dispatch(f->mad, sim_now(f->sim), 1000);
	mft_sync_feed(f->sync);
	mad_dispatch(f->mad, sim_now(f->sim), 1000);
	if (sim_has_mail(f->tr))
		return true;
	at = sim_next(f->sim);
	mad = mad_next(f->mad);
	at = at < mad ? at : mad;
	if (at == MONO_NEVER || (!mad_pending(f->mad) && !mft_sync_busy(f->sync)))
		return false;
	sim_advance(f->sim, at);
	return true;
}

void field_settle(struct field *f)
{
	while (step(f))
		;
}

void field_run(struct field *f, mono_t t)
{
	mono_t end = sim_now(f->sim) + t;

	while (sim_now(f->sim) < end) {
		mono_t at = sim_next(f->sim);

		mad_dispatch(f->mad, sim_now(f->sim), 1000);
		mft_sync_feed(f->sync);
		mad_dispatch(f->mad, sim_now(f->sim), 1000);
		at = sim_next(f->sim) < mad_next(f->mad) ? sim_next(f->sim) : mad_next(f->mad);
		if (!sim_has_mail(f->tr))
			sim_advance(f->sim, at < end ? at : end);
	}
}

/* No stale row leads into the cable, either way. */
static bool is_safe(const struct field *f, const struct port *p)
{
	return mft_sync_port_is_clean(f->sync, p->node, p->num) &&
	       mft_sync_port_is_clean(f->sync, p->peer->node, p->peer->num);
}

static void raise_links(struct field *f, unsigned state)
{
	FABRIC_EACH_NODE(f->fabric, n) {
		for (unsigned p = 1; p <= n->n_ports; p++)
			if (n->ports[p].peer && port_state(&n->ports[p]) == state - 1 &&
			    is_safe(f, &n->ports[p]))
				set_state(f, &n->ports[p], state);
	}
	field_settle(f);
	read_facts(f);
}

/* ---- life ---------------------------------------------------------------------------------- */

static bool may_write(void *arg)
{
	return ((struct field *)arg)->may_write;
}

static bool may_write_top(void *arg)
{
	return ((struct field *)arg)->may_write_top;
}

static void on_idle(void *arg, const struct mft_outcome *outcome)
{
	struct field *f = arg;

	f->idles++;
	f->last = *outcome;
}

static void start_manager(struct field *f)
{
	const struct mft_hooks hooks = {
		.may_write = may_write, .may_write_top = may_write_top, .idle = on_idle, .arg = f
	};
	const struct mad_params params = {
		.max_wire = 32, .timeout_ms = 20, .retries = 3, .silent_after = 3
	};

	f->mad = mad_new(f->tr, &params);
	f->fabric = fabric_new();
	f->sync = mft_sync_new(f->fabric, f->mad, &hooks);
}

static void stop_manager(struct field *f)
{
	f->planner = mcast_planner_free(f->planner);
	f->topo = topo_unref(f->topo);
	f->sync = mft_sync_free(f->sync);
	f->mad = mad_free(f->mad);
	f->fabric = fabric_free(f->fabric);
}

static void draw(struct field *f)
{
	_cleanup_free_ uint16_t *caps = NULL;
	struct mcast_params params = { 0 };

	f->planner = mcast_planner_free(f->planner);
	f->topo = topo_unref(f->topo);
	f->topo = fabric_snapshot(f->fabric, NULL, NULL);
	caps = xcalloc(f->topo->n_switches, sizeof(*caps));
	for (uint32_t i = 0; i < f->topo->n_switches; i++)
		caps[i] =
			ib_get(fabric_find_node(f->fabric, f->topo->switches[i].guid)->switch_info,
			       SI_MULTICAST_FDB_CAP);
	params.topo = f->topo;
	params.caps = caps;
	f->planner = mcast_planner_new(&params);
}

static void find_hosts(struct field *f)
{
	f->hosts = xcalloc(sim_n_nodes(f->sim), sizeof(*f->hosts));
	for (int i = 0; i < (int)sim_n_nodes(f->sim); i++)
		if (!sim_node_is_switch(f->sim, i))
			f->hosts[f->n_hosts++] = i;
}

struct field *field_new(struct netfile *net, uint64_t seed, unsigned n_groups)
{
	struct field *f = xcalloc(1, sizeof(*f));

	f->sim = sim_new(net, seed);
	netfile_free(net);
	find_hosts(f);
	f->n_groups = n_groups;
	f->groups = xcalloc(n_groups, sizeof(*f->groups));
	f->may_write = f->may_write_top = true;
	f->tr = sim_attach(f->sim, sim_node_id(f->sim, field_host(f, 0)), 0);
	start_manager(f);
	read_facts(f);
	raise_links(f, IB_PORT_ARMED);
	raise_links(f, IB_PORT_ACTIVE);
	draw(f);
	FABRIC_EACH_NODE(f->fabric, n) {
		for (unsigned p = 1; p <= n->n_ports; p++)
			if (n->ports[p].peer && port_state(&n->ports[p]) != IB_PORT_ACTIVE)
				abort(); /* what follows would prove nothing */
	}
	return f;
}

struct field *field_free(struct field *f)
{
	if (!f)
		return NULL;
	stop_manager(f);
	transport_close(f->tr);
	sim_free(f->sim);
	for (unsigned g = 0; g < f->n_groups; g++)
		free(f->groups[g].members);
	free(f->groups);
	free(f->hosts);
	free(f);
	return NULL;
}

void field_restart(struct field *f)
{
	stop_manager(f);
	start_manager(f);
	f->adopt = true;
	read_facts(f);
	FABRIC_EACH_NODE(f->fabric, n) {
		n->mft.inherited = true;
	}
	draw(f);
	for (unsigned g = 0; g < f->n_groups; g++) {
		f->groups[g].dirty = true;
		if (f->groups[g].n)
			mft_sync_is_read(f->sync, (lid_t)(MLID_MIN + g));
	}
	field_settle(f);
	field_plan(f);
}

void field_sweep(struct field *f)
{
	read_facts(f);
	draw(f);
	for (unsigned g = 0; g < f->n_groups; g++)
		f->groups[g].dirty = true;
	f->may_replan = true;
	field_plan(f);
	f->may_replan = false;
	mft_sync_topology(f->sync);
	field_settle(f);
	raise_links(f, IB_PORT_ARMED);
	raise_links(f, IB_PORT_ACTIVE);
}

/* ---- groups -------------------------------------------------------------------------------- */

unsigned field_hosts(const struct field *f)
{
	return f->n_hosts;
}

int field_host(const struct field *f, unsigned n)
{
	return n < f->n_hosts ? f->hosts[n] : -1;
}

static struct field_member *find_member(const struct field_group *g, int host)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->members[i].host == host)
			return &g->members[i];
	return NULL;
}

bool field_is_member(const struct field *f, unsigned group, int host)
{
	return find_member(&f->groups[group], host);
}

void field_join(struct field *f, unsigned group, int host, bool receive)
{
	struct field_group *g = &f->groups[group];
	struct field_member *m = find_member(g, host);

	if (!m) {
		GROW(g->members, g->n + 1, g->cap);
		m = &g->members[g->n++];
	}
	*m = (struct field_member){ .host = host, .receive = receive };
	g->dirty = true;
}

void field_leave(struct field *f, unsigned group, int host)
{
	struct field_group *g = &f->groups[group];
	struct field_member *m = find_member(g, host);

	if (!m)
		return;
	*m = g->members[--g->n];
	g->dirty = true;
}

static struct mcast_member place(const struct field *f, const struct field_member *m)
{
	struct mcast_member ret = { .sw = TOPO_NONE, .receive = m->receive };
	const struct node *n = node_of(f, m->host);
	uint32_t h = n ? topo_find_host(f->topo, n->ports[1].guid) : TOPO_NONE;

	if (h == TOPO_NONE)
		return ret;
	ret.sw = f->topo->hosts[h].sw;
	ret.port = f->topo->hosts[h].sw_port;
	return ret;
}

/* The members of a group. The caller frees. */
static struct mcast_member *places(const struct field *f, unsigned group)
{
	const struct field_group *g = &f->groups[group];
	struct mcast_member *m = xcalloc(g->n + 1ul, sizeof(*m));

	for (uint32_t i = 0; i < g->n; i++)
		m[i] = place(f, &g->members[i]);
	return m;
}

static void plan_group(struct field *f, unsigned group)
{
	_cleanup_free_ struct mcast_member *m = places(f, group);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = NULL;
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *adopted = NULL;
	lid_t mlid = (lid_t)(MLID_MIN + group);
	struct mcast_job job = {
		.mlid = mlid,
		.members = m,
		.n_members = f->groups[group].n,
		.previous = mft_sync_wanted(f->sync, mlid),
		.may_replan = f->may_replan,
	};

	if (!job.previous && f->adopt)
		job.previous = adopted = adopt_mcast_tree(f->fabric, mlid);
	f->groups[group].dirty = false;
	tree = mcast_plan(f->planner, &job);
	mft_sync_want(f->sync, mlid, tree);
	f->planned++;
}

static void mend_group(struct field *f, unsigned group)
{
	_cleanup_free_ struct mcast_member *m = places(f, group);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = NULL;
	struct mcast_job job = {
		.mlid = (lid_t)(MLID_MIN + group),
		.members = m,
		.n_members = f->groups[group].n,
		.previous = mft_sync_wanted(f->sync, (lid_t)(MLID_MIN + group)),
	};
	struct mcast_mended mended;

	if (!job.previous || !mcast_uses_dead(f->planner, job.previous))
		return;
	tree = mcast_mend(f->planner, &job, &mended);
	mft_sync_want(f->sync, job.mlid, tree);
}

void field_mend(struct field *f)
{
	for (unsigned g = 0; g < f->n_groups; g++)
		mend_group(f, g);
	mft_sync_hurry(f->sync);
}

void field_cable_dies(struct field *f, int node, unsigned port)
{
	struct port *p = &node_of(f, node)->ports[port];
	uint32_t sw = topo_find_switch(f->topo, p->node->guid), entry;

	sim_link_down(f->sim, node, port);
	ib_put(p->info, PI_PORT_STATE, IB_PORT_DOWN);
	if (p->peer)
		ib_put(p->peer->info, PI_PORT_STATE, IB_PORT_DOWN);
	fabric_disconnect(p);
	if (sw == TOPO_NONE)
		return;
	entry = f->topo->switches[sw].first_port + port;
	mcast_cables_died(f->planner, &entry, 1);
}

void field_plan(struct field *f)
{
	for (unsigned g = 0; g < f->n_groups; g++)
		if (f->groups[g].dirty)
			plan_group(f, g);
}

/* ---- judgement ----------------------------------------------------------------------------- */

struct ear {
	unsigned *heard; /* per node */
	bool wrong;	 /* a switch, or a port that is not the first */
};

static void hear(void *arg, int node, unsigned port)
{
	struct ear *e = arg;

	e->heard[node]++;
	e->wrong |= port != 1;
}

/* Connected hosts: the largest piece of the fabric is what trees serve, the test sees to that. */
static bool is_connected(const struct field *f, int host)
{
	const struct node *n = node_of(f, host);

	return n && n->ports[1].peer && port_state(&n->ports[1]) == IB_PORT_ACTIVE &&
	       port_state(n->ports[1].peer) == IB_PORT_ACTIVE;
}

static bool heard_right(struct field *f, const struct field_group *g, int from)
{
	struct ear e = { .heard = xcalloc(sim_n_nodes(f->sim), sizeof(unsigned)) };

	sim_mcast_reach(f->sim, (lid_t)(MLID_MIN + (g - f->groups)), from, 1, hear, &e);
	for (uint32_t i = 0; i < g->n; i++) {
		const struct field_member *m = &g->members[i];

		if (m->receive && m->host != from && is_connected(f, m->host))
			e.wrong |= e.heard[m->host]-- != 1;
	}
	for (unsigned i = 0; i < sim_n_nodes(f->sim); i++)
		e.wrong |= e.heard[i] != 0;
	free(e.heard);
	return !e.wrong;
}

bool field_reaches(struct field *f, unsigned group)
{
	const struct field_group *g = &f->groups[group];

	for (uint32_t i = 0; i < g->n; i++)
		if (is_connected(f, g->members[i].host) && !heard_right(f, g, g->members[i].host))
			return false;
	return true;
}

bool field_all_reach(struct field *f)
{
	for (unsigned g = 0; g < f->n_groups; g++)
		if (!field_reaches(f, g))
			return false;
	return true;
}

uint64_t field_sets(const struct field *f)
{
	return sim_count(f->sim, IB_ATTR_MFT, MAD_SET);
}

static unsigned blocks_of(const struct field *f)
{
	return (f->n_groups + MFT_BLOCK_MLIDS - 1) / MFT_BLOCK_MLIDS;
}

/* Cells of one switch; hosts have none. */
static unsigned cells_of(const struct field *f, int node)
{
	return sim_node_is_switch(f->sim, node)
		       ? blocks_of(f) * mft_positions(sim_node_ports(f->sim, node))
		       : 0;
}

static size_t image_size(const struct field *f)
{
	size_t n = 0;

	for (int i = 0; i < (int)sim_n_nodes(f->sim); i++)
		n += cells_of(f, i);
	return n * SMP_DATA_SIZE;
}

uint8_t *field_image(struct field *f)
{
	uint8_t *image = xcalloc(1, image_size(f)), *at = image;

	for (int i = 0; i < (int)sim_n_nodes(f->sim); i++)
		for (unsigned c = 0; c < cells_of(f, i); c++, at += SMP_DATA_SIZE)
			sim_read(f->sim, i, IB_ATTR_MFT,
				 MFT_MOD(c % blocks_of(f), c / blocks_of(f)), at);
	return image;
}

unsigned field_cells_changed(const struct field *f, const uint8_t *before, const uint8_t *after)
{
	size_t size = image_size(f);
	unsigned n = 0;

	for (size_t at = 0; at < size; at += SMP_DATA_SIZE)
		n += memcmp(before + at, after + at, SMP_DATA_SIZE) != 0;
	return n;
}
