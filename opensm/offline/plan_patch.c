// SPDX-License-Identifier: BSD-2-Clause
/*
 * --worst link: what the patch of each cable would do, before routes are computed. The worst come
 * first: cables without another way, then those that leave most destinations waiting for the
 * routing, then those whose patch goes furthest from what the engine would have done.
 */
#include <stdlib.h>
#include <string.h>

#include "offline/plan.h"
#include "route/patch/patch_single.h"
#include "util/mem.h"

#define COMPARE(x, y) ((x) < (y) ? -1 : (x) > (y))

uint32_t plan_patch_moved(const struct plan_patch *p)
{
	uint32_t n = 0;

	for (unsigned how = 0; how < PATCH_WAITING; how++)
		n += p->counts[how];
	return n;
}

static int by_quality(const void *va, const void *vb)
{
	const struct plan_patch *a = va, *b = vb;
	int r = COMPARE(a->grade, b->grade);

	if (!r)
		r = COMPARE(b->lost, a->lost);
	for (unsigned how = PATCH_HOWS; !r && how-- > 0;)
		r = COMPARE(b->counts[how], a->counts[how]);
	return r;
}

static int by_harm(const void *va, const void *vb)
{
	const struct plan_patch *a = va, *b = vb;
	int r = by_quality(a, b);

	return r ? r : COMPARE(a->at, b->at);
}

static enum plan_patch_grade grade_of(const struct plan_patch *p)
{
	if (!plan_patch_moved(p) && (p->counts[PATCH_WAITING] || p->lost))
		return PLAN_PATCH_NONE;
	if (p->counts[PATCH_WAITING])
		return PLAN_PATCH_WAITS;
	return plan_patch_moved(p) ? PLAN_PATCH_WHOLE : PLAN_PATCH_UNUSED;
}

static int by_entry(const void *va, const void *vb)
{
	const struct plan_failure *a = va, *b = vb;

	return COMPARE(a->at, b->at);
}

/* The pairs that each cable cuts off, of the failures that --worst has found. */
static void add_lost(struct plan_patches *p, const struct plan_failures *worst)
{
	struct plan_failure *by_at =
		worst->n ? xmemdup(worst->rows, worst->n * sizeof(*worst->rows)) : NULL;

	qsort(by_at, worst->n, sizeof(*by_at), by_entry);
	for (uint32_t i = 0; i < p->n; i++) {
		struct plan_failure key = { .at = p->rows[i].at };
		const struct plan_failure *f =
			bsearch(&key, by_at, worst->n, sizeof(*by_at), by_entry);

		p->rows[i].lost = f ? f->lost : 0;
	}
	free(by_at);
}

struct plan_patches plan_find_patches(const struct plan_result *r)
{
	struct plan_patches ret = { 0 };
	struct patch_single *cables = patch_singles(r->now.routes, r->world.args->threads, &ret.n);

	ret.rows = xcalloc(ret.n + 1u, sizeof(*ret.rows));
	for (uint32_t i = 0; i < ret.n; i++) {
		ret.rows[i].at = cables[i].at;
		memcpy(ret.rows[i].counts, cables[i].counts, sizeof(cables[i].counts));
	}
	free(cables);
	add_lost(&ret, &r->worst);
	for (uint32_t i = 0; i < ret.n; i++) {
		ret.rows[i].grade = grade_of(&ret.rows[i]);
		ret.n_of[ret.rows[i].grade]++;
		if (ret.rows[i].grade == PLAN_PATCH_WAITS)
			ret.waiting += ret.rows[i].counts[PATCH_WAITING];
	}
	qsort(ret.rows, ret.n, sizeof(*ret.rows), by_harm);
	return ret;
}

bool plan_patches_alike(const struct plan_patch *a, const struct plan_patch *b)
{
	return by_quality(a, b) == 0;
}
