// SPDX-License-Identifier: BSD-2-Clause
/*
 * Forwarding tables as text: opensm-lfts.dump, opensm-lid-matrix.dump and opensm.fdbs (files.md 4).
 * Hops and shortest ports are worked out in view/lid_hops.c.
 */
#include "dump/dump_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/mem.h"
#include "view/lid_hops.h"

static const struct topo_switch *switch_at(const struct dump_source *s, uint32_t i)
{
	return &s->paths->topo->switches[s->switches[i]];
}

/* ---- opensm-lfts.dump ---------------------------------------------------------------------- */

/* The text behind '#': the same in all tables, so it is made once. The caller frees. */
static char *owner_text(const struct lid_hops *p, const struct lid_owner *l)
{
	const struct topo *t = p->topo;
	enum ib_node_type type = IB_NODE_CA;

	if (!l->owned)
		return xstrdup("unknown node and type");
	if (!l->end)
		type = IB_NODE_SWITCH;
	else if (l->end->router)
		type = IB_NODE_ROUTER;
	return xasprintf("%s portguid 0x%016" PRIx64 ": '%s'", ib_node_type_name(type),
			 l->end ? l->end->guid : t->switches[l->sw].guid,
			 l->node ? view_node_name(p->view, l->node) : "");
}

static char **owners_new(const struct lid_hops *p)
{
	char **owners = xcalloc(p->routes->top + 1u, sizeof(*owners));

	for (unsigned lid = 0; lid <= p->routes->top; lid++)
		owners[lid] = owner_text(p, &p->lids[lid]);
	return owners;
}

static void owners_free(const struct lid_hops *p, char **owners)
{
	for (unsigned lid = 0; lid <= p->routes->top; lid++)
		free(owners[lid]);
	free(owners);
}

static void write_lft(const struct dump_source *s, struct dump_out *o, uint32_t i,
		      char *const *owners)
{
	const struct lid_hops *p = s->paths;
	const struct topo_switch *sw = switch_at(s, i);
	const uint8_t *row = routes_row(p->routes, s->switches[i]);
	const struct view_node *n = view_find_node(s->view, sw->guid);

	out_printf(o, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n",
		   p->routes->top, sw->lid, sw->guid, n ? view_node_name(s->view, n) : "");
	for (unsigned lid = 0; lid <= p->routes->top; lid++) {
		if (row[lid] > sw->n_ports)
			continue;
		out_lit(o, "0x");
		out_hex(o, lid, 4);
		out_lit(o, " ");
		out_dec(o, row[lid], 3);
		out_lit(o, " # ");
		out_text(o, owners[lid]);
		out_lit(o, "\n");
	}
	out_printf(o, "%u lids dumped\n", p->routes->top);
}

void dump_lfts(const struct dump_source *s, struct dump_out *o)
{
	char **owners;

	if (!s->paths)
		return;
	owners = owners_new(s->paths);
	for (uint32_t i = 0; i < s->paths->topo->n_switches; i++)
		write_lft(s, o, i, owners);
	owners_free(s->paths, owners);
}

/* ---- opensm-lid-matrix.dump ---------------------------------------------------------------- */

static void matrix_cell(struct dump_out *o, unsigned hops)
{
	static const char digits[] = "0123456789abcdef";
	const char text[3] = { ' ', digits[hops >> 4], digits[hops & 15] };

	out_bytes(o, text, sizeof(text));
}

static void matrix_row(const struct lid_hops *p, struct dump_out *o, uint32_t sw, uint32_t dst,
		       const struct port_hops *ports_to)
{
	const struct topo_switch *to = &p->topo->switches[dst];
	const uint8_t *hops = lid_hops_to(p, dst);

	out_lit(o, "0x");
	out_hex(o, to->lid, 4);
	out_lit(o, ":");
	matrix_cell(o, hops[sw]);
	for (unsigned port = 1; port <= p->topo->switches[sw].n_ports; port++) {
		const struct port_hops *t = &ports_to[port];

		if (t->to == TOPO_NONE || hops[t->to] == HOPS_NONE)
			matrix_cell(o, HOPS_NONE);
		else
			matrix_cell(o, MIN(hops[t->to] + t->cost, (int)HOPS_NONE - 1));
	}
	out_lit(o, " # portguid 0x");
	out_hex(o, to->guid, 16);
	out_lit(o, "\n");
}

static int by_base_lid(const void *a, const void *b, void *arg)
{
	const struct topo *t = arg;

	return (int)t->switches[*(const uint32_t *)a].lid -
	       (int)t->switches[*(const uint32_t *)b].lid;
}

/* Switches with a LID, ascending; the caller frees. */
static uint32_t *sort_by_lid(const struct topo *t, uint32_t *ret_n)
{
	uint32_t *ret = xcalloc(MAX(t->n_switches, 1u), sizeof(*ret));

	*ret_n = 0;
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (t->switches[s].lid)
			ret[(*ret_n)++] = s;
	qsort_r(ret, *ret_n, sizeof(*ret), by_base_lid, (void *)t);
	return ret;
}

void dump_matrix(const struct dump_source *s, struct dump_out *o)
{
	const struct lid_hops *p = s->paths;
	uint32_t n = 0;
	_cleanup_free_ uint32_t *by_lid = p ? sort_by_lid(p->topo, &n) : NULL;
	struct port_hops ports_to[256];

	for (uint32_t i = 0; p && i < p->topo->n_switches; i++) {
		uint32_t sw = s->switches[i];

		out_printf(o, "Switch: guid 0x%016" PRIx64 "\n", switch_at(s, i)->guid);
		lid_hops_by_port(p, sw, ports_to);
		for (uint32_t k = 0; k < n; k++)
			if (lid_hops_to(p, by_lid[k])[sw] != HOPS_NONE)
				matrix_row(p, o, sw, by_lid[k], ports_to);
	}
}

/* ---- opensm.fdbs --------------------------------------------------------------------------- */

/* "0x0001 : 001  : 01   : yes": tens of millions of these. */
static void fdb_yes(struct dump_out *o, unsigned lid, unsigned port, unsigned hops)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char form[] = "0x     :      :      : yes\n";
	char *text = out_room(o, sizeof(form));

	memcpy(text, form, sizeof(form) - 1);
	for (unsigned i = 0; i < 4; i++)
		text[2 + i] = digits[lid >> (12 - 4 * i) & 15];
	text[9] = '0' + port / 100;
	text[10] = '0' + port / 10 % 10;
	text[11] = '0' + port % 10;
	text[16] = '0' + hops / 10;
	text[17] = '0' + hops % 10;
	o->len += sizeof(form) - 1;
}

static void fdb_detour(const struct lid_hops *p, struct dump_out *o, uint32_t sw, lid_t lid)
{
	unsigned least = lid_hops_least(p, sw, lid), real = lid_hops_real(p, sw, lid);

	out_lit(o, "0x");
	out_hex_upper(o, lid, 4);
	out_lit(o, " : ");
	out_dec(o, routes_port(p->routes, sw, lid), 3);
	if (real == HOPS_UNKNOWN) {
		out_lit(o, "  : HOPS UNKNOWN\n");
		return;
	}
	out_lit(o, "  : ");
	out_dec(o, real, 2);
	if (real <= least) {
		out_lit(o, "   : yes\n");
		return;
	}
	out_lit(o, "   : No ");
	out_dec(o, least, 1);
	out_lit(o, " hop path possible via port ");
	out_dec(o, lid_hops_best_port(p, sw, lid), 1);
	out_lit(o, "!\n");
}

static void fdb_line(const struct lid_hops *p, struct dump_out *o, uint32_t sw, lid_t lid)
{
	const struct lid_owner *l = &p->lids[lid];
	uint8_t port = routes_port(p->routes, sw, lid);
	unsigned hops;

	if (!l->owned || port == LFT_NO_PORT) {
		out_lit(o, "0x");
		out_hex_upper(o, lid, 4);
		out_lit(o, " : UNREACHABLE\n");
		return;
	}
	hops = l->direct ? lid_hops_least(p, sw, lid) : HOPS_UNKNOWN;
	if (hops < 100)
		fdb_yes(o, lid, port, hops);
	else
		fdb_detour(p, o, sw, lid);
}

void dump_fdbs(const struct dump_source *s, struct dump_out *o)
{
	const struct lid_hops *p = s->paths;

	for (uint32_t i = 0; p && i < p->topo->n_switches; i++) {
		out_printf(o,
			   "dump_ucast_routes: Switch 0x%016" PRIx64
			   "\nLID    : Port : Hops : Optimal\n",
			   switch_at(s, i)->guid);
		for (unsigned lid = 1; lid <= p->routes->top; lid++)
			fdb_line(p, o, s->switches[i], lid);
	}
}
