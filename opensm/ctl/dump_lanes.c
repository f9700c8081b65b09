// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm-sl2vl.dump (files.md 4): which VL every SL takes at every port, as planned. In a large fabric millions
 * of rows of which some hundred are distinct, so a row is put into words once.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/dump_files.h"
#include "util/mem.h"

#define ROW_STRLEN (QOS_SLS * 3 + 1)

struct rows {
	const struct dump_view *v;
	char (*texts)[ROW_STRLEN]; /* by [kind][pair][code]; "" not made yet */
};

static const char *row_text(const struct rows *r, enum qos_kind kind, unsigned pair, unsigned vls)
{
	const struct qos_plan *plan = &r->v->qos;
	char *text = r->texts[((size_t)kind * qos_n_pairs(plan) + pair) * QOS_CODES + vls];
	uint8_t row[SMP_DATA_SIZE];

	if (*text)
		return text;
	qos_sl2vl(plan, kind, pair, vls, row);
	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		unsigned vl = (unsigned)ib_bits_get(row, sl * 4, 4);
		char *at = text + sl * 3;

		at[0] = ' ';
		at[1] = vl < 10 ? (char)('0' + vl) : '1';
		at[2] = vl < 10 ? ' ' : (char)('0' + vl - 10);
	}
	return text;
}

/* Code of the VLs that a port uses, as plan/link.h has it. */
static unsigned vls_of(const struct dump_view *v, const struct dump_port *p)
{
	unsigned vls = p->vl_cap;

	if (p->peer != DUMP_NONE)
		vls = MIN(vls, (unsigned)v->ports[p->peer].vl_cap);
	if (v->max_op_vls)
		vls = MIN(vls, (unsigned)v->max_op_vls);
	return MIN(MAX(vls, 1u), QOS_CODES - 1u);
}

static void put_port(struct dump_out *o, unsigned port)
{
	out_dec(o, port, 1);
	if (port < 10)
		out_lit(o, " ");
	if (port < 100)
		out_lit(o, " ");
	out_lit(o, " ");
}

static void put_row(struct dump_out *o, unsigned in, unsigned out, const char *text)
{
	put_port(o, in);
	put_port(o, out);
	out_lit(o, ":");
	out_bytes(o, text, ROW_STRLEN - 1);
	out_lit(o, "\n");
}

static void switch_rows(const struct rows *r, struct dump_out *o, const struct dump_node *n)
{
	const struct qos_plan *plan = &r->v->qos;
	uint32_t sw = plan->lanes ? topo_find_switch(plan->topo, n->guid) : 0;

	if (sw == TOPO_NONE || (plan->lanes && plan->topo->switches[sw].n_ports != n->n_ports))
		return;
	for (unsigned out = n->is_enhanced ? 0 : 1; out <= n->n_ports; out++) {
		const struct dump_port *p = &r->v->ports[n->first_port + out];

		if (out && p->peer == DUMP_NONE)
			continue;
		for (unsigned in = 0; in <= n->n_ports; in++)
			put_row(o, in, out,
				row_text(r, out ? QOS_SWITCH : QOS_SWITCH0, qos_pair(plan, sw, in, out),
					 vls_of(r->v, p)));
	}
}

static const char *type_name(uint8_t type)
{
	switch ((enum ib_node_type)type) {
	case IB_NODE_CA:
		return "Channel Adapter";
	case IB_NODE_SWITCH:
		return "Switch";
	case IB_NODE_ROUTER:
		return "Router";
	}
	return "";
}

static void port_block(const struct rows *r, struct dump_out *o, const struct dump_port *p)
{
	const struct dump_node *n = &r->v->nodes[p->node];

	out_text(o, type_name(n->type));
	out_lit(o, " 0x");
	out_hex(o, p->guid, 16);
	out_lit(o, ", base LID ");
	out_dec(o, p->lid, 1);
	out_lit(o, ", \"");
	out_text(o, dump_node_name(n));
	out_lit(o, "\"\n#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
		   "#--------------------------------------------------------\n");
	if (n->type == IB_NODE_SWITCH)
		switch_rows(r, o, n);
	else
		put_row(o, 0, 0,
			row_text(r, n->type == IB_NODE_ROUTER ? QOS_ROUTER : QOS_CA, 0, vls_of(r->v, p)));
	out_lit(o, "#--------------------------------------------------------\n\n");
}

static int by_rank(const void *a, const void *b, void *arg)
{
	const struct dump_port *ports = arg;
	guid_t ra = dump_rank(ports[*(const uint32_t *)a].guid), rb = dump_rank(ports[*(const uint32_t *)b].guid);

	return (ra > rb) - (ra < rb);
}

static bool is_end(const struct dump_view *v, const struct dump_port *p)
{
	if (v->nodes[p->node].type == IB_NODE_SWITCH)
		return p->num == 0;
	return p->num && p->known && p->guid;
}

void dump_sl2vl(const struct dump_source *s, struct dump_out *o)
{
	const struct dump_view *v = s->view;
	_cleanup_free_ uint32_t *ends = xcalloc(v->n_ports + 1u, sizeof(*ends));
	struct rows r = { .v = v };
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_ports; i++) {
		if (is_end(v, &v->ports[i]))
			ends[n++] = i;
	}
	qsort_r(ends, n, sizeof(*ends), by_rank, v->ports);
	r.texts = xcalloc((size_t)QOS_KINDS * qos_n_pairs(&v->qos) * QOS_CODES, sizeof(*r.texts));
	for (uint32_t i = 0; i < n; i++)
		port_block(&r, o, &v->ports[ends[i]]);
	free(r.texts);
}
