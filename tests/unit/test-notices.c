// SPDX-License-Identifier: BSD-2-Clause
/*
 * Layouts of notices: against libibmad where it knows them, against notices seen on the wire, and
 * against the offsets of traps.md 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/attrs.h"
#include "ib/notices.h"
#include "ibmad-oracle.h"
#include "util/mem.h"

static void agree_with_libibmad(void **state)
{
	static const struct ib_field fields[] = {
		{ "IS_GENERIC", NT_IS_GENERIC, NT_IS_GENERIC_W },
		{ "TYPE", NT_TYPE, NT_TYPE_W },
		{ "PRODUCER", NT_PRODUCER, NT_PRODUCER_W },
		{ "TRAP", NT_TRAP, NT_TRAP_W },
		{ "ISSUER_LID", NT_ISSUER_LID, NT_ISSUER_LID_W },
		{ "TOGGLE", NT_TOGGLE, NT_TOGGLE_W },
		{ "COUNT", NT_COUNT, NT_COUNT_W },
		{ "128 LID", N128_LID, N128_LID_W },
		{ "144 LID", N144_LID, N144_LID_W },
		{ "144 CAP_MASK", N144_CAP_MASK, N144_CAP_MASK_W },
	};
	unsigned seed = 1;

	for (unsigned round = 0; round < 200; round++) {
		uint8_t notice[NT_BYTES];

		for (size_t k = 0; k < sizeof(notice); k++)
			notice[k] = (uint8_t)(rand_r(&seed) >> 3);
		for (size_t k = 0; k < ARRAY_SIZE(fields); k++) {
			const struct oracle_row *row = oracle_find(IB_ATTR_NOTICE, fields[k].name);

			assert_non_null(row);
			assert_int_equal(ib_bits_get(notice, fields[k].offset, fields[k].width),
					 oracle_get(row, notice, fields[k].width));
		}
	}
}

/* ibsim's 128 and 144, ibsendtrap's 129 and 256. */
static void captured_notices_read_as_what_they_say(void **state)
{
	static const uint8_t link[SMP_DATA_SIZE] = { 0x81, 0, 0, 2, 0, 0x80, 0, 2, 0, 0, 0, 2 };
	static const uint8_t local[SMP_DATA_SIZE] = { 0x84, 0, 0,    1,	   0,	 0x90, 0,
						      0x0b, 0, 0,    0,	   0,	 0,    11,
						      0,    0, 0x00, 0x50, 0xc0, 0x4a };
	static const uint8_t errors[SMP_DATA_SIZE] = { 0x81, 0, 0, 1, 0, 0x81, 0, 14,
						       0,    0, 0, 0, 0, 14,   1 };
	static const uint8_t key[SMP_DATA_SIZE] = {
		0x82, 0,    0, 1,    1,	   0,	 0,    14, 0, 0, 0, 0,	  0,	14,
		0xff, 0xff, 1, 0,    0,	   0x15, 0,    0,  0, 0x12, 0x12, 0x34,
	};

	assert_int_equal(ib_get(link, NT_TRAP), TRAP_LINK_STATE);
	assert_int_equal(ib_get(link, NT_PRODUCER), 2);
	assert_int_equal(ib_get(link, N128_LID), 2);
	assert_int_equal(ib_get(local, N144_LID), 11);
	assert_int_equal(ib_get(local, N144_CAP_MASK), 0x0050c04a);
	assert_int_equal(ib_get(errors, N129_LID), 14);
	assert_int_equal(ib_get(errors, N129_PORT), 1);
	assert_int_equal(ib_get(key, NT_TYPE), 2);
	assert_int_equal(ib_get(key, N256_LID), 14);
	assert_int_equal(ib_get(key, N256_DR_SLID), 0xFFFF);
	assert_int_equal(ib_get(key, N256_METHOD), 1);
	assert_int_equal(ib_get(key, N256_ATTR), IB_ATTR_PORT_INFO);
	assert_int_equal(ib_get(key, N256_MOD), 0x12);
	assert_int_equal(ib_get(key, N256_M_KEY) >> 48, 0x1234);
}

/* The columns of traps.md 1, from the start of the Notice. */
static void details_stand_where_the_specification_says(void **state)
{
	static const struct {
		unsigned ours, byte, bit;
	} rows[] = {
		{ N64_GID, 16, 0 },	   { N128_LID, 10, 0 },	   { N129_LID, 12, 0 },
		{ N129_PORT, 14, 0 },	   { N144_LID, 12, 0 },	   { N144_OTHER_CHANGES, 15, 7 },
		{ N144_CAP_MASK, 16, 0 },  { N144_CHANGES, 20, 0 }, { N144_CAP_MASK2, 22, 0 },
		{ N145_LID, 12, 0 },	   { N145_GUID, 16, 0 },   { N256_LID, 12, 0 },
		{ N256_DR_SLID, 14, 0 },   { N256_METHOD, 16, 0 }, { N256_ATTR, 18, 0 },
		{ N256_MOD, 20, 0 },	   { N256_M_KEY, 24, 0 },  { N256_DIRECTED, 33, 0 },
		{ N256_TRUNCATED, 33, 1 }, { N256_HOPS, 33, 2 },   { N256_PATH, 34, 0 },
		{ N257_LID1, 12, 0 },	   { N257_LID2, 14, 0 },   { N257_KEY, 16, 0 },
		{ N257_SL, 20, 0 },	   { N257_QP1, 21, 0 },	   { N257_QP2, 25, 0 },
		{ N257_GID1, 28, 0 },	   { N257_GID2, 44, 0 },   { N259_VALID, 10, 0 },
		{ N259_LID1, 12, 0 },	   { N259_LID2, 14, 0 },   { N259_P_KEY, 16, 0 },
		{ N259_SL, 18, 0 },	   { N259_QP1, 19, 0 },	   { N259_QP2, 23, 0 },
		{ N259_GID1, 26, 0 },	   { N259_GID2, 42, 0 },   { N259_SWITCH_LID, 58, 0 },
		{ N259_PORT, 60, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].ours != rows[i].byte * 8 + rows[i].bit)
			fail_msg("row %zu: bit %u, expected byte %u bit %u", i, rows[i].ours,
				 rows[i].byte, rows[i].bit);
	}
}

static void every_trap_has_a_name(void **state)
{
	static const unsigned traps[] = { 64,  65,  66,	 67,  128, 129, 130,
					  131, 144, 145, 256, 257, 258, 259 };

	for (size_t i = 0; i < ARRAY_SIZE(traps); i++)
		assert_string_not_equal(ib_trap_name(traps[i]), ib_trap_name(9999));
	assert_string_equal(ib_trap_name(TRAP_LINK_STATE), "link state changed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agree_with_libibmad),
		cmocka_unit_test(captured_notices_read_as_what_they_say),
		cmocka_unit_test(details_stand_where_the_specification_says),
		cmocka_unit_test(every_trap_has_a_name),
	};

	return cmocka_run_group_tests_name("notices", tests, NULL, NULL);
}
