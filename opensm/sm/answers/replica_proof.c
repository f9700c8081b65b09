// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests to the SA of a manager of ours without sa_key: field SM_Key has a proof of both keys
 * instead, valid for this request alone (keys/key_proof.h). It covers both managers and the whole
 * request, so a stranger that receives it can only have the same request carried out for the same
 * manager. The first question of a manager that is locked out is which manager is there; that proof
 * names none, and is valid for that question only. Keys 0 and 1 are no secrets and are sent as they
 * are. A master that is not known to be ours is asked as by any host; if sm_key is no secret none
 * can be known, so each round tries once.
 */
#include "keys/key_proof.h"
#include "sm/answers/replica_internal.h"
#include "sm/base/drawn_key.h"
#include "util/mem.h"

/* The longest record that managers send. ibsim loses bytes after it. */
#define DATA_BYTES SVR_BYTES

/*
 * Offsets in the message: GUIDs of both managers, low half of the TID, and all fields that the SA
 * uses.
 */
enum {
	AT_ASKER,
	AT_ASKED = 8,
	AT_TID = 16,
	AT_MOD = 20,
	AT_ATTR = 24,
	AT_METHOD = 26,
	AT_MASK = 28,
	AT_DATA = 36,
};

static bool is_first_question(const uint8_t *mad)
{
	return ib_get(mad, SAH_METHOD) == MAD_GET && ib_get(mad, SAH_ATTR_ID) == SA_SM_INFO_RECORD;
}

/* Makes a proof, which is never 0, as 0 stands for no key. */
static uint64_t make_proof(const struct sm *sm, guid_t asker, guid_t asked, const uint8_t *mad)
{
	const struct key_proof_keys keys = { sm_sm_key(sm), sm->conf->sa_key };
	uint8_t message[AT_DATA + DATA_BYTES] = { 0 }, proof[KEY_PROOF_BYTES];
	uint64_t ret;

	ib_bits_put(message + AT_ASKER, 0, 64, asker);
	ib_bits_put(message + AT_ASKED, 0, 64, is_first_question(mad) ? 0 : asked);
	ib_bits_put(message + AT_TID, 0, 32, ib_get(mad, SAH_TID) & UINT32_MAX);
	ib_bits_put(message + AT_MOD, 0, 32, ib_get(mad, SAH_ATTR_MOD));
	ib_bits_put(message + AT_ATTR, 0, 16, ib_get(mad, SAH_ATTR_ID));
	ib_bits_put(message + AT_METHOD, 0, 8, ib_get(mad, SAH_METHOD));
	ib_bits_put(message + AT_MASK, 0, 64, ib_get(mad, SAH_COMP_MASK));
	memcpy(message + AT_DATA, mad + SA_DATA, DATA_BYTES);
	key_proof_make(&keys, "SA request", message, sizeof(message), proof);
	ret = ib_bits_get(proof, 0, 64);
	return ret ? ret : 1;
}

static bool can_prove(const struct sm *sm)
{
	return key_is_secret(sm->conf->sa_key) && !conf_draws_sa_key(sm->conf);
}

static bool is_ours(const struct sm *sm, const struct replica *r)
{
	if (sm->state != SM_STANDBY)
		return true; /* see replica_seek.c */
	return r->of.ours || elect_has_proved(sm, r->of.guid);
}

bool replica_tries_proof(const struct sm *sm)
{
	return can_prove(sm) && !key_is_secret(sm_sm_key(sm)) && !is_ours(sm, sm->m.replica);
}

/* Is this the first question of a round, and its first try? */
static bool is_try(const struct sm *sm, const uint8_t *mad)
{
	return replica_tries_proof(sm) && !sm->m.replica->tries &&
	       ib_get(mad, SAH_ATTR_ID) == SA_SERVICE_RECORD && ib_get(mad, SAH_METHOD) == MAD_GET;
}

uint64_t replica_sm_key(const struct sm *sm, const uint8_t *mad)
{
	const struct replica *r = sm->m.replica;

	if (!key_is_secret(sm->conf->sa_key))
		return sm->conf->sa_key;
	if (!can_prove(sm) || !(is_ours(sm, r) || is_try(sm, mad)))
		return 0;
	return make_proof(sm, sm->tr->port_guid, r->ask.whom, mad);
}

bool replica_knows_keys(const struct sm *sm, guid_t asker, const uint8_t *mad)
{
	uint64_t proof = ib_get(mad, SAH_SM_KEY);

	return proof && can_prove(sm) && proof == make_proof(sm, asker, sm->tr->port_guid, mad);
}
