// SPDX-License-Identifier: BSD-2-Clause
/* layout.h and attrs.h against libibmad's own field table, both ways, on random payloads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ib/attrs.h"
#include "ibmad-oracle.h"
#include "util/mem.h"

#define ROUNDS 200

static const uint16_t attrs[] = { IB_ATTR_NODE_INFO, IB_ATTR_SWITCH_INFO, IB_ATTR_PORT_INFO,
				  IB_ATTR_SM_INFO, IB_ATTR_MLNX_EXT_PORT_INFO };

typedef void check_fn(const struct ib_field *, const struct oracle_row *, unsigned *seed);

/* Calls `check` for each field but the reserved ones, with libibmad's row for it. */
static void each_field(check_fn *check, unsigned *seed)
{
	for (size_t a = 0; a < ARRAY_SIZE(attrs); a++) {
		size_t n = 0;
		const struct ib_field *fields = ib_attr_fields(attrs[a], &n);

		assert_true(fields && n);
		for (size_t i = 0; i < n; i++) {
			const struct oracle_row *row = oracle_find(attrs[a], fields[i].name);

			if (!strncmp(fields[i].name, "RSV", 3))
				continue;
			if (!row)
				fail_msg("libibmad does not know %s", fields[i].name);
			check(&fields[i], row, seed);
		}
	}
}

static void fill(uint8_t *payload, unsigned *seed)
{
	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		payload[i] = (uint8_t)(rand_r(seed) >> 3);
}

static uint64_t random_u64(unsigned *seed)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 5; i++)
		v = v << 15 ^ (unsigned)rand_r(seed);
	return v;
}

static void check_get(const struct ib_field *field, const struct oracle_row *row, unsigned *seed)
{
	uint8_t payload[SMP_DATA_SIZE];

	for (unsigned round = 0; round < ROUNDS; round++) {
		fill(payload, seed);
		if (ib_bits_get(payload, field->offset, field->width) !=
		    oracle_get(row, payload, field->width))
			fail_msg("%s reads differently", field->name);
	}
}

static void every_field_reads_as_libibmad_reads_it(void **state)
{
	unsigned seed = 4711;

	each_field(check_get, &seed);
}

static void check_put(const struct ib_field *field, const struct oracle_row *row, unsigned *seed)
{
	uint64_t mask = field->width == 64 ? ~0ull : (1ull << field->width) - 1;
	uint8_t ours[SMP_DATA_SIZE], theirs[SMP_DATA_SIZE];

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t value = random_u64(seed);

		fill(ours, seed);
		memcpy(theirs, ours, sizeof(theirs));
		/* Bits of ours that do not fit must not spill into the neighbours. */
		ib_bits_put(ours, field->offset, field->width, value);
		oracle_put(row, theirs, field->width, value & mask);
		if (memcmp(ours, theirs, sizeof(ours)))
			fail_msg("%s is written differently", field->name);
	}
}

static void every_field_is_written_as_libibmad_writes_it(void **state)
{
	unsigned seed = 815;

	each_field(check_put, &seed);
}

static void every_row_of_libibmad_names_a_field_of_ours(void **state)
{
	size_t n_rows, n;
	const struct oracle_row *rows = oracle_rows(&n_rows);

	for (size_t r = 0; r < n_rows; r++) {
		const struct ib_field *fields = ib_attr_fields(rows[r].attr, &n);
		/* Headers and notices have lists of their own: test-mad, test-notices. */
		bool found = rows[r].attr == ORACLE_SMP || rows[r].attr == IB_ATTR_NOTICE;

		for (size_t i = 0; fields && i < n; i++)
			found = found || !strcmp(fields[i].name, rows[r].name);
		if (!found)
			fail_msg("no field %s", rows[r].name);
	}
}

static void any_field_reads_back_what_was_written(void **state)
{
	uint8_t payload[SMP_DATA_SIZE];
	unsigned seed = 99;

	for (unsigned offset = 0; offset < 64; offset++) {
		for (unsigned width = 1; width <= 64; width++) {
			uint64_t value = random_u64(&seed) >> (64 - width);

			if (width > 57 && offset % 8)
				continue;
			fill(payload, &seed);
			ib_bits_put(payload, offset, width, value);
			assert_int_equal(ib_bits_get(payload, offset, width), value);
		}
	}
}

static void rows_follow_each_other_without_gaps(void **state)
{
	for (size_t a = 0; a < ARRAY_SIZE(attrs); a++) {
		size_t n = 0;
		const struct ib_field *fields = ib_attr_fields(attrs[a], &n);
		unsigned offset = 0;

		assert_non_null(fields);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(fields[i].offset, offset);
			assert_true(fields[i].width >= 1 && fields[i].width <= 64);
			offset += fields[i].width;
		}
		assert_true(offset && offset <= SMP_DATA_SIZE * 8);
	}
}

static void attributes_without_a_layout_have_no_rows(void **state)
{
	size_t n = 77;

	assert_null(ib_attr_fields(IB_ATTR_LFT, &n));
	assert_null(ib_attr_fields(0x7777, &n));
	assert_int_equal(n, 77);
	assert_string_equal(ib_attr_name(IB_ATTR_LFT), "LinearForwardingTable");
	assert_string_equal(ib_attr_name(IB_ATTR_PORT_INFO), "PortInfo");
	assert_string_equal(ib_attr_name(0x7777), "unknown attribute");
}

static unsigned speed(unsigned active, unsigned extended, enum ib_speed_set most, bool fdr10)
{
	uint8_t pi[SMP_DATA_SIZE] = { 0 };

	ib_put(pi, PI_SPEED_ACTIVE, active);
	ib_put(pi, PI_SPEED_EXT_ACTIVE, extended);
	return ib_link_speed(pi, most, fdr10);
}

static void speed_bits_become_tenths_of_gigabits(void **state)
{
	enum ib_speed_set ext = IB_SPEED_EXTENDED;

	assert_int_equal(speed(1, 0, 0, false), 25);
	assert_int_equal(speed(2, 0, 0, false), 50);
	assert_int_equal(speed(4, 0, 0, false), 100);
	assert_int_equal(speed(4, 0, 0, true), 103);
	assert_int_equal(speed(2, 0, 0, true), 50);
	assert_int_equal(speed(4, 1, ext, false), 140);
	assert_int_equal(speed(4, 2, ext, true), 250);
	assert_int_equal(speed(4, 4, ext, false), 500);
	assert_int_equal(speed(4, 8, ext, false), 1000);
	assert_int_equal(speed(3, 0, 0, false), 0);
	assert_int_equal(speed(0, 0, ext, false), 0);
}

static void extended_speeds_need_the_capability(void **state)
{
	uint8_t pi[SMP_DATA_SIZE] = { 0 };

	assert_int_equal(speed(4, 8, IB_SPEED_PLAIN, false), 100);
	assert_int_equal(ib_speed_sets(NULL), IB_SPEED_PLAIN);
	ib_put(pi, PI_CAP_MASK, ~IB_CAP(IB_CAP_EXTENDED_SPEEDS));
	assert_int_equal(ib_speed_sets(pi), IB_SPEED_PLAIN);
	ib_put(pi, PI_CAP_MASK, IB_CAP(IB_CAP_EXTENDED_SPEEDS));
	assert_int_equal(ib_speed_sets(pi), IB_SPEED_EXTENDED);
	ib_put(pi, PI_CAP_MASK2, IB_CAP(IB_CAP2_EXTENDED_SPEEDS2));
	assert_int_equal(ib_speed_sets(pi), IB_SPEED_EXTENDED);
	ib_put(pi, PI_CAP_MASK, IB_CAP(IB_CAP_EXTENDED_SPEEDS) | IB_CAP(IB_CAP_CAPMASK2));
	assert_int_equal(ib_speed_sets(pi), IB_SPEED_EXTENDED2);
}

/* Byte 56 of PortInfo: Active in bits 6:5, Supported in 4:3, Enabled in 2:0. */
static void xdr_is_read_from_the_second_extended_fields(void **state)
{
	uint8_t pi[SMP_DATA_SIZE] = { [56] = 0x20 | 0x08 | 0x07 };

	ib_put(pi, PI_SPEED_ACTIVE, 4);
	ib_put(pi, PI_SPEED_EXT_ACTIVE, 8);
	assert_int_equal(ib_link_speed(pi, IB_SPEED_EXTENDED2, false), 2000);
	assert_int_equal(ib_link_speed(pi, IB_SPEED_EXTENDED, false), 1000);
	assert_int_equal(ib_speed_bits(pi, IB_SPEED_EXTENDED2, IB_SPEED_SUPPORTED), 1);
	assert_int_equal(ib_speed_bits(pi, IB_SPEED_EXTENDED2, IB_SPEED_ENABLED), 7);
	assert_int_equal(ib_speed_active_set(pi, IB_SPEED_EXTENDED2), IB_SPEED_EXTENDED2);
	assert_int_equal(ib_get(pi, PI_ROUND_TRIP_LATENCY), 0);
	pi[56] = 0;
	assert_int_equal(ib_link_speed(pi, IB_SPEED_EXTENDED2, false), 1000);
}

static void the_rows_of_speeds_agree_with_each_other(void **state)
{
	unsigned seen[IB_SPEED_SETS] = { 0 };

	for (size_t i = 0; i < IB_SPEEDS; i++) {
		const struct ib_speed *s = &ib_speeds[i];
		bool fdr10 = s->tenths == IB_SPEED_FDR10;

		assert_true(!i || s->tenths > ib_speeds[i - 1].tenths);
		assert_true(s->data < s->raw);
		assert_ptr_equal(ib_speed_of(s->tenths), s);
		assert_ptr_equal(ib_speed_named(s->name, strlen(s->name)), s);
		for (size_t w = 0; w < IB_WIDTHS; w++)
			assert_int_equal(ib_rate_bandwidth(s->rate[w]),
					 ib_widths[w].lanes * (fdr10 ? IB_SPEED_QDR : s->tenths));
		for (unsigned set = 0; set < IB_SPEED_SETS; set++) {
			assert_false(seen[set] & s->bit[set]);
			seen[set] |= s->bit[set];
		}
	}
	assert_null(ib_speed_of(26));
	assert_null(ib_speed_named("EDRx", 4));
	assert_null(ib_speed_named("ED", 2));
}

static void vl_codes_and_widths_turn_both_ways(void **state)
{
	static const uint8_t code_of[] = { 0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5 };

	for (unsigned vls = 0; vls < ARRAY_SIZE(code_of); vls++)
		assert_int_equal(ib_vls_code(vls), code_of[vls]);
	assert_int_equal(ib_data_vls(5), 15);
	assert_int_equal(ib_data_vls(6), 0);
	for (size_t w = 0; w < IB_WIDTHS; w++)
		assert_ptr_equal(ib_width_of(ib_widths[w].lanes), &ib_widths[w]);
	assert_int_equal(ib_widest(0x11)->lanes, 2);
	assert_int_equal(ib_widest(0xFF)->lanes, 12);
	assert_null(ib_widest(0));
}

static void width_bits_become_lanes(void **state)
{
	static const struct {
		uint8_t code, lanes;
	} cases[] = { { 1, 1 },	 { 2, 4 }, { 4, 8 }, { 8, 12 },
		      { 16, 2 }, { 0, 0 }, { 3, 0 }, { 255, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t pi[SMP_DATA_SIZE] = { 0 };

		ib_put(pi, PI_WIDTH_ACTIVE, cases[i].code);
		assert_int_equal(ib_link_width(pi), cases[i].lanes);
	}
}

static void codes_have_words(void **state)
{
	static const unsigned bytes[] = { 0, 256, 512, 1024, 2048, 4096, 0 };

	for (unsigned code = 0; code < ARRAY_SIZE(bytes); code++)
		assert_int_equal(ib_mtu_bytes(code), bytes[code]);
	assert_string_equal(ib_port_state_name(IB_PORT_DOWN), "Down");
	assert_string_equal(ib_port_state_name(IB_PORT_INIT), "Init");
	assert_string_equal(ib_port_state_name(IB_PORT_ARMED), "Armed");
	assert_string_equal(ib_port_state_name(IB_PORT_ACTIVE), "Active");
	assert_string_equal(ib_port_state_name(5), "Unknown");
	assert_string_equal(ib_node_type_name(IB_NODE_CA), "Channel Adapter");
	assert_string_equal(ib_node_type_name(IB_NODE_SWITCH), "Switch");
	assert_string_equal(ib_node_type_name(IB_NODE_ROUTER), "Router");
	assert_string_equal(ib_node_type_name(0), "UNKNOWN");
	assert_string_equal(ib_node_type_name(4), "UNKNOWN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_reads_as_libibmad_reads_it),
		cmocka_unit_test(every_field_is_written_as_libibmad_writes_it),
		cmocka_unit_test(every_row_of_libibmad_names_a_field_of_ours),
		cmocka_unit_test(any_field_reads_back_what_was_written),
		cmocka_unit_test(rows_follow_each_other_without_gaps),
		cmocka_unit_test(attributes_without_a_layout_have_no_rows),
		cmocka_unit_test(speed_bits_become_tenths_of_gigabits),
		cmocka_unit_test(extended_speeds_need_the_capability),
		cmocka_unit_test(xdr_is_read_from_the_second_extended_fields),
		cmocka_unit_test(the_rows_of_speeds_agree_with_each_other),
		cmocka_unit_test(vl_codes_and_widths_turn_both_ways),
		cmocka_unit_test(width_bits_become_lanes),
		cmocka_unit_test(codes_have_words),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
