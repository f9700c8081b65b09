// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the instances there are to those there should be. The same function makes the first ones, follows a reload
 * and a port that came.
 */
#include "launch/launcher.h"

#include <signal.h>
#include <string.h>

#include "launch/clash.h"
#include "launch/gather.h"
#include "launch/process.h"
#include "launch/say.h"
#include "util/mem.h"
#include "util/str.h"

static void say_findings(const struct conf_report *r)
{
	for (size_t n = 0; n < r->n; n++) {
		const struct conf_finding *f = &r->findings[n];
		int level = f->severity == CONF_ERROR ? LOG_ERR : LOG_WARNING;

		if (f->file && f->line)
			say(level, "%s:%u:%u: %s", f->file, f->line, f->column, f->text);
		else
			say(level, "%s%s%s", f->file ? f->file : "", f->file ? ": " : "", f->text);
	}
}

int launcher_plan(struct launcher *l, struct choice *ret, char **ret_error)
{
	struct conf_report r = { 0 };
	int fault = gather(l->paths, l->ports, l->n_ports, ret, &r);

	say_findings(&r);
	*ret_error = fault < 0 ? gather_first_error(&r) : NULL;
	conf_report_clear(&r);
	return fault;
}

static struct instance *find(const struct launcher *l, const char *name)
{
	for (size_t n = 0; n < l->n; n++)
		if (str_equal(l->items[n]->plan.name, name))
			return l->items[n];
	return NULL;
}

static struct plan *plan_of(const struct choice *c, const char *name)
{
	for (size_t n = 0; n < c->n; n++)
		if (str_equal(c->plans[n].name, name))
			return &c->plans[n];
	return NULL;
}

/* A life from its beginning, for a plan that is new. */
static void begin(struct launcher *l, struct instance *i)
{
	i->strict = l->choice.strict;
	i->status[0] = i->last[0] = '\0';
	instance_place(i, l->paths);
	supervise_init(&i->life, l->watchdog, launcher_now(l));
	if (!i->plan.fault)
		return;
	supervise_fail(&i->life);
	say_of(LOG_ID_INSTANCE_FAILED, i->plan.name, LOG_ERR, "FAILED for good: %s",
	       i->plan.fault);
}

static void make(struct launcher *l, struct plan *plan)
{
	struct instance *i = instance_new(l, plan);

	GROW(l->items, l->n + 1, l->cap);
	l->items[l->n++] = i;
	begin(l, i);
}

static void set_again(struct instance *i, struct plan *plan)
{
	if (i->again)
		plan_clear(i->again);
	free(i->again);
	i->again = NULL;
	if (!plan)
		return;
	i->again = xmemdup(plan, sizeof(*plan));
	*plan = (struct plan){ 0 };
}

/* Ends it; `plan` (may be NULL) takes its place then. */
static void end(struct launcher *l, struct instance *i, struct plan *plan)
{
	set_again(i, plan);
	if (supervise_stop(&i->life, launcher_now(l)))
		process_signal(i, SIGTERM);
}

static void keep(struct launcher *l, struct instance *i)
{
	if (!supervise_has_process(&i->life)) {
		instance_place(i, l->paths);
		if (!i->plan.fault)
			supervise_retry(&i->life, launcher_now(l));
		return;
	}
	i->reloading = true;
	i->reload_seen = i->life.state == SUPERVISE_STARTING;
	process_signal(i, SIGHUP);
}

static void follow_plan(struct launcher *l, struct plan *plan, bool hup)
{
	struct instance *i = find(l, plan->name);

	if (!i)
		make(l, plan);
	else if (!hup && i->life.state != SUPERVISE_ENDING)
		return; /* a port that came is no reload: what is there stays as it is */
	else if (i->life.state != SUPERVISE_ENDING && plan_equal(&i->plan, plan) &&
		 i->strict == l->choice.strict)
		keep(l, i);
	else
		end(l, i, plan);
}

void launcher_follow(struct launcher *l, struct choice *choice, bool hup)
{
	struct choice former = l->choice;
	struct conf_report clashes = { 0 };

	l->choice = *choice;
	/* A port that is gone keeps its instance until somebody asks: it waits for it. */
	for (size_t n = 0; hup && n < l->n; n++)
		if (!plan_of(&l->choice, l->items[n]->plan.name)) {
			say_of(LOG_ID_NONE, l->items[n]->plan.name, LOG_NOTICE,
			       "is not wanted any more");
			end(l, l->items[n], NULL);
		}
	for (size_t n = 0; n < l->choice.n; n++)
		follow_plan(l, &l->choice.plans[n], hup);
	choose_clear(&former);
	*choice = (struct choice){ 0 };
	launcher_replace_ended(l);
	clash_find(l->items, l->n, &clashes);
	say_findings(&clashes);
	conf_report_clear(&clashes);
}

void launcher_replace_ended(struct launcher *l)
{
	size_t kept = 0;

	for (size_t n = 0; n < l->n; n++) {
		struct instance *i = l->items[n];

		if (i->life.state != SUPERVISE_ENDED) {
			l->items[kept++] = i;
		} else if (i->again && !l->stopping) {
			plan_clear(&i->plan);
			i->plan = *i->again;
			free(i->again);
			i->again = NULL;
			begin(l, i);
			l->items[kept++] = i;
		} else {
			instance_free(i);
		}
	}
	l->n = kept;
}
