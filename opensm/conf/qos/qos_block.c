// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared by the sections of qos-policy.conf: blocks of entries "WORD : VALUE", and the lists of
 * groups, levels and rules that they fill. An error ends the reading of its line only, so that one
 * run shows all errors.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "conf/qos/qos_internal.h"
#include "util/str.h"

#define ENTRIES_MAX 16

bool parse_is_end(const char *word, const char *name)
{
	return str_starts(word, "end-") && !strcmp(word + 4, name);
}

void parse_unexpected(struct parser *p, const struct word *w, const char *expected)
{
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(p->report, CONF_ERROR, &w->at, "found %s, expected %s",
		       lex_quote(&p->lex, w->from, quoted), expected);
	lex_skip_line(&p->lex);
}

/* Lists the words of a block for a finding. */
static const char *list_entries(const struct block *b, char *ret, size_t cap)
{
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < b->n && len < cap; i++)
		len += (size_t)snprintf(ret + len, cap - len, "%s:, ", b->entries[i].word);
	if (len < cap)
		snprintf(ret + len, cap - len, "or end-%s", b->name);
	return ret;
}

static const struct entry *find_entry(const struct block *b, const char *word)
{
	for (unsigned i = 0; i < b->n; i++)
		if (!strcmp(b->entries[i].word, word))
			return &b->entries[i];
	return NULL;
}

static void read_entry(struct parser *p, const struct block *b, const struct entry *e,
		       const struct word *w, bool again, void *target)
{
	char quoted[CONF_QUOTE_MAX];
	struct slice value;

	if (!lex_take(&p->lex, ':')) {
		conf_report_at(p->report, CONF_ERROR, &w->at, "found %s after %s, expected ':'",
			       lex_quote(&p->lex, p->lex.at, quoted), e->word);
		lex_skip_line(&p->lex);
		return;
	}
	value = lex_rest(&p->lex, 0);
	if (again && e->once)
		conf_report_at(p->report, CONF_ERROR, &w->at,
			       "found a second %s: in a %s, expected one", e->word, b->name);
	else
		e->read(p, &value, target);
}

/* Adds an error for each entry that is needed and missing. */
static void check_needed(struct parser *p, const struct block *b, unsigned seen,
			 const struct conf_place *at)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->entries[i].needed && !(seen >> i & 1))
			conf_report_at(p->report, CONF_ERROR, at,
				       "found no %s: in this %s, expected one", b->entries[i].word,
				       b->name);
}

/* Does the word begin or end another block or a section? The end of this one is missing then. */
static bool is_of_outside(const char *word)
{
	static const char *const words[] = {
		"port-groups", "port-group",	 "qos-levels",	 "qos-level",	"qos-match-rules",
		"qos-ulps",    "qos-match-rule", "vlarb-tables", "vlarb-scope", "qos-setup",
		"sl2vl-scope", "sl2vl-tables",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return str_starts(word, "end-");
}

/* Reads the next entry, and sets its bit in `seen`. False: the block has ended. */
static bool read_next(struct parser *p, const struct block *b, unsigned *seen, void *target)
{
	struct word w = lex_word(&p->lex);
	const struct entry *e = find_entry(b, w.text);
	char words[200];

	if (parse_is_end(w.text, b->name))
		return false;
	if (e) {
		read_entry(p, b, e, &w, *seen >> (e - b->entries) & 1, target);
		*seen |= 1u << (e - b->entries);
		return true;
	}
	parse_unexpected(p, &w, list_entries(b, words, sizeof(words)));
	if (!is_of_outside(w.text) && w.from < p->lex.end)
		return true;
	p->lex.at = w.from; /* read again by the section around */
	return false;
}

bool parse_block(struct parser *p, const struct block *b, const struct conf_place *at, void *target)
{
	unsigned errors = p->report->errors, seen = 0;

	assert(b->n <= ENTRIES_MAX);
	while (read_next(p, b, &seen, target))
		;
	check_needed(p, b, seen, at);
	return p->report->errors == errors;
}

/* ---- lists ---------------------------------------------------------------------------------- */

struct qos_group *parse_add_group(struct parser *p, const struct conf_place *at)
{
	struct qos_policy *q = p->policy;

	GROW(q->groups, q->n_groups + 1, p->groups_cap);
	GROW(p->group_at, q->n_groups + 1, p->group_at_cap);
	p->group_at[q->n_groups] = *at;
	q->groups[q->n_groups] = (struct qos_group){ .line = at->line };
	return &q->groups[q->n_groups++];
}

struct qos_level *parse_add_level(struct parser *p, const struct conf_place *at)
{
	struct qos_policy *q = p->policy;

	GROW(q->levels, q->n_levels + 1, p->levels_cap);
	GROW(p->level_at, q->n_levels + 1, p->level_at_cap);
	p->level_at[q->n_levels] = *at;
	q->levels[q->n_levels] = (struct qos_level){ .line = at->line };
	return &q->levels[q->n_levels++];
}

struct raw_rule *parse_add_rule(struct parser *p, bool of_ulp, const struct conf_place *at)
{
	struct raw_rule **list = of_ulp ? &p->ulps : &p->rules;
	size_t *n = of_ulp ? &p->n_ulps : &p->n_rules;
	size_t *cap = of_ulp ? &p->ulps_cap : &p->rules_cap;

	GROW(*list, *n + 1, *cap);
	(*list)[*n] = (struct raw_rule){ .rule = { .line = at->line, .of_ulp = of_ulp },
					 .at = *at };
	return &(*list)[(*n)++];
}
