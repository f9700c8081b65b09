// SPDX-License-Identifier: BSD-2-Clause
/* What came of --drain, for people and for programs. */
#include "api/json.h"
#include "offline/plan.h"
#include "util/str.h"

bool plan_drain_holds(const struct plan_drain *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (!d->steps[i].holds)
			return false;
	return true;
}

bool plan_drain_loses_pairs(const struct plan_drain *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->steps[i].lost)
			return true;
	return false;
}

void plan_print_drain(const struct plan_result *r, FILE *out)
{
	const struct plan_drain *d = &r->drain;
	const struct topo *t = r->world.topo;

	fprintf(out, "\nDrain     %s in this order; %s%s\n",
		STR_COUNT(d->n, "switch", "switches"),
		plan_drain_holds(d) ? "every state on the way is proved"
				    : "NOT EVERY STATE ON THE WAY HOLDS",
		plan_drain_loses_pairs(d) ? ", BUT SOME PAIRS LOSE THEIR PATH" : "");
	for (uint32_t i = 0; i < d->n; i++) {
		const struct plan_step *s = &d->steps[i];
		char name[PLAN_NODE_STRLEN];

		fprintf(out, "%-10s%u. %s: ", "", i + 1,
			plan_switch_str(&r->world, t->switches[s->sw].guid, name));
		if (!s->holds)
			fputs("no tables that hold; ", out);
		fprintf(out,
			"most load %u (now %u), %s, %s no path\n", s->max_load,
			r->now.choice.verdict.max_load,
			STR_COUNT(s->change.blocks, "block changes", "blocks change"),
			STR_COUNT(s->lost, "pair of the end ports left has",
				  "pairs of the end ports left have"));
	}
}

struct json_object *plan_drain_json(const struct plan_result *r)
{
	struct json_object *o = json_object_new_object(), *list = json_add_array(o, "steps");

	json_add_bool(o, "holds", plan_drain_holds(&r->drain));
	for (uint32_t i = 0; i < r->drain.n; i++) {
		const struct plan_step *s = &r->drain.steps[i];
		struct json_object *one = json_append_object(list);
		guid_t guid = r->world.topo->switches[s->sw].guid;

		json_add_str(one, "name", plan_name(&r->world, guid));
		json_add_guid(one, "guid", guid);
		json_add_bool(one, "holds", s->holds);
		json_add_int(one, "pairs_without_path", (int64_t)s->lost);
		json_add_int(one, "max_load", s->max_load);
		json_add_int(one, "blocks", (int64_t)s->change.blocks);
		json_add_int(one, "pairs_that_change", (int64_t)s->change.pairs);
	}
	return o;
}
