// SPDX-License-Identifier: BSD-2-Clause
/* The section qos-setup (qos.md 3.2): VL tables of groups, read and checked as OpenSM does. */
#include <string.h>

#include "conf/qos/qos_internal.h"

#define SLS	     16
#define PORT_NUM_MAX 127

static bool read_groups(struct parser *p, const struct slice *value, void *block)
{
	return lex_names(&p->lex, value, block);
}

#define READ_NAMES(name, type, member)                                                             \
	static bool name(struct parser *p, const struct slice *value, void *block)                 \
	{                                                                                          \
		return read_groups(p, value, &((struct type *)block)->member);                     \
	}
READ_NAMES(read_vlarb_group, qos_vlarb_scope, groups)
READ_NAMES(read_vlarb_across, qos_vlarb_scope, across)
READ_NAMES(read_sl2vl_group, qos_sl2vl_scope, groups)
READ_NAMES(read_across_from, qos_sl2vl_scope, across_from)
READ_NAMES(read_across_to, qos_sl2vl_scope, across_to)

static bool read_across(struct parser *p, const struct slice *value, void *block)
{
	return read_across_from(p, value, block) && read_across_to(p, value, block);
}

/* ---- vlarb-scope ---------------------------------------------------------------------------- */

/* Reads "VL:WEIGHT". */
static bool read_share(struct parser *p, const struct slice *s, struct qos_vl_share *ret)
{
	const char *colon = memchr(s->from, ':', (size_t)(s->to - s->from));
	struct slice vl = { s->from, colon ? colon : s->to, s->at }, weight;
	char quoted[CONF_QUOTE_MAX];
	uint64_t a, b;

	if (!colon) {
		conf_report_at(p->report, CONF_ERROR, &s->at, "found %s, expected VL:WEIGHT",
			       slice_quote(s, quoted));
		return false;
	}
	weight = (struct slice){ colon + 1, s->to, s->at };
	weight.at.column += (unsigned)(colon + 1 - s->from);
	if (!lex_number(&p->lex, &vl, 0, 255, &a) || !lex_number(&p->lex, &weight, 0, 255, &b))
		return false;
	*ret = (struct qos_vl_share){ (uint8_t)a, (uint8_t)b };
	return true;
}

static bool read_shares(struct parser *p, const struct slice *value, struct qos_vl_shares *ret)
{
	struct slice rest = *value, item;

	while (slice_next(&rest, &item)) {
		struct qos_vl_share share;

		if (!read_share(p, &item, &share))
			return false;
		GROW(ret->items, ret->n + 1, ret->cap);
		ret->items[ret->n++] = share;
	}
	return true;
}

static bool read_high(struct parser *p, const struct slice *value, void *block)
{
	return read_shares(p, value, &((struct qos_vlarb_scope *)block)->high);
}

static bool read_low(struct parser *p, const struct slice *value, void *block)
{
	return read_shares(p, value, &((struct qos_vlarb_scope *)block)->low);
}

static bool read_limit(struct parser *p, const struct slice *value, void *block)
{
	struct qos_vlarb_scope *s = block;
	uint64_t limit;

	if (!lex_number(&p->lex, value, 0, 255, &limit))
		return false;
	s->high_limit = (uint8_t)limit;
	s->has_high_limit = true;
	return true;
}

static const struct block vlarb_scope = {
	"vlarb-scope",
	(const struct entry[]){
		{ "group", false, false, read_vlarb_group },
		{ "across", false, false, read_vlarb_across },
		{ "vlarb-high", false, false, read_high },
		{ "vlarb-low", false, false, read_low },
		{ "vl-high-limit", true, false, read_limit },
	},
	5,
};

static void parse_vlarb(struct parser *p, const struct conf_place *at)
{
	struct qos_policy *q = p->policy;
	struct qos_vlarb_scope *s;

	GROW(q->vlarbs, q->n_vlarbs + 1, p->vlarbs_cap);
	s = &q->vlarbs[q->n_vlarbs++];
	*s = (struct qos_vlarb_scope){ .line = at->line };
	parse_block(p, &vlarb_scope, at, s);
	if (!s->groups.n && !s->across.n)
		conf_report_at(p->report, CONF_ERROR, at,
			       "found no ports of this vlarb-scope, expected group: or across:");
}

/* ---- sl2vl-scope ---------------------------------------------------------------------------- */

static bool is_star(const struct slice *s)
{
	return s->to - s->from == 1 && *s->from == '*';
}

static bool read_from(struct parser *p, const struct slice *value, void *block)
{
	struct qos_sl2vl_scope *s = block;

	return is_star(value) || lex_ranges(&p->lex, value, PORT_NUM_MAX, &s->from);
}

static bool read_to(struct parser *p, const struct slice *value, void *block)
{
	struct qos_sl2vl_scope *s = block;

	return is_star(value) || lex_ranges(&p->lex, value, PORT_NUM_MAX, &s->to);
}

static bool read_table(struct parser *p, const struct slice *value, void *block)
{
	struct qos_sl2vl_scope *s = block;
	struct slice rest = *value, item;
	unsigned n = 0;

	for (; slice_next(&rest, &item); n++) {
		uint64_t vl;

		if (!lex_number(&p->lex, &item, 0, 15, &vl))
			return false;
		if (n < SLS)
			s->vl[n] = (uint8_t)vl;
	}
	if (n == SLS)
		return true;
	conf_report_at(p->report, CONF_ERROR, &value->at,
		       "found %u numbers in sl2vl-table, expected %u: the VL of each SL", n, SLS);
	return false;
}

static const struct block sl2vl_scope = {
	"sl2vl-scope",
	(const struct entry[]){
		{ "group", false, false, read_sl2vl_group },
		{ "across", false, false, read_across },
		{ "across-from", false, false, read_across_from },
		{ "across-to", false, false, read_across_to },
		{ "from", false, false, read_from },
		{ "to", false, false, read_to },
		{ "sl2vl-table", true, true, read_table },
	},
	7,
};

static void parse_sl2vl(struct parser *p, const struct conf_place *at)
{
	struct qos_policy *q = p->policy;
	struct qos_sl2vl_scope *s;

	GROW(q->sl2vls, q->n_sl2vls + 1, p->sl2vls_cap);
	s = &q->sl2vls[q->n_sl2vls++];
	*s = (struct qos_sl2vl_scope){ .line = at->line };
	parse_block(p, &sl2vl_scope, at, s);
	if (!s->groups.n && !s->across_from.n && !s->across_to.n)
		conf_report_at(p->report, CONF_ERROR, at,
			       "found no ports of this sl2vl-scope, expected group:, across-from: "
			       "or across-to:");
}

/* ---- the section ---------------------------------------------------------------------------- */

static void parse_tables(struct parser *p, const char *section, const char *scope,
			 void (*parse)(struct parser *p, const struct conf_place *at),
			 const char *expected)
{
	for (;;) {
		struct word w = lex_word(&p->lex);

		if (parse_is_end(w.text, section))
			return;
		if (!strcmp(w.text, scope)) {
			parse(p, &w.at);
			continue;
		}
		parse_unexpected(p, &w, expected);
		if (lex_at_end(&p->lex) || parse_is_end(w.text, "qos-setup"))
			return;
	}
}

void parse_setup(struct parser *p, const struct conf_place *at)
{
	p->setup_at = *at;
	for (;;) {
		struct word w = lex_word(&p->lex);

		if (parse_is_end(w.text, "qos-setup"))
			return;
		if (!strcmp(w.text, "vlarb-tables"))
			parse_tables(p, w.text, "vlarb-scope", parse_vlarb,
				     "vlarb-scope or end-vlarb-tables");
		else if (!strcmp(w.text, "sl2vl-tables"))
			parse_tables(p, w.text, "sl2vl-scope", parse_sl2vl,
				     "sl2vl-scope or end-sl2vl-tables");
		else
			parse_unexpected(p, &w, "vlarb-tables, sl2vl-tables or end-qos-setup");
		if (lex_at_end(&p->lex))
			break;
	}
	conf_report_at(p->report, CONF_ERROR, at,
		       "found no end of this qos-setup, expected end-qos-setup");
}
