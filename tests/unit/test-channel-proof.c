// SPDX-License-Identifier: BSD-2-Clause
/*
 * Proofs and seals of the channel between managers. The expected bytes were computed by Python's
 * hashlib and hmac (HKDF of RFC 5869 written out), and by ChaCha20-Poly1305 written out from
 * RFC 8439, which gave the tag of its section 2.8.2.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "keys/channel_proof.h"

#define SM_KEY UINT64_C(0x0123456789abcdef)
#define SA_KEY UINT64_C(0xfedcba9876543210)
#define PLAIN  130 /* more than two blocks of ChaCha20 */

#define SECRET	"311584fa96e23e098b0f44b30a3b210d09facd0c16ecff8c7425705c79927d54"
#define WELCOME "55c8ad5df6a5647a0dad2e382784d0bc"
#define CONFIRM "cd44e433feb4114bdd1f22b783701941"
#define NONCE	"22973b391cee446b2e62cd587dffe60b"
#define FORTH	"f55b703dd0a65972ffee521d16a6ac444baf9233c51a2edf79bf18e81571d1c4"
#define BACK	"61686b0c2f777878ce497ff34c11e9ee330d6d606f76970e00a813ada9546e67"
#define ID	0x7d1dd02b
#define SEALED                                                                                     \
	"f4b1a6cc7b242dcd34b219113df38318caf923e4f0f5e9cc3155c52f2c6a9cd97cdb7cea33398f54064d5ba3" \
	"8af9b51b2e9f7664f14c739dea071b46aa38ef0f5dfe66d4f9eca4cb1464e4aebed099194047d76e09d2d756" \
	"7afd4666fa90b18b0fb45ed02e4f9505a10b71a4c3497d54499e68b4386a4ae1ebdf29cfe18cf1650ca4"
#define TAG   "226369ea2128cdf1ec0f60ca81f239fc"
#define EMPTY "cd96d778be2561d217592f4a51882a40"

static void assert_hex(const void *bytes, size_t len, const char *hex)
{
	char text[2 * 256 + 1] = "";

	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
	assert_string_equal(text, hex);
}

static struct channel_pair pair_of_two(void)
{
	struct channel_pair p = { .from = 0x0002c90300000001,
				  .to = 0x0002c90300000002,
				  .from_life = 0x1111,
				  .to_life = 0x2222 };

	for (unsigned i = 0; i < CHANNEL_NONCE_BYTES; i++) {
		p.from_nonce.bytes[i] = (uint8_t)i;
		p.to_nonce.bytes[i] = (uint8_t)(100 + i);
	}
	return p;
}

static struct channel_secret secret_of_two(void)
{
	struct channel_secret s;

	channel_secret_make(SM_KEY, SA_KEY, &s);
	return s;
}

static void keys_and_proofs_are_as_computed_elsewhere(void **state)
{
	const struct channel_pair pair = pair_of_two();
	const struct channel_secret s = secret_of_two();
	struct channel_session session;
	struct channel_nonce nonce;
	struct channel_tag tag;

	assert_hex(s.bytes, sizeof(s.bytes), SECRET);
	tag = channel_proof(&s, CHANNEL_PROOF_TO, &pair, 7);
	assert_hex(tag.bytes, sizeof(tag.bytes), WELCOME);
	tag = channel_proof(&s, CHANNEL_PROOF_FROM, &pair, 7);
	assert_hex(tag.bytes, sizeof(tag.bytes), CONFIRM);
	nonce = channel_nonce_make(&s, &pair, 9);
	assert_hex(nonce.bytes, sizeof(nonce.bytes), NONCE);
	channel_session_make(&s, &pair, &session);
	assert_int_equal(session.id, ID);
	assert_hex(session.forth, sizeof(session.forth), FORTH);
	assert_hex(session.back, sizeof(session.back), BACK);
}

/* All that goes into a proof counts, and so does which of the keys is which. */
static void any_other_side_of_a_meeting_gives_another_proof(void **state)
{
	const struct channel_pair same = pair_of_two();
	const struct channel_secret s = secret_of_two();
	const struct channel_tag is = channel_proof(&s, CHANNEL_PROOF_FROM, &same, 7);
	struct channel_secret turned;
	struct channel_tag other;

	for (size_t i = 0; i < sizeof(same); i++) {
		struct channel_pair pair = same;

		((uint8_t *)&pair)[i] ^= 0x10;
		other = channel_proof(&s, CHANNEL_PROOF_FROM, &pair, 7);
		assert_false(channel_tag_is(&is, &other));
	}
	other = channel_proof(&s, CHANNEL_PROOF_FROM, &same, 8);
	assert_false(channel_tag_is(&is, &other));
	channel_secret_make(SA_KEY, SM_KEY, &turned);
	other = channel_proof(&turned, CHANNEL_PROOF_FROM, &same, 7);
	assert_false(channel_tag_is(&is, &other));
	other = channel_proof(&s, CHANNEL_PROOF_FROM, &same, 7);
	assert_true(channel_tag_is(&is, &other));
}

/* It is made of what was asked alone, so that it need not be remembered; each turn has another. */
static void the_nonce_of_an_answer_can_be_made_again(void **state)
{
	struct channel_pair pair = pair_of_two();
	const struct channel_secret s = secret_of_two();
	const struct channel_nonce is = channel_nonce_make(&s, &pair, 9);
	struct channel_nonce other;

	pair.to_nonce = is;
	other = channel_nonce_make(&s, &pair, 9);
	assert_memory_equal(&is, &other, sizeof(is));
	other = channel_nonce_make(&s, &pair, 10);
	assert_memory_not_equal(&is, &other, sizeof(is));
	pair.from_nonce.bytes[0] ^= 1;
	other = channel_nonce_make(&s, &pair, 9);
	assert_memory_not_equal(&is, &other, sizeof(is));
}

struct sealed {
	uint8_t key[CHANNEL_KEY_BYTES], label[CHANNEL_LABEL_BYTES], head[20], bytes[PLAIN];
	struct channel_tag tag;
};

static struct channel_box box_of(const struct sealed *s)
{
	return (struct channel_box){
		.key = s->key, .label = s->label, .head = s->head, .head_len = sizeof(s->head)
	};
}

static struct sealed seal_pattern(void)
{
	const struct channel_pair pair = pair_of_two();
	const struct channel_secret s = secret_of_two();
	struct channel_session session;
	struct sealed ret;
	struct channel_box box = box_of(&ret);

	channel_session_make(&s, &pair, &session);
	memcpy(ret.key, session.forth, sizeof(ret.key));
	memcpy(ret.head, "head of a part, 20 b", sizeof(ret.head));
	for (unsigned i = 0; i < PLAIN; i++)
		ret.bytes[i] = (uint8_t)i;
	for (unsigned i = 0; i < CHANNEL_LABEL_BYTES; i++)
		ret.label[i] = (uint8_t)i;
	channel_seal(&box, ret.bytes, PLAIN, ret.bytes, &ret.tag);
	return ret;
}

static void what_is_sealed_is_as_computed_elsewhere_and_opens(void **state)
{
	struct sealed s = seal_pattern();
	const struct channel_box box = box_of(&s);

	assert_hex(s.bytes, PLAIN, SEALED);
	assert_hex(s.tag.bytes, sizeof(s.tag.bytes), TAG);
	assert_true(channel_open(&box, &s.tag, s.bytes, PLAIN, s.bytes));
	for (unsigned i = 0; i < PLAIN; i++)
		assert_int_equal(s.bytes[i], i);
}

static void nothing_can_be_sealed_too(void **state)
{
	const struct channel_pair pair = pair_of_two();
	const struct channel_secret s = secret_of_two();
	const uint8_t label[CHANNEL_LABEL_BYTES] = { 0 };
	struct channel_session session;
	struct channel_box box = { .label = label };
	struct channel_tag tag;
	uint8_t none = 7;

	channel_session_make(&s, &pair, &session);
	box.key = session.back;
	channel_seal(&box, &none, 0, &none, &tag);
	assert_hex(tag.bytes, sizeof(tag.bytes), EMPTY);
	assert_true(channel_open(&box, &tag, &none, 0, &none));
	assert_int_equal(none, 7);
}

static void a_bit_that_was_flipped_anywhere_is_refused(void **state)
{
	const struct sealed right = seal_pattern();

	for (size_t bit = 0; bit < 8 * sizeof(right); bit++) {
		struct sealed s = right;
		const struct channel_box box = box_of(&s);
		uint8_t plain[PLAIN];

		((uint8_t *)&s)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		memset(plain, 1, sizeof(plain));
		assert_false(channel_open(&box, &s.tag, s.bytes, PLAIN, plain));
		for (unsigned i = 0; i < PLAIN; i++)
			assert_int_equal(plain[i], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_proofs_are_as_computed_elsewhere),
		cmocka_unit_test(any_other_side_of_a_meeting_gives_another_proof),
		cmocka_unit_test(the_nonce_of_an_answer_can_be_made_again),
		cmocka_unit_test(what_is_sealed_is_as_computed_elsewhere_and_opens),
		cmocka_unit_test(nothing_can_be_sealed_too),
		cmocka_unit_test(a_bit_that_was_flipped_anywhere_is_refused),
	};

	return cmocka_run_group_tests_name("channel-proof", tests, NULL, NULL);
}
