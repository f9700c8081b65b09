// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibdm's .topo: blocks of systems and their cables, up to an empty line.
 *
 *   MTS3600 leaf1 CFG: ...
 *     P1 -4x-10G-> HCA h1 P1
 *     L1/P2 -> MTS3610 core1 L2/P7
 *
 * A port is Pn of the system, or of one of its boards ("U2/P1"). Which port of which switch a front
 * panel of a chassis means is in descriptions (.ibnl) that are not read: its boards count as nodes
 * of their own, which is said, and any other name of a port is a fault. The whole file is used, or
 * nothing of it.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/text/lines.h"
#include "topo/expect_file.h"
#include "topo/formats/by_name.h"
#include "util/str.h"

#define HEAD_LINES 10000u /* that are looked at to see what kind of file it is */

struct topo_reader {
	const char *path;
	struct conf_report own, *report; /* report: &own */
	struct by_name cables;
	char *type, *system; /* whose block it is; NULL: between blocks */
	bool told_boards;    /* of this system */
};

/* ---- words ----------------------------------------------------------------------------------- */

/* Cuts the next word off `*p`; "" at the end of the line, or at a comment. */
static char *next_word(char **p)
{
	char *word = *p + strspn(*p, " \t\r"), *end = word + strcspn(word, " \t\r");

	if (*word == '#')
		*word = '\0';
	*p = *word && *end ? end + 1 : word + strlen(word);
	if (*word)
		*end = '\0';
	return word;
}

static bool expected(struct topo_reader *t, const struct line *line, const char *p,
		     const char *what)
{
	struct conf_place at = line_place(line, p);
	char quoted[CONF_QUOTE_MAX];

	conf_quote(p, strlen(p), quoted);
	conf_report_at(t->report, CONF_ERROR, &at, "%s; expected %s; the file is not used",
		       *p ? quoted : "the line ends", what);
	return false;
}

static bool is_arrow(const char *word)
{
	size_t len = strlen(word);

	return word[0] == '-' && len >= 2 && !strcmp(word + len - 2, "->");
}

/* "-4x-10G->", "-4X->", "->": lanes, and Gb/s of each. */
static bool take_arrow(struct topo_reader *t, const struct line *line, char *word,
		       struct expect_rate *ret)
{
	static const struct {
		const char *word, *speed;
	} speeds[] = { { "2.5G", "SDR" }, { "5G", "DDR" },  { "10G", "QDR" },  { "14G", "FDR" },
		       { "25G", "EDR" },  { "50G", "HDR" }, { "100G", "NDR" }, { "200G", "XDR" } };
	char text[24], *part, *rest = text;

	*ret = (struct expect_rate){ 0 };
	if (!is_arrow(word) || strlen(word) >= sizeof(text))
		return expected(t, line, word, "an arrow: -> or -4x-10G->");
	snprintf(text, sizeof(text), "%.*s", (int)strlen(word) - 2, word);
	while ((part = strsep(&rest, "-"))) {
		uint64_t lanes = 0;
		size_t len = strlen(part), i = 0;

		if (len && (part[len - 1] | 0x20) == 'x') {
			part[len - 1] = '\0';
			if (str_to_u64(part, 10, 12, &lanes) < 0 || !lanes)
				return expected(t, line, word, "lanes, for example -4x->");
			ret->width = (uint8_t)lanes;
			continue;
		}
		while (len && i < ARRAY_SIZE(speeds) && strcmp(speeds[i].word, part) != 0)
			i++;
		if (i == ARRAY_SIZE(speeds))
			return expected(t, line, word,
					"Gb/s of a lane: 2.5G, 5G, 10G, 14G, 25G, 50G, 100G, 200G");
		if (len)
			ret->speed = ib_speed_named(speeds[i].speed, 3)->tenths;
	}
	return true;
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* Boards that are HCAs ("U2") have ports of that number; of others a description knows. */
static void tell_board(struct topo_reader *t, const struct line *line, const char *p,
		       const char *type, const char *name, unsigned port)
{
	struct conf_place at = line_place(line, p);

	conf_report_at(t->report, CONF_WARNING, &at,
		       "a port of a board, of a system of type %.40s, whose description "
		       "(%.40s.ibnl) is not read: it is taken for port %u of a node %s, and so are "
		       "others of this system",
		       type, type, port, name);
}

/* Of a system with several HCAs: "h1/U2". */
static bool is_hca(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !slash || (slash[1] == 'U' && slash[2] >= '0' && slash[2] <= '9');
}

/* "P7", "U2/P1", "L1/P3": the node, and its port. */
static bool take_port(struct topo_reader *t, const struct line *line, const char *type,
		      const char *system, char *word, struct by_name_end *ret)
{
	char *slash = strrchr(word, '/'), *number = slash ? slash + 1 : word;
	char board[EXPECT_CALLED_MAX], name[EXPECT_CALLED_MAX];
	uint64_t port = 0;

	if ((*number != 'P' && *number != 'p') ||
	    str_to_u64(number + 1, 10, IB_MAX_PORTS, &port) < 0 || !port)
		return expected(t, line, word,
				"a port: Pn or BOARD/Pn, n from 1 to 254, as descriptions of "
				"systems (.ibnl) are not read");
	snprintf(board, sizeof(board), "%.*s", slash ? (int)(slash - word) : 0, word);
	if (strlen(board) > 3 && !strcmp(board + strlen(board) - 3, "/U1"))
		board[strlen(board) - 3] = '\0';
	if (!expect_called(name, system, strlen(system), board))
		return expected(t, line, word, "a shorter name");
	if (!is_hca(name) && !t->told_boards) {
		tell_board(t, line, word, type, name, (unsigned)port);
		t->told_boards = true;
	}
	*ret = (struct by_name_end){ by_name_keep(&t->cables, name), (uint8_t)port };
	return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void on_system(struct topo_reader *t, const struct line *line, char *type, char *rest)
{
	char *name = next_word(&rest), *more = next_word(&rest);

	if (!*name)
		expected(t, line, name, "the name of a system behind its type");
	else if (*more && strcmp(more, "CFG:") != 0)
		expected(t, line, more, "CFG: or the end of the line");
	free(t->type);
	free(t->system);
	t->type = xstrdup(type);
	t->system = xstrdup(name);
	t->told_boards = false;
}

static void on_cable(struct topo_reader *t, const struct line *line, char *port, char *arrow,
		     char *rest)
{
	struct by_name_cable row = { .line = line->at.line };
	char *type = next_word(&rest), *system = next_word(&rest), *to = next_word(&rest);
	char *more = next_word(&rest);

	if (!t->system) {
		expected(t, line, port, "a line SYSTEM-TYPE SYSTEM-NAME before the cables of it");
		return;
	}
	if (!take_port(t, line, t->type, t->system, port, &row.at) ||
	    !take_arrow(t, line, arrow, &row.rate))
		return;
	if (!*to) {
		expected(t, line, to, "PORT -> SYSTEM-TYPE SYSTEM-NAME PORT");
		return;
	}
	if (!take_port(t, line, type, system, to, &row.to))
		return;
	if (*more)
		expected(t, line, more, "the end of the line");
	else if (!strcmp(row.at.name, row.to.name) && row.at.port == row.to.port)
		expected(t, line, to, "another port than the one of this line");
	else
		by_name_add(&t->cables, &row);
}

static void on_line(void *arg, struct line *line)
{
	struct topo_reader *t = arg;
	bool is_empty = !line->text[strspn(line->text, " \t\r")];
	char *rest = line->text, *first = next_word(&rest), *before = rest, *second;

	if (is_empty) {
		free(t->type);
		free(t->system);
		t->type = t->system = NULL;
	}
	if (!*first)
		return;
	second = next_word(&rest);
	if (is_arrow(second)) {
		on_cable(t, line, first, second, rest);
		return;
	}
	if (rest > second + strlen(second))
		second[strlen(second)] = ' '; /* the words are cut once more */
	on_system(t, line, first, before);
}

struct expect *expect_read_topo(const char *path, const char *text, size_t len,
				struct conf_report *r)
{
	struct topo_reader t = { .path = path };
	struct expect *x = NULL;

	t.report = &t.own;
	t.cables = (struct by_name){ .path = path, .report = &t.own };
	lines_split(path, text, len, t.report, on_line, &t);
	if (!t.own.errors && !t.cables.n)
		conf_report_add(t.report, CONF_ERROR, path, 0, 0,
				"no cable in it; expected blocks of SYSTEM-TYPE SYSTEM-NAME with "
				"lines PORT -> SYSTEM-TYPE SYSTEM-NAME PORT");
	if (!t.own.errors)
		x = by_name_make(&t.cables);
	conf_report_append(r, &t.own);
	conf_report_clear(&t.own);
	by_name_done(&t.cables);
	free(t.type);
	free(t.system);
	return x;
}

/* ---- which kind ------------------------------------------------------------------------------ */

static unsigned count_words(const char *p, const char *end, bool *ret_arrow)
{
	unsigned n = 0;

	*ret_arrow = false;
	while (p < end) {
		const char *start;

		while (p < end && strchr(" \t\r", *p))
			p++;
		for (start = p; p < end && !strchr(" \t\r", *p); p++)
			;
		if (n == 1)
			*ret_arrow = p - start >= 2 && *start == '-' && !memcmp(p - 2, "->", 2);
		n += p > start ? 1 : 0;
	}
	return n;
}

bool expect_text_is_topo(const char *text, size_t len)
{
	const char *p = text, *end = text + len, *eol;

	for (unsigned i = 0; p < end && i < HEAD_LINES; p = eol + 1, i++) {
		bool arrow;

		eol = memchr(p, '\n', (size_t)(end - p)) ?: end;
		while (p < eol && strchr(" \t\r", *p))
			p++;
		if (p == eol || *p == '#')
			continue;
		if (strchr("\"'{[(=,", *p) || memchr(p, '"', (size_t)(eol - p)) ||
		    memchr(p, '{', (size_t)(eol - p)))
			return false;
		if (count_words(p, eol, &arrow) < 2)
			return false;
		if (arrow)
			return true;
	}
	return false;
}
