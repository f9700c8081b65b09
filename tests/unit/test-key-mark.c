// SPDX-License-Identifier: BSD-2-Clause
/* Marks of secret options: equal for equal keys, and nothing without sm_key. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sm/base/key_mark.h"
#include "util/mem.h"

static uint64_t mark_of(uint64_t sm_key, uint64_t m_key)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	c->sm_key = sm_key;
	c->m_key = m_key;
	return key_mark(c, CONF_ID_m_key);
}

static void equal_keys_have_equal_marks(void **state)
{
	assert_true(mark_of(0x515, 7) == mark_of(0x515, 7));
	assert_true(mark_of(0x515, 7) != mark_of(0x515, 8));
	assert_true(mark_of(0x515, 0) != 0);
}

/* A guess of m_key proves nothing to a program that does not know sm_key. */
static void another_sm_key_makes_other_marks(void **state)
{
	assert_true(mark_of(0x515, 7) != mark_of(0x516, 7));
}

static void equal_values_of_two_options_do_not_show(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	c->sm_key = 0x515;
	c->m_key = c->sa_key = c->cc_key = 9;
	assert_true(key_mark(c, CONF_ID_m_key) != key_mark(c, CONF_ID_sa_key));
	assert_true(key_mark(c, CONF_ID_sa_key) != key_mark(c, CONF_ID_cc_key));
}

static void without_a_secret_there_are_none(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	assert_int_equal(mark_of(0, 7), 0);
	assert_int_equal(mark_of(1, 7), 0);
	c->sm_key = 0x515;
	assert_int_equal(key_mark(c, CONF_ID_sm_key), 0);
	assert_int_equal(key_mark_short(c, CONF_ID_sm_key), 0);
	assert_true(key_mark_short(c, CONF_ID_m_key) == key_mark(c, CONF_ID_m_key) >> 48);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_have_equal_marks),
		cmocka_unit_test(another_sm_key_makes_other_marks),
		cmocka_unit_test(equal_values_of_two_options_do_not_show),
		cmocka_unit_test(without_a_secret_there_are_none),
	};

	return cmocka_run_group_tests_name("key-mark", tests, NULL, NULL);
}
