// SPDX-License-Identifier: BSD-2-Clause
/* qos-policy.conf: port groups, levels, rules, and the whole file (qos.md 3). */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "conf/qos/qos_internal.h"
#include "conf/text/lines.h"
#include "ib/codes.h"
#include "util/str.h"

/* Reads free text. */
static bool read_text(const struct parser *p, const struct slice *value, char **ret)
{
	assert(p);
	*ret = slice_text(value);
	return true;
}

/* ---- port groups ---------------------------------------------------------------------------- */

static bool read_group_name(struct parser *p, const struct slice *value, void *block)
{
	return lex_name(&p->lex, value, &((struct qos_group *)block)->name);
}

static bool read_group_use(struct parser *p, const struct slice *value, void *block)
{
	return read_text(p, value, &((struct qos_group *)block)->use);
}

static bool read_port_guid(struct parser *p, const struct slice *value, void *block)
{
	return lex_ranges(&p->lex, value, UINT64_MAX, &((struct qos_group *)block)->guids);
}

static bool read_group_pkey(struct parser *p, const struct slice *value, void *block)
{
	return lex_pkeys(&p->lex, value, &((struct qos_group *)block)->pkeys);
}

static bool read_partition(struct parser *p, const struct slice *value, void *block)
{
	return lex_names(&p->lex, value, &((struct qos_group *)block)->partitions);
}

/* Does the description contain a range as "[3-17]"? */
static bool has_range(const char *desc)
{
	for (const char *s = strchr(desc, '['); s; s = strchr(s + 1, '[')) {
		size_t a = strspn(s + 1, "0123456789"), b;

		if (!a || a > 9 || s[1 + a] != '-')
			continue;
		b = strspn(s + 2 + a, "0123456789");
		if (b && b <= 9 && s[2 + a + b] == ']')
			return true;
	}
	return false;
}

/* Adds the port "NODEDESC/Pn"; takes over `text`. False: an error was added. */
static bool add_port_name(struct parser *p, struct qos_group *g, char *text,
			  const struct conf_place *at)
{
	char *slash = strrchr(text, '/'), quoted[CONF_QUOTE_MAX];
	uint64_t num = 0;

	if (!slash || slash == text || toupper((unsigned char)slash[1]) != 'P' ||
	    str_to_u64(slash + 2, 10, 254, &num) < 0 || !num) {
		conf_report_at(p->report, CONF_ERROR, at,
			       "%s is no name of a port, expected NODE/Pn: the description of a "
			       "node, and a port number from 1 on",
			       conf_quote(text, strlen(text), quoted));
		free(text);
		return false;
	}
	*slash = '\0';
	GROW(g->names, g->n_names + 1, g->names_cap);
	g->names[g->n_names++] = (struct qos_port_name){
		.desc = text, .port = (uint8_t)num, .has_range = has_range(text), .line = at->line,
	};
	return true;
}

static bool read_port_name(struct parser *p, const struct slice *value, void *block)
{
	struct qos_strings names = { 0 };
	bool good = lex_names(&p->lex, value, &names);

	for (size_t i = 0; i < names.n; i++)
		if (!add_port_name(p, block, names.items[i], &value->at))
			good = false;
	free(names.items);
	return good;
}

static const struct {
	const char *word;
	uint8_t types;
	bool self;
} types[] = {
	{ "ca", QOS_TYPE_CA, false },
	{ "switch", QOS_TYPE_SWITCH, false },
	{ "router", QOS_TYPE_ROUTER, false },
	{ "all", QOS_TYPE_CA | QOS_TYPE_SWITCH | QOS_TYPE_ROUTER, false },
	{ "self", 0, true },
};

static bool add_type(struct parser *p, struct qos_group *g, const struct slice *s)
{
	_cleanup_free_ char *word = slice_text(s);
	char quoted[CONF_QUOTE_MAX];

	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcasecmp(word, types[i].word) != 0)
			continue;
		g->types |= types[i].types;
		g->self |= types[i].self;
		return true;
	}
	conf_report_at(p->report, CONF_ERROR, &s->at,
		       "found %s, expected ca, switch, router, all or self",
		       slice_quote(s, quoted));
	return false;
}

static bool read_node_type(struct parser *p, const struct slice *value, void *block)
{
	struct slice rest = *value, item;

	while (slice_next(&rest, &item))
		if (!add_type(p, block, &item))
			return false;
	return true;
}

static const struct block group_block = {
	"port-group",
	(const struct entry[]){
		{ "name", true, true, read_group_name },
		{ "use", true, false, read_group_use },
		{ "port-guid", false, false, read_port_guid },
		{ "port-name", false, false, read_port_name },
		{ "pkey", false, false, read_group_pkey },
		{ "partition", false, false, read_partition },
		{ "node-type", false, false, read_node_type },
	},
	7,
};

static void parse_group(struct parser *p, const struct conf_place *at)
{
	parse_block(p, &group_block, at, parse_add_group(p, at));
}

/* ---- levels --------------------------------------------------------------------------------- */

static bool read_level_name(struct parser *p, const struct slice *value, void *block)
{
	return lex_name(&p->lex, value, &((struct qos_level *)block)->name);
}

static bool read_level_use(struct parser *p, const struct slice *value, void *block)
{
	return read_text(p, value, &((struct qos_level *)block)->use);
}

static bool read_code(struct parser *p, const struct slice *value, uint64_t least, uint64_t most,
		      uint8_t *ret)
{
	uint64_t code;

	if (!lex_number(&p->lex, value, least, most, &code))
		return false;
	*ret = (uint8_t)code;
	return true;
}

static bool read_sl(struct parser *p, const struct slice *value, void *block)
{
	return read_code(p, value, 0, 15, &((struct qos_level *)block)->sl);
}

static bool read_mtu(struct parser *p, const struct slice *value, void *block)
{
	return read_code(p, value, IB_MTU_256, IB_MTU_4096, &((struct qos_level *)block)->mtu);
}

static bool read_rate(struct parser *p, const struct slice *value, void *block)
{
	return read_code(p, value, IB_RATE_MIN, IB_RATE_MAX, &((struct qos_level *)block)->rate);
}

static bool read_life(struct parser *p, const struct slice *value, void *block)
{
	struct qos_level *l = block;

	l->has_life = read_code(p, value, 0, 63, &l->life);
	return l->has_life;
}

static bool read_path_bits(struct parser *p, const struct slice *value, void *block)
{
	return lex_ranges(&p->lex, value, UINT64_MAX, &((struct qos_level *)block)->path_bits);
}

static bool read_level_pkey(struct parser *p, const struct slice *value, void *block)
{
	return lex_pkeys(&p->lex, value, &((struct qos_level *)block)->pkeys);
}

static const struct block level_block = {
	"qos-level",
	(const struct entry[]){
		{ "name", true, true, read_level_name },
		{ "use", true, false, read_level_use },
		{ "sl", true, true, read_sl },
		{ "mtu-limit", true, false, read_mtu },
		{ "rate-limit", true, false, read_rate },
		{ "packet-life", true, false, read_life },
		{ "path-bits", false, false, read_path_bits },
		{ "pkey", false, false, read_level_pkey },
	},
	8,
};

static void parse_level(struct parser *p, const struct conf_place *at)
{
	parse_block(p, &level_block, at, parse_add_level(p, at));
}

/* ---- rules ---------------------------------------------------------------------------------- */

static bool read_rule_use(struct parser *p, const struct slice *value, void *block)
{
	return read_text(p, value, &((struct raw_rule *)block)->rule.use);
}

static bool read_class(struct parser *p, const struct slice *value, void *block)
{
	return lex_ranges(&p->lex, value, UINT16_MAX, &((struct raw_rule *)block)->rule.classes);
}

static bool read_rule_level(struct parser *p, const struct slice *value, void *block)
{
	struct raw_rule *r = block;

	r->level_at = value->at;
	return lex_name(&p->lex, value, &r->level);
}

static bool read_source(struct parser *p, const struct slice *value, void *block)
{
	struct raw_rule *r = block;

	r->sources_at = value->at;
	return lex_names(&p->lex, value, &r->sources);
}

static bool read_destination(struct parser *p, const struct slice *value, void *block)
{
	struct raw_rule *r = block;

	r->destinations_at = value->at;
	return lex_names(&p->lex, value, &r->destinations);
}

static bool read_service(struct parser *p, const struct slice *value, void *block)
{
	return lex_ranges(&p->lex, value, UINT64_MAX, &((struct raw_rule *)block)->rule.services);
}

static bool read_rule_pkey(struct parser *p, const struct slice *value, void *block)
{
	return lex_pkeys(&p->lex, value, &((struct raw_rule *)block)->rule.pkeys);
}

static const struct block rule_block = {
	"qos-match-rule",
	(const struct entry[]){
		{ "use", true, false, read_rule_use },
		{ "qos-class", false, false, read_class },
		{ "qos-level-name", true, true, read_rule_level },
		{ "source", false, false, read_source },
		{ "destination", false, false, read_destination },
		{ "service-id", false, false, read_service },
		{ "pkey", false, false, read_rule_pkey },
	},
	7,
};

static void parse_rule(struct parser *p, const struct conf_place *at)
{
	parse_block(p, &rule_block, at, parse_add_rule(p, false, at));
}

/* ---- sections ------------------------------------------------------------------------------- */

static const struct section {
	const char *name, *block, *expected;
	void (*parse)(struct parser *p, const struct conf_place *at);
} sections[] = {
	{ "port-groups", "port-group", "port-group or end-port-groups", parse_group },
	{ "qos-levels", "qos-level", "qos-level or end-qos-levels", parse_level },
	{ "qos-match-rules", "qos-match-rule", "qos-match-rule or end-qos-match-rules",
	  parse_rule },
};

static const struct section *find_section(const char *word)
{
	for (unsigned i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strcmp(word, sections[i].name))
			return &sections[i];
	return NULL;
}

/* Reads a section: one or more blocks of one kind. */
static void parse_section(struct parser *p, const struct section *s, const struct conf_place *at)
{
	bool any = false;

	while (!lex_at_end(&p->lex)) {
		struct word w = lex_word(&p->lex);

		if (parse_is_end(w.text, s->name)) {
			if (!any)
				conf_report_at(p->report, CONF_ERROR, at,
					       "found an empty section %s, expected a %s in it",
					       s->name, s->block);
			return;
		}
		any = true;
		if (!strcmp(w.text, s->block))
			s->parse(p, &w.at);
		else
			parse_unexpected(p, &w, s->expected);
	}
	conf_report_at(p->report, CONF_ERROR, at, "found no end of this section, expected end-%s",
		       s->name);
}

static void parse_file(struct parser *p)
{
	while (!lex_at_end(&p->lex)) {
		struct word w = lex_word(&p->lex);
		const struct section *s = find_section(w.text);

		if (s)
			parse_section(p, s, &w.at);
		else if (!strcmp(w.text, "qos-ulps"))
			parse_ulps(p, &w.at);
		else if (!strcmp(w.text, "qos-setup"))
			parse_setup(p, &w.at);
		else
			parse_unexpected(p, &w,
					 "port-groups, qos-ulps, qos-levels, qos-match-rules or "
					 "qos-setup");
	}
}

/* ---- the whole ------------------------------------------------------------------------------ */

struct text {
	char *text;
	size_t len, cap;
};

/* Copies a line, which has no byte order mark and no CR of DOS any more. */
static void add_line(void *arg, struct line *line)
{
	struct text *t = arg;

	GROW(t->text, t->len + line->len + 1, t->cap);
	memcpy(t->text + t->len, line->text, line->len);
	t->text[t->len + line->len] = '\n';
	t->len += line->len + 1;
}

static void free_rules(struct raw_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(rules[i].level);
		for (size_t k = 0; k < rules[i].sources.n; k++)
			free(rules[i].sources.items[k]);
		for (size_t k = 0; k < rules[i].destinations.n; k++)
			free(rules[i].destinations.items[k]);
		free(rules[i].sources.items);
		free(rules[i].destinations.items);
	}
	free(rules);
}

static void parse_text(struct parser *p, const struct text *t)
{
	p->lex = (struct lex){
		.at = t->text,
		.end = t->text + t->len,
		.line_start = t->text,
		.line = 1,
		.file = p->policy->file,
		.report = p->report,
	};
	parse_file(p);
	resolve_names(p);
	if (p->report->errors == p->n_errors && !index_make(p->policy))
		conf_report_add(p->report, CONF_ERROR, p->policy->file, 0, 0,
				"%u rules with so many different ranges and ports need too much "
				"memory; expected fewer rules, or fewer ranges",
				p->policy->n_rules);
	free_rules(p->rules, p->n_rules);
	free_rules(p->ulps, p->n_ulps);
	free(p->group_at);
	free(p->level_at);
}

int qos_policy_parse(const char *text, size_t len, const char *file, struct conf_report *r,
		     struct qos_policy **ret)
{
	_cleanup_(qos_policy_unrefp) struct qos_policy *policy = xcalloc(1, sizeof(*policy));
	struct parser p = { .policy = policy, .report = r, .n_errors = r->errors };
	struct text t = { .text = xmalloc(1), .cap = 1 };
	int e = lines_split(file, text, len, r, add_line, &t);

	atomic_init(&policy->refs, 1);
	policy->file = xstrdup(file);
	if (e == 0)
		parse_text(&p, &t);
	free(t.text);
	if (e < 0 || r->errors > p.n_errors)
		return -EINVAL;
	*ret = take(policy);
	return 0;
}
