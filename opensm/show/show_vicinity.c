// SPDX-License-Identifier: BSD-2-Clause
/*
 * Topology of one port: its node, the nodes its cables lead to, and those that share a name with
 * one of these. It is what a reader needs to speak of the port as it would with the whole document:
 * adapters of one host are numbered, switches of one name are told apart. Switches have their rank,
 * which follows from all cables: 0 a host is cabled to it, 1 its neighbours ...
 */
#include <limits.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- the port -------------------------------------------------------------------------------- */

/* "946dae03005985c8_1", "0x946dae03005985c8" */
static bool read_name(struct show_vicinity *v, const char *name)
{
	const char *digits = str_starts(name, "0x") || str_starts(name, "0X") ? name + 2 : name;
	size_t len = strcspn(digits, "_");
	_cleanup_free_ char *guid = xasprintf("%.*s", (int)MIN(len, (size_t)32), digits);
	uint64_t num = 0;

	if (str_to_u64(guid, 16, UINT64_MAX, &v->guid) < 0 || !v->guid)
		return false;
	if (digits[len] && (str_to_u64(digits + len + 1, 10, UINT8_MAX, &num) < 0 || !num))
		return false;
	v->num = (unsigned)num;
	return true;
}

/* A switch has its GUID for all its ports, other nodes have one for each. */
bool show_vicinity_has(const struct show_vicinity *v, const struct view_node *n, unsigned num)
{
	guid_t guid = n->type == IB_NODE_SWITCH ? n->guid : show_port(v->s, n, num)->guid;

	return guid == v->guid && (!v->num || num == v->num);
}

static void find_node(struct show_vicinity *v)
{
	const struct view *view = v->s->view;

	for (uint32_t i = 0; i < view->n_nodes && !v->node; i++) {
		for (unsigned num = 1; num <= view->nodes[i].n_ports && !v->node; num++) {
			if (show_vicinity_has(v, &view->nodes[i], num))
				v->node = &view->nodes[i];
		}
	}
}

static void find_near(const struct show_vicinity *v, bool *near)
{
	const struct view *view = v->s->view;

	near[v->node - view->nodes] = true;
	for (unsigned num = 1; num <= v->node->n_ports; num++) {
		const struct view_port *p = show_port(v->s, v->node, num);

		if (show_vicinity_has(v, v->node, num) && p->peer != VIEW_NONE)
			near[view->ports[p->peer].node] = true;
	}
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Bytes of the name that the system has: of hosts the first word. */
static size_t name_len(const struct view_node *n, const char *name)
{
	return n->type == IB_NODE_SWITCH ? strlen(name) : strcspn(name, " ");
}

static bool share_name(const struct show *s, const struct view_node *a, const struct view_node *b)
{
	const char *x = show_name(s, a), *y = show_name(s, b);
	size_t len = name_len(a, x);

	if (view_switch_around(s->view, a) || view_switch_around(s->view, b))
		return false; /* all aggregation nodes have the same description */
	return a->type == b->type && len && len == name_len(b, y) && !memcmp(x, y, len);
}

static bool is_near(const struct show_vicinity *v, const bool *near, const struct view_node *n)
{
	const struct view *view = v->s->view;

	if (near[n - view->nodes])
		return true;
	for (uint32_t i = 0; i < view->n_nodes; i++) {
		if (near[i] && share_name(v->s, &view->nodes[i], n))
			return true;
	}
	return false;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void meet_peers(struct show_vicinity *v, uint32_t node, unsigned rank, uint32_t *queue,
		       uint32_t *len)
{
	const struct view *view = v->s->view;
	const struct view_node *n = &view->nodes[node];

	for (unsigned num = 1; num <= n->n_ports; num++) {
		uint32_t peer = show_port(v->s, n, num)->peer, at;

		if (peer == VIEW_NONE)
			continue;
		at = view->ports[peer].node;
		if (view->nodes[at].type != IB_NODE_SWITCH || v->rank[at] != UINT_MAX)
			continue;
		v->rank[at] = rank;
		queue[(*len)++] = at;
	}
}

/* Breadth first from the switches that hosts are cabled to. */
static void find_ranks(struct show_vicinity *v)
{
	const struct view *view = v->s->view;
	_cleanup_free_ uint32_t *queue = xcalloc(view->n_nodes + 1, sizeof(*queue));
	uint32_t len = 0;

	memset(v->rank, 0xff, view->n_nodes * sizeof(*v->rank));
	for (uint32_t i = 0; i < view->n_nodes; i++) {
		if (view->nodes[i].type == IB_NODE_CA && !view_switch_around(view, &view->nodes[i]))
			meet_peers(v, i, 0, queue, &len);
	}
	for (uint32_t i = 0; i < len; i++)
		meet_peers(v, queue[i], v->rank[queue[i]] + 1, queue, &len);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Adds nodes that share a name with a near one. */
static void find_namesakes(struct show_vicinity *v, const bool *near)
{
	const struct view *view = v->s->view;

	for (uint32_t i = 0; i < view->n_nodes; i++)
		v->shown[i] = is_near(v, near, &view->nodes[i]);
}

struct show_vicinity *show_vicinity_new(const struct show *s, const char *name)
{
	_cleanup_free_ bool *near = xcalloc(s->view->n_nodes + 1, sizeof(*near));
	struct show_vicinity *v = xcalloc(1, sizeof(*v));

	v->s = s;
	v->shown = xcalloc(s->view->n_nodes + 1, sizeof(*v->shown));
	v->rank = xcalloc(s->view->n_nodes + 1, sizeof(*v->rank));
	if (read_name(v, name))
		find_node(v);
	if (!v->node)
		return v;
	find_near(v, near);
	find_namesakes(v, near);
	find_ranks(v);
	return v;
}

struct show_vicinity *show_vicinity_free(struct show_vicinity *v)
{
	if (!v)
		return NULL;
	free(v->shown);
	free(v->rank);
	free(v);
	return NULL;
}
