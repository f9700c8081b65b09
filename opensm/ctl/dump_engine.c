// SPDX-License-Identifier: BSD-2-Clause
/*
 * What engines have to say of the fabric beside their tables (files.md 5): the roots of updn, the order of
 * hosts of ftree, the places of torus-2QoS. Each is found again from the fabric and the options, as the
 * engine finds it.
 */
#include "ctl/dump_files.h"
#include "plan/route_lists.h"
#include "route/ftree.h"
#include "route/torus.h"
#include "route/updn.h"
#include "util/mem.h"

static struct route_options options_of(const struct dump_view *v)
{
	return route_lists_options(v->conf, v->files);
}

static const char *name_of(const struct dump_source *s, guid_t node)
{
	const struct dump_node *n = dump_view_find(s->view, s->order, node);

	return n ? dump_node_name(n) : "";
}

void dump_updn_roots(const struct dump_source *s, struct dump_out *o)
{
	const struct topo *t = s->view->routes->topo;
	struct route_options options = options_of(s->view);
	_cleanup_free_ uint32_t *roots = NULL;
	uint32_t n = updn_roots(t, &options, &roots);

	for (uint32_t i = 0; i < n; i++) {
		out_lit(o, "0x");
		out_hex(o, t->switches[roots[i]].guid, 1);
		out_lit(o, "\n");
	}
}

void dump_ftree_order(const struct dump_source *s, struct dump_out *o)
{
	const struct topo *t = s->view->routes->topo;
	struct route_options options = options_of(s->view);
	uint32_t n;
	_cleanup_free_ uint32_t *order = ftree_ca_order(t, &options, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (order[i] == TOPO_NONE) {
			out_lit(o, "0xFFFF\tDUMMY\n");
			continue;
		}
		out_lit(o, "0x");
		out_hex(o, t->hosts[order[i]].lid, 4);
		out_lit(o, "\t");
		out_text(o, name_of(s, t->hosts[order[i]].node_guid));
		out_lit(o, "\n");
	}
}

void dump_torus(const struct dump_source *s, struct dump_out *o)
{
	const struct topo *t = s->view->routes->topo;
	struct route_options options = options_of(s->view);
	_cleanup_free_ struct torus_place *places = NULL;
	uint32_t n = torus_places(t, &options, &places);

	for (uint32_t i = 0; i < n; i++) {
		guid_t guid = t->switches[places[i].sw].guid;

		out_lit(o, "switch ");
		out_dec(o, places[i].x, 1);
		out_lit(o, ",");
		out_dec(o, places[i].y, 1);
		out_lit(o, ",");
		out_dec(o, places[i].z, 1);
		out_lit(o, " GUID 0x");
		out_hex(o, guid, 4);
		out_lit(o, " (");
		out_text(o, name_of(s, guid));
		out_lit(o, ")\n");
	}
}
