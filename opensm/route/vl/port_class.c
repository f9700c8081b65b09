// SPDX-License-Identifier: BSD-2-Clause
/* Classes of ports, entries moved so that paths of three cables fit them, and the proof. */
#include "route/vl/port_class.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "route/proof/keep_policy.h"
#include "util/mem.h"
#include "util/random.h"

/*
 * Slim Fly of q = 13 with 9 hosts a switch, cables cut at random: two VLs hold with 5 of 3,211
 * gone, three with 100; four with 200, as dfsssp does with service levels.
 */
#define VLS_MAX	   3
/* Mean hops up to which a proof pays, and in small fabrics. Paths of two cables have under 2. */
#define HOPS	   2.25
#define HOPS_SMALL 4.25
#define CABLES_MAX 4   /* counted on a path */
#define MANY	   256 /* hosts from which on the paths to some are looked at first */
#define AHEAD	   8   /* rows */

/* ---- classes ------------------------------------------------------------------------------- */

struct classes {
	const struct topo *t;
	uint32_t *hosts; /* per switch */
	unsigned most;
};

/* Of the port of `sw` behind a cable from `peer`: the same for as long as the cable is there. */
static unsigned class_of(const void *arg, uint32_t sw, uint32_t peer)
{
	const struct classes *c = arg;
	uint64_t seed = c->t->switches[sw].guid * 31 + c->t->switches[peer].guid;

	if (c->hosts[peer] && !c->hosts[sw])
		return 0;
	return c->most == 1 ? 1 : 1 + (unsigned)(random_next(&seed) & 1);
}

static struct sl2vl *make_vls(const struct routes *r, unsigned n_vls)
{
	struct sl2vl *l = sl2vl_new(r->topo, n_vls, SL2VL_BY_NOTHING, r->row_size, n_vls);
	size_t row = (size_t)n_vls * SL2VL_SLS;
	struct classes c = { .t = r->topo, .hosts = topo_count_hosts(r->topo), .most = n_vls - 1 };

	sl2vl_set_classes(l, r->topo, class_of, &c);
	for (unsigned in = 0; in < n_vls; in++)
		memset(&l->vl[in * row], (int)in, row);
	memset(l->host_vl, 0, sizeof(l->host_vl));
	free(c.hosts);
	return l;
}

static bool is_by_class(const struct sl2vl *l)
{
	size_t row = (size_t)l->n_classes * SL2VL_SLS;

	if (l->by != SL2VL_BY_NOTHING || l->n_classes != l->n_vls || !l->class_of)
		return false;
	for (size_t i = 0; i < row * l->n_classes; i++)
		if (l->vl[i] != i / row)
			return false;
	return true;
}

/* ---- paths of three cables ----------------------------------------------------------------- */

struct moved {
	uint32_t sw;
	lid_t lid;
	uint8_t port; /* before */
};

struct mover {
	struct routes *r;
	const struct sl2vl *l;
	uint32_t *sources; /* by switch: number of its end ports */
	uint32_t *load;	   /* per channel: pairs on paths of three cables */
	uint32_t *next;	   /* per channel: the switch it leads to; the number of switches: none */
	uint8_t *behind;   /* per channel: the class of the port it leads to */
	/*
	 * Per switch, and one more for none, for the present LID: the channel it sends by,
	 * TOPO_NONE: none; the cables to it; of paths of two cables the class behind the first.
	 */
	uint32_t *channel;
	uint8_t *cables, *second;
	struct moved *moved;
	size_t n, cap;
	struct arena memory;
};

/* Cables on the path to the present LID on switch `at`; CABLES_MAX: as many or more, or no path. */
static unsigned count_cables(const struct mover *m, uint32_t sw, uint32_t at)
{
	unsigned n = 0;

	for (; sw != at && n < CABLES_MAX; n++) {
		if (m->channel[sw] == TOPO_NONE)
			return CABLES_MAX;
		sw = m->next[m->channel[sw]];
	}
	return n;
}

/* Reads the entries of one LID. Those that move later begin paths of three cables, as before. */
static void read_column(struct mover *m, lid_t lid, uint32_t at)
{
	const struct routes *r = m->r;
	uint32_t n = r->topo->n_switches;

	for (uint32_t s = 0; s < n; s++) {
		__builtin_prefetch(routes_row(r, MIN(s + AHEAD, n - 1)) + MIN(lid, r->top));
		m->channel[s] = routes_channel(r, s, lid);
	}
	for (uint32_t s = 0; s < n; s++) {
		m->cables[s] = (uint8_t)count_cables(m, s, at);
		m->second[s] = m->cables[s] == 2 ? m->behind[m->channel[s]] : 0;
	}
}

/* Are there three cables by this channel, and the second leads to a port of a higher class? */
static bool climbs(const struct mover *m, uint32_t channel)
{
	return m->behind[channel] < m->second[m->next[channel]];
}

/* Adds to the channels of the path from `sw` on. Returns what the most loaded carries then. */
static uint32_t add_load(const struct mover *m, uint32_t sw, uint32_t by)
{
	uint32_t most = 0, channel = m->channel[sw];

	for (unsigned hops = 0; channel != TOPO_NONE && hops < CABLES_MAX; hops++) {
		m->load[channel] += by;
		most = MAX(most, m->load[channel]);
		channel = m->channel[m->next[channel]];
	}
	return most;
}

/* The least loaded port by which the path climbs; 0: there is none. */
static uint8_t find_port(const struct mover *m, uint32_t sw, lid_t lid)
{
	const struct topo_switch *s = &m->r->topo->switches[sw];
	uint32_t least = UINT32_MAX;
	unsigned best = 0, p = 1 + lid % s->n_ports; /* it has the port that the path begins with */

	/* another one first for every LID, so that equal ones spread */
	for (unsigned i = 0; i < s->n_ports; i++, p = p < s->n_ports ? p + 1 : 1) {
		uint32_t channel = s->first_port + p, load;

		if (!climbs(m, channel))
			continue;
		load = MAX(m->load[channel], add_load(m, m->next[channel], 0));
		if (load < least) {
			least = load;
			best = p;
		}
	}
	return (uint8_t)best;
}

static void move_entry(struct mover *m, uint32_t sw, lid_t lid)
{
	uint8_t port = climbs(m, m->channel[sw]) ? 0 : find_port(m, sw, lid);

	if (port) {
		APPEND(m->moved, m->n, m->cap) =
			(struct moved){ sw, lid, routes_port(m->r, sw, lid) };
		routes_write(m->r, sw, lid, port);
		m->channel[sw] = m->r->topo->switches[sw].first_port + port;
		m->r->dealt = false;
	}
	add_load(m, sw, m->sources[sw]);
}

static void move_column(struct mover *m, lid_t lid, uint32_t at)
{
	read_column(m, lid, at);
	for (uint32_t s = 0; s < m->r->topo->n_switches; s++)
		if (m->cables[s] == 3)
			move_entry(m, s, lid);
}

/* Entries that begin a path of three cables to the hosts from .. to - 1. */
static void move_entries(const struct route_job *job, struct mover *m, uint32_t from, uint32_t to)
{
	const struct topo *t = m->r->topo;

	for (uint32_t h = from; h < to && !route_is_cancelled(job); h++)
		TOPO_EACH_LID(&t->hosts[h], lid)
	if (t->hosts[h].sw != TOPO_NONE)
		move_column(m, (lid_t)lid, t->hosts[h].sw);
}

static void mover_begin(struct mover *m)
{
	const struct topo *t = m->r->topo;

	ARENA_ARRAYS(&m->memory, topo_n_entries(t), m->load, m->next, m->behind);
	ARENA_ARRAYS(&m->memory, t->n_switches + 1u, m->channel, m->cables, m->second);
	m->sources = arena_keep(&m->memory, topo_count_hosts(t));
	for (uint32_t e = 0; e < topo_n_entries(t); e++) {
		uint32_t peer = topo_peer(t, e);

		m->next[e] = t->ports[e].sw == TOPO_NONE ? t->n_switches : t->ports[e].sw;
		m->behind[e] = peer == TOPO_NONE ? 0 : m->l->class_of[peer];
	}
}

static void mover_done(struct mover *m)
{
	free(m->moved);
	arena_done(&m->memory);
}

/* ---- the check ----------------------------------------------------------------------------- */

/* Nothing but load decides which of the shortest paths an entry takes. */
static bool may_move(const struct route_engine *engine, const struct route_job *job)
{
	return engine && (engine->balances || engine->by_load) && !job->options.n_weights &&
	       !job->options.avoid_throttled_links;
}

/*
 * Moves entries and checks. Where classes are of no use, the paths to some of the hosts show it,
 * mostly to few, or to half of them.
 */
static void move_and_check(const struct route_job *job, struct mover *m, struct route_verdict *ret)
{
	static const unsigned shares[] = { 16, 2 };
	uint32_t n = m->r->topo->n_hosts, done = 0;

	for (unsigned i = 0; n >= MANY && i < ARRAY_SIZE(shares); i++) {
		move_entries(job, m, done, n / shares[i]);
		done = n / shares[i];
		ret->credit_loop = routes_loop_to(m->r, job->threads, done, CHECK_EACH);
		if (ret->credit_loop)
			return;
	}
	move_entries(job, m, done, n);
	routes_check(m->r, job->threads, ret);
}

/* Do the paths to a host of every switch show that there is a credit loop? */
static bool surely_loops(const struct route_job *job, const struct routes *r)
{
	uint32_t n = r->topo->n_hosts;

	return n >= MANY && routes_loop_to(r, job->threads, n, CHECK_ONE_PER_SWITCH);
}

/* False, and `r` and `ret` stay as they were: there would be a credit loop all the same. */
static bool holds_on(unsigned n_vls, const struct route_engine *engine, const struct route_job *job,
		     struct routes *r, struct route_verdict *ret)
{
	_cleanup_(mover_done) struct mover m = { .r = r, .l = r->lanes = make_vls(r, n_vls) };
	struct route_verdict v = { .pairs = 0 };
	size_t len = strlen(r->note);

	mover_begin(&m);
	if (n_vls > 2 && may_move(engine, job))
		move_and_check(job, &m, &v);
	else if (surely_loops(job, r))
		v.credit_loop = true;
	else
		routes_check(r, job->threads, &v);
	if (v.credit_loop) {
		while (m.n--)
			routes_write(r, m.moved[m.n].sw, m.moved[m.n].lid, m.moved[m.n].port);
		r->lanes = sl2vl_free(r->lanes);
	} else {
		snprintf(r->note + len, sizeof(r->note) - len,
			 "%s%u VLs by port class, no SL by path", len ? "; " : "", n_vls);
		*ret = v;
	}
	return !v.credit_loop;
}

/* VLs by port class of the previous tables, if these are of the same engine; 0: none. */
static unsigned vls_before(const struct route_job *job, const struct routes *r)
{
	const struct routes *before = job->previous;

	if (r->lanes || !routes_are_by(before, r->engine) || !before->lanes ||
	    !is_by_class(before->lanes) || before->lanes->n_vls > MIN(route_vls(job), VLS_MAX))
		return 0;
	return before->lanes->n_vls;
}

static bool is_worth_proofs(const struct topo *t, const struct route_verdict *v)
{
	return v->credit_loop && !v->looping && !v->lost &&
	       v->avg_hops <= (keep_may_compare(t) ? HOPS_SMALL : HOPS);
}

bool port_class_lacks_vls(const struct route_job *job, const struct routes *r,
			  const struct route_verdict *v)
{
	return !r->lanes && is_worth_proofs(r->topo, v) && route_vls(job) < VLS_MAX;
}

/* The mean of hops over all pairs, if no path has a detour. `r` has hops. */
static double least_hops(const struct routes *r)
{
	const struct topo *t = r->topo;
	_cleanup_free_ uint32_t *senders = topo_count_senders(t);
	uint64_t n_senders = 0, pairs = 0, sum = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n_senders += senders[s];
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const uint8_t *hops = r->hops + (size_t)t->hosts[h].sw * t->n_switches;
		unsigned lids = 1u << t->hosts[h].lmc;

		if (t->hosts[h].sw == TOPO_NONE || !t->hosts[h].lid)
			continue;
		pairs += lids * (n_senders - 1);
		for (uint32_t s = 0; s < t->n_switches; s++)
			sum += lids * (hops[s] == 0xFF ? 0 : (uint64_t)hops[s] * senders[s]);
	}
	return pairs ? (double)sum / (double)pairs : 0;
}

static void try_classes(const struct route_engine *engine, const struct route_job *job,
			unsigned before, struct routes *r, struct route_verdict *ret)
{
	if (r->lanes || !is_worth_proofs(r->topo, ret))
		return;
	for (unsigned n = 2; n <= MIN(route_vls(job), VLS_MAX) && !route_is_cancelled(job); n++)
		if (n != before && holds_on(n, engine, job, r, ret))
			return;
}

void port_class_try(const struct route_engine *engine, const struct route_job *job,
		    struct routes *r, struct route_verdict *ret)
{
	assert(job && job->topo == r->topo && ret);
	if (job->previous || r->lanes || !r->hops || job->options.n_weights ||
	    !surely_loops(job, r)) {
		port_class_check(engine, job, NULL, r, ret);
		return;
	}
	*ret = (struct route_verdict){ .credit_loop = true, .avg_hops = least_hops(r) };
	try_classes(engine, job, 0, r, ret);
}

void port_class_check(const struct route_engine *engine, const struct route_job *job,
		      const struct routes *previous, struct routes *r, struct route_verdict *ret)
{
	unsigned before;

	assert(job && job->topo == r->topo && ret);
	before = vls_before(job, r);
	if (before && holds_on(before, engine, job, r, ret))
		return;
	routes_check_after(previous, r, job->threads, ret);
	try_classes(engine, job, before, r, ret);
}
