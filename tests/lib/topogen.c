// SPDX-License-Identifier: BSD-2-Clause
/* Generators: each draws switches, hosts and cables on a sketch; one function makes the topo. */
#include "tests/lib/topogen.h"

#include <assert.h>
#include <string.h>

#include "sim/gen/slim_fly.h"
#include "util/mem.h"
#include "util/random.h"

struct sketch_link {
	uint32_t a, b;
	uint8_t a_port, b_port;
};

struct sketch {
	uint32_t n_switches, n_hosts, n_links;
	size_t cap_switches, cap_hosts, cap_links;
	uint8_t *used;               /* ports in use per switch */
	struct sketch_link *hosts;   /* a: switch */
	struct sketch_link *links;
	uint64_t random;
};

static uint32_t draw_switch(struct sketch *s)
{
	GROW(s->used, s->n_switches + 1u, s->cap_switches);
	s->used[s->n_switches] = 0;
	return s->n_switches++;
}

static void draw_host(struct sketch *s, uint32_t sw)
{
	GROW(s->hosts, s->n_hosts + 1u, s->cap_hosts);
	s->hosts[s->n_hosts++] = (struct sketch_link){ .a = sw, .a_port = ++s->used[sw] };
}

static void draw_link(struct sketch *s, uint32_t a, uint32_t b)
{
	GROW(s->links, s->n_links + 1u, s->cap_links);
	s->links[s->n_links++] = (struct sketch_link){
		.a = a, .b = b, .a_port = ++s->used[a], .b_port = ++s->used[b],
	};
}

static uint32_t *permutation(uint32_t n, bool shuffled, uint64_t *state)
{
	uint32_t *p = xcalloc(n, sizeof(*p));

	for (uint32_t i = 0; i < n; i++)
		p[i] = i;
	for (uint32_t i = n; shuffled && i > 1; i--) {
		uint32_t j = (uint32_t)(random_next(state) % i), kept = p[i - 1];

		p[i - 1] = p[j];
		p[j] = kept;
	}
	return p;
}

/* Everything the sketch says, minus what the options leave out. */
struct scribe {
	const struct sketch *s;
	const struct topogen *o;
	struct topo_builder *b;
	uint32_t *switch_guid, *host_guid, *lid_slot;
	bool *cut, *gone;
};

static bool left_out(uint32_t number, uint32_t without)
{
	return without && number == without - 1;
}

static guid_t switch_guid(const struct scribe *w, uint32_t sw)
{
	return TOPOGEN_SWITCH_GUID + 1 + w->switch_guid[sw];
}

static void write_switch(const struct scribe *w, uint32_t sw)
{
	uint32_t blocks = w->o->switches_first ? 0 : w->s->n_hosts << w->o->lmc;
	guid_t guid = switch_guid(w, sw);

	if (left_out(sw, w->o->without_switch))
		return;
	topo_add_switch(w->b, &(struct topo_switch){
		.guid = guid, .sysimg_guid = guid,
		.n_ports = (uint8_t)(w->s->used[sw] + w->o->asides),
		.lid = (lid_t)((1u << w->o->lmc) + blocks + sw), .lft_cap = LID_MAX_UCAST + 1u,
	});
}

/* Its LID is above those of all switches. */
static void write_aside(const struct scribe *w, uint32_t sw)
{
	uint32_t hosts = w->s->n_hosts << w->o->lmc;
	guid_t guid = TOPOGEN_ASIDE_GUID + 1 + w->switch_guid[sw];

	if (!w->o->asides || left_out(sw, w->o->without_switch) ||
	    left_out(sw, w->o->without_aside))
		return;
	topo_add_host(w->b, &(struct topo_host){
		.guid = guid, .node_guid = guid, .sysimg_guid = switch_guid(w, sw),
		.node_port = 1, .aside = !w->o->asides_are_hosts,
		.lid = (lid_t)((2u << w->o->lmc) + hosts + 2 * w->s->n_switches + sw),
	});
	topo_add_host_link(w->b, guid, switch_guid(w, sw), (uint8_t)(w->s->used[sw] + 1));
}

static void write_host(const struct scribe *w, uint32_t host)
{
	uint32_t before = w->o->switches_first ? w->s->n_switches >> w->o->lmc : 0;
	guid_t guid = TOPOGEN_HOST_GUID + 1 + w->host_guid[host];
	const struct sketch_link *at = &w->s->hosts[host];

	if (w->gone[host] || left_out(host, w->o->without_host))
		return;
	topo_add_host(
		w->b,
		&(struct topo_host){
			.guid = guid,
			.node_guid = guid,
			.sysimg_guid = guid,
			.node_port = 1,
			.lid = (lid_t)((before + w->lid_slot[host] + 1u + w->o->switches_first)
				       << w->o->lmc),
			.lmc = w->o->lmc,
		});
	if (!left_out(at->a, w->o->without_switch))
		topo_add_host_link(w->b, guid, switch_guid(w, at->a), at->a_port);
}

static void write_link(const struct scribe *w, uint32_t link)
{
	const struct sketch_link *l = &w->s->links[link];

	if (w->cut[link] || left_out(link, w->o->without_link))
		return;
	topo_add_link(w->b, switch_guid(w, l->a), l->a_port, switch_guid(w, l->b), l->b_port);
}

static void write_all(const struct scribe *w)
{
	const struct sketch *s = w->s;
	bool back = w->o->reversed;

	for (uint32_t i = 0; i < s->n_links; i++)
		write_link(w, back ? s->n_links - 1 - i : i);
	for (uint32_t i = 0; i < s->n_hosts; i++)
		write_host(w, back ? s->n_hosts - 1 - i : i);
	for (uint32_t i = 0; i < s->n_switches; i++)
		write_switch(w, back ? s->n_switches - 1 - i : i);
	for (uint32_t i = 0; i < s->n_switches; i++)
		write_aside(w, back ? s->n_switches - 1 - i : i);
}

static void draw_stub(struct sketch *s, uint32_t on, unsigned hosts)
{
	uint32_t sw = draw_switch(s);

	for (unsigned h = 0; h < hosts; h++)
		draw_host(s, sw);
	draw_link(s, sw, on);
}

/* Frees what the sketch holds. */
static struct topo *finish(struct sketch *s, const struct topogen *o)
{
	static const struct topogen orderly;
	struct scribe w = { .s = s, .o = o ? o : &orderly, .b = topo_builder_new() };
	uint64_t random = w.o->seed;
	uint32_t *order;

	if (w.o->service_on)
		draw_host(s, w.o->service_on - 1);
	if (w.o->stub_on)
		draw_stub(s, w.o->stub_on - 1, w.o->stub_hosts ?: 1);
	w.switch_guid = permutation(s->n_switches, w.o->random_guids, &random);
	w.host_guid = permutation(s->n_hosts, w.o->random_guids, &random);
	w.lid_slot = permutation(s->n_hosts, w.o->random_lids, &random);
	order = permutation(s->n_links, true, &random);
	w.cut = xcalloc(s->n_links, sizeof(*w.cut));
	for (uint32_t i = 0; i < (uint32_t)(w.o->damage * s->n_links + 0.5); i++)
		w.cut[order[i]] = true;
	free(order);
	order = permutation(s->n_hosts, true, &random);
	w.gone = xcalloc(s->n_hosts, sizeof(*w.gone));
	for (uint32_t i = 0; i < (uint32_t)(w.o->absent * s->n_hosts + 0.5); i++)
		w.gone[order[i]] = true;
	write_all(&w);
	free(order);
	free(w.switch_guid);
	free(w.host_guid);
	free(w.lid_slot);
	free(w.cut);
	free(w.gone);
	free(s->used);
	free(s->hosts);
	free(s->links);
	return topo_build(w.b);
}

static void draw_links(struct sketch *s, uint32_t a, uint32_t b, unsigned n)
{
	while (n-- > 0)
		draw_link(s, a, b);
}

struct topo *topogen_tree3(const struct topogen_tree *tree, const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	unsigned leaves = tree->pods * tree->leaves;

	for (unsigned leaf = 0; leaf < leaves; leaf++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < tree->hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned pod = 0; pod < tree->pods; pod++)
		for (unsigned a = 0; a < tree->aggs; a++) {
			uint32_t agg = draw_switch(&s);

			for (unsigned leaf = 0; leaf < tree->leaves; leaf++)
				draw_links(&s, pod * tree->leaves + leaf, agg, tree->leaf_cables);
		}
	for (unsigned a = 0; a < tree->aggs; a++)
		for (unsigned c = 0; c < tree->cores; c++) {
			uint32_t core = draw_switch(&s);

			for (unsigned pod = 0; pod < tree->pods; pod++)
				draw_links(&s, leaves + pod * tree->aggs + a, core,
					   tree->core_cables);
		}
	return finish(&s, o);
}

struct topo *topogen_fat_tree3(unsigned k, const struct topogen *o)
{
	unsigned half = k / 2;

	return topogen_tree3(&(struct topogen_tree){
		.hosts = half, .leaves = half, .pods = k, .aggs = half, .cores = half,
		.leaf_cables = 1, .core_cables = 1,
	}, o);
}

struct topo *topogen_fat_tree2(unsigned leaves, unsigned spines, unsigned hosts, unsigned parallel,
			       const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };

	for (unsigned leaf = 0; leaf < leaves; leaf++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned spine = 0; spine < spines; spine++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned leaf = 0; leaf < leaves; leaf++)
			draw_links(&s, leaf, sw, parallel);
	}
	return finish(&s, o);
}

struct topo *topogen_torus(const unsigned size[3], unsigned hosts, const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	unsigned n = size[0] * size[1] * size[2], stride = 1;

	for (unsigned i = 0; i < n; i++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned dim = 0; dim < 3; stride *= size[dim++])
		for (unsigned i = 0; i < n; i++) {
			unsigned at = i / stride % size[dim];

			if (size[dim] == 1 || (size[dim] == 2 && at))
				continue;
			draw_link(&s, i, i - at * stride + (at + 1) % size[dim] * stride);
		}
	return finish(&s, o);
}

struct topo *topogen_grid(const char *shape, unsigned hosts, unsigned parallel,
			  const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	unsigned size[16], n_dims = 0, n = 1, stride = 1;
	bool wraps[16];

	while (n_dims < 16 && *shape) {
		char *end;

		size[n_dims] = (unsigned)strtoul(shape, &end, 10);
		wraps[n_dims] = *end == 't';
		n *= size[n_dims++];
		shape = end + strspn(end, "tx");
	}
	for (unsigned i = 0; i < n; i++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned dim = 0; dim < n_dims; stride *= size[dim++])
		for (unsigned i = 0; i < n; i++) {
			unsigned at = i / stride % size[dim];

			if (at + 1 < size[dim] || (wraps[dim] && size[dim] > 2))
				draw_links(&s, i, i - at * stride + (at + 1) % size[dim] * stride,
					   parallel);
		}
	return finish(&s, o);
}

struct topo *topogen_dragonfly(unsigned groups, unsigned routers, unsigned hosts,
			       const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	unsigned links = groups - 1, each = (links + routers - 1) / routers;

	for (unsigned i = 0; i < groups * routers; i++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned g = 0; g < groups; g++)
		for (unsigned i = 0; i < routers; i++)
			for (unsigned j = i + 1; j < routers; j++)
				draw_link(&s, g * routers + i, g * routers + j);
	for (unsigned g = 0; g < groups; g++)
		for (unsigned j = 0; j < links; j++) {
			unsigned other = (g + j + 1) % groups;

			if (other > g)
				draw_link(&s, g * routers + j / each,
					  other * routers + (links - 1 - j) / each);
		}
	return finish(&s, o);
}

struct topo *topogen_slim_fly(unsigned q, unsigned hosts, const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	unsigned n = slim_fly_switches(q);

	assert(slim_fly_is_size(q));
	for (unsigned i = 0; i < n; i++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = a + 1; b < n; b++)
			if (slim_fly_has_cable(q, a, b))
				draw_link(&s, a, b);
	return finish(&s, o);
}

struct topo *topogen_hyperx(unsigned x, unsigned y, unsigned hosts, const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };

	for (unsigned i = 0; i < x * y; i++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned i = 0; i < x * y; i++)
		for (unsigned j = i + 1; j < x * y; j++)
			if (i % x == j % x || i / x == j / x)
				draw_link(&s, i, j);
	return finish(&s, o);
}

struct topo *topogen_hyperx_n(const unsigned *size, unsigned n_dims, unsigned hosts,
			      const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	unsigned n = 1, stride = 1;

	for (unsigned d = 0; d < n_dims; d++)
		n *= size[d];
	for (unsigned i = 0; i < n; i++) {
		uint32_t sw = draw_switch(&s);

		for (unsigned h = 0; h < hosts; h++)
			draw_host(&s, sw);
	}
	for (unsigned d = 0; d < n_dims; stride *= size[d++])
		for (unsigned i = 0; i < n; i++)
			for (unsigned x = i / stride % size[d] + 1; x < size[d]; x++)
				draw_link(&s, i, i + (x - i / stride % size[d]) * stride);
	return finish(&s, o);
}

/* One group; its spines follow its leaves. Returns the first switch. */
static uint32_t draw_plus_group(struct sketch *s, const struct topogen_plus *plus)
{
	uint32_t first = s->n_switches;

	for (unsigned i = 0; i < plus->leaves; i++) {
		uint32_t leaf = draw_switch(s);

		for (unsigned h = 0; h < plus->hosts; h++)
			draw_host(s, leaf);
	}
	for (unsigned i = 0; i < plus->spines; i++) {
		uint32_t spine = draw_switch(s);

		for (unsigned l = 0; l < plus->leaves; l++)
			draw_link(s, first + l, spine);
	}
	return first;
}

struct topo *topogen_dragonfly_plus(const struct topogen_plus *plus, const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	unsigned size = plus->leaves + plus->spines;

	for (unsigned g = 0; g < plus->groups; g++)
		draw_plus_group(&s, plus);
	for (unsigned a = 0; a < plus->groups; a++)
		for (unsigned b = a + 1; b < plus->groups; b++)
			for (unsigned k = 0; k < plus->parallel; k++)
				draw_link(&s, a * size + plus->leaves + (a + b + k) % plus->spines,
					  b * size + plus->leaves + (a + b + k) % plus->spines);
	return finish(&s, o);
}

struct topo *topogen_random(unsigned switches, unsigned degree, unsigned hosts,
			    const struct topogen *o)
{
	struct sketch s = { .n_switches = 0 };
	uint64_t random = (o ? o->seed : 0) ^ 0x5EED;

	for (unsigned i = 0; i < switches; i++) {
		uint32_t sw = draw_switch(&s);
		unsigned n = hosts ? (unsigned)(random_next(&random) % (hosts + 1)) : 0;

		for (unsigned h = 0; h < n; h++)
			draw_host(&s, sw);
		if (i)
			draw_link(&s, sw, (uint32_t)(random_next(&random) % i));
	}
	for (unsigned i = 0; switches > 1 && s.n_links < switches * degree / 2 && i < 10000; i++) {
		uint32_t a = (uint32_t)(random_next(&random) % switches);
		uint32_t b = (uint32_t)(random_next(&random) % switches);

		if (a != b && s.used[a] < 200 && s.used[b] < 200)
			draw_link(&s, a, b);
	}
	return finish(&s, o);
}
