// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is wrong with the lanes that stand on devices: an SL whose packets wait for ever, and an SL
 * for which a cable has no VL. The same thing at ports of several groups is one warning.
 */
#include <stdio.h>

#include "show/show_internal.h"
#include "show/show_lanes.h"

#define WARNINGS_MAX 256

enum fault {
	FAULT_STARVES, /* the VL has no weight in either table */
	FAULT_WAITS,   /* low priority only, and high priority has no limit */
	FAULT_MISSING, /* the port has no such VL */
	FAULT_FOLDED,  /* the options say a VL that the port does not have; it has another one */
};

struct warning {
	enum fault fault;
	enum qos_kind kind;
	uint8_t vl;		/* on the device; of FAULT_FOLDED that of the first SL */
	uint16_t taken, wanted; /* FAULT_FOLDED: sets of VLs, on devices and by the options */
	uint8_t n_vls;		/* number of VLs of the ports */
	uint16_t sls;
	uint32_t n_ports;
	const struct lanes_group *example, *last; /* of those that have it, by n_ports */
};

struct warnings {
	struct warning list[WARNINGS_MAX];
	size_t n;
};

/* ---- finding -------------------------------------------------------------------------------- */

static bool is_alike(const struct warning *a, const struct warning *b)
{
	return a->fault == b->fault && a->kind == b->kind && a->n_vls == b->n_vls &&
	       (a->fault == FAULT_FOLDED || a->vl == b->vl);
}

static void note(struct warnings *w, const struct lanes_group *g, unsigned sl, struct warning is)
{
	struct warning *one = w->list;

	is.kind = g->kind;
	is.n_vls = (uint8_t)qos_vls(g->vls);
	while (one < w->list + w->n && !is_alike(one, &is))
		one++;
	if (one == w->list + w->n) {
		if (w->n == WARNINGS_MAX)
			return;
		*one = is;
		one->example = g;
		w->n++;
	}
	if (one->last != g)
		one->n_ports += g->n_ports;
	one->last = g;
	one->taken |= is.taken;
	one->wanted |= is.wanted;
	one->sls |= (uint16_t)(1u << sl);
}

/* Does any VL of the high-priority table send? */
static bool high_sends(const struct lanes_group *g)
{
	unsigned taken = lanes_taken(g);

	for (unsigned vl = 0; vl < MIN(qos_vls(g->vls), (unsigned)QOS_VL_NONE); vl++)
		if (taken >> vl & 1 && g->high_weight[vl])
			return true;
	return false;
}

/* The VL that the options say, before those that a cable lacks are cut off; -1: they do not. */
static int wanted_vl(const struct show *s, const struct lanes_group *g, unsigned sl)
{
	const struct qos_plan *plan = &s->view->qos;
	uint8_t row[SMP_DATA_SIZE];

	if (!plan->by_options || plan->lanes)
		return -1;
	qos_sl2vl(plan, g->kind, 0, QOS_CODES - 1, row);
	return (int)ib_bits_get(row, sl * 4, 4);
}

static void look_at(struct warnings *w, const struct show *s, const struct lanes_group *g,
		    unsigned sl, unsigned vl)
{
	unsigned n = qos_vls(g->vls);
	int wanted = wanted_vl(s, g, sl);

	if (vl == QOS_VL_NONE)
		return;
	if (vl >= n) {
		note(w, g, sl, (struct warning){ .fault = FAULT_MISSING, .vl = (uint8_t)vl });
		return;
	}
	if (wanted >= (int)n && wanted < QOS_VL_NONE)
		note(w, g, sl,
		     (struct warning){ .fault = FAULT_FOLDED,
				       .vl = (uint8_t)vl,
				       .taken = (uint16_t)(1u << vl),
				       .wanted = (uint16_t)(1u << wanted) });
	if (n == 1 || !g->low_known || !g->high_known || g->high_weight[vl])
		return;
	if (!g->low_weight[vl])
		note(w, g, sl, (struct warning){ .fault = FAULT_STARVES, .vl = (uint8_t)vl });
	else if (g->high_limit == UINT8_MAX && high_sends(g))
		note(w, g, sl, (struct warning){ .fault = FAULT_WAITS, .vl = (uint8_t)vl });
}

static void look_at_group(struct warnings *w, const struct show *s, const struct lanes_group *g)
{
	for (unsigned sl = 0; sl < QOS_SLS; sl++)
		for (unsigned i = 0; i < g->n_rows; i++)
			look_at(w, s, g, sl, g->vl[i][sl]);
}

/* ---- words ---------------------------------------------------------------------------------- */

/* "SL 3", "SLs 3, 5", "VLs 8-14". `what`: "SL" or "VL". Returns `ret`. */
#define LANES_TEXT 80
static const char *lanes_text(const char *what, uint16_t lanes, char ret[LANES_TEXT])
{
	size_t len =
		(size_t)snprintf(ret, LANES_TEXT, "%s%s", what, lanes & (lanes - 1) ? "s" : "");
	const char *gap = " ";

	for (unsigned first = 0, last; first < QOS_SLS && len < LANES_TEXT; first = last + 1) {
		for (last = first; lanes >> last & lanes >> (last + 1) & 1;)
			last++;
		if (last == first + 1)
			last = first; /* two in a row are listed, not shown as a range */
		if (!(lanes >> first & 1))
			continue;
		len += (size_t)snprintf(ret + len, LANES_TEXT - len, "%s%u", gap, first);
		if (last > first && len < LANES_TEXT)
			len += (size_t)snprintf(ret + len, LANES_TEXT - len, "-%u", last);
		gap = ", ";
	}
	return ret;
}

#define WARNING_TEXT (3 * LANES_TEXT + 80)

static const char *text_of(const struct warning *w, char text[WARNING_TEXT])
{
	bool many = w->sls & (w->sls - 1);
	char sls[LANES_TEXT], wanted[LANES_TEXT], taken[LANES_TEXT];

	text[0] = '\0';
	lanes_text("SL", w->sls, sls);
	switch (w->fault) {
	case FAULT_STARVES:
		snprintf(text, WARNING_TEXT,
			 "%s: VL %u has no weight in either arbitration table, its packets are "
			 "never sent",
			 sls, w->vl);
		break;
	case FAULT_WAITS:
		snprintf(text, WARNING_TEXT,
			 "%s: VL %u has low priority only, and the high limit is 255: it waits as "
			 "long as packets of high priority do",
			 sls, w->vl);
		break;
	case FAULT_MISSING:
		snprintf(text, WARNING_TEXT,
			 "%s: VL %u does not exist, the port has %u: packets are dropped", sls,
			 w->vl, w->n_vls);
		break;
	case FAULT_FOLDED:
		snprintf(text, WARNING_TEXT, "%s: the options say %s, the port has %u, so %s %s",
			 sls, lanes_text("VL", w->wanted, wanted), w->n_vls,
			 many ? "they take" : "it takes", lanes_text("VL", w->taken, taken));
		break;
	}
	return text;
}

static const char *fault_name(enum fault fault)
{
	static const char *const faults[] = {
		[FAULT_STARVES] = "starves",
		[FAULT_WAITS] = "waits",
		[FAULT_MISSING] = "missing_vl",
		[FAULT_FOLDED] = "folded",
	};

	return faults[fault];
}

#define WARNING_FIELDS(F)                                                                          \
	F("fault", STR, fault_name(w->fault))                                                      \
	F("kind", STR, lanes_kind_name(w->kind))                                                   \
	F("sls", OF("[]int"), lanes_bits(w->sls))                                                  \
	F("vl", INT, w->vl)                                                                        \
	F("ports", INT, w->n_ports)                                                                \
	LANES_EXAMPLE_FIELDS(F)                                                                    \
	F("text", STR, text_of(w, text))

const struct json_field lanes_warning_fields[] = FIELDS_TABLE(WARNING_FIELDS);

static struct json_object *warning_of(const struct show *s, const struct warning *w)
{
	const struct view_port *example = lanes_example(s, w->example);
	char text[WARNING_TEXT];

	return FIELDS_NEW(WARNING_FIELDS);
}

struct json_object *lanes_warnings(const struct show *s, const struct lanes *l)
{
	struct warnings w = { .n = 0 };

	for (size_t i = 0; i < l->n_groups; i++)
		look_at_group(&w, s, &l->groups[i]);
	return JSON_LIST(w.n, warning_of(s, &w.list[i]));
}
