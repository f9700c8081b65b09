// SPDX-License-Identifier: BSD-2-Clause
/* Findings of a comparison as lines: the thing first, then what is found, and what was expected. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "topo/expect.h"

#define SHOWN 4 /* cables of one finding */

static const char *const kind_names[EXPECT_KINDS] = {
	[EXPECT_DUPLICATE_GUID] = "duplicate GUID",
	[EXPECT_TYPE_CHANGED] = "type changed",
	[EXPECT_REPLACED_HCA] = "replaced HCA",
	[EXPECT_REPLACED_SWITCH] = "replaced switch",
	[EXPECT_SWAPPED_NODES] = "swapped nodes",
	[EXPECT_SWAPPED] = "swapped",
	[EXPECT_WRONG_RAIL] = "wrong rail",
	[EXPECT_SHIFTED] = "shifted",
	[EXPECT_MOVED] = "moved",
	[EXPECT_MISSING] = "missing",
	[EXPECT_MISSING_NODE] = "missing node",
	[EXPECT_EXTRA] = "extra",
	[EXPECT_UNKNOWN_NODE] = "unknown node",
	[EXPECT_DEGRADED] = "degraded",
	[EXPECT_PORT_GUID] = "other port GUID",
	[EXPECT_RENAMED] = "other description",
};

const char *expect_kind_name(enum expect_kind kind)
{
	assert(kind < EXPECT_KINDS);
	return kind_names[kind];
}

void expect_write_end(FILE *out, const struct expect_end *e)
{
	if (e->name[0])
		fputs(e->name, out);
	else
		fprintf(out, "0x%016" PRIx64, e->guid);
	if (e->port)
		fprintf(out, "/%u", e->port);
	if (e->name[0] && !expect_guid_is_number(e->guid))
		fprintf(out, " (0x%016" PRIx64 ")", e->guid);
}

const char *expect_rate_str(struct expect_rate rate, char ret[static EXPECT_RATE_STRLEN])
{
	const struct ib_speed *s = ib_speed_of(rate.speed);

	snprintf(ret, EXPECT_RATE_STRLEN, rate.width ? "%ux%s" : "%.0u%s", rate.width,
		 s ? s->name : "");
	return ret;
}

/* Names without GUIDs, for ends that the line has named already. */
static void write_short(FILE *out, const struct expect_end *e)
{
	struct expect_end bare = *e;

	if (!bare.name[0]) {
		expect_write_end(out, e);
		return;
	}
	fputs(bare.name, out);
	if (bare.port)
		fprintf(out, "/%u", bare.port);
}

static void write_pair(FILE *out, const struct expect_end *a, const struct expect_end *b)
{
	expect_write_end(out, a);
	fputs(" - ", out);
	expect_write_end(out, b);
}

static const char *type_name(enum expect_type type)
{
	static const char *const names[] = { "node", "switch", "CA", "router" };

	return names[type];
}

/* The first of the changes that a line shows, and how many it leaves out. */
#define EACH_SHOWN(c, r, f)                                                   \
	for (const struct expect_change *c = change_at(r, f, 0); c;           \
	     c = change_at(r, f, (uint32_t)(c + 1 - r->changes) - (f)->first_change))

static const struct expect_change *change_at(const struct expect_report *r,
					     const struct expect_finding *f, uint32_t i)
{
	return i < MIN(f->n_changes, SHOWN) ? &r->changes[f->first_change + i] : NULL;
}

static const char *comma(const struct expect_report *r, const struct expect_finding *f,
			 const struct expect_change *c)
{
	return c == &r->changes[f->first_change] ? "" : ", ";
}

static void write_more(FILE *out, const struct expect_finding *f)
{
	if (f->n_changes > SHOWN)
		fprintf(out, ", and %u more", f->n_changes - SHOWN);
}

/* "A/p leads to B/q instead of C/r (GUID), ..." */
static void write_leads(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	EACH_SHOWN(c, r, f) {
		fputs(comma(r, f, c), out);
		expect_write_end(out, &c->at);
		fputs(" leads to ", out);
		expect_write_end(out, &c->is);
		fputs(" instead of ", out);
		write_short(out, &c->was);
	}
	write_more(out, f);
}

/* --- One kind each -------------------------------------------------------------------------- */

static void write_duplicate(FILE *out, const struct expect_report *r,
			    const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fprintf(out, ": duplicate GUID: %u nodes have it", f->n_nodes);
	EACH_SHOWN(c, r, f) {
		fputs(c == &r->changes[f->first_change] ? ", at " : " and ", out);
		expect_write_end(out, &c->at);
	}
	write_more(out, f);
}

static void write_type(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fprintf(out, ": type changed: it is a %s; expected a %s", type_name(f->have_type),
		type_name(f->want_type));
}

static void write_replaced(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fprintf(out, ": %s: in its place is ", expect_kind_name(f->kind));
	expect_write_end(out, &f->other);
}

static void write_swapped_nodes(FILE *out, const struct expect_report *r,
				const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fputs(", ", out);
	expect_write_end(out, &f->other);
	fputs(": swapped nodes: each has the cables of the other", out);
}

static void write_swapped(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	EACH_SHOWN(c, r, f) {
		fputs(comma(r, f, c), out);
		write_pair(out, &c->at, &c->was);
	}
	write_more(out, f);
	fprintf(out, ": %s%s: ", f->n_changes > 2 ? "" : "two cables ",
		f->n_changes > 2 ? "cables swapped in turn" : "swapped");
	EACH_SHOWN(c, r, f) {
		fputs(comma(r, f, c), out);
		write_short(out, &c->at);
		fputs(" leads to ", out);
		write_short(out, &c->is);
	}
}

static void write_rail(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fprintf(out, ": wrong rail: %u ports exchanged: ", f->n_changes);
	write_leads(out, r, f);
}

static void write_shifted(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	struct expect_end node = f->node;
	const struct expect_change *c = &r->changes[f->first_change];

	node.port = 0;
	write_short(out, &node);
	fprintf(out, "/%u-%u", f->from, f->to);
	if (!expect_guid_is_number(node.guid))
		fprintf(out, " (0x%016" PRIx64 ")", node.guid);
	fprintf(out, ": shifted: %u cables are %s, the first to ", f->n_changes,
		f->step > 0 ? "one port higher" : "one port lower");
	expect_write_end(out, &c->at);
	fprintf(out, " in port %u instead of %u", c->is.port, c->was.port);
}

static void write_moved(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	const struct expect_change *c = &r->changes[f->first_change];

	write_pair(out, &c->at, &c->was);
	fputs(": moved: ", out);
	write_short(out, &c->at);
	fputs(" leads to ", out);
	if (c->is.guid == c->was.guid)
		fprintf(out, "port %u instead of %u", c->is.port, c->was.port);
	else
		expect_write_end(out, &c->is);
}

static void write_missing(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	const struct expect_change *c = &r->changes[f->first_change];
	struct expect_end far = c->was;

	write_pair(out, &c->at, &c->was);
	far.port = 0;
	fputs(": missing: ", out);
	if (!f->n_nodes) {
		fputs("no cable between them", out);
		return;
	}
	write_short(out, &far);
	if (f->n_nodes > 1)
		fprintf(out, " and %u nodes behind it are not found", f->n_nodes - 1);
	else
		fputs(" is not found", out);
}

static void write_missing_node(FILE *out, const struct expect_report *r,
			       const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fputs(": missing node: it is not found", out);
	if (f->n_nodes > 1)
		fprintf(out, ", nor are %u nodes behind it", f->n_nodes - 1);
	if (f->n_changes)
		fprintf(out, "; %u cables are missing: ", f->n_changes);
	EACH_SHOWN(c, r, f) {
		fputs(comma(r, f, c), out);
		expect_write_end(out, &c->at);
	}
	write_more(out, f);
}

static void write_extra(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	const struct expect_change *c = &r->changes[f->first_change];

	write_pair(out, &c->at, &c->is);
	fprintf(out, ": extra: %s",
		f->forbidden ? "expected to be disabled" : "no cable is expected there");
}

static void write_unknown(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fprintf(out, ": unknown node: a %s", type_name(f->have_type));
	if (f->n_nodes > 1)
		fprintf(out, " with %u nodes behind it", f->n_nodes - 1);
	fputs(f->n_changes ? ", at " : "", out);
	EACH_SHOWN(c, r, f) {
		fputs(comma(r, f, c), out);
		expect_write_end(out, &c->at);
		if (!c->was.guid)
			continue;
		fputs("; expected there: ", out);
		expect_write_end(out, &c->was);
	}
	write_more(out, f);
}

static void write_degraded(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	const struct expect_change *c = &r->changes[f->first_change];
	char have[EXPECT_RATE_STRLEN], want[EXPECT_RATE_STRLEN];

	write_pair(out, &c->at, &c->was);
	fprintf(out, ": degraded: %s; %s %s", expect_rate_str(f->have, have),
		f->by_ends ? "both ends support" : "expected", expect_rate_str(f->want, want));
}

static void write_port_guid(FILE *out, const struct expect_report *r,
			    const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fprintf(out, ": other port GUID: 0x%016" PRIx64 "; expected 0x%016" PRIx64, f->other.guid,
		f->port_guid);
}

static void write_renamed(FILE *out, const struct expect_report *r, const struct expect_finding *f)
{
	expect_write_end(out, &f->node);
	fprintf(out, ": other description: '%s'", f->other.name);
}

typedef void (*writer)(FILE *out, const struct expect_report *r, const struct expect_finding *f);

static const writer writers[EXPECT_KINDS] = {
	[EXPECT_DUPLICATE_GUID] = write_duplicate,
	[EXPECT_TYPE_CHANGED] = write_type,
	[EXPECT_REPLACED_HCA] = write_replaced,
	[EXPECT_REPLACED_SWITCH] = write_replaced,
	[EXPECT_SWAPPED_NODES] = write_swapped_nodes,
	[EXPECT_SWAPPED] = write_swapped,
	[EXPECT_WRONG_RAIL] = write_rail,
	[EXPECT_SHIFTED] = write_shifted,
	[EXPECT_MOVED] = write_moved,
	[EXPECT_MISSING] = write_missing,
	[EXPECT_MISSING_NODE] = write_missing_node,
	[EXPECT_EXTRA] = write_extra,
	[EXPECT_UNKNOWN_NODE] = write_unknown,
	[EXPECT_DEGRADED] = write_degraded,
	[EXPECT_PORT_GUID] = write_port_guid,
	[EXPECT_RENAMED] = write_renamed,
};

char *expect_finding_str(const struct expect_report *r, const struct expect_finding *f)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return xstrdup("");
	writers[f->kind](out, r, f);
	fclose(out);
	return text;
}
