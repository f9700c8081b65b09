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

struct vicinity {
	const struct show *s;
	const struct view_node *node; /* NULL: there is no such port */
	guid_t guid;
	unsigned num; /* 0: all ports with the GUID */
	bool *near;   /* per node: it is the node, or at the end of its cables */
	unsigned *rank;
};

/* ---- the port -------------------------------------------------------------------------------- */

/* "946dae03005985c8_1", "0x946dae03005985c8" */
static bool read_name(struct vicinity *v, const char *name)
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
static bool is_wanted(const struct vicinity *v, const struct view_node *n, unsigned num)
{
	guid_t guid = n->type == IB_NODE_SWITCH ? n->guid : show_port(v->s, n, num)->guid;

	return guid == v->guid && (!v->num || num == v->num);
}

static void find_node(struct vicinity *v)
{
	const struct view *view = v->s->view;

	for (uint32_t i = 0; i < view->n_nodes && !v->node; i++) {
		for (unsigned num = 1; num <= view->nodes[i].n_ports && !v->node; num++) {
			if (is_wanted(v, &view->nodes[i], num))
				v->node = &view->nodes[i];
		}
	}
}

static void find_near(struct vicinity *v)
{
	const struct view *view = v->s->view;

	v->near[v->node - view->nodes] = true;
	for (unsigned num = 1; num <= v->node->n_ports; num++) {
		const struct view_port *p = show_port(v->s, v->node, num);

		if (is_wanted(v, v->node, num) && p->peer != VIEW_NONE)
			v->near[view->ports[p->peer].node] = true;
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

	return a->type == b->type && len && len == name_len(b, y) && !memcmp(x, y, len);
}

static bool is_near(const struct vicinity *v, const struct view_node *n)
{
	const struct view *view = v->s->view;

	if (v->near[n - view->nodes])
		return true;
	for (uint32_t i = 0; i < view->n_nodes; i++) {
		if (v->near[i] && share_name(v->s, &view->nodes[i], n))
			return true;
	}
	return false;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static void meet_peers(struct vicinity *v, uint32_t node, unsigned rank, uint32_t *queue,
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
static void find_ranks(struct vicinity *v)
{
	const struct view *view = v->s->view;
	_cleanup_free_ uint32_t *queue = xcalloc(view->n_nodes + 1, sizeof(*queue));
	uint32_t len = 0;

	memset(v->rank, 0xff, view->n_nodes * sizeof(*v->rank));
	for (uint32_t i = 0; i < view->n_nodes; i++) {
		if (view->nodes[i].type == IB_NODE_CA)
			meet_peers(v, i, 0, queue, &len);
	}
	for (uint32_t i = 0; i < len; i++)
		meet_peers(v, queue[i], v->rank[queue[i]] + 1, queue, &len);
}

/* ---- the document ---------------------------------------------------------------------------- */

static void put_near(struct json_object *nodes, const struct vicinity *v,
		     const struct view_node *n)
{
	struct json_object *o = json_append_object(nodes), *ports;
	unsigned rank = v->rank[n - v->s->view->nodes];

	show_put_topology_node(o, v->s, n);
	if (n->type == IB_NODE_SWITCH && rank != UINT_MAX)
		json_add_int(o, "rank", rank);
	ports = json_add_array(o, "ports");
	for (unsigned num = 1; n == v->node && num <= n->n_ports; num++) {
		if (is_wanted(v, n, num))
			show_put_port(json_append_object(ports), v->s, show_port(v->s, n, num));
	}
}

void show_put_vicinity(struct json_object *nodes, const struct show *s, const char *name)
{
	_cleanup_free_ bool *near = xcalloc(s->view->n_nodes + 1, sizeof(*near));
	_cleanup_free_ unsigned *rank = xcalloc(s->view->n_nodes + 1, sizeof(*rank));
	struct vicinity v = { .s = s, .near = near, .rank = rank };

	if (read_name(&v, name))
		find_node(&v);
	if (!v.node)
		return;
	find_near(&v);
	find_ranks(&v);
	for (uint32_t i = 0; i < s->view->n_nodes; i++) {
		if (is_near(&v, &s->view->nodes[i]))
			put_near(nodes, &v, &s->view->nodes[i]);
	}
}
