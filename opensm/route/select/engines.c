// SPDX-License-Identifier: BSD-2-Clause
/* The table of engines. choose.c decides which of them computes, and in which order. */
#include "route/select/engines.h"

#include <assert.h>
#include <string.h>

#include "route/direct/direct_routes.h"
#include "util/mem.h"

#define ENGINE(NAME, FUNCTION, SLS, ...) \
	{ .name = (NAME), .compute = FUNCTION##_compute, .sls = (SLS), __VA_ARGS__ },
static const struct route_engine engines[] = { CONF_ENGINES(ENGINE) };

const struct route_engine *route_engine_find(const char *name)
{
	return route_engine_find_in(NULL, name);
}

const struct route_engine *route_engine_find_in(const struct route_engines *more, const char *name)
{
	assert(name);
	for (unsigned i = 0; more && i < more->n; i++)
		if (!strcmp(more->rows[i].name, name))
			return &more->rows[i];
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	return NULL;
}

const struct route_engine *route_engine_that_chooses(void)
{
	const struct route_engine *e = engines;

	while (!e->chooses)
		e++;
	return e;
}

const struct route_engine *route_engine_last_resort(unsigned n)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (n && engines[i].last_resort == n)
			return &engines[i];
	return NULL;
}

const struct route_engine *route_engine_of(const struct routes *r)
{
	static const struct route_engine unknown = { .name = "" };
	const struct route_engine *engine = route_engine_find(r->by[0] ? r->by : r->engine);

	return engine ? engine : &unknown;
}

enum keep_rule route_engine_load_rule(const struct routes *r)
{
	const struct route_engine *engine = route_engine_of(r);
	const bool has_levels = engine->sls == PATH_SL && !engine->exact;

	return has_levels || keep_has_path_levels(r) ? KEEP_PATHS : KEEP_LOAD;
}
