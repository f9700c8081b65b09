// SPDX-License-Identifier: BSD-2-Clause
/*
 * The list of alarms. A look gathers all that is wrong now; what is said of one object becomes one
 * alarm, and what was there at the last look keeps its begin.
 */
#include "sm/alarms/alarms_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fabric/words.h"
#include "sm/base/events.h"
#include "util/mem.h"

MACHINE_MEMORY(alarms);

/* A page that is asked for again and again has the fabric looked at once a second. */
#define LOOK_EVERY MONO_S

_Static_assert(ALARM_KINDS <= 64, "alarm.also has a bit for each kind");

void alarms_new(struct sm *sm, alarms_oldest_fn *oldest)
{
	sm->m.alarms->oldest = oldest;
}

static enum alarm_class class_of(const struct alarm *a)
{
	return alarm_rows[a->kind].class;
}

/* ---- devices that went ----------------------------------------------------------------------- */

void alarms_node_goes(struct sm *sm, struct node *n)
{
	struct alarms *s = sm->m.alarms;
	struct went *w;

	s->went = s->went ? s->went : guidmap_new();
	w = guidmap_get(s->went, n->guid);
	if (!w && guidmap_count(s->went) >= WENT_MAX)
		return;
	if (!w) {
		w = xcalloc(1, sizeof(*w));
		guidmap_put(s->went, n->guid, w);
	}
	*w = (struct went){ .node = n->guid, .type = n->type, .at = sm->now };
	snprintf(w->name, sizeof(w->name), "%s", node_name(n));
	for (unsigned i = 1; i <= n->n_ports && !w->behind; i++)
		w->behind = n->ports[i].met_guid;
}

/* Forgets devices that are there again. */
static void prune_went(struct sm *sm, struct alarms *s)
{
	size_t pos = 0;
	guid_t guid;
	void *w;

	while (s->went && guidmap_next(s->went, &pos, &guid, &w)) {
		if (!fabric_find_node(sm->fabric, guid))
			continue;
		free(guidmap_remove(s->went, guid));
		pos = 0;
	}
}

/* ---- one alarm for each object --------------------------------------------------------------- */

static int by_object(const void *a, const void *b)
{
	const struct alarm *x = a, *y = b;

	if (x->at.node != y->at.node)
		return x->at.node < y->at.node ? -1 : 1;
	if (x->at.port != y->at.port)
		return x->at.port < y->at.port ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static bool is_one_object(const struct alarm *a, const struct alarm *b)
{
	return a->at.node == b->at.node && a->at.port == b->at.port;
}

/* Index of the first alarm about a port of the node, or behind it. */
static uint32_t first_of(const struct alarm_list *list, guid_t node)
{
	uint32_t lo = 0, hi = list->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (list->all[mid].at.node < node)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct alarm *find(const struct alarm_list *list, guid_t node, unsigned port)
{
	for (uint32_t i = first_of(list, node); i < list->n && list->all[i].at.node == node; i++)
		if (list->all[i].at.port == port)
			return &list->all[i];
	return NULL;
}

static void merge_objects(struct alarm_list *f)
{
	uint32_t n = 0;

	if (f->n)
		qsort(f->all, f->n, sizeof(*f->all), by_object);
	for (uint32_t i = 0; i < f->n; i++) {
		struct alarm *last = n ? &f->all[n - 1] : NULL, *a = &f->all[i];

		if (!last || !is_one_object(last, a)) {
			f->all[n++] = *a;
			continue;
		}
		last->n += a->n;
		if (a->kind != last->kind)
			last->also |= 1ULL << a->kind;
	}
	f->n = n;
}

/* The alarm about a device at one end of the cable, other than planned work. */
static struct alarm *device_of(const struct alarm_list *f, const struct alarm *a)
{
	struct alarm *d = a->at.port ? find(f, a->at.node, 0) : NULL;

	if (!d && a->far.node)
		d = find(f, a->far.node, 0);
	return d && class_of(d) == ALARM_FAULT ? d : NULL;
}

/* A device that is silent or gone stands for links of it that are worse than they could be. */
static void merge_cables(struct alarm_list *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		struct alarm *a = &f->all[i];
		struct alarm *d =
			class_of(a) == ALARM_DEGRADED && a->at.node ? device_of(f, a) : NULL;

		if (d)
			d->also |= 1ULL << a->kind | a->also;
		a->n = d ? UINT_MAX : a->n;
	}
	for (uint32_t i = 0; i < f->n; i++)
		if (f->all[i].n != UINT_MAX)
			f->all[n++] = f->all[i];
	f->n = n;
}

static int by_severity(const void *a, const void *b)
{
	const struct alarm *x = a, *y = b;
	enum alarm_class cx = class_of(x), cy = class_of(y);

	if (cx != cy)
		return cx < cy ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->object, y->object);
}

/* Of more than ALARMS_MAX the severest are kept, and the others are counted. */
static void keep_severest(struct alarm_list *f)
{
	if (f->n <= ALARMS_MAX)
		return;
	qsort(f->all, f->n, sizeof(*f->all), by_severity);
	while (f->n > ALARMS_MAX)
		f->more[class_of(&f->all[--f->n])]++;
	qsort(f->all, f->n, sizeof(*f->all), by_object);
}

/* ---- what begins and what ends --------------------------------------------------------------- */

static void begin_alarm(struct look *l, struct alarm *a)
{
	a->before = !l->before->has_seen && a->at.node;
	if (!a->since && !a->before)
		a->since = sm_realtime(l->sm);
	event_alarm(l->sm, a, true);
}

/* Both lists are sorted by object. */
static void compare(struct look *l)
{
	const struct alarm_list *old = &l->before->list;
	struct alarm_list *now = &l->found;
	uint32_t i = 0, k = 0;

	while (i < old->n || k < now->n) {
		int order = i >= old->n ? 1 : k >= now->n ? -1 : 0;

		if (!order && !is_one_object(&old->all[i], &now->all[k]))
			order = by_object(&old->all[i], &now->all[k]);
		if (!order && old->all[i].kind == now->all[k].kind) {
			if (!now->all[k].since) {
				now->all[k].since = old->all[i].since;
				now->all[k].before = old->all[i].before;
			}
			i++, k++;
			continue;
		}
		if (order <= 0)
			event_alarm(l->sm, &old->all[i++], false);
		if (order >= 0)
			begin_alarm(l, &now->all[k++]);
	}
}

/* ---- the order in which they are shown ------------------------------------------------------- */

static int by_place(const void *a, const void *b, void *list)
{
	const struct alarm *all = list;

	return by_severity(&all[*(const uint32_t *)a], &all[*(const uint32_t *)b]);
}

static void sort(struct alarms *s)
{
	s->order = xrealloc(s->order, MAX(s->list.n, 1u), sizeof(*s->order));
	for (uint32_t i = 0; i < s->list.n; i++)
		s->order[i] = i;
	if (s->list.n)
		qsort_r(s->order, s->list.n, sizeof(*s->order), by_place, s->list.all);
}

/* ---- a look ---------------------------------------------------------------------------------- */

static bool may_look_at_fabric(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->first_sweep_done;
}

static void look(struct sm *sm)
{
	struct alarms *s = sm->m.alarms;
	struct look l = {
		.sm = sm,
		.before = s,
		.marks = marks_table(sm),
		.is_same = s->has_seen && s->edits == sm->fabric->edits,
	};
	bool sees = may_look_at_fabric(sm);

	prune_went(sm, s);
	alarms_look_at_manager(&l);
	if (sees) {
		alarms_look_at_fabric(&l);
		alarms_look_at_quality(&l);
		alarms_look_at_marks(&l);
		s->edits = sm->fabric->edits;
		if (!s->has_seen)
			s->since = sm_realtime(sm);
	}
	free(l.peers_rate);
	merge_objects(&l.found);
	merge_cables(&l.found);
	keep_severest(&l.found);
	s->look_at_all = l.look_at_all || l.found.more[ALARM_DEGRADED];
	compare(&l);
	free(s->list.all);
	s->list = l.found;
	s->has_seen = sees;
	s->has_looked = true;
	s->looked = sm->now;
	sort(s);
}

static struct alarms *refreshed(struct sm *sm)
{
	struct alarms *s = sm->m.alarms;

	if (!s->has_looked || sm->now - s->looked >= LOOK_EVERY)
		look(sm);
	return s;
}

void alarms_sweep_ended(struct sm *sm)
{
	look(sm);
}

void alarms_state_changed(struct sm *sm)
{
	look(sm);
}

void alarms_free(struct sm *sm)
{
	struct alarms *s = sm->m.alarms;
	size_t pos = 0;
	guid_t guid;
	void *w;

	free(s->list.all);
	free(s->order);
	while (s->went && guidmap_next(s->went, &pos, &guid, &w))
		free(w);
	guidmap_free(s->went);
}

/* ---- shown ----------------------------------------------------------------------------------- */

const struct alarm *sm_alarm_at(struct sm *sm, unsigned n)
{
	const struct alarms *s = refreshed(sm);

	return n < s->list.n ? &s->list.all[s->order[n]] : NULL;
}

/* Is it safe to paste into a shell between quotes, and does it name one end of a cable clearly? */
static bool is_plain(const struct alarm *a)
{
	unsigned dashes = 0;

	for (const char *at = a->object; (at = strstr(at, " - ")); at++)
		dashes++;
	return dashes == (a->far.node != 0) &&
	       strspn(a->object, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "_./: -") == strlen(a->object);
}

/* The object for a command: its name, of a cable one end; or the GUID, as hosts choose names. */
static void name_for_shell(const struct alarm *a, char *ret, size_t cap)
{
	const char *dash = a->far.node ? strstr(a->object, " - ") : NULL;
	int len = (int)(dash ? dash - a->object : (ptrdiff_t)strlen(a->object));

	if (is_plain(a))
		snprintf(ret, cap, "'%.*s'", len, a->object);
	else if (a->at.port)
		snprintf(ret, cap, "0x%016" PRIx64 "/%u", a->at.node, a->at.port);
	else
		snprintf(ret, cap, "0x%016" PRIx64, a->at.node);
}

char *sm_alarm_todo(const struct alarm *a, char ret[ALARM_TODO_STRLEN])
{
	static const char stands_for[] = "OBJECT";
	const char *todo = alarm_rows[a->kind].todo, *at = strstr(todo, stands_for);
	char name[ALARM_OBJECT_STRLEN + 2];

	name_for_shell(a, name, sizeof(name));
	if (at)
		snprintf(ret, ALARM_TODO_STRLEN, "%.*s%s%s", (int)(at - todo), todo, name,
			 at + strlen(stands_for));
	else
		snprintf(ret, ALARM_TODO_STRLEN, "%s", todo);
	return ret;
}

int64_t sm_alarms_since(const struct sm *sm)
{
	const struct alarms *s = sm->m.alarms;

	return s->has_seen ? s->since : 0;
}

unsigned sm_alarms(struct sm *sm, enum alarm_class class)
{
	const struct alarms *s = refreshed(sm);
	unsigned n = s->list.more[class];

	for (uint32_t i = 0; i < s->list.n; i++)
		n += class_of(&s->list.all[i]) == class;
	return n;
}

const struct alarm *sm_alarm_of(const struct sm *sm, const struct port *p)
{
	const struct alarm_list *list = &sm->m.alarms->list;
	const guid_t far = p->peer ? p->peer->node->guid : p->met_guid;
	const unsigned far_port = p->peer ? p->peer->num : p->met_port;
	const struct alarm *a;

	if (!list->n)
		return NULL;
	a = find(list, p->node->guid, p->num);
	a = a || !far ? a : find(list, far, far_port);
	a = a ? a : find(list, p->node->guid, 0);
	return a || !far ? a : find(list, far, 0);
}

static const char *plural(unsigned n, enum alarm_class class, char ret[32])
{
	static const char *const words[ALARM_CLASSES][2] = {
		[ALARM_FAULT] = { "fault", "faults" },
		[ALARM_DEGRADED] = { "degraded", "degraded" },
		[ALARM_PLANNED] = { "planned", "planned" },
	};

	snprintf(ret, 32, "%u %s", n, words[class][n != 1]);
	return ret;
}

/* Links and switches out of service are many, and known to those that took them out. */
static bool is_named_in_line(const struct alarm *a)
{
	return class_of(a) != ALARM_PLANNED || !a->at.node;
}

/* The line names as many as this, as far as there is room. */
#define NAMED_IN_LINE 5

static void name_some(const struct alarms *s, char *ret, size_t len, size_t cap)
{
	const char *between = ": ";
	unsigned n = 0;

	for (uint32_t i = 0; i < s->list.n && n < NAMED_IN_LINE; i++) {
		const struct alarm *a = &s->list.all[s->order[i]];

		if (!is_named_in_line(a) ||
		    len + strlen(a->object) + strlen(a->text) + sizeof("; : ") > cap)
			continue;
		len += (size_t)snprintf(ret + len, cap - len, "%s%s%s%s", between,
					a->at.node ? a->object : "", a->at.node ? ": " : "",
					a->text);
		between = "; ";
		n++;
	}
}

unsigned sm_alarms_line(struct sm *sm, char *ret, size_t cap)
{
	const struct alarms *s = sm->m.alarms;
	unsigned total = 0;
	size_t len = 0;
	char words[32];

	assert(cap > 0);
	if (!s->has_looked || s->looked != sm->now)
		look(sm);
	ret[0] = '\0';
	for (enum alarm_class c = ALARM_FAULT; c < ALARM_CLASSES; c++) {
		unsigned n = sm_alarms(sm, c);

		if (n && len < cap)
			len += (size_t)snprintf(ret + len, cap - len, "%s%s", total ? ", " : "",
						plural(n, c, words));
		total += n;
	}
	if (total && len < cap)
		name_some(s, ret, len, cap);
	return total;
}
