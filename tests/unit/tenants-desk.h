// SPDX-License-Identifier: BSD-2-Clause
/* Requests, entries and tables of tenants in words, for the tests. */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/tenants/tenants.h"
#include "util/mem.h"

#define _tenants_    _cleanup_(tenants_freep) struct tenants *
#define _partitions_ _cleanup_(partitions_unrefp) struct partitions *
#define _conf_	     _cleanup_(conf_unrefp) struct conf *

#define DESK_TEXT 4096

/* "a", "a=l" (limited), "a@0" (index 0): GUIDs in hex */
static inline struct tenant_member member_of(const char *word)
{
	char *end;
	struct tenant_member m = { .guid = strtoull(word, &end, 16), .full = true };

	if (strncmp(end, "=l", 2) == 0) {
		m.full = false;
		end += 2;
	}
	m.index0 = strcmp(end, "@0") == 0;
	return m;
}

static inline bool read_field(struct tenant_request *rq, const char *word)
{
	unsigned n = 0;

	if (sscanf(word, "mtu=%u", &n) == 1) {
		rq->has |= TENANT_MTU;
		rq->fields.mtu = (uint8_t)n;
	} else if (sscanf(word, "rate=%u", &n) == 1) {
		rq->has |= TENANT_RATE;
		rq->fields.rate = (uint8_t)n;
	} else if (sscanf(word, "sl=%u", &n) == 1) {
		rq->has |= TENANT_SL;
		rq->fields.sl = (uint8_t)n;
	} else if (sscanf(word, "ipoib=%u", &n) == 1) {
		rq->has |= TENANT_IPOIB;
		rq->fields.ipoib = n;
	} else if (strncmp(word, "name=", 5) == 0) {
		rq->has |= TENANT_NAME;
		snprintf(rq->fields.name, sizeof(rq->fields.name), "%s", word + 5);
	} else if (sscanf(word, "if=%u", &n) == 1) {
		rq->if_generation = true;
		rq->generation = n;
	} else if (strcmp(word, "keep") == 0) {
		rq->keep_empty = true;
	} else {
		return false;
	}
	return true;
}

/* "ACTION PKEY FIELD=N ... MEMBER ..."; members are to be freed. */
static inline struct tenant_request request_of(const char *words)
{
	static const char *const actions[] = { "create", "delete", "add",
					       "remove", "set",	   "configure" };
	_cleanup_free_ char *copy = xstrdup(words);
	struct tenant_request rq = { .members = xcalloc(64, sizeof(*rq.members)) };
	char *rest = copy, *word = strsep(&rest, " ");

	while (strcmp(actions[rq.action], word) != 0)
		rq.action++;
	rq.pkey = (uint16_t)strtoul(strsep(&rest, " "), NULL, 16);
	while ((word = strsep(&rest, " ")))
		if (!read_field(&rq, word))
			rq.members[rq.n_members++] = member_of(word);
	return rq;
}

static inline void print_fields(FILE *out, const struct tenant_fields *f)
{
	fprintf(out, "=%s,%s%u:%u:%u", f->name, f->ipoib ? "i" : "-", f->mtu, f->rate, f->sl);
}

static inline void print_member(FILE *out, const struct tenant_member *m)
{
	fprintf(out, " %" PRIx64 "%s%s", m->guid, m->full ? "" : "=l", m->index0 ? "@0" : "");
}

static inline char *desk_text(void)
{
	static char texts[8][DESK_TEXT];
	static unsigned turn;

	turn = (turn + 1) % ARRAY_SIZE(texts);
	texts[turn][0] = '\0';
	return texts[turn];
}

/* "5=red,i4:2:0 a b=l; 6-": the P_Key once for rows of one partition */
static inline const char *entry_words(const struct tenant_entry *e)
{
	char *text = desk_text();
	FILE *out = fmemopen(text, DESK_TEXT, "w");
	uint16_t pkey = 0;

	for (size_t i = 0; i < e->n_rows; i++) {
		const struct tenant_row *row = &e->rows[i];
		bool again = row->pkey == pkey;

		if (!again)
			fprintf(out, i ? " %x" : "%x", row->pkey);
		pkey = row->pkey;
		if (row->kind == TENANT_ROW_PARTITION)
			print_fields(out, &row->fields);
		else if (row->kind == TENANT_ROW_GONE)
			fputs("-", out);
		else if (row->kind == TENANT_ROW_MEMBER)
			print_member(out, &row->member);
		else
			fprintf(out, again ? " -%" PRIx64 : "-%" PRIx64, row->member.guid);
	}
	fclose(out);
	return text;
}

/* "5=red,i4:2:0(GENERATION) a b=l; ..." */
static inline const char *table_words(const struct tenants *t)
{
	char *text = desk_text();
	FILE *out = fmemopen(text, DESK_TEXT, "w");
	const struct tenant_partition *p;

	for (size_t i = 0; (p = tenants_at(t, i)); i++) {
		fprintf(out, i ? "; %x" : "%x", p->pkey);
		print_fields(out, &p->fields);
		fprintf(out, "(%" PRIu64 ")", p->generation);
		for (size_t k = 0; k < p->n_members; k++)
			print_member(out, &p->members[k]);
	}
	fclose(out);
	return text;
}

static inline const char *fault_word(enum tenant_fault fault)
{
	static const char *const words[] = { "fine",	  "unknown",   "exists",   "invalid",
					     "read only", "overtaken", "too many" };

	return words[fault];
}

/* Judges and plays: the entry in words, or "FAULT: why". */
static inline const char *ask(struct tenants *t, const struct partitions *file, const char *words)
{
	struct tenant_request rq = request_of(words);
	struct tenant_entry e = { 0 };
	char why[300];
	const char *words_of_it;
	enum tenant_fault fault = tenants_judge(t, file, &rq, 1700000000, &e, why, sizeof(why));

	free(rq.members);
	if (fault) {
		char *text = desk_text();

		snprintf(text, DESK_TEXT, "%s: %s", fault_word(fault), why);
		return text;
	}
	words_of_it = entry_words(&e);
	if (e.n_rows)
		tenants_play(t, &e);
	tenant_entry_clear(&e);
	return words_of_it;
}
