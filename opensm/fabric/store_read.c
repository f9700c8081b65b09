// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading guid2lid, guid2mkey and neighbors: one record per line, KEY VALUE, an empty line after
 * each (files.md 2).
 *
 * Stricter than OpenSM where that would accept errors (trailing words, a last line that was cut
 * off), and more tolerant where that would lose records: a line that starts with a blank does not
 * end the reading, a missing empty line does not swallow the next record, a key that is not written
 * in full is understood.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric/store_internal.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/told.h"

#define FILE_MAX ((size_t)64 << 20)
#define LINE_MAX_BYTES 1022 /* D1 */

enum { TOLD_CRLF, TOLD_UNSEPARATED, TOLD_ODD_KEY };

struct reader {
	struct store *store;
	enum store_file which;
	const char *path;
	struct store_findings *findings;
	unsigned line;
	bool lost;          /* a line was not understood */
	struct told told;
	uint64_t *lids;     /* bits: LIDs of records read so far */
};

void store_findings_clear(struct store_findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->text[i]);
	*f = (struct store_findings){ 0 };
}

static void __attribute__((format(printf, 2, 3))) tell(struct reader *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (r->findings->n == STORE_FINDINGS_MAX) {
		r->findings->more++;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->findings->text[r->findings->n++] =
		r->line ? xasprintf("%s:%u: %s", r->path, r->line, text)
			: xasprintf("%s: %s", r->path, text);
}

#define lose(r, ...)                                                                               \
	do {                                                                                       \
		(r)->lost = true;                                                                  \
		tell((r), __VA_ARGS__);                                                            \
	} while (0)

/* Words */

/* Cuts the next word off `*text`; NULL at the end. */
static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " \t"), *end = word + strcspn(word, " \t");

	if (word == end)
		return NULL;
	*text = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool parse_guid(const char *word, guid_t *ret)
{
	return word && str_to_u64(word, 0, UINT64_MAX, ret) == 0 && *ret != 0;
}

static bool parse_lid(const char *word, lid_t *ret)
{
	uint64_t v;

	if (!word || str_to_u64(word, 0, LID_MAX_UCAST, &v) < 0)
		return false;
	*ret = v;
	return true;
}

/* "0x0002c90300000001:7" */
static bool parse_end(char *word, struct store_end *ret)
{
	char *colon = word ? strchr(word, ':') : NULL;
	uint64_t port;

	if (!colon)
		return false;
	*colon = '\0';
	if (!parse_guid(word, &ret->guid) || str_to_u64(colon + 1, 10, UINT8_MAX, &port) < 0)
		return false;
	ret->port = port;
	return port != 0;
}

/* D5: OpenSM would keep such a key for ever and never find it. */
static void check_canonical(struct reader *r, const char *word, guid_t guid)
{
	char canonical[19];

	snprintf(canonical, sizeof(canonical), "0x%016" PRIx64, guid);
	if (strcmp(word, canonical) != 0 && told_first(&r->told, TOLD_ODD_KEY))
		tell(r, "key read as %s; keys have 16 lower-case digits", canonical);
}

/* Records */

static bool claim_lids(struct reader *r, lid_t min, lid_t max)
{
	for (unsigned lid = min; lid <= max; lid++)
		if (r->lids[lid / 64] >> lid % 64 & 1)
			return false;
	for (unsigned lid = min; lid <= max; lid++)
		r->lids[lid / 64] |= 1ull << lid % 64;
	return true;
}

static void read_range(struct reader *r, char *text)
{
	const char *key = next_word(&text), *from = next_word(&text), *to = next_word(&text);
	lid_t min, max, old;
	guid_t guid;

	if (!parse_guid(key, &guid) || next_word(&text))
		lose(r, "expected GUID, LID, LID");
	else if (!parse_lid(from, &min) || !parse_lid(to, &max))
		lose(r, "expected two LIDs from 0x0001 to 0xbfff after the GUID");
	else if (min == 0 || min > max)
		lose(r, "LIDs 0x%04x to 0x%04x are no range", min, max);
	else if (store_lids(r->store, guid, &old, &old))
		lose(r, "GUID 0x%016" PRIx64 " appears twice, the first counts", guid);
	else if (!claim_lids(r, min, max))
		lose(r, "LIDs 0x%04x to 0x%04x belong to an earlier GUID", min, max);
	else {
		check_canonical(r, key, guid);
		store_set_lids(r->store, guid, min, max);
	}
}

static void read_mkey(struct reader *r, char *text)
{
	const char *key = next_word(&text), *value = next_word(&text);
	uint64_t mkey, old;
	guid_t guid;

	if (!parse_guid(key, &guid) || !value || next_word(&text) ||
	    str_to_u64(value, 0, UINT64_MAX, &mkey) < 0)
		lose(r, "expected GUID, M_Key"); /* the line itself may hold a key: not quoted */
	else if (store_mkey(r->store, guid, &old))
		lose(r, "GUID 0x%016" PRIx64 " appears twice, the first counts", guid);
	else {
		check_canonical(r, key, guid);
		store_set_mkey(r->store, guid, mkey);
	}
}

static void read_cable(struct reader *r, char *text)
{
	char *key = next_word(&text), *value = next_word(&text);
	struct store_end from = { 0 }, to = { .line = r->line };

	if (!parse_end(key, &from) || !parse_end(value, &to) || next_word(&text))
		lose(r, "expected GUID:PORT GUID:PORT");
	else if (store_end_at(r->store, from.guid, from.port))
		lose(r, "0x%016" PRIx64 ":%u appears twice, the first counts", from.guid,
		     from.port);
	else {
		check_canonical(r, key, from.guid);
		store_put_end(r->store, from.guid, from.port, &to);
	}
}

static bool leads_back(const struct store *s, guid_t guid, unsigned port)
{
	const struct store_end *to = store_end_at(s, guid, port);
	const struct store_end *back = store_end_at(s, to->guid, to->port);

	return back && back->guid == guid && back->port == port;
}

/* A cable has two ends: entries without one in the other direction are dropped. */
static void drop_one_way(struct reader *r)
{
	struct guidmap *map = r->store->map[STORE_NEIGHBORS];
	struct store_cables *c;
	size_t pos = 0;
	void *value;
	guid_t guid;

	while (guidmap_next(map, &pos, &guid, &value)) {
		c = value;
		for (unsigned port = 1; port < c->cap; port++) {
			if (!c->ends[port].guid || leads_back(r->store, guid, port))
				continue;
			r->line = c->ends[port].line;
			lose(r, "0x%016" PRIx64 ":%u leads to 0x%016" PRIx64 ":%u, but not back",
			     guid, port, c->ends[port].guid, c->ends[port].port);
			store_put_end(r->store, guid, port, &(struct store_end){ 0 });
		}
	}
}

/* Lines */

static void read_record(struct reader *r, char *text)
{
	switch (r->which) {
	case STORE_LIDS:
		read_range(r, text);
		break;
	case STORE_MKEYS:
		read_mkey(r, text);
		break;
	case STORE_NEIGHBORS:
		read_cable(r, text);
		break;
	case STORE_FILES:
		break;
	}
}

static void read_line(struct reader *r, char *text, size_t len)
{
	if (len > LINE_MAX_BYTES)
		lose(r, "line of %zu bytes", len);
	else if (strlen(text) != len)
		lose(r, "NUL byte");
	else if (*text == ' ' || *text == '\t')
		lose(r, "starts with a blank");
	else
		read_record(r, text);
}

static void read_lines(struct reader *r, char *text, size_t len)
{
	char *end = text + len, *newline;
	bool separated = true;

	for (; text < end; text = newline + 1) {
		r->line++;
		newline = memchr(text, '\n', (size_t)(end - text));
		if (!newline) {
			lose(r, "last line is cut off");
			return;
		}
		len = (size_t)(newline - text);
		if (len > 0 && text[len - 1] == '\r') {
			len--;
			if (told_first(&r->told, TOLD_CRLF))
				tell(r, "lines end with carriage returns");
		}
		text[len] = '\0';
		if (len > 0 && !separated && told_first(&r->told, TOLD_UNSEPARATED))
			tell(r, "no empty line before this one");
		separated = len == 0;
		if (len > 0)
			read_line(r, text, len);
	}
}

/* Files */

/*
 * Keeps the original of a file that is about to be overwritten without some of its lines; the first
 * one stays.
 */
static void keep_aside(struct reader *r, const char *text, size_t len)
{
	_cleanup_free_ char *bad = xasprintf("%s.bad", r->path);
	struct file_replace *f;

	if (access(bad, F_OK) == 0)
		return;
	f = file_replace_open(bad, store_is_secret(r->which));
	if (!f)
		return;
	fwrite(text, 1, len, file_replace_stream(f));
	r->line = 0;
	if (file_replace_commit(f, false) == 0)
		tell(r, "lines were not understood; the file is kept as %s", bad);
}

int store_read(struct store *s, enum store_file which, struct store_findings *f)
{
	_cleanup_free_ char *path = store_path(s, which), *text = NULL, *original = NULL;
	_cleanup_free_ uint64_t *lids = xcalloc(LID_MAX_UCAST / 64 + 1, sizeof(*lids));
	struct reader reader = {
		.store = s, .which = which, .path = path, .findings = f, .lids = lids,
	};
	size_t len = 0, told = f->n + f->more;
	int r;

	store_forget(s, which);
	r = file_read(path, FILE_MAX, &text, &len);
	if (r < 0 && r != -ENOENT)
		tell(&reader, "not readable: %s", strerror(-r));
	if (r < 0) {
		s->dirty[which] = true; /* D6: there will be one */
		return r == -ENOENT ? 0 : r;
	}
	original = xmemdup(text, len + 1);
	read_lines(&reader, text, len);
	if (which == STORE_NEIGHBORS)
		drop_one_way(&reader);
	if (reader.lost)
		keep_aside(&reader, original, len);
	s->dirty[which] = f->n + f->more != told;
	explicit_bzero(text, len);
	explicit_bzero(original, len);
	return 0;
}
