// SPDX-License-Identifier: BSD-2-Clause
/* The words are in order; the names of each node are looked up among them. */
#include "topo/names.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "util/bisect.h"

#define BLANKS " \t"

struct names {
	const struct name_ranks *ranks;
	struct name *all; /* in their order, each once */
	size_t n;
};

/* Any order does; lengths first make it fast. */
static int compare_text(const char *a, size_t len_a, const char *b, size_t len_b)
{
	return COMPARE(len_a, len_b) ?: memcmp(a, b, len_a);
}

static int compare(const void *va, const void *vb)
{
	const struct name *a = va, *b = vb;

	return compare_text(a->text, a->len, b->text, b->len);
}

static struct name *find(const struct names *s, const char *text, size_t len)
{
	size_t at = BISECT(i, (size_t)0, s->n,
			   compare_text(s->all[i].text, s->all[i].len, text, len) < 0);
	struct name *name = at < s->n ? &s->all[at] : NULL;

	return name && !compare_text(name->text, name->len, text, len) ? name : NULL;
}

size_t names_len_without_port(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? (size_t)(slash - word) : 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void add_word(struct names *s, const char *text, size_t len)
{
	if (len)
		s->all[s->n++] = (struct name){ .text = text, .len = len, .rank = UINT_MAX };
}

static void sort_words(struct names *s)
{
	size_t n = 0;

	SORT(s->all, s->n, compare);
	for (size_t i = 0; i < s->n; i++)
		if (!n || compare(&s->all[n - 1], &s->all[i]))
			s->all[n++] = s->all[i];
	s->n = n;
}

struct names *names_new(const struct name_ranks *ranks, const char *const *words, size_t n)
{
	struct names *s = xcalloc(1, sizeof(*s));

	assert(ranks && (words || !n));
	s->ranks = ranks;
	s->all = xcalloc(2 * n + 1, sizeof(*s->all));
	for (size_t i = 0; i < n; i++) {
		add_word(s, words[i], strlen(words[i]));
		add_word(s, words[i], names_len_without_port(words[i]));
	}
	sort_words(s);
	return s;
}

struct names *names_free(struct names *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n; i++)
		free(s->all[i].nodes);
	free(s->all);
	free(s);
	return NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void note(struct names *s, const void *node, const char *text, size_t len,
		 enum name_kind kind)
{
	struct name *name = len ? find(s, text, len) : NULL;
	unsigned rank = 0;

	while (rank < NAME_RANKS && !(s->ranks->kinds[rank] & kind))
		rank++;
	if (!name || rank == NAME_RANKS || rank > name->rank)
		return;
	if (rank < name->rank) {
		name->n = name->kinds = 0;
		name->rank = rank;
	}
	name->kinds |= kind;
	if (name->n && name->nodes[name->n - 1] == node)
		return;
	GROW(name->nodes, name->n + 1, name->cap);
	name->nodes[name->n++] = node;
}

void names_add(struct names *s, const void *node, const char *mapped, const char *desc)
{
	if (mapped) {
		note(s, node, mapped, strlen(mapped), NAME_MAPPED);
		note(s, node, mapped, strcspn(mapped, BLANKS), NAME_MAPPED_WORD);
	}
	note(s, node, desc, strlen(desc), NAME_DESC);
	note(s, node, desc, strcspn(desc, BLANKS), NAME_DESC_WORD);
}

const struct name *names_find(const struct names *s, const char *word)
{
	const struct name *name = find(s, word, strlen(word));

	return name && name->n ? name : NULL;
}

const struct name *names_find_port(const struct names *s, const char *word, const char **ret_port)
{
	size_t len = names_len_without_port(word);
	const struct name *name = names_find(s, word);

	*ret_port = NULL;
	if (name || !len)
		return name;
	name = find(s, word, len);
	*ret_port = word + len + 1;
	return name && name->n ? name : NULL;
}

static bool is_same(const char *name, size_t name_len, const char *word, size_t len)
{
	return len && name_len == len && !memcmp(name, word, len);
}

unsigned names_kinds(const char *mapped, const char *desc, const char *word, size_t len)
{
	unsigned kinds = 0;

	if (mapped && is_same(mapped, strlen(mapped), word, len))
		kinds |= NAME_MAPPED;
	if (mapped && is_same(mapped, strcspn(mapped, BLANKS), word, len))
		kinds |= NAME_MAPPED_WORD;
	if (is_same(desc, strlen(desc), word, len))
		kinds |= NAME_DESC;
	if (is_same(desc, strcspn(desc, BLANKS), word, len))
		kinds |= NAME_DESC_WORD;
	return kinds;
}
