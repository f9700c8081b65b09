// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of marks: which links an administrator took out of service. A mark is a row of the
 * ledger (LEDGER_MARK), its key the node's GUID and the port (255: a switch with all its cables):
 *
 *	kind (1), until (8), forced (1), since (8), length of `by` (1), `by`, `why`
 *
 * Kind and end are what counts: where the rest of a row cannot be read, the link is out of service
 * all the same. Marks are in the order of GUID and port.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"
#include "util/types.h"

/* most marks that requests can make; managers that meet may have more */
#define MARKS_MAX	  4096u
#define MARK_WHOLE_SWITCH 255u
#define MARK_WHY_MAX	  96u
#define MARK_BY_MAX	  32u
#define MARK_BYTES_MAX	  (1 + 8 + 1 + 8 + 1 + MARK_BY_MAX + MARK_WHY_MAX)

enum mark_kind { MARK_DRAIN, MARK_ISOLATE };
#define MARK_KINDS (MARK_ISOLATE + 1)

struct link_mark {
	guid_t node;
	uint8_t port; /* 1..254, or MARK_WHOLE_SWITCH */
	enum mark_kind kind;
	bool forced;
	int64_t since, until;	    /* start, 0: not known; end, 0: unlimited */
	char by[MARK_BY_MAX + 1];   /* name without blanks; "-": not known */
	char why[MARK_WHY_MAX + 1]; /* printable, no blank at its ends; "": none given */
};

struct mark_table {
	uint64_t generation; /* number of the last change; 0: never changed */
	uint32_t n, cap;
	struct link_mark *all;
};

struct mark_table *mark_table_copy(const struct mark_table *t);
struct mark_table *mark_table_free(struct mark_table *t);
FREEP(mark_table_free, struct mark_table)

/* The index of a mark; UINT32_MAX: there is none. */
uint32_t mark_table_find(const struct mark_table *t, guid_t node, unsigned port);
/* Adds a mark, or replaces that of the same port. False: the table is full. */
bool mark_table_put(struct mark_table *t, const struct link_mark *m);
void mark_table_remove(struct mark_table *t, uint32_t place);

/* Sets both texts; characters that cannot be kept become a blank, or "_" in `by`. */
void mark_set_texts(struct link_mark *m, const char *by, const char *why);
const char *mark_kind_name(enum mark_kind kind); /* "drain" */

/* Compares marks by their order in a table; returns < 0, 0 or > 0. */
int mark_compare(const struct link_mark *a, const struct link_mark *b);

/* ---- the value of a row ---- */

/* Writes the value of a row. Returns its length. */
uint32_t mark_pack(const struct link_mark *m, uint8_t to[MARK_BYTES_MAX]);
/* Reads the value of a row. False: it is no mark; `ret` is untouched. */
bool mark_unpack(guid_t node, unsigned port, const uint8_t *bytes, size_t len,
		 struct link_mark *ret);

/* ---- the file of former builds (marks_former.c) ---- */

#define MARKS_FILE     "link_marks"
#define MARKS_TEXT_MAX (1u << 20)
/* Reads such a text. Returns 0; -EBADMSG: malformed, `ret` is untouched. */
int mark_table_read(const char *text, size_t len, struct mark_table **ret);
