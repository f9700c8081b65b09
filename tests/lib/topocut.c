// SPDX-License-Identifier: BSD-2-Clause
/* Copies a topo through a builder, leaving things out; and fabrics by name, for benches. */
#include "tests/lib/topocut.h"

#include <stdlib.h>
#include <string.h>

#include "sim/gen/slim_fly.h"
#include "util/mem.h"
#include "util/random.h"

static uint32_t n_ports_of(const struct topo *t)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	return n;
}

struct topocut *topocut_new(const struct topo *t)
{
	struct topocut *c = xcalloc(1, sizeof(*c));

	c->ports = xcalloc(n_ports_of(t), sizeof(*c->ports));
	c->switches = xcalloc(t->n_switches, sizeof(*c->switches));
	c->hosts = xcalloc(t->n_hosts, sizeof(*c->hosts));
	return c;
}

struct topocut *topocut_free(struct topocut *c)
{
	if (!c)
		return NULL;
	free(c->ports);
	free(c->switches);
	free(c->hosts);
	free(c);
	return NULL;
}

static void copy_cables(struct topo_builder *b, const struct topo *t, const struct topocut *c,
			uint32_t s)
{
	for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
		const struct topo_port *port = topo_port(t, s, p);
		uint32_t end = t->switches[s].first_port + p, other;

		if (port->sw == TOPO_NONE || port->sw < s || c->switches[port->sw])
			continue;
		other = t->switches[port->sw].first_port + port->port;
		if (!c->ports[end] && !c->ports[other])
			topo_add_link(b, t->switches[s].guid, (uint8_t)p,
				      t->switches[port->sw].guid, port->port);
	}
}

struct topo *topocut_apply(const struct topo *t, const struct topocut *c)
{
	struct topo_builder *b = topo_builder_new();

	for (uint32_t s = 0; s < t->n_switches; s++)
		if (!c->switches[s]) {
			topo_add_switch(b, &t->switches[s]);
			copy_cables(b, t, c, s);
		}
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		if (c->hosts[h] || host->sw == TOPO_NONE || c->switches[host->sw])
			continue;
		topo_add_host(b, host);
		topo_add_host_link(b, host->guid, t->switches[host->sw].guid, host->sw_port);
	}
	for (uint32_t i = 0; i < t->n_asides; i++) {
		const struct topo_host *aside = &t->asides[i];

		if (aside->sw == TOPO_NONE || c->switches[aside->sw])
			continue;
		topo_add_host(b, aside);
		topo_add_host_link(b, aside->guid, t->switches[aside->sw].guid, aside->sw_port);
	}
	return topo_build(b);
}

struct topo *topocut_replaced(const struct topo *t, uint32_t sw, guid_t guid, lid_t lid)
{
	struct topo other = *t;
	struct topocut *none = topocut_new(t);
	struct topo *ret;

	other.switches = xmemdup(t->switches, t->n_switches * sizeof(*t->switches));
	other.switches[sw].order_guid = topo_order_guid(&t->switches[sw]);
	other.switches[sw].guid = other.switches[sw].sysimg_guid = guid;
	other.switches[sw].lid = lid;
	ret = topocut_apply(&other, none);
	free(other.switches);
	topocut_free(none);
	return ret;
}

uint32_t *topocut_cables(const struct topo *t, uint32_t *ret_n)
{
	uint32_t *ends = xcalloc(n_ports_of(t), sizeof(*ends)), n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			const struct topo_port *port = topo_port(t, s, p);

			if (port->sw != TOPO_NONE && port->sw > s)
				ends[n++] = t->switches[s].first_port + p;
		}
	*ret_n = n;
	return ends;
}

static void toggle(bool *what)
{
	*what = !*what;
}

uint32_t topocut_top_host(const struct topo *t)
{
	uint32_t top = 0;

	for (uint32_t h = 1; h < t->n_hosts; h++)
		if (t->hosts[h].lid > t->hosts[top].lid)
			top = h;
	return top;
}

void topocut_event(struct topocut *c, const struct topo *whole, uint64_t *seed)
{
	uint32_t n, *cables = topocut_cables(whole, &n);
	uint64_t kind = random_next(seed) % 8, which = random_next(seed);

	if (kind == 0 && whole->n_switches > 2)
		toggle(&c->switches[which % whole->n_switches]);
	else if (kind == 1 && whole->n_hosts)
		toggle(&c->hosts[topocut_top_host(whole)]);
	else if (kind <= 3 && whole->n_hosts)
		toggle(&c->hosts[which % whole->n_hosts]);
	else if (n)
		toggle(&c->ports[cables[which % n]]);
	free(cables);
}

/* ---- fabrics by name --------------------------------------------------------------------- */

static struct topo *make_fat_tree3(const unsigned *a, const struct topogen *o)
{
	return topogen_fat_tree3(a[0], o);
}

static struct topo *make_fat_tree2(const unsigned *a, const struct topogen *o)
{
	return topogen_fat_tree2(a[0], a[1], a[2], a[3], o);
}

static struct topo *make_tree3(const unsigned *a, const struct topogen *o)
{
	return topogen_tree3(&(struct topogen_tree){
		.hosts = a[0], .leaves = a[1], .pods = a[2], .aggs = a[3], .cores = a[4],
		.leaf_cables = a[5], .core_cables = a[6],
	}, o);
}

static struct topo *make_torus(const unsigned *a, const struct topogen *o)
{
	return topogen_torus(a, a[3], o);
}

static struct topo *make_dragonfly(const unsigned *a, const struct topogen *o)
{
	return topogen_dragonfly(a[0], a[1], a[2], o);
}

static struct topo *make_hyperx(const unsigned *a, const struct topogen *o)
{
	return topogen_hyperx(a[0], a[1], a[2], o);
}

static struct topo *make_hyperx3(const unsigned *a, const struct topogen *o)
{
	return topogen_hyperx_n(a, 3, a[3], o);
}

static struct topo *make_hypercube(const unsigned *a, const struct topogen *o)
{
	static const unsigned twos[] = { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 };

	return topogen_hyperx_n(twos, MIN(a[0], 12u), a[1], o);
}

static struct topo *make_dragonfly_plus(const unsigned *a, const struct topogen *o)
{
	return topogen_dragonfly_plus(&(struct topogen_plus){
		.groups = a[0], .leaves = a[1], .spines = a[2], .hosts = a[3], .parallel = a[4],
	}, o);
}

static struct topo *make_slim_fly(const unsigned *a, const struct topogen *o)
{
	return slim_fly_is_size(a[0]) ? topogen_slim_fly(a[0], a[1], o) : NULL;
}

static struct topo *make_random(const unsigned *a, const struct topogen *o)
{
	return topogen_random(a[0], a[1], a[2], o);
}

static const struct {
	const char *name;
	int args;
	struct topo *(*make)(const unsigned *a, const struct topogen *o);
} kinds[] = {
	{ "fat-tree3", 1, make_fat_tree3 }, { "fat-tree2", 4, make_fat_tree2 },
	{ "tree3", 7, make_tree3 },	    { "torus", 4, make_torus },
	{ "dragonfly", 3, make_dragonfly }, { "hyperx", 3, make_hyperx },
	{ "hyperx3", 4, make_hyperx3 },	    { "hypercube", 2, make_hypercube },
	{ "random", 3, make_random },	    { "dragonfly+", 5, make_dragonfly_plus },
	{ "slim-fly", 2, make_slim_fly },
};

struct topo *topogen_words(int n, char **words, const struct topogen *o)
{
	unsigned args[7] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (n < 1 || strcmp(words[0], kinds[i].name) || n - 1 != kinds[i].args)
			continue;
		for (int a = 0; a < kinds[i].args; a++)
			args[a] = (unsigned)atoi(words[1 + a]);
		return kinds[i].make(args, o);
	}
	return NULL;
}
