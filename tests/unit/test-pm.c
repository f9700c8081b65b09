// SPDX-License-Identifier: BSD-2-Clause
/*
 * ib/pm.h, which simulator and manager share, against libibmad's field table, both ways; and
 * against the bytes of IBA 16.1.4. FEC counters.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ib/records.h"
#include "ibmad-oracle-pm.h"
#include "perf/decode.h"
#include "util/mem.h"

#define ROUNDS 100
#define BYTES  192u

static const struct ib_field cpi[] = IB_LAYOUT_ROWS(CPI_LIST);
static const struct ib_field pc[] = IB_LAYOUT_ROWS(PORT_COUNTERS_LIST);
static const struct ib_field pcx[] = IB_LAYOUT_ROWS(PORT_COUNTERS_EXT_LIST);
static const struct ib_field pre[] = IB_LAYOUT_ROWS(RCV_ERROR_DETAILS_LIST);
static const struct ib_field pxd[] = IB_LAYOUT_ROWS(XMIT_DISCARD_DETAILS_LIST);
static const struct ib_field pes[] = IB_LAYOUT_ROWS(EXT_SPEEDS_LIST);

static const struct {
	uint16_t attr;
	const struct ib_field *fields;
	size_t n;
} attrs[] = {
	{ PM_CLASS_PORT_INFO, cpi, ARRAY_SIZE(cpi) },
	{ PM_PORT_COUNTERS, pc, ARRAY_SIZE(pc) },
	{ PM_PORT_COUNTERS_EXT, pcx, ARRAY_SIZE(pcx) },
	{ PM_PORT_RCV_ERROR_DETAILS, pre, ARRAY_SIZE(pre) },
	{ PM_PORT_XMIT_DISCARD_DETAILS, pxd, ARRAY_SIZE(pxd) },
	{ PM_PORT_EXT_SPEEDS, pes, ARRAY_SIZE(pes) },
};

static const struct ib_field *field_of(const struct oracle_row *row)
{
	for (size_t a = 0; a < ARRAY_SIZE(attrs); a++)
		for (size_t i = 0; attrs[a].attr == row->attr && i < attrs[a].n; i++)
			if (!strcmp(attrs[a].fields[i].name, row->name))
				return &attrs[a].fields[i];
	fail_msg("no field %s", row->name);
	return NULL;
}

static uint64_t fill(uint8_t *data, unsigned *seed)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < BYTES; i++)
		data[i] = (uint8_t)(rand_r(seed) >> 3);
	for (unsigned i = 0; i < 5; i++)
		v = v << 15 ^ (unsigned)rand_r(seed);
	return v;
}

static void check(const struct oracle_row *row, const struct ib_field *f, unsigned *seed)
{
	uint64_t mask = f->width == 64 ? ~0ull : (1ull << f->width) - 1;
	uint8_t ours[BYTES], theirs[BYTES];

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t value = fill(ours, seed);

		memcpy(theirs, ours, sizeof(theirs));
		if (ib_bits_get(ours, f->offset, f->width) != oracle_get(row, ours, f->width))
			fail_msg("%s of 0x%04x reads differently", row->name, row->attr);
		ib_bits_put(ours, f->offset, f->width, value);
		oracle_put(row, theirs, f->width, value & mask);
		if (memcmp(ours, theirs, sizeof(ours)))
			fail_msg("%s of 0x%04x is written differently", row->name, row->attr);
	}
}

/* Fields with a counter for each lane are as many of libibmad's, one behind the other. */
static void every_field_that_libibmad_knows_is_where_it_has_it(void **state)
{
	unsigned seed = 4711;
	size_t n;
	const struct oracle_row *rows = oracle_pm_rows(&n);

	for (size_t r = 0; r < n; r++) {
		const struct ib_field *f = field_of(&rows[r]);
		unsigned lanes = f->width > 64 ? PM_LANES : 1, width = f->width / lanes;

		for (unsigned i = 0; i < lanes; i++) {
			const struct oracle_row row = { rows[r].attr, f->name, rows[r].theirs + i };
			const struct ib_field lane = { f->name, (uint16_t)(f->offset + i * width),
						       (uint16_t)width };

			check(&row, &lane, &seed);
		}
	}
}

/* The rest of ClassPortInfo is not of performance management. */
static void libibmad_knows_every_field_but_those_checked_by_bytes(void **state)
{
	for (size_t a = 1; a < ARRAY_SIZE(attrs); a++) {
		for (size_t i = 0; i < attrs[a].n; i++) {
			const struct ib_field *f = &attrs[a].fields[i];

			if (oracle_pm_find(attrs[a].attr, f->name) || !strncmp(f->name, "RSV", 3))
				continue;
			/* libibmad takes other bits for both: a test below has their bytes */
			if (!strcmp(f->name, "COUNTER_SELECT2") || !strcmp(f->name, "QP1_DROPPED"))
				continue;
			fail_msg("%s of 0x%04x is checked nowhere", f->name, attrs[a].attr);
		}
	}
}

static void errors_of_64_bits_stand_at_their_bytes(void **state)
{
	static const struct {
		unsigned byte;
		struct ib_field f;
	} table[] = {
#define AT(byte, NAME) { byte, { #NAME, NAME, NAME##_W } }
		AT(72, PCX_SYMBOL_ERRORS),	AT(80, PCX_LINK_RECOVERIES),
		AT(88, PCX_LINK_DOWNED),	AT(96, PCX_RCV_ERRORS),
		AT(104, PCX_RCV_REMOTE_ERRORS), AT(112, PCX_RCV_RELAY_ERRORS),
		AT(120, PCX_XMIT_DISCARDS),	AT(128, PCX_XMIT_CONSTRAINTS),
		AT(136, PCX_RCV_CONSTRAINTS),	AT(144, PCX_LINK_INTEGRITY),
		AT(152, PCX_BUFFER_OVERRUNS),	AT(160, PCX_VL15_DROPPED),
		AT(168, PCX_XMIT_WAIT),		AT(176, PCX_QP1_DROPPED),
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint8_t data[BYTES] = { 0 };

		memcpy(data + table[i].byte, "\x01\x23\x45\x67\x89\xAB\xCD\xEF", 8);
		assert_int_equal(table[i].f.width, 64);
		if (ib_bits_get(data, table[i].f.offset, 64) != 0x0123456789ABCDEF)
			fail_msg("%s does not stand at %u", table[i].f.name, table[i].byte);
	}
}

static void what_libibmad_reads_elsewhere_stands_at_its_bytes(void **state)
{
	uint8_t data[BYTES] = { [4] = 0x12, 0x34, 0x56, 0x78 };

	assert_int_equal(ib_get(data, PCX_COUNTER_SELECT2), 0x12345678);
	memcpy(data + 20, "\x51\x52\x53\x54", 4);
	assert_int_equal(ib_get(data, PC_QP1_DROPPED), 0x5152);
	assert_int_equal(ib_get(data, PC_VL15_DROPPED), 0x5354);
	memcpy(data + 140, "\x0A\x0B\x0C\x0D\x1A\x1B\x1C\x1D", 8);
	assert_int_equal(ib_get(data, PES_PORT_CORRECTED), 0x0A0B0C0D);
	assert_int_equal(ib_get(data, PES_PORT_UNCORRECTABLE), 0x1A1B1C1D);
}

/* Wide counters are decoded by the list of kinds.h: each by a value of its own. */
static void wide_errors_are_decoded_each_from_its_bytes(void **state)
{
	static const uint8_t bytes[PERF_ERRORS] = { 72,	 80,  88,  96,	104, 112, 120,
						    128, 136, 144, 152, 160, 168 };
	uint8_t data[BYTES] = { 0 };
	uint64_t errors[PERF_ERRORS];

	for (unsigned i = 0; i < PERF_ERRORS; i++)
		data[bytes[i] + 7] = (uint8_t)(i + 1);
	perf_decode_wide(data, true, errors);
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		assert_int_equal(errors[i], i + 1);
	perf_decode_wide(data, false, errors);
	assert_int_equal(errors[PERF_XMIT_WAIT], 0);
}

/* ---- capabilities ---------------------------------------------------------------------------- */

/* CapabilityMask in bytes 2 and 3; CapabilityMask2 in the 27 upper bits from byte 4 on. */
static struct perf_caps caps(uint16_t mask, uint32_t mask2)
{
	uint8_t data[BYTES] = { 1,
				1,
				(uint8_t)(mask >> 8),
				(uint8_t)mask,
				(uint8_t)(mask2 >> 19),
				(uint8_t)(mask2 >> 11),
				(uint8_t)(mask2 >> 3),
				(uint8_t)(mask2 << 5 | 0x1F) };

	return perf_decode_caps(data);
}

static void capabilities_say_which_counters_there_are(void **state)
{
	struct perf_caps c = caps(0x1200, 0x02);

	assert_true(c.known && perf_has_extended(&c) && perf_has_wide(&c) &&
		    perf_has_xmit_wait(&c));
	c = caps(0x0200, 0x04);
	assert_true(perf_has_extended(&c) && !perf_has_wide(&c) && !perf_has_xmit_wait(&c));
	c = caps(0x0400, 0);
	assert_true(perf_has_extended(&c));
	c = caps(0x4800, 0x02);
	assert_false(perf_has_extended(&c));
	assert_false(perf_has_wide(&c));
	assert_int_equal(c.mask & PM_CAP_RS_FEC, 0x4000);
	assert_int_equal(c.mask & PM_CAP_QP1_DROPPED, 0);
}

/* ---- FEC ------------------------------------------------------------------------------------- */

static void blocks_of_all_lanes_are_added_up(void **state)
{
	uint8_t data[BYTES] = { [19] = 9, [21] = 9, [47] = 1, [51] = 2, [91] = 3, [95] = 10,
				[139] = 20, [143] = 0x40, [147] = 0x80 };
	struct perf_fec fec = perf_decode_fec(data, false);

	assert_int_equal(fec.corrected, 6);
	assert_int_equal(fec.uncorrectable, 30);
	assert_false(fec.nearly_full || fec.at_end);
}

static void with_rs_fec_the_blocks_of_the_port_count(void **state)
{
	uint8_t data[BYTES] = { [44] = 0x10, [143] = 5, [147] = 7 };
	struct perf_fec fec = perf_decode_fec(data, true);

	assert_int_equal(fec.corrected, 0x10000000);
	assert_int_equal(fec.uncorrectable, 7);
}

/* A lane above three quarters of 32 bits is cleared soon; at its end it has lost some. */
static void a_full_lane_is_seen(void **state)
{
	uint8_t data[BYTES] = { [88] = 0xBF, 0xFF, 0xFF, 0xFF };
	struct perf_fec fec = perf_decode_fec(data, false);

	assert_false(fec.nearly_full);
	memcpy(data + 88, "\xC0\0\0\0", 4);
	fec = perf_decode_fec(data, false);
	assert_true(fec.nearly_full && !fec.at_end);
	memset(data + 88, 0xFF, 4);
	fec = perf_decode_fec(data, false);
	assert_true(fec.nearly_full && fec.at_end);
	assert_int_equal(fec.corrected, 0xFFFFFFFF);
	memset(data, 0, sizeof(data));
	memset(data + 144, 0xFF, 4);
	assert_false(perf_decode_fec(data, false).at_end);
	assert_true(perf_decode_fec(data, true).at_end);
}

static void clearing_selects_all_of_fec(void **state)
{
	uint8_t data[BYTES] = { 0 }, want[BYTES] = { [1] = 3 };

	memset(want + 8, 0xFF, 8);
	perf_encode_clear_fec(data, 3);
	assert_memory_equal(data, want, sizeof(data));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_that_libibmad_knows_is_where_it_has_it),
		cmocka_unit_test(libibmad_knows_every_field_but_those_checked_by_bytes),
		cmocka_unit_test(errors_of_64_bits_stand_at_their_bytes),
		cmocka_unit_test(what_libibmad_reads_elsewhere_stands_at_its_bytes),
		cmocka_unit_test(wide_errors_are_decoded_each_from_its_bytes),
		cmocka_unit_test(capabilities_say_which_counters_there_are),
		cmocka_unit_test(blocks_of_all_lanes_are_added_up),
		cmocka_unit_test(with_rs_fec_the_blocks_of_the_port_count),
		cmocka_unit_test(a_full_lane_is_seen),
		cmocka_unit_test(clearing_selects_all_of_fec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
