// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary fabrics through every routing engine: no crash, no hang, and a proof or a refusal.
 *
 * The input is a program that builds a fabric: perhaps one of the regular ones to begin with, then switches,
 * hosts and cables anywhere, also twice, also from a switch to itself. Some cables are cut afterwards, and
 * what the engine made before is what it has to go by then. Last come the engine and its options.
 *
 * What must hold: a refusal says why; auto refuses nothing; tables lead out of ports that are there; nothing
 * that cables connect is lost and nothing goes round; engines that promise it are free of deadlock, which a
 * second judge, who shares nothing with the first, confirms; two threads make the same bytes as one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route/check.h"
#include "route/engine.h"
#include "tests/lib/topogen.h"
#include "tests/unit/lanes-desk.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 300; /* replay.c */

#define SWITCHES_MAX 48
#define HOSTS_MAX    64
#define LINKS_MAX    256
#define PORTS_MAX    40
#define LISTED_MAX   8

struct bytes {
	const uint8_t *at, *end;
};

struct link {
	guid_t a, b;
	uint8_t a_port, b_port;
	bool cut;
};

struct world {
	struct topo_switch switches[SWITCHES_MAX];
	struct topo_host hosts[HOSTS_MAX];
	struct link links[LINKS_MAX], host_links[HOSTS_MAX];
	unsigned n_switches, n_hosts, n_links, n_host_links;
	lid_t next_lid;
	uint8_t vls[SWITCHES_MAX]; /* of all ports of a switch; 0: nothing is said */
	bool slow[SWITCHES_MAX];
};

struct lists {
	guid_t roots[LISTED_MAX], cn[LISTED_MAX], io[LISTED_MAX], order[LISTED_MAX];
	struct route_guid_id ids[LISTED_MAX];
	struct route_port_order ports[LISTED_MAX];
	struct route_guid_port weights[LISTED_MAX];
};

/* Engines whose tables hold whatever the fabric. */
static const char *const provers[] = {
	"auto", "updn", "dnup", "ftree", "lash", "dfsssp", "nue", "torus-2QoS", "dragonfly", "hyperx",
};
static const char *const others[] = { "minhop", "sssp", "dor" };

static void require_(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

#define require(X) require_(X, #X)

static unsigned next(struct bytes *b)
{
	return b->at < b->end ? *b->at++ : 0;
}

/* ---- building ------------------------------------------------------------------------------ */

static lid_t take_lids(struct world *w, unsigned lmc)
{
	unsigned step = 1u << lmc, lid = (w->next_lid + step) / step * step;

	w->next_lid = (lid_t)(lid + step - 1);
	return (lid_t)lid;
}

static void add_switch(struct world *w, unsigned ports, unsigned flags)
{
	struct topo_switch *s = &w->switches[w->n_switches];

	if (w->n_switches == SWITCHES_MAX)
		return;
	*s = (struct topo_switch){
		.guid = TOPOGEN_SWITCH_GUID + 1 + (w->n_switches * 7u) % 251,
		.sysimg_guid = flags & 8 ? 1 : TOPOGEN_SWITCH_GUID + w->n_switches,
		.n_ports = (uint8_t)(ports % PORTS_MAX),
		.lft_cap = flags & 16 ? 0 : 0xC000,
	};
	s->lid = flags & 32 ? 0 : take_lids(w, 0);
	w->vls[w->n_switches] = flags & 64 ? (uint8_t)(1 + flags % 3) : 0;
	w->slow[w->n_switches] = flags & 128;
	w->n_switches++;
}

static void add_host(struct world *w, unsigned at, unsigned port, unsigned flags)
{
	struct topo_host *h = &w->hosts[w->n_hosts];

	if (w->n_hosts == HOSTS_MAX || !w->n_switches)
		return;
	*h = (struct topo_host){
		.guid = TOPOGEN_HOST_GUID + 1 + w->n_hosts,
		.node_guid = TOPOGEN_HOST_GUID + 0x1000 + w->n_hosts / (flags & 1 ? 2 : 1),
		.sysimg_guid = TOPOGEN_HOST_GUID + 0x2000 + w->n_hosts / 2,
		.node_port = 1,
		.router = flags & 4,
		.lmc = flags & 2 ? (uint8_t)(flags >> 4 & 3) : 0,
	};
	h->lid = flags & 8 ? 0 : take_lids(w, h->lmc);
	if (!(flags & 128))
		w->host_links[w->n_host_links++] = (struct link){
			.a = h->guid, .b = w->switches[at % w->n_switches].guid,
			.b_port = (uint8_t)(port % PORTS_MAX),
		};
	w->n_hosts++;
}

static void add_link(struct world *w, unsigned a, unsigned a_port, unsigned b, unsigned b_port)
{
	if (w->n_links == LINKS_MAX || !w->n_switches)
		return;
	w->links[w->n_links++] = (struct link){
		.a = w->switches[a % w->n_switches].guid, .b = w->switches[b % w->n_switches].guid,
		.a_port = (uint8_t)(a_port % PORTS_MAX), .b_port = (uint8_t)(b_port % PORTS_MAX),
	};
}

/* One of the regular fabrics, to be bent. */
static void begin_with(struct world *w, struct bytes *b)
{
	unsigned kind = next(b) % 8, size = next(b), hosts = 1 + next(b) % 2;
	const struct topogen o = { .seed = size, .damage = size % 4 * 0.05, .random_guids = size & 1 };
	_cleanup_(topo_unrefp) struct topo *t = NULL;

	switch (kind) {
	case 0: return;
	case 1: t = topogen_fat_tree3(4, &o); break;
	case 2: t = topogen_fat_tree2(2 + size % 5, 1 + size % 3, hosts, 1 + size % 2, &o); break;
	case 3: t = topogen_torus((unsigned[]){ 2 + size % 5, 1 + size / 5 % 4, 1 + size / 20 % 2 }, hosts, &o); break;
	case 4: t = topogen_dragonfly(3 + size % 3, 2 + size % 3, hosts, &o); break;
	case 5: t = topogen_hyperx(2 + size % 4, 1 + size / 4 % 4, hosts, &o); break;
	case 6: t = topogen_random(2 + size % 20, 2 + size % 4, hosts, &o); break;
	case 7: t = topogen_torus((unsigned[]){ 3 + size % 12, 1, 1 }, hosts, &o); break;
	}
	for (uint32_t s = 0; s < t->n_switches && w->n_switches < SWITCHES_MAX; s++) {
		w->switches[w->n_switches] = t->switches[s];
		w->switches[w->n_switches++].lid = take_lids(w, 0);
	}
	for (uint32_t h = 0; h < t->n_hosts && w->n_hosts < HOSTS_MAX; h++) {
		w->hosts[w->n_hosts] = t->hosts[h];
		w->hosts[w->n_hosts++].lid = take_lids(w, t->hosts[h].lmc);
		if (t->hosts[h].sw != TOPO_NONE)
			w->host_links[w->n_host_links++] = (struct link){
				.a = t->hosts[h].guid, .b = t->switches[t->hosts[h].sw].guid,
				.b_port = t->hosts[h].sw_port,
			};
	}
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			const struct topo_port *port = topo_port(t, s, p);

			if (port->sw != TOPO_NONE && port->sw >= s && w->n_links < LINKS_MAX)
				w->links[w->n_links++] = (struct link){
					.a = t->switches[s].guid, .b = t->switches[port->sw].guid,
					.a_port = (uint8_t)p, .b_port = port->port,
				};
		}
}

static void change(struct world *w, struct bytes *b)
{
	unsigned op = next(b), x = next(b), y = next(b);

	switch (op % 5) {
	case 0: add_switch(w, x, y); break;
	case 1: add_host(w, x, y, op >> 3 | (x & 1) << 7); break;
	case 2: add_link(w, x, y, op >> 3, y + 1); break;
	case 3: add_link(w, x, next(b), y, next(b)); break;
	case 4:
		if (w->n_links)
			w->links[(x << 8 | y) % w->n_links].cut ^= true;
		break;
	}
}

static struct topo *build(const struct world *w)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned i = 0; i < w->n_switches; i++) {
		topo_add_switch(b, &w->switches[i]);
		for (unsigned p = 1; w->vls[i] && p <= w->switches[i].n_ports; p++)
			topo_set_port(b, w->switches[i].guid, (uint8_t)p, w->vls[i], w->slow[i]);
	}
	for (unsigned i = 0; i < w->n_hosts; i++)
		topo_add_host(b, &w->hosts[i]);
	for (unsigned i = 0; i < w->n_links; i++)
		if (!w->links[i].cut)
			topo_add_link(b, w->links[i].a, w->links[i].a_port, w->links[i].b,
				      w->links[i].b_port);
	for (unsigned i = 0; i < w->n_host_links; i++)
		topo_add_host_link(b, w->host_links[i].a, w->host_links[i].b, w->host_links[i].b_port);
	return topo_build(b);
}

/* ---- options ------------------------------------------------------------------------------- */

static guid_t any_switch(const struct world *w, struct bytes *b)
{
	unsigned i = next(b);

	return w->n_switches && i < 250 ? w->switches[i % w->n_switches].guid : 1 + i;
}

static guid_t any_host(const struct world *w, struct bytes *b)
{
	unsigned i = next(b);

	return w->n_hosts && i < 250 ? w->hosts[i % w->n_hosts].guid : 1 + i;
}

static struct route_guids guids_of(guid_t *list, guid_t (*any)(const struct world *, struct bytes *),
				   const struct world *w, struct bytes *b)
{
	unsigned n = next(b) % (2 * LISTED_MAX);

	if (n >= LISTED_MAX)
		return (struct route_guids){ 0 };
	for (unsigned i = 0; i < n; i++)
		list[i] = any(w, b);
	return (struct route_guids){ .guids = list, .n = n, .given = true, .broken = n == 3 };
}

static struct route_options read_options(struct lists *l, const struct world *w, struct bytes *b)
{
	unsigned flags = next(b), more = next(b);
	struct route_options o = {
		.connect_roots = flags & 1, .quasi_ftree_indexing = flags & 2,
		.do_mesh_analysis = flags & 4, .nue_include_switches = flags & 8,
		.avoid_throttled_links = flags & 16, .port_shifting = flags & 32,
		.count_switches = flags & 64, .scatter_seed = flags & 128 ? 5 : 0,
		.max_vls = more & 15, .lash_start_vl = more >> 4 & 3, .nue_max_num_vls = more >> 4 & 7,
		.max_reverse_hops = more >> 6,
	};

	o.roots = guids_of(l->roots, any_switch, w, b);
	o.cn = guids_of(l->cn, any_host, w, b);
	o.io = guids_of(l->io, any_host, w, b);
	o.order = l->order;
	o.n_order = guids_of(l->order, any_host, w, b).n;
	o.ids = l->ids;
	for (o.n_ids = 0; o.n_ids < next(b) % LISTED_MAX; o.n_ids++)
		l->ids[o.n_ids] = (struct route_guid_id){ any_switch(w, b), next(b) };
	o.port_order = l->ports;
	for (o.n_port_order = 0; o.n_port_order < next(b) % LISTED_MAX; o.n_port_order++)
		l->ports[o.n_port_order] = (struct route_port_order){
			.guid = any_switch(w, b), .n = 2, .ports = { (uint8_t)(1 + next(b)), (uint8_t)(1 + next(b)) },
		};
	o.weights = l->weights;
	for (o.n_weights = 0; o.n_weights < next(b) % LISTED_MAX / 2; o.n_weights++)
		l->weights[o.n_weights] = (struct route_guid_port){
			any_switch(w, b), (uint8_t)(1 + next(b) % PORTS_MAX), (uint8_t)(1 + next(b)),
		};
	return o;
}

/* ---- what must hold ------------------------------------------------------------------------ */

static void require_entries(const struct routes *r)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned lid = 0; lid <= r->top; lid++) {
			uint8_t port = routes_port(r, s, (lid_t)lid);

			require(port == LFT_NO_PORT || port <= t->switches[s].n_ports);
		}
}

static void require_lanes(const struct routes *r, unsigned most)
{
	const struct lanes *l = r->lanes;

	if (!l)
		return;
	require(l->n_vls && l->n_vls <= most && l->n_classes);
	for (size_t i = 0; i < (size_t)l->n_classes * l->n_classes * LANES_SLS; i++)
		require(l->vl[i] < l->n_vls);
}

/* LOUD=1: what is routed, and what the judge says. */
static void tell(const struct routes *r, const struct route_verdict *v)
{
	const struct topo *t = r->topo;
	char text[ROUTE_VERDICT_STRLEN];

	fprintf(stderr, "%s: %s\n", r->engine, route_verdict_str(v, text));
	fprintf(stderr, "lost: LID %u from switch %u, ends at %u\n", v->lost_example.to,
		v->lost_example.from, v->lost_example.end);
	for (uint32_t s = 0; s < t->n_switches; s++) {
		fprintf(stderr, "switch %u LID %u cap %u:", s, t->switches[s].lid, t->switches[s].lft_cap);
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_port(t, s, p)->sw != TOPO_NONE)
				fprintf(stderr, " %u>%u", p, topo_port(t, s, p)->sw);
		fprintf(stderr, "\n");
	}
}

static void require_proof(const struct routes *r, bool promised)
{
	struct route_verdict v;

	routes_check(r, 1, &v);
	if (getenv("LOUD"))
		tell(r, &v);
	require(!v.looping && !v.lost);
	if (!promised)
		return;
	require(!v.credit_loop);
	require(!lanes_desk_check(r).stuck);
}

static void require_same(const struct routes *a, const struct routes *b)
{
	require(a->top == b->top && !strcmp(a->note, b->note));
	require(!a->topo->n_switches ||
		!memcmp(a->lft, b->lft, (size_t)a->topo->n_switches * a->row_size));
	require(!a->lanes == !b->lanes);
	require(lanes_bytes(a->lanes) == lanes_bytes(b->lanes));
}

static struct routes *run(const char *name, struct route_job *job, bool promised)
{
	const struct route_engine *engine = route_engine_find(name);
	char why[160] = "", why2[160] = "";
	struct routes *r, *again;

	job->threads = 1;
	r = route_engine_run(engine, job, why, sizeof(why));
	job->threads = 2;
	again = route_engine_run(engine, job, why2, sizeof(why2));
	require(!r == !again && !strcmp(why, why2));
	require(r || (why[0] && strcmp(name, "auto")));
	if (!r)
		return NULL;
	require_same(r, again);
	require_entries(r);
	require_lanes(r, route_lanes(job));
	require_proof(r, promised);
	routes_unref(again);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct bytes b = { input, input + len };
	_cleanup_free_ struct world *w = xcalloc(1, sizeof(*w));
	_cleanup_free_ struct lists *lists = xcalloc(1, sizeof(*lists));
	unsigned engine = next(&b), n_changes = next(&b) % 32, late = next(&b) % 4;
	bool promised = engine % (ARRAY_SIZE(provers) + ARRAY_SIZE(others)) < ARRAY_SIZE(provers);
	const char *name = promised ? provers[engine % (ARRAY_SIZE(provers) + ARRAY_SIZE(others))]
				    : others[engine % ARRAY_SIZE(others)];
	struct routes *first, *second;
	struct topo *before, *after;
	struct route_job job;

	begin_with(w, &b);
	for (unsigned i = 0; i < n_changes && b.at < b.end; i++)
		change(w, &b);
	before = build(w);
	for (unsigned i = 0; i < late; i++)
		change(w, &b);
	after = build(w);
	if (getenv("LOUD"))
		fprintf(stderr, "%s\n", name);
	job = (struct route_job){ .topo = before, .options = read_options(lists, w, &b) };
	first = run(name, &job, promised);
	job.topo = after;
	job.previous = first;
	second = run(name, &job, promised);
	routes_unref(first);
	routes_unref(second);
	topo_unref(before);
	topo_unref(after);
	return 0;
}
