// SPDX-License-Identifier: BSD-2-Clause
/*
 * What fabrics in use have and drawn ones do not (man/reference/real-fabrics.md): a row an oddity,
 * each drawn from the seed alone. What an oddity does to a node or cable, spared nodes are spared.
 */
#include "sim/gen/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/attrs.h"
#include "util/mem.h"

#define PORTS_MOST 254
#define AGGREGATION_VENDOR 0x2C9
#define AGGREGATION_DEVICE 0xCF09
#define WIDTH_SLOW 1
#define HOSTS_LEAST 6 /* with fewer none is silent */
#define CHIPS_MOST 6u /* most chips of a director */

struct wear {
	struct netfile *net;
	uint64_t dice;
	size_t n; /* nodes that there were */
	const bool *spared; /* by node: set if it is spared */
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

static bool is_host(const struct wear *w, size_t node)
{
	return w->net->nodes[node].type == IB_NODE_CA && count_peers(w, node, true);
}

/* A host that may be worn. */
static bool is_plain_host(const struct wear *w, size_t node)
{
	return is_host(w, node) && !w->spared[node] && !w->net->nodes[node].silent;
}

/* A switch to which wear may be added: none that the caller asked to leave as it is. */
static bool is_plain_switch(const struct wear *w, size_t node)
{
	return is_switch(w, node) && !w->spared[node];
}

static bool is_leaf(const struct wear *w, size_t node)
{
	return is_switch(w, node) && count_peers(w, node, false);
}

/* A switch without hosts; one that is spared, or one of a fabric without such, will do. */
static bool is_any_spine(const struct wear *w, size_t node)
{
	return is_switch(w, node) && !count_peers(w, node, false) && count_peers(w, node, true) > 1;
}

static bool is_spine(const struct wear *w, size_t node)
{
	return is_any_spine(w, node) && !w->spared[node];
}

static bool is_joined(const struct wear *w, size_t node)
{
	return is_switch(w, node) && count_peers(w, node, true) > 1;
}

static int any_spine(struct wear *w)
{
	int ret = any_node(w, is_spine);

	if (ret < 0)
		ret = any_node(w, is_any_spine);
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

static struct netfile_port *far_end(const struct wear *w, const struct netfile_port *p)
{
	return &w->net->nodes[p->peer_node].ports[p->peer_port];
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

/*
 * Adds a management leaf with one host, on two cables to one spine; or two such leaves, of which
 * one is cabled to the other.
 */
static void stub(struct wear *w)
{
	int spine = any_spine(w), leaf, other;

	if (spine < 0)
		return;
	leaf = netfile_add(w->net, IB_NODE_SWITCH, "stub", 1, 0);
	add_host(w, "stub-h0", leaf);
	join(w, leaf, spine);
	join(w, leaf, spine);
	if (roll(w) % 3)
		return;
	other = netfile_add(w->net, IB_NODE_SWITCH, "stub2", 1, 0);
	add_host(w, "stub2-h0", other);
	join(w, other, leaf);
	join(w, other, leaf);
}

static void gateway(struct wear *w)
{
	int spine = any_spine(w);

	if (spine >= 0)
		add_host(w, "gateway", spine);
}

/* A host with one port beside those with many, and one with two ports beside those with one. */
static void single_and_dual(struct wear *w)
{
	int leaf = any_node(w, is_leaf), other = any_node(w, is_leaf), dual;
	uint8_t port;

	if (leaf < 0)
		return;
	add_host(w, "login", leaf);
	port = add_port(w, leaf);
	dual = port ? netfile_add(w->net, IB_NODE_CA, "dual", 2, 0) : -1;
	if (dual < 0)
		return;
	netfile_link(w->net, dual, 1, leaf, port);
	port = add_port(w, other);
	if (port)
		netfile_link(w->net, dual, 2, other, port);
}

/* A random cable between two switches that both have another cable to a switch. */
static struct netfile_port *any_cable(struct wear *w)
{
	int node = any_node(w, is_joined);
	struct netfile_node *n = node < 0 ? NULL : &w->net->nodes[node];
	unsigned from = n ? (unsigned)(roll(w) % n->nports) : 0;

	for (unsigned i = 0; n && i < n->nports; i++) {
		struct netfile_port *p = &n->ports[1 + (from + i) % n->nports];

		if (p->peer_node >= 0 && p->peer_node != node && (size_t)p->peer_node < w->n &&
		    is_joined(w, (size_t)p->peer_node))
			return p;
	}
	return NULL;
}

/* A random cable as of any_cable(), if neither of its switches is spared. */
static struct netfile_port *any_free_cable(struct wear *w)
{
	struct netfile_port *p = any_cable(w);

	return p && !w->spared[p->peer_node] && !w->spared[far_end(w, p)->peer_node] ? p : NULL;
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

		for (unsigned p = 1; is_switch(w, (size_t)queue[i]) && p <= node->nports; p++) {
			int peer = node->ports[p].peer_node;

			if (peer < 0 || seen[peer] || node->ports[p].silent)
				continue;
			seen[peer] = true;
			queue[n++] = peer;
		}
	}
	return seen[to];
}

/* Unplugs a cable unless its ends would be separated. False: they would be. */
static bool unplug(struct wear *w, struct netfile_port *p)
{
	struct netfile_port *q = far_end(w, p);
	int a = q->peer_node, b = p->peer_node;

	p->peer_node = q->peer_node = -1;
	if (is_reached(w, a, b))
		return true;
	p->peer_node = b;
	q->peer_node = a;
	return false;
}

static void missing(struct wear *w)
{
	for (size_t i = 0; i <= w->n / 200; i++) {
		struct netfile_port *p = any_free_cable(w);

		if (p)
			unplug(w, p);
	}
}

/* Slows a cable down to one lane, or to a speed below that of its ends. */
static void slow(struct wear *w)
{
	struct netfile_port *p = any_cable(w);
	const struct ib_speed *s = p && p->speed ? ib_speed_of(p->speed) : ib_speeds;
	uint64_t dice = roll(w);

	if (!p)
		return;
	if (s == ib_speeds || dice % 2)
		p->cable_width = WIDTH_SLOW;
	else
		p->cable_speed = ib_speeds[dice / 2 % (size_t)(s - ib_speeds)].tenths;
	far_end(w, p)->cable_width = p->cable_width;
	far_end(w, p)->cable_speed = p->cable_speed;
}

static void to_itself(struct wear *w)
{
	int sw = any_node(w, is_plain_switch), free_port;

	if (sw < 0 || w->net->nodes[sw].nports + 2 > PORTS_MOST)
		return;
	free_port = add_port(w, sw);
	netfile_link(w->net, sw, (uint8_t)free_port, sw, add_port(w, sw));
}

/* A host whose agent does not answer: as long as there is enough of others. */
static int any_host_to_silence(struct wear *w)
{
	size_t hosts = 0;

	for (size_t i = 0; i < w->n; i++)
		hosts += is_host(w, i);
	return hosts < HOSTS_LEAST ? -1 : any_node(w, is_plain_host);
}

static void silent_host(struct wear *w)
{
	int host = any_host_to_silence(w);

	if (host >= 0)
		w->net->nodes[host].silent = true;
}

static void silence(struct wear *w, struct netfile_port *p)
{
	p->silent = far_end(w, p)->silent = true;
}

/* A link that is up, and nothing comes through: to a host, or between two switches. */
static void silent_port(struct wear *w)
{
	int host = any_host_to_silence(w);
	struct netfile_port *p = roll(w) % 2 ? any_free_cable(w) : NULL, *q;

	if (p) {
		q = far_end(w, p);
		p->silent = q->silent = true;
		p->silent = q->silent = is_reached(w, q->peer_node, p->peer_node);
		return;
	}
	for (unsigned i = 1; host >= 0 && i <= w->net->nodes[host].nports; i++)
		if (w->net->nodes[host].ports[i].peer_node >= 0) {
			silence(w, &w->net->nodes[host].ports[i]);
			return;
		}
}

/* Its driver is not loaded: the port has the permissive LID, as after power-on. */
static void no_driver(struct wear *w)
{
	int host = any_node(w, is_plain_host);

	if (host >= 0)
		w->net->nodes[host].ports[1].lid = LID_PERMISSIVE;
}

/* Length of the name of the host in front of that of the adapter; 0: the text has one word. */
static size_t host_part(const struct netfile_node *n)
{
	size_t len = strcspn(n->desc, " ");

	return n->desc[len] ? len : 0;
}

static bool is_same_host(const struct netfile_node *a, const struct netfile_node *b)
{
	size_t len = host_part(a);

	return len && len == host_part(b) && !memcmp(a->desc, b->desc, len);
}

/* Two adapters of one host are plugged where the other should be. */
static void swap(struct wear *w)
{
	int host = any_node(w, is_plain_host);
	struct netfile_node *a = host < 0 ? NULL : &w->net->nodes[host], *b;

	for (size_t i = (size_t)host + 1; a && i < w->n; i++) {
		struct netfile_port p, q;

		b = &w->net->nodes[i];
		if (!is_plain_host(w, i) || !is_same_host(a, b) || a->ports[1].silent ||
		    b->ports[1].silent || a->ports[1].peer_node == b->ports[1].peer_node)
			continue;
		p = a->ports[1];
		q = b->ports[1];
		a->ports[1].peer_node = b->ports[1].peer_node = -1;
		w->net->nodes[p.peer_node].ports[p.peer_port].peer_node = -1;
		w->net->nodes[q.peer_node].ports[q.peer_port].peer_node = -1;
		netfile_link(w->net, host, 1, q.peer_node, q.peer_port);
		netfile_link(w->net, (int)i, 1, p.peer_node, p.peer_port);
		return;
	}
}

/* A number for a host that all its adapters have in common, from the seed. */
static uint64_t dice_of_host(const struct netfile_node *n, uint64_t seed)
{
	size_t len = host_part(n);

	for (size_t i = 0; i < (len ? len : strlen(n->desc)); i++)
		seed = (seed ^ (unsigned char)n->desc[i]) * UINT64_C(0x9E3779B97F4A7C15);
	return seed >> 40;
}

/* The number at the end of "gpu3 mlx5_2", or 0. */
static unsigned adapter_number(const struct netfile_node *n)
{
	const char *end = n->desc + strlen(n->desc), *at = end;

	while (host_part(n) && at > n->desc && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return (unsigned)strtoul(at, NULL, 10);
}

/* Names hosts by one of three schemes, or as delivered, or as the installer does. */
static void names(struct wear *w)
{
	static const char *const schemes[] = { "HCA-%u", "mlx5_%u", "ibp%us0f0" };
	uint64_t seed = roll(w) | 1;

	for (size_t i = 0; i < w->n; i++) {
		struct netfile_node *n = &w->net->nodes[i];
		uint64_t dice = dice_of_host(n, seed);
		char host[32], scheme[24];

		if (n->type != IB_NODE_CA || w->spared[i])
			continue;
		snprintf(host, sizeof(host), "%.*s", (int)MIN(host_part(n), sizeof(host) - 1),
			 n->desc);
		if (!host[0])
			snprintf(host, sizeof(host), "node%04zu", i);
		snprintf(scheme, sizeof(scheme), schemes[dice % 8 < 2 ? 1 + dice % 2 : 0],
			 adapter_number(n) + !(dice % 8 < 2));
		snprintf(n->desc, sizeof(n->desc), "%s %s", host, scheme);
		if (dice / 8 % 16 == 0)
			snprintf(n->desc, sizeof(n->desc),
				 "MT4129 ConnectX7   Mellanox Technologies");
		else if (dice / 8 % 16 == 1)
			snprintf(n->desc, sizeof(n->desc), "localhost");
	}
}

static size_t count_switches(const struct wear *w)
{
	size_t ret = 0;

	for (size_t i = 0; i < w->n; i++)
		ret += is_switch(w, i);
	return ret;
}

/* Several switch chips in one box: one system image, names of the box. */
static void director(struct wear *w)
{
	unsigned line = 0, fabric = 0, most = (unsigned)MIN(count_switches(w) / 2, CHIPS_MOST);
	guid_t box = 0;
	size_t from = w->n ? roll(w) % w->n : 0;

	for (size_t i = 0; i < w->n && line + fabric < most; i++) {
		size_t at = (from + i) % w->n;
		struct netfile_node *n = &w->net->nodes[at];
		bool is_line = is_leaf(w, at);

		if (!is_switch(w, at) || w->spared[at])
			continue;
		box = box ? box : n->sysimg_guid;
		n->sysimg_guid = box;
		snprintf(n->desc, sizeof(n->desc), "MCS8500/%c%u/U1", is_line ? 'L' : 'S',
			 is_line ? ++line : ++fabric);
	}
}

/* Gives added cables the speed of the others. */
static void give_speed(struct netfile *net)
{
	const struct netfile_port usual = net->n_nodes && net->nodes[0].nports
						  ? net->nodes[0].ports[1]
						  : (struct netfile_port){ 0 };

	for (size_t i = 0; i < net->n_nodes; i++)
		for (unsigned p = 1; p <= net->nodes[i].nports; p++) {
			struct netfile_port *port = &net->nodes[i].ports[p];

			port->speed = port->speed ? port->speed : usual.speed;
			port->width = port->width ? port->width : usual.width;
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
	give_speed(net);
}

/* Marks a node, or with "leaf1:5" both ends of the cable. */
static void mark(const struct netfile *net, const char *word, bool *spared)
{
	size_t len = strcspn(word, ":");
	unsigned long port = word[len] ? strtoul(word + len + 1, NULL, 10) : 0;

	for (size_t i = 0; i < net->n_nodes; i++) {
		const struct netfile_node *n = &net->nodes[i];

		if (strlen(n->id) != len || memcmp(n->id, word, len))
			continue;
		spared[i] = true;
		if (port <= n->nports && n->ports[port].peer_node >= 0)
			spared[n->ports[port].peer_node] = true;
	}
}

void gen_wear(struct netfile *net, uint64_t seed, const char *const *spare)
{
	static void (*const rows[])(struct wear *w) = {
		missing, slow, silent_host, silent_port, no_driver, swap, director, names,
		single_and_dual, stub, gateway, to_itself,
	};
	_cleanup_free_ bool *spared = xcalloc(net->n_nodes + 1, sizeof(*spared));
	struct wear w = {
		.net = net, .n = net->n_nodes, .spared = spared,
		.dice = seed * UINT64_C(0x9E3779B97F4A7C15) + 1,
	};

	for (; spare && *spare; spare++)
		mark(net, *spare, spared);
	for (size_t i = 0; seed && i < ARRAY_SIZE(rows); i++)
		rows[i](&w);
	if (seed)
		gen_aggregation(net);
}
