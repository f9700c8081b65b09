// SPDX-License-Identifier: BSD-2-Clause
/* names.c: which nodes a word names; a node here is a text. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "topo/names.h"

/* Nodes "0" to "4", of which the first two are two adapters of a host. */
static const struct {
	const char *mapped, *desc;
} nodes[] = {
	{ NULL, "h1 mlx5_0" }, { NULL, "h1 mlx5_1" }, { "h1", "x" },
	{ "h2 a", "h1" },      { NULL, "a/b" },
};

/* The nodes that `word` names, as "0 2 ", with the port behind it as "0 :7". */
static void expect(const struct name_ranks *ranks, const char *word, const char *expected)
{
	_cleanup_(names_freep) struct names *s = names_new(ranks, &word, 1);
	const struct name *name;
	const char *port;
	char found[40] = "";

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		names_add(s, &nodes[i], nodes[i].mapped, nodes[i].desc);
	name = names_find_port(s, word, &port);
	for (size_t i = 0; name && i < name->n; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%zu ",
			 (size_t)((const char *)name->nodes[i] - (const char *)nodes) /
				 sizeof(nodes[0]));
	if (name && port)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), ":%s", port);
	assert_string_equal(found, expected);
}

static void the_first_rank_that_names_a_node_counts(void **state)
{
	const struct name_ranks map_first = { { NAME_MAPPED, NAME_MAPPED_WORD,
						NAME_DESC | NAME_DESC_WORD } };
	const struct name_ranks whole_first = { { NAME_MAPPED | NAME_DESC, NAME_DESC_WORD } };
	const struct name_ranks any = { { NAME_MAPPED | NAME_DESC | NAME_DESC_WORD } };

	expect(&map_first, "h1", "2 ");
	expect(&map_first, "h2", "3 ");
	expect(&map_first, "x", "2 ");
	expect(&whole_first, "h1", "2 3 ");
	expect(&whole_first, "h2", "");
	expect(&whole_first, "h1 mlx5_1", "1 ");
	expect(&any, "h1", "0 1 2 3 ");
	expect(&any, "", "");
}

static void a_name_with_a_slash_goes_before_a_port(void **state)
{
	const struct name_ranks any = { { NAME_MAPPED | NAME_DESC | NAME_DESC_WORD } };

	expect(&any, "a/b", "4 ");
	expect(&any, "a/b/7", "4 :7");
	expect(&any, "h1/7", "0 1 2 3 :7");
	expect(&any, "a/7", "");
	expect(&any, "/7", "");
}

static void many_words_are_found_in_one_walk(void **state)
{
	const struct name_ranks any = { { NAME_DESC | NAME_DESC_WORD } };
	const char *const words[] = { "h1", "x/1", "x", "h1", "none" };
	_cleanup_(names_freep) struct names *s = names_new(&any, words, ARRAY_SIZE(words));

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		names_add(s, &nodes[i], nodes[i].mapped, nodes[i].desc);
	assert_int_equal(names_find(s, "h1")->n, 3);
	assert_ptr_equal(names_find(s, "x")->nodes[0], &nodes[2]);
	assert_null(names_find(s, "none"));
}

static void a_node_has_its_names_and_their_first_words(void **state)
{
	assert_int_equal(names_kinds("m x", "d y", "m", 1), NAME_MAPPED_WORD);
	assert_int_equal(names_kinds("m x", "d y", "m x", 3), NAME_MAPPED);
	assert_int_equal(names_kinds(NULL, "d y", "d", 1), NAME_DESC_WORD);
	assert_int_equal(names_kinds("d", "d", "d/1", 1),
			 NAME_MAPPED | NAME_MAPPED_WORD | NAME_DESC | NAME_DESC_WORD);
	assert_int_equal(names_kinds(NULL, "", "", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rank_that_names_a_node_counts),
		cmocka_unit_test(a_name_with_a_slash_goes_before_a_port),
		cmocka_unit_test(many_words_are_found_in_one_walk),
		cmocka_unit_test(a_node_has_its_names_and_their_first_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
