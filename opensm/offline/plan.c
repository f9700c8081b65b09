// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm --plan: the engines and the verifier of the daemon on a fabric from a file; what would
 * change, what a failure does, what fails worst.
 */
#include "offline/plan.h"

#include <errno.h>

#include "offline/base/output.h"
#include "offline/offline.h"
#include "util/mem.h"

static void result_clear(struct plan_result *r)
{
	plan_tables_clear(&r->now);
	plan_tables_clear(&r->after);
	routes_unref(r->running);
	routes_unref(r->before);
	cut_free(r->cut);
	topo_unref(r->broken);
	free(r->worst.rows);
	free(r->patches.rows);
	free(r->drained);
	free(r->drain.steps);
	plan_world_clear(&r->later);
	plan_world_clear(&r->world);
}

static void route_now(struct plan_result *r)
{
	const struct plan_args *a = r->world.args;

	const struct plan_before before = { a->fresh	? NULL
					    : r->before ? r->before
							: r->running,
					    !r->before };

	plan_route(&r->world, r->world.topo, before, true, &r->now);
	if (r->running && r->now.routes)
		figures_compare(r->running, r->now.routes, a->threads, &r->against);
}

static void route_broken(struct plan_result *r)
{
	const struct plan_world *w = r->later.file ? &r->later : &r->world;

	r->broken = r->cut ? cut_apply(r->world.topo, r->cut) : topo_ref(r->later.topo);
	plan_route(w, r->broken, (struct plan_before){ r->now.routes, false }, true,
		   &r->after);
	if (r->now.routes && r->after.routes)
		figures_compare(r->now.routes, r->after.routes, r->world.args->threads, &r->change);
}

static int read_all(const struct plan_args *a, struct plan_result *r)
{
	int e = plan_read(a, &r->world);

	if (e >= 0)
		e = plan_order_read(&r->world);
	if (e >= 0 && a->hosts)
		e = plan_hosts_read(&r->world);
	if (e >= 0 && a->then)
		e = plan_read_later(&r->world, &r->later);
	if (e >= 0 && a->then)
		e = plan_order_read(&r->later);
	if (e >= 0 && a->then && a->hosts)
		e = plan_hosts_read(&r->later);
	if (e >= 0 && a->drain)
		e = plan_drain_read(r);
	if (e < 0)
		return e;
	if (a->running) {
		r->running = plan_read_running(&r->world, r->running_why, sizeof(r->running_why));
		if (!r->running)
			fprintf(stderr, "opensm: --running %s: %s\n", a->running, r->running_why);
		if (!r->running)
			return -EINVAL;
	}
	if (a->before) {
		r->before = plan_read_before(a->before, r->running_why, sizeof(r->running_why));
		if (!r->before)
			fprintf(stderr, "opensm: --before %s: %s\n", a->before, r->running_why);
		if (!r->before)
			return -EINVAL;
	}
	if (a->n_fails)
		r->cut = cut_new(r->world.topo);
	for (unsigned i = 0; i < a->n_fails; i++)
		if (plan_fail_add(&r->world, a->fails[i], r->cut) < 0)
			return -EINVAL;
	return 0;
}

static int plan(const struct plan_args *a, struct plan_result *r)
{
	if (read_all(a, r) < 0) {
		fputs("opensm: --plan: errors in its input; nothing is routed\n", stderr);
		return PLAN_EXIT_INPUT;
	}
	route_now(r);
	if (r->cut || r->later.file)
		route_broken(r);
	if (a->worst != PLAN_WORST_NONE && r->now.routes)
		r->worst = plan_find_worst(r);
	if (a->worst == PLAN_WORST_LINK && r->now.routes)
		r->patches = plan_find_patches(r);
	if (r->n_drained && r->now.routes)
		r->drain = plan_find_drain(r);
	if (a->json)
		plan_print_json(r, stdout);
	else
		plan_print_text(r, stdout);
	if (a->dumps && plan_write_dumps(r, a->dumps) < 0)
		return PLAN_EXIT_INPUT;
	if (a->svg && plan_write_svg(r, a->svg) < 0)
		return PLAN_EXIT_INPUT;
	if (!output_done())
		return PLAN_EXIT_INPUT;
	if (!r->now.routes || (r->broken && !r->after.routes))
		return 1;
	return plan_drain_holds(&r->drain) && !plan_drain_loses_pairs(&r->drain) ? 0 : 1;
}

int offline_plan(int argc, char **argv)
{
	_cleanup_(result_clear) struct plan_result r = { 0 };
	struct plan_args args;
	int status = 0;

	if (plan_args_parse(argc, argv, &args) < 0) {
		fputs("opensm: see opensm --plan --help\n", stderr);
		status = PLAN_EXIT_USAGE;
	} else if (args.help) {
		plan_usage(stdout);
	} else {
		setvbuf(stdout, NULL, _IOFBF, 1 << 16);
		status = plan(&args, &r);
	}
	free(args.fails);
	return status;
}
