// SPDX-License-Identifier: BSD-2-Clause
/* The load of a plan: of the most loaded cable as it is, and without those that would go. */
#pragma once

#include "api/daemon_api.h"
#include "api/fields.h"
#include "sm/marks/marks.h"

struct mark_load;

/* NULL: nothing is routed, or the target is no switch port of these routes. */
struct mark_load *mark_load_new(const struct routes *r, const struct fabric *f,
				const struct mark_request *rq);
struct mark_load *mark_load_free(struct mark_load *l);
/*
 * Finds it on the thread that renders; then `done` with `arg` and a copy of `result`, from the main
 * loop. Once it is called, `l` is free to be freed.
 */
void mark_load_find(struct mark_load *l, const struct daemon_api *api,
		    const struct mark_result *result, mark_done_fn *done, void *arg);
struct json_object *mark_load_json(const struct mark_load *l, const struct fabric *f);
extern const struct json_field mark_load_fields[];
