// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks tables by their differences from tables that were checked.
 *
 * A check leaves a proof: loads, hops, distances, and the dependency graph with an order of its
 * channels. When the next tables differ in some entries, or some cables came or went, only paths
 * through these are looked at. For one LID: a source is concerned if its path meets an entry that
 * changed. Up to the first such entry the path is unchanged; from there on it is followed in the
 * old tables (its part is taken away) and in the new (added).
 *
 * Dependencies are added: a graph with some edges too many that has no cycle proves what the exact
 * one would, and that old and new paths do not block each other. On one VL that is all; where there
 * are more, those that no path has any more are taken away then. If a cycle is left, or if anything
 * else is worse than before (a pair lost, a path that goes round), everything is checked from
 * scratch.
 */
#include <assert.h>
#include <string.h>

#include "route/proof/check_delta.h"
#include "util/mem.h"

/* ---- differences ----------------------------------------------------------------------------- */

static bool same_host(const struct topo_host *x, const struct topo_host *y)
{
	return x->lid == y->lid && x->lmc == y->lmc && x->sw == y->sw && x->sw_port == y->sw_port;
}

/* End ports by GUID: hosts, or those set aside. */
struct ends {
	const struct topo_host *all;
	uint32_t n;
};

/* Adds those of `a` that are missing or elsewhere in `b`, of `n` so far. SIZE_MAX: too many. */
static size_t add_missing(struct ends a, struct ends b, const struct topo_host *ret[HOSTS_MAX],
			  size_t n)
{
	for (uint32_t i = 0, k = 0; i < a.n && n <= HOSTS_MAX; i++) {
		const struct topo_host *h = &a.all[i];

		while (k < b.n && b.all[k].guid < h->guid)
			k++;
		if (!h->lid || h->sw == TOPO_NONE ||
		    (k < b.n && b.all[k].guid == h->guid && same_host(h, &b.all[k])))
			continue;
		if (n == HOSTS_MAX)
			return SIZE_MAX;
		ret[n++] = h;
	}
	return n;
}

static size_t find_missing(const struct topo *a, const struct topo *b,
			   const struct topo_host *ret[HOSTS_MAX])
{
	size_t n = add_missing((struct ends){ a->hosts, a->n_hosts },
			       (struct ends){ b->hosts, b->n_hosts }, ret, 0);

	return add_missing((struct ends){ a->asides, a->n_asides },
			   (struct ends){ b->asides, b->n_asides }, ret, n);
}

/* False: too many, or pairs without a path, whose number would change. */
static bool find_hosts(struct delta *d)
{
	d->n_gone = find_missing(d->old->topo, d->new->topo, d->gone);
	d->n_came = find_missing(d->new->topo, d->old->topo, d->came);
	if (!d->n_gone && !d->n_came)
		return true;
	return d->n_gone != SIZE_MAX && d->n_came != SIZE_MAX && !d->p->v.unreachable;
}

/*
 * But for service levels of paths, classes of ports, and VLs from switch to switch. Where there was
 * no scheme, one by classes alone is the same if it leaves what end ports send on VL 0.
 */
static bool same_vl_scheme(const struct sl2vl *a, const struct sl2vl *b, const struct cdg *g)
{
	size_t sent = b ? (size_t)b->n_classes * SL2VL_SLS : 0;

	if (!a && b)
		return b->by == SL2VL_BY_NOTHING && b->n_classes > 1 && b->class_of &&
		       !b->vl[0] && !memcmp(b->vl, b->vl + 1, sent - 1);
	if (!b)
		return !a;
	return a->sl_mask == b->sl_mask && a->by == b->by && a->row_size == b->row_size &&
	       a->n_classes == b->n_classes && !a->class_of == !b->class_of &&
	       (!g->lanes || g->scheme_vls == a->n_vls) &&
	       !memcmp(a->vl, b->vl, sent);
}

/* Is a port, the entry `e` of topo->ports, of another class than before? */
static bool class_moved(const struct delta *d, uint32_t e)
{
	const struct sl2vl *a = d->old->routes->lanes, *b = d->new->routes->lanes;

	return a && a->class_of && a->class_of[e] != b->class_of[e];
}

/* Does a port lead elsewhere than before, or do packets over it change VLs elsewhere? */
static bool cable_moved(const struct delta *d, uint32_t e)
{
	uint32_t was = d->old->behind[e], now = d->new->behind[e];

	return was != now ||
	       (now != BEHIND_NONE &&
		(class_moved(d, e) ||
		 class_moved(d, d->new->topo->switches[now >> 8].first_port + (now & 255))));
}

static void add_entry(struct delta *d, uint32_t sw, lid_t lid, uint8_t was, uint8_t now)
{
	if (!lid || lid > d->new->top || d->new->targets[lid].sw == TOPO_NONE)
		return;
	APPEND(d->entries, d->n_entries, d->cap_entries) = (struct routes_entry){
		.lid = lid, .sw = sw, .port = was, .now = now,
	};
}

static void compare_rows(struct delta *d, uint32_t s)
{
	const uint8_t *a = routes_row(d->old->routes, s), *b = routes_row(d->new->routes, s);
	uint32_t size = d->new->routes->row_size;

	if (!memcmp(a, b, size))
		return;
	for (uint32_t first = 0; first < size; first += LFT_BLOCK_LIDS) {
		if (!memcmp(a + first, b + first, LFT_BLOCK_LIDS))
			continue;
		for (uint32_t lid = first; lid < first + LFT_BLOCK_LIDS; lid++)
			if (a[lid] != b[lid])
				add_entry(d, s, (lid_t)lid, a[lid], b[lid]);
	}
}

/* Adds entries over cables of `s` that changed, also unchanged and those in the list already. */
static void find_cables(struct delta *d, uint32_t s)
{
	const struct topo_switch *sw = &d->new->topo->switches[s];
	const uint8_t *row = routes_row(d->new->routes, s);
	const uint8_t *end = row + MIN(d->new->top, d->new->routes->top) + 1;
	bool is_idle = !d->new->sources[s] && topo_is_bare(d->new->topo, s); /* nothing is sent */

	for (unsigned p = 1; p <= sw->n_ports; p++) {
		uint32_t e = sw->first_port + p;

		if (!cable_moved(d, e))
			continue;
		APPEND(d->cables, d->n_cables, d->cap_cables) = (struct cable_moved){
			.end = e, .sw = s, .was = d->old->behind[e], .now = d->new->behind[e],
		};
		for (const uint8_t *at = row;
		     !is_idle && (at = memchr(at, (int)p, (size_t)(end - at))); at++)
			add_entry(d, s, (lid_t)(at - row), (uint8_t)p, (uint8_t)p);
	}
}

/* Adds entries that begin paths with another service level than before, also unchanged. */
static void compare_levels(struct delta *d)
{
	const struct sl2vl *a = d->old->routes->lanes, *b = d->new->routes->lanes;
	const struct verifier *j = d->new;

	if (!a || !a->sl || !memcmp(a->sl, b->sl, sl2vl_n_sl(a)))
		return;
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		for (unsigned lid = 1; j->sources[s] && lid <= j->top; lid++) {
			uint32_t at = j->targets[lid].sw;

			if (at != TOPO_NONE && sl2vl_sl(a, s, at, (lid_t)lid, 0) !=
						       sl2vl_sl(b, s, at, (lid_t)lid, 0))
				add_entry(d, s, (lid_t)lid, routes_port(j->routes, s, (lid_t)lid),
					  routes_port(j->routes, s, (lid_t)lid));
		}
}

/* ---- one LID of an end port ------------------------------------------------------------------ */

/*
 * Ports of `s` by which paths to `at` may come, without another entry that differs: entries over
 * cables that went or came are among those. Where all paths from sources are shortest, only
 * switches one hop farther away are asked: no source is behind the others, nor beyond d->farthest.
 */
static const uint64_t *ports_upstream(struct delta *d, uint32_t s, uint32_t at)
{
	const struct topo_switch *sw = &d->new->topo->switches[s];
	struct ports_in *in = &d->ports_in[s];

	if (in->at == at + 1)
		return in->ports;
	*in = (struct ports_in){ .at = at + 1 };
	for (unsigned p = 1; p <= sw->n_ports && d->dist[s] < d->farthest; p++) {
		uint32_t behind = d->new->behind[sw->first_port + p];

		if (behind != BEHIND_NONE &&
		    (!d->was_minimal || d->dist[behind >> 8] == d->dist[s] + 1u) &&
		    d->old->behind[sw->first_port + p] == behind)
			in->ports[p / 64] |= UINT64_C(1) << p % 64;
	}
	return in->ports;
}

/* Is the entry at the other end of a cable unchanged, and does it lead over the cable? */
static inline bool leads_here(struct delta *d, uint32_t behind, lid_t lid)
{
	uint32_t v = behind >> 8;

	return d->stamp[v] != lid + 1u &&
	       routes_blocks_port(&d->blocks, v, lid) == (behind & 255) && sends_to(d, behind, lid);
}

/* Appends to d->queue `s` itself, and switches whose paths come to it that way. */
static void find_upstream(struct delta *d, uint32_t s, lid_t lid)
{
	const struct verifier *j = d->new;
	unsigned words = j->dependencies->words;
	size_t first = d->n_queue;

	APPEND(d->queue, d->n_queue, d->cap_queue) = (struct upstream){ .sw = s };
	for (size_t i = first; i < d->n_queue; i++) {
		struct upstream here = d->queue[i];
		const uint64_t *ports = ports_upstream(d, here.sw, j->targets[lid].sw);

		for (unsigned k = 0; k < words; k++)
			for (uint64_t left = ports[k]; left; left &= left - 1) {
				unsigned p = 64 * k + (unsigned)__builtin_ctzll(left);
				uint32_t e = j->topo->switches[here.sw].first_port + p;

				if (!leads_here(d, j->behind[e], lid))
					continue;
				APPEND(d->queue, d->n_queue, d->cap_queue) = (struct upstream){
					.sw = j->behind[e] >> 8,
					.hops = here.hops + 1,
					.branch = i > first ? here.branch : (uint8_t)p,
				};
			}
	}
}

/* Sources whose paths come to `s` first of all entries that differ: two paths, before and now. */
static void add_paths(struct delta *d, uint32_t s, lid_t lid)
{
	const uint32_t *sources = d->new->sources;
	size_t first = d->n_queue;
	uint32_t flow = 0;
	struct path *p;

	find_upstream(d, s, lid);
	for (size_t i = first; i < d->n_queue; i++)
		flow += sources[d->queue[i].sw];
	if (!flow) {
		d->n_queue = first;
		return;
	}
	GROW(d->paths, d->n_paths + 2, d->cap_paths);
	p = &d->paths[d->n_paths];
	d->n_paths += 2;
	flow = d->new->targets[lid].aside ? 0 : flow;
	p[0] = (struct path){ .j = d->old, .sw = s, .lid = lid, .flow = 0u - flow };
	p[1] = (struct path){
		.j = d->new, .sw = s, .lid = lid, .flow = flow,
		.is_noted = !d->new->targets[lid].aside,
	};
	for (size_t i = first + 1; i < d->n_queue; i++)
		if (sources[d->queue[i].sw])
			p[1].in[d->queue[i].branch / 64] |= UINT64_C(1) << d->queue[i].branch % 64;
}

/* The sources that came to `s` first go another way. */
static void shift_sources(struct delta *d, uint32_t s, lid_t lid, const struct path *paths,
			  const struct upstream *up, size_t n)
{
	const struct verifier *j = d->new;
	const struct target to = j->targets[lid];

	if (j->dependencies->lanes && !to.aside)
		delta_leave_paths(d, up, n, s, lid);
	if (!to.aside)
		delta_add_dependencies(d, up, n, s, lid);
	for (size_t i = 0; i < n; i++) {
		uint32_t u = up[i].sw, own = verifier_pairs(j, u, to);
		uint32_t a = up[i].hops + paths[0].hops, b = up[i].hops + paths[1].hops;

		d->p->pairs_at[a] -= own;
		d->p->pairs_at[b] += own;
		d->p->v.detours -= a != d->dist[u] ? own : 0;
		d->p->v.detours += b != distances_from(j->distances, to.sw)[u] ? own : 0;
	}
}

static bool shift_lid(struct delta *d, const struct routes_entry *entries, size_t n)
{
	lid_t lid = entries[0].lid;

	d->dist = delta_distances_before(d, d->new->targets[lid].sw);
	/* Entries listed twice get the value that they had first. */
	for (size_t i = n; i-- > 0;) {
		d->stamp[entries[i].sw] = lid + 1u;
		d->was[entries[i].sw] = entries[i].port;
		d->now[entries[i].sw] = entries[i].now;
	}
	d->n_queue = d->n_paths = 0;
	for (size_t i = 0; i < n; i++) {
		if (!d->seen[entries[i].sw])
			add_paths(d, entries[i].sw, lid);
		d->seen[entries[i].sw] = true;
	}
	for (size_t i = 0; i < n; i++)
		d->seen[entries[i].sw] = false;
	if (!delta_follow_paths(d, d->paths, d->n_paths))
		return false;
	for (size_t i = 0, first = 0, next; i < d->n_paths; i += 2, first = next) {
		for (next = first + 1; next < d->n_queue && d->queue[next].hops;)
			next++;
		shift_sources(d, d->queue[first].sw, lid, d->paths + i, d->queue + first,
			      next - first);
	}
	return true;
}

/* Unchanged paths that have become longer than necessary, or no longer are. */
static bool shift_detours(struct delta *d, lid_t lid)
{
	const struct verifier *j = d->new;
	uint32_t at = j->targets[lid].sw;

	for (size_t i = d->first_moved[at]; i < d->first_moved[at + 1]; i++) {
		const struct moved *m = &d->moved[i];
		struct path p = { .j = j, .sw = m->sw, .lid = lid };

		if (!j->sources[m->sw] || delta_meets(d, m->sw, lid))
			continue;
		if (!delta_follow_paths(d, &p, 1))
			return false;
		d->p->v.detours -= p.hops != m->before ? j->sources[m->sw] : 0;
		d->p->v.detours += p.hops != m->now ? j->sources[m->sw] : 0;
	}
	return true;
}

/* ---- LIDs of switches ------------------------------------------------------------------------ */

/*
 * Is every entry that differs, or near a distance that does, a step nearer? Then the LID has no
 * path from where it is not connected, and from there alone: counts that.
 */
static bool still_nearer(struct delta *d, lid_t lid, const struct routes_entry *entries, size_t n)
{
	struct verifier *j = d->new;
	uint32_t at = j->targets[lid].sw, missing = 0;

	for (size_t i = 0; i < n; i++)
		if (!verifier_comes_nearer(j, entries[i].sw, lid, true))
			return false;
	for (size_t i = d->first_moved[at]; i < d->first_moved[at + 1]; i++) {
		if (!verifier_comes_nearer(j, d->moved[i].sw, lid, true))
			return false;
		missing += d->moved[i].now == DISTANCE_NONE;
		missing -= d->moved[i].before == DISTANCE_NONE;
		BEHIND_EACH(j, d->moved[i].sw, to)
			if (!verifier_comes_nearer(j, *to >> 8, lid, true))
				return false;
	}
	j->missing[lid] += missing;
	d->p->v.switch_unreachable += (uint64_t)(int64_t)(int32_t)missing;
	return true;
}

/* Follows it from everywhere. */
static void count_missing(struct delta *d, lid_t lid)
{
	struct verifier *j = d->new;
	struct check_worker *w = d->worker;

	if (!w)
		w = d->worker = check_worker_new(j);
	d->p->v.switch_unreachable -= j->missing[lid];
	verifier_column_of(j, lid, w->columns);
	w->v.switch_unreachable = 0;
	verify_switch(w, w->columns, lid);
	j->missing[lid] = (uint32_t)w->v.switch_unreachable;
	j->nearer[lid] = false; /* not known */
	d->p->v.switch_unreachable += j->missing[lid];
}

/* LIDs of switches that went. */
static void drop_switches(struct delta *d)
{
	struct verifier *j = d->new;

	for (uint32_t s = 0; s < j->topo->n_switches; s++) {
		if (j->topo->switches[s].lid)
			continue;
		TOPO_EACH_LID(&d->old->topo->switches[s], lid) {
			d->p->v.switch_unreachable -= j->missing[lid];
			j->missing[lid] = 0;
			j->targets[lid].sw = TOPO_NONE;
		}
	}
}

/* And of those that came. False: they were assigned. */
static bool add_switches(struct delta *d)
{
	struct verifier *j = d->new;

	for (uint32_t s = 0; s < j->topo->n_switches; s++) {
		if (d->old->topo->switches[s].lid)
			continue;
		TOPO_EACH_LID(&j->topo->switches[s], lid) {
			if (j->targets[lid].sw != TOPO_NONE)
				return false;
			j->targets[lid] = (struct target){ .sw = s };
			count_missing(d, (lid_t)lid);
		}
	}
	return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool shift_all(struct delta *d)
{
	struct verifier *j = d->new;
	size_t i = 0;
	bool ok = true;

	for (unsigned lid = 1; lid <= j->top && ok; lid++) {
		const struct routes_entry *entries = d->entries + i;
		const struct target *to = &j->targets[lid];
		size_t first = i, n;

		while (i < d->n_entries && d->entries[i].lid == lid)
			i++;
		n = i - first;
		if (to->sw == TOPO_NONE)
			continue;
		if (to->port)
			ok = (!n || shift_lid(d, entries, n)) &&
			     (!d->n_moved || shift_detours(d, (lid_t)lid));
		else if ((!j->nearer[lid] || !still_nearer(d, (lid_t)lid, entries, n)) &&
			 (n || d->first_moved[to->sw] < d->first_moved[to->sw + 1]))
			count_missing(d, (lid_t)lid);
	}
	return ok;
}

static bool find_differences(struct delta *d)
{
	const struct verifier *j = d->new;
	_cleanup_free_ size_t *first = xcalloc(j->top + 3u, sizeof(*first));
	size_t most = (size_t)j->topo->n_switches * j->top / 32 + 4096;

	for (size_t i = 0; d->changes->entries && i < d->changes->n && d->n_entries < most; i++)
		add_entry(d, d->changes->entries[i].sw, d->changes->entries[i].lid,
			  d->changes->entries[i].port, d->changes->entries[i].now);
	for (uint32_t s = 0; !d->changes->entries && s < j->topo->n_switches && d->n_entries < most;
	     s++)
		compare_rows(d, s);
	for (uint32_t s = 0; s < j->topo->n_switches && d->n_cables <= CABLES_MAX; s++)
		find_cables(d, s);
	compare_levels(d);
	if (d->n_entries >= most || d->n_cables > CABLES_MAX)
		return false;
	d->entries = routes_sort_by_lid(d->entries, d->n_entries, j->top, first);
	return true;
}

/* ---- end ports that go and come -------------------------------------------------------------- */

/* The flows of d->paths; dependencies of those that are noted. */
static bool count_paths(struct delta *d)
{
	struct route_proof *p = d->p;

	if (!delta_follow_paths(d, d->paths, d->n_paths))
		return false;
	for (size_t i = 0; i < d->n_paths; i++) {
		const struct path *path = &d->paths[i];
		uint64_t own = (uint64_t)(int64_t)(int32_t)path->own;
		uint32_t at = d->new->targets[path->lid].sw;

		if (path->is_noted)
			delta_add_dependencies(d, NULL, 0, path->from, path->lid);
		p->pairs_at[path->hops] += own;
		p->v.pairs += own;
		p->v.detours += path->hops != distances_from(d->new->distances, at)[path->from]
					? own : 0;
	}
	return true;
}

/* Flows of others to a LID of an end port; `sign` -1: removed, 1: new, with dependencies. */
static bool count_column(struct delta *d, lid_t lid, uint32_t sign)
{
	const struct verifier *j = d->new;

	d->n_paths = 0;
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		if (j->sources[s])
			APPEND(d->paths, d->n_paths, d->cap_paths) = (struct path){
				.j = j, .from = s, .sw = s, .lid = lid,
				.is_noted = sign == 1 && !j->targets[lid].aside,
				.flow = j->targets[lid].aside ? 0 : sign * j->sources[s],
				.own = sign * verifier_pairs(j, s, j->targets[lid]),
			};
	return count_paths(d);
}

/* Flows of `n` more end ports (or fewer, if negative) on `at` to those of the LIDs of a block. */
static bool count_block(struct delta *d, uint32_t at, uint32_t n, uint32_t block, bool are_new)
{
	const struct target *targets = d->new->targets;

	d->n_paths = 0;
	for (uint32_t lid = block; lid < block + LFT_BLOCK_LIDS && lid <= d->new->top; lid++)
		if (targets[lid].sw != TOPO_NONE && targets[lid].port)
			APPEND(d->paths, d->n_paths, d->cap_paths) = (struct path){
				.j = d->new, .from = at, .sw = at, .lid = (lid_t)lid,
				.flow = targets[lid].aside ? 0 : n, .own = n,
				.is_noted = are_new && !targets[lid].aside,
			};
	return count_paths(d);
}

/* The same for all LIDs. */
static bool count_source(struct delta *d, uint32_t at, uint32_t n)
{
	struct verifier *j = d->new;
	bool first = !j->sources[at];

	j->sources[at] += n;
	j->n_sources += (uint64_t)(int64_t)(int32_t)n;
	for (uint32_t block = 0; block <= j->top; block += LFT_BLOCK_LIDS)
		if (!count_block(d, at, n, block, first))
			return false;
	return true;
}

/* The same for all of these that are hosts, `sign` times; switch by switch. */
static bool count_sources(struct delta *d, const struct topo_host *const *list, size_t n,
			  uint32_t sign)
{
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++) {
		uint32_t at = list[i]->sw, same = 0;
		bool known = list[i]->aside;

		for (size_t k = 0; k < n; k++) {
			bool here = list[k]->sw == at && !list[k]->aside;

			known |= k < i && here;
			same += here;
		}
		ok = known || count_source(d, at, sign * same);
	}
	return ok;
}

static uint64_t *sending_ports(const struct delta *d, const struct topo_host *h)
{
	struct cdg *g = d->new->dependencies;

	return &g->hosts[(size_t)h->sw * g->words + h->sw_port / 64];
}

static bool remove_lids(struct delta *d, const struct topo_host *h)
{
	if (!h->aside)
		*sending_ports(d, h) &= ~(UINT64_C(1) << h->sw_port % 64);
	TOPO_EACH_LID(h, lid) {
		if (!count_column(d, (lid_t)lid, UINT32_MAX))
			return false;
		d->new->targets[lid].sw = TOPO_NONE;
	}
	return true;
}

static bool add_lids(struct delta *d, const struct topo_host *h)
{
	struct verifier *j = d->new;

	TOPO_EACH_LID(h, lid) {
		if (j->targets[lid].sw != TOPO_NONE)
			return false;
		j->targets[lid] = (struct target){ .sw = h->sw, .port = h->sw_port,
						   .aside = h->aside };
		if (!count_column(d, (lid_t)lid, 1))
			return false;
	}
	return true;
}

static void look_at(struct delta *d, struct verifier *new)
{
	d->new = new;
	d->blocks.routes = new->routes;
	memset(d->blocks.block, 0, new->topo->n_switches * sizeof(*d->blocks.block));
}

/* With the former tables and cables: there may be no others. */
static bool remove_hosts(struct delta *d)
{
	struct verifier *new = d->new;
	bool ok = true;

	look_at(d, &d->p->j);
	for (size_t i = 0; ok && i < d->n_gone; i++)
		ok = remove_lids(d, d->gone[i]);
	ok = ok && count_sources(d, d->gone, d->n_gone, UINT32_MAX);
	new->n_sources = d->new->n_sources;
	look_at(d, new);
	return ok;
}

/* With those of now. */
static bool add_hosts(struct delta *d)
{
	bool ok;

	for (size_t i = 0; i < d->n_came; i++)
		if (!d->came[i]->aside)
			*sending_ports(d, d->came[i]) |= UINT64_C(1) << d->came[i]->sw_port % 64;
	ok = count_sources(d, d->came, d->n_came, 1);
	for (size_t i = 0; ok && i < d->n_came; i++)
		ok = add_lids(d, d->came[i]);
	return ok;
}

/* Is some switch connected with one that has end ports? Else no VL is in use. */
static bool sends_anything(const struct verifier *j)
{
	uint32_t n = j->topo->n_switches;

	for (uint32_t at = 0; at < n; at++)
		for (uint32_t s = 0; j->sources[at] && s < n; s++)
			if (s != at && distances_from(j->distances, at)[s] != DISTANCE_NONE)
				return true;
	return false;
}

/* Hops of the longest path from a source. */
static uint32_t longest_path(const struct route_proof *p)
{
	uint32_t hops = p->j.topo->n_switches;

	while (hops && !p->pairs_at[hops])
		hops--;
	return hops;
}

static void delta_done(struct delta *d)
{
	FREE_ALL(d->entries, d->cables, d->moved, d->queue, d->paths, d->row, d->added.all);
	cdg_walk_free(d->walk);
	arena_done(&d->memory);
	check_worker_free(d->worker);
}

bool route_proof_move(struct route_proof *p, const struct routes *r,
		      const struct route_changes *changes)
{
	struct verifier *old = &p->j, new = p->j;
	_cleanup_(delta_done) struct delta d = {
		.p = p, .old = old, .new = &new, .changes = changes
	};
	bool ok, had_moved_turn = false;

	assert(changes);
	if (!topo_has_same_switches(old->topo, r->topo) || old->routes->row_size != r->row_size ||
	    !same_vl_scheme(old->routes->lanes, r->lanes, old->dependencies))
		return false;
	new.routes = r;
	new.topo = r->topo;
	new.behind = NULL;
	new.counted = NULL;
	new.simple &= !r->lanes == !old->routes->lanes;
	verifier_find_behind(&new);
	verifier_raise_top(&new, old);
	d.was_minimal = !p->v.detours && !p->v.unreachable;
	d.farthest = d.was_minimal ? longest_path(p) : UINT32_MAX;
	ARENA_ARRAYS(&d.memory, r->topo->n_switches, d.stamp, d.was, d.now, d.seen, d.order, d.next,
		     d.ports);
	ARENA_ARRAYS(&d.memory, new.n_ports, d.left_in, d.left_out);
	cdg_move(new.dependencies, r->topo, r->lanes);
	d.turned = new.dependencies->lanes &&
		   (!old->routes->lanes ||
		    memcmp(old->routes->lanes->vl, r->lanes->vl,
			   (size_t)r->lanes->n_classes * r->lanes->n_classes * SL2VL_SLS));
	d.walk = cdg_walk_new(new.dependencies);
	new.dependencies->added = &d.added;
	ARENA_ARRAYS(&d.memory, r->topo->n_switches, d.ports_in, d.blocks.block);
	ARENA_ARRAY(&d.memory, d.met, 2 * (size_t)r->topo->n_switches);
	ARENA_ARRAY(&d.memory, d.first_moved, r->topo->n_switches + 1u);
	ARENA_ARRAY(&d.memory, d.blocks.entries, (size_t)r->topo->n_switches * LFT_BLOCK_LIDS);
	ok = find_hosts(&d) && remove_hosts(&d);
	drop_switches(&d);
	ok = ok && find_differences(&d) && delta_repair_distances(&d);
	if (ok) {
		delta_forget_cables(&d);
		had_moved_turn = delta_has_moved_turn(&d);
		ok = shift_all(&d) && add_switches(&d) && add_hosts(&d) &&
		     sends_anything(&new) == (cdg_vls(new.dependencies) != 0);
	}
	free(old->behind);
	free(old->counted);
	graph_free(old->graph);
	new.graph = NULL;
	p->j = new;
	new.dependencies->added = NULL;
	return ok && delta_settle_graph(&d, had_moved_turn);
}
