// SPDX-License-Identifier: BSD-2-Clause
/* A fabric while a generator draws it. */
#include "sim/gen/draft.h"

#include <stdio.h>
#include <stdlib.h>

#include "ib/attrs.h"
#include "util/mem.h"

struct draft_switch {
	char id[24];
	unsigned hosts, links;
	unsigned used;       /* ports given away by draft_finish() */
	int node;
};

struct draft {
	struct draft_switch *switches;
	size_t n_switches, cap_switches;
	struct {
		unsigned a, b;
	} *links;
	size_t n_links, cap_links;
};

struct draft *draft_new(void)
{
	return xcalloc(1, sizeof(struct draft));
}

unsigned draft_switch(struct draft *d, const char *name, unsigned number)
{
	struct draft_switch *sw;

	GROW(d->switches, d->n_switches + 1, d->cap_switches);
	sw = &d->switches[d->n_switches];
	*sw = (struct draft_switch){ .node = -1 };
	snprintf(sw->id, sizeof(sw->id), "%s%u", name, number);
	return (unsigned)d->n_switches++;
}

void draft_hosts(struct draft *d, unsigned sw, unsigned hosts)
{
	d->switches[sw].hosts += hosts;
}

void draft_link(struct draft *d, unsigned a, unsigned b)
{
	GROW(d->links, d->n_links + 1, d->cap_links);
	d->links[d->n_links].a = a;
	d->links[d->n_links].b = b;
	d->n_links++;
	d->switches[a].links++;
	d->switches[b].links++;
}

static bool fits(const struct draft *d)
{
	for (size_t i = 0; i < d->n_switches; i++)
		if (d->switches[i].hosts > IB_MAX_PORTS ||
		    d->switches[i].hosts + d->switches[i].links > IB_MAX_PORTS)
			return false;
	return d->n_switches > 0;
}

static void connect_hosts(struct netfile *net, struct draft_switch *sw, int *next_host)
{
	for (unsigned h = 0; h < sw->hosts; h++)
		netfile_link(net, (*next_host)++, 1, sw->node, (uint8_t)++sw->used);
}

static struct netfile *build(struct draft *d)
{
	struct netfile *net = netfile_new();
	unsigned n_hosts = 0;
	int next_host = 0;
	char id[24];

	for (size_t i = 0; i < d->n_switches; i++)
		n_hosts += d->switches[i].hosts;
	for (unsigned i = 0; i < n_hosts; i++) {
		snprintf(id, sizeof(id), "h%u", i);
		netfile_add(net, IB_NODE_CA, id, 1, 0);
	}
	for (size_t i = 0; i < d->n_switches; i++) {
		struct draft_switch *sw = &d->switches[i];
		unsigned ports = sw->hosts + sw->links;

		sw->node = netfile_add(net, IB_NODE_SWITCH, sw->id, (uint8_t)MAX(ports, 1u), 0);
		connect_hosts(net, sw, &next_host);
	}
	for (size_t i = 0; i < d->n_links; i++) {
		struct draft_switch *a = &d->switches[d->links[i].a],
				    *b = &d->switches[d->links[i].b];
		uint8_t a_port = (uint8_t)++a->used, b_port = (uint8_t)++b->used;

		netfile_link(net, a->node, a_port, b->node, b_port);
	}
	return net;
}

struct netfile *draft_finish(struct draft *d)
{
	struct netfile *net = fits(d) ? build(d) : NULL;

	free(d->switches);
	free(d->links);
	free(d);
	return net;
}
