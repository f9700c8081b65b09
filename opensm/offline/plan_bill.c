// SPDX-License-Identifier: BSD-2-Clause
/*
 * --bill: the cables of a fabric, counted by what they join, width, speed and level. Without a
 * tree there are no levels.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "api/json.h"
#include "offline/plan.h"
#include "route/shape/recognise.h"
#include "util/mem.h"

static bool is_switch(const struct plan_world *w, const struct topofile_port *p)
{
	return w->file->nodes[p->node].type == TOPOFILE_SWITCH;
}

/* Hops of the switch above the leaves; TOPO_NONE: no tree, or no leaf is reached. */
static uint32_t level_of(const struct plan_world *w, const uint32_t *ranks,
			 const struct topofile_port *p)
{
	uint32_t sw = ranks ? topo_find_switch(w->topo, w->file->nodes[p->node].guid) : TOPO_NONE;

	return sw != TOPO_NONE ? ranks[sw] : TOPO_NONE;
}

static struct plan_cables cables_of(const struct plan_world *w, const uint32_t *ranks,
				    const struct topofile_port *p)
{
	const struct topofile_port *q = &w->file->ports[p->peer];
	struct plan_cables c = { .n = 1, .low = TOPO_NONE, .high = TOPO_NONE };
	uint32_t a = level_of(w, ranks, p), b = level_of(w, ranks, q);

	c.width = p->width ? p->width : q->width;
	snprintf(c.speed, sizeof(c.speed), "%s", p->speed[0] ? p->speed : q->speed);
	if (is_switch(w, p) && is_switch(w, q)) {
		c.kind = PLAN_CABLE_SWITCHES;
		c.low = MIN(a, b);
		c.high = MAX(a, b);
	} else if (is_switch(w, p) || is_switch(w, q)) {
		c.kind = PLAN_CABLE_HOST;
		c.low = is_switch(w, p) ? a : b;
	} else {
		c.kind = PLAN_CABLE_DIRECT;
	}
	return c;
}

#define COMPARE(x, y) ((x) < (y) ? -1 : (x) > (y))

static int compare(const void *va, const void *vb)
{
	const struct plan_cables *a = va, *b = vb;
	int r = COMPARE(a->kind, b->kind);

	if (!r)
		r = COMPARE(a->low, b->low);
	if (!r)
		r = COMPARE(a->high, b->high);
	if (!r)
		r = strcmp(a->speed, b->speed);
	return r ? r : COMPARE(a->width, b->width);
}

static uint32_t *find_ranks(const struct topo *t)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, NULL);
	_cleanup_(shape_freep) struct shape *s = shape_find(g);
	uint32_t *ranks = xcalloc((size_t)t->n_switches + 1, sizeof(*ranks));

	if (s->kind != SHAPE_TREE) {
		free(ranks);
		return NULL;
	}
	shape_ranks(g, ranks);
	return ranks;
}

struct plan_cables *plan_bill(const struct plan_world *w, uint32_t *ret_n)
{
	const struct topofile *f = w->file;
	_cleanup_free_ uint32_t *ranks = find_ranks(w->topo);
	struct plan_cables *all = xcalloc((size_t)f->n_ports + 1, sizeof(*all));
	uint32_t n = 0, kinds = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != TOPO_NONE && i < f->ports[i].peer)
			all[n++] = cables_of(w, ranks, &f->ports[i]);
	if (n)
		qsort(all, n, sizeof(*all), compare);
	for (uint32_t i = 0; i < n; i++) {
		if (kinds && !compare(&all[kinds - 1], &all[i]))
			all[kinds - 1].n++;
		else
			all[kinds++] = all[i];
	}
	*ret_n = kinds;
	return all;
}

static void print_levels(const struct plan_cables *c, FILE *out)
{
	if (c->kind == PLAN_CABLE_DIRECT)
		fputs("between hosts", out);
	else
		fputs(c->kind == PLAN_CABLE_HOST ? "hosts to switches" : "between switches", out);
	if (c->kind == PLAN_CABLE_HOST && c->low != TOPO_NONE)
		fprintf(out, " of level %u", c->low);
	if (c->kind == PLAN_CABLE_SWITCHES && c->high != TOPO_NONE)
		fprintf(out, " of levels %u and %u", c->low, c->high);
}

void plan_print_bill(const struct plan_world *w, FILE *out)
{
	uint32_t n, sum = 0;
	_cleanup_free_ struct plan_cables *all = plan_bill(w, &n);
	bool levels = false;

	fputc('\n', out);
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_cables *c = &all[i];

		sum += c->n;
		levels |= c->low != TOPO_NONE;
		fprintf(out, "%-10s%-7u ", i ? "" : "Cables", c->n);
		if (c->width)
			fprintf(out, "%ux", c->width);
		fprintf(out, "%s ", c->speed[0] ? c->speed : c->width ? "" : "(speed not said)");
		print_levels(c, out);
		fputc('\n', out);
	}
	fprintf(out, "%-10s%-7u in all%s\n", n ? "" : "Cables", sum,
		levels ? "; level 0 are the leaves" : "");
}

static void add_level(struct json_object *o, const char *key, uint32_t level)
{
	if (level != TOPO_NONE)
		json_add_int(o, key, level);
}

struct json_object *plan_bill_json(const struct plan_world *w)
{
	static const char *const kinds[] = { "host", "switches", "direct" };
	struct json_object *list = json_object_new_array();
	uint32_t n;
	_cleanup_free_ struct plan_cables *all = plan_bill(w, &n);

	for (uint32_t i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		json_add_int(o, "cables", all[i].n);
		json_add_str(o, "kind", kinds[all[i].kind]);
		json_add_int(o, "width", all[i].width);
		json_add_str(o, "speed", all[i].speed[0] ? all[i].speed : NULL);
		add_level(o, "level", all[i].low);
		add_level(o, "upper_level", all[i].high);
		json_object_array_add(list, o);
	}
	return list;
}
