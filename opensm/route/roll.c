// SPDX-License-Identifier: BSD-2-Clause
/* Lists and sorts. */
#include "route/roll.h"

#include "util/mem.h"

struct entry {
	uint32_t at, lid, crowd; /* LIDs on the switch */
	unsigned class;
};

static int by_turn(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->crowd != y->crowd)
		return x->crowd > y->crowd ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->lid > y->lid) - (x->lid < y->lid);
}

static void mark(const struct topo *t, const struct route_guids *guids, uint8_t *class, uint8_t value)
{
	for (uint32_t i = 0; i < guids->n; i++) {
		uint32_t h = topo_find_host(t, guids->guids[i]);

		if (h != TOPO_NONE)
			class[h] = value;
	}
}

static uint32_t list(const struct topo *t, const uint8_t *class, const uint32_t *crowd,
		     struct entry *entries)
{
	uint32_t n = 0;

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		for (unsigned k = 0; host->sw != TOPO_NONE && host->lid && k < 1u << host->lmc; k++)
			if (host->lid + k <= LID_MAX_UCAST)
				entries[n++] = (struct entry){
					.at = host->sw, .lid = host->lid + k,
					.crowd = crowd[host->sw], .class = class[h],
				};
	}
	if (n)
		qsort(entries, n, sizeof(*entries), by_turn);
	return n;
}

struct roll *roll_new(const struct topo *t, const struct route_options *o)
{
	_cleanup_free_ uint8_t *class = xmalloc(t->n_hosts);
	_cleanup_free_ uint32_t *crowd = xcalloc(t->n_switches, sizeof(*crowd));
	_cleanup_free_ struct entry *entries = NULL;
	struct roll *r = xcalloc(1, sizeof(*r));
	size_t most = 0;

	r->sources = xcalloc(t->n_switches, sizeof(*r->sources));
	r->has_sources = xcalloc(t->n_switches, sizeof(*r->has_sources));
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		class[h] = ROLL_CLASSES - 1;
		if (host->sw == TOPO_NONE || !host->lid)
			continue;
		most += 1u << host->lmc;
		crowd[host->sw] += 1u << host->lmc;
		r->sources[host->sw]++;
		r->has_sources[host->sw] = true;
	}
	mark(t, &o->io, class, 1);
	mark(t, &o->cn, class, 0);
	entries = xcalloc(most, sizeof(*entries));
	r->n = list(t, class, crowd, entries);
	r->at = xcalloc(r->n, sizeof(*r->at));
	r->lids = xcalloc(r->n, sizeof(*r->lids));
	for (uint32_t i = 0; i < r->n; i++) {
		r->at[i] = entries[i].at;
		r->lids[i] = entries[i].lid;
		for (unsigned c = entries[i].class; c < ROLL_CLASSES; c++)
			r->end[c] = i + 1;
	}
	return r;
}

struct roll *roll_free(struct roll *r)
{
	if (!r)
		return NULL;
	free(r->at);
	free(r->lids);
	free(r->sources);
	free(r->has_sources);
	free(r);
	return NULL;
}

void roll_freep(struct roll **r)
{
	*r = roll_free(*r);
}
