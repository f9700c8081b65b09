// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which nodes have a name. A node has up to four: its name in the node-name map, its description,
 * and the first word of each, which is the name of the host ("node17" of "node17 mlx5_0"), so that
 * all adapters of a host answer to it.
 *
 * Which of these count, and which are asked first, is up to the caller: the ranks. Of a name that
 * nodes of several ranks have, those of the first one are meant.
 *
 * The words that are looked for come first, then each node once: one walk over a fabric answers any
 * number of words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/mem.h"

enum name_kind {
	NAME_MAPPED = 1,
	NAME_MAPPED_WORD = 2,
	NAME_DESC = 4,
	NAME_DESC_WORD = 8,
};

#define NAME_RANKS 3

/* Kinds of names that count, by rank; 0: no more. */
struct name_ranks {
	unsigned kinds[NAME_RANKS];
};

/* A word, and the nodes that have it as a name. */
struct name {
	const char *text;
	size_t len;
	unsigned rank, kinds; /* of the nodes */
	const void **nodes;   /* each once, in the order of names_add() */
	size_t n, cap;
};

struct names;

/*
 * For words that are looked for, "NAME" or "NAME/PORT"; "" is the name of no node. `words` and
 * `ranks` outlive it.
 */
struct names *names_new(const struct name_ranks *ranks, const char *const *words, size_t n);
struct names *names_free(struct names *s); /* NULL is fine; returns NULL */
FREEP(names_free, struct names)
/* A node: what names_find() returns. `mapped`: its name in the map; NULL: it has none there. */
void names_add(struct names *s, const void *node, const char *mapped, const char *desc);
/* The nodes that have all of the word as a name; NULL: none. */
const struct name *names_find(const struct names *s, const char *word);
/*
 * The same, or else the nodes that have what is before the last slash: `*ret_port` is what is
 * behind it then, otherwise NULL.
 */
const struct name *names_find_port(const struct names *s, const char *word, const char **ret_port);

/* The kinds of names of a node that the first `len` bytes of `word` are; 0: none. */
unsigned names_kinds(const char *mapped, const char *desc, const char *word, size_t len);
/* Bytes of "NAME/PORT" before the port; 0: there is none. */
size_t names_len_without_port(const char *word);
