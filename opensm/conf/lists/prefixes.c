// SPDX-License-Identifier: BSD-2-Clause
/* Reads prefix-routes.conf. */
#include "conf/lists/prefixes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

#define HEX_DIGITS 16 /* of 64 bits */

struct reader {
	struct conf_prefixes *to;
	size_t cap;
	struct conf_report *report;
	struct line_room room;
};

/* The length of the word at `p`, which ends at a blank or '#'. */
static size_t word_length(const char *p)
{
	return strcspn(p, " \t\r\v\f#");
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r\v\f");
}

/* Reads a number of base 16, with or without 0x; '*' is 0. */
static int hex_number(const char *word, size_t len, uint64_t *ret)
{
	size_t prefix = len > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 2 : 0;
	char digits[2 + HEX_DIGITS + 1];

	if (len == 1 && *word == '*') {
		*ret = 0;
		return 0;
	}
	if (len - prefix > HEX_DIGITS)
		return -EINVAL;
	snprintf(digits, sizeof(digits), "%.*s", (int)len, word);
	return str_to_u64(digits, 16, UINT64_MAX, ret);
}

static int read_number(struct reader *rd, const struct line *line, const char **p, const char *what,
		       uint64_t *ret)
{
	const char *word = *p;
	size_t len = word_length(word);
	struct conf_place at = line_place(line, word);
	char quoted[CONF_QUOTE_MAX];

	if (hex_number(word, len, ret) == 0) {
		*p = skip_blanks(word + len);
		return 0;
	}
	conf_report_at(rd->report, CONF_ERROR, &at,
		       "%s; expected %s of up to 16 hexadecimal digits, or *; the line is ignored",
		       len ? conf_quote(word, len, quoted) : "nothing", what);
	return -EINVAL;
}

static void read_route(void *arg, struct line *line)
{
	struct reader *rd = arg;
	struct conf_prefix route = { 0 };
	const char *p = skip_blanks(line->text);

	if (!*p || *p == '#' || !line_has_room(&rd->room, rd->to->n, line, rd->report))
		return;
	if (read_number(rd, line, &p, "a subnet prefix", &route.prefix) < 0 ||
	    read_number(rd, line, &p, "the GUID of a router port", &route.guid) < 0)
		return;
	if (*p && *p != '#') {
		struct conf_place at = line_place(line, p);
		char quoted[CONF_QUOTE_MAX];

		conf_report_at(rd->report, CONF_WARNING, &at,
			       "%s and what follows is ignored; expected the end of the line",
			       conf_quote(p, word_length(p), quoted));
	}
	GROW(rd->to->items, rd->to->n + 1, rd->cap);
	rd->to->items[rd->to->n++] = route;
}

int conf_prefixes_read_text(const char *path, const char *text, size_t len,
			    struct conf_prefixes *ret, struct conf_report *r)
{
	struct reader rd = {
		.to = ret,
		.report = r,
		.room = { .most = CONF_PREFIXES_MAX, .what = "routes" },
	};

	*ret = (struct conf_prefixes){ 0 };
	return lines_split(path, text, len, r, read_route, &rd);
}

void conf_prefixes_clear(struct conf_prefixes *p)
{
	free(p->items);
	*p = (struct conf_prefixes){ 0 };
}

const struct conf_prefix *conf_prefixes_find(const struct conf_prefixes *p, uint64_t prefix)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->items[i].prefix || p->items[i].prefix == prefix)
			return &p->items[i];
	return NULL;
}
