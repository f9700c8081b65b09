// SPDX-License-Identifier: BSD-2-Clause
/* A search over known cables, level by level from our own port. */
#include "fabric/ways.h"

#include <assert.h>

struct fabric_ways {
	const struct node *own;
	/* by index of the node: the port by which the last switch before it leads there */
	const struct port **via;
	uint32_t n;
};

static bool is_up(const struct port *p)
{
	const struct port *peer = p->peer;

	return peer && !p->quarantined && !p->silent && !peer->silent && !p->fell && !peer->fell &&
	       (!p->known || port_state(p) > IB_PORT_DOWN) &&
	       (!peer->known || port_state(peer) > IB_PORT_DOWN);
}

bool fabric_path_holds(const struct fabric *f, const struct node *n)
{
	const struct node *at = f->own;

	for (unsigned i = 1; at && i <= n->path.length; i++) {
		unsigned hop = n->path.hop[i];

		if (hop > at->n_ports || !is_up(&at->ports[hop]))
			return false;
		at = at->ports[hop].peer->node;
	}
	return at == n;
}

/* Appends the nodes that are first reached from `n`. Only switches forward directed routes. */
static uint32_t reach(const struct fabric *f, struct fabric_ways *w, const struct node *n,
		      const struct node **queue)
{
	uint32_t found = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if ((!node_is_switch(n) && p != f->own_port) || !is_up(p) ||
		    p->peer->node == f->own || w->via[p->peer->node->index])
			continue;
		w->via[p->peer->node->index] = p;
		if (node_is_switch(p->peer->node))
			queue[found++] = p->peer->node;
	}
	return found;
}

struct fabric_ways *fabric_ways_new(const struct fabric *f)
{
	struct fabric_ways *w = xcalloc(1, sizeof(*w));
	_cleanup_free_ const struct node **queue = xcalloc(f->n_nodes + 1ul, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	w->own = f->own;
	w->n = f->n_nodes;
	w->via = xcalloc(f->n_nodes + 1ul, sizeof(*w->via));
	if (f->own)
		queue[tail++] = f->own;
	while (head < tail) {
		const struct node *n = queue[head++];

		tail += reach(f, w, n, &queue[tail]);
	}
	return w;
}

struct fabric_ways *fabric_ways_free(struct fabric_ways *w)
{
	if (!w)
		return NULL;
	free(w->via);
	free(w);
	return NULL;
}

bool fabric_way(const struct fabric_ways *w, const struct node *n, struct dr_path *ret)
{
	uint8_t hops[IB_MAX_HOPS];
	unsigned length = 0;

	assert(n->index < w->n);
	while (n != w->own) {
		const struct port *p = w->via[n->index];

		if (!p || length == IB_MAX_HOPS)
			return false;
		hops[length++] = p->num;
		n = p->node;
	}
	*ret = (struct dr_path){ 0 };
	while (length)
		dr_path_extend(ret, hops[--length], ret);
	return true;
}
