// SPDX-License-Identifier: BSD-2-Clause
/* One alarm, as a look adds it: its object by name, and its sentence. */
#include "sm/alarms/alarms_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "fabric/words.h"
#include "util/guidmap.h"
#include "util/mem.h"

/* ---- one alarm ------------------------------------------------------------------------------- */

struct alarm *alarm_add(struct look *l, enum alarm_kind kind, struct alarm_end at)
{
	struct alarm_list *f = &l->found;
	struct alarm *a;

	assert(kind < ALARM_KINDS && alarm_rows[kind].class < ALARM_CLASSES);
	if (f->n < ALARMS_FOUND_MAX) {
		GROW(f->all, f->n + 1, f->cap);
		a = &f->all[f->n++];
	} else {
		f->more[alarm_rows[kind].class]++;
		a = &l->beyond;
	}
	*a = (struct alarm){ .kind = kind, .at = at };
	snprintf(a->text, ALARM_TEXT_STRLEN, "%s", alarm_rows[kind].cause);
	return a;
}

void alarm_say(struct alarm *a, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(a->text, sizeof(a->text), fmt, args);
	va_end(args);
}

void alarm_add_own(struct look *l, enum alarm_kind kind, unsigned n, const char *fmt, ...)
{
	struct alarm *a = alarm_add(l, kind, (struct alarm_end){ .port = (uint8_t)kind });
	va_list args;

	a->n = n;
	snprintf(a->object, sizeof(a->object), "subnet");
	va_start(args, fmt);
	vsnprintf(a->text, sizeof(a->text), fmt, args);
	va_end(args);
}

static void name_of(const struct look *l, guid_t guid, char ret[NODE_DESC_STRLEN])
{
	const struct node *n = fabric_find_node(l->sm->fabric, guid);
	const struct went *w = n ? NULL : went_find(l->before, guid);

	if (n || w)
		snprintf(ret, NODE_DESC_STRLEN, "%s", n ? node_name(n) : w->name);
	else
		snprintf(ret, NODE_DESC_STRLEN, "0x%016" PRIx64, guid);
}

void alarm_name_node(const struct look *l, struct alarm *a)
{
	name_of(l, a->at.node, a->object);
}

void alarm_name_cable(const struct look *l, struct alarm *a)
{
	char one[NODE_DESC_STRLEN], two[NODE_DESC_STRLEN];

	name_of(l, a->at.node, one);
	if (!a->far.node) {
		snprintf(a->object, sizeof(a->object), "%s/%u", one, a->at.port);
		return;
	}
	name_of(l, a->far.node, two);
	snprintf(a->object, sizeof(a->object), "%s/%u - %s/%u", one, a->at.port, two, a->far.port);
}

/* A cable is named from its switch; of two switches from that with the lesser GUID. */
static bool is_first(const struct port *p, const struct port *q)
{
	if (node_is_switch(p->node) != node_is_switch(q->node))
		return node_is_switch(p->node);
	if (p->node->guid != q->node->guid)
		return p->node->guid < q->node->guid;
	return p->num <= q->num;
}

struct alarm *alarm_add_cable(struct look *l, enum alarm_kind kind, const struct port *p)
{
	struct node *far = p->peer ? p->peer->node : fabric_find_node(l->sm->fabric, p->met_guid);
	const struct port *q = p->peer ? p->peer
			       : far && p->met_guid && p->met_port <= far->n_ports
				       ? &far->ports[p->met_port]
				       : NULL;
	struct alarm *a;

	if (q && !is_first(p, q)) {
		const struct port *first = q;

		q = p;
		p = first;
	}
	a = alarm_add(l, kind, (struct alarm_end){ p->node->guid, p->num });
	a->where = a->at;
	a->far = q ? (struct alarm_end){ q->node->guid, q->num }
		   : (struct alarm_end){ p->met_guid, p->met_port };
	alarm_name_cable(l, a);
	return a;
}

bool alarm_is_planned(const struct look *l, struct alarm_end at)
{
	if (!l->marks->n || !at.node)
		return false;
	return mark_table_find(l->marks, at.node, MARK_WHOLE_SWITCH) != UINT32_MAX ||
	       (at.port && mark_table_find(l->marks, at.node, at.port) != UINT32_MAX);
}

/* ---- devices that went ----------------------------------------------------------------------- */

const struct went *went_find(const struct alarms *s, guid_t node)
{
	return s->went ? guidmap_get(s->went, node) : NULL;
}

void went_forget(struct alarms *s, guid_t node)
{
	free(s->went ? guidmap_remove(s->went, node) : NULL);
}
