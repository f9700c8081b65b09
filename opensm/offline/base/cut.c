// SPDX-License-Identifier: BSD-2-Clause
/* A copy of a topo without what failed. */
#include "offline/base/cut.h"

#include <assert.h>

#include "util/mem.h"

uint32_t cut_n_ports(const struct topo *t)
{
	const struct topo_switch *last = t->n_switches ? &t->switches[t->n_switches - 1] : NULL;

	return last ? last->first_port + last->n_ports + 1u : 0;
}

struct cut *cut_new(const struct topo *t)
{
	struct cut *c = xcalloc(1, sizeof(*c));

	c->n_ports = cut_n_ports(t);
	c->ports = xcalloc((size_t)c->n_ports + 1, sizeof(*c->ports));
	c->switches = xcalloc((size_t)t->n_switches + 1, sizeof(*c->switches));
	return c;
}

struct cut *cut_free(struct cut *c)
{
	if (!c)
		return NULL;
	free(c->ports);
	free(c->switches);
	free(c);
	return NULL;
}

static void keep_switch(struct topo_builder *b, const struct topo *t, const struct cut *c,
			uint32_t s)
{
	const struct topo_switch *sw = &t->switches[s];

	topo_add_switch(b, sw);
	for (unsigned i = 1; i <= sw->n_ports; i++) {
		const struct topo_port *p = topo_port(t, s, i);

		topo_set_port(b, sw->guid, (uint8_t)i,
			      (struct topo_port_facts){ p->vls, p->slow, p->rate });
		if (c->ports[p - t->ports])
			continue;
		if (p->host != TOPO_NONE || p->aside)
			topo_add_host_link(b, topo_end_at(t, s, i)->guid, sw->guid, (uint8_t)i);
		else if (p->sw != TOPO_NONE && !c->switches[p->sw] &&
			 !c->ports[topo_port(t, p->sw, p->port) - t->ports])
			topo_add_link(b, sw->guid, (uint8_t)i, t->switches[p->sw].guid, p->port);
		else if (topo_port_loops(p))
			topo_add_link(b, sw->guid, (uint8_t)i, sw->guid, p->port);
	}
}

struct topo *cut_apply(const struct topo *t, const struct cut *c)
{
	struct topo_builder *b = topo_builder_new();

	assert(t && c);
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (!c->switches[s])
			keep_switch(b, t, c, s);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		topo_add_host(b, &t->hosts[h]);
	for (uint32_t i = 0; i < t->n_asides; i++)
		topo_add_host(b, &t->asides[i]);
	return topo_build(b);
}
