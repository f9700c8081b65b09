// SPDX-License-Identifier: BSD-2-Clause
/*
 * switchbalance, lidbalance: how routes spread over cables. Worked out by a worker, on a view.
 */
#include <inttypes.h>
#include <string.h>

#include "console/console_internal.h"
#include "route/core/routes.h"
#include "util/mem.h"
#include "util/str.h"
#include "view/view.h"

struct balance {
	const struct routes *routes; /* routes of the view, which holds the reference */
	struct view *view; /* NULL: it is not whole yet; one reference */
	uint32_t only;	   /* index of one switch, or TOPO_NONE: all */
	bool verbose;
};

static const char *name_of(const struct balance *b, guid_t node_guid)
{
	const struct view_node *n = view_find_node(b->view, node_guid);

	return n ? view_node_name(b->view, n) : "";
}

static void drop_balance(void *snapshot)
{
	struct balance *b = snapshot;

	view_unref(b->view);
	free(b);
}

static void take_view(void *snapshot, struct view *v, const struct sm *sm)
{
	struct balance *b = snapshot;

	b->view = v;
}

static void print_balance(struct console *c, struct balance *b,
			  void (*print)(void *snapshot, FILE *out))
{
	console_print_view(c, &(struct console_viewer){ .snapshot = b,
							.routes = b->routes,
							.copied = take_view,
							.print = print,
							.drop = drop_balance });
}

/* Begins a balance. NULL: an error was printed. `word` is a switch; NULL: all. */
static struct balance *balance_new(struct console *c, const char *word, const char *what,
				   const char *command)
{
	struct sm *sm = console_sm(c);
	const struct routes *routes = sm ? sm_routes(sm) : NULL;
	uint32_t only = TOPO_NONE;
	struct balance *b;
	uint64_t guid;

	if (word && (str_to_u64(word, 0, UINT64_MAX, &guid) < 0 || !guid)) {
		fprintf(c->out, "Invalid %s specified\n", what);
		c->help = command;
		return NULL;
	}
	if (word && routes)
		only = topo_find_switch(routes->topo, guid);
	if (word && sm && only == TOPO_NONE)
		fprintf(c->out, "%s not found\n", what);
	if (!routes || (word && only == TOPO_NONE))
		return NULL;
	b = xcalloc(1, sizeof(*b));
	b->routes = routes;
	b->only = only;
	return b;
}

/* The switch behind the port by which `sw` sends to a LID; TOPO_NONE: none, or a host. */
static uint32_t next_switch(const struct routes *r, uint32_t sw, lid_t lid, unsigned *ret_port)
{
	unsigned port = routes_port(r, sw, lid);

	if (!port || port > r->topo->switches[sw].n_ports)
		return TOPO_NONE;
	*ret_port = port;
	return topo_port(r->topo, sw, port)->sw;
}

static void each_switch(const struct balance *b, FILE *out,
			void (*fn)(const struct balance *b, uint32_t sw, FILE *out))
{
	for (uint32_t sw = 0; sw < b->view->routes->topo->n_switches; sw++)
		if (b->only == TOPO_NONE || b->only == sw)
			fn(b, sw, out);
}

/* ---- switchbalance ------------------------------------------------------------------------- */

static void count_host(const struct routes *r, uint32_t sw, const struct topo_host *h,
		       unsigned *counts)
{
	unsigned port;

	for (unsigned i = 0; h->lid && i < 1u << h->lmc; i++)
		if (next_switch(r, sw, h->lid + i, &port) != TOPO_NONE)
			counts[port]++;
}

static void dmodk_of_switch(const struct balance *b, uint32_t sw, FILE *out)
{
	const struct topo *t = b->view->routes->topo;
	const struct topo_switch *s = &t->switches[sw];
	unsigned counts[256] = { 0 }, most = 0, least = UINT32_MAX;
	bool unbalanced;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		count_host(b->view->routes, sw, &t->hosts[h], counts);
	for (unsigned p = 1; p <= s->n_ports; p++) {
		if (topo_port(t, sw, p)->sw == TOPO_NONE)
			continue;
		most = MAX(most, counts[p]);
		least = MIN(least, counts[p]);
	}
	unbalanced = most > least + (uint64_t)1;
	if (!unbalanced && !b->verbose)
		return;
	fprintf(out, "%sSwitch: 0x%016" PRIx64 " (%s)\n", unbalanced ? "Unbalanced " : "", s->guid,
		name_of(b, s->guid));
	for (unsigned p = 1; p <= s->n_ports; p++)
		if (topo_port(t, sw, p)->sw != TOPO_NONE)
			fprintf(out, "Port %u: %u\n", p, counts[p]);
}

static void print_switches(void *snapshot, FILE *out)
{
	each_switch(snapshot, out, dmodk_of_switch);
}

void console_switchbalance(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	bool verbose = word && !strcmp(word, "verbose");
	struct balance *b =
		balance_new(c, verbose ? console_word(w) : word, "guid", "switchbalance");

	if (!b)
		return;
	b->verbose = verbose;
	print_balance(c, b, print_switches);
}

/* ---- lidbalance ---------------------------------------------------------------------------- */

/* How the LIDs of one host leave one switch. */
struct dmodk {
	uint32_t next[128]; /* switches, in order of their first LID */
	unsigned lids[128]; /* parallel */
	unsigned n_next;
	unsigned ports[256];
};

static void spread_lid(struct dmodk *sp, uint32_t next, unsigned port)
{
	unsigned i = 0;

	sp->ports[port]++;
	while (i < sp->n_next && sp->next[i] != next)
		i++;
	if (i == sp->n_next)
		sp->next[sp->n_next++] = next;
	sp->lids[i]++;
}

/* More than 1 between the most and the least that is used at all. */
static bool differs(const unsigned *counts, unsigned n)
{
	unsigned most = 0, least = UINT32_MAX;

	for (unsigned i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		most = MAX(most, counts[i]);
		least = MIN(least, counts[i]);
	}
	return most > least + (uint64_t)1;
}

static void print_place(const struct balance *b, uint32_t sw, uint32_t host, const char *what,
			FILE *out)
{
	const struct topo *t = b->view->routes->topo;

	fprintf(out,
		"Unbalanced %s Forwarding: Switch 0x%016" PRIx64 " (%s): CA 0x%016" PRIx64
		" (%s): ",
		what, t->switches[sw].guid, name_of(b, t->switches[sw].guid),
		t->hosts[host].node_guid, name_of(b, t->hosts[host].node_guid));
}

static void dmodk_of_host(const struct balance *b, uint32_t sw, uint32_t host, FILE *out)
{
	const struct topo *t = b->view->routes->topo;
	const struct topo_host *h = &t->hosts[host];
	struct dmodk sp = { .n_next = 0 };

	for (unsigned i = 0; h->lid && i < 1u << MIN(h->lmc, 7); i++) {
		unsigned port;
		uint32_t next = next_switch(b->view->routes, sw, h->lid + i, &port);

		if (next != TOPO_NONE)
			spread_lid(&sp, next, port);
	}
	if (differs(sp.lids, sp.n_next)) {
		print_place(b, sw, host, "Remote", out);
		for (unsigned i = 0; i < sp.n_next; i++)
			fprintf(out, "Dest 0x%016" PRIx64 "(%s) - %u ",
				t->switches[sp.next[i]].guid,
				name_of(b, t->switches[sp.next[i]].guid), sp.lids[i]);
		fputs("\n", out);
	}
	if (differs(sp.ports, ARRAY_SIZE(sp.ports))) {
		print_place(b, sw, host, "Port", out);
		for (unsigned p = 0; p < ARRAY_SIZE(sp.ports); p++)
			if (sp.ports[p])
				fprintf(out, "Port %u - %u: ", p, sp.ports[p]);
		fputs("\n", out);
	}
}

static void hosts_of_switch(const struct balance *b, uint32_t sw, FILE *out)
{
	const struct topo *t = b->view->routes->topo;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].lmc)
			dmodk_of_host(b, sw, h, out);
}

static void print_hosts(void *snapshot, FILE *out)
{
	each_switch(snapshot, out, hosts_of_switch);
}

void console_lidbalance(struct console *c, struct console_words *w, mono_t now)
{
	struct balance *b = balance_new(c, console_word(w), "switchguid", "lidbalance");

	if (b)
		print_balance(c, b, print_hosts);
}
