// SPDX-License-Identifier: BSD-2-Clause
/*
 * --drain: in which order switches of a list are taken out of service, one after another, so that
 * every state on the way has tables that hold and is loaded as little as can be. Each step takes
 * the switch without which the others are best off; tables grow out of those of the step before,
 * as in the daemon.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/text/lines.h"
#include "offline/plan.h"
#include "util/mem.h"
#include "util/str.h"

#define DRAIN_MAX   64 /* switches */
#define DRAIN_TRIES 16 /* routed for one step: the first of the list that are left */

/* ---- the list -------------------------------------------------------------------------------- */

static void take_switch(struct plan_result *r, const struct conf_host *h,
			struct conf_report *report)
{
	const struct plan_world *w = &r->world;
	struct conf_place at = { .file = w->args->drain, .line = h->line, .column = h->column };
	_cleanup_free_ char *text = h->name ? xasprintf("\"%s\"", h->name)
					    : xasprintf("0x%016" PRIx64, h->guid);
	char quoted[CONF_QUOTE_MAX];
	const char *why;
	uint32_t node = plan_find_node(w, text, strlen(text), &why), sw = TOPO_NONE;

	if (node != TOPO_NONE)
		why = "that is no switch; expected the GUID or the name of a switch";
	if (node != TOPO_NONE && w->file->nodes[node].type == TOPOFILE_SWITCH)
		sw = topo_find_switch(w->topo, w->file->nodes[node].guid);
	for (uint32_t i = 0; i < r->n_drained && sw != TOPO_NONE; i++)
		if (r->drained[i] == sw) {
			why = "the switch stands on an earlier line; expected each once";
			sw = TOPO_NONE;
		}
	if (sw == TOPO_NONE)
		conf_report_at(report, CONF_ERROR, &at, "%s; %s",
			       h->name ? conf_quote(h->name, strlen(h->name), quoted) : text, why);
	else
		r->drained[r->n_drained++] = sw;
}

int plan_drain_read(struct plan_result *r)
{
	const char *path = r->world.args->drain;
	struct conf_report report = { 0 };
	struct conf_hosts list = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	unsigned errors;
	int e = lines_load(path, &report, &text, &len);

	if (e == -ENOENT)
		lines_missing(path, &report);
	if (e >= 0)
		conf_hosts_read_text(path, text, len, &list, &report);
	r->drained = xcalloc(list.n + 1, sizeof(*r->drained));
	for (size_t i = 0; i < list.n; i++)
		take_switch(r, &list.items[i], &report);
	if (!report.errors && (!r->n_drained || r->n_drained > DRAIN_MAX))
		conf_report_add(&report, CONF_ERROR, path, 0, 0, "%s; expected 1 to %u",
				STR_COUNT(r->n_drained, "switch", "switches"), DRAIN_MAX);
	errors = report.errors;
	conf_report_print(&report, stderr);
	conf_report_clear(&report);
	conf_hosts_clear(&list);
	return errors ? -EINVAL : 0;
}

/* ---- the order ------------------------------------------------------------------------------- */

struct state {
	struct topo *topo;
	struct plan_tables tables;
	struct plan_step step;
};

static void state_clear(struct state *s)
{
	plan_tables_clear(&s->tables);
	topo_unref(s->topo);
	*s = (struct state){ 0 };
}

/* Pairs that there are among end ports with a cable. */
static uint64_t pairs_of(const struct topo *t)
{
	uint64_t hosts = 0, lids = 0, asides = 0;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid) {
			hosts++;
			lids += 1u << t->hosts[h].lmc;
		}
	for (uint32_t i = 0; i < t->n_asides; i++)
		if (t->asides[i].sw != TOPO_NONE && t->asides[i].lid)
			asides += 1u << t->asides[i].lmc;
	return hosts ? lids * (hosts - 1) + asides * hosts : 0;
}

static struct state state_without(const struct plan_result *r, struct cut *cut, uint32_t sw,
				  const struct routes *before)
{
	struct plan_args args = *r->world.args;
	struct plan_world world = r->world;
	struct state s = { .step = { .sw = sw } };
	const struct route_verdict *v = &s.tables.choice.verdict;
	uint64_t all;

	args.threads = MAX(args.threads, 1u);
	world.args = &args;
	cut->switches[sw] = true;
	s.topo = cut_apply(r->world.topo, cut);
	cut->switches[sw] = false;
	plan_route(&world, s.topo, (struct plan_before){ before, false }, false, &s.tables);
	all = pairs_of(s.topo);
	s.step.lost = all;
	if (!s.tables.routes)
		return s;
	s.step.lost = all - MIN(all, v->pairs - v->unreachable);
	s.step.max_load = v->max_load;
	s.step.holds = !s.tables.choice.unsafe;
	return s;
}

static bool is_better(const struct plan_step *a, const struct plan_step *b)
{
	if (a->holds != b->holds)
		return a->holds;
	if (a->lost != b->lost)
		return a->lost < b->lost;
	return a->max_load < b->max_load;
}

/* The best next state; its switch leaves `left`. */
static struct state next_state(const struct plan_result *r, struct cut *cut, uint32_t *left,
			       uint32_t n, const struct routes *before)
{
	struct state best = { 0 };
	uint32_t at = 0;

	for (uint32_t i = 0; i < MIN(n, (uint32_t)DRAIN_TRIES); i++) {
		struct state s = state_without(r, cut, left[i], before);

		if (i && !is_better(&s.step, &best.step)) {
			state_clear(&s);
			continue;
		}
		state_clear(&best);
		best = s;
		at = i;
	}
	memmove(left + at, left + at + 1, (n - at - 1) * sizeof(*left));
	return best;
}

struct plan_drain plan_find_drain(const struct plan_result *r)
{
	struct plan_drain ret = { .steps = xcalloc((size_t)r->n_drained + 1, sizeof(*ret.steps)) };
	_cleanup_free_ uint32_t *left = xmemdup(r->drained, r->n_drained * sizeof(*left));
	_cleanup_(cut_freep) struct cut *cut = cut_new(r->world.topo);
	struct state now = { 0 };

	while (ret.n < r->n_drained) {
		const struct routes *before = ret.n ? now.tables.routes : r->now.routes;
		struct state next = next_state(r, cut, left, r->n_drained - ret.n, before);

		if (before && next.tables.routes)
			figures_compare(before, next.tables.routes, r->world.args->threads,
					&next.step.change);
		state_clear(&now);
		now = next;
		cut->switches[now.step.sw] = true;
		ret.steps[ret.n++] = now.step;
	}
	state_clear(&now);
	return ret;
}
