// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the immutable picture of a fabric and finds things in it.
 *
 * The builder only collects; topo_build() sorts everything by GUID, switches by order GUID, so the
 * result does not depend on the order in which discovery answered. Where calls contradict each
 * other (two cables in one port, one GUID twice) the smaller one in a fixed order wins. States of
 * ports are not kept: callers add only links that are up.
 */
#include "topo/topo.h"

#include <assert.h>
#include <string.h>

#include "util/bisect.h"
#include "util/mem.h"

struct cable {
	guid_t a, b; /* switch; for a host cable `a` is the port GUID of the host */
	uint8_t a_port, b_port;
};

struct port_fact {
	guid_t sw;
	uint8_t port;
	bool left_out;
	struct topo_port_facts facts;
	guid_t left_peer;
};

#define STUB_SHARE  8 /* of the switches with hosts, one in so many */
#define DEFAULT_VLS 8 /* what nearly every switch has */

struct topo_builder {
	struct port_fact *facts;
	size_t n_facts, cap_facts;
	uint8_t vls; /* of ports without topo_set_port(); 0: DEFAULT_VLS */
	struct topo_switch *switches;
	struct topo_host *hosts;
	struct cable *links, *host_links;
	size_t n_switches, n_hosts, n_links, n_host_links;
	size_t cap_switches, cap_hosts, cap_links, cap_host_links;
};

struct topo_builder *topo_builder_new(void)
{
	return xcalloc(1, sizeof(struct topo_builder));
}

struct topo_builder *topo_builder_free(struct topo_builder *b)
{
	if (!b)
		return NULL;
	free(b->facts);
	free(b->switches);
	free(b->hosts);
	free(b->links);
	free(b->host_links);
	free(b);
	return NULL;
}

void topo_add_switch(struct topo_builder *b, const struct topo_switch *sw)
{
	GROW(b->switches, b->n_switches + 1, b->cap_switches);
	b->switches[b->n_switches++] = *sw;
}

void topo_add_host(struct topo_builder *b, const struct topo_host *host)
{
	assert(host->lmc <= 7);
	GROW(b->hosts, b->n_hosts + 1, b->cap_hosts);
	b->hosts[b->n_hosts] = *host;
	b->hosts[b->n_hosts].sw = TOPO_NONE;
	b->hosts[b->n_hosts].sw_port = 0;
	b->n_hosts++;
}

/* The end with the smaller (GUID, port) first, so that a cable reported from both ends is one. */
void topo_add_link(struct topo_builder *b, guid_t a, uint8_t a_port, guid_t b_guid, uint8_t b_port)
{
	struct cable c = { .a = a, .b = b_guid, .a_port = a_port, .b_port = b_port };

	if (!a_port || !b_port)
		return;
	if (a > b_guid || (a == b_guid && a_port > b_port))
		c = (struct cable){ .a = b_guid, .b = a, .a_port = b_port, .b_port = a_port };
	GROW(b->links, b->n_links + 1, b->cap_links);
	b->links[b->n_links++] = c;
}

void topo_add_host_link(struct topo_builder *b, guid_t host, guid_t sw, uint8_t sw_port)
{
	if (!sw_port)
		return;
	GROW(b->host_links, b->n_host_links + 1, b->cap_host_links);
	b->host_links[b->n_host_links++] = (struct cable){ .a = host, .b = sw, .b_port = sw_port };
}

void topo_set_vls(struct topo_builder *b, unsigned vls)
{
	assert(vls >= 1 && vls <= 15);
	b->vls = (uint8_t)vls;
}

void topo_set_port(struct topo_builder *b, guid_t sw, uint8_t port, struct topo_port_facts facts)
{
	assert(facts.vls <= 15);
	GROW(b->facts, b->n_facts + 1, b->cap_facts);
	b->facts[b->n_facts++] = (struct port_fact){ .sw = sw, .port = port, .facts = facts };
}

void topo_leave_out(struct topo_builder *b, guid_t sw, uint8_t port, guid_t peer)
{
	GROW(b->facts, b->n_facts + 1, b->cap_facts);
	b->facts[b->n_facts++] = (struct port_fact){
		.sw = sw, .port = port, .left_out = true, .left_peer = peer
	};
}

static int by_place(const struct topo_switch *a, const struct topo_switch *b)
{
	return COMPARE(topo_order_guid(a), topo_order_guid(b)) ?: COMPARE(a->guid, b->guid);
}

static int by_switch(const void *a, const void *b)
{
	const struct topo_switch *x = a, *y = b;

	return by_place(x, y) ?: COMPARE(x->lid, y->lid);
}

static int by_host(const void *a, const void *b)
{
	const struct topo_host *x = a, *y = b;

	return COMPARE(x->guid, y->guid) ?: COMPARE(x->lid, y->lid);
}

static int by_cable(const void *a, const void *b)
{
	const struct cable *x = a, *y = b;

	return COMPARE(x->a, y->a) ?: COMPARE(x->a_port, y->a_port) ?: COMPARE(x->b, y->b) ?:
	       COMPARE(x->b_port, y->b_port);
}

_Static_assert(!offsetof(struct topo_switch, guid), "as sort_unique() wants it");
_Static_assert(!offsetof(struct topo_host, guid), "as sort_unique() wants it");

/* Sorts elements that begin with their GUID; the first of each GUID stays. Returns how many. */
static uint32_t sort_unique(void *all, size_t n, size_t size,
			    int (*by)(const void *a, const void *b))
{
	uint8_t *rows = all;
	guid_t guid, last = 0;
	uint32_t kept = 0;

	if (n)
		qsort(all, n, size, by);
	for (size_t i = 0; i < n; i++) {
		memcpy(&guid, rows + i * size, sizeof(guid));
		if (guid != last)
			memmove(rows + kept++ * size, rows + i * size, size);
		last = guid;
	}
	return kept;
}

uint32_t topo_find_switch(const struct topo *t, guid_t guid)
{
	const struct topo_switch in_own_order = { .guid = guid };
	uint32_t at = BISECT(i, 0, t->n_switches, by_place(&t->switches[i], &in_own_order) < 0);

	if (at < t->n_switches && t->switches[at].guid == guid)
		return at;
	for (at = 0; t->is_reordered && at < t->n_switches; at++)
		if (t->switches[at].guid == guid)
			return at;
	return TOPO_NONE;
}

static uint32_t find_end(const struct topo_host *all, uint32_t n, guid_t port_guid)
{
	uint32_t at = BISECT(i, 0, n, all[i].guid < port_guid);

	return at < n && all[at].guid == port_guid ? at : TOPO_NONE;
}

uint32_t topo_find_host(const struct topo *t, guid_t port_guid)
{
	return find_end(t->hosts, t->n_hosts, port_guid);
}

const struct topo_host *topo_find_end(const struct topo *t, guid_t port_guid)
{
	uint32_t host = topo_find_host(t, port_guid);
	uint32_t aside = find_end(t->asides, t->n_asides, port_guid);

	return host != TOPO_NONE    ? &t->hosts[host]
	       : aside != TOPO_NONE ? &t->asides[aside]
				    : NULL;
}

const struct topo_host *topo_end_at(const struct topo *t, uint32_t sw, unsigned port)
{
	const struct topo_port *p = topo_port(t, sw, port);

	if (p->host != TOPO_NONE)
		return &t->hosts[p->host];
	for (uint32_t i = 0; p->aside && i < t->n_asides; i++)
		if (t->asides[i].sw == sw && t->asides[i].sw_port == port)
			return &t->asides[i];
	return NULL;
}

static uint32_t *count_hosts(const struct topo *t, bool all)
{
	uint32_t *ret = xcalloc(t->n_switches, sizeof(*ret));

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && (all || t->hosts[h].lid))
			ret[t->hosts[h].sw]++;
	return ret;
}

uint32_t *topo_count_hosts(const struct topo *t)
{
	return count_hosts(t, true);
}

uint32_t *topo_count_senders(const struct topo *t)
{
	return count_hosts(t, false);
}

/* The only neighbour of a switch, those in `without` left out; TOPO_NONE: none, or several. */
static uint32_t only_neighbour(const struct topo *t, const bool *without, uint32_t sw)
{
	uint32_t ret = TOPO_NONE;

	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++) {
		uint32_t next = topo_port(t, sw, p)->sw;

		if (next == TOPO_NONE || next == ret || without[next])
			continue;
		if (ret != TOPO_NONE)
			return TOPO_NONE;
		ret = next;
	}
	return ret;
}

/* Is there a cable between two switches that are no stubs? */
static bool joins_others(const struct topo *t, const bool *stub)
{
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports && !stub[s]; p++) {
			uint32_t next = topo_port(t, s, p)->sw;

			if (next != TOPO_NONE && !stub[next])
				return true;
		}
	return false;
}

uint32_t topo_median_hosts(const struct topo *t, const uint32_t *hosts)
{
	_cleanup_free_ uint32_t *counts = xcalloc(t->n_switches + 1u, sizeof(*counts));
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		if (hosts[s])
			counts[n++] = hosts[s];
	SORT(counts, n, compare_u32);
	return n ? counts[n / 2] : 0;
}

/* Stubs, where those in `stub` are not there. */
static void add_stubs(const struct topo *t, const uint32_t *hosts, uint32_t median, bool *stub)
{
	_cleanup_free_ bool *before = xmemdup(stub, (t->n_switches + 1u) * sizeof(*stub));

	for (uint32_t s = 0; s < t->n_switches; s++) {
		uint32_t next = before[s] ? TOPO_NONE : only_neighbour(t, before, s);

		stub[s] |= next != TOPO_NONE && only_neighbour(t, before, next) == TOPO_NONE &&
			   (2 * hosts[s] < median || (hosts[s] == 1 && median == 2));
	}
}

bool *topo_find_stubs(const struct topo *t)
{
	_cleanup_free_ uint32_t *hosts = topo_count_hosts(t);
	uint32_t n = 0, all = 0, median = topo_median_hosts(t, hosts);
	bool *ret = xcalloc(t->n_switches + 1u, sizeof(*ret));

	for (uint32_t s = 0; s < t->n_switches; s++) {
		all += hosts[s] > 0;
		n += hosts[s] && only_neighbour(t, ret, s) != TOPO_NONE;
	}
	add_stubs(t, hosts, median, ret);
	add_stubs(t, hosts, median, ret); /* one that hangs on another */
	if (n * STUB_SHARE > all || !joins_others(t, ret))
		memset(ret, 0, t->n_switches * sizeof(*ret));
	return ret;
}

bool *topo_find_counted(const struct topo *t)
{
	_cleanup_free_ bool *stub = topo_find_stubs(t);
	bool *ret = xcalloc(topo_n_entries(t) + 1u, sizeof(*ret));

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports && !stub[s]; p++) {
			uint32_t next = topo_port(t, s, p)->sw;

			ret[t->switches[s].first_port + p] = next != TOPO_NONE && !stub[next];
		}
	return ret;
}

uint32_t topo_count_lids(const struct topo *t)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].lid ? 1u << t->switches[s].lmc : 0;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		n += t->hosts[h].lid ? 1u << t->hosts[h].lmc : 0;
	for (uint32_t i = 0; i < t->n_asides; i++)
		n += t->asides[i].lid ? 1u << t->asides[i].lmc : 0;
	return n;
}

uint32_t *topo_match_switches(const struct topo *now, const struct topo *before)
{
	uint32_t *ret = xcalloc(now->n_switches, sizeof(*ret)), b = 0;

	/* Mostly the next one: both are in the same order. */
	for (uint32_t s = 0; s < now->n_switches; s++) {
		guid_t guid = now->switches[s].guid;

		if (b == before->n_switches || before->switches[b].guid != guid)
			ret[s] = topo_find_switch(before, guid);
		else
			ret[s] = b;
		if (ret[s] != TOPO_NONE)
			b = ret[s] + 1;
	}
	return ret;
}

/* Few are out of order: those that replaced another one. */
void topo_sort_by_guid(const struct topo *t, uint32_t *switches, uint32_t n)
{
	for (uint32_t i = 1; t->is_reordered && i < n; i++) {
		uint32_t at = i, sw = switches[i];

		for (; at && t->switches[switches[at - 1]].guid > t->switches[sw].guid; at--)
			switches[at] = switches[at - 1];
		switches[at] = sw;
	}
}

bool topo_has_same_switches(const struct topo *a, const struct topo *b)
{
	if (a->n_switches != b->n_switches)
		return false;
	for (uint32_t s = 0; s < a->n_switches; s++) {
		const struct topo_switch *x = &a->switches[s], *y = &b->switches[s];

		if (x->guid != y->guid || x->n_ports != y->n_ports ||
		    x->first_port != y->first_port || x->lft_cap != y->lft_cap)
			return false;
		if ((x->lid != y->lid || x->lmc != y->lmc) && x->lid && y->lid)
			return false;
	}
	return true;
}

bool topo_had_cable(const struct topo *now, const struct topo *before, const uint32_t *match,
		    uint32_t sw, unsigned port)
{
	const struct topo_port *cable = topo_port(now, sw, port), *old;
	uint32_t was = match[sw];

	assert(cable->sw != TOPO_NONE);
	if (was == TOPO_NONE || port > before->switches[was].n_ports)
		return false;
	old = topo_port(before, was, port);
	return old->sw != TOPO_NONE && old->sw == match[cable->sw] && old->port == cable->port;
}

uint32_t topo_switch_with(const struct topo *t, uint32_t entry)
{
	uint32_t behind = BISECT(i, 0, t->n_switches, t->switches[i].first_port <= entry);

	assert(behind > 0);
	return behind - 1;
}

/* NULL if the switch has no such port or something is plugged in already. */
static struct topo_port *free_port(struct topo *t, uint32_t sw, uint8_t port)
{
	struct topo_port *p;

	if (sw == TOPO_NONE || port > t->switches[sw].n_ports)
		return NULL;
	p = &t->ports[t->switches[sw].first_port + port];
	return p->sw == TOPO_NONE && p->host == TOPO_NONE && !p->aside && !p->port ? p : NULL;
}

static void plug_links(struct topo *t, struct cable *links, size_t n)
{
	if (n)
		qsort(links, n, sizeof(*links), by_cable);
	for (size_t i = 0; i < n; i++) {
		const struct cable *c = &links[i];
		uint32_t a = topo_find_switch(t, c->a), b = topo_find_switch(t, c->b);
		struct topo_port *pa = free_port(t, a, c->a_port);
		struct topo_port *pb = free_port(t, b, c->b_port);

		if (!pa || !pb || !t->switches[a].lft_cap || !t->switches[b].lft_cap)
			continue;
		if (a != b) {
			pa->sw = b;
			pb->sw = a;
		}
		pa->port = c->b_port;
		pb->port = c->a_port;
	}
}

static void plug_hosts(struct topo *t, struct cable *links, size_t n)
{
	if (n)
		qsort(links, n, sizeof(*links), by_cable);
	for (size_t i = 0; i < n; i++) {
		const struct cable *c = &links[i];
		struct topo_host *h = as_owner(topo_find_end(t, c->a));
		uint32_t sw = topo_find_switch(t, c->b);
		struct topo_port *p = free_port(t, sw, c->b_port);

		if (!h || !p || h->sw != TOPO_NONE)
			continue;
		p->aside = h->aside;
		if (!h->aside) {
			p->host = (uint32_t)(h - t->hosts);
			p->port = h->node_port;
		}
		h->sw = sw;
		h->sw_port = c->b_port;
	}
}

static void make_ports(struct topo *t, uint8_t vls)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		t->switches[s].first_port = n;
		n += t->switches[s].n_ports + 1u;
	}
	t->ports = xcalloc(n, sizeof(*t->ports));
	for (uint32_t i = 0; i < n; i++)
		t->ports[i] = (struct topo_port){
			.sw = TOPO_NONE, .host = TOPO_NONE, .vls = vls, .left_sw = TOPO_NONE
		};
}

static lid_t last_lid(lid_t base, uint8_t lmc)
{
	unsigned last = base + (1u << lmc) - 1;

	return !base ? 0 : last > LID_MAX_UCAST ? LID_MAX_UCAST : (lid_t)last;
}

static lid_t highest_lid(const struct topo *t)
{
	lid_t max = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		max = MAX(max, last_lid(t->switches[s].lid, t->switches[s].lmc));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		max = MAX(max, last_lid(t->hosts[h].lid, t->hosts[h].lmc));
	for (uint32_t i = 0; i < t->n_asides; i++)
		max = MAX(max, last_lid(t->asides[i].lid, t->asides[i].lmc));
	return max;
}

static void note_facts(struct topo *t, const struct topo_builder *b)
{
	for (size_t i = 0; i < b->n_facts; i++) {
		const struct port_fact *f = &b->facts[i];
		uint32_t sw = topo_find_switch(t, f->sw);
		struct topo_port *p;

		if (sw == TOPO_NONE || f->port > t->switches[sw].n_ports)
			continue;
		p = &t->ports[t->switches[sw].first_port + f->port];
		if (f->facts.vls)
			p->vls = f->facts.vls & 0xF;
		p->slow = f->facts.slow;
		p->rate = f->facts.rate;
		p->left_out = f->left_out && p->sw == TOPO_NONE;
		t->leaves_out |= p->left_out;
		p->left_sw = p->left_out ? topo_find_switch(t, f->left_peer) : TOPO_NONE;
	}
}

/* 0 is no rate. */
static uint16_t slower_of(uint16_t a, uint16_t b)
{
	return a && b ? MIN(a, b) : MAX(a, b);
}

/* Gives both ends of a cable between switches the same values. */
static void agree(struct topo *t)
{
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned i = 1; i <= t->switches[s].n_ports; i++) {
			struct topo_port *a = &t->ports[t->switches[s].first_port + i], *b;

			if (a->sw == TOPO_NONE)
				continue;
			b = &t->ports[t->switches[a->sw].first_port + a->port];
			a->vls = b->vls = MIN(a->vls, b->vls);
			a->slow = b->slow = a->slow || b->slow;
			a->rate = b->rate = slower_of(a->rate, b->rate);
		}
}

static bool is_reordered(const struct topo *t)
{
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (topo_order_guid(&t->switches[s]) != t->switches[s].guid)
			return true;
	return false;
}

/* Moves end ports that are set aside out of t->hosts. */
static void set_aside(struct topo *t)
{
	uint32_t n = t->n_hosts;

	t->n_hosts = 0;
	for (uint32_t i = 0; i < n; i++)
		t->n_asides += t->hosts[i].aside;
	t->asides = xcalloc(t->n_asides + 1u, sizeof(*t->asides));
	t->n_asides = 0;
	for (uint32_t i = 0; i < n; i++)
		if (t->hosts[i].aside)
			t->asides[t->n_asides++] = t->hosts[i];
		else
			t->hosts[t->n_hosts++] = t->hosts[i];
}

struct topo *topo_build(struct topo_builder *b)
{
	struct topo *t = xcalloc(1, sizeof(*t));

	t->refs = 1;
	t->n_switches = sort_unique(b->switches, b->n_switches, sizeof(*b->switches), by_switch);
	t->n_hosts = sort_unique(b->hosts, b->n_hosts, sizeof(*b->hosts), by_host);
	t->switches = take(b->switches);
	t->hosts = take(b->hosts);
	set_aside(t);
	t->is_reordered = is_reordered(t);
	make_ports(t, b->vls ? b->vls : DEFAULT_VLS);
	plug_links(t, b->links, b->n_links);
	plug_hosts(t, b->host_links, b->n_host_links);
	note_facts(t, b);
	agree(t);
	topo_set_paces(t);
	t->max_lid = highest_lid(t);
	topo_builder_free(b);
	return t;
}

static bool is_same_switch(const struct topo *a, const struct topo *b, uint32_t i)
{
	const struct topo_switch *x = &a->switches[i], *y = &b->switches[i];

	if (x->guid != y->guid || x->sysimg_guid != y->sysimg_guid ||
	    x->first_port != y->first_port || x->n_ports != y->n_ports || x->lid != y->lid ||
	    x->lmc != y->lmc || x->lft_cap != y->lft_cap)
		return false;
	for (unsigned p = 1; p <= x->n_ports; p++) {
		const struct topo_port *c = topo_port(a, i, p), *d = topo_port(b, i, p);

		if (c->sw != d->sw || c->host != d->host || c->port != d->port ||
		    c->vls != d->vls || c->slow != d->slow || c->rate != d->rate ||
		    c->aside != d->aside)
			return false;
	}
	return true;
}

static bool is_same_host(const struct topo_host *x, const struct topo_host *y)
{
	return x->guid == y->guid && x->node_guid == y->node_guid &&
	       x->sysimg_guid == y->sysimg_guid && x->sw == y->sw && x->sw_port == y->sw_port &&
	       x->node_port == y->node_port && x->router == y->router && x->aside == y->aside &&
	       x->lid == y->lid && x->lmc == y->lmc;
}

bool topo_is_same(const struct topo *a, const struct topo *b)
{
	if (a == b)
		return true;
	if (a->n_switches != b->n_switches || a->n_hosts != b->n_hosts ||
	    a->n_asides != b->n_asides || a->max_lid != b->max_lid)
		return false;
	for (uint32_t i = 0; i < a->n_switches; i++)
		if (!is_same_switch(a, b, i))
			return false;
	for (uint32_t i = 0; i < a->n_hosts; i++)
		if (!is_same_host(&a->hosts[i], &b->hosts[i]))
			return false;
	for (uint32_t i = 0; i < a->n_asides; i++)
		if (!is_same_host(&a->asides[i], &b->asides[i]))
			return false;
	return true;
}

/* ---- the same fabric, other numbers ------------------------------------------------------- */

/*
 * Fills ret->switches, and per switch of `t` its place there. A switch that has another order
 * GUID in `more` has that of `t`.
 */
static void merge_switches(const struct topo *t, const struct topo *more, struct topo *ret,
			   uint32_t *place)
{
	uint32_t n = 0;

	for (uint32_t i = 0, k = 0; i < t->n_switches || k < more->n_switches;) {
		const struct topo_switch *a = i < t->n_switches ? &t->switches[i] : NULL;
		const struct topo_switch *b = k < more->n_switches ? &more->switches[k] : NULL;
		int order = !a ? 1 : !b ? -1 : by_place(a, b);

		k += order >= 0;
		if (order <= 0) {
			place[i++] = n;
			ret->switches[n++] = *a;
		} else if (topo_find_switch(t, b->guid) == TOPO_NONE) {
			ret->switches[n] = *b;
			ret->switches[n].lid = 0;
			ret->switches[n++].lmc = 0;
		}
	}
	ret->n_switches = n;
}

static uint32_t place_of(const uint32_t *place, uint32_t sw)
{
	return sw == TOPO_NONE ? TOPO_NONE : place[sw];
}

static void move_ports(const struct topo *t, uint32_t sw, struct topo *ret, const uint32_t *place)
{
	struct topo_port *to = &ret->ports[ret->switches[place[sw]].first_port];

	for (unsigned p = 0; p <= t->switches[sw].n_ports; p++) {
		to[p] = *topo_port(t, sw, p);
		to[p].sw = place_of(place, to[p].sw);
		to[p].left_sw = place_of(place, to[p].left_sw);
	}
}

/* Copies hosts, asides and ports to `ret`, whose switches are in place. */
static struct topo *move_rest(const struct topo *t, struct topo *ret, const uint32_t *place)
{
	ret->refs = 1;
	make_ports(ret, DEFAULT_VLS);
	for (uint32_t s = 0; s < t->n_switches; s++)
		move_ports(t, s, ret, place);
	ret->n_hosts = t->n_hosts;
	ret->hosts = xmemdup(t->hosts, t->n_hosts * sizeof(*t->hosts));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		ret->hosts[h].sw = place_of(place, t->hosts[h].sw);
	ret->n_asides = t->n_asides;
	ret->asides = xmemdup(t->asides, t->n_asides * sizeof(*t->asides));
	for (uint32_t i = 0; i < t->n_asides; i++)
		ret->asides[i].sw = place_of(place, t->asides[i].sw);
	ret->max_lid = t->max_lid;
	ret->leaves_out = t->leaves_out;
	ret->is_reordered = is_reordered(ret);
	topo_set_paces(ret);
	return ret;
}

struct topo *topo_with_bare(const struct topo *t, const struct topo *more)
{
	_cleanup_free_ uint32_t *place = xcalloc(t->n_switches + 1u, sizeof(*place));
	struct topo *ret = xcalloc(1, sizeof(*ret));

	ret->switches = xcalloc((size_t)t->n_switches + more->n_switches + 1,
				sizeof(*ret->switches));
	merge_switches(t, more, ret, place);
	if (ret->n_switches > t->n_switches)
		return move_rest(t, ret, place);
	free(ret->switches);
	free(ret);
	return topo_ref(t);
}

struct topo *topo_with_order(const struct topo *t, const guid_t *order)
{
	_cleanup_free_ uint32_t *place = xcalloc(t->n_switches + 1u, sizeof(*place));
	struct topo *ret = xcalloc(1, sizeof(*ret));

	ret->n_switches = t->n_switches;
	ret->switches = xmemdup(t->switches, t->n_switches * sizeof(*t->switches));
	for (uint32_t s = 0; s < t->n_switches; s++)
		ret->switches[s].order_guid = order[s] == t->switches[s].guid ? 0 : order[s];
	if (t->n_switches)
		qsort(ret->switches, t->n_switches, sizeof(*ret->switches), by_switch);
	for (uint32_t s = 0; s < t->n_switches; s++)
		place[topo_find_switch(t, ret->switches[s].guid)] = s;
	return move_rest(t, ret, place);
}

struct topo *topo_by_guid(const struct topo *t)
{
	_cleanup_free_ guid_t *own = NULL;

	if (!t->is_reordered)
		return topo_ref(t);
	own = xcalloc(t->n_switches, sizeof(*own));
	for (uint32_t s = 0; s < t->n_switches; s++)
		own[s] = t->switches[s].guid;
	return topo_with_order(t, own);
}

bool topo_is_bare(const struct topo *t, uint32_t sw)
{
	for (unsigned port = 1; port <= t->switches[sw].n_ports; port++)
		if (topo_port(t, sw, port)->sw != TOPO_NONE)
			return false;
	return true;
}

struct topo *topo_ref(const struct topo *t)
{
	struct topo *shared = as_owner(t);

	if (shared)
		shared->refs++;
	return shared;
}

struct topo *topo_unref(const struct topo *shared)
{
	struct topo *t = as_owner(shared);

	if (!t || --t->refs)
		return NULL;
	free(t->switches);
	free(t->hosts);
	free(t->asides);
	free(t->ports);
	free(t->paces);
	free(t);
	return NULL;
}
