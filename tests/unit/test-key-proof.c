// SPDX-License-Identifier: BSD-2-Clause
/* Proofs: the same for both sides, and another one for each key, purpose and message. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "keys/key_proof.h"
#include "util/mem.h"

struct proof {
	uint8_t bytes[KEY_PROOF_BYTES];
};

static struct proof prove(uint64_t sm_key, uint64_t sa_key, const char *purpose, const char *text)
{
	const struct key_proof_keys keys = { sm_key, sa_key };
	struct proof p;

	key_proof_make(&keys, purpose, text, strlen(text), p.bytes);
	return p;
}

static bool is_same(struct proof a, struct proof b)
{
	return key_proof_equal(a.bytes, b.bytes);
}

static void both_sides_make_the_same(void **state)
{
	assert_true(is_same(prove(0x515, 0x5a5, "a", "text"), prove(0x515, 0x5a5, "a", "text")));
	assert_true(is_same(prove(0x515, 0, "a", ""), prove(0x515, 0, "a", "")));
}

static void all_that_goes_in_counts(void **state)
{
	struct proof p = prove(0x515, 0x5a5, "a", "text");

	assert_false(is_same(p, prove(0x514, 0x5a5, "a", "text")));
	assert_false(is_same(p, prove(0x515, 0x5a4, "a", "text")));
	assert_false(is_same(p, prove(0x5a5, 0x515, "a", "text")));
	assert_false(is_same(p, prove(0x515, 0, "a", "text")));
	assert_false(is_same(p, prove(0x515, 0x5a5, "b", "text")));
	assert_false(is_same(p, prove(0x515, 0x5a5, "atext", "")));
	assert_false(is_same(p, prove(0x515, 0x5a5, "a", "texs")));
	assert_false(is_same(p, prove(0x515, 0x5a5, "a", "text ")));
}

/* Computed by another program: hmac and hashlib of Python, as RFC 5869 has it. */
static void the_proof_is_what_the_head_of_the_file_says(void **state)
{
	static const uint8_t expected[KEY_PROOF_BYTES] = {
		0xb5, 0x61, 0xaa, 0xc0, 0x7d, 0xe7, 0x11, 0x48,
		0x96, 0x7d, 0x84, 0x3d, 0x01, 0x99, 0x82, 0xd3
	};
	struct proof p = prove(0x5ec4e70000000002, 0x5ec4e70000000003, "test", "message");

	assert_memory_equal(p.bytes, expected, sizeof(expected));
}

/* Every bit counts, and the last byte does. */
static void proofs_that_differ_in_one_bit_differ(void **state)
{
	for (unsigned bit = 0; bit < 8 * KEY_PROOF_BYTES; bit++) {
		struct proof p = prove(2, 0, "a", ""), q = p;

		q.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(is_same(p, q));
	}
}

static void what_everyone_knows_is_no_secret(void **state)
{
	assert_false(key_is_secret(0));
	assert_false(key_is_secret(1));
	assert_true(key_is_secret(2));
	assert_true(key_is_secret(UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_make_the_same),
		cmocka_unit_test(all_that_goes_in_counts),
		cmocka_unit_test(the_proof_is_what_the_head_of_the_file_says),
		cmocka_unit_test(proofs_that_differ_in_one_bit_differ),
		cmocka_unit_test(what_everyone_knows_is_no_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
