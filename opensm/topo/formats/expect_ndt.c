// SPDX-License-Identifier: BSD-2-Clause
/*
 * The NDT file of UFM: a CSV with a header, a line per cable (or two, one from each end), devices
 * by their names.
 *
 *   rack #,U height,#Fields:StartDev,StartPort,StartDeviceLocation,EndDev,EndPort,...,State,Domain
 *   ,,leaf1,Port 21,,h07 HCA-1,Port 1,...,Active,In-Scope
 *
 * Columns are found by their names, in any order: StartDev, StartPort, EndDev and EndPort must be
 * there, State may be; others are not used, which is said. Fields are quoted as in RFC 4180, but
 * end on their line. The whole file is used, or nothing of it.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/text/lines.h"
#include "topo/expect_file.h"
#include "topo/formats/by_name.h"
#include "util/str.h"

#define FIELDS_MAX 64
#define CAGE_PORTS 2u /* of a cage that is named like "Port 5/2" */

enum column { START_DEV, START_PORT, END_DEV, END_PORT, STATE, COLUMNS };

static const struct {
	const char *name, *word; /* word: in small letters and digits alone */
} columns[COLUMNS] = { [START_DEV] = { "StartDev", "startdev" },
		       [START_PORT] = { "StartPort", "startport" },
		       [END_DEV] = { "EndDev", "enddev" },
		       [END_PORT] = { "EndPort", "endport" },
		       [STATE] = { "State", "state" } };

struct ndt {
	const char *path;
	struct conf_report own, *report; /* report: &own */
	struct by_name cables;
	unsigned at[COLUMNS]; /* which field it is, from 1; 0: there is none */
	unsigned head_line;   /* line of the header; 0: not read yet */
};

static bool expected(struct ndt *t, const struct line *line, const char *p, const char *what)
{
	struct conf_place at = line_place(line, p);
	char quoted[CONF_QUOTE_MAX];

	conf_quote(p, strlen(p), quoted);
	conf_report_at(t->report, CONF_ERROR, &at, "%s; expected %s; the file is not used",
		       *p ? quoted : "the line ends, or the field is empty", what);
	return false;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/*
 * Finds the quote that ends the field whose first quote is at `p`; NULL: the field is not closed.
 * Two quotes in a row are one quote of the text.
 */
static char *closing_quote(char *p)
{
	while ((p = strchr(p + 1, '"')) && p[1] == '"')
		p++;
	return p;
}

/* Unquotes in place, from the opening quote to the closing one. */
static void unquote(char *p, const char *closing)
{
	char *to = p++;

	for (; p < closing; p++) {
		*to++ = *p;
		p += *p == '"'; /* doubled */
	}
	*to = '\0';
}

/* Cuts the line into fields; 0 after a finding. Fields begin where they stand in the line. */
static unsigned split(struct ndt *t, const struct line *line, char *fields[FIELDS_MAX])
{
	char *p = line->text, *end;
	bool is_last;
	unsigned n = 0;

	for (;;) {
		p += strspn(p, " \t");
		if (n == FIELDS_MAX) {
			expected(t, line, p, "at most 64 fields");
			return 0;
		}
		fields[n++] = p;
		end = *p == '"' ? closing_quote(p) : p + strcspn(p, ",");
		if (!end) {
			expected(t, line, p, "a quote at the end of the field, on the same line");
			return 0;
		}
		if (*p == '"')
			unquote(p, end++);
		p = end + strspn(end, " \t\r");
		if (*p && *p != ',') {
			expected(t, line, p, "a comma, or the end of the line");
			return 0;
		}
		is_last = !*p++;
		*end = '\0';
		if (is_last)
			break;
	}
	for (unsigned i = 0; i < n; i++)
		fields[i] = str_trim(fields[i]);
	return n;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Whether this is the word, whatever its case and punctuation; "#Fields:StartDev" is StartDev. */
static bool is_word(const char *p, const char *word)
{
	const char *colon = strchr(p, ':');

	for (p = colon ? colon + 1 : p; *p; p++) {
		if (!isalnum((unsigned char)*p))
			continue;
		if (tolower((unsigned char)*p) != *word++)
			return false;
	}
	return !*word;
}

static unsigned column_of(const char *field)
{
	unsigned i = 0;

	while (i < COLUMNS && !is_word(field, columns[i].word))
		i++;
	return i;
}

static void tell_unused(struct ndt *t, const struct line *line, const char *names)
{
	conf_report_add(t->report, CONF_NOTE, t->path, line->at.line, 0, "columns not used: %s",
			names);
}

static void on_header(struct ndt *t, const struct line *line, char **fields, unsigned n)
{
	char names[200] = "", quoted[CONF_QUOTE_MAX];
	size_t len = 0;

	t->head_line = line->at.line;
	for (unsigned i = 0; i < n; i++) {
		unsigned k = column_of(fields[i]);

		if (k < COLUMNS && t->at[k])
			expected(t, line, fields[i], "each column once");
		else if (k < COLUMNS)
			t->at[k] = i + 1;
		else if (*fields[i] && len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "",
						conf_quote(fields[i], strlen(fields[i]), quoted));
	}
	for (unsigned k = 0; k < COLUMNS; k++)
		if (!t->at[k] && k != STATE)
			conf_report_add(t->report, CONF_ERROR, t->path, line->at.line, 1,
					"no column %s; expected a header with StartDev, StartPort, "
					"EndDev and EndPort; the file is not used",
					columns[k].name);
	if (len)
		tell_unused(t, line, names);
}

/* ---- devices and ports ----------------------------------------------------------------------- */

/*
 * "leaf1", "h07 HCA-1", "h07/mlx5_1", "MF0;core1:CS7500/L01/U1", a GUID: the name of the board
 * as .topo has it.
 */
static bool take_device(struct ndt *t, const struct line *line, const char *word,
			char ret[EXPECT_CALLED_MAX])
{
	uint64_t guid = 0;

	if (str_starts(word, "0x") && str_to_u64(word + 2, 16, UINT64_MAX, &guid) == 0 && guid)
		snprintf(ret, EXPECT_CALLED_MAX, "S%016" PRIx64, guid);
	else if (!expect_called_label(ret, word) && !expect_called(ret, word, strlen(word), ""))
		return expected(t, line, word, "a shorter name");
	return true;
}

/* "Port 7", "P7", "7"; "Port 4/1" is the first one of the two ports of cage 4. 0: none of these. */
static unsigned port_number(const char *word)
{
	const char *p = word, *slash;
	uint64_t n, of_cage;
	char cage[4];

	if ((*p | 0x20) == 'p') {
		p += strlen(p) > 4 && !strncasecmp(p, "port", 4) ? 4 : 1;
		p += strspn(p, " ");
	}
	slash = strchr(p, '/');
	if (!slash)
		return str_to_u64(p, 10, IB_MAX_PORTS, &n) < 0 ? 0 : (unsigned)n;
	if (slash - p >= (ptrdiff_t)sizeof(cage))
		return 0;
	snprintf(cage, sizeof(cage), "%.*s", (int)(slash - p), p);
	if (str_to_u64(cage, 10, IB_MAX_PORTS / CAGE_PORTS, &n) < 0 || !n ||
	    str_to_u64(slash + 1, 10, CAGE_PORTS, &of_cage) < 0 || !of_cage)
		return 0;
	return (unsigned)((n - 1) * CAGE_PORTS + of_cage);
}

/* Cuts the board off a port such as "L1/P5", "HCA-2/1" or "HCA-2 Port 1". NULL: there is none. */
static char *cut_board(char **port)
{
	char *board = *port, *cut = strpbrk(board, "/ ");

	if (!cut || !isalpha((unsigned char)*board) || !strncasecmp(board, "port", 4) ||
	    ((*board | 0x20) == 'p' && isdigit((unsigned char)board[1])) || !port_number(cut + 1))
		return NULL;
	*cut = '\0';
	*port = cut + 1;
	return board;
}

/* "core1/L01/P5" without a port of its own: its last part is the port. */
static void cut_port(char *device, char **port)
{
	char *slash = strrchr(device, '/');

	if (**port || !slash || (slash[1] | 0x20) != 'p' || !port_number(slash + 1))
		return;
	*slash = '\0';
	*port = slash + 1;
}

static bool take_end(struct ndt *t, const struct line *line, char *device, char *port,
		     struct by_name_end *ret)
{
	char name[EXPECT_CALLED_MAX], full[EXPECT_CALLED_MAX], *board;
	unsigned number;

	cut_port(device, &port);
	if (!*device)
		return expected(t, line, device, "the name of a device");
	if (!take_device(t, line, device, name))
		return false;
	board = cut_board(&port);
	number = port_number(port);
	if (!number)
		return expected(t, line, board ?: port,
				"a port: 'Port N', PN or N, N from 1 to 254, 'Port CAGE/1' or "
				"'Port CAGE/2' of cages with two ports, or BOARD/PN");
	if (!board)
		snprintf(full, sizeof(full), "%s", name);
	else if (!expect_called(full, name, strlen(name), board))
		return expected(t, line, device, "a shorter name");
	*ret = (struct by_name_end){ by_name_keep(&t->cables, full), (uint8_t)number };
	return true;
}

static bool take_state(struct ndt *t, const struct line *line, const char *p, enum expect_use *ret)
{
	static const struct {
		const char *word;
		enum expect_use use;
	} words[] = { { "", EXPECT_UP },	  { "active", EXPECT_UP },
		      { "disabled", EXPECT_OFF }, { "disable", EXPECT_OFF },
		      { "any", EXPECT_EITHER },	  { "nodiscover", EXPECT_EITHER } };

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (is_word(p, words[i].word)) {
			*ret = words[i].use;
			return true;
		}
	return expected(t, line, p, "a State: Active, Disabled, No-discover or Any");
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void on_cable(struct ndt *t, const struct line *line, char **fields, unsigned n)
{
	struct by_name_cable row = { .line = line->at.line };
	char *end = line->text + line->len, *f[COLUMNS];

	for (unsigned k = 0; k < COLUMNS; k++)
		f[k] = t->at[k] && t->at[k] <= n ? fields[t->at[k] - 1] : end;
	if (!*f[START_DEV] && !*f[START_PORT] && !*f[END_DEV] && !*f[END_PORT])
		return; /* an empty row of a table */
	if (!take_end(t, line, f[START_DEV], f[START_PORT], &row.at) ||
	    !take_end(t, line, f[END_DEV], f[END_PORT], &row.to) ||
	    !take_state(t, line, f[STATE], &row.use))
		return;
	if (!strcmp(row.at.name, row.to.name) && row.at.port == row.to.port)
		expected(t, line, f[END_DEV], "another port than that of StartDev");
	else
		by_name_add(&t->cables, &row);
}

/* The header may begin as a comment does: "#Fields:StartDev,...". */
static bool is_header(const char *p, const char *end)
{
	bool found[COLUMNS + 1] = { false };

	for (const char *comma; p < end; p = comma + 1) {
		char field[40];

		comma = memchr(p, ',', (size_t)(end - p)) ?: end;
		snprintf(field, sizeof(field), "%.*s", (int)(comma - p), p);
		found[column_of(field)] = true;
	}
	return found[START_DEV] && found[END_DEV];
}

static void on_line(void *arg, struct line *line)
{
	struct ndt *t = arg;
	char *fields[FIELDS_MAX], *start = line->text + strspn(line->text, " \t\r");
	bool header = !t->head_line && is_header(start, line->text + line->len);
	unsigned n;

	if (!*start || (*start == '#' && !header))
		return;
	n = split(t, line, fields);
	if (!n)
		return;
	if (t->head_line)
		on_cable(t, line, fields, n);
	else
		on_header(t, line, fields, n);
}

struct expect *expect_read_ndt(const char *path, const char *text, size_t len,
			       struct conf_report *r)
{
	struct ndt t = { .path = path };
	struct expect *x = NULL;

	t.report = &t.own;
	t.cables = (struct by_name){ .path = path, .report = &t.own };
	lines_split(path, text, len, t.report, on_line, &t);
	if (!t.own.errors && !t.cables.n)
		conf_report_add(
			t.report, CONF_ERROR, path, 0, 0,
			"no cable in it; expected a header with StartDev, StartPort, EndDev "
			"and EndPort, and a line for each cable");
	if (!t.own.errors)
		x = by_name_make(&t.cables);
	conf_report_append(r, &t.own);
	conf_report_clear(&t.own);
	by_name_done(&t.cables);
	return x;
}

bool expect_text_is_ndt(const char *text, size_t len)
{
	const char *p = text, *end = text + len, *eol;

	for (; p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p)) ?: end;
		if (is_header(p, eol))
			return true;
		while (p < eol && strchr(" \t\r", *p))
			p++;
		if (p < eol && *p != '#')
			return false;
	}
	return false;
}
