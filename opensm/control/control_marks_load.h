// SPDX-License-Identifier: BSD-2-Clause
/* The load of a plan of marks: that of the most loaded cable now, and without the marked cables. */
#pragma once

#include "api/daemon_api.h"
#include "api/fields.h"
#include "sm/marks/marks.h"

struct mark_load;

/* NULL: there are no routes, or the target is no switch port of them. */
struct mark_load *mark_load_new(const struct routes *r, const struct fabric *f,
				const struct mark_request *rq);
struct mark_load *mark_load_free(struct mark_load *l);
/*
 * Computes the load on the thread that renders; then calls `done` with `arg` and a copy of `result`
 * on the main thread. From then on `l` may be freed.
 */
void mark_load_find(struct mark_load *l, const struct daemon_api *api,
		    const struct mark_result *result, mark_done_fn *done, void *arg);
struct json_object *mark_load_json(const struct mark_load *l, const struct fabric *f);
extern const struct json_field mark_load_fields[];
