// SPDX-License-Identifier: BSD-2-Clause
/* Reads the file of hm_ports_health_policy_file. Of several lines for a port the last one holds. */
#include "conf/lists/health_ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

#define HEX_DIGITS 16 /* of 64 bits */

struct reader {
	struct conf_health_ports *to;
	size_t cap;
	struct conf_report *report;
	struct line_room room;
};

struct word {
	const char *at;
	size_t len; /* 0: the end of the line or a comment was reached */
};

static struct word next_word(const char **p)
{
	struct word w = { .at = *p + strspn(*p, " \t\r\v\f") };

	w.len = strcspn(w.at, " \t\r\v\f#");
	*p = w.at + w.len;
	return w;
}

static bool is_word(struct word w, const char *text)
{
	return w.len == strlen(text) && !strncasecmp(w.at, text, w.len);
}

static bool refuse(struct reader *rd, const struct line *line, struct word w, const char *expected)
{
	struct conf_place at = line_place(line, w.at);
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(rd->report, CONF_ERROR, &at, "%s; expected %s; the line is ignored",
		       w.len ? conf_quote(w.at, w.len, quoted) : "nothing", expected);
	return false;
}

static bool read_guid(struct reader *rd, const struct line *line, struct word w, guid_t *ret)
{
	size_t prefix = w.len > 2 && !strncasecmp(w.at, "0x", 2) ? 2 : 0;
	char digits[2 + HEX_DIGITS + 1];

	if (w.len && w.len - prefix <= HEX_DIGITS) {
		snprintf(digits, sizeof(digits), "%.*s", (int)w.len, w.at);
		if (str_to_u64(digits, 16, UINT64_MAX, ret) == 0 && *ret)
			return true;
	}
	return refuse(rd, line, w, "the GUID of a node of up to 16 hexadecimal digits, or "
				   "\"all healthy\"");
}

static bool read_port(struct reader *rd, const struct line *line, struct word w, uint8_t *ret)
{
	char digits[4];
	uint64_t n;

	if (w.len && w.len < sizeof(digits)) {
		snprintf(digits, sizeof(digits), "%.*s", (int)w.len, w.at);
		if (str_to_u64(digits, 10, IB_MAX_PORTS, &n) == 0 && n) {
			*ret = (uint8_t)n;
			return true;
		}
	}
	return refuse(rd, line, w, "the number of a port, 1 to 254");
}

static bool read_action(struct reader *rd, const struct line *line, struct word w,
			enum conf_health_action *ret)
{
	static const char *const names[] = { "ignore", "report", "isolate", "no_discover",
					     "disable" };

	*ret = CONF_HEALTH_NONE;
	if (!w.len)
		return true;
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		if (!is_word(w, names[i]))
			continue;
		*ret = (enum conf_health_action)i;
		return true;
	}
	return refuse(rd, line, w,
		      "ignore, report, isolate, no_discover, disable, or the end of the line");
}

static bool is_end_of_line(struct reader *rd, const struct line *line, const char *p)
{
	struct word w = next_word(&p);

	return !w.len || refuse(rd, line, w, "the end of the line");
}

static bool read_state(struct reader *rd, const struct line *line, const char **p,
		       struct conf_health_port *ret)
{
	struct word w = next_word(p);

	ret->healthy = is_word(w, "healthy");
	ret->action = CONF_HEALTH_NONE;
	if (!ret->healthy && !is_word(w, "unhealthy"))
		return refuse(rd, line, w, "healthy or unhealthy");
	return ret->healthy || read_action(rd, line, next_word(p), &ret->action);
}

static void read_all(struct reader *rd, const struct line *line, const char *p)
{
	struct word w = next_word(&p);

	if (!is_word(w, "healthy"))
		refuse(rd, line, w, "healthy: \"all unhealthy\" is not taken");
	else if (is_end_of_line(rd, line, p))
		rd->to->all_healthy = true;
}

static void read_one(void *arg, struct line *line)
{
	struct reader *rd = arg;
	struct conf_health_port one = { .line = line->at.line };
	const char *p = line->text;
	struct word w = next_word(&p);

	if (!w.len)
		return;
	if (is_word(w, "all")) {
		read_all(rd, line, p);
		return;
	}
	if (!line_has_room(&rd->room, rd->to->n, line, rd->report) ||
	    !read_guid(rd, line, w, &one.guid) ||
	    !read_port(rd, line, next_word(&p), &one.port) || !read_state(rd, line, &p, &one) ||
	    !is_end_of_line(rd, line, p))
		return;
	GROW(rd->to->items, rd->to->n + 1, rd->cap);
	rd->to->items[rd->to->n++] = one;
}

static int compare(const void *a, const void *b)
{
	const struct conf_health_port *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (int)x->port - (int)y->port;
}

static int compare_lines(const void *a, const void *b)
{
	const struct conf_health_port *x = a, *y = b;
	int order = compare(a, b);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Sorts the lines by port; of several for a port only the last one is kept. */
static void sort(struct conf_health_ports *p)
{
	size_t n = 0;

	if (p->n)
		qsort(p->items, p->n, sizeof(*p->items), compare_lines);
	for (size_t i = 0; i < p->n; i++) {
		if (n && !compare(&p->items[n - 1], &p->items[i]))
			n--;
		p->items[n++] = p->items[i];
	}
	p->n = n;
}

int conf_health_ports_read_text(const char *path, const char *text, size_t len,
				struct conf_health_ports *ret, struct conf_report *r)
{
	struct reader rd = {
		.to = ret,
		.report = r,
		.room = { .most = CONF_HEALTH_PORTS_MAX, .what = "ports" },
	};
	int error;

	*ret = (struct conf_health_ports){ 0 };
	error = lines_split(path, text, len, r, read_one, &rd);
	sort(ret);
	return error;
}

void conf_health_ports_clear(struct conf_health_ports *p)
{
	free(p->items);
	*p = (struct conf_health_ports){ 0 };
}

const struct conf_health_port *conf_health_ports_find(const struct conf_health_ports *p,
						      guid_t guid, unsigned port)
{
	const struct conf_health_port key = { .guid = guid, .port = (uint8_t)port };

	return p->n ? bsearch(&key, p->items, p->n, sizeof(*p->items), compare) : NULL;
}
