// SPDX-License-Identifier: BSD-2-Clause
/*
 * What fabrics in use have and drawn ones do not (man/reference/real-fabrics.md): a row an oddity,
 * each drawn from the seed alone.
 */
#include "sim/gen/gen.h"

#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"
#include "util/mem.h"

#define PORTS_MOST 254
#define AGGREGATION_VENDOR 0x2C9
#define AGGREGATION_DEVICE 0xCF09
#define WIDTH_SLOW 1

struct wear {
	struct netfile *net;
	uint64_t dice;
	size_t n; /* nodes that there were */
};

/* The next random number (xorshift): a seed gives the same numbers on every machine. */
static uint64_t roll(struct wear *w)
{
	w->dice ^= w->dice << 13;
	w->dice ^= w->dice >> 7;
	w->dice ^= w->dice << 17;
	return w->dice >> 11;
}

static bool is_switch(const struct wear *w, size_t node)
{
	return w->net->nodes[node].type == IB_NODE_SWITCH;
}

static unsigned count_peers(const struct wear *w, size_t node, bool switches)
{
	const struct netfile_node *n = &w->net->nodes[node];
	unsigned ret = 0;

	for (unsigned p = 1; p <= n->nports; p++)
		ret += n->ports[p].peer_node >= 0 &&
		       is_switch(w, (size_t)n->ports[p].peer_node) == switches;
	return ret;
}

/* A node for which `fits` holds; -1: none was met. */
static int any_node(struct wear *w, bool (*fits)(const struct wear *w, size_t node))
{
	size_t from = w->n ? roll(w) % w->n : 0;

	for (size_t i = 0; i < w->n; i++)
		if (fits(w, (from + i) % w->n))
			return (int)((from + i) % w->n);
	return -1;
}

/* A switch without hosts; one of a fabric without such will do. */
static bool is_spine(const struct wear *w, size_t node)
{
	return is_switch(w, node) && !count_peers(w, node, false) && count_peers(w, node, true) > 1;
}

static bool is_joined(const struct wear *w, size_t node)
{
	return is_switch(w, node) && count_peers(w, node, true) > 1;
}

static int any_spine(struct wear *w)
{
	int ret = any_node(w, is_spine);

	return ret < 0 ? any_node(w, is_joined) : ret;
}

/* Adds a port without a cable. Returns its number; 0: the node has PORTS_MOST ports already. */
static uint8_t add_port(struct wear *w, int node)
{
	struct netfile_node *n = &w->net->nodes[node];

	if (n->nports >= PORTS_MOST)
		return 0;
	n->nports++;
	n->ports = xrealloc(n->ports, n->nports + 1u, sizeof(*n->ports));
	n->ports[n->nports] = (struct netfile_port){ .peer_node = -1 };
	return n->nports;
}

static void join(struct wear *w, int a, int b)
{
	uint8_t at = add_port(w, a), to = at ? add_port(w, b) : 0;

	if (to)
		netfile_link(w->net, a, at, b, to);
}

static int add_host(struct wear *w, const char *id, int sw)
{
	uint8_t port = add_port(w, sw);
	int host = port ? netfile_add(w->net, IB_NODE_CA, id, 1, 0) : -1;

	if (host >= 0)
		netfile_link(w->net, host, 1, sw, port);
	return host;
}

/* ---- oddities ------------------------------------------------------------------------------- */

/* A leaf for management, with one host, by two cables on one spine. */
static void stub(struct wear *w)
{
	int spine = any_spine(w), leaf;

	if (spine < 0)
		return;
	leaf = netfile_add(w->net, IB_NODE_SWITCH, "stub", 1, 0);
	add_host(w, "stub-h0", leaf);
	join(w, leaf, spine);
	join(w, leaf, spine);
}

static void gateway(struct wear *w)
{
	int spine = any_spine(w);

	if (spine >= 0)
		add_host(w, "gateway", spine);
}

/* Of a switch that keeps another cable to a switch, at both ends. */
static struct netfile_port *any_cable(struct wear *w)
{
	int node = any_node(w, is_joined);
	struct netfile_node *n = node < 0 ? NULL : &w->net->nodes[node];
	unsigned from = n ? (unsigned)(roll(w) % n->nports) : 0;

	for (unsigned i = 0; n && i < n->nports; i++) {
		struct netfile_port *p = &n->ports[1 + (from + i) % n->nports];

		if (p->peer_node >= 0 && p->peer_node != node &&
		    is_joined(w, (size_t)p->peer_node))
			return p;
	}
	return NULL;
}

static bool is_reached(const struct wear *w, int from, int to)
{
	_cleanup_free_ bool *seen = xcalloc(w->net->n_nodes, sizeof(*seen));
	_cleanup_free_ int *queue = xcalloc(w->net->n_nodes, sizeof(*queue));
	size_t n = 0;

	seen[from] = true;
	queue[n++] = from;
	for (size_t i = 0; i < n; i++) {
		const struct netfile_node *node = &w->net->nodes[queue[i]];

		for (unsigned p = 1; p <= node->nports; p++) {
			int peer = node->ports[p].peer_node;

			if (peer < 0 || seen[peer])
				continue;
			seen[peer] = true;
			queue[n++] = peer;
		}
	}
	return seen[to];
}

/* Not where nothing else connects its ends. */
static void unplug(struct wear *w, struct netfile_port *p)
{
	struct netfile_port *q = &w->net->nodes[p->peer_node].ports[p->peer_port];
	int a = q->peer_node, b = p->peer_node;

	p->peer_node = q->peer_node = -1;
	if (is_reached(w, a, b))
		return;
	p->peer_node = b;
	q->peer_node = a;
}

static void missing(struct wear *w)
{
	for (size_t i = 0; i <= w->n / 200; i++) {
		struct netfile_port *p = any_cable(w);

		if (p)
			unplug(w, p);
	}
}

/* It has trained on one lane. */
static void narrow(struct wear *w)
{
	struct netfile_port *p = any_cable(w);

	if (p)
		p->width = w->net->nodes[p->peer_node].ports[p->peer_port].width = WIDTH_SLOW;
}

static void to_itself(struct wear *w)
{
	int sw = any_node(w, is_switch), free_port;

	if (sw < 0 || w->net->nodes[sw].nports + 2 > PORTS_MOST)
		return;
	free_port = add_port(w, sw);
	netfile_link(w->net, sw, (uint8_t)free_port, sw, add_port(w, sw));
}

/* By one of two schemes, or as the factory leaves it. */
static void names(struct wear *w)
{
	unsigned host = 0;

	for (size_t i = 0; i < w->n; i++) {
		struct netfile_node *n = &w->net->nodes[i];

		if (n->type != IB_NODE_CA)
			continue;
		switch (roll(w) % 16) {
		case 0:
			snprintf(n->desc, sizeof(n->desc), "MT4129 ConnectX7   Mellanox "
				 "Technologies");
			break;
		case 1:
		case 2: snprintf(n->desc, sizeof(n->desc), "node%04u mlx5_0", host); break;
		default: snprintf(n->desc, sizeof(n->desc), "node%04u HCA-1", host); break;
		}
		host++;
	}
}

void gen_aggregation(struct netfile *net)
{
	struct wear w = { .net = net, .n = net->n_nodes };

	for (size_t i = 0; i < w.n; i++) {
		char id[sizeof(net->nodes[i].id)];
		int node;

		if (!is_switch(&w, i))
			continue;
		snprintf(id, sizeof(id), "%.50s-aggr", net->nodes[i].id);
		node = add_host(&w, id, (int)i);
		if (node < 0)
			continue;
		net->nodes[node].vendor_id = AGGREGATION_VENDOR;
		net->nodes[node].device_id = AGGREGATION_DEVICE;
		net->nodes[node].sysimg_guid = net->nodes[i].sysimg_guid;
		snprintf(net->nodes[node].desc, sizeof(net->nodes[node].desc),
			 "Mellanox Technologies Aggregation Node");
	}
}

void gen_wear(struct netfile *net, uint64_t seed)
{
	static void (*const rows[])(struct wear *w) = {
		stub, gateway, missing, narrow, to_itself, names,
	};
	struct wear w = {
		.net = net, .n = net->n_nodes, .dice = seed * UINT64_C(0x9E3779B97F4A7C15) + 1,
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i](&w);
	gen_aggregation(net);
}
