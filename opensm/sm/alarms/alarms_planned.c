// SPDX-License-Identifier: BSD-2-Clause
/* Links and switches that an administrator took out of service: an alarm for each mark. */
#include <stdio.h>

#include "sm/alarms/alarms_internal.h"

static const char *state_words(const struct mark_shown *s)
{
	switch (s->state) {
	case MARK_ABSENT:
		return ", its cable is not there";
	case MARK_SPARED:
		return ", and is used all the same: it is the last way";
	case MARK_DRAINING:
		return ", not done yet";
	case MARK_RETURNING:
		return ", its time is over and it returns";
	case MARK_UNCLEAN:
		return ", its time is over and it is kept out";
	case MARK_STORED:
	case MARK_DRAINED:
	case MARK_ISOLATED:
		break;
	}
	return "";
}

static void add_mark(struct look *l, const struct mark_shown *s)
{
	const struct link_mark *m = s->mark;
	bool whole = m->port == MARK_WHOLE_SWITCH;
	enum alarm_kind kind = m->kind == MARK_DRAIN ? ALARM_ADMIN_DRAINED : ALARM_ADMIN_ISOLATED;
	struct alarm *a = alarm_add(l, kind, (struct alarm_end){ m->node, whole ? 0 : m->port });

	a->since = m->since;
	a->where = a->at;
	a->n = whole ? s->n_cables : 0;
	snprintf(a->by, sizeof(a->by), "%s", m->by[0] == '-' && !m->by[1] ? "" : m->by);
	snprintf(a->why, sizeof(a->why), "%s", m->why);
	if (!whole && s->peer)
		a->far = (struct alarm_end){ s->peer->node->guid, s->peer->num };
	if (whole)
		alarm_name_node(l, a);
	else
		alarm_name_cable(l, a);
	alarm_say(a, "%s by %s%s%s%s%s", m->kind == MARK_DRAIN ? "drained" : "isolated",
		  a->by[0] ? a->by : "an administrator", m->why[0] ? " (" : "", m->why,
		  m->why[0] ? ")" : "", s->kept[0] ? "" : state_words(s));
	if (s->kept[0])
		alarm_say(a, "%s; kept out: %s", alarm_rows[kind].name, s->kept);
}

void alarms_look_at_marks(struct look *l)
{
	struct mark_shown s;

	for (unsigned i = 0; sm_mark_at(l->sm, i, &s); i++)
		add_mark(l, &s);
}
