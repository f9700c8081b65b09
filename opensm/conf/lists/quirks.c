// SPDX-License-Identifier: BSD-2-Clause
/* Reads quirks.conf, and looks rules up, among them the built-in ones (quirks.def). */
#include "conf/lists/quirks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/lists/lists.h"
#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

#define VENDOR_MAX 0xFFFFFFu

static const char *const names[QUIRKS] = {
	[QUIRK_EXT_PORT_INFO] = "ext_port_info",
	[QUIRK_MTU_1024] = "mtu_1024",
	[QUIRK_NO_STATE_TABLE] = "no_state_table",
	[QUIRK_STALE_TABLES] = "stale_tables",
	[QUIRK_AGGREGATION] = "aggregation",
};

static const struct conf_quirk built_in[] = {
#define QUIRK(vendor, first, last, quirk) { vendor, first, last, 1u << (quirk), 0 },
#include "conf/lists/quirks.def"
#undef QUIRK
};

/* ---- reading ------------------------------------------------------------------------------- */

struct reader {
	struct conf_quirks *to;
	size_t cap;
	struct conf_report *report;
	struct line_room room;
};

/* Adds a finding at the word. Returns -EINVAL. */
static int refuse(struct reader *rd, const struct line *line, const char *word,
		  const char *expected)
{
	struct conf_place at = line_place(line, word);
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(rd->report, CONF_ERROR, &at, "%s; expected %s; the line is ignored",
		       *word ? conf_quote(word, strlen(word), quoted) : "nothing", expected);
	return -EINVAL;
}

static int read_vendor(struct reader *rd, const struct line *line, const char *word,
		       uint32_t *ret)
{
	uint64_t v;

	if (str_to_u64(word, 0, VENDOR_MAX, &v) < 0)
		return refuse(rd, line, word, "a vendor id up to 0xffffff");
	*ret = (uint32_t)v;
	return 0;
}

/* Reads devices: "*", "1000" or "1000-1003". */
static bool parse_devices(const char *word, uint64_t *first, uint64_t *last)
{
	const char *dash = strchr(word, '-');
	char text[32];

	*first = 0;
	*last = UINT16_MAX;
	if (!strcmp(word, "*"))
		return true;
	if (!dash) {
		if (str_to_u64(word, 0, UINT16_MAX, first) < 0)
			return false;
		*last = *first;
		return true;
	}
	if ((size_t)(dash - word) >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(dash - word), word);
	return str_to_u64(text, 0, UINT16_MAX, first) == 0 &&
	       str_to_u64(dash + 1, 0, UINT16_MAX, last) == 0 && *first <= *last;
}

static int read_devices(struct reader *rd, const struct line *line, const char *word,
			struct conf_quirk *to)
{
	uint64_t first, last;

	if (!parse_devices(word, &first, &last))
		return refuse(rd, line, word, "a device id up to 0xffff, a range of them, or *");
	to->first = (uint16_t)first;
	to->last = (uint16_t)last;
	return 0;
}

static int refuse_quirk(struct reader *rd, const struct line *line, const char *word)
{
	char expected[256];
	size_t len = (size_t)snprintf(expected, sizeof(expected), "one of ");

	for (unsigned i = 0; i < QUIRKS && len < sizeof(expected); i++)
		len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%s, ", names[i]);
	if (len < sizeof(expected))
		snprintf(expected + len, sizeof(expected) - len,
			 "or one of these with - before it");
	return refuse(rd, line, word, expected);
}

static int read_quirk(struct reader *rd, const struct line *line, const char *word,
		      struct conf_quirk *to)
{
	const char *name = word + (*word == '-');

	for (unsigned i = 0; i < QUIRKS; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		if (*word == '-')
			to->off |= (uint16_t)(1u << i);
		else
			to->on |= (uint16_t)(1u << i);
		return 0;
	}
	return refuse_quirk(rd, line, word);
}

static void read_rule(void *arg, struct line *line)
{
	struct reader *rd = arg;
	struct conf_quirk rule = { 0 };
	char *rest = line->text, *word;

	rest[strcspn(rest, "#")] = '\0';
	rest += strspn(rest, " \t\r\v\f");
	if (!*rest || !line_has_room(&rd->room, rd->to->n, line, rd->report))
		return;
	if (read_vendor(rd, line, conf_line_word(&rest), &rule.vendor) < 0 ||
	    read_devices(rd, line, conf_line_word(&rest), &rule) < 0)
		return;
	word = conf_line_word(&rest);
	do {
		if (read_quirk(rd, line, word, &rule) < 0)
			return;
		word = conf_line_word(&rest);
	} while (*word);
	GROW(rd->to->items, rd->to->n + 1, rd->cap);
	rd->to->items[rd->to->n++] = rule;
}

int conf_quirks_read_text(const char *path, const char *text, size_t len, struct conf_quirks *ret,
			  struct conf_report *r)
{
	struct reader rd = {
		.to = ret,
		.report = r,
		.room = { .most = CONF_QUIRKS_MAX, .what = "rules" },
	};

	*ret = (struct conf_quirks){ 0 };
	return lines_split(path, text, len, r, read_rule, &rd);
}

void conf_quirks_clear(struct conf_quirks *q)
{
	free(q->items);
	*q = (struct conf_quirks){ 0 };
}

/* ---- asking -------------------------------------------------------------------------------- */

static bool apply(const struct conf_quirk *rules, size_t n, unsigned bit, uint32_t vendor,
		  uint16_t device, bool holds)
{
	for (size_t i = 0; i < n; i++) {
		const struct conf_quirk *q = &rules[i];

		if (q->vendor == vendor && q->first <= device && device <= q->last)
			holds = (holds || (q->on & bit)) && !(q->off & bit);
	}
	return holds;
}

bool conf_quirk_holds(const struct conf_quirks *q, enum quirk quirk, uint32_t vendor,
		      uint16_t device)
{
	const unsigned bit = 1u << quirk;
	bool holds = apply(built_in, ARRAY_SIZE(built_in), bit, vendor, device, false);

	return q ? apply(q->items, q->n, bit, vendor, device, holds) : holds;
}
