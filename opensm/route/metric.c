// SPDX-License-Identifier: BSD-2-Clause
/* How well routes carry traffic patterns. For benches, tests and reports; judges nothing. */
#include "route/check.h"

#include <string.h>

#include "util/mem.h"
#include "util/random.h"

/* End ports that take part: attached and with a LID, in order of switch and port. */
struct field {
	const struct routes *routes;
	uint32_t n;
	uint32_t *hosts;
	uint32_t n_ports;
	uint32_t *use;    /* flows per channel */
};

static void field_done(struct field *f)
{
	free(f->hosts);
	free(f->use);
}

static struct field field_of(const struct routes *r)
{
	const struct topo *t = r->topo;
	struct field f = { .routes = r, .hosts = xcalloc(t->n_hosts, sizeof(*f.hosts)) };

	for (uint32_t s = 0; s < t->n_switches; s++) {
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t h = topo_port(t, s, p)->host;

			if (h != TOPO_NONE && t->hosts[h].lid)
				f.hosts[f.n++] = h;
		}
		f.n_ports += t->switches[s].n_ports + 1u;
	}
	f.use = xcalloc(f.n_ports, sizeof(*f.use));
	return f;
}

/* Adds a flow to all channels of a path, or finds the most flows on any. 0: there is no path. */
static uint32_t walk(struct field *f, uint32_t from, uint32_t to, bool add)
{
	const struct topo *t = f->routes->topo;
	uint32_t s = t->hosts[from].sw, most = 0;

	for (unsigned hops = 0; s != t->hosts[to].sw && hops < IB_MAX_HOPS; hops++) {
		uint8_t port = routes_port(f->routes, s, t->hosts[to].lid);
		uint32_t channel = t->switches[s].first_port + port;

		if (!port || port > t->switches[s].n_ports || t->ports[channel].sw == TOPO_NONE)
			return 0;
		f->use[channel] += add;
		most = MAX(most, f->use[channel]);
		s = t->ports[channel].sw;
	}
	return s == t->hosts[to].sw ? MAX(most, 1u) : 0;
}

static void shuffle(uint32_t *a, uint32_t n, uint64_t *state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)(random_next(state) % i), kept = a[i - 1];

		a[i - 1] = a[j];
		a[j] = kept;
	}
}

/* What the flows from[k] to to[k] get, added up. */
static double shares(struct field *f, const uint32_t *from, const uint32_t *to, uint32_t n)
{
	double sum = 0;

	memset(f->use, 0, f->n_ports * sizeof(*f->use));
	for (uint32_t k = 0; k < n; k++)
		walk(f, from[k], to[k], true);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t most = walk(f, from[k], to[k], false);

		sum += most ? 1.0 / most : 0;
	}
	return sum;
}

double routes_effective_bandwidth(const struct routes *r, unsigned patterns, uint64_t seed)
{
	_cleanup_(field_done) struct field f = field_of(r);
	uint32_t half = f.n / 2;
	double sum = 0;

	for (unsigned i = 0; i < patterns; i++) {
		shuffle(f.hosts, f.n, &seed);
		sum += shares(&f, f.hosts, f.hosts + half, half);
	}
	return half && patterns ? sum / half / patterns : 0;
}

double routes_permutation_bandwidth(const struct routes *r, unsigned patterns, uint64_t seed)
{
	_cleanup_(field_done) struct field f = field_of(r);
	_cleanup_free_ uint32_t *to = xmemdup(f.hosts, f.n * sizeof(*to));
	double sum = 0;

	for (unsigned i = 0; i < patterns; i++) {
		shuffle(to, f.n, &seed);
		sum += shares(&f, f.hosts, to, f.n);
	}
	return f.n && patterns ? sum / f.n / patterns : 0;
}

unsigned routes_shift_congestion(const struct routes *r, unsigned shifts)
{
	_cleanup_(field_done) struct field f = field_of(r);
	uint32_t worst = 0, all = f.n ? f.n - 1 : 0;

	if (!shifts || shifts > all)
		shifts = all;
	for (unsigned i = 0; i < shifts; i++) {
		uint32_t by = 1 + (uint32_t)((uint64_t)i * all / shifts);

		memset(f.use, 0, f.n_ports * sizeof(*f.use));
		for (uint32_t k = 0; k < f.n; k++)
			walk(&f, f.hosts[k], f.hosts[(k + by) % f.n], true);
		for (uint32_t c = 0; c < f.n_ports; c++)
			worst = MAX(worst, f.use[c]);
	}
	return worst;
}

double routes_permutation_congestion(const struct routes *r, unsigned patterns, uint64_t seed, unsigned *ret_worst)
{
	_cleanup_(field_done) struct field f = field_of(r);
	_cleanup_free_ uint32_t *to = xmemdup(f.hosts, f.n * sizeof(*to));
	unsigned worst = 0;
	double sum = 0;

	for (unsigned i = 0; i < patterns; i++) {
		uint32_t most = 0;

		shuffle(to, f.n, &seed);
		memset(f.use, 0, f.n_ports * sizeof(*f.use));
		for (uint32_t k = 0; k < f.n; k++)
			walk(&f, f.hosts[k], to[k], true);
		for (uint32_t c = 0; c < f.n_ports; c++)
			most = MAX(most, f.use[c]);
		worst = MAX(worst, most);
		sum += most;
	}
	if (ret_worst)
		*ret_worst = worst;
	return patterns ? sum / patterns : 0;
}

/* Counts each channel once per stamp. */
struct marks {
	uint32_t stamp, *stamps, *count;
};

/* The way from switch `from` to the host: `by` for each channel of it. */
static void mark_way(const struct routes *r, uint32_t from, const struct topo_host *to, struct marks *m, uint32_t by)
{
	const struct topo *t = r->topo;

	for (unsigned hops = 0; from != to->sw && hops < IB_MAX_HOPS; hops++) {
		uint8_t port = routes_port(r, from, to->lid);
		uint32_t channel = t->switches[from].first_port + port;

		if (!port || port > t->switches[from].n_ports || t->ports[channel].sw == TOPO_NONE)
			return;
		if (m->stamps[channel] != m->stamp) {
			m->stamps[channel] = m->stamp;
			m->count[channel] += by;
		}
		from = t->ports[channel].sw;
	}
}

unsigned routes_all_to_all_risk(const struct routes *r)
{
	_cleanup_(field_done) struct field f = field_of(r);
	const struct topo *t = r->topo;
	_cleanup_free_ uint32_t *stamps = xcalloc(f.n_ports, sizeof(*stamps));
	_cleanup_free_ uint32_t *sources = xcalloc(f.n_ports, sizeof(*sources));
	_cleanup_free_ uint32_t *targets = xcalloc(f.n_ports, sizeof(*targets));
	_cleanup_free_ uint32_t *hosts = xcalloc(t->n_switches, sizeof(*hosts));
	struct marks to_m = { .stamps = stamps, .count = targets };
	struct marks from_m = { .stamps = stamps, .count = sources };
	uint32_t risk = 0;

	for (uint32_t i = 0; i < f.n; i++)
		hosts[t->hosts[f.hosts[i]].sw]++;
	for (uint32_t i = 0; i < f.n; i++) {
		const struct topo_host *to = &t->hosts[f.hosts[i]];

		to_m.stamp++;
		for (uint32_t s = 0; s < t->n_switches; s++)
			if (hosts[s])
				mark_way(r, s, to, &to_m, 1);
	}
	memset(stamps, 0, f.n_ports * sizeof(*stamps));
	for (uint32_t s = 0; s < t->n_switches; s++) {
		from_m.stamp++;
		for (uint32_t i = 0; hosts[s] && i < f.n; i++)
			mark_way(r, s, &t->hosts[f.hosts[i]], &from_m, hosts[s]);
	}
	for (uint32_t c = 0; c < f.n_ports; c++)
		risk = MAX(risk, MIN(sources[c], targets[c]));
	return risk;
}
