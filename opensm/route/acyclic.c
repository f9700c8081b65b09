// SPDX-License-Identifier: BSD-2-Clause
/* Numbers channels and keeps sets of dependencies in topological order. Knows no paths. */
#include "route/acyclic.h"

#include <string.h>

#include "util/mem.h"

static void number_channels(struct channels *c, const struct topo *t)
{
	for (uint32_t s = 0; s < t->n_switches; s++) {
		c->first[s] = c->n;
		c->of_port[t->switches[s].first_port] = CHANNEL_NONE;
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t at = t->switches[s].first_port + p;

			c->of_port[at] = t->ports[at].sw == TOPO_NONE ? CHANNEL_NONE : c->n++;
		}
	}
	c->first[t->n_switches] = c->n;
}

static void connect_channels(struct channels *c, const struct topo *t)
{
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			const struct topo_port *port = topo_port(t, s, p);
			uint32_t id = c->of_port[t->switches[s].first_port + p];

			if (id == CHANNEL_NONE)
				continue;
			c->to[id] = port->sw;
			c->back[id] = c->of_port[t->switches[port->sw].first_port + port->port];
		}
	for (uint32_t id = 0; id < c->n; id++)
		c->deps[id + 1] = c->deps[id] + c->first[c->to[id] + 1] - c->first[c->to[id]];
}

struct channels *channels_new(const struct topo *t)
{
	struct channels *c = xcalloc(1, sizeof(*c));
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	c->n_switches = t->n_switches;
	c->of_port = xcalloc(n, sizeof(*c->of_port));
	c->first = xcalloc((size_t)t->n_switches + 1, sizeof(*c->first));
	number_channels(c, t);
	c->to = xcalloc(c->n, sizeof(*c->to));
	c->back = xcalloc(c->n, sizeof(*c->back));
	c->deps = xcalloc((size_t)c->n + 1, sizeof(*c->deps));
	connect_channels(c, t);
	return c;
}

struct channels *channels_free(struct channels *c)
{
	if (!c)
		return NULL;
	free(c->of_port);
	free(c->first);
	free(c->to);
	free(c->back);
	free(c->deps);
	free(c);
	return NULL;
}

struct acyclic *acyclic_new(const struct channels *c)
{
	struct acyclic *a = xcalloc(1, sizeof(*a));

	a->channels = c;
	a->has = xcalloc(c->deps[c->n], sizeof(*a->has));
	a->place = xcalloc(c->n, sizeof(*a->place));
	a->marks = xcalloc(c->n, sizeof(*a->marks));
	a->found = xcalloc(c->n, sizeof(*a->found));
	a->queue = xcalloc(c->n, sizeof(*a->queue));
	a->pool = xcalloc(c->n, sizeof(*a->pool));
	a->keys = xcalloc(c->n, sizeof(*a->keys));
	for (uint32_t i = 0; i < c->n; i++)
		a->place[i] = i;
	return a;
}

struct acyclic *acyclic_free(struct acyclic *a)
{
	if (!a)
		return NULL;
	free(a->has);
	free(a->place);
	free(a->marks);
	free(a->found);
	free(a->queue);
	free(a->pool);
	free(a->keys);
	free(a);
	return NULL;
}

/* Channels reached from `from` that stand before `end`; found[0 .. return - 1]. CHANNEL_NONE: `end` is. */
static uint32_t search_forward(struct acyclic *a, uint32_t from, uint32_t end)
{
	const struct channels *c = a->channels;
	uint32_t n = 1;

	a->found[0] = from;
	a->marks[from] = ++a->mark;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t channel = a->found[i], base = c->first[c->to[channel]];

		for (uint32_t d = c->deps[channel]; d < c->deps[channel + 1]; d++) {
			uint32_t then = base + d - c->deps[channel];

			if (!a->has[d] || a->marks[then] == a->mark)
				continue;
			if (then == end)
				return CHANNEL_NONE;
			if (a->place[then] > a->place[end])
				continue;
			a->marks[then] = a->mark;
			a->found[n++] = then;
		}
	}
	return n;
}

/* Channels from which `from` is reached that stand after `end`: queue[0 .. return - 1]. */
static uint32_t search_back(struct acyclic *a, uint32_t from, uint32_t end)
{
	const struct channels *c = a->channels;
	uint32_t n = 1;

	a->queue[0] = from;
	a->marks[from] = ++a->mark;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t then = a->queue[i], sw = c->to[c->back[then]];

		for (uint32_t k = c->first[sw]; k < c->first[sw + 1]; k++) {
			uint32_t channel = c->back[k];

			if (a->marks[channel] == a->mark || a->place[channel] < a->place[end] ||
			    !a->has[channels_dep(c, channel, then)])
				continue;
			a->marks[channel] = a->mark;
			a->queue[n++] = channel;
		}
	}
	return n;
}


/* Shell's sort: most lists are short, and there are many of them. */
static void sort(uint64_t *keys, uint32_t n)
{
	static const uint32_t gaps[] = { 29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1 };

	for (unsigned g = 0; g < ARRAY_SIZE(gaps); g++)
		for (uint32_t i = gaps[g]; i < n; i++) {
			uint64_t key = keys[i];
			uint32_t at = i;

			for (; at >= gaps[g] && keys[at - gaps[g]] > key; at -= gaps[g])
				keys[at] = keys[at - gaps[g]];
			keys[at] = key;
		}
}

/* What leads to `channel` takes the first of the places, what follows `then` the last; each in its order. */
static void reorder(struct acyclic *a, uint32_t n_back, uint32_t n_forward)
{
	uint32_t n = n_back + n_forward;

	for (uint32_t i = 0; i < n_back; i++)
		a->keys[i] = (uint64_t)a->place[a->queue[i]] << 32 | a->queue[i];
	for (uint32_t i = 0; i < n_forward; i++)
		a->keys[n_back + i] = (uint64_t)a->place[a->found[i]] << 32 | a->found[i];
	sort(a->keys, n_back);
	sort(a->keys + n_back, n_forward);
	for (uint32_t i = 0; i < n; i++)
		a->pool[i] = (uint32_t)a->keys[i];
	sort(a->keys, n);
	for (uint32_t i = 0; i < n; i++)
		a->place[a->pool[i]] = (uint32_t)(a->keys[i] >> 32);
}

bool acyclic_add(struct acyclic *a, uint32_t channel, uint32_t then)
{
	uint32_t dep = channels_dep(a->channels, channel, then), n_forward;

	if (a->has[dep])
		return true;
	if (channel == then)
		return false;
	if (a->place[channel] > a->place[then]) {
		n_forward = search_forward(a, then, channel);
		if (n_forward == CHANNEL_NONE)
			return false;
		reorder(a, search_back(a, channel, then), n_forward);
	}
	a->has[dep] = true;
	return true;
}

void acyclic_remove(struct acyclic *a, uint32_t channel, uint32_t then)
{
	a->has[channels_dep(a->channels, channel, then)] = false;
}
