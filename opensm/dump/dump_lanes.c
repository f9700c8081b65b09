// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm-sl2vl.dump (files.md 4): which VL every SL takes at every port, as planned. In a large
 * fabric millions of rows of which some hundred are distinct, so a row is put into words once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump/dump_internal.h"
#include "plan/link.h"
#include "util/mem.h"

#define ROW_STRLEN (QOS_SLS * 3 + 1)

struct rows {
	const struct view *v;
	char (*texts)[ROW_STRLEN]; /* text by [kind][pair][code]; "": not made yet */
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
static unsigned vls_of(const struct view *v, const struct view_port *p)
{
	const struct view_port *peer = p->peer == VIEW_NONE ? NULL : &v->ports[p->peer];

	return MIN(link_oper_vls(v->conf, p->info, peer ? peer->info : NULL), QOS_CODES - 1u);
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

static void switch_rows(const struct rows *r, struct dump_out *o, const struct view_node *n)
{
	const struct qos_plan *plan = &r->v->qos;
	uint32_t sw = plan->lanes ? n->topo_sw : 0;

	if (sw == TOPO_NONE || (plan->lanes && plan->topo->switches[sw].n_ports != n->n_ports))
		return;
	for (unsigned out = view_is_enhanced0(n) ? 0 : 1; out <= n->n_ports; out++) {
		const struct view_port *p = &r->v->ports[n->first_port + out];

		if (out && p->peer == VIEW_NONE)
			continue;
		for (unsigned in = 0; in <= n->n_ports; in++)
			put_row(o, in, out,
				row_text(r, out ? QOS_SWITCH : QOS_SWITCH0,
					 qos_pair(plan, sw, in, out), vls_of(r->v, p)));
	}
}

static void port_block(const struct rows *r, struct dump_out *o, const struct view_port *p)
{
	const struct view_node *n = &r->v->nodes[p->node];

	out_printf(o,
		   "%s 0x%016" PRIx64 ", base LID %u, \"%s\"\n"
		   "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
		   "#--------------------------------------------------------\n",
		   ib_node_type_name(n->type), view_guid_of(r->v, p), p->lid,
		   view_node_name(r->v, n));
	if (n->type == IB_NODE_SWITCH)
		switch_rows(r, o, n);
	else
		put_row(o, 0, 0,
			row_text(r, n->type == IB_NODE_ROUTER ? QOS_ROUTER : QOS_CA, 0,
				 vls_of(r->v, p)));
	out_lit(o, "#--------------------------------------------------------\n\n");
}

static int by_port_guid(const void *a, const void *b, void *arg)
{
	const struct view *v = arg;

	return dump_compare(view_guid_of(v, &v->ports[*(const uint32_t *)a]),
			    view_guid_of(v, &v->ports[*(const uint32_t *)b]));
}

/* Ports with a block: port 0 of switches, and end ports that answered. */
static bool has_block(const struct view *v, const struct view_port *p)
{
	return view_is_switch(v, p) ? p->num == 0 : p->known && p->guid;
}

void dump_sl2vl(const struct dump_source *s, struct dump_out *o)
{
	const struct view *v = s->view;
	_cleanup_free_ uint32_t *ends = xcalloc(v->n_ports + 1u, sizeof(*ends));
	struct rows r = { .v = v };
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_ports; i++) {
		if (has_block(v, &v->ports[i]))
			ends[n++] = i;
	}
	qsort_r(ends, n, sizeof(*ends), by_port_guid, (void *)v);
	r.texts = xcalloc((size_t)QOS_KINDS * qos_n_pairs(&v->qos) * QOS_CODES, sizeof(*r.texts));
	for (uint32_t i = 0; i < n; i++)
		port_block(&r, o, &v->ports[ends[i]]);
	free(r.texts);
}

static void dump_sl(const struct routes *r, uint32_t from, const struct topo_host *to,
		    struct dump_out *o)
{
	TOPO_EACH_LID(to, lid) {
		if (to->sw == TOPO_NONE)
			return;
		out_lit(o, "0x");
		out_hex(o, r->topo->switches[from].guid, 16);
		out_lit(o, " ");
		out_dec(o, lid, 1);
		out_lit(o, " ");
		out_dec(o, sl2vl_sl(r->lanes, from, to->sw, (lid_t)lid, 0), 1);
		out_lit(o, "\n");
	}
}

/*
 * opensm-sl.dump: the service level of paths, where routes decide it: source switch, LID, SL, as
 * --verify reads them. By switch, because a line for each pair of end ports would be millions.
 */
void dump_sls(const struct dump_source *s, struct dump_out *o)
{
	const struct routes *r = s->view->routes;
	const struct topo *t = r ? r->topo : NULL;

	for (uint32_t from = 0; t && r->lanes && from < t->n_switches; from++) {
		for (uint32_t h = 0; h < t->n_hosts; h++)
			dump_sl(r, from, &t->hosts[h], o);
		for (uint32_t i = 0; i < t->n_asides; i++)
			dump_sl(r, from, &t->asides[i], o);
	}
}
