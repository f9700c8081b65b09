// SPDX-License-Identifier: BSD-2-Clause
/*
 * Proofs that the sender of a message knows the keys of this subnet. No key is on the wire, and
 * nothing from which a random one can be found.
 *
 *   key   = HKDF-SHA-256(sm_key || sa_key, purpose)
 *   proof = first 16 bytes of HMAC-SHA-256(key, message)
 *
 * Each kind of message has a purpose of its own, so that a proof of one kind is none of another: a
 * manager cannot be made to prove what another one is to say. Against repetition a message has
 * something in it that its receiver chose.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_PROOF_BYTES 16

struct key_proof_keys {
	uint64_t sm_key, sa_key; /* 0: not used by this purpose */
};

/* Is the key a secret: neither 0 nor the well-known 1? */
bool key_is_secret(uint64_t key);
void key_proof_make(const struct key_proof_keys *keys, const char *purpose, const void *message,
		    size_t len, uint8_t ret[KEY_PROOF_BYTES]);
/* Compares in a time that does not depend on the contents. */
bool key_proof_equal(const uint8_t a[KEY_PROOF_BYTES], const uint8_t b[KEY_PROOF_BYTES]);
