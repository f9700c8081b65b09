// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of marks: which links an administrator took out of service. Its text is the file
 * link_marks of the cache folder, and what standbys are sent:
 *
 *	opensm link marks 1
 *	generation 12
 *	0x0002c90300a1b2c3 5 drain - 1764193781 0 root replacing the cable
 *	0x0002c90300a1b2c4 255 isolate forced 1764193781 1764200981 root
 *	end 0x1122334455667788
 *
 * A row: node GUID, port (255: a switch with all its cables), kind, forced or -, since, until
 * (seconds since 1970; 0: without end), user, and the reason up to the end of the line. Rows are in
 * the order of GUID and port. The last line has the FNV-1a hash of all bytes before it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"
#include "util/types.h"

#define MARKS_FILE	  "link_marks"
#define MARKS_MAX	  4096u
#define MARK_WHOLE_SWITCH 255u
#define MARK_WHY_MAX	  96u
#define MARK_BY_MAX	  32u
/* Of a text; a row has 233 bytes at most. */
#define MARKS_TEXT_MAX	  (1u << 20)

enum mark_kind { MARK_DRAIN, MARK_ISOLATE };
#define MARK_KINDS (MARK_ISOLATE + 1)

struct link_mark {
	guid_t node;
	uint8_t port; /* 1..254, or MARK_WHOLE_SWITCH */
	enum mark_kind kind;
	bool forced;
	int64_t since, until;	    /* 0: not known; without end */
	char by[MARK_BY_MAX + 1];   /* without blanks; "-": not known */
	char why[MARK_WHY_MAX + 1]; /* printable, no blank at its ends; "": none was given */
};

struct mark_table {
	uint64_t generation; /* raised by each change; 0: never changed */
	uint32_t n, cap;
	struct link_mark *all;
};

struct mark_table *mark_table_copy(const struct mark_table *t);
struct mark_table *mark_table_free(struct mark_table *t);
FREEP(mark_table_free, struct mark_table)

/* The place of a mark; UINT32_MAX: there is none. */
uint32_t mark_table_find(const struct mark_table *t, guid_t node, unsigned port);
/* Adds it, or puts it in the place of that with the same port. False: the table is full. */
bool mark_table_put(struct mark_table *t, const struct link_mark *m);
void mark_table_remove(struct mark_table *t, uint32_t place);

/* Both texts as a mark has them: what cannot be kept becomes a blank, or "_" in `by`. */
void mark_set_texts(struct link_mark *m, const char *by, const char *why);
const char *mark_kind_name(enum mark_kind kind); /* "drain" */

/* The text, NUL behind it; to be freed. */
char *mark_table_text(const struct mark_table *t, size_t *ret_len);
/* 0; -EBADMSG: this is no such text, `ret` is untouched. */
int mark_table_read(const char *text, size_t len, struct mark_table **ret);
/* A number for all of it: the one behind "end". */
uint64_t mark_table_digest(const struct mark_table *t);

/* 0 or -errno. */
int mark_table_store(const char *path, const struct mark_table *t);
