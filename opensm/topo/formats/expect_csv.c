// SPDX-License-Identifier: BSD-2-Clause
/* NVIDIA's topoconfig CSV. The whole file is used, or nothing of it. */
#include <inttypes.h>
#include <string.h>

#include "conf/text/lines.h"
#include "topo/expect_file.h"
#include "util/bisect.h"
#include "util/str.h"

#define FIELDS 6

struct end {
	guid_t guid;
	uint8_t port;
};

/* A line, from one of its ends; each line gives two. */
struct row {
	struct end at, to;
	enum expect_use use;
	unsigned line;
};

struct csv {
	const char *path;
	struct conf_report own, *report; /* report: &own */
	struct row *rows;
	size_t n, cap;
};

static void expected(struct csv *c, const struct line *line, const char *p, const char *what)
{
	struct conf_place at = line_place(line, p);
	char quoted[CONF_QUOTE_MAX];

	conf_quote(p, strlen(p), quoted);
	conf_report_at(c->report, CONF_ERROR, &at, "%s; expected %s; the file is not used",
		       *p ? quoted : "the line ends, or the field is empty", what);
}

static bool take_guid(struct csv *c, const struct line *line, const char *p, guid_t *ret)
{
	uint64_t guid = 0;

	if (!str_starts(p, "0x") || str_to_u64(p + 2, 16, UINT64_MAX, &guid) < 0 || !guid) {
		expected(c, line, p, "a GUID: 0x and hexadecimal digits, not 0");
		return false;
	}
	*ret = guid;
	return true;
}

static bool take_port(struct csv *c, const struct line *line, const char *p, uint8_t *ret)
{
	uint64_t port = 0;

	if (str_to_u64(p, 10, IB_MAX_PORTS, &port) < 0 || !port) {
		expected(c, line, p, "the number of a port, 1 to 254");
		return false;
	}
	*ret = (uint8_t)port;
	return true;
}

/* The same word, whatever its case, dashes and underscores. */
static bool is_word(const char *p, const char *word)
{
	for (; *p; p++) {
		if (*p == '-' || *p == '_')
			continue;
		if ((*p | 0x20) != *word++)
			return false;
	}
	return !*word;
}

static bool take_state(struct csv *c, const struct line *line, const char *p, enum expect_use *ret)
{
	static const struct {
		const char *word;
		enum expect_use use;
	} words[] = { { "active", EXPECT_UP },
		      { "disabled", EXPECT_OFF },
		      { "disable", EXPECT_OFF },
		      { "nodiscover", EXPECT_EITHER },
		      { "any", EXPECT_EITHER } };

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (is_word(p, words[i].word)) {
			*ret = words[i].use;
			return true;
		}
	expected(c, line, p, "a LinkState: Active, Disabled, No-Discover or Any");
	return false;
}

/* Cuts the line at its commas; false after a finding: not as many fields as there should be. */
static bool split(struct csv *c, const struct line *line, char *fields[FIELDS])
{
	static const char form[] =
		"six fields: srcGUID,srcPort,dstGUID,dstPort,DeviceType,LinkState";
	char *p = line->text;

	for (unsigned i = 0; i < FIELDS; i++) {
		char *comma = strchr(p, ',');

		fields[i] = p;
		if (i < FIELDS - 1 ? !comma : !!comma) {
			expected(c, line, comma ? comma : p + strlen(p), form);
			return false;
		}
		if (comma) {
			*comma = '\0';
			p = comma + 1;
		}
	}
	for (unsigned i = 0; i < FIELDS; i++)
		fields[i] = str_trim(fields[i]);
	return true;
}

static void on_line(void *arg, struct line *line)
{
	struct csv *c = arg;
	struct row row = { .line = line->at.line }, back;
	char *f[FIELDS], *start = line->text + strspn(line->text, " \t\r");

	if (!*start || *start == '#' || !split(c, line, f) ||
	    !take_guid(c, line, f[0], &row.at.guid) || !take_port(c, line, f[1], &row.at.port) ||
	    !take_guid(c, line, f[2], &row.to.guid) || !take_port(c, line, f[3], &row.to.port))
		return;
	if (!*f[4]) {
		expected(c, line, f[4], "a DeviceType, for example Any");
		return;
	}
	if (!take_state(c, line, f[5], &row.use))
		return;
	if (row.at.guid == row.to.guid && row.at.port == row.to.port) {
		expected(c, line, f[2], "another port than that of the source");
		return;
	}
	back = row;
	back.at = row.to;
	back.to = row.at;
	GROW(c->rows, c->n + 2, c->cap);
	c->rows[c->n++] = row;
	c->rows[c->n++] = back;
}

/* --- Lines together ------------------------------------------------------------------------- */

static int by_end(const struct end *a, const struct end *b)
{
	return COMPARE(a->guid, b->guid) ?: COMPARE(a->port, b->port);
}

static int by_row(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	return by_end(&a->at, &b->at) ?: COMPARE(a->line, b->line);
}

/* Two lines about one port. */
static void check_pair(struct csv *c, const struct row *a, const struct row *b)
{
	if (by_end(&a->to, &b->to))
		conf_report_add(c->report, CONF_ERROR, c->path, b->line, 1,
				"port %u of 0x%016" PRIx64 " leads to port %u of 0x%016" PRIx64
				"; expected port %u of 0x%016" PRIx64
				", as in line %u; the file is not used",
				b->at.port, b->at.guid, b->to.port, b->to.guid, a->to.port,
				a->to.guid, a->line);
	else if (a->use != b->use && by_end(&b->at, &b->to) < 0)
		conf_report_add(c->report, CONF_ERROR, c->path, b->line, 1,
				"the cable at port %u of 0x%016" PRIx64
				" has another LinkState; expected that of line %u; the file is "
				"not used",
				b->at.port, b->at.guid, a->line);
}

static void check_agreement(struct csv *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (!by_end(&c->rows[i - 1].at, &c->rows[i].at))
			check_pair(c, &c->rows[i - 1], &c->rows[i]);
}

static struct expect *make(const struct csv *c)
{
	struct expect_builder *b = expect_builder_new();
	_cleanup_free_ guid_t *guids = xcalloc(c->n + 1, sizeof(*guids));
	uint32_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct expect_node node = { .guid = c->rows[i].at.guid, .name = "" };

		if (n && guids[n - 1] == node.guid)
			continue;
		guids[n++] = node.guid;
		expect_add_node(b, &node);
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = &c->rows[i];
		struct expect_port one = { .number = r->at.port, .use = r->use };
		struct expect_port two = { .number = r->to.port, .use = r->use };

		if (by_end(&r->at, &r->to) > 0)
			continue;
		one.node = BISECT(k, 0, n, guids[k] < r->at.guid);
		two.node = BISECT(k, 0, n, guids[k] < r->to.guid);
		expect_add_cable(b, &one, &two);
	}
	return expect_build(b);
}

struct expect *expect_read_csv(const char *path, const char *text, size_t len,
			       struct conf_report *r)
{
	struct csv c = { .path = path };
	struct expect *x = NULL;

	c.report = &c.own;
	lines_split(path, text, len, c.report, on_line, &c);
	if (!c.own.errors && !c.n)
		conf_report_add(c.report, CONF_ERROR, path, 0, 0,
				"no cable in it; expected lines of "
				"srcGUID,srcPort,dstGUID,dstPort,DeviceType,LinkState");
	if (!c.own.errors) {
		qsort(c.rows, c.n, sizeof(*c.rows), by_row);
		check_agreement(&c);
	}
	if (!c.own.errors)
		x = make(&c);
	conf_report_append(r, &c.own);
	conf_report_clear(&c.own);
	free(c.rows);
	return x;
}
