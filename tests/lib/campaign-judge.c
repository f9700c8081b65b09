// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is demanded when everything is mended:
 *
 *   heal      within a time everything is ACTIVE, addressed and reachable, one manager is master,
 *             the right
 *             one, and nothing ever looped
 *   belief    what the master thinks of ports, cables and tables is what they are
 *   quiet     then a minute passes without a Set, without a heavy sweep, with few Gets, without an
 *             error
 *   hosts     they hold what they want from the SA; groups reach their members, paths lead where
 *             they should
 *   heavy     a full heavy sweep has nothing to write and learns nothing new
 *   fresh     a manager that knows nothing comes to the same picture, and changes no LID; after a
 *             power cut it gives every port the same P_Keys
 */
#include "tests/lib/campaign-impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "sim/gen/gen.h"
#include "sm/sm.h"
#include "sm/sweep/sweep.h"
#include "util/mem.h"

#define HEAL_STEP  (5 * MONO_S)
#define HEAL_LIMIT (1200 * MONO_S)
#define QUIET	   (60 * MONO_S)
/*
 * Tables are compared after a quiet minute. A sweep in the same moment, if only to look at a port
 * in its turn, ends that, and it comes a minute later.
 */
#define RESTED (130 * MONO_S)

/* Notes the first thing found wrong. Returns false. */
__attribute__((format(printf, 2, 3))) static bool wrong(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->result->why[0])
		return false;
	va_start(ap, fmt);
	vsnprintf(w->result->why, sizeof(w->result->why), fmt, ap);
	va_end(ap);
	return false;
}

/* ---- heal ---------------------------------------------------------------------------------- */

/* The manager that should be master: highest priority, then lowest port GUID. */
static const struct manager *right_master(const struct world *w)
{
	const struct manager *best = NULL;

	for (unsigned i = 0; i < w->n_managers; i++) {
		const struct manager *m = &w->managers[i];
		guid_t guid, other;

		if (!best || m->priority > best->priority) {
			best = m;
			continue;
		}
		guid = world_port_guid(w, m->node, !sim_node_is_switch(w->sim, m->node));
		other = world_port_guid(w, best->node, !sim_node_is_switch(w->sim, best->node));
		if (m->priority == best->priority && guid < other)
			best = m;
	}
	return best;
}

static struct sm *master(const struct world *w)
{
	return rig_master(w->rig);
}

/* Nodes that can be met from the master's port: adapters do not pass discovery on. */
static unsigned count_reachable(const struct world *w, int start)
{
	_cleanup_free_ bool *met = xcalloc(w->n_nodes, sizeof(*met));
	_cleanup_free_ int *queue = xcalloc(w->n_nodes, sizeof(*queue));
	unsigned n = 0;

	met[start] = true;
	queue[n++] = start;
	for (unsigned i = 0; i < n; i++) {
		bool sw = sim_node_is_switch(w->sim, queue[i]);
		unsigned ports = sw ? sim_node_ports(w->sim, queue[i]) : i == 0;

		for (unsigned p = 1; p <= ports; p++) {
			unsigned port;
			int peer;

			if (!sim_peer(w->sim, queue[i], p, &peer, &port) || met[peer])
				continue;
			met[peer] = true;
			queue[n++] = peer;
		}
	}
	return n;
}

/* The master knows that a port has another key than it had, and has not found that yet. */
static bool is_key_looked_for(const struct fabric *f)
{
	FABRIC_EACH_END_PORT(f, p) {
		if (p->key_doubts)
			return true;
	}
	return false;
}

/*
 * A host that was moved is locked where its keys are not tried: it is met when its lease has ended.
 * A manager that stood still gives its own port a key of its own before it hands over: that is
 * looked for, a key at each poll.
 */
static bool is_one_locked(const struct world *w, const struct sm *sm)
{
	return world_has(w, FAULT_KEYS) &&
	       (sm_fabric(sm)->n_nodes != count_reachable(w, right_master(w)->node) ||
		is_key_looked_for(sm_fabric(sm)));
}

/* NULL: all is well; else what is not, so far. */
static const char *ailment(struct world *w, struct sim_verdict *v)
{
	static char text[200];
	struct sm *sm = master(w);

	sim_check_all(w->sim, v);
	v->loops_ever = v->mcast_loops_ever = v->mcast_twice_ever = 0;
	if (!sm)
		snprintf(text, sizeof(text), "%u masters", rig_count(w->rig, SM_MASTER));
	else if (sm != manager_sm(w, right_master(w)))
		snprintf(text, sizeof(text), "the wrong one is master");
	else if (!sim_verdict_good(v))
		snprintf(text, sizeof(text), "%s", v->first);
	else if (is_one_locked(w, sm))
		snprintf(text, sizeof(text), "the master does not know all nodes");
	else if (!sm_stats(sm)->up)
		snprintf(text, sizeof(text), "not up");
	else if (rig_sweeping(w->rig) || sweep_retries(sm))
		snprintf(text, sizeof(text), "still sweeping");
	else
		return NULL;
	return text;
}

bool world_heal(struct world *w)
{
	mono_t begin = sim_now(w->sim);
	struct sim_verdict v;
	const char *why = NULL;
	unsigned well = 0;

	while (sim_now(w->sim) - begin < HEAL_LIMIT) {
		uint64_t sets = sim_sets(w->sim);

		world_run(w, HEAL_STEP);
		why = ailment(w, &v);
		if (!why && well == 0)
			w->result->healed = sim_now(w->sim) - begin;
		well = why || sim_sets(w->sim) != sets ? 0 : well + 1;
		if (well == 4)
			return true;
	}
	return wrong(w, "not healed in %d s: %s", (int)(HEAL_LIMIT / MONO_S),
		     why ? why : "Sets do not end");
}

static bool never_looped(struct world *w)
{
	struct sim_verdict v;

	sim_check_all(w->sim, &v);
	if (!world_has(w, FAULT_LOOPS))
		return true;
	if (v.loops_ever)
		return wrong(w, "%llu LIDs looped", (unsigned long long)v.loops_ever);
	if (v.mcast_loops_ever || v.mcast_twice_ever)
		return wrong(w, "multicast looped %llu times, came twice %llu times",
			     (unsigned long long)v.mcast_loops_ever,
			     (unsigned long long)v.mcast_twice_ever);
	return true;
}

/* ---- belief -------------------------------------------------------------------------------- */

static int node_of_guid(const struct world *w, guid_t guid)
{
	for (int n = 0; n < (int)w->n_nodes; n++)
		if (sim_node_guid(w->sim, n) == guid)
			return n;
	return -1;
}

/* `all`: also what devices tell by a trap alone, which may be lost. */
static bool belief_of_port(struct world *w, const struct port *p, int node, bool all)
{
#define BELIEF(id)                                                                                 \
	{                                                                                          \
		PI_##id, PI_##id##_W, #id                                                          \
	}
	static const struct {
		unsigned at, width;
		const char *name;
	} fields[] = {
		BELIEF(PORT_STATE),
		BELIEF(LID),
		BELIEF(LMC),
		BELIEF(MASTER_SM_LID),
		BELIEF(NEIGHBOR_MTU),
		BELIEF(OPER_VLS),
		BELIEF(HOQ_LIFE),
		BELIEF(VL_STALL_COUNT),
		BELIEF(SUBNET_TIMEOUT),
		BELIEF(PART_ENF_IN),
		BELIEF(PART_ENF_OUT),
		BELIEF(M_KEY_PROTECT),
		BELIEF(GID_PREFIX),
		BELIEF(CAP_MASK),
	};
	uint8_t info[SMP_DATA_SIZE];

	if (!p->known || sim_read(w->sim, node, IB_ATTR_PORT_INFO, p->num, info) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(fields) - !all; i++) {
		uint64_t have = ib_bits_get(p->info, fields[i].at, fields[i].width);
		uint64_t is = ib_bits_get(info, fields[i].at, fields[i].width);

		if (have != is)
			return wrong(w, "%s:%u: %s is %llu, the master thinks %llu",
				     sim_node_id(w->sim, node), p->num, fields[i].name,
				     (unsigned long long)is, (unsigned long long)have);
	}
	return true;
}

static bool belief_of_cable(struct world *w, const struct port *p, int node)
{
	unsigned port = 0;
	int peer = -1;
	bool up = p->num && sim_peer(w->sim, node, p->num, &peer, &port) &&
		  sim_port_state(w->sim, node, p->num) > IB_PORT_DOWN &&
		  !(peer == node && port == p->num);
	guid_t guid = up ? sim_node_guid(w->sim, peer) : 0;

	/*
	 * A host's other ports are not the manager's to see, unless it met them from the other
	 * side.
	 */
	if (!node_is_switch(p->node) && !p->peer)
		return true;
	if ((p->peer != NULL) == up &&
	    (!up || (p->peer->node->guid == guid && p->peer->num == port)))
		return true;
	return wrong(w, "%s:%u leads to %s:%u, the master thinks to %s:%u",
		     sim_node_id(w->sim, node), p->num, up ? sim_node_id(w->sim, peer) : "nothing",
		     port, p->peer ? p->peer->node->desc : "nothing", p->peer ? p->peer->num : 0);
}

static bool belief_of_lft(struct world *w, const struct node *n, int node)
{
	for (uint32_t b = 0; b < n->lft.n_blocks; b++) {
		const uint8_t *have = lft_have_block(&n->lft, b);
		uint8_t is[SMP_DATA_SIZE];

		if (!have || sim_read(w->sim, node, IB_ATTR_LFT, b, is) < 0)
			continue;
		if (memcmp(have, is, SMP_DATA_SIZE))
			return wrong(w, "LFT block %u of %s is not what the master thinks", b,
				     sim_node_id(w->sim, node));
	}
	return true;
}

static bool belief_of_mft(struct world *w, const struct node *n, int node)
{
	for (unsigned b = 0; b < n->mft.n_blocks; b++) {
		for (unsigned p = 0; p < mft_positions(n->n_ports); p++) {
			const struct mft_cell *have;
			struct mft_cell is;
			uint8_t payload[SMP_DATA_SIZE];
			bool known;

			have = mft_have_cell(&n->mft, b, p, &known);
			if (!have || !known ||
			    sim_read(w->sim, node, IB_ATTR_MFT, MFT_MOD(b, p), payload) < 0)
				continue;
			mft_cell_get(payload, &is);
			if (memcmp(have, &is, sizeof(is)))
				return wrong(w, "MFT block %u of %s is not what the master thinks",
					     b, sim_node_id(w->sim, node));
		}
	}
	return true;
}

static bool belief_of_pkeys(struct world *w, const struct fabric *f, const struct port *p, int node)
{
	bool sw = node_is_switch(p->node);

	/* The simulator shows those of a host's first port. */
	for (unsigned b = 0; b * PKEYS_PER_BLOCK < fabric_pkey_cap(p) && (sw || p->num == 1); b++) {
		const uint8_t *have = fabric_cell(f, p, TABLE_PKEYS, b);
		uint8_t is[SMP_DATA_SIZE];

		if (!have || sim_read(w->sim, node, IB_ATTR_PKEY_TABLE,
				      port_tables[TABLE_PKEYS].mod(p, b), is) < 0)
			continue;
		if (memcmp(have, is, SMP_DATA_SIZE))
			return wrong(w, "P_Key block %u of %s:%u is not what the master thinks", b,
				     sim_node_id(w->sim, node), p->num);
	}
	return true;
}

/* Sweeps after which a name is known whose trap was lost; nodes asked in each. */
#define NAME_SWEEPS 30

static unsigned names_per_sweep(const struct sm *sm)
{
	return (sm_fabric(sm)->n_nodes + NAME_SWEEPS - 1) / NAME_SWEEPS;
}

/* Blocks of tables; those of our own P_Keys beside. */
static unsigned audits_per_sweep(const struct sm *sm)
{
	return MAX(6 * sm_conf(sm)->sweep_interval, sm_fabric(sm)->n_switches) + 4;
}

static void names_come_round(struct world *w)
{
	const struct sm *sm = master(w);

	if (world_has(w, FAULT_NAMES))
		world_run(w, (NAME_SWEEPS + 2) * sm_conf(sm)->sweep_interval * MONO_S);
}

static bool belief_of_name(struct world *w, const struct node *n, int node)
{
	uint8_t desc[SMP_DATA_SIZE + 1] = { 0 };

	sim_read(w->sim, node, IB_ATTR_NODE_DESC, 0, desc);
	if (!strcmp((const char *)desc, n->desc))
		return true;
	return wrong(w, "'%s' has become '%s', the master does not know", n->desc, desc);
}

static bool belief_of_node(struct world *w, const struct fabric *f, const struct node *n, bool all)
{
	int node = node_of_guid(w, n->guid);
	bool good = true;

	if (node < 0)
		return wrong(w, "'%s' is gone, the master thinks it is there", n->desc);
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports && good; i++) {
		const struct port *p = &n->ports[i];

		good = belief_of_port(w, p, node, all) && belief_of_cable(w, p, node) &&
		       belief_of_pkeys(w, f, p, node);
	}
	return good && belief_of_lft(w, n, node) && belief_of_mft(w, n, node) &&
	       (!all || belief_of_name(w, n, node));
}

static bool believes_right(struct world *w, bool all)
{
	const struct fabric *f = sm_fabric(master(w));
	unsigned there = count_reachable(w, right_master(w)->node);

	if (f->n_nodes != there)
		return wrong(w, "%u nodes are there, the master knows %u", there, f->n_nodes);
	FABRIC_EACH_NODE(f, n) {
		if (!belief_of_node(w, f, n, all))
			return false;
	}
	return true;
}

/* Changes that no light sweep can see: an administrator asks for a heavy one. */
static void tell_of_the_unseen(struct world *w)
{
	if (world_has(w, FAULT_ADDRESSES) || world_has(w, FAULT_REFUSALS))
		managers_reload(w);
}

/* ---- quiet --------------------------------------------------------------------------------- */

/*
 * Gets that light sweeps may send: a state per switch, blocks of tables in turn, names, other
 * managers.
 */
static uint64_t asks_allowed(const struct world *w, const struct sm *sm)
{
	const struct conf *c = sm_conf(sm);
	uint64_t sweeps = (uint64_t)(QUIET / MONO_S) / c->sweep_interval + 2;
	uint64_t polls = (uint64_t)(QUIET / MONO_MS) / c->sminfo_polling_timeout + 2;
	const struct fabric *f = sm_fabric(sm);
	/* Ports with a lease are asked before half of it has passed. */
	uint64_t touches = c->m_key_protection_level && c->m_key_lease_period
				   ? 2 * (QUIET / MONO_S) / c->m_key_lease_period + 1
				   : 0;

	/* each switch once a turn, and a turn more for those that begin and end within the time */
	uint64_t states = c->port_state_poll_interval
				  ? (uint64_t)(QUIET / MONO_S) / c->port_state_poll_interval + 1
				  : 0;

	return f->n_nodes * touches + f->n_switches * states +
	       sweeps * (f->n_switches + audits_per_sweep(sm) + names_per_sweep(sm) +
			 2 * w->n_managers + 2u) +
	       w->n_managers * polls * 8 + 2 * f->n_nodes;
}

static bool sweeps_heavily(const struct sm *sm)
{
	return sm_conf(sm)->force_heavy_sweep || sm_fabric(sm)->n_switches == 0;
}

/* As the ports count them. */
static uint64_t wrong_keys(const struct world *w)
{
	uint8_t info[SMP_DATA_SIZE];
	uint64_t n = 0;

	for (int node = 0; node < (int)w->n_nodes; node++) {
		bool sw = sim_node_is_switch(w->sim, node);

		for (unsigned p = sw ? 0 : 1; p <= (sw ? 0 : sim_node_ports(w->sim, node)); p++) {
			if (sim_read(w->sim, node, IB_ATTR_PORT_INFO, p, info) == 0)
				n += ib_get(info, PI_M_KEY_VIOLATIONS);
		}
	}
	return n;
}

static bool is_quiet(struct world *w)
{
	struct sm *sm;
	uint64_t sets, asked, allowed, n_wrong;
	uint32_t heavy;

	/* tables are moved to what a fresh start would make of them (sm/routing/quiet.c) */
	world_run(w, RESTED);
	sm = master(w);
	if (!sm)
		return wrong(w, "no master while nothing happened");
	sets = sim_sets(w->sim);
	asked = sim_gets(w->sim);
	allowed = asks_allowed(w, sm);
	heavy = sm_stats(sm)->heavy_sweeps;
	n_wrong = wrong_keys(w);
	w->log_errors = w->log_lines = 0;
	world_run(w, QUIET);
	if (sim_sets(w->sim) != sets)
		return wrong(w, "%u Sets while nothing happened",
			     (unsigned)(sim_sets(w->sim) - sets));
	if (sweeps_heavily(sm))
		return true;
	if (sm_stats(sm)->heavy_sweeps != heavy)
		return wrong(w, "%u heavy sweeps while nothing happened",
			     sm_stats(sm)->heavy_sweeps - heavy);
	if (sim_gets(w->sim) - asked > allowed)
		return wrong(w, "%u Gets in a minute while nothing happened, %u expected",
			     (unsigned)(sim_gets(w->sim) - asked), (unsigned)allowed);
	if (wrong_keys(w) != n_wrong)
		return wrong(w, "%u MADs with a wrong M_Key while nothing happened",
			     (unsigned)(wrong_keys(w) - n_wrong));
	if (w->log_errors)
		return wrong(w, "%u errors in the log while nothing happened", w->log_errors);
	return true;
}

/* ---- knowledge as text --------------------------------------------------------------------- */

static int by_guid(const void *a, const void *b)
{
	const struct node *const *x = a, *const *y = b;

	return (*x)->guid < (*y)->guid ? -1 : (*x)->guid > (*y)->guid;
}

static void write_port(FILE *f, const struct port *p)
{
	if (!p->known || (!node_is_switch(p->node) && !p->peer))
		return;
	fprintf(f, "%016llx:%u state %u lid %u lmc %u mtu %u vls %u",
		(unsigned long long)p->node->guid, p->num, port_state(p),
		port_is_end(p) ? (unsigned)ib_get(p->info, PI_LID) : 0,
		port_is_end(p) ? (unsigned)ib_get(p->info, PI_LMC) : 0,
		(unsigned)ib_get(p->info, PI_NEIGHBOR_MTU), (unsigned)ib_get(p->info, PI_OPER_VLS));
	if (p->peer)
		fprintf(f, " to %016llx:%u", (unsigned long long)p->peer->node->guid, p->peer->num);
	fprintf(f, "%s%s%s\n", p->quarantined ? " quarantined" : "", p->silent ? " silent" : "",
		p->out.held ? " held" : "");
}

/* Nodes, ports, cables, LIDs, in the order of GUIDs; to be freed. */
static char *knowledge(const struct fabric *fabric)
{
	_cleanup_free_ struct node **nodes = xcalloc(fabric->n_nodes + 1, sizeof(*nodes));
	size_t len;
	char *text;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	memcpy(nodes, fabric->nodes, fabric->n_nodes * sizeof(*nodes));
	qsort(nodes, fabric->n_nodes, sizeof(*nodes), by_guid);
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		fprintf(f, "%016llx type %u ports %u\n", (unsigned long long)nodes[i]->guid,
			nodes[i]->type, nodes[i]->n_ports);
		for (unsigned p = 0; p <= nodes[i]->n_ports; p++)
			write_port(f, &nodes[i]->ports[p]);
	}
	fclose(f);
	return text;
}

static bool same_text(struct world *w, const char *what, const char *before, const char *after)
{
	while (*before && *after) {
		const char *b = strchrnul(before, '\n'), *a = strchrnul(after, '\n');

		if (a - after != b - before || memcmp(before, after, (size_t)(b - before)))
			break;
		before = *b ? b + 1 : b;
		after = *a ? a + 1 : a;
	}
	if (!*before && !*after)
		return true;
	return wrong(w, "%s: '%.*s' became '%.*s'", what, (int)strcspn(before, "\n"), before,
		     (int)strcspn(after, "\n"), after);
}

/* ---- heavy --------------------------------------------------------------------------------- */

static bool heavy_finds_nothing(struct world *w)
{
	struct sm *sm = master(w);
	_cleanup_free_ char *before = knowledge(sm_fabric(sm)), *after = NULL;
	uint64_t sets = sim_sets(w->sim);
	uint32_t heavy = sm_stats(sm)->heavy_sweeps;
	struct sm_unserved open;

	sm_request_heavy(sm, NULL);
	world_run(w, 20 * MONO_S);
	if (sim_sets(w->sim) != sets)
		return wrong(w, "a heavy sweep of an unchanged fabric sent %u Sets",
			     (unsigned)(sim_sets(w->sim) - sets));
	if (sm_stats(sm)->heavy_sweeps == heavy)
		return wrong(w, "a heavy sweep was asked for and not made");
	if (!sm_stats(sm)->up)
		return wrong(w, "not up after the heavy sweep");
	if (sm_unserved(sm, sim_now(w->sim), &open) && open.age > 10 * MONO_S)
		return wrong(w, "a change is not served for %d s: %s; %s", (int)(open.age / MONO_S),
			     open.why, open.cause);
	w->result->last_gets = sm_stats(sm)->last_gets;
	after = knowledge(sm_fabric(sm));
	return same_text(w, "the heavy sweep", before, after);
}

/* ---- fresh --------------------------------------------------------------------------------- */

void world_note_lids(struct world *w)
{
	for (int n = 0; n < (int)w->n_nodes; n++) {
		lid_t lid = sim_port_lid(w->sim, n, !sim_node_is_switch(w->sim, n));

		w->lids[n] = lid_is_unicast(lid) ? lid : 0;
	}
}

/* One manager all the time, and no other: a port that had a LID has it still. */
static bool kept_lids(struct world *w)
{
	if (w->n_managers > 1 || w->ambiguous)
		return true;
	for (int n = 0; n < (int)w->n_nodes; n++) {
		lid_t now = sim_port_lid(w->sim, n, !sim_node_is_switch(w->sim, n));

		if (w->lids[n] && now != w->lids[n])
			return wrong(w, "LID of %s moved from %u to %u", sim_node_id(w->sim, n),
				     w->lids[n], now);
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* A switch port lets everything pass then, and its table may be of a time when it did not. */
static bool enforces(const struct world *w, int node, unsigned port)
{
	uint8_t info[SMP_DATA_SIZE];

	return sim_read(w->sim, node, IB_ATTR_PORT_INFO, port, info) < 0 ||
	       ib_get(info, PI_PART_ENF_IN) || ib_get(info, PI_PART_ENF_OUT);
}

static void write_keys(const struct world *w, FILE *f, int node, unsigned port, bool outside)
{
	uint8_t payload[SMP_DATA_SIZE];
	uint16_t keys[256];
	unsigned n = 0;

	for (uint32_t b = 0; (!outside || enforces(w, node, port)) &&
			     n + PKEYS_PER_BLOCK <= ARRAY_SIZE(keys) &&
			     sim_read(w->sim, node, IB_ATTR_PKEY_TABLE,
				      (outside ? port << 16 : 0) | b, payload) == 0;
	     b++)
		for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++) {
			keys[n] = (uint16_t)ib_bits_get(payload, i * 16, 16);
			n += keys[n] != 0;
		}
	qsort(keys, n, sizeof(*keys), by_value);
	fprintf(f, "%s:%u keys", sim_node_id(w->sim, node), port);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, " %04x", keys[i]);
	if (outside && sim_read(w->sim, node, IB_ATTR_PORT_INFO, port, payload) == 0)
		fprintf(f, " enforced in %u out %u", (unsigned)ib_get(payload, PI_PART_ENF_IN),
			(unsigned)ib_get(payload, PI_PART_ENF_OUT));
	fprintf(f, "\n");
}

/* P_Keys of hosts, of ports 0, and of the switch ports that face hosts; to be freed. */
static char *all_keys(const struct world *w)
{
	size_t len;
	char *text;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	for (int n = 0; n < (int)w->n_nodes; n++) {
		bool sw = sim_node_is_switch(w->sim, n);

		if (sim_node_id(w->sim, n)[0] == 'x') /* out of reach */
			continue;
		if (sw)
			write_keys(w, f, n, 0, false);
		for (unsigned p = 1; p <= sim_node_ports(w->sim, n); p++) {
			unsigned port;
			int peer;

			if (!sim_peer(w->sim, n, p, &peer, &port) || (!sw && p > 1) ||
			    (sw && sim_node_is_switch(w->sim, peer)))
				continue;
			write_keys(w, f, n, p, sw);
		}
	}
	fclose(f);
	return text;
}

/* All managers end; one that knows nothing starts where the master was. */
static bool start_fresh(struct world *w)
{
	const struct manager *m = right_master(w);
	struct manager *first = &w->managers[m - w->managers];

	for (unsigned i = 0; i < w->n_managers; i++)
		manager_kill(w, &w->managers[i], MONO_NEVER);
	w->managers[0] = *first;
	w->n_managers = 1;
	if (!world_has(w, FAULT_KEYS)) /* it could ask no port */
		snprintf(w->managers[0].dir, sizeof(w->managers[0].dir), "%s", w->dir);
	manager_start(w, &w->managers[0]);
	return world_heal(w);
}

static bool fresh_knows_the_same(struct world *w)
{
	_cleanup_free_ char *before = knowledge(sm_fabric(master(w))), *after = NULL;
	uint64_t lft = sim_count(w->sim, IB_ATTR_LFT, MAD_SET);

	if (!start_fresh(w))
		return false;
	if (world_has(w, FAULT_HITLESS) && sim_count(w->sim, IB_ATTR_LFT, MAD_SET) != lft)
		return wrong(w, "a fresh manager wrote %u LFT blocks",
			     (unsigned)(sim_count(w->sim, IB_ATTR_LFT, MAD_SET) - lft));
	after = knowledge(sm_fabric(master(w)));
	if (!same_text(w, "a fresh manager", before, after))
		return false;
	/* What it adopted is what its next routes begin from. */
	return !world_has(w, FAULT_HITLESS) || heavy_finds_nothing(w);
}

static bool power_cut_changes_no_key(struct world *w)
{
	_cleanup_free_ char *before = NULL, *after = NULL;

	if (!world_has(w, FAULT_HUPS))
		return true;
	before = all_keys(w);
	manager_kill(w, &w->managers[0], MONO_NEVER);
	for (int n = 0; n < (int)w->n_nodes; n++)
		sim_reboot(w->sim, n, 1 * MONO_S);
	if (!start_fresh(w))
		return false;
	after = all_keys(w);
	return same_text(w, "P_Keys after a power cut", before, after);
}

static void note_figures(struct world *w)
{
	w->result->heavy_sweeps = sm_stats(master(w))->heavy_sweeps;
	w->result->light_sweeps = sm_stats(master(w))->light_sweeps;
}

void world_judge(struct world *w)
{
	char why[300];

	world_run(w, 10 * MONO_S);
	tell_of_the_unseen(w);
	if (!world_heal(w))
		return;
	note_figures(w);
	if (!believes_right(w, false) || !is_quiet(w) || !kept_lids(w))
		return;
	if (hosts_judge(w, why, sizeof(why))) {
		wrong(w, "%s", why);
		return;
	}
	names_come_round(w);
	if (!heavy_finds_nothing(w) || !believes_right(w, true) || !never_looped(w))
		return;
	if (fresh_knows_the_same(w) && power_cut_changes_no_key(w))
		never_looped(w);
}
