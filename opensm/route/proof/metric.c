// SPDX-License-Identifier: BSD-2-Clause
/* How well routes carry traffic patterns. For benchmarks, tests and reports; checks nothing. */
#include "route/proof/check.h"

#include <math.h>
#include <string.h>

#include "util/mem.h"
#include "util/random.h"

/* End ports that take part: attached and with a LID, in order of switch and port. */
struct field {
	const struct routes *routes;
	uint32_t n;
	uint32_t *hosts;
	uint32_t n_ports;
	uint32_t *use;	  /* flows per channel */
	const uint32_t *paces; /* topo->paces */
};

static void field_done(struct field *f)
{
	FREE_ALL(f->hosts, f->use);
}

static struct field field_of_groups(const struct routes *r, const struct route_ranks *groups,
				    unsigned n)
{
	struct field f = { .routes = r, .n_ports = topo_n_entries(r->topo) };
	uint32_t at = 0;

	for (unsigned i = 0; i < n; i++)
		f.n += groups[i].n;
	f.paces = r->topo->paces;
	f.hosts = xcalloc((size_t)f.n + 1, sizeof(*f.hosts));
	f.use = xcalloc((size_t)f.n_ports + 1, sizeof(*f.use));
	for (unsigned i = 0; i < n; at += groups[i++].n)
		for (uint32_t k = 0; k < groups[i].n; k++)
			f.hosts[at + k] = groups[i].hosts[k];
	return f;
}

/* The flows of a channel, as on a cable of the median rate. */
static double load_on(const struct field *f, uint32_t channel)
{
	return f->paces ? f->use[channel] * (double)f->paces[channel] / TOPO_PACE : f->use[channel];
}

/* Adds a flow to all channels of a path, or finds the most load of any. 0: there is no path. */
static double walk(struct field *f, uint32_t from, uint32_t to, bool add)
{
	const struct topo *t = f->routes->topo;
	uint32_t s = t->hosts[from].sw;
	double most = 1;

	for (unsigned hops = 0; s != t->hosts[to].sw && hops < IB_MAX_HOPS; hops++) {
		uint32_t channel = routes_channel(f->routes, s, t->hosts[to].lid);

		if (channel == TOPO_NONE)
			return 0;
		f->use[channel] += add;
		most = MAX(most, load_on(f, channel));
		s = t->ports[channel].sw;
	}
	return s == t->hosts[to].sw ? most : 0;
}

static void shuffle(uint32_t *a, uint32_t n, uint64_t *state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)(random_next(state) % i), kept = a[i - 1];

		a[i - 1] = a[j];
		a[j] = kept;
	}
}

/* The sum of the shares of the flows from[k] to to[k]. */
static double shares(struct field *f, const uint32_t *from, const uint32_t *to, uint32_t n)
{
	double sum = 0;

	memset(f->use, 0, f->n_ports * sizeof(*f->use));
	for (uint32_t k = 0; k < n; k++)
		walk(f, from[k], to[k], true);
	for (uint32_t k = 0; k < n; k++) {
		double most = walk(f, from[k], to[k], false);

		sum += most > 0 ? 1 / most : 0;
	}
	return sum;
}

static double bisect(struct field *f, unsigned patterns, uint64_t seed)
{
	uint32_t half = f->n / 2;
	double sum = 0;

	for (unsigned i = 0; i < patterns && half; i++) {
		shuffle(f->hosts, f->n, &seed);
		sum += shares(f, f->hosts, f->hosts + half, half);
	}
	return half && patterns ? sum / half / patterns : 0;
}

/* The most load of a channel, in whole flows. */
static uint32_t most_use(const struct field *f)
{
	double most = 0;

	for (uint32_t c = 0; c < f->n_ports; c++)
		most = MAX(most, load_on(f, c));
	return (uint32_t)ceil(most);
}

static void permute(struct field *f, unsigned patterns, uint64_t seed, struct route_measures *ret)
{
	_cleanup_free_ uint32_t *to = xmemdup(f->hosts, f->n * sizeof(*to));
	double sum = 0, flows = 0;

	for (unsigned i = 0; i < patterns && f->n; i++) {
		uint32_t most;

		shuffle(to, f->n, &seed);
		sum += shares(f, f->hosts, to, f->n);
		most = most_use(f);
		ret->most_flows = MAX(ret->most_flows, most);
		flows += most;
	}
	ret->permutation = f->n && patterns ? sum / f->n / patterns : 0;
	ret->flows = patterns ? flows / patterns : 0;
}

/* ---- some end ports, in the order of their ranks -------------------------------------------- */

uint32_t *routes_ranks(const struct topo *t, uint32_t *ret_n)
{
	uint32_t n = topo_n_entries(t), *ret = xcalloc((size_t)t->n_hosts + 1, sizeof(*ret));

	*ret_n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (t->ports[i].host != TOPO_NONE && t->hosts[t->ports[i].host].lid)
			ret[(*ret_n)++] = t->ports[i].host;
	return ret;
}

unsigned routes_measure_ranks(const struct routes *r, struct route_ranks ranks, unsigned patterns,
			      unsigned shifts, uint64_t seed, struct route_measures *ret)
{
	_cleanup_(field_done) struct field f = field_of_groups(r, &ranks, 1);
	unsigned most;

	*ret = (struct route_measures){ 0 };
	most = routes_measure_groups(r, &ranks, 1, shifts, &ret->shift);
	permute(&f, patterns, seed, ret);
	ret->bisection = bisect(&f, patterns, seed);
	return most;
}

void routes_measure(const struct routes *r, unsigned patterns, uint64_t seed,
		    struct route_measures *ret)
{
	struct route_ranks all;
	_cleanup_free_ uint32_t *hosts = routes_ranks(r->topo, &all.n);

	all.hosts = hosts;
	routes_measure_ranks(r, all, patterns, patterns, seed, ret);
}

/* ---- groups of end ports, each by itself ---------------------------------------------------- */

/* Shift `nth` of `shifts`, by the same part of its length in every group. */
static void shift_groups(const struct route_ranks *groups, unsigned n, unsigned nth,
			 unsigned shifts, uint32_t *to)
{
	for (unsigned i = 0; i < n; to += groups[i++].n) {
		uint32_t len = groups[i].n, all = len ? len - 1 : 0;
		uint32_t by = all ? 1 + (uint32_t)((uint64_t)nth * all / shifts) : 0;

		for (uint32_t k = 0; k < len; k++)
			to[k] = groups[i].hosts[(k + by) % len];
	}
}

unsigned routes_measure_groups(const struct routes *r, const struct route_ranks *groups,
			       unsigned n, unsigned shifts, double *ret)
{
	_cleanup_(field_done) struct field f = field_of_groups(r, groups, n);
	_cleanup_free_ uint32_t *to = xcalloc((size_t)f.n + 1, sizeof(*to));
	uint32_t longest = 0, most = 0;
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		longest = MAX(longest, groups[i].n);
	if (!shifts || shifts >= longest)
		shifts = longest ? longest - 1 : 0;
	for (unsigned i = 0; i < shifts; i++) {
		shift_groups(groups, n, i, shifts, to);
		sum += shares(&f, f.hosts, to, f.n);
		most = MAX(most, most_use(&f));
	}
	*ret = shifts ? sum / f.n / shifts : 0;
	return most;
}
