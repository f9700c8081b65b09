// SPDX-License-Identifier: BSD-2-Clause
/*
 * The last comparison: its references, and its findings, which are logged when they begin and when
 * they end.
 */
#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/expected/expected_internal.h"
#include "util/mem.h"

struct drift *drift_ref(const struct drift *d)
{
	struct drift *shared = as_owner(d);

	shared->refs++;
	return shared;
}

struct drift *drift_unref(struct drift *d)
{
	if (!d || --d->refs)
		return NULL;
	for (uint32_t i = 0; i < d->n; i++)
		free(d->rows[i].text);
	free(d->rows);
	expect_report_free(d->report);
	expect_free(d->want);
	expect_free(d->have);
	free(d);
	return NULL;
}

struct telling {
	struct sm *sm;
	unsigned n, left_out;
};

static void say_row(struct telling *t, const struct drift_row *row, bool begins)
{
	struct sm *sm = t->sm;
	unsigned limit = sm->conf->expected_topology_log_limit;

	event_drift(sm, begins, expect_kind_name(row->kind), row->text);
	if (limit && t->n >= limit) {
		t->left_out++;
		return;
	}
	t->n++;
	if (begins)
		log_on(ABOUT(.id = LOG_ID_TOPOLOGY), LOGB_ERROR, "%s", row->text);
	else
		log_on(ABOUT(.id = LOG_ID_TOPOLOGY), LOGB_INFO, "%s: this is over", row->text);
}

static const char *physical_state(const struct sm *sm, const struct expect_end *e)
{
	const struct node *n = e->guid ? fabric_find_node(sm->fabric, e->guid) : NULL;
	const struct port *p = n && e->port <= n->n_ports ? &n->ports[e->port] : NULL;

	if (!n)
		return "not found";
	return p && p->known ? ib_phys_state_row((unsigned)ib_get(p->info, PI_PHYS_STATE))->word
			     : "not known";
}

/* Adds the port states of both ends of a missing cable, as clues for its repair. */
static void add_states(const struct sm *sm, const struct drift *d, struct drift_row *row)
{
	const struct expect_finding *f = &d->report->findings[row->finding];
	const struct expect_change *c = &d->report->changes[f->first_change];
	_cleanup_free_ char *text = row->text;

	row->text = xasprintf("%s (the former end is %s, the latter %s)", text,
			      physical_state(sm, &c->at), physical_state(sm, &c->was));
}

static void begin_row(struct telling *t, const struct drift *d, struct drift_row *row)
{
	if (t->sm->hooks.realtime)
		row->since = t->sm->hooks.realtime(t->sm->hooks.arg);
	if (row->kind == EXPECT_MISSING && d->report->findings[row->finding].n_changes)
		add_states(t->sm, d, row);
	say_row(t, row, true);
}

/* Keeps the first text of a finding that continues. */
static void keep_row(struct drift_row *row, const struct drift_row *old)
{
	row->since = old->since;
	if (row->kind != EXPECT_MISSING)
		return;
	free(row->text);
	row->text = xstrdup(old->text);
}

static void compare_rows(struct telling *t, const struct drift *old, struct drift *now)
{
	uint32_t i = 0, k = 0, n_old = old ? old->n : 0;

	while (i < n_old || k < now->n) {
		bool has_old = i < n_old, has_now = k < now->n;

		if (has_old && has_now && old->rows[i].key == now->rows[k].key)
			keep_row(&now->rows[k++], &old->rows[i++]);
		else if (has_now && (!has_old || now->rows[k].key < old->rows[i].key))
			begin_row(t, now, &now->rows[k++]);
		else
			say_row(t, &old->rows[i++], false);
	}
}

void expected_tell(struct sm *sm, struct drift *now)
{
	struct expected *e = sm->m.expected;
	struct telling t = { .sm = sm };

	compare_rows(&t, e->drift, now);
	if (t.left_out)
		log_on(ABOUT(.id = LOG_ID_TOPOLOGY), LOGB_ERROR,
		       "expected topology: %u more changes of findings are not logged one by one "
		       "(expected_topology_log_limit); %u findings hold: opensmctl topology diff",
		       t.left_out, now->n);
	drift_unref(e->drift);
	e->drift = now;
}
