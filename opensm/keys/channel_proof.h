// SPDX-License-Identifier: BSD-2-Clause
/*
 * How two managers prove to each other that they have the same keys, and how what they say
 * afterwards is sealed. Computes only: knows no time, no wire, and draws nothing.
 *
 *   sm_key, sa_key --HKDF--> secret --HMAC, over both nonces--> proofs of both sides
 *                               \-----HKDF, over both nonces--> session: a number, and two keys
 *
 * The side that said HELLO is `from`, the one that answered is `to`; a session is for what `from`
 * sends and for the answers to that. Proofs differ by side: one cannot be sent back as the other.
 *
 * sm_key and sa_key are mixed before anything is made of them: a proof does not tell whether one
 * of them is right. A host that has one of them, and a proof, has the 64 bits of the other to try.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/types.h"

#define CHANNEL_KEY_BYTES   32
#define CHANNEL_NONCE_BYTES 16
#define CHANNEL_TAG_BYTES   16
#define CHANNEL_LABEL_BYTES 12

struct channel_nonce {
	uint8_t bytes[CHANNEL_NONCE_BYTES];
};

struct channel_tag {
	uint8_t bytes[CHANNEL_TAG_BYTES];
};

/* A secret made of sm_key and sa_key, which proves both. */
struct channel_secret {
	uint8_t bytes[CHANNEL_KEY_BYTES];
};

/* The process of each side, and the nonce that each drew for this meeting. */
struct channel_pair {
	guid_t from, to;
	uint64_t from_life, to_life;
	struct channel_nonce from_nonce, to_nonce;
};

struct channel_session {
	uint32_t id; /* number, not secret; 0: no session */
	uint8_t forth[CHANNEL_KEY_BYTES], back[CHANNEL_KEY_BYTES];
};

enum channel_side { CHANNEL_PROOF_TO, CHANNEL_PROOF_FROM };

void channel_secret_make(uint64_t sm_key, uint64_t sa_key, struct channel_secret *ret);

/* The proof of one side; `word` is a number that is sent with it and proven, too. */
struct channel_tag channel_proof(const struct channel_secret *s, enum channel_side side,
				 const struct channel_pair *pair, uint32_t word);
/* Compares in a time that does not depend on the first difference. */
bool channel_tag_is(const struct channel_tag *a, const struct channel_tag *b);
void channel_session_make(const struct channel_secret *s, const struct channel_pair *pair,
			  struct channel_session *ret);

/*
 * The nonce of the answering side, computed from the request so that it need not be remembered.
 * `s`: known to that side alone; `turn`: changes after each session with that manager.
 */
struct channel_nonce channel_nonce_make(const struct channel_secret *s,
					const struct channel_pair *pair, uint64_t turn);

/*
 * ChaCha20-Poly1305 (RFC 8439). `label`: never the same for two different contents under one key.
 * `head` is not encrypted, and is proven as well. `from` and `to` may be the same place.
 */
struct channel_box {
	const uint8_t *key, *label;
	const uint8_t *head;
	size_t head_len;
};
void channel_seal(const struct channel_box *b, const uint8_t *from, size_t len, uint8_t *to,
		  struct channel_tag *ret);
/* Decrypts. False: it was not sealed so, and `to` is cleared. */
bool channel_open(const struct channel_box *b, const struct channel_tag *tag, const uint8_t *from,
		  size_t len, uint8_t *to);
