// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of states, log lines and events. A new table of marks has its changes logged by the master,
 * and their cables examined. A standby, to which the master sends each change, logs them at verbose
 * level only; when it becomes master itself, it names the marks in force once.
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

/* " until 2026-03-01T07:35:00Z" with `word` "until"; "" if the time is 0. */
static char *time_str(const char *word, int64_t at, char ret[40])
{
	char text[24];
	struct tm tm;
	time_t t = (time_t)at;

	ret[0] = '\0';
	if (at && gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%FT%TZ", &tm))
		snprintf(ret, 40, " %.8s %s", word, text);
	return ret;
}

/* "isolated by root since 2026-03-01T07:35:00Z (ticket 4711)" */
#define MARKED_STRLEN (MARK_WHY_MAX + MARK_BY_MAX + 70)
static char *marked_str(const struct link_mark *m, char ret[MARKED_STRLEN])
{
	char since[40];

	snprintf(ret, MARKED_STRLEN, "%s by %s%s%s%s%s",
		 m->kind == MARK_ISOLATE ? "isolated" : "drained", m->by,
		 time_str("since", m->since, since), m->why[0] ? " (" : "", m->why,
		 m->why[0] ? ")" : "");
	return ret;
}

/* Logs a mark, and raises an event: the place, then the text. */
static void tell_mark(struct sm *sm, const struct link_mark *m, const char *event,
		      const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void tell_mark(struct sm *sm, const struct link_mark *m, const char *event,
		      const char *fmt, ...)
{
	char where[MARK_PLACE_STRLEN], words[MARKED_STRLEN + MARK_BY_MAX + 120],
		line[sizeof(where) + sizeof(words)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s: %s", mark_place_str(sm, m, where), words);
	log_on(about_port(LOG_ID_LINK_MARKED, mark_port(sm, m)),
	       sm->state == SM_MASTER ? LOGB_INFO : LOGB_VERBOSE, "%s", line);
	event_mark(sm, event, m, line);
}

static void tell_marked(struct sm *sm, const struct link_mark *m)
{
	char until[40];

	tell_mark(sm, m, mark_kind_name(m->kind), "%s by %s%s%s%s%s%s",
		  m->kind == MARK_ISOLATE ? "isolated" : "drained", m->by,
		  time_str("until", m->until, until), m->forced ? ", forced" : "",
		  m->why[0] ? " (" : "", m->why, m->why[0] ? ")" : "");
}

static void tell_restored(struct sm *sm, const struct link_mark *m, const char *cause)
{
	char marked[MARKED_STRLEN];

	tell_mark(sm, m, "restored", "restored (%s); it was %s", cause, marked_str(m, marked));
}

/* Number of marks that are named in the record of those in force. */
#define NAMED 3u

void marks_tell_in_force(struct sm *sm)
{
	const struct mark_table *t = sm->m.marks->table;
	char text[NAMED * (MARK_PLACE_STRLEN + MARKED_STRLEN)] = "", where[MARK_PLACE_STRLEN],
					       marked[MARKED_STRLEN];
	size_t len = 0;

	for (uint32_t i = 0; i < MIN(t->n, NAMED) && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s %s", i ? "; " : "",
				mark_place_str(sm, &t->all[i], where),
				marked_str(&t->all[i], marked));
	if (t->n > NAMED)
		log_on(ABOUT(.id = LOG_ID_LINK_MARKED), LOGB_INFO,
		       "out of service: %s; and %u more ('opensmctl marks')", text, t->n - NAMED);
	else if (t->n)
		log_on(ABOUT(.id = LOG_ID_LINK_MARKED), LOGB_INFO, "out of service: %s", text);
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
