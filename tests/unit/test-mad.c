// SPDX-License-Identifier: BSD-2-Clause
/* mad.c: SMP envelopes, read back with libibmad. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/mad.h"
#include "ibmad-oracle.h"
#include "util/mem.h"

static const struct smp_head get_port_info = {
	.method = MAD_GET,
	.attr = IB_ATTR_PORT_INFO,
	.mod = 0x80000007,
	.m_key = 0x1122334455667788ull,
	.tid = 0x99AABBCCDDEEFF01ull,
};

/* What libibmad reads in the header. */
static uint64_t header(const uint8_t *mad, const char *name)
{
	const struct oracle_row *row = oracle_find(ORACLE_SMP, name);
	bool wide = !strcmp(name, "TID") || !strcmp(name, "M_KEY");

	assert_non_null(row);
	return oracle_get(row, mad, wide ? 64 : 32);
}

static void assert_zero(const uint8_t *mad, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (mad[i])
			fail_msg("byte %u is 0x%02x", i, mad[i]);
}

static struct dr_path path_of(const uint8_t *hops, uint8_t n)
{
	struct dr_path path = { 0 };

	for (uint8_t i = 0; i < n; i++)
		assert_int_equal(dr_path_extend(&path, hops[i], &path), 0);
	return path;
}

static void a_directed_request_has_the_envelope_of_14_2_1_2(void **state)
{
	struct dr_path path = path_of((uint8_t[]){ 1, 18, 254 }, 3);
	uint8_t mad[MAD_SIZE], payload[SMP_DATA_SIZE];

	memset(mad, 0xA5, sizeof(mad));
	memset(payload, 0x3C, sizeof(payload));
	smp_build_dr(mad, &get_port_info, &path, payload);
	assert_int_equal(header(mad, "BASE_VERSION"), 1);
	assert_int_equal(header(mad, "CLASS"), 0x81);
	assert_int_equal(header(mad, "CLASS_VERSION"), 1);
	assert_int_equal(header(mad, "METHOD7"), 1);
	assert_int_equal(header(mad, "RESPONSE"), 0);
	assert_int_equal(header(mad, "DIRECTION"), 0);
	assert_int_equal(header(mad, "STATUS"), 0);
	assert_int_equal(header(mad, "HOP_POINTER"), 0);
	assert_int_equal(header(mad, "HOP_COUNT"), 3);
	assert_true(header(mad, "TID") == get_port_info.tid);
	assert_int_equal(header(mad, "ATTR_ID"), 0x15);
	assert_int_equal(header(mad, "ATTR_MOD"), 0x80000007);
	assert_true(header(mad, "M_KEY") == get_port_info.m_key);
	assert_int_equal(header(mad, "DR_SLID"), 0xFFFF);
	assert_int_equal(header(mad, "DR_DLID"), 0xFFFF);
	assert_zero(mad, 36, 64);
	assert_memory_equal(mad + 64, payload, sizeof(payload));
	assert_memory_equal(mad + 128, ((uint8_t[]){ 0, 1, 18, 254 }), 4);
	assert_zero(mad, 132, 256);
}

static void every_header_field_lies_where_libibmad_has_it(void **state)
{
	static const struct ib_field fields[] = IB_LAYOUT_ROWS(SMP_LIST);
	uint8_t mad[MAD_SIZE];
	unsigned seed = 1506;

	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < MAD_SIZE; i++)
			mad[i] = (uint8_t)(rand_r(&seed) >> 4);
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
			uint64_t ours = ib_bits_get(mad, fields[i].offset, fields[i].width);

			if (!strcmp(fields[i].name, "METHOD"))
				assert_int_equal(ours, header(mad, "RESPONSE") << 7 |
							       header(mad, "METHOD7"));
			else if (strncmp(fields[i].name, "RSV", 3))
				assert_true(ours == header(mad, fields[i].name));
		}
	}
}

static void a_lid_routed_request_has_no_path(void **state)
{
	uint8_t mad[MAD_SIZE];

	memset(mad, 0xA5, sizeof(mad));
	smp_build_lid(mad, &get_port_info, NULL);
	assert_int_equal(header(mad, "CLASS"), 0x01);
	assert_int_equal(header(mad, "METHOD7"), 1);
	assert_int_equal(header(mad, "ATTR_ID"), 0x15);
	assert_zero(mad, 4, 8);
	assert_zero(mad, 32, 256);
}

static void a_response_runs_backwards(void **state)
{
	struct dr_path path = path_of((uint8_t[]){ 1 }, 1);
	uint8_t mad[MAD_SIZE], request[MAD_SIZE], payload[SMP_DATA_SIZE];

	memset(payload, 0x5A, sizeof(payload));
	smp_build_dr(mad, &get_port_info, &path, NULL);
	memcpy(request, mad, sizeof(request));
	smp_make_response(mad, MAD_STATUS_BAD_VALUE, payload);
	assert_int_equal(mad[3], MAD_GET_RESP);
	assert_int_equal(header(mad, "DIRECTION"), 1);
	assert_int_equal(header(mad, "STATUS"), MAD_STATUS_BAD_VALUE);
	assert_memory_equal(mad + 64, payload, sizeof(payload));
	/* The rest is the request's. */
	assert_memory_equal(mad + 6, request + 6, 58);
	assert_memory_equal(mad + 128, request + 128, 128);
}

static void a_lid_routed_response_has_no_direction(void **state)
{
	struct smp_head head = get_port_info;
	uint8_t mad[MAD_SIZE], payload[SMP_DATA_SIZE];

	head.method = MAD_SET;
	memset(payload, 0x5A, sizeof(payload));
	smp_build_lid(mad, &head, payload);
	smp_make_response(mad, 0, NULL);
	assert_int_equal(mad[3], MAD_GET_RESP);
	assert_int_equal(header(mad, "DIRECTION"), 0);
	assert_memory_equal(mad + 64, payload, sizeof(payload));
}

static void a_trap_is_answered_by_repressing_it(void **state)
{
	struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE };
	uint8_t mad[MAD_SIZE];

	smp_build_lid(mad, &head, NULL);
	smp_make_response(mad, 0, NULL);
	assert_int_equal(mad[3], MAD_TRAP_REPRESS);
}

static void paths_end_at_63_hops(void **state)
{
	struct dr_path path = { 0 }, untouched = { .length = 9 };
	char text[DR_PATH_STRLEN];

	for (unsigned i = 0; i < IB_MAX_HOPS; i++)
		assert_int_equal(dr_path_extend(&path, 254, &path), 0);
	assert_int_equal(dr_path_extend(&path, 1, &untouched), -E2BIG);
	assert_int_equal(untouched.length, 9);
	assert_int_equal(path.length, 63);
	assert_int_equal(strlen(dr_path_str(&path, text)), 1 + 63 * 4);
}

static void paths_are_printed_as_the_tools_take_them(void **state)
{
	struct dr_path path = { 0 };
	char text[DR_PATH_STRLEN];

	assert_string_equal(dr_path_str(&path, text), "0");
	path = path_of((uint8_t[]){ 1, 18 }, 2);
	assert_string_equal(dr_path_str(&path, text), "0,1,18");
}

static void a_status_has_words(void **state)
{
	static const struct {
		unsigned status;
		const char *name;
	} cases[] = {
		{ 0, "ok" },
		{ 0x0001, "busy" },
		{ 0x0002, "redirected" },
		{ 0x0004, "unsupported class or version" },
		{ 0x0008, "unsupported method" },
		{ 0x000C, "unsupported method or attribute" },
		{ 0x001C, "invalid field" },
		{ 0x001D, "invalid field" },
		{ 0x0010, "reserved status" },
		{ 0x0100, "class-specific error" },
		{ 0x8000, "ok" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(mad_status_name(cases[i].status), cases[i].name);
}

static void a_method_has_a_name(void **state)
{
	assert_string_equal(mad_method_name(MAD_GET), "Get");
	assert_string_equal(mad_method_name(MAD_SET), "Set");
	assert_string_equal(mad_method_name(MAD_GET_RESP), "GetResp");
	assert_string_equal(mad_method_name(MAD_TRAP_REPRESS), "TrapRepress");
	assert_string_equal(mad_method_name(0x55), "unknown method");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directed_request_has_the_envelope_of_14_2_1_2),
		cmocka_unit_test(every_header_field_lies_where_libibmad_has_it),
		cmocka_unit_test(a_lid_routed_request_has_no_path),
		cmocka_unit_test(a_response_runs_backwards),
		cmocka_unit_test(a_lid_routed_response_has_no_direction),
		cmocka_unit_test(a_trap_is_answered_by_repressing_it),
		cmocka_unit_test(paths_end_at_63_hops),
		cmocka_unit_test(paths_are_printed_as_the_tools_take_them),
		cmocka_unit_test(a_status_has_words),
		cmocka_unit_test(a_method_has_a_name),
	};

	return cmocka_run_group_tests_name("mad", tests, NULL, NULL);
}
