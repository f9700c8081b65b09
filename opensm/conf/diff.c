// SPDX-License-Identifier: BSD-2-Clause
/*
 * SIGHUP: what changed in the file since it was last read, and what is in force then
 * (opensm-conf.md 6).
 */
#include "conf/conf.h"
#include "util/mem.h"

size_t conf_diff(const struct conf *a, const struct conf *b, struct conf_changes *ret)
{
	ret->n = 0;
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (!conf_value_equal(a, b, id))
			ret->ids[ret->n++] = id;
	return ret->n;
}

enum conf_cost conf_changes_cost(const struct conf_changes *changes)
{
	enum conf_cost cost = CONF_COST_NOTHING;

	for (size_t i = 0; i < changes->n; i++)
		cost = MAX(cost, conf_option(changes->ids[i])->cost);
	return cost;
}

bool conf_is_secret(enum conf_id id)
{
	return id == CONF_ID_m_key || id == CONF_ID_sm_key || id == CONF_ID_sa_key || id == CONF_ID_cc_key;
}

char *conf_value_shown(const struct conf *c, enum conf_id id)
{
	return conf_is_secret(id) ? xstrdup("(not shown)") : conf_value_text(c, id);
}

static void report_gone(const struct conf *live, const struct conf *now, enum conf_id id,
			struct conf_report *r)
{
	_cleanup_free_ char *value = conf_value_shown(live, id);

	conf_report_add(r, CONF_WARNING, now->file, 0, 0,
			"%s: its line is gone; %s stays until a restart", conf_option(id)->name,
			value);
}

static void report_waiting(const struct conf *live, const struct conf *now, enum conf_id id,
			   struct conf_report *r)
{
	_cleanup_free_ char *old = conf_value_shown(live, id), *new = conf_value_shown(now, id);

	conf_report_add(r, CONF_WARNING, now->file, now->file_line[id], 0,
			"%s: now %s; %s stays until a restart", conf_option(id)->name, new, old);
}

/* One key whose value in the file changed. */
static void take_change(struct conf *next, const struct conf *now, enum conf_id id,
			struct conf_report *r)
{
	if (!now->file_line[id] || conf_value_equal(next, now, id))
		return;
	if (conf_option(id)->cost == CONF_COST_RESTART)
		report_waiting(next, now, id, r);
	else
		conf_value_copy(next, now, id);
}

static void find_gone(const struct conf *live, const struct conf *before, const struct conf *now,
		      struct conf_report *r)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (before->file_line[id] && !now->file_line[id] && !now->file_faulty[id] &&
		    !conf_value_is_default(live, id))
			report_gone(live, now, id, r);
}

/* Values that came from the file still do; their lines may have moved. */
static void update_lines(struct conf *next, const struct conf *now)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (next->file_line[id] || conf_value_equal(next, now, id))
			next->file_line[id] = now->file_line[id];
	free(next->file);
	next->file = now->file ? xstrdup(now->file) : NULL;
}

struct conf *conf_reload(const struct conf *live, const struct conf *before, const struct conf *now,
			 struct conf_changes *ret, struct conf_report *r)
{
	_cleanup_(conf_unrefp) struct conf *next = conf_copy(live);
	struct conf_changes changed;

	conf_diff(before, now, &changed);
	for (size_t i = 0; i < changed.n; i++)
		take_change(next, now, changed.ids[i], r);
	find_gone(next, before, now, r);
	update_lines(next, now);
	conf_verify(next, r);
	conf_advise(next, live, r);
	conf_diff(live, next, ret);
	return take(next);
}
