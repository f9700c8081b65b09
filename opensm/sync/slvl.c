// SPDX-License-Identifier: BSD-2-Clause
/*
 * SL2VL tables and VL arbitration (14.2.5.8, 14.2.5.9) of switch ports and end ports, as plan/qos
 * wants them. Tables are written without being read: a Set of values that stand already changes
 * nothing and costs as much as a Get. Where nothing is wanted, one VLArb block per switch was read
 * (sm/read/adopt.c); if it shows that tables of VL layers stood there, unknown rows are set to
 * their built-in values, too.
 *
 * When. Tables that are wanted are written before forwarding tables, and before any port is armed
 * but links between switches in a fabric that is set up for the first time: no port becomes ACTIVE
 * without its own, and subnet administration hands out no SL, before the VLs that serve it
 * are set up. Where nothing is wanted any more (routes without VL layers after routes with them,
 * qos FALSE), tables that are known to differ from built-in values follow the forwarding tables.
 *
 *   to VL layers     old routes run on new tables for a while. If they needed none, they still
 *                    need none.
 *   from VL layers   new routes run on old tables for a while: they need none.
 *   between two      packets of old and new routes, and hosts that still use the SL of a former
 *                    path, meet on VLs that were proved free of deadlock for each scheme alone.
 *                    They may block each other until the last block of tables is written, and
 *                    HOQLife ends that. Routes that change after a fault mostly keep their scheme,
 *                    and then no row changes.
 *
 * Rows are masked by the OperationalVLs that ARM writes after them: a live port that gets more VLs
 * loses packets on the new ones between the two Sets.
 *
 * How. Rows are kept by id and compared as such (12.7 million in a large fabric, some hundred
 * distinct). Only ports that are up get rows: a port that is down comes up in INIT, and waits for
 * its rows before it is armed. On a switch that supports it one Set writes many rows (plan/slvl.h).
 */
#include <string.h>

#include "plan/slvl.h"
#include "sync/sync_internal.h"
#include "util/mem.h"

/* A switch as a crossbar: by port number, whether packets come in or go out there. */
struct crossbar {
	struct node *n;
	unsigned n_classes;
	bool live; /* set if some packet may pass the switch */
	struct {
		bool in, out;
		uint8_t class, vls;
	} ports[256];
};

/* ---- wants ----------------------------------------------------------------------------------- */

/*
 * Begins a run without wanted rows; their ids, by [enhanced port 0][pair][code], are made on
 * demand.
 */
void slvl_start(struct sync *s)
{
	for (size_t i = 0; i < s->n_slvl_ids; i++)
		cells_unref(s->fabric->cells, s->slvl_ids[i]);
	free(s->slvl_ids);
	free(s->crossbar);
	s->slvl_ids = NULL;
	s->crossbar = NULL;
	s->n_slvl_ids = 0;
	s->sm_switch = TOPO_NONE;
	if (!s->plan.qos)
		return;
	FABRIC_EACH_NODE(s->fabric, n)
		n->sync.lanes_left = n->sync.lanes_left && !s->plan.qos->wanted;
	s->crossbar = xcalloc(1, sizeof(*s->crossbar));
	s->n_slvl_ids = (size_t)2 * qos_n_pairs(s->plan.qos) * QOS_CODES;
	s->slvl_ids = xcalloc(s->n_slvl_ids, sizeof(*s->slvl_ids));
	if (s->plan.qos->lanes && s->fabric->own_port)
		s->sm_switch = slvl_switch_of(s, s->fabric->own_port);
}

uint32_t slvl_switch_of(const struct sync *s, const struct port *end)
{
	bool is_here = node_is_switch(end->node) || !end->peer;
	const struct node *n = is_here ? end->node : end->peer->node;

	return node_is_switch(n) ? topo_find_switch(s->plan.qos->topo, n->guid) : TOPO_NONE;
}

static enum qos_kind kind_of(const struct port *p)
{
	if (node_is_switch(p->node))
		return p->num ? QOS_SWITCH : QOS_SWITCH0;
	return p->node->type == IB_NODE_ROUTER ? QOS_ROUTER : QOS_CA;
}

/* The code for the number of VLs that the port uses. */
static unsigned vls_of(const struct sync *s, const struct port *p)
{
	return MIN(link_oper_vls(s->plan.conf, p->info, p->peer ? p->peer->info : NULL),
		   QOS_CODES - 1u);
}

static bool maps_sls(const struct port *p)
{
	return fabric_cap_mask(p) & IB_CAP(IB_CAP_SL_MAPPING);
}

/* Has the port tables, and a cable? */
static bool has_tables(const struct port *p)
{
	return sync_port_is_ours(p) &&
	       (!node_is_switch(p->node) || p->num || port_is_enhanced0(p));
}

/* Fills `ret` for a node. False: no table is to be written there. */
static bool look_at(const struct sync *s, struct node *n, struct crossbar *ret)
{
	const struct qos_plan *plan = s->plan.qos;
	uint32_t sw = TOPO_NONE;
	bool any = false;

	if (!maps_sls(&n->ports[0]))
		return false;
	if (plan->lanes) {
		sw = topo_find_switch(plan->topo, n->guid);
		if (sw == TOPO_NONE || plan->topo->switches[sw].n_ports != n->n_ports)
			return false;
	}
	*ret = (struct crossbar){ .n = n, .n_classes = qos_n_classes(plan) };
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		ret->ports[i].in = !i || sync_port_is_ours(p);
		ret->ports[i].out = has_tables(p);
		ret->ports[i].class = (uint8_t)qos_class(plan, sw, i);
		ret->ports[i].vls = ret->ports[i].out ? (uint8_t)vls_of(s, p) : 0;
		ret->live |= i && ret->ports[i].out && port_state(p) == IB_PORT_ACTIVE;
		any |= ret->ports[i].out;
	}
	return any;
}

/* The row for packets from port `in` to `out`. CELL_UNKNOWN: there is no memory for it. */
static cell_id wanted_row(const struct sync *s, const struct crossbar *x, unsigned in, unsigned out)
{
	unsigned pair = x->ports[in].class * x->n_classes + x->ports[out].class;
	size_t first = out ? 0 : (size_t)x->n_classes * x->n_classes;
	cell_id *id = &s->slvl_ids[(first + pair) * QOS_CODES + x->ports[out].vls];
	uint8_t row[SMP_DATA_SIZE];

	if (!*id) {
		qos_sl2vl(s->plan.qos, out ? QOS_SWITCH : QOS_SWITCH0, pair, x->ports[out].vls,
			  row);
		*id = cells_put(s->fabric->cells, row);
	}
	return *id;
}

/* May unknown rows be written? Only if some are wanted, or tables of VL layers were found there. */
static bool is_open(const struct sync *s, const struct port *p)
{
	return s->plan.qos->wanted || p->node->sync.lanes_left ||
	       (p->peer && p->peer->node->sync.lanes_left);
}

static bool row_is_missing(const struct sync *s, const struct crossbar *x, unsigned in,
			   unsigned out)
{
	const struct port *p = &x->n->ports[out];
	cell_id have = cell_table_id(p->tables[TABLE_SL2VL], in);
	cell_id want = wanted_row(s, x, in, out);

	return want && have != want && (have || is_open(s, p));
}

/* ---- the rows -------------------------------------------------------------------------------- */

bool slvl_want(const struct sync *s, const struct port *p, struct want *ret)
{
	bool is_switch = node_is_switch(p->node);

	if (!s->plan.qos || !has_tables(p) || !maps_sls(p))
		return false;
	if (is_switch && !look_at(s, p->node, s->crossbar))
		return false;
	ret->all = is_switch ? p->node->n_ports + 1u : 1;
	ret->sure = is_open(s, p) ? ret->all : 0;
	return true;
}

bool slvl_fill(const struct sync *s, const struct port *p, const struct want *w, unsigned in,
	       uint8_t *ret)
{
	const uint8_t *row;

	if (!node_is_switch(p->node)) {
		qos_sl2vl(s->plan.qos, kind_of(p), 0, vls_of(s, p), ret);
		return true;
	}
	if (!s->crossbar->ports[in].in)
		return false;
	row = cells_get(s->fabric->cells, wanted_row(s, s->crossbar, in, p->num));
	if (row)
		memcpy(ret, row, SMP_DATA_SIZE);
	return row;
}

bool slvl_is_quiet(const struct sync *s)
{
	return s->plan.conf->suppress_sl2vl_mad_status_errors;
}

static bool is_given_up(const struct sync *s, const struct port *p)
{
	const struct cell_table *t = p->tables[TABLE_SL2VL];
	struct want w;

	return t && t->given_up && slvl_want(s, p, &w) &&
	       cells_are_given_up(s, sync_row_of(s, IB_ATTR_SL2VL), p, &w);
}

bool shares_want(const struct sync *s, const struct port *p, struct want *ret)
{
	if (!s->plan.qos || !has_tables(p))
		return false;
	ret->all = QOS_BLOCKS;
	ret->sure = is_open(s, p) ? QOS_BLOCKS : 0;
	return true;
}

/* Fills a block of VL arbitration; with one VL it is not needed. */
bool shares_fill(const struct sync *s, const struct port *p, const struct want *w, unsigned block,
		 uint8_t *ret)
{
	unsigned n = (unsigned)port_tables[TABLE_VLARB].used(p, block) / 2;

	if (ib_get(p->info, PI_VL_CAP) < 2 || !n)
		return false;
	qos_vlarb(s->plan.qos, kind_of(p), block + 1, n, vls_of(s, p), ret);
	return true;
}

/* ---- rows of switches ------------------------------------------------------------------------ */

static void write_switch(struct sync *s, struct node *n);

/* Notes the content of the rows that a Set wrote; `payload` NULL: they are unknown. */
static void note_rows(struct sync *s, struct node *n, uint32_t mod, const uint8_t *payload)
{
	for (unsigned out = 0; out <= n->n_ports; out++) {
		struct port *p = &n->ports[out];

		for (unsigned in = 0; has_tables(p) && in <= n->n_ports; in++) {
			if (!slvl_mod_covers(mod, in, out))
				continue;
			observe_blocks_written(p, TABLE_SL2VL, in + 1);
			if (payload)
				observe_block(s->fabric, p, TABLE_SL2VL, in, payload);
			else
				observe_block_lost(s->fabric, p, TABLE_SL2VL, in);
		}
	}
}

/* Has a row got its wanted content by the Set? */
static bool has_helped(const struct sync *s, struct node *n, uint32_t mod)
{
	struct crossbar x;

	if (!look_at(s, n, &x))
		return true;
	for (unsigned out = 0; out <= n->n_ports; out++) {
		for (unsigned in = 0; x.ports[out].out && in <= n->n_ports; in++) {
			if (x.ports[in].in && slvl_mod_covers(mod, in, out) &&
			    cell_table_id(n->ports[out].tables[TABLE_SL2VL], in) ==
				    wanted_row(s, &x, in, out))
				return true;
		}
	}
	return false;
}

void sync_lanes_found(struct node *n, bool found)
{
	n->sync.lanes_left = found;
}

static void on_many(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	bool well = sync_answered(s, p, r);

	note_rows(s, p->node, r->mod, well ? r->payload : NULL);
	/* Rows are then written singly; this is no fault. */
	if (r->end == MAD_END_BAD_STATUS || (well && !has_helped(s, p->node, r->mod))) {
		p->node->sync.no_slvl_wildcard = true;
		write_switch(s, p->node);
	} else if (well && (r->mod & SLVL_ALL_IN) && (r->mod & SLVL_ALL_OUT)) {
		write_switch(s, p->node); /* the rows that differ from the rest */
	}
}

/* Sends a Set of many rows to the port in its modifier; to port 0 if it is for all ports. */
static void send_set(struct sync *s, struct node *n, const struct slvl_set *set)
{
	struct port *p = &n->ports[set->mod & 0xFF];
	const uint8_t *payload = cells_get(s->fabric->cells, set->row);
	const struct mad_request rq = { .attr = IB_ATTR_SL2VL, .mod = set->mod, .payload = payload,
					.long_timeout = true };

	if (!(set->mod & (SLVL_ALL_IN | SLVL_ALL_OUT))) {
		cells_send(s, sync_row_of(s, IB_ATTR_SL2VL), p, set->mod >> 8, payload);
	} else if (sync_send(s, p, &rq, on_many, p)) {
		observe_blocks_written(p, TABLE_SL2VL, 1);
	}
}

static bool can_wildcard(const struct node *n)
{
	return !n->sync.no_slvl_wildcard && n->switch_known &&
	       (ib_get(n->switch_info, SI_OPTIMIZED_SL2VL) & 1);
}

/* Collects rows. Returns their number. */
static size_t make_grid(const struct sync *s, const struct crossbar *x, struct slvl_grid *ret)
{
	struct slvl_row *row = ret->rows;

	ret->live = x->live;
	ret->n_in = ret->n_out = 0;
	for (unsigned in = 0; in <= x->n->n_ports; in++) {
		if (x->ports[in].in)
			ret->in[ret->n_in++] = (uint8_t)in;
	}
	for (unsigned out = 0; out <= x->n->n_ports; out++) {
		bool given_up;

		if (!x->ports[out].out)
			continue;
		ret->out[ret->n_out++] = (uint8_t)out;
		given_up = is_given_up(s, &x->n->ports[out]);
		for (unsigned i = 0; i < ret->n_in; i++, row++) {
			row->want = wanted_row(s, x, ret->in[i], out);
			row->missing = !given_up && row_is_missing(s, x, ret->in[i], out);
		}
	}
	return (size_t)(row - ret->rows);
}

static void write_switch(struct sync *s, struct node *n)
{
	size_t room = (n->n_ports + 1u) * (n->n_ports + (size_t)1);
	_cleanup_free_ struct slvl_row *rows = NULL;
	_cleanup_free_ struct slvl_set *sets = NULL;
	struct slvl_grid grid;
	struct crossbar x;
	size_t n_sets;

	if (sync_leaves_out(s, n) || !look_at(s, n, &x))
		return;
	rows = xcalloc(room, sizeof(*rows));
	grid.rows = rows;
	sets = xcalloc(make_grid(s, &x, &grid), sizeof(*sets));
	n_sets = slvl_sets(&grid, can_wildcard(n), sets);
	for (size_t i = 0; i < n_sets; i++)
		send_set(s, n, &sets[i]);
}

/* ---- the stage ------------------------------------------------------------------------------- */

static bool is_touched(const struct sync *s, const struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (p->tables[TABLE_SL2VL] || p->tables[TABLE_VLARB] || is_open(s, p))
			return true;
	}
	return false;
}

/* Counts a switch without SL mapping, for which the proof of the routes does not hold. */
static void note_unmapped(struct sync *s, struct node *n)
{
	const struct port *p0 = &n->ports[0];

	if (!s->plan.qos->lanes || maps_sls(p0) || s->plan.qos->lanes->n_vls < 2 || !p0->known)
		return;
	s->outcome.unmapped++;
	s->outcome.unmapped_example = n;
}

void slvl_write(struct sync *s, struct node *n)
{
	if (!is_touched(s, n))
		return;
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		cells_write(s, sync_row_of(s, IB_ATTR_VLARB), p);
		if (!node_is_switch(n))
			cells_write(s, sync_row_of(s, IB_ATTR_SL2VL), p);
	}
	if (node_is_switch(n)) {
		note_unmapped(s, n);
		write_switch(s, n);
	}
}

bool slvl_is_wanted(const struct sync *s)
{
	return s->plan.qos && s->plan.qos->wanted;
}

bool slvl_is_left(const struct sync *s)
{
	return s->plan.qos && !s->plan.qos->wanted;
}

/* ---- questions of ARM ------------------------------------------------------------------------ */

/* Are the tables of packets that come in by the port and leave by others as wanted? */
static bool ways_in_are_settled(const struct sync *s, const struct port *p)
{
	struct crossbar x;

	if (!node_is_switch(p->node) || !look_at(s, p->node, &x) || !x.ports[p->num].in)
		return true;
	for (unsigned out = 0; out <= p->node->n_ports; out++) {
		if (x.ports[out].out && row_is_missing(s, &x, p->num, out) &&
		    !is_given_up(s, &p->node->ports[out]))
			return false;
	}
	return true;
}

bool slvl_is_settled(const struct sync *s, const struct port *p)
{
	return !slvl_is_wanted(s) || (cells_are_settled(s, sync_row_of(s, IB_ATTR_VLARB), p) &&
				      cells_are_settled(s, sync_row_of(s, IB_ATTR_SL2VL), p) &&
				      ways_in_are_settled(s, p));
}

int slvl_high_limit(const struct sync *s, const struct port *p)
{
	if (!s->plan.qos)
		return -1;
	return qos_high_limit(s->plan.qos, kind_of(p), ib_get(p->info, PI_VL_CAP));
}

uint8_t slvl_sm_sl(const struct sync *s, const struct port *p)
{
	uint8_t wish = s->plan.conf->sm_sl;

	if (!s->plan.qos || !s->plan.qos->lanes || !port_is_end(p))
		return wish;
	return sl2vl_sl(s->plan.qos->lanes, slvl_switch_of(s, p), s->sm_switch, s->plan.sm_lid,
			qos_level_sl(s->plan.qos, wish));
}
