// SPDX-License-Identifier: BSD-2-Clause
/*
 * partitions.conf, line by line (partitions-conf.md 1 and 2).
 *
 *   AT_HEADER --"name=pkey, flags :"--> IN_BODY --";"--> AT_HEADER
 *        \---no ':' on the line---> LOST ---";" or a line with ':'---> AT_HEADER
 *
 * Lines inside a body are port lists, or begin with mgid. After a fault the reading goes on at the
 * next item or definition, so that all faults are found at once.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/partitions/partitions_internal.h"
#include "util/mem.h"
#include "util/str.h"

#define NOT_USED "the file is not used"

enum state {
	AT_HEADER,
	IN_BODY,
	LOST,
};

struct parser {
	const struct conf *conf;
	struct conf_report *report;
	struct build *build;
	enum state state;
	struct definition def;
	bool saw_header;
};

#define report_error(p, at, ...) conf_report_at((p)->report, CONF_ERROR, (at), __VA_ARGS__)

/* --- Headers -------------------------------------------------------------------------------- */

/* Reads a P_Key; 0: none, or 0, is written, which is no fault. Bit 15 is ignored. */
static int parse_pkey(struct parser *p, const struct line *line, const char *text, uint16_t *ret)
{
	struct conf_place at = line_place(line, text);
	char quoted[CONF_QUOTE_MAX];
	uint64_t n;

	if (str_to_u64(text, 0, UINT16_MAX, &n) < 0) {
		report_error(p, &at, "%s; expected a P_Key of 0x0001-0x7fff; " NOT_USED,
			     *text ? conf_quote(text, strlen(text), quoted)
				   : "no P_Key after \"=\"");
		return -EINVAL;
	}
	words_remark_base(text, &at, p->report);
	*ret = (uint16_t)(n & PKEY_BASE);
	if (n & PKEY_FULL)
		conf_report_at(p->report, CONF_NOTE, &at,
			       "bit 15 of 0x%04x says full member, and is no part of the number "
			       "of a partition; it is 0x%04x",
			       (unsigned)n, *ret);
	return 0;
}

/* Reads the start of a header: a name, a name and a P_Key, or a P_Key. */
static int parse_identity(struct parser *p, const struct line *line, char *text, char **ret_name,
			  uint16_t *ret_pkey)
{
	struct flag id = words_flag(line, text);
	char quoted[CONF_QUOTE_MAX];

	if (!id.value && isdigit((unsigned char)*id.word)) {
		*ret_name = id.word + strlen(id.word);
		return parse_pkey(p, line, id.word, ret_pkey);
	}
	*ret_name = id.word;
	if (strlen(id.word) > PARTITION_NAME_MAX) {
		id.word[PARTITION_NAME_MAX] = '\0';
		conf_report_at(p->report, CONF_WARNING, &id.at,
			       "the name has more than %d characters; uses %s", PARTITION_NAME_MAX,
			       conf_quote(id.word, PARTITION_NAME_MAX, quoted));
	}
	return id.value ? parse_pkey(p, line, id.value, ret_pkey) : 0;
}

static void parse_flag(struct parser *p, const struct flag *flag)
{
	struct definition *def = &p->def;
	enum flag_id id = words_flag_id(flag, false, p->report);

	if (id < FLAG_N_GROUP)
		words_group_flag(id, flag, &def->flags, CONF_ERROR, NOT_USED, p->report);
	else if (id == FLAG_DEFMEMBER)
		words_member(flag->value ? flag->value : "", &flag->value_at, "the flag is ignored",
			     &def->member, p->report);
	else if (id == FLAG_IPOIB)
		def->ipoib = true;
	else if (id == FLAG_INDX0)
		def->indx0 = true;
	else if (id == FLAG_API)
		def->api = true;
	if ((id == FLAG_IPOIB || id == FLAG_INDX0 || id == FLAG_API) && flag->value)
		conf_report_at(p->report, CONF_WARNING, &flag->value_at,
			       "%s takes no value; it is ignored", words_flag_name(id));
}

/* Reads a header; `text` has no ':' any more. */
static void parse_header(struct parser *p, const struct line *line, char *text)
{
	struct conf_place at;
	char *rest = text, *name = text;
	uint16_t pkey = 0;
	int e;

	while (isspace((unsigned char)*text))
		text++;
	at = line_place(line, text);
	p->saw_header = true;
	p->def = (struct definition){
		.partition = NO_PARTITION,
		.flags.of = { [FLAG_MTU] = 4, [FLAG_RATE] = 3 },
		.member = PARTITION_LIMITED,
		.line = line->at.line,
	};
	p->state = IN_BODY;
	e = parse_identity(p, line, strsep(&rest, ","), &name, &pkey);
	for (char *word; (word = strsep(&rest, ","));) {
		struct flag flag = words_flag(line, word);

		parse_flag(p, &flag);
	}
	if (e < 0)
		return;
	p->def.partition = build_partition(p->build, name, pkey,
					   (uint8_t)p->def.flags.of[FLAG_SL], &at, p->report);
	if (p->def.api && p->def.partition != NO_PARTITION)
		build_api(p->build, p->def.partition);
	if (p->def.ipoib && p->def.partition != NO_PARTITION) {
		struct definition own = p->def;

		if (!p->conf->qos)
			own.flags.of[FLAG_SL] = 0;
		groups_broadcast(p->build, p->conf, &own, &at, p->report);
	}
}

/* --- Port lists ----------------------------------------------------------------------------- */

/* Is it a GUID as "0002:c903:00a1:b2c3", which some tools print? */
static bool is_colon_guid(const char *text)
{
	unsigned digits = 0, colons = 0;

	for (; *text; text++) {
		if (*text == ':')
			colons++;
		else if (isxdigit((unsigned char)*text))
			digits++;
		else if (!isspace((unsigned char)*text))
			return false;
	}
	return colons == 3 && digits >= 4 && digits <= 16;
}

static void refuse_ports(struct parser *p, const char *word, const struct conf_place *at)
{
	const char *near = words_near_ports(word), *help = "";
	char quoted[CONF_QUOTE_MAX], suggestion[48];

	if (is_colon_guid(word)) {
		help = " (a GUID is written without colons)";
	} else if (strlen(word) == 16 && strspn(word, "0123456789abcdefABCDEF") == 16) {
		snprintf(suggestion, sizeof(suggestion), " (did you mean 0x%s?)", word);
		help = suggestion;
	} else if (near) {
		snprintf(suggestion, sizeof(suggestion), " (did you mean %s?)", near);
		help = suggestion;
	} else if (str_starts(word, "mgid")) {
		help = " (mgid= must be the first thing on its line)";
	} else if (strpbrk(word, " \t")) {
		help = " (is a comma missing?)";
	}
	report_error(p, at,
		     "%s is no port; expected a port GUID, ALL, ALL_CAS, ALL_SWITCHES, "
		     "ALL_ROUTERS, SELF or NONE%s; " NOT_USED,
		     *word ? conf_quote(word, strlen(word), quoted) : "nothing before \"=\"", help);
}

/* Reads the ports of an item. False: a fault. */
static bool parse_ports(struct parser *p, const struct flag *port, struct partition_item *ret,
		      bool *ret_none)
{
	enum partition_ports ports = PARTITION_GUID;
	uint64_t guid;

	if (words_ports(port->word, &port->at, &ports, ret_none, p->report) == 0) {
		ret->ports = ports;
		return true;
	}
	if (str_to_u64(port->word, 0, UINT64_MAX, &guid) < 0 || !guid) {
		refuse_ports(p, port->word, &port->at);
		return false;
	}
	words_remark_base(port->word, &port->at, p->report);
	ret->guid = guid;
	return true;
}

static void parse_port(struct parser *p, const struct line *line, char *text)
{
	struct flag port = words_flag(line, text);
	struct partition_item item = { .ports = PARTITION_GUID, .indx0 = p->def.indx0 };
	enum partition_member member = p->def.member;
	bool none = false;

	if (!*port.word && !port.value)
		return;
	if (!parse_ports(p, &port, &item, &none))
		return;
	if (port.value &&
	    words_member(port.value, &port.value_at, "the port is limited", &member, p->report) < 0)
		member = PARTITION_LIMITED;
	item.member = (uint8_t)member;
	if (!none && p->def.partition != NO_PARTITION)
		build_item(p->build, p->def.partition, &item);
}

/* Does the text begin with "mgid ="? */
static bool is_mgid(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	if (!str_starts(text, "mgid"))
		return false;
	for (text += 4; isspace((unsigned char)*text);)
		text++;
	return *text == '=';
}

/* Is there a header instead of ports? Some item then has a ':' and is no GUID with colons. */
static bool looks_like_header(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *rest = copy;

	for (char *item; (item = strsep(&rest, ","));) {
		char *colon = strchr(item, ':');

		if (!colon)
			continue;
		item[strcspn(item, "=")] = '\0';
		if (!is_colon_guid(str_trim(item)))
			return true;
	}
	return false;
}

/* Reads the ports of one line up to ';' or its end. False: the line is a header. */
static bool parse_body(struct parser *p, const struct line *line, char *text)
{
	struct conf_place at;
	char *rest = text;

	if (is_mgid(text)) {
		groups_line(p->build, p->conf, &p->def, line, text, p->report);
		return true;
	}
	if (looks_like_header(text)) {
		while (isspace((unsigned char)*text))
			text++;
		at = line_place(line, text);
		report_error(
			p, &at,
			"a ':' where ports were expected (is there no ';' behind the definition "
			"of line %u?); " NOT_USED,
			p->def.line);
		p->state = AT_HEADER;
		return false;
	}
	for (char *item; (item = strsep(&rest, ","));)
		parse_port(p, line, item);
	return true;
}

/* --- Lines ---------------------------------------------------------------------------------- */

/* Reads a line of a body. Returns the text after its ';', a header to be read, or NULL. */
static char *read_body(struct parser *p, const struct line *line, char *text)
{
	char *end = strchr(text, ';');

	if (end)
		*end = '\0';
	if (!parse_body(p, line, text)) {
		if (end)
			*end = ';';
		return text;
	}
	if (end)
		p->state = AT_HEADER;
	return end ? end + 1 : NULL;
}

/* Reports a line that is no header. Returns the text after its ';', or NULL. */
static char *refuse_header(struct parser *p, const struct line *line, char *text, char *semicolon)
{
	struct conf_place at = line_place(line, text);
	char quoted[CONF_QUOTE_MAX];

	if (semicolon)
		*semicolon = '\0';
	report_error(p, &at,
		     "%s is no definition; expected NAME=PKEY, FLAGS : PORTS ;%s; " NOT_USED,
		     conf_quote(text, strlen(text), quoted),
		     is_mgid(text) ? " (mgid= belongs behind the ':')"
		     : semicolon   ? ""
				   : " with the ':' on this line");
	p->saw_header = true;
	p->state = semicolon ? AT_HEADER : LOST;
	return semicolon ? semicolon + 1 : NULL;
}

static char *read_header(struct parser *p, const struct line *line, char *text)
{
	char *colon, *semicolon;

	while (isspace((unsigned char)*text))
		text++;
	if (!*text)
		return NULL;
	if (*text == ';') {
		struct conf_place at = line_place(line, text);

		conf_report_at(p->report, CONF_WARNING, &at,
			       "a ';' that ends nothing; it is ignored");
		return text + 1;
	}
	colon = strchr(text, ':');
	semicolon = strchr(text, ';');
	if (!colon || (semicolon && semicolon < colon) || is_mgid(text))
		return refuse_header(p, line, text, semicolon);
	*colon = '\0';
	parse_header(p, line, text);
	return colon + 1;
}

/* Skips text after a faulty header, to its ';' or to a line that looks like a header. */
static char *skip_lost(struct parser *p, char *text)
{
	char *semicolon = strchr(text, ';'), *colon = strchr(text, ':');

	if (colon && (!semicolon || colon < semicolon) && !is_mgid(text)) {
		p->state = AT_HEADER;
		return text;
	}
	if (semicolon)
		p->state = AT_HEADER;
	return semicolon ? semicolon + 1 : NULL;
}

static void on_line(void *arg, struct line *line)
{
	struct parser *p = arg;
	char *text = line->text;

	text[strcspn(text, "#")] = '\0';
	while (text) {
		switch (p->state) {
		case AT_HEADER:
			text = read_header(p, line, text);
			break;
		case IN_BODY:
			text = read_body(p, line, text);
			break;
		case LOST:
			text = skip_lost(p, text);
			break;
		}
	}
}

/* --- Files ---------------------------------------------------------------------------------- */

/*
 * Before the file is read: all ports are limited members of the default partition, the SM port
 * full.
 */
static void add_default(struct build *b)
{
	static const struct partition_item every_port = { .ports = PARTITION_ALL,
							 .member = PARTITION_LIMITED };
	static const struct partition_item sm = { .ports = PARTITION_SELF,
						  .member = PARTITION_FULL };
	const struct conf_place nowhere = { 0 };
	struct conf_report none = { 0 };
	size_t i = build_partition(b, "Default", PKEY_DEFAULT, 0, &nowhere, &none);

	build_item(b, i, &every_port);
	build_item(b, i, &sm);
	conf_report_clear(&none);
}

static int parse_once(struct parser *p, const char *text, size_t len, const char *file)
{
	unsigned errors = p->report->errors;
	int e;

	add_default(p->build);
	e = lines_split(file, text, len, p->report, on_line, p);
	if (e < 0)
		return e;
	if (p->state == IN_BODY)
		conf_report_add(p->report, CONF_NOTE, file, p->def.line, 0,
				"no ';' behind this definition, which is the last one");
	if (!p->saw_header)
		conf_report_add(p->report, CONF_WARNING, file, 1, 1,
				"empty: no partition is defined; expected NAME=PKEY, FLAGS : PORTS "
				"; as without a file "
				"every port is a %s member of the default partition 0x7fff",
				p->conf->default_membership);
	return p->report->errors > errors ? -EINVAL : 0;
}

/* Removes the findings added since the report was a copy of `then`. */
static void rewind_report(struct conf_report *r, const struct conf_report *then)
{
	while (r->n > then->n) {
		free(r->findings[--r->n].file);
		free(r->findings[r->n].text);
	}
	r->dropped = then->dropped;
	r->errors = then->errors;
	r->warnings = then->warnings;
}

/*
 * A partition without a P_Key gets one that no line asks for, nor a later one. If there is such a
 * partition, the text is read twice, first for the P_Keys that it asks for.
 */
static int parse_keyed(struct parser *p, const char *text, size_t len, const char *file)
{
	struct parser again = { .conf = p->conf, .report = p->report };
	const struct conf_report then = *p->report;
	int e;

	p->build = build_new(p->conf, NULL);
	e = parse_once(p, text, len, file);
	if (!build_n_generated(p->build))
		return e;
	again.build = build_new(p->conf, p->build);
	build_free(p->build);
	rewind_report(p->report, &then);
	*p = again;
	return parse_once(p, text, len, file);
}

int partitions_parse(const char *text, size_t len, const char *file, const struct conf *conf,
		     struct conf_report *r, struct partitions **ret)
{
	_cleanup_(build_freep) struct build *b = NULL;
	struct parser p = { .conf = conf, .report = r };
	struct partitions *parsed;
	int e = parse_keyed(&p, text, len, file);

	assert(conf && r && ret && (text || !len));
	b = p.build;
	if (e < 0)
		return e;
	if (!p.saw_header) {
		*ret = partitions_builtin(conf);
		return 0;
	}
	parsed = build_finish(b, file, r);
	parsed->origin = PARTITIONS_FILE;
	parsed->file = xstrdup(file);
	parsed->text = xmalloc(len + 1);
	memcpy(parsed->text, text, len);
	parsed->text[len] = '\0';
	parsed->len = len;
	*ret = parsed;
	return 0;
}

int partitions_read(const char *path, const struct conf *conf, struct conf_report *r,
		    struct partitions **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int e = lines_load(path, r, &text, &len);

	return e < 0 ? e : partitions_parse(text, len, path, conf, r, ret);
}
