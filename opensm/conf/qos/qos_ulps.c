// SPDX-License-Identifier: BSD-2-Clause
/*
 * The section qos-ulps (qos.md 3.6): each line is a rule with a level of its own, after all other
 * rules.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/qos/qos_internal.h"
#include "util/str.h"

/* First service ids of protocols that are on top of TCP port numbers. */
#define SDP_PORTS   UINT64_C(0x10000)
#define RDMA_PORTS  UINT64_C(0x1060000)
#define RDS_PORT    0x48CA
#define ISER_PORT   0x0CBC
#define PORT_MAX    UINT64_C(0xFFFF)
#define DEFAULT_KEY 0x7FFF

/* The criterion of a line. */
enum by { BY_NOTHING, BY_SERVICE, BY_PKEY, BY_PORT_NUM, BY_SOURCE, BY_TARGET, BY_BOTH };

static const char *const by_words[] = {
	[BY_SERVICE] = "service-id",	 [BY_PKEY] = "pkey",
	[BY_PORT_NUM] = "port-num",	 [BY_SOURCE] = "source-port-guid",
	[BY_TARGET] = "target-port-guid", [BY_BOTH] = "source-target-port-guid",
};

#define MAY(by) (1u << (by))

static const struct ulp {
	const char *name;
	unsigned may; /* allowed criteria, a bit each; BY_NOTHING: the name alone is fine */
	uint64_t first, last;	/* range of service ids if there is no criterion */
	uint64_t ports;		/* service id of port number 0 */
	const char *expected;	/* text for a finding: expected after the name */
} ulps[] = {
	{ "any", MAY(BY_SERVICE) | MAY(BY_PKEY) | MAY(BY_SOURCE) | MAY(BY_TARGET) | MAY(BY_BOTH), 0,
	  0, 0,
	  "\", service-id\", \", pkey\", \", target-port-guid\", \", source-port-guid\" or "
	  "\", source-target-port-guid\"" },
	{ "sdp", MAY(BY_NOTHING) | MAY(BY_PORT_NUM), SDP_PORTS, SDP_PORTS + PORT_MAX, SDP_PORTS,
	  "':' or \", port-num\"" },
	{ "rds", MAY(BY_NOTHING) | MAY(BY_PORT_NUM), RDMA_PORTS + RDS_PORT, RDMA_PORTS + RDS_PORT,
	  RDMA_PORTS, "':' or \", port-num\"" },
	{ "iser", MAY(BY_NOTHING) | MAY(BY_PORT_NUM), RDMA_PORTS + ISER_PORT,
	  RDMA_PORTS + ISER_PORT, RDMA_PORTS, "':' or \", port-num\"" },
	{ "srp", MAY(BY_TARGET), 0, 0, 0, "\", target-port-guid\"" },
	{ "ipoib", MAY(BY_NOTHING) | MAY(BY_PKEY), 0, 0, 0, "':' or \", pkey\"" },
};

static const struct ulp *find_ulp(const char *word)
{
	for (unsigned i = 0; i < ARRAY_SIZE(ulps); i++)
		if (!strcasecmp(word, ulps[i].name))
			return &ulps[i];
	return NULL;
}

static enum by find_by(const char *word)
{
	for (unsigned i = BY_SERVICE; i < ARRAY_SIZE(by_words); i++)
		if (!strcmp(word, by_words[i]))
			return (enum by)i;
	return BY_NOTHING;
}

/* Reads ": SL" up to the end of the line. */
static bool read_sl(struct parser *p, uint8_t *ret)
{
	char quoted[CONF_QUOTE_MAX];
	struct slice value;
	uint64_t sl;

	if (!lex_take(&p->lex, ':')) {
		struct conf_place at = lex_place(&p->lex, p->lex.at);

		conf_report_at(p->report, CONF_ERROR, &at, "found %s, expected ':' and an SL",
			       lex_quote(&p->lex, p->lex.at, quoted));
		lex_skip_line(&p->lex);
		return false;
	}
	value = lex_rest(&p->lex, 0);
	if (!lex_number(&p->lex, &value, 0, 15, &sl))
		return false;
	*ret = (uint8_t)sl;
	return true;
}

static void read_default(struct parser *p, const struct word *w)
{
	if (p->has_ulp_default)
		conf_report_at(p->report, CONF_WARNING, &w->at,
			       "a second default; that of line %u does not count",
			       p->ulp_default_at.line);
	if (!read_sl(p, &p->ulp_default))
		return;
	p->has_ulp_default = true;
	p->ulp_default_at = w->at;
}

/* ---- a rule --------------------------------------------------------------------------------- */

/* Reads port numbers, and makes service ids of them. */
static bool read_port_nums(struct parser *p, const struct slice *s, uint64_t base,
			   struct qos_ranges *ret)
{
	if (!lex_ranges(&p->lex, s, PORT_MAX, ret))
		return false;
	for (size_t i = 0; i < ret->n; i++) {
		ret->items[i].first += base;
		ret->items[i].last += base;
	}
	return true;
}

static void add_group(struct qos_list *list, uint32_t group)
{
	GROW(list->items, list->n + 1, list->cap);
	list->items[list->n++] = group;
}

/* Reads GUIDs into a group without a name. */
static bool read_guids(struct parser *p, const struct slice *s, enum by by, struct qos_rule *rule)
{
	struct qos_group *g = parse_add_group(p, &s->at);
	uint32_t at = p->policy->n_groups - 1;

	if (by != BY_TARGET)
		add_group(&rule->sources, at);
	if (by != BY_SOURCE)
		add_group(&rule->destinations, at);
	return lex_ranges(&p->lex, s, UINT64_MAX, &g->guids);
}

static bool read_list(struct parser *p, const struct ulp *u, enum by by, struct qos_rule *rule)
{
	struct slice s = lex_rest(&p->lex, ':');

	switch (by) {
	case BY_SERVICE:
		return lex_ranges(&p->lex, &s, UINT64_MAX, &rule->services);
	case BY_PKEY:
		return lex_pkeys(&p->lex, &s, &rule->pkeys);
	case BY_PORT_NUM:
		return read_port_nums(p, &s, u->ports, &rule->services);
	case BY_SOURCE:
	case BY_TARGET:
	case BY_BOTH:
		return read_guids(p, &s, by, rule);
	case BY_NOTHING:
		break;
	}
	return false;
}

static void by_name_alone(const struct ulp *u, struct qos_rule *rule)
{
	if (u->last)
		qos_ranges_add(&rule->services, u->first, u->last);
	else
		qos_ranges_add(&rule->pkeys, DEFAULT_KEY, DEFAULT_KEY);
}

/* Reads a rule from its name on. False: an error was added, and the line was skipped. */
static bool read_rule(struct parser *p, const struct ulp *u, struct qos_rule *rule)
{
	bool has_comma = lex_take(&p->lex, ',');
	struct word here = { .from = p->lex.at, .at = lex_place(&p->lex, p->lex.at) };
	enum by by = BY_NOTHING;

	if (has_comma) {
		here = lex_word_here(&p->lex);
		by = find_by(here.text);
	}
	if (!(u->may & MAY(by)) || (has_comma && by == BY_NOTHING)) {
		parse_unexpected(p, &here, u->expected);
		return false;
	}
	if (by == BY_NOTHING) {
		by_name_alone(u, rule);
		rule->use = xstrdup(u->name);
		return true;
	}
	rule->use = xasprintf("%s, %s", u->name, by_words[by]);
	if (read_list(p, u, by, rule))
		return true;
	lex_skip_line(&p->lex);
	return false;
}

static void read_line(struct parser *p, const struct ulp *u, const struct word *w)
{
	struct raw_rule *raw = parse_add_rule(p, true, &w->at);
	uint8_t sl;

	if (!read_rule(p, u, &raw->rule) || !read_sl(p, &sl))
		return;
	parse_add_level(p, &w->at)->sl = sl;
	raw->rule.level = p->policy->n_levels - 1;
}

/* ---- the section ---------------------------------------------------------------------------- */

void parse_ulps(struct parser *p, const struct conf_place *at)
{
	bool any = false;

	while (!lex_at_end(&p->lex)) {
		struct word w = lex_word(&p->lex);
		const struct ulp *u = find_ulp(w.text);

		if (parse_is_end(w.text, "qos-ulps")) {
			if (!any)
				conf_report_at(p->report, CONF_ERROR, at,
					       "found an empty qos-ulps, expected a line in it");
			return;
		}
		any = true;
		if (u)
			read_line(p, u, &w);
		else if (!strcasecmp(w.text, "default"))
			read_default(p, &w);
		else
			parse_unexpected(p, &w,
					 "default, any, ipoib, sdp, srp, rds, iser or "
					 "end-qos-ulps");
	}
	conf_report_at(p->report, CONF_ERROR, at,
		       "found no end of this qos-ulps, expected end-qos-ulps");
}
