// SPDX-License-Identifier: BSD-2-Clause
/* Engines in the order asked for, each result judged; `auto` as the last resort. */
#include "route/choose.h"

#include <stdio.h>
#include <string.h>

#include "util/mem.h"

static bool is_separator(char c)
{
	return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

/* The next name of the list; false at its end. */
static bool next_name(const char **list, char *ret, size_t cap)
{
	size_t len = 0;

	while (**list && is_separator(**list))
		(*list)++;
	while (**list && !is_separator(**list)) {
		if (len + 1 < cap)
			ret[len++] = **list;
		(*list)++;
	}
	ret[len] = '\0';
	return len > 0;
}

const char *route_fault(const struct route_verdict *v)
{
	return v->looping	? "go round"
	       : v->lost	 ? "leave pairs without a path"
	       : v->credit_loop ? "can block each other (credit loop)"
				: NULL;
}

static void note_refusal(struct route_choice *c, const char *name, const char *why)
{
	size_t len = strlen(c->refused);

	snprintf(c->refused + len, sizeof(c->refused) - len, "%s%s: %s", len ? "; " : "", name,
		 why);
}

/* Tables of one engine, if they hold (or may be unsafe). */
static struct routes *try(const struct route_chain *chain, const struct route_engine *engine,
			  const struct route_job *job, struct route_choice *c)
{
	struct routes *r = route_engine_run(engine, job, c->why, sizeof(c->why));
	char text[ROUTE_VERDICT_STRLEN], why[ROUTE_VERDICT_STRLEN + 80];
	const char *fault;

	if (!r) {
		note_refusal(c, engine->name, c->why);
		return NULL;
	}
	if (r->judged)
		c->verdict = *r->judged;
	else
		routes_check_after(job->previous, r, job->threads, &c->verdict);
	/* What grew out of tables of unknown making is not to be eased afterwards either. */
	if (job->previous && !job->previous->options && !r->eased_load)
		r->eased_load = c->verdict.max_load;
	fault = route_fault(&c->verdict);
	c->unsafe = fault && chain->allow_unsafe;
	if (!fault || chain->allow_unsafe)
		return r;
	snprintf(why, sizeof(why), "its tables %s and are refused (%s)", fault,
		 route_verdict_str(&c->verdict, text));
	note_refusal(c, engine->name, why);
	snprintf(c->why, sizeof(c->why), "%s: its tables %s", engine->name, fault);
	routes_unref(r);
	return NULL;
}

struct routes *route_choose(const struct route_chain *chain, const struct route_job *job,
			    struct route_choice *ret)
{
	const char *list = chain->list ? chain->list : "";
	bool fallback = true, tried_auto = false;
	char name[64];

	*ret = (struct route_choice){ 0 };
	while (next_name(&list, name, sizeof(name))) {
		const struct route_engine *engine = route_engine_find_in(chain->more, name);
		struct routes *r;

		if (!strcmp(name, "no_fallback"))
			fallback = false;
		if (!engine)
			continue;
		tried_auto |= !strcmp(name, "auto");
		r = try(chain, engine, job, ret);
		if (r)
			return r;
	}
	if (fallback && !tried_auto)
		return try(chain, route_engine_find("auto"), job, ret);
	if (!ret->why[0])
		snprintf(ret->why, sizeof(ret->why),
			 "routing_engine has no_fallback and names no engine that there is");
	return NULL;
}
