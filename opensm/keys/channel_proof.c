// SPDX-License-Identifier: BSD-2-Clause
#include "keys/channel_proof.h"

#include <assert.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>

#define SALT "opensm channel 2"

_Static_assert(CHANNEL_KEY_BYTES == SHA256_DIGEST_SIZE &&
		       CHANNEL_KEY_BYTES == CHACHA_POLY1305_KEY_SIZE &&
		       CHANNEL_LABEL_BYTES == CHACHA_POLY1305_NONCE_SIZE &&
		       CHANNEL_TAG_BYTES == CHACHA_POLY1305_DIGEST_SIZE,
	       "sizes of SHA-256 and of RFC 8439");

/* Bytes of a pair: GUIDs and lives, highest byte first, and the nonces. */
#define PAIR_BYTES (4 * 8 + 2 * CHANNEL_NONCE_BYTES)

static void put_be(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

static void put_pair(uint8_t ret[PAIR_BYTES], const struct channel_pair *pair)
{
	put_be(ret, pair->from, 8);
	put_be(ret + 8, pair->to, 8);
	put_be(ret + 16, pair->from_life, 8);
	put_be(ret + 24, pair->to_life, 8);
	memcpy(ret + 32, pair->from_nonce.bytes, CHANNEL_NONCE_BYTES);
	memcpy(ret + 32 + CHANNEL_NONCE_BYTES, pair->to_nonce.bytes, CHANNEL_NONCE_BYTES);
}

/* HMAC-SHA-256 of a word that says what it is for, a pair, and a number; `n` bytes of it. */
static void mac_pair(const struct channel_secret *s, const char *what,
		     const struct channel_pair *pair, uint64_t number, size_t n, uint8_t *ret)
{
	struct hmac_sha256_ctx ctx;
	uint8_t bytes[PAIR_BYTES + 8];

	put_pair(bytes, pair);
	put_be(bytes + PAIR_BYTES, number, 8);
	hmac_sha256_set_key(&ctx, sizeof(s->bytes), s->bytes);
	hmac_sha256_update(&ctx, strlen(what), (const uint8_t *)what);
	hmac_sha256_update(&ctx, sizeof(bytes), bytes);
	hmac_sha256_digest(&ctx, n, ret);
	explicit_bzero(&ctx, sizeof(ctx));
}

void channel_secret_make(uint64_t sm_key, uint64_t sa_key, struct channel_secret *ret)
{
	struct hmac_sha256_ctx ctx;
	uint8_t keys[16];

	put_be(keys, sm_key, 8);
	put_be(keys + 8, sa_key, 8);
	hmac_sha256_set_key(&ctx, strlen(SALT), (const uint8_t *)SALT);
	hkdf_extract(&ctx, (nettle_hash_update_func *)hmac_sha256_update,
		     (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE,
		     sizeof(keys), keys, ret->bytes);
	explicit_bzero(keys, sizeof(keys));
	explicit_bzero(&ctx, sizeof(ctx));
}

struct channel_tag channel_proof(const struct channel_secret *s, enum channel_side side,
				 const struct channel_pair *pair, uint32_t word)
{
	struct channel_tag ret;

	assert(s && pair);
	mac_pair(s, side == CHANNEL_PROOF_TO ? "welcome" : "confirm", pair, word,
		 sizeof(ret.bytes), ret.bytes);
	return ret;
}

bool channel_tag_is(const struct channel_tag *a, const struct channel_tag *b)
{
	return memeql_sec(a->bytes, b->bytes, sizeof(a->bytes));
}

struct channel_nonce channel_nonce_make(const struct channel_secret *s,
					const struct channel_pair *pair, uint64_t turn)
{
	struct channel_pair asked = *pair;
	struct channel_nonce ret;

	assert(s && pair);
	asked.to_nonce = (struct channel_nonce){ { 0 } };
	mac_pair(s, "nonce", &asked, turn, sizeof(ret.bytes), ret.bytes);
	return ret;
}

void channel_session_make(const struct channel_secret *s, const struct channel_pair *pair,
			  struct channel_session *ret)
{
	struct hmac_sha256_ctx ctx;
	uint8_t info[7 + PAIR_BYTES] = "session", bytes[2 * CHANNEL_KEY_BYTES + 4];

	assert(s && pair);
	put_pair(info + 7, pair);
	hmac_sha256_set_key(&ctx, sizeof(s->bytes), s->bytes);
	hkdf_expand(&ctx, (nettle_hash_update_func *)hmac_sha256_update,
		    (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE,
		    sizeof(info), info, sizeof(bytes), bytes);
	memcpy(ret->forth, bytes, CHANNEL_KEY_BYTES);
	memcpy(ret->back, bytes + CHANNEL_KEY_BYTES, CHANNEL_KEY_BYTES);
	ret->id = 0;
	for (unsigned i = 0; i < 4; i++)
		ret->id = ret->id << 8 | bytes[2 * CHANNEL_KEY_BYTES + i];
	ret->id |= 1; /* never 0 */
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(&ctx, sizeof(ctx));
}

/* ---- sealing ------------------------------------------------------------------------------- */

static void start_box(const struct channel_box *b, struct chacha_poly1305_ctx *ctx)
{
	assert(b->key && b->label && (b->head || !b->head_len));
	chacha_poly1305_set_key(ctx, b->key);
	chacha_poly1305_set_nonce(ctx, b->label);
	chacha_poly1305_update(ctx, b->head_len, b->head);
}

void channel_seal(const struct channel_box *b, const uint8_t *from, size_t len, uint8_t *to,
		  struct channel_tag *ret)
{
	struct chacha_poly1305_ctx ctx;

	start_box(b, &ctx);
	chacha_poly1305_encrypt(&ctx, len, to, from);
	chacha_poly1305_digest(&ctx, sizeof(ret->bytes), ret->bytes);
	explicit_bzero(&ctx, sizeof(ctx));
}

bool channel_open(const struct channel_box *b, const struct channel_tag *tag, const uint8_t *from,
		  size_t len, uint8_t *to)
{
	struct chacha_poly1305_ctx ctx;
	struct channel_tag is;

	start_box(b, &ctx);
	chacha_poly1305_decrypt(&ctx, len, to, from);
	chacha_poly1305_digest(&ctx, sizeof(is.bytes), is.bytes);
	explicit_bzero(&ctx, sizeof(ctx));
	if (channel_tag_is(&is, tag))
		return true;
	explicit_bzero(to, len);
	return false;
}
