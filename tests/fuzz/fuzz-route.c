// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary fabrics through every routing engine: no crash, no hang, and a proof or a refusal.
 *
 * The input is a program that builds a fabric: perhaps one of the regular ones to begin with, then
 * switches, hosts and cables anywhere, also twice, also from a switch to itself. Rounds follow:
 * something breaks, is mended or moved, and what was made before, perhaps by another engine or with
 * other options, is what the engine has to go by then. Groups of random members are planned on top,
 * and keep their trees as they can.
 *
 * What must hold: a refusal says why; auto refuses nothing; tables lead out of ports that are
 * there; nothing that cables connect is lost and nothing goes round; engines that promise it are
 * free of deadlock, which a second proof, with no code of the first, confirms, and the
 * judge in a hurry agrees; two threads make the same bytes as one; what a list of engines chooses
 * holds; trees close no cycle without saying so. The engine `file` reads the tables of another,
 * mutilated: whatever it says then, it stands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/lists/torus.h"
#include "route/proof/check.h"
#include "route/select/choose.h"
#include "route/proof/cdg.h"
#include "route/core/engine.h"
#include "route/select/engines.h"
#include "route/io/routes_pack.h"
#include "route/io/tablefile.h"
#include "route/proof/transition.h"
#include "tests/lib/tables.h"
#include "tests/lib/topogen.h"
#include "tests/unit/lanes-desk.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 90; /* replay.c */

#define SWITCHES_MAX 48
#define HOSTS_MAX    64
#define LINKS_MAX    256
#define PORTS_MAX    40
#define LISTED_MAX   8
#define GROUPS       3
#define MEMBERS_MAX  12

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
	unsigned torus[3]; /* its sizes, if one was begun with */
	/* some switch has a table too small for the LIDs: what is lost is no fault */
	bool cramped;
};

struct lists {
	guid_t roots[LISTED_MAX], cn[LISTED_MAX], io[LISTED_MAX], order[LISTED_MAX];
	struct route_guid_id ids[LISTED_MAX];
	struct route_port_order ports[LISTED_MAX];
	struct route_guid_port weights[LISTED_MAX];
	struct route_guid_port ignore[LISTED_MAX];
	struct torus_conf torus;
	struct torus_seed seeds[2];
	char *tables; /* text for the engine `file` */
};

/* What is asked for, and what it promises. */
static const struct asked {
	const char *name;
	bool acyclic;
	bool complete; /* what cables connect has a way */
	bool list;     /* no engine: a random list of them */
} asked[] = {
	{ "auto", true, true, false },	    { "updn", true, true, false },
	{ "dnup", true, true, false },	    { "ftree", true, true, false },
	{ "lash", true, true, false },	    { "dfsssp", true, true, false },
	{ "nue", true, true, false },	    { "torus-2QoS", true, true, false },
	{ "dragonfly", true, true, false }, { "hyperx", true, true, false },
	{ "minhop", false, true, false },   { "sssp", false, true, false },
	{ "dor", false, true, false },	    { "file", false, false, false },
	{ "a list", true, true, true },	    { "a list, unsafe", false, false, true },
	{ "columns", false, true, false },
};

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

/* A table for all LIDs, for none, for some. */
static lid_t table_size(struct world *w, unsigned kind)
{
	if (kind < 128)
		return kind & 1 ? 0xC000 : 0;
	w->cramped = true;
	return (lid_t)(kind - 127);
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
	unsigned kind = next(b) % 8, size = next(b), flags = next(b), hosts = 1 + flags % 2;
	static const uint8_t lmcs[8] = { 0, 0, 0, 0, 0, 1, 2, 3 };
	const struct topogen o = { .seed = size,
				   .damage = size % 4 * 0.05,
				   .random_guids = size & 1,
				   .lmc = flags == 255 ? 7 : lmcs[flags >> 5] };
	_cleanup_(topo_unrefp) struct topo *t = NULL;

	switch (kind) {
	case 0: return;
	case 1: t = topogen_fat_tree3(4, &o); break;
	case 2: t = topogen_fat_tree2(2 + size % 5, 1 + size % 3, hosts, 1 + size % 2, &o); break;
	case 3:
		w->torus[0] = 2 + size % 5;
		w->torus[1] = 1 + size / 5 % 4;
		w->torus[2] = 1 + size / 20 % 2;
		t = topogen_torus(w->torus, hosts, &o);
		break;
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

static void change_host(struct world *w, unsigned op, unsigned x, unsigned y)
{
	struct topo_host *h = w->n_hosts ? &w->hosts[x % w->n_hosts] : NULL;
	struct link *l = w->n_host_links ? &w->host_links[x % w->n_host_links] : NULL;

	if (h && op & 1)
		h->lid = y & 1 ? 0 : take_lids(w, h->lmc);
	else if (l && op & 2)
		*l = (struct link){ .a = l->a, .b = w->switches[y % w->n_switches].guid,
				    .b_port = (uint8_t)(y % PORTS_MAX) };
	else if (l)
		l->cut ^= true;
}

static void change_switch(struct world *w, unsigned op, unsigned x, unsigned y)
{
	struct topo_switch *s = w->n_switches ? &w->switches[x % w->n_switches] : NULL;

	if (!s)
		return;
	switch (op & 3) {
	case 0: s->lft_cap = table_size(w, y); break;
	case 1: s->lid = y & 1 ? 0 : take_lids(w, 0); break;
	case 2:
		w->vls[x % w->n_switches] = (uint8_t)(y % 16);
		w->slow[x % w->n_switches] = y & 16;
		break;
	case 3: /* it leaves; the ports keep their LIDs */
		for (unsigned i = 0; i < w->n_links; i++)
			w->links[i].cut |= w->links[i].a == s->guid || w->links[i].b == s->guid;
		for (unsigned i = 0; y & 1 && i < w->n_host_links; i++)
			w->host_links[i].cut |= w->host_links[i].b == s->guid;
		break;
	}
}

static void change(struct world *w, struct bytes *b)
{
	unsigned op = next(b), x = next(b), y = next(b);

	switch (op % 8) {
	case 0: add_switch(w, x, y); break;
	case 1: add_host(w, x, y, op >> 3 | (x & 1) << 7); break;
	case 2: add_link(w, x, y, op >> 3, y + 1); break;
	case 3: add_link(w, x, next(b), y, next(b)); break;
	case 4: change_host(w, op >> 3, x, y); break;
	case 5: change_switch(w, op >> 3, x, y); break;
	default:
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
			topo_set_port(b, w->switches[i].guid, (uint8_t)p,
				      (struct topo_port_facts){ w->vls[i], w->slow[i],
							 w->slow[i] ? 160 : 1000 });
	}
	for (unsigned i = 0; i < w->n_hosts; i++)
		topo_add_host(b, &w->hosts[i]);
	for (unsigned i = 0; i < w->n_links; i++)
		if (!w->links[i].cut)
			topo_add_link(b, w->links[i].a, w->links[i].a_port, w->links[i].b,
				      w->links[i].b_port);
	for (unsigned i = 0; i < w->n_host_links; i++)
		if (!w->host_links[i].cut)
			topo_add_host_link(b, w->host_links[i].a, w->host_links[i].b,
					   w->host_links[i].b_port);
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

static struct route_guids guids_of(guid_t *list,
				   guid_t (*any)(const struct world *, struct bytes *),
				   const struct world *w, struct bytes *b)
{
	unsigned n = next(b) % (2 * LISTED_MAX);

	if (n >= LISTED_MAX)
		return (struct route_guids){ 0 };
	for (unsigned i = 0; i < n; i++)
		list[i] = any(w, b);
	return (struct route_guids){ .guids = list, .n = n, .given = true, .broken = n == 3 };
}

/* The torus that the fabric began with, or any other. */
static const struct torus_conf *read_torus(struct lists *l, const struct world *w, struct bytes *b)
{
	unsigned kind = next(b);

	if (!(kind & 3))
		return NULL;
	l->torus = (struct torus_conf){ .seeds = l->seeds, .n_seeds = kind >> 2 & 3 };
	l->torus.n_seeds = MIN(l->torus.n_seeds, ARRAY_SIZE(l->seeds));
	for (unsigned i = 0; i < 3; i++) {
		unsigned size = w->torus[(i + kind) % 3];

		l->torus.size[i] = kind & 16 || !size ? 1 + next(b) % 6 : size;
		l->torus.wraps[i] = l->torus.size[i] > 2 && !(kind >> (5 + i) & 1);
	}
	for (unsigned i = 0; i < l->torus.n_seeds; i++) {
		l->seeds[i] = (struct torus_seed){ .from = any_switch(w, b) };
		for (unsigned k = next(b) % 7; k < 6; k++)
			l->seeds[i].to[k / 2][k % 2] = any_switch(w, b);
		for (unsigned k = 0; k < 3; k++)
			l->seeds[i].dateline[k] = (int)(next(b) % 9) - 4;
	}
	for (unsigned n = next(b) % 8; l->torus.n_order < n; l->torus.n_order++)
		l->torus.order[l->torus.n_order] = (uint8_t)(8 - l->torus.n_order);
	return &l->torus;
}

static struct route_options read_options(struct lists *l, const struct world *w, struct bytes *b)
{
	unsigned flags = next(b), more = next(b);
	struct route_options o = {
		.quasi_ftree_indexing = flags & 2,
		.nue_include_switches = flags & 8,
		.avoid_throttled_links = flags & 16,
		.port_shifting = flags & 32,
		.count_switches = flags & 64,
		.scatter_seed = flags & 128 ? 5 : 0,
		.max_vls = more & 15,
		.lash_start_vl = more >> 4 & 3,
		.nue_max_num_vls = more >> 4 & 7,
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
			.guid = any_switch(w, b),
			.n = 2,
			.ports = { (uint8_t)(1 + next(b)), (uint8_t)(1 + next(b)) },
		};
	o.weights = l->weights;
	for (o.n_weights = 0; o.n_weights < next(b) % LISTED_MAX / 2; o.n_weights++)
		l->weights[o.n_weights] = (struct route_guid_port){
			any_switch(w, b),
			(uint8_t)(1 + next(b) % PORTS_MAX),
			(uint8_t)(1 + next(b)),
		};
	o.ignore = l->ignore;
	for (o.n_ignore = 0; o.n_ignore < next(b) % LISTED_MAX / 2; o.n_ignore++)
		l->ignore[o.n_ignore] = (struct route_guid_port){
			.guid = any_switch(w, b), .port = (uint8_t)(1 + next(b) % PORTS_MAX),
		};
	o.torus = read_torus(l, w, b);
	o.order_no_scatter = flags & 129;
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
	const struct sl2vl *l = r->lanes;

	if (!l)
		return;
	require(l->n_vls && l->n_vls <= most && l->n_classes);
	for (size_t i = 0; i < (size_t)l->n_classes * l->n_classes * SL2VL_SLS; i++)
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
		fprintf(stderr, "switch %u LID %u cap %u:", s, t->switches[s].lid,
			t->switches[s].lft_cap);
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_port(t, s, p)->sw != TOPO_NONE)
				fprintf(stderr, " %u>%u", p, topo_port(t, s, p)->sw);
		fprintf(stderr, "\n");
	}
}

static void require_same_verdict(const struct route_verdict *a, const struct route_verdict *b)
{
	char x[ROUTE_VERDICT_STRLEN], y[ROUTE_VERDICT_STRLEN];

	require(!strcmp(route_verdict_str(a, x), route_verdict_str(b, y)));
	require(a->pairs == b->pairs && a->unreachable == b->unreachable && a->cut == b->cut &&
		a->lost == b->lost && a->looping == b->looping && a->detours == b->detours &&
		a->switch_unreachable == b->switch_unreachable &&
		a->credit_loop == b->credit_loop && a->max_load == b->max_load &&
		a->min_load == b->min_load && a->max_hops == b->max_hops);
}

static void require_proof(const struct routes *r, const struct route_verdict *v,
			  const struct asked *what)
{
	if (getenv("LOUD"))
		tell(r, v);
	if (what->complete || what->acyclic)
		require(!v->looping);
	if (what->complete)
		require(!v->lost);
	if (!what->acyclic)
		return;
	require(!v->credit_loop);
	require(!lanes_desk_check(r).stuck);
}

static void require_same(const struct routes *a, const struct routes *b)
{
	require(a->top == b->top && !strcmp(a->note, b->note) && !strcmp(a->engine, b->engine));
	require(!a->topo->n_switches ||
		!memcmp(a->lft, b->lft, (size_t)a->topo->n_switches * a->row_size));
	require(!a->lanes == !b->lanes);
	if (!a->lanes)
		return;
	require(sl2vl_n_sl(a->lanes) == sl2vl_n_sl(b->lanes));
	require(a->lanes->n_vls == b->lanes->n_vls && a->lanes->by == b->lanes->by &&
		a->lanes->n_classes == b->lanes->n_classes &&
		a->lanes->sl_mask == b->lanes->sl_mask);
	require(!sl2vl_n_sl(a->lanes) || !memcmp(a->lanes->sl, b->lanes->sl, sl2vl_n_sl(a->lanes)));
	require(!memcmp(a->lanes->vl, b->lanes->vl,
			(size_t)a->lanes->n_classes * a->lanes->n_classes * SL2VL_SLS));
}

/* ---- what is asked ------------------------------------------------------------------------- */

/* Some engines, some words that are none, in any order. */
static void random_list(struct bytes *b, char *ret, size_t size)
{
	static const char *const words[] = {
		"", "no_fallback", "nonsense", " ,", "ftree,", "\t\n"
	};
	unsigned n = 1 + next(b) % 5;
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < n && len < size; i++) {
		unsigned k = next(b);

		len += (size_t)snprintf(ret + len, size - len, "%s,",
					k & 64 ? words[k % ARRAY_SIZE(words)] : asked[k % 14].name);
	}
}

struct round {
	const struct asked *what;
	struct route_chain chain;
	struct route_job job;
};

static struct routes *ask(struct round *round, unsigned threads, char why[160])
{
	struct route_job *job = &round->job;
	struct route_choice choice;
	struct routes *r;

	job->threads = threads;
	if (!round->what->list)
		return route_engine_run(route_engine_find(round->what->name), job, why, 160);
	r = route_choose(&round->chain, job, &choice);
	memcpy(why, choice.why, sizeof(choice.why));
	require(!r || choice.unsafe || !route_fault(&choice.verdict));
	require(r || job->cancelled || !round->what->complete ||
		strstr(round->chain.list, "no_fallback"));
	return r;
}

/* With one thread, with two, and with a job that is given up at once. */
static struct routes *run(struct round *round)
{
	_cleanup_(routes_unrefp) struct routes *again = NULL;
	char why[160] = "", why2[160] = "";
	static const atomic_bool cancelled = true;
	struct route_verdict v, after;
	struct routes *r;

	r = ask(round, 1, why);
	again = ask(round, 2, why2);
	require(!r == !again && (r || !strcmp(why, why2)));
	require(r || why[0]);
	require(r || round->what->list || !round->what->complete ||
		strcmp(round->what->name, "auto"));
	if (!r)
		return NULL;
	require_same(r, again);
	require_entries(r);
	require_lanes(r, route_vls(&round->job));
	routes_check(r, 1, &v);
	require_proof(r, &v, round->what);
	routes_check_after(round->job.previous, r, 1, &after);
	require_same_verdict(&v, &after);
	round->job.cancelled = &cancelled;
	routes_unref(ask(round, 2, why));
	round->job.cancelled = NULL;
	return r;
}

/* What another engine makes of it, as text with some bytes changed. */
static void read_tables(struct round *round, struct lists *l, struct bytes *b)
{
	const char *name = asked[next(b) % 13].name;
	unsigned faults = next(b) % 16;
	_cleanup_(routes_unrefp) struct routes *r = NULL;
	struct route_text *text = &round->job.options.lfts;
	char why[160];
	FILE *out;

	free(l->tables);
	l->tables = NULL;
	*text = (struct route_text){ 0 };
	if (faults == 15)
		return;
	r = route_engine_run(route_engine_find(name), &round->job, why, sizeof(why));
	text->name = "tables";
	if (!r)
		return;
	out = open_memstream(&l->tables, &text->len);
	tables_write_lfts(r, out);
	fclose(out);
	for (unsigned i = 0; i < faults && text->len; i++) {
		unsigned at = next(b) << 8, byte;

		at |= next(b);
		byte = next(b);
		l->tables[at % text->len] = (char)(byte & 128 ? byte & 127 : '0' + byte % 10);
	}
	text->text = l->tables;
}

/* What a damaged process hands over is refused, or tables of this fabric. */
static void read_damaged(const struct routes *r, const struct routes *before, struct bytes b)
{
	struct pack p = { 0 };
	struct routes *back;
	struct unpack u;

	routes_pack(r, before, &p);
	for (unsigned left = next(&b) % 8; left > 0; left--) {
		unsigned at = next(&b) << 8;

		at |= next(&b);
		p.bytes[at % p.n] = (uint8_t)next(&b);
	}
	u = (struct unpack){ .at = p.bytes, .left = p.n };
	back = routes_unpack(&u, r->topo, before);
	require(!back == u.bad);
	if (back)
		require_entries(back);
	routes_unref(back);
	free(p.bytes);
}

/* ---- groups -------------------------------------------------------------------------------- */

static void require_tree(const struct mcast_tree *tree, const struct topo *t)
{
	for (uint32_t i = 0; i < tree->n_rows; i++) {
		const struct mcast_row *row = &tree->rows[i];

		require(row->sw < t->n_switches && t->switches[row->sw].guid == row->guid);
		for (unsigned p = 0; p < 256; p++)
			require(!(row->mask[p / 64] >> p % 64 & 1) ||
				p <= t->switches[row->sw].n_ports);
		require(row->up == MCAST_NONE || row->up < tree->n_rows);
		require(row->up == MCAST_NONE ||
			topo_port(t, row->sw, row->up_port)->sw == tree->rows[row->up].sw);
	}
}

static uint32_t read_members(const struct topo *t, struct bytes *b, struct mcast_member *ret)
{
	uint32_t n = 0;

	for (unsigned want = next(b) % MEMBERS_MAX; n < want; n++) {
		unsigned x = next(b), flags = next(b);
		const struct topo_host *h = t->n_hosts ? &t->hosts[x % t->n_hosts] : NULL;

		ret[n] = (struct mcast_member){ .sw = TOPO_NONE, .receive = flags & 7 };
		if (flags & 8 && t->n_switches)
			ret[n].sw = x % t->n_switches;
		else if (h && h->sw_port) {
			ret[n].sw = h->sw;
			ret[n].port = h->sw_port;
		}
	}
	return n;
}

/* Trees that stay as they can beside these tables. */
static void plan_groups(const struct routes *r, const struct route_options *options,
			struct mcast_tree **trees, struct bytes *b)
{
	_cleanup_(mcast_planner_freep) struct mcast_planner *planner = NULL;
	struct mcast_params params = { .topo = r->topo, .routes = r, .options = options };
	const uint8_t sls[GROUPS] = { 0 };
	bool proved, unproved = false;
	struct route_verdict v;
	uint16_t caps[SWITCHES_MAX];
	unsigned flags = next(b);

	routes_check_graph(r, 1, &v, &params.depends);
	proved = cdg_is_acyclic(params.depends);
	require(proved == !v.credit_loop);
	if (!proved || flags & 1)
		params.depends = cdg_free(params.depends);
	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		caps[s] = flags & 2 ? (uint16_t)(s * flags % 5) : 1000;
	params.caps = flags & 4 ? caps : NULL;
	planner = mcast_planner_new(&params);
	for (unsigned i = 0; i < GROUPS; i++) {
		struct mcast_member members[MEMBERS_MAX];
		struct mcast_job job = { .mlid = (lid_t)(MLID_MIN + i),
					 .members = members,
					 .previous = trees[i] };
		struct mcast_tree *tree;

		job.n_members = read_members(r->topo, b, members);
		job.may_replan = flags & 8;
		tree = mcast_plan(planner, &job);
		mcast_tree_unref(trees[i]);
		trees[i] = tree;
		require_tree(tree, r->topo);
		unproved |= tree->unproved;
	}
	if (params.depends && !unproved)
		require(tables_check_trees(r, (const struct mcast_tree *const *)trees, GROUPS, sls,
					   NULL));
}

/* ---- all of it ----------------------------------------------------------------------------- */

struct play {
	struct world world;
	struct lists lists;
	struct route_options options;
	struct routes *routes;
	struct mcast_tree *trees[GROUPS];
};

static void play_round(struct play *play, const struct asked *what, struct bytes *b)
{
	_cleanup_(topo_unrefp) struct topo *t = build(&play->world);
	struct round round = {
		.what = what,
		.job = { .topo = t, .options = play->options, .previous = play->routes },
	};
	struct asked mine = *what;
	struct transition *steps;
	struct routes *r;
	char list[160];

	round.what = &mine;
	mine.complete &= !play->world.cramped;
	/* the judge refuses them; lanes are given to whole ways */
	mine.acyclic &= !play->world.cramped;
	if (what->list)
		random_list(b, list, sizeof(list));
	round.chain =
		(struct route_chain){ .list = list, .allow_unsafe = what->list && !what->acyclic };
	if (what->list || !strcmp(what->name, "file"))
		read_tables(&round, &play->lists, b);
	if (getenv("LOUD"))
		fprintf(stderr, "---- %s: %s\n", what->name, what->list ? list : "");
	r = run(&round);
	if (!r)
		return;
	read_damaged(r, play->routes, *b);
	if (play->routes) {
		steps = transition_find(play->routes, r);
		transition_free(steps);
	}
	routes_unref(play->routes);
	play->routes = r;
	plan_groups(r, &round.job.options, play->trees, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct bytes b = { input, input + len };
	_cleanup_free_ struct play *play = xcalloc(1, sizeof(*play));
	unsigned engine = next(&b), n_changes = next(&b) % 32, late = next(&b);
	unsigned rounds = 2 + (late >> 2 & 3) % 3;

	play->world.next_lid = 0;
	begin_with(&play->world, &b);
	for (unsigned i = 0; i < n_changes && b.at < b.end; i++)
		change(&play->world, &b);
	play->options = read_options(&play->lists, &play->world, &b);
	for (unsigned round = 0; round < rounds; round++) {
		/* another engine had its turn before, or other options */
		bool other = round % 2 && late & 16;

		play_round(play, &asked[(other ? late >> 4 : engine) % ARRAY_SIZE(asked)], &b);
		for (unsigned i = 0; i < (late & 3); i++)
			change(&play->world, &b);
		if (late & 32 && next(&b) & 1)
			play->options = read_options(&play->lists, &play->world, &b);
	}
	for (unsigned i = 0; i < GROUPS; i++)
		mcast_tree_unref(play->trees[i]);
	routes_unref(play->routes);
	free(play->lists.tables);
	return 0;
}
