// SPDX-License-Identifier: BSD-2-Clause
/* The findings of --diff as JSON: the facts of the lines. */
#include <json-c/json.h>

#include "api/json.h"
#include "offline/offline.h"

static struct json_object *end_of(const struct expect_end *e)
{
	struct json_object *o;

	if (!e->guid)
		return NULL;
	o = json_object_new_object();
	json_add_str(o, "name", e->name[0] ? e->name : NULL);
	if (!expect_guid_is_number(e->guid))
		json_add_guid(o, "guid", e->guid);
	json_add_known(o, "port", e->port, e->port);
	return o;
}

static void add_picture(struct json_object *o, const char *key, const char *path,
			const struct expect *x)
{
	struct json_object *p = json_add_object(o, key);

	json_add_str(p, "file", path);
	json_add_int(p, "nodes", x->n_nodes);
	json_add_int(p, "cables", expect_count_cables(x));
}

static void add_rate(struct json_object *o, const char *key, struct expect_rate rate)
{
	char text[EXPECT_RATE_STRLEN];

	json_add_str(o, key, expect_rate_str(rate, text));
}

static struct json_object *changes_of(const struct expect_report *r, const struct expect_finding *f)
{
	struct json_object *all = json_object_new_array();

	for (uint32_t i = f->first_change; i < f->first_change + f->n_changes; i++) {
		const struct expect_change *c = &r->changes[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "port", end_of(&c->at));
		json_object_object_add(o, "expected", end_of(&c->was));
		json_object_object_add(o, "found", end_of(&c->is));
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *finding_of(const struct expect_report *r, const struct expect_finding *f)
{
	_cleanup_free_ char *line = expect_finding_str(r, f);
	struct json_object *o = json_object_new_object();

	json_add_str(o, "cause", expect_kind_name(f->kind));
	json_add_str(o, "text", line);
	json_object_object_add(o, "node", end_of(&f->node));
	json_object_object_add(o, "other", end_of(&f->other));
	if (f->n_nodes)
		json_add_int(o, "nodes", f->n_nodes);
	if (f->kind == EXPECT_SHIFTED) {
		json_add_int(o, "from", f->from);
		json_add_int(o, "to", f->to);
		json_add_int(o, "step", f->step);
	}
	if (f->kind == EXPECT_DEGRADED) {
		add_rate(o, "rate_found", f->have);
		add_rate(o, f->by_ends ? "rate_supported" : "rate_expected", f->want);
	}
	json_object_object_add(o, "cables", changes_of(r, f));
	return o;
}

void diff_print_json(const struct diff *d, FILE *out)
{
	struct json_object *o = json_object_new_object(), *findings = json_object_new_array();

	json_add_bool(o, "equal", !d->report->n_findings);
	add_picture(o, "expected", d->path[0], d->expected);
	add_picture(o, "found", d->path[1], d->found);
	for (uint32_t i = 0; i < d->report->n_findings; i++)
		json_object_array_add(findings, finding_of(d->report, &d->report->findings[i]));
	json_object_object_add(o, "findings", findings);
	fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
						       JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	fputc('\n', out);
	json_object_put(o);
}
