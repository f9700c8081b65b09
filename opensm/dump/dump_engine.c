// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric as engines see it, beside their tables (files.md 5): the roots of updn, the
 * order of hosts of ftree, the places of torus-2QoS. Each is found again from the fabric and the
 * options, as the engine finds it.
 */
#include "dump/dump_internal.h"

#include <inttypes.h>

#include "dump/tree_order.h"
#include "plan/route_lists.h"
#include "route/grid/torus.h"
#include "util/mem.h"

static struct route_options options_of(const struct view *v)
{
	return route_lists_options(v->conf, v->files);
}

static const char *name_of(const struct dump_source *s, guid_t node)
{
	const struct view_node *n = view_find_node(s->view, node);

	return n ? view_node_name(s->view, n) : "";
}

void dump_updn_roots(const struct dump_source *s, struct dump_out *o)
{
	const struct topo *t = s->view->routes->topo;
	struct route_options options = options_of(s->view);
	_cleanup_free_ uint32_t *roots = NULL;
	uint32_t n = updn_roots(t, &options, &roots);

	for (uint32_t i = 0; i < n; i++)
		out_printf(o, "0x%" PRIx64 "\n", t->switches[roots[i]].guid);
}

void dump_ftree_order(const struct dump_source *s, struct dump_out *o)
{
	const struct topo *t = s->view->routes->topo;
	struct route_options options = options_of(s->view);
	uint32_t n;
	_cleanup_free_ uint32_t *order = ftree_ca_order(t, &options, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (order[i] == TOPO_NONE)
			out_lit(o, "0xFFFF\tDUMMY\n");
		else
			out_printf(o, "0x%04x\t%s\n", t->hosts[order[i]].lid,
				   name_of(s, t->hosts[order[i]].node_guid));
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

		out_printf(o, "switch %u,%u,%u GUID 0x%04" PRIx64 " (%s)\n", (unsigned)places[i].x,
			   (unsigned)places[i].y, (unsigned)places[i].z, guid, name_of(s, guid));
	}
}
