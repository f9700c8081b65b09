// SPDX-License-Identifier: BSD-2-Clause
/* querylid, portstatus: ports as they were read last (console.md 4, 5). */
#include <inttypes.h>
#include <string.h>

#include "console/console_internal.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- querylid ------------------------------------------------------------------------------ */

static bool holds_lid(const struct port *p, uint64_t lid)
{
	return port_is_end(p) && p->lid && lid >= p->lid && lid < (uint64_t)p->lid + (1u << p->lmc);
}

static const struct port *port_at(const struct fabric *f, uint64_t lid)
{
	FABRIC_EACH_NODE(f, n) {
		for (unsigned i = 0; i <= n->n_ports; i++)
			if (holds_lid(&n->ports[i], lid))
				return &n->ports[i];
	}
	return NULL;
}

static void print_port(struct console *c, const struct port *port)
{
	const struct node *n = port->node;

	fprintf(c->out,
		"   GUID                : 0x%016" PRIx64 "\n"
		"   Node Desc           : %s\n"
		"   Node Type           : %s\n"
		"   Num Ports           : %u\n",
		port->guid, console_name(c, n), ib_node_type_name(n->type), n->n_ports);
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		fprintf(c->out, "   Port %u health       : %s\n", i,
			p->known && !p->out.avoided && !p->quarantined ? "OK" : "ERROR");
	}
}

void console_querylid(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	struct sm *sm = console_sm_if(c, word, "no LID specified\n", "querylid");
	const struct port *p = NULL;
	char shown[32];
	uint64_t lid = 0;

	if (!sm)
		return;
	if (str_to_u64(word, 0, UINT32_MAX, &lid) < 0) {
		fprintf(c->out, "Invalid lid %s\n",
			str_printable(word, strlen(word), shown, sizeof(shown)));
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

struct issue {
	const struct port **ports;
	size_t n, cap;
};

struct tally {
	unsigned us, ports, nodes, down, active;
	unsigned at_width[IB_WIDTHS], at_speed[IB_SPEEDS];
	struct issue issues[N_ISSUES];
};

static void note_issue(struct tally *t, unsigned what, const struct port *p)
{
	struct issue *is = &t->issues[what];

	GROW(is->ports, is->n + 1, is->cap);
	is->ports[is->n++] = p;
}

static void judge_width(struct tally *t, const struct port *p)
{
	unsigned active = ib_get(p->info, PI_WIDTH_ACTIVE);
	unsigned enabled = ib_get(p->info, PI_WIDTH_ENABLED) & ib_get(p->info, PI_WIDTH_SUPPORTED);
	const struct ib_width *now = ib_width_of(ib_link_width(p->info)),
			      *widest = ib_widest(enabled);

	if (now)
		t->at_width[now - ib_widths]++;
	else
		note_issue(t, ISSUE_UNKNOWN_WIDTH, p);
	if (!(active & enabled))
		note_issue(t, ISSUE_UNENABLED_WIDTH, p);
	if (widest && (!now || widest > now))
		note_issue(t, ISSUE_REDUCED_WIDTH, p);
}

/* Speeds are bits that grow, within the set that has the active one. */
static void judge_speed(struct tally *t, const struct port *p)
{
	bool fdr10 = p->ext_known && (p->ext_active & EPI_SPEED_FDR10);
	enum ib_speed_set most = fabric_speed_sets(p), set = ib_speed_active_set(p->info, most);
	const struct ib_speed *speed = ib_speed_of(ib_link_speed(p->info, most, fdr10));
	unsigned active = ib_speed_bits(p->info, set, IB_SPEED_ACTIVE);
	unsigned enabled = ib_speed_bits(p->info, set, IB_SPEED_ENABLED);

	if (speed)
		t->at_speed[speed - ib_speeds]++;
	else
		note_issue(t, ISSUE_UNKNOWN_SPEED, p);
	if (!(active & enabled))
		note_issue(t, ISSUE_UNENABLED_SPEED, p);
	if (enabled >= 2 * active)
		note_issue(t, ISSUE_REDUCED_SPEED, p);
}

static void judge_port(struct tally *t, const struct port *p)
{
	t->ports++;
	if (ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_DISABLED)
		note_issue(t, ISSUE_DISABLED, p);
	if (port_state(p) <= IB_PORT_DOWN) {
		t->down++;
		return;
	}
	t->active += port_state(p) == IB_PORT_ACTIVE;
	judge_width(t, p);
	judge_speed(t, p);
}

/* `only`: IB_NODE_*; 0: all. */
static void count_ports(struct tally *t, const struct fabric *f, unsigned only)
{
	FABRIC_EACH_NODE(f, n) {
		if (only && n->type != only)
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
	for (size_t i = 0; i < IB_WIDTHS; i++)
		if (t->at_width[i])
			fprintf(c->out, "   %u at %uX\n", t->at_width[i], ib_widths[i].lanes);
	for (size_t i = 0; i < IB_SPEEDS; i++)
		if (t->at_speed[i])
			fprintf(c->out, "   %u at %s\n", t->at_speed[i], ib_speeds[i].gbps);
	print_issues(c, t);
	fputs("\n", c->out);
}

void console_portstatus(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	unsigned only = 0;
	struct tally t = { 0 };
	struct sm *sm;
	mono_t began;

	for (unsigned type = IB_NODE_CA; word && type <= IB_NODE_ROUTER; type++)
		if (!strcmp(word, ib_node_row(type)->word))
			only = type;
	sm = console_sm_if(c, !word || only, "Node type not understood\n", "portstatus");
	if (!sm)
		return;
	began = daemon_api_now(c->config.api);
	count_ports(&t, sm_fabric(sm), only);
	t.us = daemon_api_now(c->config.api) - began;
	print_tally(c, &t, only ? ib_node_type_name(only) : "ALL");
	for (size_t i = 0; i < N_ISSUES; i++)
		free(t.issues[i].ports);
}
