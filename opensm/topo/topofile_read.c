// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads fabrics line by line: nodes, and the cable at each of their ports.
 *
 *   vendid=0x2c9                                  of the node that follows, as are devid= and
 *                                                 sysimgguid=
 *   switchguid=0x200003(200003)                   or caguid=, rtguid=; ibsim's files may do without
 *   Switch  4 "S-0000000000200003"   # "leaf4" base port 0 lid 11 lmc 0
 *   [1]  "H-000000000010000c"[1](10000d)   # "h6" lid 50 4xSDR s=1 w=2 v=4
 *   Ca  1 "H-000000000010000e"   # "h7"
 *   [1](10000f)  "S-0000000000200003"[2]   # lid 58 lmc 0 "leaf4" lid 11 4xSDR
 *
 * A description may hold any characters: it ends with the last quote of its line. Both ends of
 * cables are joined in topofile_join.c.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "topo/topofile_internal.h"
#include "util/mem.h"
#include "util/str.h"

void topofile_expected(struct topofile_reader *t, const struct line *line, const char *p,
		       const char *expected)
{
	struct conf_place at = line_place(line, p);
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(t->report, CONF_ERROR, &at, "%s; expected %s; the file is not used",
		       conf_quote(p, strlen(p), quoted), expected);
}

char *topofile_clean_name(const char *text, size_t len)
{
	char *name = xmalloc(len + 1);

	return str_printable(text, len, name, len + 1);
}

static char *skip_blanks(char *p)
{
	return p + strspn(p, " \t");
}

/* The digits at *p as a number of at most `max`; moves *p behind them. */
static bool take_number(char **p, int base, uint64_t max, uint64_t *ret)
{
	char digits[24], *end = *p;
	size_t n;

	if (base == 16 && end[0] == '0' && (end[1] == 'x' || end[1] == 'X'))
		end += 2;
	n = strspn(end, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");
	if (!n || n >= sizeof(digits))
		return false;
	memcpy(digits, end, n);
	digits[n] = '\0';
	if (str_to_u64(digits, base, max, ret) < 0)
		return false;
	*p = end + n;
	return true;
}

/* NAME NUMBER somewhere in the text that follows a name: "lid 11". */
static bool named_number(char *text, const char *word, uint64_t max, uint64_t *ret)
{
	size_t len = strlen(word);

	for (char *p = strstr(text, word); p; p = strstr(p + 1, word)) {
		char *digits = p + len;

		if (p > text && !isspace((unsigned char)p[-1]))
			continue;
		if (take_number(&digits, 10, max, ret) &&
		    (!*digits || isspace((unsigned char)*digits)))
			return true;
	}
	return false;
}

void topofile_rate(char *p, struct topofile_port *port)
{
	uint64_t width;
	size_t n;

	if (!take_number(&p, 10, 12, &width) || (*p != 'x' && *p != 'X'))
		return;
	p++;
	n = strcspn(p, " \t");
	if (n >= sizeof(port->speed))
		return;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]))
			return;
	port->width = (uint8_t)width;
	memcpy(port->speed, p, n);
	port->speed[n] = '\0';
}

/* "KEY=0xGUID(GUID)". False: the line is not about it. */
static bool take_guid_line(struct topofile_reader *t, const struct line *line, char *p)
{
	static const char *const keys[] = { "switchguid=", "caguid=", "rtguid=",
					    "sysimgguid=", "vendid=", "devid=" };
	uint64_t max = UINT64_MAX, value, port = 0;
	unsigned k = 0;

	while (k < ARRAY_SIZE(keys) && !str_starts(p, keys[k]))
		k++;
	if (k == ARRAY_SIZE(keys))
		return false;
	p += strlen(keys[k]);
	if (k >= 4)
		max = UINT32_MAX;
	if (!take_number(&p, 16, max, &value)) {
		topofile_expected(t, line, p,
				  k < 4 ? "a GUID in hexadecimal" : "a number in hexadecimal");
		return true;
	}
	if (*p == '(' && (p++, !take_number(&p, 16, UINT64_MAX, &port))) {
		topofile_expected(t, line, p, "a GUID in hexadecimal");
		return true;
	}
	switch (k) {
	case 3: t->ahead.sysimg_guid = value; break;
	case 4: t->ahead.vendor = (uint32_t)value; break;
	case 5: t->ahead.device = (uint32_t)value; break;
	default:
		t->ahead.guid = value;
		t->ahead.port_guid = port;
	}
	return true;
}

/* The name between quotes at *p, as an id; moves *p behind it. */
static bool take_id(struct topofile_reader *t, const struct line *line, char **p, uint32_t *ret,
		    guid_t *ret_guid)
{
	char *text = *p, *end = *text == '"' ? strchr(text + 1, '"') : NULL, *digits = text + 3;
	uint64_t guid = 0;

	if (!end || end == text + 1) {
		topofile_expected(t, line, text, "the name of a node between quotes");
		return false;
	}
	*ret = topofile_id(t, text + 1, (size_t)(end - text - 1));
	if (end - text == 19 && text[2] == '-' && take_number(&digits, 16, UINT64_MAX, &guid) &&
	    digits == end)
		*ret_guid = guid;
	*p = end + 1;
	return true;
}

/* The description in the comment `p`; *ret_after is what follows it. "" if there is none. */
static char *take_name(char *p, char **ret_after)
{
	char *open = strchr(p, '"'), *close = open ? strrchr(p, '"') : NULL;

	*ret_after = close ? close + 1 : p;
	return open && close > open ? topofile_clean_name(open + 1, (size_t)(close - open - 1))
				    : xstrdup("");
}

/*
 * Files made for ibsim leave GUIDs out: nodes count on from the last of their kind, and a CA takes
 * one for itself and one for each port. (Routers would begin with 0 there, which is not valid.)
 */
static guid_t guid_for(struct topofile_reader *t, const struct topofile_node *node, guid_t from_id)
{
	static const guid_t bases[] = { [TOPOFILE_SWITCH] = 0x200000, [TOPOFILE_CA] = 0x100000,
					[TOPOFILE_ROUTER] = 0x300000 };
	guid_t *next = &t->next_guid[node->type], guid = node->guid ? node->guid : from_id;

	if (!guid)
		guid = *next ? *next : bases[node->type];
	*next = guid + (node->type == TOPOFILE_SWITCH ? 1 : node->n_ports + 1u);
	return guid;
}

/* Switch  4 "S-..."  # "name" base port 0 lid 11 lmc 0 */
static void node_line(struct topofile_reader *t, struct line *line, char *p,
		      enum topofile_type type)
{
	struct topofile_node node = t->ahead;
	uint64_t ports, lid = 0, lmc = 0;
	guid_t from_id = 0;
	uint32_t id;
	char *after;

	t->ahead = (struct topofile_node){ 0 };
	t->current = TOPO_NONE;
	p = skip_blanks(p);
	if (!take_number(&p, 10, IB_MAX_PORTS, &ports) || !ports) {
		topofile_expected(t, line, p, "a number of ports, 1 to 254");
		return;
	}
	p = skip_blanks(p);
	if (!take_id(t, line, &p, &id, &from_id))
		return;
	node.type = type;
	node.n_ports = (uint8_t)ports;
	node.guid = guid_for(t, &node, from_id);
	node.name = take_name(p, &after);
	if (!node.name[0] && !from_id) {
		free(node.name);
		node.name = topofile_clean_name(t->ids[id], strlen(t->ids[id]));
	}
	if (type == TOPOFILE_SWITCH && (named_number(after, "lid ", LID_MAX_UCAST, &lid) ||
					named_number(after, "lid: ", LID_MAX_UCAST, &lid)))
		node.lid = (lid_t)lid;
	if (type == TOPOFILE_SWITCH && named_number(after, "lmc ", 7, &lmc))
		node.lmc = (uint8_t)lmc;
	node.enhanced0 = strstr(after, "enhanced port 0") != NULL;
	if (topofile_add_node(t, &node, id, false, &line->at))
		t->current = (uint32_t)(t->n_drafts - 1);
}

/* "[ext 7]" and "(10000f)" behind a port number, in any order. */
static bool take_tail(char **p, guid_t *ret_guid)
{
	for (;;) {
		uint64_t guid;
		char *end;

		if (str_starts(*p, "[ext")) {
			end = strchr(*p, ']');
			if (!end)
				return false;
			*p = end + 1;
		} else if (**p == '(') {
			end = *p + 1;
			if (!take_number(&end, 16, UINT64_MAX, &guid) || *end != ')')
				return false;
			*ret_guid = guid;
			*p = end + 1;
		} else {
			return true;
		}
	}
}

static bool take_port(char **p, uint8_t *ret, guid_t *ret_guid)
{
	uint64_t number;

	if (**p != '[')
		return false;
	++*p;
	if (!take_number(p, 10, IB_MAX_PORTS, &number) || !number || **p != ']')
		return false;
	++*p;
	*ret = (uint8_t)number;
	return take_tail(p, ret_guid);
}

/*
 * The comment of a port line: before the peer's name values of the port itself, behind it values of
 * the peer.
 */
static void read_comment(struct topofile_claim *c, char *p)
{
	_cleanup_free_ char *name = NULL;
	uint64_t number;
	char *after, *quote = strchr(p, '"'), *word;

	name = take_name(p, &after);
	if (quote)
		*quote = '\0';
	if (named_number(p, "lid ", LID_MAX_UCAST, &number))
		c->port.lid = (lid_t)number;
	if (named_number(p, "lmc ", 7, &number))
		c->port.lmc = (uint8_t)number;
	if (named_number(after, "v=", IB_VLS_CODE_MAX, &number))
		c->port.vls = (uint8_t)ib_data_vls((unsigned)number);
	if (named_number(after, "lid ", LID_MAX_UCAST, &number))
		c->peer_lid = (lid_t)number;
	for (word = after; *word; word += strcspn(word, " \t")) {
		word = skip_blanks(word);
		topofile_rate(word, &c->port);
	}
}

/* [1](10000f)  "S-..."[2]  # lid 58 lmc 0 "leaf4" lid 11 4xSDR */
static void port_line(struct topofile_reader *t, struct line *line, char *p)
{
	struct topofile_claim claim = { .line = line->at.line }, *c;
	guid_t guid = 0, peer_guid = 0, ignored = 0;
	char *start = p;

	if (!take_port(&p, &claim.port.number, &guid)) {
		topofile_expected(t, line, start, "[PORT], 1 to 254");
		return;
	}
	if (t->current == TOPO_NONE) {
		if (!t->report->errors)
			topofile_expected(t, line, start, "the node that it belongs to before it");
		return;
	}
	p = skip_blanks(p);
	if (!*p || *p == '#')
		return; /* no cable */
	if (!take_id(t, line, &p, &claim.peer_id, &ignored))
		return;
	start = p;
	if (!take_port(&p, &claim.peer_number, &peer_guid)) {
		topofile_expected(t, line, start, "[PORT], 1 to 254, of the node at the other end");
		return;
	}
	claim.peer_guid = peer_guid;
	claim.port.node = t->drafts[t->current].id;
	claim.port.guid = t->drafts[t->current].node.type == TOPOFILE_SWITCH ? 0 : guid;
	p = skip_blanks(p);
	if (*p == '#')
		read_comment(&claim, p + 1);
	c = topofile_add_claim(t);
	*c = claim;
}

/* ibsim: "module", "do" and the like; ibnetdiscover -g: headings of chassis. */
static bool is_heading(const char *p)
{
	return str_starts(p, "Chassis ") || str_starts(p, "Non-Chassis") ||
	       str_starts(p, "Spine ") || str_starts(p, "Line ") || str_starts(p, "Hca Ports") ||
	       str_starts(p, "DR path");
}

/* What infiniband-diags and libraries write to stderr, which ends up in a file with 2>&1. */
static bool is_message(const char *p)
{
	static const char *const begins[] = { "ibwarn:", "ibpanic:", "ibdebug:", "src/", "./",
					      "libibnetdisc", "bad status ", "mlx4:", "mlx5:",
					      "libibverbs:", "Warning:", "warning:" };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		if (str_starts(p, begins[i]))
			return true;
	}
	return false;
}

static void skip_message(struct topofile_reader *t, const struct line *line, const char *p)
{
	struct conf_place at = line_place(line, p);
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(t->report, CONF_WARNING, &at,
		       "%s is a message of the program that wrote the file, and is skipped: "
		       "what it was about may be missing",
		       conf_quote(p, strlen(p), quoted));
}

/* A whole word at `*p`, which then stands behind it. */
static bool take_word(char **p, const char *word)
{
	size_t n = strlen(word);

	if (!str_starts(*p, word) || !isspace((unsigned char)(*p)[n]))
		return false;
	*p += n;
	return true;
}

static void on_line(void *arg, struct line *line)
{
	struct topofile_reader *t = arg;
	char *p = skip_blanks(line->text);

	if (!*p || *p == '#')
		return;
	if (*p == '[') {
		port_line(t, line, p);
		return;
	}
	if (is_heading(p) || take_guid_line(t, line, p))
		return;
	if (is_message(p)) {
		skip_message(t, line, p);
		return;
	}
	for (unsigned type = TOPOFILE_SWITCH; type <= TOPOFILE_ROUTER; type++)
		if (take_word(&p, ib_node_row(topofile_node_type(type))->net)) {
			node_line(t, line, p, type);
			return;
		}
	if (take_word(&p, "Hca")) {
		node_line(t, line, p, TOPOFILE_CA);
		return;
	}
	if (!topofile_lst_line(t, line) && !topofile_ports_line(t, line))
		topofile_expected(t, line, p, "a line of ibnetdiscover or of opensm-subnet.lst");
}

static struct topofile_reader reader_new(const char *path, struct conf_report *r)
{
	return (struct topofile_reader){ .path = path, .report = r, .current = TOPO_NONE };
}

struct topofile *topofile_read_text(const char *path, const char *text, size_t len,
				    struct conf_report *r)
{
	struct conf_report own = { 0 };
	struct topofile_reader t = reader_new(path, &own);
	struct topofile *f;

	lines_split(path, text, len, &own, on_line, &t);
	f = topofile_join(&t);
	for (size_t i = 0; i < own.n; i++)
		conf_report_add(r, own.findings[i].severity, own.findings[i].file,
				own.findings[i].line, own.findings[i].column, "%s",
				own.findings[i].text);
	conf_report_clear(&own);
	return f;
}

struct topofile *topofile_read(const char *path, struct conf_report *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int e = lines_load_most(path, TOPOFILE_MAX, r, &text, &len);

	if (e < 0) {
		if (e == -ENOENT)
			lines_missing(path, r);
		return NULL;
	}
	return topofile_read_text(path, text, len, r);
}
