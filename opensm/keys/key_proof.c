// SPDX-License-Identifier: BSD-2-Clause
#include "keys/key_proof.h"

#include <assert.h>
#include <string.h>

#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>

#include "util/mem.h"

#define WELL_KNOWN 1 /* sm_key and sa_key of every distribution */
#define SALT	   "opensm: managers, 1"

bool key_is_secret(uint64_t key)
{
	return key && key != WELL_KNOWN;
}

static void put_key(uint8_t *to, uint64_t key)
{
	for (unsigned i = 0; i < 8; i++)
		to[i] = (uint8_t)(key >> (56 - 8 * i));
}

/* RFC 5869: extracted from both keys, expanded by the purpose. */
static void derive(const struct key_proof_keys *keys, const char *purpose,
		   uint8_t ret[SHA256_DIGEST_SIZE])
{
	struct hmac_sha256_ctx ctx;
	uint8_t input[16], extracted[SHA256_DIGEST_SIZE];

	put_key(input, keys->sm_key);
	put_key(input + 8, keys->sa_key);
	hmac_sha256_set_key(&ctx, sizeof(SALT) - 1, (const uint8_t *)SALT);
	hkdf_extract(&ctx, (nettle_hash_update_func *)hmac_sha256_update,
		     (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE,
		     sizeof(input), input, extracted);
	hmac_sha256_set_key(&ctx, sizeof(extracted), extracted);
	hkdf_expand(&ctx, (nettle_hash_update_func *)hmac_sha256_update,
		    (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE,
		    strlen(purpose), (const uint8_t *)purpose, SHA256_DIGEST_SIZE, ret);
	explicit_bzero(&ctx, sizeof(ctx));
	explicit_bzero(input, sizeof(input));
	explicit_bzero(extracted, sizeof(extracted));
}

void key_proof_make(const struct key_proof_keys *keys, const char *purpose, const void *message,
		    size_t len, uint8_t ret[KEY_PROOF_BYTES])
{
	struct hmac_sha256_ctx ctx;
	uint8_t key[SHA256_DIGEST_SIZE];

	assert(keys && purpose[0] && (message || !len));
	derive(keys, purpose, key);
	hmac_sha256_set_key(&ctx, sizeof(key), key);
	hmac_sha256_update(&ctx, len, message);
	hmac_sha256_digest(&ctx, KEY_PROOF_BYTES, ret);
	explicit_bzero(&ctx, sizeof(ctx));
	explicit_bzero(key, sizeof(key));
}

bool key_proof_equal(const uint8_t a[KEY_PROOF_BYTES], const uint8_t b[KEY_PROOF_BYTES])
{
	return memeql_sec(a, b, KEY_PROOF_BYTES);
}
