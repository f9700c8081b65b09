// SPDX-License-Identifier: BSD-2-Clause
/* Values as the REST interface spells them: understood, refused, written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/codes.h"
#include "rest/api_values.h"
#include "util/mem.h"

#define REFUSED (-1)

static struct json_object *value_of(const char *json)
{
	struct json_object *v = json_tokener_parse(json);

	assert_true(v || !strcmp(json, "null"));
	return v;
}

static int pkey_of(const char *json)
{
	struct json_object *v = value_of(json);
	uint16_t pkey = 0x4711;
	bool is = api_pkey_of_json(v, &pkey);

	if (!is)
		assert_int_equal(pkey, 0x4711);
	json_object_put(v);
	return is ? pkey : REFUSED;
}

static void pkeys_are_hexadecimal_or_decimal(void **state)
{
	assert_int_equal(pkey_of("\"0x5\""), 5);
	assert_int_equal(pkey_of("\"0x0005\""), 5);
	assert_int_equal(pkey_of("\"0x1A2B\""), 0x1A2B);
	assert_int_equal(pkey_of("\"0X1a2b\""), 0x1A2B);
	assert_int_equal(pkey_of("\"10\""), 10);
	assert_int_equal(pkey_of("\"010\""), 10);
	assert_int_equal(pkey_of("10"), 10);
	assert_int_equal(pkey_of("\"0x7fff\""), 0x7FFF);
	assert_int_equal(pkey_of("\"0x0\""), 0);
	assert_int_equal(pkey_of("0"), 0);
}

static void what_is_no_pkey_is_refused(void **state)
{
	static const char *const bad[] = { "\"0x8000\"", "\"0xffff\"", "\"32768\"", "32768", "-1",
					   "5.0",	 "\"\"",       "\"0x\"",    "\"0x5 \"",
					   "\" 5\"",	 "\"-5\"",     "\"5g\"",    "true",
					   "null",	 "[]",	       "{}",	    "\"1a2b\"" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (pkey_of(bad[i]) != REFUSED)
			fail_msg("%s is taken for a P_Key", bad[i]);
}

static void pkeys_are_written_short(void **state)
{
	char text[API_PKEY_TEXT];

	api_pkey_text(5, text);
	assert_string_equal(text, "0x5");
	api_pkey_text(0x1A2B, text);
	assert_string_equal(text, "0x1a2b");
	api_pkey_text(0xFFFF, text);
	assert_string_equal(text, "0x7fff");
}

static guid_t guid_of(const char *text)
{
	guid_t guid = 0;

	return api_guid_of_text(text, &guid) ? guid : 0;
}

static void guids_have_sixteen_digits(void **state)
{
	assert_int_equal(guid_of("946dae03005985c8"), 0x946dae03005985c8);
	assert_int_equal(guid_of("946DAE03005985C8"), 0x946dae03005985c8);
	assert_int_equal(guid_of("0x946dae03005985c8"), 0x946dae03005985c8);
	assert_int_equal(guid_of("0200000000000001"), 0x0200000000000001);
	assert_int_equal(guid_of("0x000200000000000001"), 0x0200000000000001);
	assert_int_equal(guid_of("0000946dae03005985c8"), 0x946dae03005985c8);
	assert_int_equal(guid_of("946dae03005985c"), 0);
	assert_int_equal(guid_of("946dae03005985c81"), 0);
	assert_int_equal(guid_of("00000946dae03005985c8"), 0);
	assert_int_equal(guid_of("0000000000000000"), 0);
	assert_int_equal(guid_of("94:6d:ae:03:00:59:85:c8"), 0);
	assert_int_equal(guid_of("946dae03005985cg"), 0);
	assert_int_equal(guid_of("-46dae03005985c8"), 0);
	assert_int_equal(guid_of(""), 0);
	assert_int_equal(guid_of("0x"), 0);
}

static void guids_are_written_with_sixteen_lower_digits(void **state)
{
	char text[API_GUID_TEXT];

	api_guid_text(0x946DAE03005985C8, text);
	assert_string_equal(text, "946dae03005985c8");
	api_guid_text(0x0200000000000001, text);
	assert_string_equal(text, "0200000000000001");
	api_guid_text(1, text);
	assert_string_equal(text, "0000000000000001");
}

static void memberships_have_two_words(void **state)
{
	assert_string_equal(api_membership("full"), "full");
	assert_string_equal(api_membership("FULL"), "full");
	assert_string_equal(api_membership("Limited"), "limited");
	assert_null(api_membership("both"));
	assert_null(api_membership(""));
}

static int bool_of(const char *json)
{
	struct json_object *v = value_of(json);
	bool is = false;
	int ret = api_bool_of_json(v, &is) ? is : REFUSED;

	json_object_put(v);
	return ret;
}

static void booleans_may_be_text(void **state)
{
	assert_int_equal(bool_of("true"), true);
	assert_int_equal(bool_of("\"True\""), true);
	assert_int_equal(bool_of("\"true\""), true);
	assert_int_equal(bool_of("1"), true);
	assert_int_equal(bool_of("\"1\""), true);
	assert_int_equal(bool_of("false"), false);
	assert_int_equal(bool_of("\"false\""), false);
	assert_int_equal(bool_of("\"False\""), false);
	assert_int_equal(bool_of("0"), false);
	assert_int_equal(bool_of("2"), REFUSED);
	assert_int_equal(bool_of("\"\""), REFUSED);
	assert_int_equal(bool_of("\"yes\""), REFUSED);
	assert_int_equal(bool_of("null"), REFUSED);
	assert_int_equal(bool_of("[]"), REFUSED);
}

static unsigned rate_of(const char *json)
{
	struct json_object *v = value_of(json);
	unsigned rate = api_rate_of_json(v);

	json_object_put(v);
	return rate;
}

/* The list of the interface, and what came later: there and back. */
static void rates_are_gigabits(void **state)
{
	static const double rates[] = { 2.5, 5,	 10,  14,  20,	25,  30,  40,  56,  60,
					80,  100, 112, 120, 168, 200, 300, 400, 600, 800 };
	char text[32];

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct json_object *back;
		unsigned code;

		snprintf(text, sizeof(text), "%g", rates[i]);
		code = rate_of(text);
		assert_int_equal(ib_rate_bandwidth(code), (unsigned)(rates[i] * 10));
		back = api_rate_to_json(code);
		assert_string_equal(json_object_to_json_string(back), text);
		json_object_put(back);
	}
	assert_int_equal(rate_of("2.5"), 2);
	assert_int_equal(rate_of("200.0"), rate_of("200"));
	assert_int_equal(rate_of("\"200\""), rate_of("200"));
	assert_int_equal(rate_of("3"), 0);
	assert_int_equal(rate_of("0"), 0);
	assert_int_equal(rate_of("-10"), 0);
	assert_int_equal(rate_of("1e300"), 0);
	assert_int_equal(rate_of("\"fast\""), 0);
	assert_int_equal(rate_of("\"nan\""), 0);
	assert_int_equal(rate_of("\"inf\""), 0);
	assert_int_equal(rate_of("null"), 0);
	assert_int_equal(rate_of("[200]"), 0);
}

static unsigned mtu_of(const char *json)
{
	struct json_object *v = value_of(json);
	unsigned mtu = api_mtu_of_json(v);

	json_object_put(v);
	return mtu;
}

static void assert_mtu_written(unsigned code, const char *text)
{
	struct json_object *v = api_mtu_to_json(code);

	assert_string_equal(json_object_to_json_string(v), text);
	json_object_put(v);
}

static void mtus_are_kilobytes_not_codes(void **state)
{
	assert_int_equal(mtu_of("2"), IB_MTU_2048);
	assert_int_equal(mtu_of("4"), IB_MTU_4096);
	assert_int_equal(mtu_of("4.0"), IB_MTU_4096);
	assert_int_equal(mtu_of("\"4\""), IB_MTU_4096);
	assert_int_equal(mtu_of("3"), 0);
	assert_int_equal(mtu_of("5"), 0);
	assert_int_equal(mtu_of("2048"), 0);
	assert_mtu_written(IB_MTU_256, "0.25");
	assert_mtu_written(IB_MTU_1024, "1");
	assert_mtu_written(IB_MTU_2048, "2");
	assert_mtu_written(IB_MTU_4096, "4");
	assert_mtu_written(0, "0");
}

static int sl_of(const char *json)
{
	struct json_object *v = value_of(json);
	unsigned sl = 0;
	int ret = api_sl_of_json(v, &sl) ? (int)sl : REFUSED;

	json_object_put(v);
	return ret;
}

static void service_levels_end_at_fifteen(void **state)
{
	assert_int_equal(sl_of("0"), 0);
	assert_int_equal(sl_of("15"), 15);
	assert_int_equal(sl_of("\"3\""), 3);
	assert_int_equal(sl_of("16"), REFUSED);
	assert_int_equal(sl_of("1.5"), REFUSED);
	assert_int_equal(sl_of("-1"), REFUSED);
	assert_int_equal(sl_of("true"), REFUSED);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static void assert_expands(const char *list, const char *want)
{
	char why[API_WHY_MAX] = "";
	struct json_object *names = api_hosts_expand(list, why);

	if (!names)
		fail_msg("%s: %s", list, why);
	assert_string_equal(json_object_to_json_string_ext(names, JSON_C_TO_STRING_PLAIN), want);
	json_object_put(names);
}

static void host_lists_are_expanded(void **state)
{
	assert_expands("n1", "[\"n1\"]");
	assert_expands("n1,n2", "[\"n1\",\"n2\"]");
	assert_expands(" n1 , n2 ", "[\"n1\",\"n2\"]");
	assert_expands("n[1-2,7]", "[\"n1\",\"n2\",\"n7\"]");
	assert_expands("n[08-10],login", "[\"n08\",\"n09\",\"n10\",\"login\"]");
	assert_expands("r[1-2]n[3-4]", "[\"r1n3\",\"r1n4\",\"r2n3\",\"r2n4\"]");
	assert_expands("n[5].ib", "[\"n5.ib\"]");
}

static void assert_refused(const char *list, const char *words)
{
	char why[API_WHY_MAX] = "";
	struct json_object *names = api_hosts_expand(list, why);

	if (names)
		fail_msg("'%s' is taken: %s", list, json_object_to_json_string(names));
	if (!strstr(why, words))
		fail_msg("'%s': '%s' does not say '%s'", list, why, words);
}

static void bad_host_lists_are_refused(void **state)
{
	char long_name[API_HOST_MAX + 2];

	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_refused("", "empty");
	assert_refused("n1,,n2", "empty");
	assert_refused("n1,", "empty");
	assert_refused("n[1-2", "without ']'");
	assert_refused("n1]", "without '['");
	assert_refused("n[]", "expected numbers");
	assert_refused("n[a]", "expected numbers");
	assert_refused("n[2-1]", "expected numbers");
	assert_refused("n[1-]", "expected numbers");
	assert_refused("n[1,]", "expected numbers");
	assert_refused("n[[1]]", "expected numbers");
	assert_refused("n[1234567890]", "expected numbers");
	assert_refused("n[1]a[1]a[1]a[1]a[1]", "brackets");
	assert_refused(long_name, "longer");
}

/* Few characters that stand for very many names cost no more than those that are allowed. */
static void host_lists_are_bounded(void **state)
{
	char why[API_WHY_MAX] = "";
	struct json_object *names = api_hosts_expand("n[1-65536]", why);

	assert_int_equal(json_object_array_length(names), API_HOSTS_MAX);
	json_object_put(names);
	assert_refused("n[0-65536]", "65536");
	assert_refused("n[1-999999999]", "65536");
	assert_refused("n[1-60000]x[1-60000]y[1-60000]z[1-60000]", "65536");
	assert_refused("n[1-60000],m[1-60000]", "65536");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pkeys_are_hexadecimal_or_decimal),
		cmocka_unit_test(what_is_no_pkey_is_refused),
		cmocka_unit_test(pkeys_are_written_short),
		cmocka_unit_test(guids_have_sixteen_digits),
		cmocka_unit_test(guids_are_written_with_sixteen_lower_digits),
		cmocka_unit_test(memberships_have_two_words),
		cmocka_unit_test(booleans_may_be_text),
		cmocka_unit_test(rates_are_gigabits),
		cmocka_unit_test(mtus_are_kilobytes_not_codes),
		cmocka_unit_test(service_levels_end_at_fifteen),
		cmocka_unit_test(host_lists_are_expanded),
		cmocka_unit_test(bad_host_lists_are_refused),
		cmocka_unit_test(host_lists_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
