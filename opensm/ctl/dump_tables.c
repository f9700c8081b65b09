// SPDX-License-Identifier: BSD-2-Clause
/*
 * Forwarding tables as text: opensm-lfts.dump, opensm-lid-matrix.dump and opensm.fdbs (files.md 4).
 * What the tables mean is worked out in dump_paths.c.
 */
#include "ctl/dump_files.h"

#include <inttypes.h>

#include "ctl/dump_paths.h"
#include "util/mem.h"

static const struct topo_switch *switch_at(const struct dump_paths *p, uint32_t i)
{
	return &p->topo->switches[p->order[i]];
}

/* ---- opensm-lfts.dump ---------------------------------------------------------------------- */

/* What stands behind '#': the same in all tables, so it is made once. The caller frees. */
static char *owner(const struct dump_paths *p, const struct dump_lid *l)
{
	const struct topo *t = p->topo;
	const char *type = "Channel Adapter";

	if (!l->owned)
		return xstrdup("unknown node and type");
	if (l->host == TOPO_NONE)
		type = "Switch";
	else if (t->hosts[l->host].router)
		type = "Router";
	return xasprintf("%s portguid 0x%016" PRIx64 ": '%s'", type,
			 l->host == TOPO_NONE ? t->switches[l->sw].guid : t->hosts[l->host].guid,
			 l->node ? dump_node_name(l->node) : "");
}

static char **owners_new(const struct dump_paths *p)
{
	char **owners = xcalloc(p->routes->top + 1u, sizeof(*owners));

	for (unsigned lid = 0; lid <= p->routes->top; lid++)
		owners[lid] = owner(p, &p->lids[lid]);
	return owners;
}

static void owners_free(const struct dump_paths *p, char **owners)
{
	for (unsigned lid = 0; lid <= p->routes->top; lid++)
		free(owners[lid]);
	free(owners);
}

static void lft(const struct dump_source *s, struct dump_out *o, uint32_t i, char *const *owners)
{
	const struct dump_paths *p = s->paths;
	const struct topo_switch *sw = switch_at(p, i);
	const uint8_t *row = routes_row(p->routes, p->order[i]);
	const struct dump_node *n = dump_view_find(s->view, s->order, sw->guid);

	out_lit(o, "Unicast lids [0-");
	out_dec(o, p->routes->top, 1);
	out_lit(o, "] of switch Lid ");
	out_dec(o, sw->lid, 1);
	out_lit(o, " guid 0x");
	out_hex(o, sw->guid, 16);
	out_lit(o, " ('");
	out_text(o, n ? dump_node_name(n) : "");
	out_lit(o, "'):\n");
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
	out_dec(o, p->routes->top, 1);
	out_lit(o, " lids dumped\n");
}

void dump_lfts(const struct dump_source *s, struct dump_out *o)
{
	char **owners;

	if (!s->paths)
		return;
	owners = owners_new(s->paths);
	for (uint32_t i = 0; i < s->paths->topo->n_switches; i++)
		lft(s, o, i, owners);
	owners_free(s->paths, owners);
}

/* ---- opensm-lid-matrix.dump ---------------------------------------------------------------- */

static void matrix_cell(struct dump_out *o, unsigned hops)
{
	static const char digits[] = "0123456789abcdef";
	const char text[3] = { ' ', digits[hops >> 4], digits[hops & 15] };

	out_bytes(o, text, sizeof(text));
}

static void matrix_row(const struct dump_paths *p, struct dump_out *o, uint32_t sw, uint32_t dst,
		       const struct dump_turn *turns)
{
	const struct topo_switch *to = &p->topo->switches[dst];
	const uint8_t *hops = dump_hops_to(p, dst);

	out_lit(o, "0x");
	out_hex(o, to->lid, 4);
	out_lit(o, ":");
	matrix_cell(o, hops[sw]);
	for (unsigned port = 1; port <= p->topo->switches[sw].n_ports; port++) {
		const struct dump_turn *t = &turns[port];

		if (t->to == TOPO_NONE || hops[t->to] == HOPS_NONE)
			matrix_cell(o, HOPS_NONE);
		else
			matrix_cell(o, MIN(hops[t->to] + t->cost, (int)HOPS_NONE - 1));
	}
	out_lit(o, " # portguid 0x");
	out_hex(o, to->guid, 16);
	out_lit(o, "\n");
}

void dump_matrix(const struct dump_source *s, struct dump_out *o)
{
	const struct dump_paths *p = s->paths;
	struct dump_turn turns[256];

	for (uint32_t i = 0; p && i < p->topo->n_switches; i++) {
		uint32_t sw = p->order[i];

		out_lit(o, "Switch: guid 0x");
		out_hex(o, switch_at(p, i)->guid, 16);
		out_lit(o, "\n");
		dump_turns(p, sw, turns);
		for (uint32_t k = 0; k < p->n_by_lid; k++)
			if (dump_hops_to(p, p->by_lid[k])[sw] != HOPS_NONE)
				matrix_row(p, o, sw, p->by_lid[k], turns);
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

static void fdb_detour(const struct dump_paths *p, struct dump_out *o, uint32_t sw, lid_t lid)
{
	unsigned least = dump_least_hops(p, sw, lid), real = dump_real_hops(p, sw, lid);

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
	out_dec(o, dump_best_port(p, sw, lid), 1);
	out_lit(o, "!\n");
}

static void fdb_line(const struct dump_paths *p, struct dump_out *o, uint32_t sw, lid_t lid)
{
	const struct dump_lid *l = &p->lids[lid];
	uint8_t port = routes_port(p->routes, sw, lid);
	unsigned hops;

	if (!l->owned || port == LFT_NO_PORT) {
		out_lit(o, "0x");
		out_hex_upper(o, lid, 4);
		out_lit(o, " : UNREACHABLE\n");
		return;
	}
	hops = l->direct ? dump_least_hops(p, sw, lid) : HOPS_UNKNOWN;
	if (hops < 100)
		fdb_yes(o, lid, port, hops);
	else
		fdb_detour(p, o, sw, lid);
}

void dump_fdbs(const struct dump_source *s, struct dump_out *o)
{
	const struct dump_paths *p = s->paths;

	for (uint32_t i = 0; p && i < p->topo->n_switches; i++) {
		out_lit(o, "dump_ucast_routes: Switch 0x");
		out_hex(o, switch_at(p, i)->guid, 16);
		out_lit(o, "\nLID    : Port : Hops : Optimal\n");
		for (unsigned lid = 1; lid <= p->routes->top; lid++)
			fdb_line(p, o, p->order[i], lid);
	}
}
