// SPDX-License-Identifier: BSD-2-Clause
/*
 * From lines to a fabric: nodes in order of GUID, and each cable with its two ends.
 *
 * Files describe every cable twice. Where both ends are described they must agree; where one is
 * missing, the other counts, with a warning.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "topo/topofile_internal.h"
#include "util/bisect.h"
#include "util/hash.h"
#include "util/mem.h"

/* --- Names ---------------------------------------------------------------------------------- */

/* The slot of a name, or the empty one where it would be. */
static uint32_t *slot_of(const struct topofile_reader *t, const char *text, size_t len)
{
	size_t i = hash_fold(hash_bytes(HASH_START, text, len)) & (t->n_slots - 1);

	assert(t->n_ids < t->n_slots); /* some slot is free, so this ends */
	while (t->slots[i] && (strlen(t->ids[t->slots[i] - 1]) != len ||
			       memcmp(t->ids[t->slots[i] - 1], text, len)))
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

uint32_t topofile_id(struct topofile_reader *t, const char *text, size_t len)
{
	uint32_t *slot;

	if (t->n_ids * 2 >= t->n_slots) {
		t->n_slots = MAX(t->n_slots * 2, (size_t)1024);
		free(t->slots);
		t->slots = xcalloc(t->n_slots, sizeof(*t->slots));
		for (size_t i = 0; i < t->n_ids; i++)
			*slot_of(t, t->ids[i], strlen(t->ids[i])) = (uint32_t)i + 1;
	}
	slot = slot_of(t, text, len);
	if (!*slot) {
		char *copy = xmalloc(len + 1);

		memcpy(copy, text, len);
		copy[len] = '\0';
		GROW(t->ids, t->n_ids + 1, t->cap_ids);
		GROW(t->draft_of, t->n_ids + 1, t->cap_draft_of);
		t->ids[t->n_ids] = copy;
		t->draft_of[t->n_ids++] = TOPO_NONE;
		*slot = (uint32_t)t->n_ids;
	}
	return *slot - 1;
}

bool topofile_add_node(struct topofile_reader *t, const struct topofile_node *node, uint32_t id,
		       bool grows, const struct conf_place *at)
{
	char quoted[CONF_QUOTE_MAX];

	if (t->draft_of[id] != TOPO_NONE) {
		conf_report_at(
			t->report, CONF_ERROR, at,
			"%s is described a second time (line %u has it too); the file is not used",
			conf_quote(t->ids[id], strlen(t->ids[id]), quoted),
			t->drafts[t->draft_of[id]].line);
		free(node->name);
		return false;
	}
	GROW(t->drafts, t->n_drafts + 1, t->cap_drafts);
	t->draft_of[id] = (uint32_t)t->n_drafts;
	t->drafts[t->n_drafts++] = (struct topofile_draft){
		.node = *node, .id = id, .line = at->line, .grows = grows
	};
	return true;
}

struct topofile_claim *topofile_add_claim(struct topofile_reader *t)
{
	GROW(t->claims, t->n_claims + 1, t->cap_claims);
	return &t->claims[t->n_claims++];
}

/* --- Joining -------------------------------------------------------------------------------- */

static int by_guid(const void *va, const void *vb)
{
	const struct topofile_draft *a = va, *b = vb;

	return COMPARE(a->node.type, b->node.type) ?: COMPARE(a->node.guid, b->node.guid) ?:
	       COMPARE(a->line, b->line);
}

static int by_port(const void *va, const void *vb)
{
	const struct topofile_claim *a = va, *b = vb;

	return COMPARE(a->port.node, b->port.node) ?: COMPARE(a->port.number, b->port.number) ?:
	       COMPARE(a->line, b->line);
}

static void __attribute__((format(printf, 3, 4)))
fault(struct topofile_reader *t, unsigned line, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	conf_report_add(t->report, CONF_ERROR, t->path, line, 0, "%s; the file is not used", text);
}

static const char *quote_id(const struct topofile_reader *t, uint32_t id, char ret[CONF_QUOTE_MAX])
{
	return conf_quote(t->ids[id], strlen(t->ids[id]), ret);
}

/* Nodes in order, each GUID once among switches and once among the others. */
static void order_nodes(struct topofile_reader *t)
{
	if (t->n_drafts)
		qsort(t->drafts, t->n_drafts, sizeof(*t->drafts), by_guid);
	for (size_t i = 0; i < t->n_drafts; i++) {
		t->draft_of[t->drafts[i].id] = (uint32_t)i;
		if (i && t->drafts[i].node.type == t->drafts[i - 1].node.type &&
		    t->drafts[i].node.guid == t->drafts[i - 1].node.guid)
			fault(t, t->drafts[i].line,
			      "the node with GUID 0x%016" PRIx64 " is in line %u already",
			      t->drafts[i].node.guid, t->drafts[i - 1].line);
	}
}

/* Replaces the names of nodes by their places. */
static void number_claims(struct topofile_reader *t)
{
	for (size_t i = 0; i < t->n_claims; i++)
		t->claims[i].port.node = t->draft_of[t->claims[i].port.node];
}

static void order_claims(struct topofile_reader *t)
{
	if (t->n_claims)
		qsort(t->claims, t->n_claims, sizeof(*t->claims), by_port);
}

static void check_numbers(struct topofile_reader *t)
{
	char quoted[CONF_QUOTE_MAX];

	for (size_t i = 0; i < t->n_claims; i++) {
		struct topofile_claim *c = &t->claims[i];
		struct topofile_draft *d = &t->drafts[c->port.node];

		if (d->grows)
			d->node.n_ports = MAX(d->node.n_ports, c->port.number);
		else if (c->port.number > d->node.n_ports)
			fault(t, c->line, "port %u of %s, which has %u", c->port.number,
			      quote_id(t, d->id, quoted), d->node.n_ports);
	}
}

static bool same_end(const struct topofile_claim *a, const struct topofile_claim *b)
{
	return a->peer_id == b->peer_id && a->peer_number == b->peer_number &&
	       a->port.guid == b->port.guid && a->port.lid == b->port.lid &&
	       a->port.lmc == b->port.lmc;
}

/* One row per port. Equal rows are merged. */
static void one_row_each(struct topofile_reader *t)
{
	char quoted[CONF_QUOTE_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < t->n_claims; i++) {
		struct topofile_claim *c = &t->claims[i],
				      *before = kept ? &t->claims[kept - 1] : NULL;

		if (!before || before->port.node != c->port.node ||
		    before->port.number != c->port.number) {
			t->claims[kept++] = *c;
			continue;
		}
		if (!same_end(before, c))
			fault(t, c->line, "port %u of %s, of which line %u says something else",
			      c->port.number, quote_id(t, t->drafts[c->port.node].id, quoted),
			      before->line);
	}
	t->n_claims = kept;
}

static struct topofile_claim *find_claim(const struct topofile_reader *t, uint32_t node,
					 uint8_t number)
{
	struct topofile_claim *c = t->claims;
	size_t at = BISECT(i, 0, t->n_claims,
			   c[i].port.node < node ||
				   (c[i].port.node == node && c[i].port.number < number));

	return at < t->n_claims && c[at].port.node == node && c[at].port.number == number ? &c[at]
											  : NULL;
}

/* Derives the end that is missing from the one described. */
static void add_missing_end(struct topofile_reader *t, const struct topofile_claim *c,
			    uint32_t peer)
{
	const struct topofile_node *node = &t->drafts[peer].node;
	bool is_switch = node->type == TOPOFILE_SWITCH;
	struct topofile_claim end = {
		.port = { .node = peer,
			  .number = c->peer_number,
			  .vls = c->port.vls,
			  .width = c->port.width,
			  .lid = is_switch ? 0 : c->peer_lid,
			  .guid = is_switch ? 0 : c->peer_guid },
		.peer_id = t->drafts[c->port.node].id,
		.peer_number = c->port.number,
		.line = c->line,
	};
	char quoted[CONF_QUOTE_MAX];

	memcpy(end.port.speed, c->port.speed, sizeof(end.port.speed));
	conf_report_add(t->report, CONF_WARNING, t->path, c->line, 0,
			"a cable whose other end, port %u of %s, is not described; it is believed",
			c->peer_number, quote_id(t, c->peer_id, quoted));
	*topofile_add_claim(t) = end;
}

static void add_missing_ends(struct topofile_reader *t)
{
	size_t n = t->n_claims;
	_cleanup_free_ bool *missing = xcalloc(n + 1, sizeof(*missing));
	char quoted[CONF_QUOTE_MAX];

	for (size_t i = 0; i < n; i++) {
		const struct topofile_claim *c = &t->claims[i];
		uint32_t peer = t->draft_of[c->peer_id];

		missing[i] = peer != TOPO_NONE && !find_claim(t, peer, c->peer_number);
		if (peer == TOPO_NONE)
			conf_report_add(t->report, CONF_WARNING, t->path, c->line, 0,
					"a cable to %s, which the file does not have; the cable is "
					"left out",
					quote_id(t, c->peer_id, quoted));
	}
	for (size_t i = 0; i < n; i++)
		if (missing[i]) {
			struct topofile_claim c = t->claims[i];

			add_missing_end(t, &c, t->draft_of[c.peer_id]);
		}
}

/* Both ends lead to each other. */
static void plug(struct topofile_reader *t)
{
	char one[CONF_QUOTE_MAX], two[CONF_QUOTE_MAX];

	for (size_t i = 0; i < t->n_claims; i++) {
		struct topofile_claim *c = &t->claims[i], *end;
		uint32_t peer = t->draft_of[c->peer_id];

		c->port.peer = TOPO_NONE;
		if (peer == TOPO_NONE)
			continue;
		end = find_claim(t, peer, c->peer_number);
		if (end && t->draft_of[end->peer_id] == c->port.node &&
		    end->peer_number == c->port.number)
			c->port.peer = (uint32_t)(end - t->claims);
		else
			fault(t, c->line,
			      "a cable to port %u of %s, of which line %u says that it leads to "
			      "port %u of %s",
			      c->peer_number, quote_id(t, c->peer_id, one), end ? end->line : 0,
			      end ? end->peer_number : 0,
			      end ? quote_id(t, end->peer_id, two) : "?");
	}
}

struct guid_line {
	guid_t guid;
	unsigned line;
};

static int by_guid_line(const void *va, const void *vb)
{
	const struct guid_line *a = va, *b = vb;

	return COMPARE(a->guid, b->guid) ?: COMPARE(a->line, b->line);
}

/* Ports of CAs and routers have GUIDs of their own; those that are not said follow the node's. */
static void port_guids(struct topofile_reader *t)
{
	_cleanup_free_ struct guid_line *all = xcalloc(t->n_claims + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < t->n_claims; i++) {
		struct topofile_claim *c = &t->claims[i];
		const struct topofile_node *node = &t->drafts[c->port.node].node;

		if (node->type == TOPOFILE_SWITCH)
			continue;
		if (!c->port.guid)
			c->port.guid = node->guid + c->port.number;
		all[n++] = (struct guid_line){ c->port.guid, c->line };
	}
	if (n)
		qsort(all, n, sizeof(*all), by_guid_line);
	for (size_t i = 1; i < n; i++)
		if (all[i].guid == all[i - 1].guid)
			fault(t, all[i].line,
			      "the port GUID 0x%016" PRIx64
			      " is that of another port too (line %u)",
			      all[i].guid, all[i - 1].line);
}

static struct topofile *make(struct topofile_reader *t)
{
	struct topofile *f = xcalloc(1, sizeof(*f));

	f->lmc_unknown = t->lmc_unknown;
	f->n_nodes = (uint32_t)t->n_drafts;
	f->n_ports = (uint32_t)t->n_claims;
	f->nodes = xcalloc(t->n_drafts + 1, sizeof(*f->nodes));
	f->ports = xcalloc(t->n_claims + 1, sizeof(*f->ports));
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		f->nodes[i] = t->drafts[i].node;
		t->drafts[i].node.name = NULL;
		if (f->nodes[i].type == TOPOFILE_SWITCH && !f->nodes[i].port_guid)
			f->nodes[i].port_guid = f->nodes[i].guid;
		if (!f->nodes[i].sysimg_guid)
			f->nodes[i].sysimg_guid = f->nodes[i].guid;
	}
	for (uint32_t i = f->n_ports; i-- > 0;) {
		f->ports[i] = t->claims[i].port;
		f->nodes[f->ports[i].node].first_port = i;
		f->nodes[f->ports[i].node].n_rows++;
	}
	return f;
}

static void reader_clear(struct topofile_reader *t)
{
	for (size_t i = 0; i < t->n_drafts; i++)
		free(t->drafts[i].node.name);
	for (size_t i = 0; i < t->n_ids; i++)
		free(t->ids[i]);
	free(t->drafts);
	free(t->claims);
	free(t->ids);
	free(t->draft_of);
	free(t->slots);
	*t = (struct topofile_reader){ .current = TOPO_NONE };
}

struct topofile *topofile_join(struct topofile_reader *t)
{
	static void (*const steps[])(struct topofile_reader * t) = {
		check_numbers, one_row_each, add_missing_ends, order_claims, check_numbers,
		one_row_each,  plug,	     port_guids,
	};
	struct topofile *f = NULL;

	if (!t->report->errors && !t->n_drafts)
		conf_report_add(
			t->report, CONF_ERROR, t->path, 0, 0,
			"no node in it; expected what ibnetdiscover writes, or opensm-subnet.lst");
	if (!t->report->errors) {
		order_nodes(t);
		number_claims(t);
		order_claims(t);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(steps) && !t->report->errors; i++)
		steps[i](t);
	if (!t->report->errors)
		f = make(t);
	reader_clear(t);
	return f;
}
