// SPDX-License-Identifier: BSD-2-Clause
/* querylid, portstatus: ports as they were read last (console.md 4, 5). */
#include <inttypes.h>
#include <string.h>

#include "ctl/console_private.h"
#include "util/mem.h"
#include "util/str.h"

static const struct node_type {
	uint8_t type;	  /* IB_NODE_* */
	const char *word; /* of portstatus */
	const char *name;
} node_types[] = {
	{ IB_NODE_CA, "ca", "Channel Adapter" },
	{ IB_NODE_SWITCH, "switch", "Switch" },
	{ IB_NODE_ROUTER, "router", "Router" },
};

/* ---- querylid ------------------------------------------------------------------------------ */

static bool holds(const struct port *p, uint64_t lid)
{
	return port_is_end(p) && p->lid && lid >= p->lid && lid < (uint64_t)p->lid + (1u << p->lmc);
}

static const struct port *port_at(const struct fabric *f, uint64_t lid)
{
	FABRIC_EACH_NODE(f, n) {
		for (unsigned i = 0; i <= n->n_ports; i++)
			if (holds(&n->ports[i], lid))
				return &n->ports[i];
	}
	return NULL;
}

static const char *type_name(const struct node *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(node_types); i++)
		if (node_types[i].type == n->type)
			return node_types[i].name;
	return "UNKNOWN";
}

static void print_port(struct console *c, const struct port *port)
{
	const struct node *n = port->node;

	fprintf(c->out,
		"   GUID                : 0x%016" PRIx64 "\n"
		"   Node Desc           : %s\n"
		"   Node Type           : %s\n"
		"   Num Ports           : %u\n",
		port->guid, console_name(c, n), type_name(n), n->n_ports);
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		fprintf(c->out, "   Port %u health       : %s\n", i,
			p->known && !p->avoided && !p->quarantined ? "OK" : "ERROR");
	}
}

void console_querylid(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	const struct port *p = NULL;
	struct sm *sm;
	char shown[32];
	uint64_t lid = 0;

	if (!word) {
		fputs("no LID specified\n", c->out);
		console_detail(c, "querylid");
		return;
	}
	sm = console_sm(c);
	if (!sm)
		return;
	if (str_to_u64(word, 0, UINT32_MAX, &lid) < 0) {
		fprintf(c->out, "Invalid lid %s\n", str_printable(word, strlen(word), shown, sizeof(shown)));
		return;
	}
	p = port_at(sm_fabric(sm), lid);
	if (!p) {
		fprintf(c->out, "Invalid lid %u\n", (unsigned)lid);
		return;
	}
	fprintf(c->out, "Query results for LID %u\n", (unsigned)lid);
	print_port(c, p);
}

/* ---- portstatus ---------------------------------------------------------------------------- */

enum { ISSUE_DISABLED, ISSUE_UNENABLED_SPEED, ISSUE_REDUCED_SPEED, ISSUE_UNKNOWN_SPEED,
       ISSUE_UNENABLED_WIDTH, ISSUE_REDUCED_WIDTH, ISSUE_UNKNOWN_WIDTH, N_ISSUES };

static const char *const issue_names[N_ISSUES] = {
	[ISSUE_DISABLED] = "disabled",
	[ISSUE_UNENABLED_SPEED] = "with unenabled speed",
	[ISSUE_REDUCED_SPEED] = "with reduced speed",
	[ISSUE_UNKNOWN_SPEED] = "with unknown speed",
	[ISSUE_UNENABLED_WIDTH] = "with unenabled width",
	[ISSUE_REDUCED_WIDTH] = "with reduced width",
	[ISSUE_UNKNOWN_WIDTH] = "with unknown width",
};

/* Lanes that are counted and said; and tenths of Gb/s per lane. In order of appearance. */
static const unsigned widths[] = { 1, 4, 8, 12 };
static const struct {
	unsigned speed;
	const char *name;
} speeds[] = {
	{ 25, "2.5 Gbps" },	 { 50, "5.0 Gbps" },	   { 100, "10.0 Gbps" },
	{ 103, "10.0 Gbps (FDR10)" }, { 140, "14.0625 Gbps" }, { 250, "25.78125 Gbps" },
	{ 500, "53.125 Gbps" },	 { 1000, "106.25 Gbps" },
};

struct issue {
	const struct port **ports;
	size_t n, cap;
};

struct tally {
	unsigned us, ports, nodes, down, active;
	unsigned at_width[ARRAY_SIZE(widths)], at_speed[ARRAY_SIZE(speeds)];
	struct issue issues[N_ISSUES];
};

static void note(struct tally *t, unsigned what, const struct port *p)
{
	struct issue *is = &t->issues[what];

	GROW(is->ports, is->n + 1, is->cap);
	is->ports[is->n++] = p;
}

/* Lanes of the widest of a set of LinkWidth bits (14.2.5.6: 1, 4, 8, 12, 2). */
static unsigned widest(unsigned bits)
{
	static const unsigned lanes[] = { 1, 4, 8, 12, 2 };
	unsigned most = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(lanes); i++)
		if (bits >> i & 1)
			most = MAX(most, lanes[i]);
	return most;
}

static void judge_width(struct tally *t, const struct port *p)
{
	unsigned active = ib_get(p->info, PI_WIDTH_ACTIVE), lanes = ib_link_width(p->info);
	unsigned enabled = ib_get(p->info, PI_WIDTH_ENABLED) & ib_get(p->info, PI_WIDTH_SUPPORTED);

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		t->at_width[i] += widths[i] == lanes;
	if (!lanes)
		note(t, ISSUE_UNKNOWN_WIDTH, p);
	if (!(active & enabled))
		note(t, ISSUE_UNENABLED_WIDTH, p);
	if (widest(enabled) > lanes)
		note(t, ISSUE_REDUCED_WIDTH, p);
}

/* Speeds are bits that grow; the extended ones count if one of them is in use. */
static void judge_speed(struct tally *t, const struct port *p)
{
	bool fdr10 = p->ext_known && (p->ext_active & EPI_SPEED_FDR10);
	unsigned speed = ib_link_speed(p->info, fabric_cap_mask(p), fdr10);
	bool extended = ib_get(p->info, PI_SPEED_EXT_ACTIVE) != 0;
	unsigned active = ib_get(p->info, extended ? PI_SPEED_EXT_ACTIVE : PI_SPEED_ACTIVE);
	unsigned enabled = ib_get(p->info, extended ? PI_SPEED_EXT_ENABLED : PI_SPEED_ENABLED);

	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		t->at_speed[i] += speeds[i].speed == speed;
	if (!speed)
		note(t, ISSUE_UNKNOWN_SPEED, p);
	if (!(active & enabled))
		note(t, ISSUE_UNENABLED_SPEED, p);
	if (enabled >= 2 * active)
		note(t, ISSUE_REDUCED_SPEED, p);
}

static void judge_port(struct tally *t, const struct port *p)
{
	t->ports++;
	if (ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_DISABLED)
		note(t, ISSUE_DISABLED, p);
	if (port_state(p) <= IB_PORT_DOWN) {
		t->down++;
		return;
	}
	t->active += port_state(p) == IB_PORT_ACTIVE;
	judge_width(t, p);
	judge_speed(t, p);
}

static void count(struct tally *t, const struct fabric *f, const struct node_type *only)
{
	FABRIC_EACH_NODE(f, n) {
		if (only && n->type != only->type)
			continue;
		t->nodes++;
		for (unsigned i = 1; i <= n->n_ports; i++)
			if (n->ports[i].known)
				judge_port(t, &n->ports[i]);
	}
}

/* The last that was found first, as the peer does. */
static void print_issue(struct console *c, const struct issue *is, const char *name)
{
	if (!is->n)
		return;
	fprintf(c->out, "   %zu %s\n", is->n, name);
	for (size_t i = is->n; i-- > 0;)
		fprintf(c->out, "      0x%016" PRIx64 " %u (%s)\n", is->ports[i]->node->guid,
			is->ports[i]->num, console_name(c, is->ports[i]->node));
}

static void print_issues(struct console *c, const struct tally *t)
{
	size_t any = 0;

	for (size_t i = 0; i < N_ISSUES; i++)
		any += t->issues[i].n;
	if (any)
		fputs("\nPossible issues:\n", c->out);
	for (size_t i = 0; i < N_ISSUES; i++)
		print_issue(c, &t->issues[i], issue_names[i]);
}

static void print_tally(struct console *c, const struct tally *t, const char *title)
{
	fprintf(c->out, "\"%s\" port status:\n   %u port(s) scanned on %u nodes in %u us\n", title,
		t->ports, t->nodes, t->us);
	if (t->down)
		fprintf(c->out, "   %u down\n", t->down);
	if (t->active)
		fprintf(c->out, "   %u active\n", t->active);
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		if (t->at_width[i])
			fprintf(c->out, "   %u at %uX\n", t->at_width[i], widths[i]);
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		if (t->at_speed[i])
			fprintf(c->out, "   %u at %s\n", t->at_speed[i], speeds[i].name);
	print_issues(c, t);
	fputs("\n", c->out);
}

static mono_t clock_now(const struct console *c)
{
	const struct scene *scene = c->config.scene;
	int64_t realtime;
	mono_t now;

	scene->clock(scene->arg, &now, &realtime);
	return now;
}

void console_portstatus(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	const struct node_type *only = NULL;
	struct tally t = { 0 };
	struct sm *sm;
	mono_t began;

	for (size_t i = 0; word && i < ARRAY_SIZE(node_types); i++)
		if (!strcmp(word, node_types[i].word))
			only = &node_types[i];
	if (word && !only) {
		fputs("Node type not understood\n", c->out);
		console_detail(c, "portstatus");
		return;
	}
	sm = console_sm(c);
	if (!sm)
		return;
	began = clock_now(c);
	count(&t, sm_fabric(sm), only);
	t.us = clock_now(c) - began;
	print_tally(c, &t, only ? only->name : "ALL");
	for (size_t i = 0; i < N_ISSUES; i++)
		free(t.issues[i].ports);
}
