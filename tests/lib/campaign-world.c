// SPDX-License-Identifier: BSD-2-Clause
/*
 * The world of a life: a fabric of some shape, one to three managers of some temper, their files.
 */
#include "tests/lib/campaign-impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "sim/gen/gen.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/mem.h"

#define TICK (250 * MONO_MS)

/* ---- the fabric ---------------------------------------------------------------------------- */

/*
 * A shape, and how many sizes it draws: 1 .. below each. One after the other: arguments have no
 * order.
 */
static struct netfile *draw_shape(struct dice *d)
{
	static const uint8_t below[12][4] = {
		{ 4, 4, 3, 2 }, { 1 }, { 2, 2 }, { 2 }, { 3, 2 },	  { 5, 2 },
		{ 2, 2 },	{ 2 }, { 8 },	 { 4 }, { 5, 2, 2, 250 }, { 5, 2, 2, 250 },
	};
	uint32_t shape = roll(d, ARRAY_SIZE(below)), n[4] = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(n) && below[shape][i]; i++)
		n[i] = 1 + roll(d, below[shape][i]);
	switch (shape) {
	case 0:
		return gen_tree(1 + n[0], n[1], n[2], n[3]);
	case 1:
		return gen_fat_tree3(4);
	case 2:
		return gen_torus(3, 1 + n[0], 1, n[1]);
	case 3:
		return gen_torus(1 + n[0], 2, 2, 1);
	case 4:
		return gen_mesh(1 + n[0], 2, 1, n[1]);
	case 5:
		return gen_ring(2 + n[0], n[1]);
	case 6:
		return gen_hypercube(1 + n[0], n[1]);
	case 7:
		return gen_dragonfly(3, 2, n[0]);
	case 8:
		return gen_single(n[0]);
	case 9:
		return n[0] == 1 ? gen_pair() : gen_tree(3, 3, 2, 1);
	default:
		return gen_random(2 + 2 * n[0], 2 + n[1], n[2], n[3]);
	}
}

/* A port more on a switch; its number, 0 if there is no room. */
static unsigned add_port(struct netfile_node *sw)
{
	unsigned port = sw->nports + 1u;

	if (port > 254)
		return 0;
	sw->ports = xrealloc(sw->ports, port + 1u, sizeof(*sw->ports));
	sw->ports[port] = (struct netfile_port){ .peer_node = -1 };
	sw->nports = (uint8_t)port;
	return port;
}

static int draw_switch(const struct netfile *net, struct dice *d)
{
	int at = (int)roll(d, (uint32_t)net->n_nodes);

	for (size_t i = 0; i < net->n_nodes; i++, at = (at + 1) % (int)net->n_nodes)
		if (net->nodes[at].type == IB_NODE_SWITCH)
			return at;
	return -1;
}

/*
 * Hosts with two ports on two switches, or with another host behind them, which no manager can see.
 */
static void add_dual_hosts(struct netfile *net, struct dice *d)
{
	unsigned n = 1 + roll(d, 3);

	for (unsigned i = 0; i < n; i++) {
		int sw = draw_switch(net, d), other = draw_switch(net, d);
		char id[16];
		int host;

		if (sw < 0)
			return;
		snprintf(id, sizeof(id), "d%u", i);
		host = netfile_add(net, IB_NODE_CA, id, 2, 0);
		netfile_link(net, host, 1, sw, (uint8_t)add_port(&net->nodes[sw]));
		if (chance(d, 1, 3)) {
			snprintf(id, sizeof(id), "x%u", i);
			netfile_link(net, host, 2, netfile_add(net, IB_NODE_CA, id, 1, 0), 1);
		} else if (chance(d, 3, 4)) {
			netfile_link(net, host, 2, other, (uint8_t)add_port(&net->nodes[other]));
		}
	}
}

/* A switch shows itself once an hour for such a cable, where each port has a key of its own. */
static void let_switches_speak(struct netfile *net)
{
	for (size_t i = 0; i < net->n_nodes; i++)
		for (unsigned p = 1; p <= net->nodes[i].nports; p++) {
			struct netfile_port *port = &net->nodes[i].ports[p];

			if (port->peer_node >= 0 && net->nodes[i].type == IB_NODE_SWITCH &&
			    net->nodes[port->peer_node].type == IB_NODE_SWITCH)
				port->silent = false;
		}
}

static struct netfile *draw_fabric(struct world *w)
{
	struct netfile *net = NULL;
	struct dice d = { .s = w->dice.s ^ 0x5DEECE66Dull };

	while (!net) /* some sizes make no fabric */
		net = draw_shape(&w->dice);
	for (size_t i = 0; i < net->n_nodes && world_has(w, FAULT_ENHANCED); i++)
		if (net->nodes[i].type == IB_NODE_SWITCH)
			net->nodes[i].enhanced_port0 = chance(&d, 1, 3);
	if (world_has(w, FAULT_DUAL) && chance(&d, 1, 2))
		add_dual_hosts(net, &d);
	if (world_has(w, FAULT_WEAR) && chance(&d, 1, 2)) {
		const char *const spare[] = { net->nodes[0].id, NULL };

		gen_wear(net, 1 + roll(&d, 1000000), spare);
		if (world_has(w, FAULT_KEYS))
			let_switches_speak(net);
	}
	return net;
}

static void note_cables(struct world *w)
{
	for (int n = 0; n < (int)w->n_nodes; n++)
		for (unsigned p = 1; p <= sim_node_ports(w->sim, n); p++) {
			struct cable c = { .a = n, .a_port = p };

			if (!sim_peer(w->sim, n, p, &c.b, &c.b_port) || c.b < n ||
			    (c.b == n && c.b_port < p))
				continue;
			GROW(w->cables, w->n_cables + 1, w->cap_cables);
			w->cables[w->n_cables++] = c;
		}
}

/* ---- configuration ------------------------------------------------------------------------- */

/* A fabric that an engine is not for has the next of the list, or auto. */
static char *draw_engines(struct dice *d)
{
	static const char *const lists[] = {
		"auto",		 "minhop",	 "updn",       "dnup",
		"ftree,updn",	 "dor",		 "lash",       "sssp",
		"dfsssp",	 "nue",		 "torus-2QoS", "dragonfly,hyperx,nue",
		"minhop,dfsssp", "columns,lash",
	};

	return xstrdup(lists[roll(d, ARRAY_SIZE(lists))]);
}

/*
 * Several managers begin with one seed; what becomes of it they are sent, which takes an sm_key
 * that no stranger knows.
 */
static void draw_keys(struct world *w, struct conf *c, struct dice *d)
{
	c->m_key_per_port = true;
	if (chance(d, 2, 3) || world_has(w, FAULT_MANAGERS))
		c->m_key = 0x1122334455667788ull;
	else
		c->m_key = 0;
	c->m_key_protection_level = (uint8_t)(chance(d, 3, 4) ? 2 : roll(d, 3));
	c->m_key_lease_period = (uint16_t)(15 + roll(d, 60));
	c->sm_key = c->sa_key = 0x77;
	w->rotate_at = (mono_t)roll(d, 60) * MONO_S;
}

static struct conf *draw_conf(struct world *w)
{
	static const uint32_t polls[] = { 500, 1000, 3000, 10000 };
	struct conf *c = conf_new();
	struct dice d = { .s = w->dice.s ^ 0xC0FFEE };

	c->max_wire_smps = 1u << roll(&d, 6);
	c->max_wire_smps2 = c->max_wire_smps;
	c->transaction_timeout = 50 << roll(&d, 3);
	c->transaction_retries = 2 + roll(&d, 3);
	c->sweep_interval = 1 + roll(&d, 20);
	c->sminfo_polling_timeout = polls[roll(&d, ARRAY_SIZE(polls))];
	c->polling_retry_number = 1 + roll(&d, 3);
	c->use_mfttop = chance(&d, 1, 2);
	c->honor_guid2lid_file = chance(&d, 1, 4);
	c->sa_db_dump = chance(&d, 1, 2);
	c->force_heavy_sweep = chance(&d, 1, 16);
	c->scatter_ports = chance(&d, 1, 4) ? 1 + roll(&d, 9) : 0;
	c->drop_event_subscriptions = chance(&d, 1, 4);
	if (world_has(w, FAULT_LMC)) {
		c->lmc = (uint8_t)(chance(&d, 1, 2) ? roll(&d, 3) : 0);
		c->lmc_esp0 = chance(&d, 1, 2);
	}
	if (world_has(w, FAULT_M_KEY) && chance(&d, 1, 4)) {
		c->m_key = 0x1122334455667788ull;
		c->m_key_protection_level = (uint8_t)roll(&d, 3);
		c->m_key_lease_period = (uint16_t)(chance(&d, 1, 2) ? 60 : 0);
	}
	if (world_has(w, FAULT_ENGINES)) {
		free(c->routing_engine);
		c->routing_engine = draw_engines(&d);
	}
	if (world_has(w, FAULT_KEYS))
		draw_keys(w, c, &d);
	c->port_state_poll_interval = roll(&d, 4);
	return c;
}

/* Some fabrics have SwitchPortStateTable, and in some of these it lies, or is refused. */
static void draw_state_tables(struct world *w)
{
	static const enum sim_state_table kinds[] = {
		SIM_NO_STATE_TABLE, SIM_NO_STATE_TABLE,	  SIM_STATE_TABLE,
		SIM_STATE_TABLE,    SIM_STATE_TABLE_LIES, SIM_STATE_TABLE_REFUSED,
	};
	struct dice d = { .s = w->dice.s ^ 0x57A7E };

	sim_set_state_table(w->sim, -1, kinds[roll(&d, ARRAY_SIZE(kinds))]);
}

guid_t world_port_guid(const struct world *w, int node, unsigned port)
{
	uint8_t gid[16];

	return sim_port_gid(w->sim, node, port, 0, gid) ? (guid_t)ib_bits_get(gid, 64, 64) : 0;
}

static void write_members(struct world *w, struct dice *d, FILE *f)
{
	static const char *const whole[] = { "ALL=full", "ALL=limited",
					     "ALL_CAS=limited, SELF=full", "SELF=full" };

	if (chance(d, 1, 6)) {
		fprintf(f, "%s", whole[roll(d, ARRAY_SIZE(whole))]);
		return;
	}
	fprintf(f, "SELF=full");
	for (unsigned n = 0; n < w->n_nodes; n++)
		if (!sim_node_is_switch(w->sim, (int)n) && chance(d, 1, 3))
			fprintf(f, ", 0x%016llx=%s",
				(unsigned long long)world_port_guid(w, (int)n, 1),
				chance(d, 1, 2) ? "full" : "limited");
}

void world_write_partitions(struct world *w, struct dice *d)
{
	unsigned n = roll(d, 6);
	FILE *f = fopen(w->conf->partition_config_file, "w");

	if (!f)
		abort();
	fprintf(f, "Default=0x7fff, ipoib: ALL=full;\n");
	for (unsigned i = 0; i < n; i++) {
		unsigned key = 1 + 16 * i + roll(d, 16);

		fprintf(f, "p%u=0x%x%s: ", i, key, chance(d, 1, 3) ? ", ipoib" : "");
		write_members(w, d, f);
		fprintf(f, ";\n");
	}
	fclose(f);
}

/* ---- managers ------------------------------------------------------------------------------ */

struct sm *manager_sm(const struct world *w, const struct manager *m)
{
	return m->place < 0 ? NULL : w->rig->sms[m->place].sm;
}

bool world_hosts_manager(const struct world *w, int node)
{
	for (unsigned i = 0; i < w->n_managers; i++)
		if (w->managers[i].node == node)
			return true;
	return false;
}

static struct conf *conf_for(const struct world *w, const struct manager *m)
{
	struct conf *c = conf_copy(w->conf);

	c->sm_priority = (uint8_t)m->priority;
	if (world_has(w, FAULT_KEYS) && world_has(w, FAULT_SEEDS) && c->m_key)
		c->m_key += (uint64_t)(m - w->managers);
	return c;
}

static bool has_file(const struct manager *m, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", m->dir, name);
	return access(path, F_OK) == 0;
}

static void copy_file(const struct manager *from, const struct manager *to, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", from->dir, name);
	_cleanup_free_ char *copy = xasprintf("%s/%s", to->dir, name);
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f;

	if (file_read(path, 1 << 20, &text, &len) < 0)
		return;
	f = fopen(copy, "w");
	if (!f || fwrite(text, 1, len, f) != len || fclose(f))
		abort();
}

/* One that knows nothing can ask no port of a locked fabric: its administrator copies these. */
static void give_keys(struct world *w, struct manager *m)
{
	for (unsigned i = 0; i < w->n_managers && !has_file(m, "neighbors"); i++) {
		const struct manager *other = &w->managers[i];

		if (!has_file(other, "neighbors"))
			continue;
		copy_file(other, m, "neighbors");
		copy_file(other, m, "guid2mkey");
		copy_file(other, m, "m_key_ring");
	}
}

static void say(const struct world *w, const struct manager *m, const char *what)
{
	if (w->loud)
		fprintf(stderr, "%12.6f ---- manager %s %s\n", (double)sim_now(w->sim) / MONO_S,
			sim_node_id(w->sim, m->node), what);
}

void manager_start(struct world *w, struct manager *m)
{
	struct conf *c = conf_for(w, m);

	say(w, m, "starts");
	if (world_has(w, FAULT_KEYS))
		give_keys(w, m);
	m->place = rig_start(w->rig, sim_node_id(w->sim, m->node), 0, c, m->dir);
	if (m->place < 0)
		abort();
	m->frozen = false;
	m->again_at = MONO_NEVER;
	conf_unref(c);
}

void manager_kill(struct world *w, struct manager *m, mono_t after)
{
	if (m->place < 0)
		return;
	say(w, m, "is killed");
	rig_kill(w->rig, (unsigned)m->place);
	m->place = -1;
	m->frozen = false;
	m->again_at = after == MONO_NEVER ? MONO_NEVER : sim_now(w->sim) + after;
}

void manager_freeze(struct world *w, struct manager *m, mono_t after)
{
	if (m->place < 0)
		return;
	say(w, m, "stands still");
	rig_freeze(w->rig, (unsigned)m->place, true);
	m->frozen = true;
	m->again_at = sim_now(w->sim) + after;
}

static void manager_thaw(struct world *w, const struct manager *m)
{
	say(w, m, "goes on");
	rig_freeze(w->rig, (unsigned)m->place, false);
}

void managers_tick(struct world *w)
{
	for (unsigned i = 0; i < w->n_managers; i++) {
		struct manager *m = &w->managers[i];

		if (sim_now(w->sim) < m->again_at)
			continue;
		if (m->place < 0)
			manager_start(w, m);
		else
			manager_thaw(w, m);
		m->frozen = false;
		m->again_at = MONO_NEVER;
	}
}

void managers_reload(struct world *w)
{
	for (unsigned i = 0; i < w->n_managers; i++) {
		struct sm *sm = manager_sm(w, &w->managers[i]);
		struct conf *c = conf_for(w, &w->managers[i]);

		if (sm)
			sm_request_heavy(sm, c);
		conf_unref(c);
	}
}

static bool is_aggregation(const struct world *w, int node)
{
	return strstr(sim_node_id(w->sim, node), "-aggr");
}

static int last_node(const struct world *w)
{
	int node = (int)w->n_nodes - 1;

	while (is_aggregation(w, node))
		node--;
	return node;
}

static void place_managers(struct world *w)
{
	unsigned n = world_has(w, FAULT_MANAGERS) ? 1 + roll(&w->dice, MAX_MANAGERS) : 1;
	/* Some life has its manager in a switch. */
	bool in_switch = world_has(w, FAULT_ENHANCED) && chance(&w->dice, 1, 10);

	for (unsigned tries = 0; w->n_managers < n && tries < 100; tries++) {
		int node = tries ? (int)roll(&w->dice, w->n_nodes) : 0;
		struct manager *m = &w->managers[w->n_managers];

		if (in_switch && tries == 0)
			node = last_node(w);
		if (world_hosts_manager(w, node) || strchr("dx", sim_node_id(w->sim, node)[0]) ||
		    !sim_port_hears(w->sim, node, !sim_node_is_switch(w->sim, node)) ||
		    is_aggregation(w, node) ||
		    (tries && sim_node_is_switch(w->sim, node)))
			continue;
		*m = (struct manager){ .node = node, .place = -1, .again_at = MONO_NEVER };
		m->priority = roll(&w->dice, 16);
		snprintf(m->dir, sizeof(m->dir), "%s/%u", w->dir, w->n_managers);
		if (mkdir(m->dir, 0700) < 0)
			abort();
		w->n_managers++;
	}
}

static void rotate_keys(struct world *w)
{
	if (!world_has(w, FAULT_KEYS) || sim_now(w->sim) < w->rotate_at)
		return;
	for (unsigned i = 0; i < w->n_managers; i++) {
		struct sm *sm = manager_sm(w, &w->managers[i]);

		if (sm && !w->managers[i].frozen)
			(void)sm_rotate_keys(sm); /* not while it reads the fabric, say */
	}
	w->rotate_at = sim_now(w->sim) + (5 + (mono_t)roll(&w->dice, 60)) * MONO_S;
}

static void start_managers(struct world *w)
{
	for (unsigned i = 0; i < w->n_managers; i++)
		manager_start(w, &w->managers[i]);
}

/* A seed of its own locks a standby out that is not sent the master's first: keys come later. */
static void meet_unlocked(struct world *w)
{
	struct conf *locked = w->conf;

	w->conf = conf_copy(locked);
	w->conf->m_key_per_port = false;
	w->conf->m_key = 0;
	start_managers(w);
	world_run(w, 30 * MONO_S);
	conf_unref(w->conf);
	w->conf = locked;
	managers_reload(w);
	world_run(w, 30 * MONO_S);
}

/* ---- life ---------------------------------------------------------------------------------- */

void world_open(struct world *w, const struct life_plan *plan)
{
	_cleanup_(netfile_freep) struct netfile *net = NULL;

	w->kinds = plan->kinds;
	w->dice.s = plan->seed * 0x9E3779B97F4A7C15ull;
	net = draw_fabric(w);
	w->sim = sim_new(net, plan->seed);
	draw_state_tables(w);
	w->rig = rig_new(w->sim);
	w->n_nodes = sim_n_nodes(w->sim);
	w->off = xcalloc(w->n_nodes, sizeof(*w->off));
	w->lids = xcalloc(w->n_nodes, sizeof(*w->lids));
	note_cables(w);
	scratch_folder(w->dir);
	w->conf = draw_conf(w);
	free(w->conf->partition_config_file);
	w->conf->partition_config_file = xasprintf("%s/partitions.conf", w->dir);
	scratch_open_partitions(w->conf->partition_config_file);
	if (world_has(w, FAULT_HUPS))
		world_write_partitions(w, &w->dice);
	if (world_has(w, FAULT_JOBS) && chance(&w->dice, 1, 2))
		w->rig->job_time = (mono_t)roll(&w->dice, 50000);
	place_managers(w);
	if (world_has(w, FAULT_KEYS) && world_has(w, FAULT_SEEDS))
		meet_unlocked(w);
	else
		start_managers(w);
	hosts_open(w);
}

void world_close(struct world *w)
{
	hosts_close(w);
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w->cables);
	free(w->off);
	free(w->lids);
	scratch_remove(w->dir);
}

void world_run(struct world *w, mono_t t)
{
	mono_t end = sim_now(w->sim) + t;

	while (sim_now(w->sim) < end) {
		rig_run(w->rig, mono_min(end, w->tick_at));
		if (sim_now(w->sim) < w->tick_at)
			continue;
		managers_tick(w);
		rotate_keys(w);
		hosts_tick(w);
		w->tick_at = sim_now(w->sim) + TICK;
	}
}
