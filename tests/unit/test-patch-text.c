// SPDX-License-Identifier: BSD-2-Clause
/* A patch in words: what was lost, how many entries moved and how, what waits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "route/patch/patch_text.h"

static void says(const char *what, const struct patch_tally *t, const char *expected)
{
	char text[PATCH_TEXT_MAX];

	assert_string_equal(patch_text(what, t, text, sizeof(text)), expected);
}

static void a_cable_between_cables_of_one_group(void **state)
{
	const struct patch_tally t = { .cables = 1,
				       .switches = 2,
				       .destinations = { [PATCH_BESIDE] = 198, [PATCH_BACK] = 16 },
				       .us = 3149 };

	assert_int_equal(patch_tally_moved(&t), 214);
	says("leaf12/33", &t,
	     "leaf12/33 lost: 214 destinations moved in 3.1 ms "
	     "(198 beside it, 16 one hop back, 0 waiting)");
}

static void a_switch_with_all_its_cables(void **state)
{
	const struct patch_tally t = {
		.cables = 36, .switches = 36, .destinations = { 1, 20, 300, 4000, 7 }, .us = 18500
	};

	says("spine3", &t,
	     "spine3: 36 cables lost: 4321 destinations moved in 19 ms (1 beside them, 20 by the "
	     "engine's rule, 300 by another neighbour, 4000 one hop back, 7 waiting for the "
	     "routing)");
	says(NULL, &t,
	     "36 cables lost: 4321 destinations moved in 19 ms (1 beside them, 20 by the engine's "
	     "rule, 300 by another neighbour, 4000 one hop back, 7 waiting for the routing)");
}

static void one_destination_and_none(void **state)
{
	struct patch_tally t = { .cables = 1, .destinations = { [PATCH_RULE] = 1 }, .us = 9949 };

	says("a/1", &t,
	     "a/1 lost: 1 destination moved in 9.9 ms (1 by the engine's rule, 0 waiting)");
	says(NULL, &t,
	     "1 cable lost: 1 destination moved in 9.9 ms (1 by the engine's rule, 0 waiting)");
	t = (struct patch_tally){ .cables = 1,
				  .destinations = { [PATCH_WAITING] = 2 },
				  .us = 9950 };
	says("a/1", &t, "a/1 lost: 0 destinations moved in 10 ms (2 waiting for the routing)");
}

static void a_cable_that_was_not_used(void **state)
{
	struct patch_tally t = { .cables = 1 };

	says("a/1", &t, "a/1 lost: no destination was routed over it");
	t.cables = 2;
	says("a", &t, "a: 2 cables lost: no destination was routed over them");
	t.groups = 1;
	says("a", &t,
	     "a: 2 cables lost: no destination was routed over them; trees of 1 multicast group "
	     "joined again");
}

static void multicast(void **state)
{
	const struct patch_tally t = { .cables = 1,
				       .destinations = { [PATCH_BESIDE] = 3 },
				       .groups = 5,
				       .branches_waiting = 2 };

	says("a/1", &t,
	     "a/1 lost: 3 destinations moved in 0.0 ms (3 beside it, 0 waiting); trees of 5 "
	     "multicast groups joined again, 2 branches waiting for the routing");
}

static void any_space_is_enough(void **state)
{
	const struct patch_tally t = { .cables = 1, .destinations = { 5, 5, 5, 5, 5 } };
	char whole[PATCH_TEXT_MAX], text[PATCH_TEXT_MAX];

	patch_text("leaf12/33", &t, whole, sizeof(whole));
	for (size_t len = 1; len <= strlen(whole) + 1; len++) {
		memset(text, 'x', sizeof(text));
		patch_text("leaf12/33", &t, text, len);
		assert_int_equal(strlen(text), len - 1);
		assert_memory_equal(text, whole, len - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cable_between_cables_of_one_group),
		cmocka_unit_test(a_switch_with_all_its_cables),
		cmocka_unit_test(one_destination_and_none),
		cmocka_unit_test(a_cable_that_was_not_used),
		cmocka_unit_test(multicast),
		cmocka_unit_test(any_space_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
