// SPDX-License-Identifier: BSD-2-Clause
/*
 * Managers of ours prove to each other that they know sm_key, within SMInfo: LIDs and GMPs may not
 * work yet. SM_Key is shown to no other one (IBA 13.4.8, 14.2.5.13 allow that), unless
 * sm_key_shown asks for it.
 *
 *   Get      nonce of the asker           proof "question": GUIDs of asker and answerer, nonce,
 *                                         epoch
 *   GetResp  challenge of the answerer    proof "answer": GUID of the asker, its nonce, all of
 *                                         SMInfo (GUID, priority, state), challenge, epoch
 *   Set      that challenge               proof "order": GUID of the receiver, modifier, all of
 *                                         SMInfo (GUID of the sender, state), challenge
 *
 * Nonce and proof lie behind SMInfo, where the data of an SMP are reserved, and reach the other
 * manager unchanged: a directed route changes hop pointers only, the kernel half of the TID (which
 * is why no proof is of that). OpenSM looks at no data of a Get, and is never sent the other two.
 *
 * - An answer is believed once, by the asker that drew its nonce for this question; so one that was
 *   seen elsewhere or before is worth nothing, and neither is one with another state.
 * - A question without its proof is answered as those of any host. One that is repeated by a
 *   stranger brings an answer that is good for its first asker alone.
 * - An order is obeyed once: the challenge is drawn anew after it. The same order again, whose
 *   answer may have been lost, is answered and not obeyed.
 *
 * With an sm_key that everyone knows there is nothing to prove, and no byte is added.
 */
#include <string.h>

#include "keys/key_proof.h"
#include "sm/base/drawn_key.h"
#include "sm/base/key_epoch.h"
#include "sm/base/news.h"
#include "sm/elect/elect_internal.h"

/* The content of a proof besides the payload. */
struct statement {
	const char *purpose;
	guid_t peer;	/* the receiver */
	uint64_t nonce; /* nonce of the question that is answered */
	unsigned mod;
};

/* Offsets in the message: these three, then the payload up to the proof. */
enum { AT_PEER, AT_NONCE = 8, AT_MOD = 16, AT_PAYLOAD = 24, PAYLOAD_BYTES = SMX_PROOF / 8 };

static void make_proof(const struct sm *sm, const struct statement *s, const uint8_t *info,
		       uint8_t ret[KEY_PROOF_BYTES])
{
	const struct key_proof_keys keys = { .sm_key = sm_sm_key(sm) };
	uint8_t message[AT_PAYLOAD + PAYLOAD_BYTES];

	ib_bits_put(message + AT_PEER, 0, 64, s->peer);
	ib_bits_put(message + AT_NONCE, 0, 64, s->nonce);
	ib_bits_put(message + AT_MOD, 0, 64, s->mod);
	memcpy(message + AT_PAYLOAD, info, PAYLOAD_BYTES);
	key_proof_make(&keys, s->purpose, message, sizeof(message), ret);
}

static bool is_proved(const struct sm *sm, const struct statement *s, const uint8_t *info)
{
	uint8_t proof[KEY_PROOF_BYTES];

	make_proof(sm, s, info, proof);
	return key_proof_equal(proof, ib_at(info, SMX_PROOF));
}

/* Is sm_key a secret, so that a stranger could not prove it? */
static bool can_prove(const struct sm *sm)
{
	return key_is_secret(sm_sm_key(sm));
}

bool proof_is_carried(const uint8_t *info)
{
	static const uint8_t none[KEY_PROOF_BYTES];

	return !key_proof_equal(ib_at(info, SMX_PROOF), none);
}

bool proof_shows_key(const struct sm *sm)
{
	return !can_prove(sm) || sm->conf->sm_key_shown;
}

/* ---- questions and answers ------------------------------------------------------------------- */

uint64_t proof_nonce(struct sm *sm)
{
	return can_prove(sm) ? mad_nonce(sm->mad) : 0;
}

void proof_ask(const struct sm *sm, guid_t whom, uint64_t nonce, uint8_t info[SMP_DATA_SIZE])
{
	const struct statement question = { .purpose = "SMInfo question", .peer = whom };

	memset(info, 0, SMP_DATA_SIZE);
	if (!nonce)
		return;
	ib_put(info, SMI_GUID, sm->tr->port_guid);
	ib_put(info, SMX_NONCE, nonce);
	key_epoch_put(sm, info);
	make_proof(sm, &question, info, ib_at(info, SMX_PROOF));
}

static bool is_question_of_ours(const struct sm *sm, const uint8_t *question)
{
	const struct statement s = { .purpose = "SMInfo question", .peer = sm->tr->port_guid };

	return can_prove(sm) && proof_is_carried(question) && is_proved(sm, &s, question);
}

static struct statement answer_to(guid_t asker, uint64_t nonce)
{
	return (struct statement){ .purpose = "SMInfo answer", .peer = asker, .nonce = nonce };
}

void proof_answer(struct sm *sm, const uint8_t *question, uint8_t info[SMP_DATA_SIZE])
{
	struct statement answer =
		answer_to(ib_get(question, SMI_GUID), ib_get(question, SMX_NONCE));

	if (!is_question_of_ours(sm, question))
		return;
	tell_news(sm, NEWS_EPOCH_TOLD, .bytes = question);
	if (!sm->m.elect->challenge)
		sm->m.elect->challenge = mad_nonce(sm->mad);
	ib_put(info, SMX_NONCE, sm->m.elect->challenge);
	key_epoch_put(sm, info);
	make_proof(sm, &answer, info, ib_at(info, SMX_PROOF));
}

bool proof_is_answer(const struct sm *sm, uint64_t nonce, const uint8_t *info)
{
	const struct statement answer = answer_to(sm->tr->port_guid, nonce);

	return nonce && can_prove(sm) && proof_is_carried(info) && is_proved(sm, &answer, info);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static struct statement order_to(guid_t whom, unsigned mod)
{
	return (struct statement){ .purpose = "SMInfo order", .peer = whom, .mod = mod };
}

void proof_order(const struct sm *sm, const struct remote_sm *r, unsigned mod,
		 uint8_t info[SMP_DATA_SIZE])
{
	const struct statement order = order_to(r->guid, mod);

	ib_put(info, SMX_NONCE, r->challenge);
	make_proof(sm, &order, info, ib_at(info, SMX_PROOF));
}

bool proof_is_order(const struct sm *sm, const uint8_t *mad)
{
	const uint8_t *info = smp_data(mad);
	const struct statement order =
		order_to(sm->tr->port_guid, (unsigned)ib_get(mad, SMP_ATTR_MOD));
	uint64_t challenge = sm->m.elect->challenge;

	return can_prove(sm) && challenge && ib_get(info, SMX_NONCE) == challenge &&
	       is_proved(sm, &order, info);
}

void proof_obeyed(struct sm *sm, const uint8_t *mad)
{
	if (!proof_is_order(sm, mad))
		return;
	memcpy(sm->m.elect->obeyed, ib_at(smp_data(mad), SMX_PROOF), KEY_PROOF_BYTES);
	sm->m.elect->challenge = 0;
}

bool proof_was_obeyed(const struct sm *sm, const uint8_t *mad)
{
	const uint8_t *info = smp_data(mad);

	return proof_is_carried(info) &&
	       key_proof_equal(ib_at(info, SMX_PROOF), sm->m.elect->obeyed);
}
