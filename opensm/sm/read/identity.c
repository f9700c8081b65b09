// SPDX-License-Identifier: BSD-2-Clause
/* Places of port GUIDs, and claims to these GUIDs from other places: identity.h has the rule. */
#include "sm/read/identity.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/store.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/sm_internal.h"
#include "util/guidmap.h"
#include "util/mem.h"

/* Most places that are remembered; beyond that only those of present ports. */
#define MAX_HOMES  (1u << 17)
/* Period of the comparison of claims with known facts, which reads nothing. */
#define LOOK_EVERY (1 * MONO_S)

struct place {
	guid_t sw; /* 0: none */
	uint8_t num;
};

struct home {
	guid_t guid; /* port GUID of an end port */
	struct place at;
	mono_t gone;	    /* time since which it is absent; 0: it is present */
	/* other place where the GUID answered, which is isolated or was reported */
	struct place claim;
	bool waits;	    /* set if that place is isolated, and is in `claims` */
	bool strict;	    /* set if `at` is the expected place, which is never free */
};

struct identity {
	struct guidmap *homes;
	struct home **claims;
	uint32_t n, cap;
	mono_t next;
	struct log_limit log;
	identity_expected_fn *expected;
};
MACHINE_MEMORY(identity);

void identity_new(struct sm *sm, identity_expected_fn *expected)
{
	struct identity *d = sm->m.identity;

	d->homes = guidmap_new();
	d->next = MONO_NEVER;
	d->expected = expected;
	d->log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
}

void identity_free(struct sm *sm)
{
	struct identity *d = sm->m.identity;
	size_t pos = 0;
	void *home;
	guid_t guid;

	while (guidmap_next(d->homes, &pos, &guid, &home))
		free(home);
	guidmap_free(d->homes);
	free(d->claims);
}

static bool policy_is(const struct sm *sm, const char *word)
{
	return !strcmp(sm->conf->guid_location_policy, word);
}

static mono_t hold_time(const struct sm *sm)
{
	return (mono_t)sm->conf->guid_location_hold_time * MONO_S;
}

/* ---- places --------------------------------------------------------------------------------- */

static struct place place_of(const struct port *p)
{
	return (struct place){ .sw = p->node->guid, .num = p->num };
}

static bool is_place(const struct place *a, const struct port *p)
{
	return a->sw == p->node->guid && a->num == p->num;
}

static struct port *port_at(const struct sm *sm, const struct place *at)
{
	struct node *n = at->sw ? fabric_find_node(sm->fabric, at->sw) : NULL;

	return n && at->num <= n->n_ports ? &n->ports[at->num] : NULL;
}

/*
 * Is the port still at its place: is its link up, and does no other host answer there? It may be
 * silent.
 */
static bool is_at_home(const struct sm *sm, const struct home *h)
{
	const struct port *p = port_at(sm, &h->at);

	return p && port_state(p) > IB_PORT_DOWN && (!p->peer || p->peer->guid == h->guid);
}

/* May another port have the GUID, as its place has been free for long enough? */
static bool is_free(const struct sm *sm, struct home *h)
{
	if (is_at_home(sm, h))
		h->gone = 0;
	else if (!h->gone)
		h->gone = sm->now;
	return !h->strict && h->gone && sm->now - h->gone >= hold_time(sm);
}

/* ---- homes ---------------------------------------------------------------------------------- */

static void drop_claim(struct identity *d, struct home *h)
{
	uint32_t i = 0;

	h->claim = (struct place){ 0 };
	if (!h->waits)
		return;
	h->waits = false;
	while (i < d->n && d->claims[i] != h)
		i++;
	assert(i < d->n);
	d->claims[i] = d->claims[--d->n];
}

/* Removes places that others may claim anyway. */
static void forget_free_homes(struct sm *sm)
{
	struct identity *d = sm->m.identity;
	struct guidmap *kept = guidmap_new();
	size_t pos = 0;
	void *at;
	guid_t guid;

	while (guidmap_next(d->homes, &pos, &guid, &at)) {
		struct home *h = at;

		if (h->gone && is_free(sm, h) && !h->waits)
			free(h);
		else
			guidmap_put(kept, guid, h);
	}
	guidmap_free(d->homes);
	d->homes = kept;
}

static struct home *home_of(const struct sm *sm, guid_t guid)
{
	return guid ? guidmap_get(sm->m.identity->homes, guid) : NULL;
}

/* The place of a GUID, new if need be; NULL: there are too many. */
static struct home *need_home(struct sm *sm, guid_t guid)
{
	struct home *h = home_of(sm, guid);

	if (h)
		return h;
	if (guidmap_count(sm->m.identity->homes) >= MAX_HOMES)
		forget_free_homes(sm);
	if (guidmap_count(sm->m.identity->homes) >= MAX_HOMES)
		return NULL;
	h = xcalloc(1, sizeof(*h));
	h->guid = guid;
	guidmap_put(sm->m.identity->homes, guid, h);
	return h;
}

/*
 * The place of a GUID that this process has not met: that in the file neighbors, by any of its
 * ports. NULL: none.
 */
static struct home *remember_home(struct sm *sm, guid_t guid)
{
	struct home *h = home_of(sm, guid);
	struct place at;

	if (h || !store_neighbor_of(sm->store, guid, &at.sw, &at.num))
		return h;
	h = need_home(sm, guid);
	if (h)
		h->at = at;
	return h;
}

/* Sets the place to the one that is expected of the answering port, if there is one. */
static void expect_home_of(struct sm *sm, const uint8_t *ni)
{
	guid_t guid = ib_get(ni, NI_PORT_GUID);
	struct place at = { 0 };
	bool strict = guid && sm->m.identity->expected(sm, ni, &at.sw, &at.num);
	struct home *h = strict ? need_home(sm, guid) : home_of(sm, guid);

	if (!h)
		return;
	h->strict = strict;
	if (strict)
		h->at = at;
}

/* ---- log ------------------------------------------------------------------------------------ */

static bool may_tell(struct sm *sm)
{
	return sm->state != SM_STANDBY &&
	       log_allow(&sm->m.identity->log, sm->now, &(unsigned){ 0 });
}

static void count_claim(struct sm *sm, struct port *a)
{
	tell_news(sm, NEWS_VIOLATION, .number = VIOLATION_IDENTITY, .port = a);
}

/* Logs a claim, with both places. */
static void tell_claim(struct sm *sm, struct port *a, const struct home *h, bool held)
{
	char here[PLACE_STRLEN], home[PLACE_STRLEN];
	const struct port *at = port_at(sm, &h->at);

	if (!may_tell(sm))
		return;
	if (!at)
		snprintf(home, sizeof(home), "port %u of switch 0x%016" PRIx64 ", which is gone",
			 h->at.num, h->at.sw);
	else
		fabric_place_str(at, home);
	log_on(about_port(LOG_ID_IDENTITY, a), LOGB_ERROR,
	       "%s: port GUID 0x%016" PRIx64 " answers here, and belongs to %s, where %s; %s "
	       "(guid_location_policy)",
	       fabric_place_str(a, here), h->guid, home,
	       h->strict	  ? "the expected topology has it"
	       : is_at_home(sm, h) ? "the link is up"
				   : "the link went down a moment ago",
	       !held	   ? "it is taken for moved"
	       : h->strict ? "it is held in INIT"
			   : "it is held in INIT until that place is free");
}

static void tell_kind(struct sm *sm, struct port *a, const uint8_t *ni)
{
	char here[PLACE_STRLEN];

	if (may_tell(sm))
		log_on(about_port(LOG_ID_IDENTITY, a), LOGB_ERROR,
		       "%s: node 0x%016" PRIx64 " answers here and says that it is a %s, which is "
		       "neither the former node of this port nor the former holder of this GUID; "
		       "it is held in INIT%s",
		       fabric_place_str(a, here), (guid_t)ib_get(ni, NI_NODE_GUID),
		       ib_get(ni, NI_NODE_TYPE) == IB_NODE_SWITCH ? "switch" : "host",
		       policy_is(sm, "hold") ? " (guid_location_policy)" : "");
}

/* ---- claims --------------------------------------------------------------------------------- */

static void note_claim(struct sm *sm, struct home *h, struct port *a)
{
	struct identity *d = sm->m.identity;

	h->claim = place_of(a);
	if (!h->waits) {
		GROW(d->claims, d->n + 1, d->cap);
		d->claims[d->n++] = h;
	}
	h->waits = true;
	d->next = mono_min(d->next, sm->now + LOOK_EVERY);
}

/* Is it a switch where a host was met, or a GUID that is known for the other kind of node? */
static bool is_other_kind(const struct sm *sm, const struct port *a, const uint8_t *ni)
{
	bool is_switch = ib_get(ni, NI_NODE_TYPE) == IB_NODE_SWITCH;
	const struct node *known = fabric_find_node(sm->fabric, ib_get(ni, NI_NODE_GUID));

	return (is_switch && a->identity.host) || (known && node_is_switch(known) != is_switch);
}

/*
 * Does a host behind `a`, by its NodeInfo or by earlier ones, use the GUID of a known switch?
 * Whatever the policy, no switch makes way for it.
 */
static bool takes_switch(const struct sm *sm, const struct port *a, const uint8_t *ni)
{
	const struct node *known = fabric_find_node(sm->fabric, ib_get(ni, NI_NODE_GUID));

	return known && node_is_switch(known) && !observe_is_same(known, ni) &&
	       (ib_get(ni, NI_NODE_TYPE) != IB_NODE_SWITCH || a->identity.host);
}

/* Isolates the port, or ends that, and marks it as changed. */
static bool set_held(struct port *a, bool held)
{
	if (a->identity.held != held)
		observe_shown(a->node);
	return a->identity.held = held;
}

static bool hold(struct port *a, guid_t claimed)
{
	observe_quarantine(a, true);
	a->identity.claimed = claimed;
	return set_held(a, true);
}

static bool let_go(struct port *a)
{
	a->identity.claimed = 0;
	return set_held(a, false);
}

static bool hold_kind(struct sm *sm, struct port *a, const uint8_t *ni)
{
	if (!a->identity.held) {
		tell_kind(sm, a, ni);
		count_claim(sm, a);
	}
	return hold(a, 0);
}

/* The place that a NodeInfo of a host claims, by its port GUID, or by its node and port. */
static struct home *claimed_home(struct sm *sm, const struct port *a, const uint8_t *ni)
{
	const struct node *known = fabric_find_node(sm->fabric, ib_get(ni, NI_NODE_GUID));
	unsigned num = (unsigned)ib_get(ni, NI_LOCAL_PORT);
	struct home *h = remember_home(sm, ib_get(ni, NI_PORT_GUID));

	if ((!h || is_place(&h->at, a)) && known && !node_is_switch(known) && num <= known->n_ports)
		h = home_of(sm, known->ports[num].guid);
	return h && !is_place(&h->at, a) ? h : NULL;
}

static bool hold_claim(struct sm *sm, struct port *a, struct home *h)
{
	bool is_new = a->identity.claimed != h->guid;
	struct port *home = port_at(sm, &h->at);

	note_claim(sm, h, a);
	hold(a, h->guid);
	if (!is_new)
		return true;
	tell_claim(sm, a, h, true);
	count_claim(sm, a);
	if (home && sm->state == SM_MASTER)
		tell_port(sm, home, "its host answers at another port");
	return true;
}

bool identity_holds(struct sm *sm, struct port *a, const uint8_t *ni)
{
	struct home *h;

	if (!node_is_switch(a->node))
		return let_go(a);
	if (takes_switch(sm, a, ni))
		return hold_kind(sm, a, ni);
	if (!policy_is(sm, "hold"))
		return let_go(a);
	if (is_other_kind(sm, a, ni))
		return hold_kind(sm, a, ni);
	if (ib_get(ni, NI_NODE_TYPE) == IB_NODE_SWITCH)
		return let_go(a);
	expect_home_of(sm, ni);
	h = claimed_home(sm, a, ni);
	if (h && !is_free(sm, h))
		return hold_claim(sm, a, h);
	return let_go(a);
}

void identity_met(struct sm *sm, struct port *a, struct port *b)
{
	struct home *h;

	if (!node_is_switch(a->node) || node_is_switch(b->node) || !b->guid)
		return;
	a->identity.host = true;
	h = need_home(sm, b->guid);
	if (!h)
		return;
	if (is_place(&h->at, a)) {
		h->gone = 0; /* a claim from elsewhere keeps waiting */
		return;
	}
	if (h->at.sw && policy_is(sm, "report") && !is_free(sm, h)) {
		tell_claim(sm, a, h, false);
		count_claim(sm, a);
	}
	h->at = place_of(a);
	h->gone = 0;
	drop_claim(sm->m.identity, h);
}

void identity_node_goes(struct sm *sm, struct node *n)
{
	for (unsigned i = 1; !node_is_switch(n) && i <= n->n_ports; i++) {
		struct home *h = home_of(sm, n->ports[i].guid);

		if (h && !h->gone)
			h->gone = sm->now;
	}
}

/* ---- time ----------------------------------------------------------------------------------- */

/* Looks at a claim: the claimant may have left, changed its GUID, or be free to move. */
static void look_at_claim(struct sm *sm, struct home *h)
{
	struct port *a = port_at(sm, &h->claim);

	if (a && !identity_is_held(a))
		a->identity.claimed = 0;
	if (!a || a->identity.claimed != h->guid)
		drop_claim(sm->m.identity, h);
	else if (is_free(sm, h) || !policy_is(sm, "hold"))
		tell_port(sm, a, "the first place of a port GUID is free");
}

void identity_tick(struct sm *sm)
{
	struct identity *d = sm->m.identity;

	if (sm->now < d->next)
		return;
	/* not in a sweep, which may not have met the place yet */
	for (uint32_t i = d->n; sm->sweep == SWEEP_NONE && i-- > 0;) {
		if (i < d->n && sm->state == SM_MASTER)
			look_at_claim(sm, d->claims[i]);
	}
	d->next = d->n ? sm->now + LOOK_EVERY : MONO_NEVER;
}

mono_t identity_next(const struct sm *sm)
{
	return sm->m.identity->next;
}
