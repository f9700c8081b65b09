// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses the M_Keys with which the node behind a port is asked. The keys themselves: base/keys.c.
 */
#include "sm/read/discover_internal.h"

#include "fabric/store.h"
#include "keys/key_ring.h"
#include "sm/base/keys.h"
#include "sm/base/news.h"

#define NEAR_TRIES     8
#define KEYS_OF_HOST   4 /* keys tried at once, of DISCOVER_KEYS */
#define KEYS_OF_BEFORE 3
#define KEYS_LOOKED_FOR 64 /* most keys that an answered one is compared with */
/* number of keys that are tried even if the switch is silent */
#define KEYS_UNRESTED	(3 * DISCOVER_KEYS)

/* The end port that was behind the port by the file neighbors; 0: unknown. */
static guid_t remembered_behind(const struct sm *sm, const struct port *p)
{
	guid_t guid = node_is_switch(p->node) ? p->node->guid : p->guid, peer = 0;
	uint8_t peer_port;

	if (sm->conf->m_key_lookup)
		store_neighbor(sm->store, guid, p->num, &peer, &peer_port);
	return peer;
}

/* The end port, if it was met by another way in this sweep, or NULL. */
static const struct port *met_elsewhere(const struct sm *sm, guid_t guid)
{
	struct port *p = guid ? fabric_find_port(sm->fabric, guid) : NULL;
	const struct node *n = p ? p->node : guid ? fabric_find_node(sm->fabric, guid) : NULL;

	if (!n || n->seen != sm->sweep_no)
		return NULL;
	return p ? port_of_sma(p) : &n->ports[0];
}

/*
 * Fills in end ports that may be behind the port: the remembered one, and former ones that have not
 * been met elsewhere. Returns their number.
 */
static unsigned likely_behind(const struct sm *sm, const struct port *p, guid_t remembered,
			      guid_t ret[1 + STORE_FORMER])
{
	guid_t guid = node_is_switch(p->node) ? p->node->guid : p->guid;
	unsigned n = 0;

	if (remembered)
		ret[n++] = remembered;
	for (unsigned i = 0; sm->conf->m_key_lookup && i < STORE_FORMER; i++) {
		guid_t former = store_former_neighbor(sm->store, guid, p->num, i);

		if (former && former != remembered && !met_elsewhere(sm, former))
			ret[n++] = former;
	}
	return n;
}

void discover_behind_again(struct port *p)
{
	p->key_try = p->volleys = 0;
	if (p->behind)
		mad_target_wake(p->behind);
}

/*
 * Starts with the most likely key if another ring came into force, or another manager was master.
 */
static void begin_with_ring(struct sm *sm)
{
	uint64_t likely = keys_likely(sm);

	if (likely == sm->m.discover->keys_likely)
		return;
	sm->m.discover->keys_likely = likely;
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++)
			discover_behind_again(&n->ports[i]);
	}
}

/*
 * The key of this try. The cable may lead to the last node or to another one, so its key is tried
 * first, then those of end ports that the file has there.
 */
static uint64_t key_of_try(const struct sm *sm, const struct port *p, unsigned try)
{
	guid_t peer = remembered_behind(sm, p), likely[1 + STORE_FORMER];
	const struct port *met = p->peer ? port_of_sma(p->peer) : met_elsewhere(sm, peer);
	unsigned turn, n;

	if (met && try % 2 == 0)
		return met->m_key;
	turn = met ? try / 2 : try;
	n = likely_behind(sm, p, peer, likely);
	return n ? keys_expected(sm, likely[turn % n], keys_of_turn(turn / n))
		 : keys_expected(sm, 0, turn);
}

uint64_t discover_probe_mkey(struct sm *sm, const struct port *p)
{
	begin_with_ring(sm);
	return key_of_try(sm, p, p->key_try);
}

bool discover_probe_is(struct sm *sm, struct port *p, struct dr_path *path, struct mad_request *ret)
{
	if (dr_path_extend(&p->node->path, p->num, path) < 0)
		return false;
	*ret = (struct mad_request){
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = path,
		.m_key = discover_probe_mkey(sm, p),
		.target = fabric_behind(p),
	};
	return true;
}

void discover_cancel_probes(struct sm *sm, struct port *p)
{
	if (p->behind)
		mad_cancel(sm->mad, sm, p->behind);
}

/* Was a switch behind the port last? */
static bool leads_to_switch(const struct sm *sm, const struct port *p)
{
	guid_t guid = p->peer ? 0 : remembered_behind(sm, p);
	const struct node *n = p->peer ? p->peer->node : fabric_find_node(sm->fabric, guid);

	return n ? node_is_switch(n) : guid && store_n_neighbors(sm->store, guid) > 1;
}

/* Did keys rotate since the last node behind the port got its key? */
static bool is_of_before(const struct sm *sm, const struct port *p)
{
	guid_t guid = remembered_behind(sm, p);

	return sm->state != SM_STANDBY && sm->first_sweep_done && !p->peer && guid &&
	       keys_expected(sm, guid, 0) != keys_wanted(sm, guid);
}

/* The number of keys that are tried at once. */
static unsigned n_at_once(const struct sm *sm, const struct port *p)
{
	bool is_in_doubt = p->key_try || (p->peer && p->asked_twice == sm->sweep_no &&
					  port_of_sma(p->peer)->key_doubts);

	if (!keys_are_single(sm) || !keys_has_managers(sm) ||
	    !(is_in_doubt || is_of_before(sm, p)))
		return 0;
	if (!is_in_doubt)
		return KEYS_OF_BEFORE;
	return leads_to_switch(sm, p) ? DISCOVER_KEYS : KEYS_OF_HOST;
}

static bool is_among(uint64_t key, const uint64_t *keys, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

unsigned discover_other_mkeys(const struct sm *sm, struct port *p, uint64_t first,
			      uint64_t ret[DISCOVER_KEYS])
{
	unsigned most = n_at_once(sm, p), n = 0;
	/* If the node may be unchanged, its own keys are tried. */
	bool is_known = p->peer && !p->key_try;
	uint64_t rival = sm->m.discover->keys_mixed && !p->key_try
				 ? discover_rival_mkey(sm, p, first)
				 : 0;

	if (rival)
		ret[n++] = rival;
	for (unsigned i = 0; n < most && i < most; i++) {
		uint64_t key = is_known ? keys_expected(sm, port_of_sma(p->peer)->guid,
							p->volleys * most + i)
					: key_of_try(sm, p, p->key_try + i);

		if (key != first && !is_among(key, ret, n))
			ret[n++] = key;
	}
	p->volleys += is_known && most;
	return n;
}

void discover_key_found(const struct sm *sm, struct port *p, uint64_t m_key)
{
	struct port *known = p->peer && !p->key_try ? port_of_sma(p->peer) : NULL;

	if (known && known->m_key != m_key)
		observe_mkey_tried(known, m_key);
	for (uint8_t i = 0; !known && i < KEYS_LOOKED_FOR; i++) {
		if (key_of_try(sm, p, i) != m_key)
			continue;
		p->key_try = i;
		return;
	}
}

uint64_t discover_rival_mkey(const struct sm *sm, const struct port *p, uint64_t key)
{
	const struct port *met = p->peer ? port_of_sma(p->peer) : NULL;
	guid_t peer = met ? met->guid : remembered_behind(sm, p);
	uint64_t rival;

	if (met ? met->node->seen == sm->sweep_no || !(keys_others_ruled(sm) || keys_later(sm))
		: met_elsewhere(sm, peer) != NULL)
		return 0;
	rival = keys_rival(sm, peer);
	return rival && rival == key ? keys_expected(sm, peer, 0) : rival;
}

/*
 * Puts the key of a node in doubt, as guid2mkey may be out of date; not if the node answers
 * elsewhere.
 */
void discover_doubt_behind(struct sm *sm, struct port *p, uint64_t m_key)
{
	if (p->peer && p->peer->node->seen != sm->sweep_no && !p->key_try)
		keys_doubt(sm, p->peer, m_key);
	else
		p->key_try++;
}

/* Is it our own port, behind which nothing can be read before the switch answers? */
static bool is_near_and_locked(const struct sm *sm, const struct port *p)
{
	return p == sm->fabric->own_port && keys_are_single(sm);
}

bool discover_asks_at_once(const struct sm *sm, const struct port *p, unsigned n)
{
	return is_near_and_locked(sm, p) || (n > KEYS_OF_HOST && p->key_try < KEYS_UNRESTED);
}

bool discover_worth_another_key(const struct sm *sm, const struct port *p,
				const struct mad_result *r)
{
	return is_near_and_locked(sm, p) && mad_doubts_key(r) &&
	       ++sm->m.discover->near_tries < NEAR_TRIES;
}

bool discover_worth_asking_again(const struct sm *sm, struct port *p, const struct mad_result *r)
{
	if (r->end != MAD_END_TIMEOUT || p->asked_twice == sm->sweep_no || p->silent)
		return false;
	p->asked_twice = sm->sweep_no;
	return true;
}
