// SPDX-License-Identifier: BSD-2-Clause
/*
 * SL2VL tables and VL arbitration (14.2.5.8, 14.2.5.9): what plan/qos wants of switch ports and end ports,
 * minus what they hold. What they hold is unknown until we wrote it: a Set of what is there already changes
 * nothing and costs what reading it would, so tables of a fabric that is taken over are written blindly. If nothing
 * is wanted there, one VLArb block per switch was read (sm/adopt.c): where it shows that lanes stood there, rows
 * that nobody knows are made what they are built in as, too.
 *
 * When. Tables that are wanted are written before forwarding tables, and before any port is armed: no
 * port becomes ACTIVE, and subnet administration hands out no SL, before the lanes are there that serve
 * it. If nothing is wanted any more (routes that need no lanes after routes with lanes, qos FALSE), what is known
 * to differ from built-in values goes after the forwarding tables. So
 *
 *   to lanes      old routes run on new lanes for a while. If they needed none, they still need none.
 *   from lanes    new routes run on old lanes for a while: they need none.
 *   lanes, lanes  packets of old and new routes, and hosts that still use the SL of a path that was,
 *                 meet on lanes that were proved for each scheme alone. They may block each other
 *                 until the last block of tables is written, and HOQLife ends that. Routes that change
 *                 after a fault mostly keep their scheme, and then no row changes.
 *
 * Rows are masked by the OperationalVLs that ARM writes after them: a live port that gets more VLs loses what
 * is sent on the new ones between the two Sets.
 *
 * How. Rows are kept by id and compared as such (12.7 million in a large fabric, some hundred distinct).
 * Only ports that are up get rows: what is down comes in INIT, and waits for its rows before it is armed.
 * With use_optimized_slvl and a switch that can: one Set for all ports where all rows are alike, one per
 * port out where its rows are, one per port in where only those differ; on a switch without traffic all
 * ports get the most common row first. These Sets do not overlap, but for the last kind, where the rest
 * waits for the answer: a Set that is repeated must not undo another.
 */
#include <string.h>

#include "sync/impl.h"
#include "util/mem.h"

#define ALL_OUT	 0x10000u
#define ALL_IN	 0x20000u
#define SLVL_BYTES (QOS_SLS / 2)

_Static_assert(SLVL_BYTES * 2 == QOS_SLS, "a nibble per SL");

/* ---- what is wanted --------------------------------------------------------------------------- */

/* Ids of rows that are wanted in this run, made when first asked for, by [enhanced port 0][pair][code]. */
void slvl_start(struct sync *s)
{
	for (size_t i = 0; i < s->n_slvl_ids; i++)
		cells_unref(s->fabric->cells, s->slvl_ids[i]);
	free(s->slvl_ids);
	free(s->slvl_shares);
	s->slvl_ids = NULL;
	s->slvl_shares = NULL;
	s->n_slvl_ids = 0;
	s->sm_switch = TOPO_NONE;
	if (!s->plan.qos)
		return;
	s->n_slvl_ids = (size_t)2 * qos_n_pairs(s->plan.qos) * QOS_CODES;
	s->slvl_ids = xcalloc(s->n_slvl_ids, sizeof(*s->slvl_ids));
	s->slvl_shares = xcalloc((size_t)QOS_KINDS * QOS_BLOCKS * QOS_CODES, sizeof(*s->slvl_shares));
	if (s->plan.qos->lanes && s->fabric->own_port)
		s->sm_switch = slvl_switch_of(s, s->fabric->own_port);
}

uint32_t slvl_switch_of(const struct sync *s, const struct port *end)
{
	const struct node *n = node_is_switch(end->node) || !end->peer ? end->node : end->peer->node;

	return node_is_switch(n) ? topo_find_switch(s->plan.qos->topo, n->guid) : TOPO_NONE;
}

static enum qos_kind kind_of(const struct port *p)
{
	if (node_is_switch(p->node))
		return p->num ? QOS_SWITCH : QOS_SWITCH0;
	return p->node->type == IB_NODE_ROUTER ? QOS_ROUTER : QOS_CA;
}

/* Code of the VLs that the port uses. */
static unsigned vls_of(const struct sync *s, const struct port *p)
{
	return MIN(link_oper_vls(s->plan.conf, p->info, p->peer ? p->peer->info : NULL), QOS_CODES - 1u);
}

static bool maps_sls(const struct port *p)
{
	return fabric_cap_mask(p) & IB_CAP(IB_CAP_SL_MAPPING);
}

/* A port that has tables, and a cable. */
static bool has_tables(const struct port *p)
{
	return sync_port_is_ours(p) &&
	       (!node_is_switch(p->node) || p->num || port_is_enhanced0(p));
}

/* A switch as packets pass it: the ports that are up, their VLs, and where it is among the routes. */
struct crossbar {
	struct node *n;
	uint32_t sw;
	unsigned n_in, n_out, n_classes;
	uint8_t in[256], out[256], in_class[256], out_class[256], vls[256];
	bool live; /* some packet may be on its way through */
};

/* False: there is nothing to write here. */
static bool look_at(const struct sync *s, struct node *n, struct crossbar *ret)
{
	const struct qos_plan *plan = s->plan.qos;

	ret->n = n;
	ret->sw = TOPO_NONE;
	ret->n_in = ret->n_out = 0;
	ret->n_classes = qos_n_classes(plan);
	ret->live = false;
	if (!maps_sls(&n->ports[0]))
		return false;
	if (plan->lanes) {
		ret->sw = topo_find_switch(plan->topo, n->guid);
		if (ret->sw == TOPO_NONE || plan->topo->switches[ret->sw].n_ports != n->n_ports)
			return false;
	}
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (i && !sync_port_is_ours(p))
			continue;
		ret->in_class[ret->n_in] = (uint8_t)qos_class(plan, ret->sw, i);
		ret->in[ret->n_in++] = (uint8_t)i;
		if (!has_tables(p))
			continue;
		ret->out_class[ret->n_out] = ret->in_class[ret->n_in - 1];
		ret->vls[ret->n_out] = (uint8_t)vls_of(s, p);
		ret->out[ret->n_out++] = (uint8_t)i;
		ret->live |= i && port_is_live(p);
	}
	return ret->n_out > 0;
}

static cell_id put_row(const struct sync *s, enum qos_kind kind, unsigned pair, unsigned vls)
{
	uint8_t row[SMP_DATA_SIZE];

	qos_sl2vl(s->plan.qos, kind, pair, vls, row);
	return cells_put(s->fabric->cells, row);
}

/* The row of ports in[i] and out[o]. CELL_UNKNOWN: there is no room for it in memory. */
static inline cell_id wanted_row(const struct sync *s, const struct crossbar *x, unsigned i, unsigned o)
{
	unsigned pair = x->in_class[i] * x->n_classes + x->out_class[o];
	size_t first = x->out[o] ? 0 : (size_t)x->n_classes * x->n_classes;
	cell_id *id = &s->slvl_ids[(first + pair) * QOS_CODES + x->vls[o]];

	if (!*id)
		*id = put_row(s, x->out[o] ? QOS_SWITCH : QOS_SWITCH0, pair, x->vls[o]);
	return *id;
}

static cell_id have_row(const struct port *p, unsigned in)
{
	return p->sl2vl && in < p->sl2vl->n ? p->sl2vl->have[in] : CELL_UNKNOWN;
}

/* What is unknown is left alone, unless something is wanted, or lanes are known to have stood there. */
static bool is_open(const struct sync *s, const struct port *p)
{
	return s->plan.qos->wanted || p->node->lanes_left || (p->peer && p->peer->node->lanes_left);
}

static inline bool row_is_open(const struct sync *s, const struct crossbar *x, unsigned i, unsigned o)
{
	const struct port *p = &x->n->ports[x->out[o]];
	cell_id have = have_row(p, x->in[i]), want = wanted_row(s, x, i, o);

	return want && have != want && (have || is_open(s, p));
}

static uint32_t hash_bytes(uint32_t h, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 16777619u;
	return h ? h : 1;
}

/* Of all rows of a port out: tells whether what was given up has changed. */
static uint32_t hash_rows(const struct sync *s, const struct crossbar *x, unsigned o)
{
	uint32_t h = 2166136261u;

	for (unsigned i = 0; i < x->n_in; i++) {
		const uint8_t *row = cells_get(s->fabric->cells, wanted_row(s, x, i, o));

		h = row ? hash_bytes(h, row, SLVL_BYTES) : h;
	}
	return h;
}

static bool rows_given_up(const struct sync *s, const struct crossbar *x, unsigned o)
{
	const struct cell_table *t = x->n->ports[x->out[o]].sl2vl;

	return t && t->given_up && t->given_up == hash_rows(s, x, o);
}

/* ---- what was answered ------------------------------------------------------------------------ */

/* What a Set with this modifier is about. */
struct span {
	unsigned in, last_in, out, last_out;
};

static struct span span_of(const struct node *n, uint32_t mod)
{
	unsigned in = mod >> 8 & 0xFF, out = mod & 0xFF;

	if (!node_is_switch(n))
		return (struct span){ 0, 0, 0, 0 };
	return (struct span){
		mod & ALL_IN ? 0 : in, mod & ALL_IN ? n->n_ports : in,
		mod & ALL_OUT ? 1 : out, mod & ALL_OUT ? n->n_ports : out,
	};
}

static struct port *table_port(struct node *n, unsigned out, struct port *end)
{
	return node_is_switch(n) ? &n->ports[out] : end;
}

/* `payload` NULL: what is there is unknown. */
static void note_rows(struct sync *s, struct port *arg, uint32_t mod, const uint8_t *payload)
{
	struct span span = span_of(arg->node, mod);

	for (unsigned out = span.out; out <= span.last_out; out++) {
		struct port *p = table_port(arg->node, out, arg);

		if (!has_tables(p))
			continue;
		cell_table_grow(&p->sl2vl, span.last_in + 1);
		p->sl2vl->unproven = true;
		for (unsigned in = span.in; in <= span.last_in; in++) {
			if (payload)
				fabric_observe_sl2vl(s->fabric, p, in, payload);
			else
				cell_table_forget(s->fabric->cells, p->sl2vl, in);
		}
	}
}

/* Refusals are the administrator's to keep silent (suppress_sl2vl_mad_status_errors). */
static void give_up(struct sync *s, struct port *p, struct cell_table *t, uint16_t attr, uint32_t hash)
{
	bool told = t->given_up == hash ||
		    (attr == IB_ATTR_SL2VL && s->plan.conf->suppress_sl2vl_mad_status_errors);

	t->given_up = hash;
	if (told)
		return;
	s->outcome.unkept_tables++;
	s->outcome.unkept_example = p;
	s->outcome.unkept_attr = attr;
}

static bool ended_well(struct sync *s, struct port *p, const struct mad_result *r)
{
	bool well = sync_ended_well(s, p->node, r);

	if (r->end == MAD_END_BAD_STATUS && r->attr == IB_ATTR_SL2VL &&
	    s->plan.conf->suppress_sl2vl_mad_status_errors)
		s->outcome.refused--;
	return well;
}

/* ---- rows of switches ------------------------------------------------------------------------- */

static void send_rows(struct sync *s, struct port *p, uint32_t mod, cell_id want, mad_done_fn on_done)
{
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_SL2VL,
		.mod = mod,
		.path = &path,
		.payload = cells_get(s->fabric->cells, want),
		.long_timeout = mod & (ALL_IN | ALL_OUT),
	};

	if (fabric_port_path(s->fabric, p, &path) < 0 || !sync_send(s, p, &rq, on_done, p))
		return;
	cell_table_grow(&p->sl2vl, 1);
	p->sl2vl->unproven = true;
}

static unsigned place_of(const uint8_t *list, unsigned n, unsigned port)
{
	unsigned i = 0;

	while (i < n && list[i] != port)
		i++;
	return i;
}

static void on_row(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	unsigned in = r->mod >> 8 & 0xFF, i, o;
	bool well = ended_well(s, p, r);
	struct crossbar x;

	cell_table_grow(&p->sl2vl, in + 1);
	if (well)
		note_rows(s, p, r->mod, r->payload);
	else if (r->end != MAD_END_BAD_STATUS)
		note_rows(s, p, r->mod, NULL);
	if (well)
		p->sl2vl->refusals = 0;
	else if (r->end != MAD_END_BAD_STATUS || ++p->sl2vl->refusals < MAX_REFUSALS)
		return;
	if (!look_at(s, p->node, &x))
		return;
	i = place_of(x.in, x.n_in, in);
	o = place_of(x.out, x.n_out, p->num);
	if (i < x.n_in && o < x.n_out && row_is_open(s, &x, i, o))
		give_up(s, p, p->sl2vl, IB_ATTR_SL2VL, hash_rows(s, &x, o));
}

/* Row by row. */
static void write_out(struct sync *s, const struct crossbar *x, unsigned o)
{
	struct port *p = &x->n->ports[x->out[o]];

	if (rows_given_up(s, x, o))
		return;
	for (unsigned i = 0; i < x->n_in; i++) {
		if (row_is_open(s, x, i, o))
			send_rows(s, p, (uint32_t)x->in[i] << 8 | p->num, wanted_row(s, x, i, o), on_row);
	}
}

/* ---- many rows at once ------------------------------------------------------------------------ */

static void write_switch(struct sync *s, struct node *n);

/* Did the Set make some row what it shall be? */
static bool has_helped(const struct sync *s, struct node *n, uint32_t mod)
{
	struct span span = span_of(n, mod);
	struct crossbar x;

	if (!look_at(s, n, &x))
		return true;
	for (unsigned o = 0; o < x.n_out; o++) {
		if (x.out[o] < span.out || x.out[o] > span.last_out)
			continue;
		for (unsigned i = 0; i < x.n_in; i++) {
			if (x.in[i] >= span.in && x.in[i] <= span.last_in &&
			    have_row(&n->ports[x.out[o]], x.in[i]) == wanted_row(s, &x, i, o))
				return true;
		}
	}
	return false;
}

static void on_many(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	bool well = sync_ended_well(s, p->node, r);

	note_rows(s, p, r->mod, well ? r->payload : NULL);
	if (r->end == MAD_END_BAD_STATUS)
		s->outcome.refused--; /* row by row, then */
	if (r->end == MAD_END_BAD_STATUS || (well && !has_helped(s, p->node, r->mod))) {
		p->node->no_slvl_wildcard = true;
		write_switch(s, p->node);
	} else if (well && (r->mod & ALL_IN) && (r->mod & ALL_OUT)) {
		write_switch(s, p->node); /* the exceptions */
	}
}

/* The common row of all that comes in by any port, or that goes out by any; CELL_UNKNOWN: they differ. */
static cell_id row_of_out(const struct sync *s, const struct crossbar *x, unsigned o)
{
	cell_id want = wanted_row(s, x, 0, o);

	for (unsigned i = 1; i < x->n_in && want; i++)
		want = wanted_row(s, x, i, o) == want ? want : CELL_UNKNOWN;
	return want;
}

static cell_id row_of_in(const struct sync *s, const struct crossbar *x, unsigned i)
{
	cell_id want = CELL_UNKNOWN;

	for (unsigned o = 0; o < x->n_out; o++) {
		cell_id id = wanted_row(s, x, i, o);

		if (x->out[o] == 0 || (want && id != want))
			return CELL_UNKNOWN;
		want = id;
	}
	return want;
}

/* Rows of one port out (o < n_out) or all that are not as wanted. */
static unsigned count_open(const struct sync *s, const struct crossbar *x, unsigned o)
{
	unsigned n = 0;

	if (rows_given_up(s, x, o))
		return 0;
	for (unsigned i = 0; i < x->n_in; i++)
		n += row_is_open(s, x, i, o);
	return n;
}

/* The row that most need, and of how many; ties go to the first. Where rows are that many, it does not pay. */
static cell_id most_common(const struct sync *s, const struct crossbar *x, unsigned *ret_n)
{
	struct {
		cell_id id;
		unsigned n;
	} seen[32] = { 0 };
	unsigned n_seen = 0, best = 0, at;

	for (unsigned o = 0; o < x->n_out; o++) {
		for (unsigned i = 0; i < x->n_in; i++) {
			cell_id id = wanted_row(s, x, i, o);

			for (at = 0; at < n_seen && seen[at].id != id; at++)
				;
			if (at == ARRAY_SIZE(seen))
				continue;
			seen[at].id = id;
			seen[at].n++;
			n_seen = MAX(n_seen, at + 1);
			best = seen[at].n > seen[best].n ? at : best;
		}
	}
	*ret_n = seen[best].n;
	return seen[best].id;
}

/* Port 0 out is not among "all ports out". */
static unsigned n_external(const struct crossbar *x)
{
	return x->n_out - (x->n_out && x->out[0] == 0);
}

/* One Set for all, where that is right or does no harm. True: the rest waits for the answer. */
static bool write_all(struct sync *s, const struct crossbar *x, unsigned open)
{
	unsigned common, rows = x->n_in * x->n_out;
	cell_id want;

	if (open <= x->n_out)
		return false;
	want = most_common(s, x, &common);
	if (!want || (x->live && common < rows) || (common < rows && (open < rows || common * 2 < rows)))
		return false;
	send_rows(s, &x->n->ports[0], ALL_IN | ALL_OUT, want, on_many);
	return true;
}

/* If rows differ by the port in alone. */
static bool write_by_in(struct sync *s, const struct crossbar *x)
{
	for (unsigned i = 0; i < x->n_in; i++) {
		if (!row_of_in(s, x, i))
			return false;
	}
	for (unsigned i = 0; i < x->n_in; i++) {
		cell_id want = row_of_in(s, x, i);
		bool open = false;

		for (unsigned o = 0; o < x->n_out && !open; o++)
			open = row_is_open(s, x, i, o);
		if (open)
			send_rows(s, &x->n->ports[0], ALL_OUT | (uint32_t)x->in[i] << 8, want, on_many);
	}
	return true;
}

static void write_by_wildcards(struct sync *s, const struct crossbar *x)
{
	unsigned open = 0;

	for (unsigned o = 0; o < x->n_out; o++)
		open += count_open(s, x, o);
	if (!open || (n_external(x) > 1 && write_all(s, x, open)) ||
	    (open > x->n_in && write_by_in(s, x)))
		return;
	for (unsigned o = 0; o < x->n_out; o++) {
		struct port *p = &x->n->ports[x->out[o]];
		cell_id want = row_of_out(s, x, o);

		if (want && count_open(s, x, o) > 1)
			send_rows(s, p, ALL_IN | p->num, want, on_many);
		else
			write_out(s, x, o);
	}
}

static bool can_wildcard(const struct sync *s, const struct node *n)
{
	return s->plan.conf->use_optimized_slvl && !n->no_slvl_wildcard && n->switch_known &&
	       (ib_get(n->switch_info, SI_OPTIMIZED_SL2VL) & 1);
}

static void write_switch(struct sync *s, struct node *n)
{
	struct crossbar x;

	if (sync_leaves_out(s, n) || !look_at(s, n, &x))
		return;
	if (can_wildcard(s, n)) {
		write_by_wildcards(s, &x);
		return;
	}
	for (unsigned o = 0; o < x.n_out; o++)
		write_out(s, &x, o);
}

/* ---- end ports -------------------------------------------------------------------------------- */

static bool row_differs(const struct sync *s, const struct port *p, uint8_t *ret)
{
	const uint8_t *have = fabric_sl2vl_row(s->fabric, p, 0);

	qos_sl2vl(s->plan.qos, kind_of(p), 0, vls_of(s, p), ret);
	return have ? memcmp(have, ret, SMP_DATA_SIZE) != 0 : is_open(s, p);
}

static bool is_given_up(const struct cell_table *t, const uint8_t *want)
{
	return t && t->given_up && t->given_up == hash_bytes(2166136261u, want, SMP_DATA_SIZE);
}

static void on_end_row(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	uint8_t want[SMP_DATA_SIZE];
	bool well = ended_well(s, p, r);

	cell_table_grow(&p->sl2vl, 1);
	if (well)
		note_rows(s, p, 0, r->payload);
	else if (r->end != MAD_END_BAD_STATUS)
		note_rows(s, p, 0, NULL);
	if (well)
		p->sl2vl->refusals = 0;
	if (row_differs(s, p, want) && (well || (r->end == MAD_END_BAD_STATUS &&
						 ++p->sl2vl->refusals >= MAX_REFUSALS)))
		give_up(s, p, p->sl2vl, IB_ATTR_SL2VL, hash_bytes(2166136261u, want, SMP_DATA_SIZE));
}

static void write_end(struct sync *s, struct port *p)
{
	uint8_t want[SMP_DATA_SIZE];
	struct dr_path path;
	const struct mad_request rq = { .attr = IB_ATTR_SL2VL, .path = &path, .payload = want };

	if (!maps_sls(p) || !row_differs(s, p, want) || is_given_up(p->sl2vl, want) ||
	    fabric_port_path(s->fabric, p, &path) < 0 || !sync_send(s, p, &rq, on_end_row, p))
		return;
	cell_table_grow(&p->sl2vl, 1);
	p->sl2vl->unproven = true;
}

/* ---- VL arbitration --------------------------------------------------------------------------- */

static unsigned arb_cap(const struct port *p, unsigned block)
{
	return MIN((unsigned)(block <= 2 ? ib_get(p->info, PI_VLARB_LOW_CAP) : ib_get(p->info, PI_VLARB_HIGH_CAP)),
		   (unsigned)QOS_ENTRIES);
}

/* With one VL there is nothing to share. */
static bool has_shares(const struct port *p, unsigned block)
{
	return ib_get(p->info, PI_VL_CAP) > 1 && qos_entries(block, arb_cap(p, block)) > 0;
}

/* What block 1..4 of the port shall hold; made once for all ports of a kind that have as much. Valid in this run. */
static const uint8_t *wanted_shares(const struct sync *s, const struct port *p, unsigned block)
{
	enum qos_kind kind = kind_of(p);
	unsigned cap = arb_cap(p, block), vls = vls_of(s, p);
	struct slvl_shares *memo = &s->slvl_shares[(kind * QOS_BLOCKS + block - 1) * QOS_CODES + vls];

	if (memo->cap != cap) {
		qos_vlarb(s->plan.qos, kind, block, cap, vls, memo->payload);
		memo->cap = (uint8_t)cap;
	}
	return memo->payload;
}

static bool block_differs(const struct sync *s, const struct port *p, unsigned block)
{
	const uint8_t *have = fabric_vlarb_block(s->fabric, p, block);

	return have ? memcmp(have, wanted_shares(s, p, block), SMP_DATA_SIZE) != 0 : is_open(s, p);
}

static uint32_t hash_shares(const struct sync *s, const struct port *p)
{
	uint32_t h = 2166136261u;

	for (unsigned block = 1; block <= QOS_BLOCKS; block++)
		h = hash_bytes(h, wanted_shares(s, p, block), SMP_DATA_SIZE);
	return h;
}

static bool shares_given_up(const struct sync *s, const struct port *p)
{
	return p->vlarb && p->vlarb->given_up && p->vlarb->given_up == hash_shares(s, p);
}

static void on_shares(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	unsigned block = r->mod >> 16;
	bool well = ended_well(s, p, r);

	cell_table_grow(&p->vlarb, QOS_BLOCKS);
	if (well) {
		fabric_observe_vlarb(s->fabric, p, block, r->payload);
		p->vlarb->refusals = 0;
	} else if (r->end != MAD_END_BAD_STATUS) {
		cell_table_forget(s->fabric->cells, p->vlarb, block - 1);
	}
	if (block_differs(s, p, block) && (well || (r->end == MAD_END_BAD_STATUS &&
							  ++p->vlarb->refusals >= MAX_REFUSALS)))
		give_up(s, p, p->vlarb, IB_ATTR_VLARB, hash_shares(s, p));
}

static void write_shares(struct sync *s, struct port *p)
{
	struct dr_path path;
	struct mad_request rq = { .attr = IB_ATTR_VLARB, .path = &path };

	if (shares_given_up(s, p))
		return;
	for (unsigned block = 1; block <= QOS_BLOCKS; block++) {
		if (!has_shares(p, block) || !block_differs(s, p, block))
			continue;
		rq.payload = wanted_shares(s, p, block);
		rq.mod = block << 16 | (node_is_switch(p->node) ? p->num : 0);
		if (fabric_port_path(s->fabric, p, &path) < 0 || !sync_send(s, p, &rq, on_shares, p))
			return;
		cell_table_grow(&p->vlarb, QOS_BLOCKS);
		p->vlarb->unproven = true;
	}
}

/* ---- the stage -------------------------------------------------------------------------------- */

static bool is_touched(const struct sync *s, const struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (p->sl2vl || p->vlarb || is_open(s, p))
			return true;
	}
	return false;
}

/* Lanes without which routes are not what they were proved to be. */
static void note_unmapped(struct sync *s, struct node *n)
{
	if (!s->plan.qos->lanes || maps_sls(&n->ports[0]) || s->plan.qos->lanes->n_vls < 2 || !n->ports[0].known)
		return;
	s->outcome.unmapped++;
	s->outcome.unmapped_example = n;
}

static bool feed(struct sync *s)
{
	struct node *n;

	if (s->node >= s->fabric->n_nodes)
		return false;
	n = s->fabric->nodes[s->node++];
	n->lanes_left = n->lanes_left && !s->plan.qos->wanted;
	if (sync_leaves_out(s, n) || !is_touched(s, n))
		return true;
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		if (!has_tables(p))
			continue;
		write_shares(s, p);
		if (!node_is_switch(n))
			write_end(s, p);
	}
	if (node_is_switch(n)) {
		note_unmapped(s, n);
		write_switch(s, n);
	}
	return true;
}

bool slvl_feed(struct sync *s)
{
	return s->plan.qos && s->plan.qos->wanted && feed(s);
}

bool slvl_feed_leftovers(struct sync *s)
{
	return s->plan.qos && !s->plan.qos->wanted && feed(s);
}

/* ---- what ARM wants to know ------------------------------------------------------------------- */

static bool shares_are_settled(const struct sync *s, const struct port *p)
{
	for (unsigned block = 1; block <= QOS_BLOCKS; block++) {
		if (has_shares(p, block) && block_differs(s, p, block))
			return shares_given_up(s, p);
	}
	return true;
}

static bool row_is_settled(const struct sync *s, const struct crossbar *x, unsigned i, unsigned o)
{
	return !row_is_open(s, x, i, o) || rows_given_up(s, x, o);
}

/* What leaves by the port, and what comes in by it. */
static bool rows_are_settled(const struct sync *s, const struct port *p)
{
	struct crossbar x;
	unsigned in, out;

	if (!look_at(s, p->node, &x))
		return true;
	in = place_of(x.in, x.n_in, p->num);
	out = place_of(x.out, x.n_out, p->num);
	for (unsigned i = 0; i < x.n_in && out < x.n_out; i++) {
		if (!row_is_settled(s, &x, i, out))
			return false;
	}
	for (unsigned o = 0; o < x.n_out && in < x.n_in; o++) {
		if (!row_is_settled(s, &x, in, o))
			return false;
	}
	return true;
}

bool slvl_is_settled(const struct sync *s, const struct port *p)
{
	uint8_t want[SMP_DATA_SIZE];

	if (!s->plan.qos || !s->plan.qos->wanted || !has_tables(p))
		return true;
	if (!shares_are_settled(s, p))
		return false;
	if (node_is_switch(p->node))
		return rows_are_settled(s, p);
	return !maps_sls(p) || !row_differs(s, p, want) || is_given_up(p->sl2vl, want);
}

int slvl_high_limit(const struct sync *s, const struct port *p)
{
	return s->plan.qos ? qos_high_limit(s->plan.qos, kind_of(p), ib_get(p->info, PI_VL_CAP)) : -1;
}

uint8_t slvl_sm_sl(const struct sync *s, const struct port *p)
{
	uint8_t wish = s->plan.conf->sm_sl;

	if (!s->plan.qos || !s->plan.qos->lanes || !port_is_end(p))
		return wish;
	return lanes_sl(s->plan.qos->lanes, slvl_switch_of(s, p), s->sm_switch, s->plan.sm_lid, wish);
}
