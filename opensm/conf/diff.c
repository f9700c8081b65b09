// SPDX-License-Identifier: BSD-2-Clause
/*
 * SIGHUP: changes of the file since it was last read, and the configuration that results
 * (opensm-conf.md 6).
 */
#include "conf/conf.h"

#include <assert.h>

#include "conf/profile.h"
#include "util/mem.h"

size_t conf_diff(const struct conf *a, const struct conf *b, struct conf_changes *ret)
{
	ret->n = 0;
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (!conf_value_equal(a, b, id))
			ret->ids[ret->n++] = id;
	return ret->n;
}

bool conf_is_same(const struct conf *a, const struct conf *b)
{
	struct conf_changes changes;

	return a == b || conf_diff(a, b, &changes) == 0;
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

	conf_report_option(r, CONF_WARNING, now, id, "now %s; %s stays until a restart", new, old);
}

/* Applies the change of one key in the file. */
static void apply_change(struct conf *next, const struct conf *now, enum conf_id id,
			 struct conf_report *r)
{
	if (!now->file_line[id] || conf_value_equal(next, now, id))
		return;
	if (conf_option(id)->cost == CONF_COST_RESTART)
		report_waiting(next, now, id, r);
	else
		conf_value_copy(next, now, id);
}

/* Is the line new, so that it holds even if it repeats the former value of the file? */
static bool is_new_line(const struct conf *live, const struct conf *before, const struct conf *now,
			enum conf_id id)
{
	return now->file_line[id] && !before->file_line[id] &&
	       (live->profiled[id] || before->file_faulty[id]);
}

static void apply_changes(struct conf *next, const struct conf *before, const struct conf *now,
			  struct conf_report *r)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (!conf_value_equal(before, now, id) || is_new_line(next, before, now, id))
			apply_change(next, now, id, r);
}

static void find_gone(const struct conf *live, const struct conf *before, const struct conf *now,
		      struct conf_report *r)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (before->file_line[id] && !now->file_line[id] && !now->file_faulty[id] &&
		    !conf_value_is_default(live, id) && !conf_profile_value(conf_profile(live), id))
			report_gone(live, now, id, r);
}

/* Corrects the lines of values that are from the file, which may have moved. */
static void update_lines(struct conf *next, const struct conf *now)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		if (next->file_line[id] || conf_value_equal(next, now, id)) {
			next->file_line[id] = now->file_line[id];
			next->file_column[id] = now->file_column[id];
		}
	}
	free(next->file);
	next->file = now->file ? xstrdup(now->file) : NULL;
}

struct conf *conf_reload(const struct conf *live, const struct conf *before, const struct conf *now,
			 struct conf_changes *ret, struct conf_report *r)
{
	_cleanup_(conf_unrefp) struct conf *next = conf_copy(live);

	assert(live && before && now && ret);
	apply_changes(next, before, now, r);
	find_gone(next, before, now, r);
	update_lines(next, now);
	conf_verify(next, r);
	conf_advise(next, live, r);
	conf_advise_keys(next, live, r);
	conf_diff(live, next, ret);
	return take(next);
}
