// SPDX-License-Identifier: BSD-2-Clause
/* The door of Subnet Administration, its answers, and the query engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/sa-desk.h"
#include "util/mem.h"

static void a_node_is_found_by_its_lid(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	ib_put(desk_blank(d), NR_LID, 3);
	a = desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID));
	assert_non_null(a);
	assert_int_equal(a->status, 0);
	assert_int_equal(a->method, MAD_GET_RESP);
	assert_int_equal(a->len, SA_DATA + 112);
	assert_int_equal(a->stride, 112);
	assert_int_equal(ib_get(desk_record(a, 0), NR_LID), 3);
	assert_string_equal((const char *)desk_record(a, 0) + 44, "h2");
}

static void a_table_holds_every_node(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a = desk_table(d, SA_NODE_RECORD, 0);

	assert_int_equal(a->n, 7);
	assert_int_equal(a->method, MAD_SA_GET_TABLE | MAD_RESPONSE_BIT);
	assert_int_equal(ib_get(a->mad, SAH_RMPP_FLAGS), RMPP_ACTIVE);
	assert_int_equal(a->len, SA_DATA + 7 * 112);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_found_by_its_lid),
		cmocka_unit_test(a_table_holds_every_node),
	};

	return cmocka_run_group_tests_name("sa-core", tests, NULL, NULL);
}
