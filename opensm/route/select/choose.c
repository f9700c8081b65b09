// SPDX-License-Identifier: BSD-2-Clause
/* Engines in the order asked for, each result checked; `auto` as the last resort. */
#include "route/select/choose.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "route/select/engines.h"
#include "route/vl/port_class.h"
#include "util/mem.h"

#define SEPARATORS ", \t\n"

/* The next name of the list; false at its end. */
static bool next_name(const char **list, char *ret, size_t cap)
{
	const char *name = *list + strspn(*list, SEPARATORS);
	size_t len = strcspn(name, SEPARATORS);

	snprintf(ret, cap, "%.*s", (int)MIN(len, cap), name);
	*list = name + len;
	return len > 0;
}

static void note_refusal(struct route_choice *c, const char *name, const char *why)
{
	size_t len = strlen(c->refused);

	snprintf(c->refused + len, sizeof(c->refused) - len, "%s%s: %s", len ? "; " : "", name,
		 why);
}

static const struct route_skip *find_skip(const struct route_chain *chain, const char *name)
{
	for (unsigned i = 0; i < chain->n_skip; i++)
		if (!strcmp(chain->skip[i].engine, name))
			return &chain->skip[i];
	return NULL;
}

/*
 * With fewer levels of service there are more VLs for each, so that an engine that has too few may
 * do after all. The plan of lanes says how many fit (plan/qos.h).
 */
static struct routes *run_engine(const struct route_engine *engine, const struct route_job *job,
				 struct route_choice *c)
{
	struct route_job fewer = *job;
	struct routes *r = NULL;
	char why[sizeof(c->why)];

	if (job->progress)
		snprintf(job->progress->engine, sizeof(job->progress->engine), "%s", engine->name);
	r = route_engine_run(engine, job, c->why, sizeof(c->why));
	for (fewer.options.levels = job->options.levels;
	     !r && fewer.options.levels > 1 && !route_is_cancelled(job);) {
		unsigned vls = route_vls(&fewer);

		while (fewer.options.levels > 1 && route_vls(&fewer) == vls)
			fewer.options.levels--;
		r = route_engine_run(engine, &fewer, why, sizeof(why));
	}
	return r;
}

/* Tables of one engine, if they hold (or may be unsafe). */
static struct routes *try_engine(const struct route_chain *chain, const struct route_engine *engine,
			  const struct route_job *job, struct route_choice *c)
{
	const struct route_skip *skip = find_skip(chain, engine->name);
	struct routes *r = NULL;
	char text[ROUTE_VERDICT_STRLEN], why[ROUTE_VERDICT_STRLEN + 160], more[80] = "";
	const char *fault;

	if (skip) /* the reason is noted, as for one that was tried */
		snprintf(c->why, sizeof(c->why), "%s", skip->why);
	else
		r = run_engine(engine, job, c);
	if (!r) {
		note_refusal(c, engine->name, c->why);
		return NULL;
	}
	if (r->judged)
		c->verdict = *r->judged;
	else
		port_class_check(engine, job, job->previous, r, &c->verdict);
	/* Tables derived from some of unknown making are not balanced afterwards either. */
	if (job->previous && !job->previous->options && !r->balanced_load)
		r->balanced_load = c->verdict.max_load;
	fault = route_fault(&c->verdict);
	c->unsafe = fault && chain->allow_unsafe;
	if (!fault || chain->allow_unsafe)
		return r;
	if (port_class_lacks_vls(job, r, &c->verdict))
		snprintf(more, sizeof(more), "; 2 or 3 VLs by port class may end that (here: %u)",
			 route_vls(job));
	snprintf(why, sizeof(why), "its tables %s and are refused (%s)%s", fault,
		 route_verdict_str(&c->verdict, text), more);
	note_refusal(c, engine->name, why);
	snprintf(c->why, sizeof(c->why), "%s: its tables %s", engine->name, fault);
	routes_unref(r);
	return NULL;
}

/* After the death of auto, or of the engine before it: the plain engines. */
static struct routes *try_plain(const struct route_chain *chain, const struct route_job *job,
				struct route_choice *c)
{
	const struct route_engine *engine;
	struct routes *r = NULL;

	for (unsigned n = 1; !r && (engine = route_engine_last_resort(n)); n++)
		if (!find_skip(chain, engine->name))
			r = try_engine(chain, engine, job, c);
	return r;
}

static bool has_fallback(const struct route_chain *chain)
{
	const char *list = chain->list;
	char name[64];

	while (list && next_name(&list, name, sizeof(name)))
		if (!strcmp(name, "no_fallback"))
			return false;
	return true;
}

/* The first of the list that is not skipped, from `*list` on; NULL: there is no more. */
static const struct route_engine *next_asked(const struct route_chain *chain, const char **list)
{
	char name[64];

	while (*list && next_name(list, name, sizeof(name))) {
		const struct route_engine *engine = route_engine_find_in(chain->more, name);

		if (engine && !find_skip(chain, engine->name))
			return engine;
	}
	return NULL;
}

const struct route_engine *route_chain_first(const struct route_chain *chain)
{
	const char *list = chain->list;
	const struct route_engine *engine = next_asked(chain, &list);

	if (engine || !has_fallback(chain))
		return engine;
	engine = route_engine_that_chooses();
	for (unsigned n = 1; engine && find_skip(chain, engine->name); n++)
		engine = route_engine_last_resort(n);
	return engine;
}

bool route_chain_is_slow(const struct route_chain *chain)
{
	const char *list = chain->list;
	const struct route_engine *engine;

	while ((engine = next_asked(chain, &list)))
		if (engine->slow || engine->compute_with)
			return true;
	return false;
}

struct routes *route_choose(const struct route_chain *chain, const struct route_job *job,
			    struct route_choice *ret)
{
	const char *list = chain->list ? chain->list : "";
	bool tried_auto = false;
	char name[64];

	assert(chain && job && job->topo && ret);
	*ret = (struct route_choice){ 0 };
	while (next_name(&list, name, sizeof(name))) {
		const struct route_engine *engine = route_engine_find_in(chain->more, name);
		struct routes *r;

		if (!engine)
			continue;
		tried_auto |= engine->chooses;
		r = try_engine(chain, engine, job, ret);
		if (r)
			return r;
	}
	if (has_fallback(chain) && (!tried_auto || chain->n_skip)) {
		struct routes *r = NULL;

		if (!tried_auto)
			r = try_engine(chain, route_engine_that_chooses(), job, ret);
		return r || !chain->n_skip ? r : try_plain(chain, job, ret);
	}
	if (!ret->why[0])
		snprintf(ret->why, sizeof(ret->why),
			 "routing_engine has no_fallback and names no engine that there is");
	return NULL;
}
