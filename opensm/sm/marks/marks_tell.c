// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of states, log lines and events. A new table of marks has its changes logged, and their
 * cables examined.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/base/news.h"
#include "sm/marks/marks_internal.h"
#include "util/mem.h"

static const char *const state_names[] = {
	[MARK_STORED] = "stored",     [MARK_ABSENT] = "absent",	  [MARK_SPARED] = "spared",
	[MARK_DRAINING] = "draining", [MARK_DRAINED] = "drained", [MARK_ISOLATED] = "isolated",
	[MARK_RETURNING] = "returning", [MARK_UNCLEAN] = "unclean",
};

const char *sm_mark_state_name(enum mark_state state)
{
	assert(state < ARRAY_SIZE(state_names));
	return state_names[state];
}

static char *until_str(int64_t until, char ret[40])
{
	struct tm tm;
	time_t t = (time_t)until;

	ret[0] = '\0';
	if (until && gmtime_r(&t, &tm))
		strftime(ret, 40, " until %FT%TZ", &tm);
	return ret;
}

/* Logs a mark, and raises an event: the place, then the text. */
static void tell_mark(struct sm *sm, const struct link_mark *m, const char *event,
		      const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void tell_mark(struct sm *sm, const struct link_mark *m, const char *event,
		      const char *fmt, ...)
{
	char where[MARK_PLACE_STRLEN], words[MARK_WHY_MAX + 2 * MARK_BY_MAX + 120],
		line[sizeof(where) + sizeof(words)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s: %s", mark_place_str(sm, m, where), words);
	log_on(about_port(LOG_ID_LINK_MARKED, mark_port(sm, m)), LOGB_INFO, "%s", line);
	event_mark(sm, event, m, line);
}

static void tell_marked(struct sm *sm, const struct link_mark *m)
{
	char until[40];

	tell_mark(sm, m, mark_kind_name(m->kind), "%s by %s%s%s%s%s%s",
		  m->kind == MARK_ISOLATE ? "isolated" : "drained", m->by,
		  until_str(m->until, until), m->forced ? ", forced" : "", m->why[0] ? " (" : "",
		  m->why, m->why[0] ? ")" : "");
}

static void tell_restored(struct sm *sm, const struct link_mark *m, const char *cause)
{
	tell_mark(sm, m, "restored", "restored (%s), %s since it was marked by %s", cause,
		  m->kind == MARK_ISOLATE ? "isolated" : "drained", m->by);
}

/* Raises an event only: the log has the request, and opensmctl marks shows the progress. */
void mark_tell_state(struct sm *sm, const struct link_mark *m, const struct mark_work *w)
{
	static const char *const words[MARK_STATES] = {
		[MARK_DRAINED] = "nothing is routed over it any more",
		[MARK_ISOLATED] = "it is taken down, and held",
		[MARK_SPARED] = "it stays in use: it is the last way to a part of the fabric, or "
				"the manager's own",
	};
	char where[MARK_PLACE_STRLEN], line[sizeof(where) + 100];

	if (!words[w->state])
		return;
	snprintf(line, sizeof(line), "%s: %s", mark_place_str(sm, m, where), words[w->state]);
	event_mark(sm, sm_mark_state_name(w->state), m, line);
}

/* Makes the cables of a mark dirty, so that all routes are compared. Returns their number. */
static unsigned look_at_cables(struct sm *sm, const struct link_mark *m)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);
	unsigned n_cables = 0;

	if (sm->state != SM_MASTER || !n)
		return 0;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = mark_cable(m, n, i);

		if (!p)
			continue;
		tell_port(sm, p, "a link was taken out of service, or put back");
		n_cables++;
	}
	return n_cables;
}

bool mark_is_same(const struct link_mark *a, const struct link_mark *b)
{
	return a->kind == b->kind && a->forced == b->forced && a->until == b->until &&
	       !strcmp(a->why, b->why);
}

/* Logs marks of `from` that `to` does not have. Returns the number of their cables. */
static unsigned tell_gone(struct sm *sm, const struct mark_table *from, const struct mark_table *to,
			  const char *cause)
{
	unsigned n_cables = 0;

	for (uint32_t i = 0; i < from->n; i++) {
		const struct link_mark *m = &from->all[i];

		if (mark_table_find(to, m->node, m->port) != UINT32_MAX)
			continue;
		tell_restored(sm, m, cause);
		n_cables += look_at_cables(sm, m);
	}
	return n_cables;
}

static unsigned tell_new(struct sm *sm, const struct mark_table *from, const struct mark_table *to)
{
	unsigned n_cables = 0;

	for (uint32_t i = 0; i < to->n; i++) {
		const struct link_mark *m = &to->all[i];
		uint32_t k = mark_table_find(from, m->node, m->port);

		if (k != UINT32_MAX && mark_is_same(&from->all[k], m))
			continue;
		tell_marked(sm, m);
		n_cables += look_at_cables(sm, m);
	}
	return n_cables;
}

unsigned marks_tell_changes(struct sm *sm, const struct mark_table *from,
			    const struct mark_table *to, const char *cause)
{
	return tell_gone(sm, from, to, cause) + tell_new(sm, from, to);
}
