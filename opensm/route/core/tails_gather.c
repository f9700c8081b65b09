// SPDX-License-Identifier: BSD-2-Clause
/* A copy of a fabric without some switches, whose end ports are at others. */
#include "route/core/tails.h"

#include <assert.h>

#include "util/mem.h"

#define PORTS_MOST 254u /* 255 stands for no port (LFT_NO_PORT) */

static void add_switches(struct topo_builder *b, const struct topo *t, const uint32_t *into,
			 const uint32_t *n_ports)
{
	for (uint32_t s = 0; s < t->n_switches; s++) {
		struct topo_switch sw = t->switches[s];

		sw.n_ports = (uint8_t)n_ports[s];
		if (into[s] == s)
			topo_add_switch(b, &sw);
	}
}

/* Cables between switches that stay, and what their ports can do. */
static void add_cables(struct topo_builder *b, const struct topo *t, const uint32_t *into,
		       uint32_t s)
{
	const struct topo_switch *sw = &t->switches[s];

	for (unsigned p = 1; p <= sw->n_ports; p++) {
		const struct topo_port *port = topo_port(t, s, p);
		uint32_t left = port->left_sw;

		if (port->left_out)
			topo_leave_out(b, sw->guid, (uint8_t)p,
				       left == TOPO_NONE ? 0 : t->switches[left].guid);
		if (port->sw == TOPO_NONE || into[port->sw] != port->sw)
			continue;
		if (s < port->sw)
			topo_add_link(b, sw->guid, (uint8_t)p, t->switches[port->sw].guid,
				      port->port);
		topo_set_port(b, sw->guid, (uint8_t)p, (struct topo_port_facts){
			.vls = port->vls, .slow = port->slow, .rate = port->rate,
		});
	}
}

/* End ports of switches that do not stay get ports behind the last one. False: more than 254. */
static bool add_hosts(struct topo_builder *b, const struct topo *t, const uint32_t *into,
		      uint32_t *n_ports)
{
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		struct topo_host host = t->hosts[h];
		uint32_t to = host.sw == TOPO_NONE ? TOPO_NONE : into[host.sw];
		unsigned port = host.sw_port;

		if (to != host.sw) {
			host.gathered = true;
			port = ++n_ports[to];
		}
		if (port > PORTS_MOST)
			return false;
		topo_add_host(b, &host);
		if (to != TOPO_NONE)
			topo_add_host_link(b, host.guid, t->switches[to].guid, (uint8_t)port);
	}
	return true;
}

static void add_asides(struct topo_builder *b, const struct topo *t, const uint32_t *into)
{
	for (uint32_t i = 0; i < t->n_asides; i++) {
		const struct topo_host *aside = &t->asides[i];

		if (aside->sw == TOPO_NONE || into[aside->sw] != aside->sw)
			continue;
		topo_add_host(b, aside);
		topo_add_host_link(b, aside->guid, t->switches[aside->sw].guid, aside->sw_port);
	}
}

struct topo *tails_gather(const struct topo *t, const uint32_t *into, uint32_t *ret_place)
{
	_cleanup_free_ uint32_t *n_ports = xcalloc(t->n_switches + 1u, sizeof(*n_ports));
	_cleanup_(topo_builder_freep) struct topo_builder *b = topo_builder_new();
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		assert(into[into[s]] == into[s]);
		n_ports[s] = t->switches[s].n_ports;
		ret_place[s] = into[s] == s ? n++ : TOPO_NONE;
	}
	if (!add_hosts(b, t, into, n_ports))
		return NULL;
	add_switches(b, t, into, n_ports);
	add_asides(b, t, into);
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (into[s] == s)
			add_cables(b, t, into, s);
	return topo_build(take(b));
}
