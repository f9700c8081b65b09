// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assigns LIDs. The whole LID space is one byte per LID: free, reserved (for a port that is
 * missing, or for the spare part of a wider range) or taken. Marks only ever rise in that order, so
 * the search for the lowest free block never has to look back.
 *
 * Knows nothing of LMC changes on the wire, nor of files: the caller writes and remembers.
 */
#include "plan/lid.h"

#include <assert.h>
#include <byteswap.h>
#include <stdio.h>
#include <string.h>

#include "util/guidmap.h"
#include "util/mem.h"

enum mark { FREE, RESERVED, TAKEN };

#define N_LIDS (LID_MAX_UCAST + 1u)
#define MAX_LMC 7

/* Blocks of one width: where the search goes on, while no better than FREE, or than RESERVED. */
struct cursor {
	unsigned free, reserved;
};

struct rank {
	uint64_t key; /* OpenSM's order: the GUID as its bytes lie in a MAD, read backwards */
	size_t port;
	bool is_sm;
};

struct planner {
	const struct lid_job *job;
	struct lid_plan *plan;
	struct rank *order;
	struct guidmap *memory; /* GUID -> struct lid_range of the job */
	uint8_t *marks;
	unsigned top;
	struct cursor narrow, wide;
};

const char *lid_reason_name(enum lid_reason reason)
{
	static const char *const names[] = {
		[LID_UNCHANGED] = "unchanged",
		[LID_REMEMBERED] = "remembered",
		[LID_NEW] = "had none",
		[LID_MOVED_INVALID] = "out of range",
		[LID_MOVED_ALIGN] = "does not fit the LMC",
		[LID_MOVED_TAKEN] = "another port's",
		[LID_MOVED_REASSIGN] = "reassigned",
		[LID_UNSERVED] = "no LIDs left",
	};

	assert(reason < ARRAY_SIZE(names));
	return names[reason];
}

static uint8_t lmc_of(const struct lid_job *job, const struct lid_port *port, uint8_t lmc)
{
	return port->switch0 && !(port->enhanced0 && job->lmc_esp0) ? 0 : lmc;
}

static int compare_ranks(const void *va, const void *vb)
{
	const struct rank *a = va, *b = vb;

	if (a->is_sm != b->is_sm)
		return a->is_sm ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->port < b->port ? -1 : a->port > b->port;
}

static struct rank *rank_ports(const struct lid_job *job)
{
	struct rank *order = xcalloc(MAX(job->n_ports, 1u), sizeof(*order));

	for (size_t i = 0; i < job->n_ports; i++)
		order[i] = (struct rank){ .key = bswap_64(job->ports[i].guid), .port = i,
					  .is_sm = job->ports[i].is_sm };
	qsort(order, job->n_ports, sizeof(*order), compare_ranks);
	return order;
}

/* Could a port with 2^lmc LIDs have base LID `base`? */
static bool base_fits(const struct planner *p, unsigned base, uint8_t lmc)
{
	unsigned width = 1u << lmc;

	return base >= LID_MIN_UCAST && base % width == 0 && base + width - 1 <= p->top;
}

/* The highest mark in [min, max], as far as it lies within the LID space. */
static enum mark worst_mark(const struct planner *p, unsigned min, unsigned max)
{
	enum mark worst = FREE;

	for (unsigned lid = min; lid <= MIN(max, p->top); lid++)
		worst = MAX(worst, (enum mark)p->marks[lid]);
	return worst;
}

static void raise_marks(struct planner *p, unsigned min, unsigned max, enum mark mark)
{
	for (unsigned lid = min; lid <= MIN(max, p->top); lid++)
		p->marks[lid] = MAX(p->marks[lid], mark);
}

static void assign_range(struct planner *p, size_t port, unsigned base, enum lid_reason reason)
{
	struct lid_assigned *a = &p->plan->ports[port];

	a->base = base;
	a->reason = base == p->job->ports[port].current ? LID_UNCHANGED : reason;
	a->min = base;
	a->max = base + (1u << a->lmc) - 1;
	p->plan->top = MAX(p->plan->top, a->max);
	raise_marks(p, a->min, a->max, TAKEN);
}

static bool remembers(const struct lid_range *r)
{
	return r && r->min >= LID_MIN_UCAST && r->min <= r->max && r->max <= LID_MAX_UCAST;
}

/* Rule 1. */
static void assign_remembered(struct planner *p, size_t port)
{
	const struct lid_range *r = guidmap_get(p->memory, p->job->ports[port].guid);
	struct lid_assigned *a = &p->plan->ports[port];

	if (!remembers(r) || !base_fits(p, r->min, a->lmc) || r->max - r->min + 1 < 1 << a->lmc)
		return;
	if (worst_mark(p, r->min, r->min + (1u << a->lmc) - 1) == TAKEN)
		return;
	assign_range(p, port, r->min, LID_REMEMBERED);
	a->max = r->max;
}

/* The reason why a port cannot keep its present LID, if it cannot. */
static enum lid_reason judge_current(const struct planner *p, size_t port)
{
	unsigned current = p->job->ports[port].current, width = 1u << p->plan->ports[port].lmc;

	if (current == 0)
		return LID_NEW;
	if (p->job->reassign)
		return LID_MOVED_REASSIGN;
	if (current > p->top)
		return LID_MOVED_INVALID;
	if (current % width != 0)
		return LID_MOVED_ALIGN;
	return current + width - 1 > p->top ? LID_MOVED_INVALID : LID_MOVED_TAKEN;
}

/* Rule 2. */
static void assign_current(struct planner *p, size_t port)
{
	unsigned current = p->job->ports[port].current;
	uint8_t lmc = p->plan->ports[port].lmc;

	if (base_fits(p, current, lmc) &&
	    worst_mark(p, current, current + (1u << lmc) - 1) == FREE)
		assign_range(p, port, current, LID_UNCHANGED);
}

/* The first block at or after `*from` that bears no mark above `limit`; 0 if none. */
static unsigned next_block(const struct planner *p, unsigned *from, uint8_t lmc, enum mark limit)
{
	unsigned width = 1u << lmc;

	for (; base_fits(p, MAX(*from, width), lmc); *from += width) {
		*from = MAX(*from, width);
		if (worst_mark(p, *from, *from + width - 1) <= limit)
			return *from;
	}
	return 0;
}

/* Rule 3. */
static void assign_fresh(struct planner *p, size_t port)
{
	uint8_t lmc = p->plan->ports[port].lmc;
	struct cursor *c = lmc ? &p->wide : &p->narrow;
	unsigned base = next_block(p, &c->free, lmc, FREE);

	if (!base)
		base = next_block(p, &c->reserved, lmc, RESERVED);
	if (base)
		assign_range(p, port, base, judge_current(p, port));
	else
		p->plan->n_unserved++;
}

/* Remembered ranges of missing ports are reserved. A port whose range no longer suits loses it. */
static void reserve_absent(struct planner *p, const struct guidmap *present)
{
	for (size_t i = 0; i < p->job->n_remembered; i++) {
		const struct lid_range *r = &p->job->remembered[i];

		if (remembers(r) && !guidmap_get(present, r->guid))
			raise_marks(p, r->min, r->max, RESERVED);
	}
}

/* The spare part of a range wider than needed: it is kept for a larger LMC to come back. */
static void reserve_spare(struct planner *p)
{
	for (size_t i = 0; i < p->plan->n_ports; i++)
		if (p->plan->ports[i].base)
			raise_marks(p, p->plan->ports[i].min, p->plan->ports[i].max, RESERVED);
}

/* Gives up spare parts that went to another port after all. */
static void trim_spare(struct planner *p)
{
	for (size_t i = 0; i < p->plan->n_ports; i++) {
		struct lid_assigned *a = &p->plan->ports[i];
		unsigned last = a->base + (1u << a->lmc) - 1;

		if (a->base && worst_mark(p, last + 1, a->max) == TAKEN)
			a->max = last;
	}
}

static int compare_guids(const void *va, const void *vb)
{
	const guid_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

/* Ranges to forget: impossible ones, of unserved ports, or with a LID now taken. */
static void drop_ranges(struct planner *p, const struct guidmap *present)
{
	struct lid_plan *plan = p->plan;

	plan->dropped = xcalloc(MAX(p->job->n_remembered, 1u), sizeof(guid_t));
	for (size_t i = 0; i < p->job->n_remembered; i++) {
		const struct lid_range *r = &p->job->remembered[i];
		const struct lid_assigned *a = guidmap_get(present, r->guid);
		bool keep = a ? a->base != 0
			      : remembers(r) && !p->job->reassign &&
					worst_mark(p, r->min, r->max) != TAKEN;

		if (!keep)
			plan->dropped[plan->n_dropped++] = r->guid;
	}
	qsort(plan->dropped, plan->n_dropped, sizeof(guid_t), compare_guids);
}

/* The largest LMC at which an empty LID space would hold all ports. */
static int largest_lmc(const struct planner *p)
{
	size_t n_wide = 0, n_narrow;

	for (size_t i = 0; i < p->job->n_ports; i++)
		n_wide += lmc_of(p->job, &p->job->ports[i], 1);
	n_narrow = p->job->n_ports - n_wide;
	for (int lmc = MAX_LMC; lmc >= 0; lmc--) {
		size_t blocks = (p->top + 1u) >> lmc; /* one more than usable: it holds LID 0 */

		if ((n_wide == 0 || n_wide < blocks) && (n_wide << lmc) + n_narrow <= p->top)
			return lmc;
	}
	return -1;
}

static void in_order(struct planner *p, void (*rule)(struct planner *p, size_t port))
{
	for (size_t i = 0; i < p->job->n_ports; i++)
		if (!p->plan->ports[p->order[i].port].base)
			rule(p, p->order[i].port);
}

static void plan_ports(struct planner *p, const struct guidmap *present)
{
	if (!p->job->reassign) {
		in_order(p, assign_remembered);
		reserve_absent(p, present);
		reserve_spare(p);
		in_order(p, assign_current);
	}
	in_order(p, assign_fresh);
	trim_spare(p);
	drop_ranges(p, present);
}

struct lid_plan *lid_plan(const struct lid_job *job)
{
	_cleanup_(guidmap_freep) struct guidmap *memory = guidmap_new(), *present = guidmap_new();
	_cleanup_free_ uint8_t *marks = xcalloc(N_LIDS, 1);
	_cleanup_free_ struct rank *order = rank_ports(job);
	struct lid_plan *plan = xcalloc(1, sizeof(*plan));
	struct planner p = {
		.job = job, .plan = plan, .order = order, .memory = memory, .marks = marks,
		.top = MIN(job->top, LID_MAX_UCAST),
	};

	assert(job->lmc <= MAX_LMC && job->top <= LID_MAX_UCAST);
	assert((!job->n_ports || job->ports) && (!job->n_remembered || job->remembered));
	plan->n_ports = job->n_ports;
	plan->ports = xcalloc(MAX(job->n_ports, 1u), sizeof(*plan->ports));
	for (size_t i = 0; i < job->n_remembered; i++)
		if (job->remembered[i].guid)
			guidmap_put(memory, job->remembered[i].guid, (void *)&job->remembered[i]);
	for (size_t i = 0; i < job->n_ports; i++) {
		plan->ports[i].lmc = lmc_of(job, &job->ports[i], MIN(job->lmc, MAX_LMC));
		plan->ports[i].reason = LID_UNSERVED;
		guidmap_put(present, job->ports[i].guid, &plan->ports[i]);
	}
	plan_ports(&p, present);
	for (size_t i = 0; i < job->n_ports; i++)
		if (plan->ports[i].base != job->ports[i].current)
			plan->n_changed++;
	plan->lmc_fits = largest_lmc(&p);
	return plan;
}

struct lid_plan *lid_plan_free(struct lid_plan *plan)
{
	if (plan) {
		free(plan->ports);
		free(plan->dropped);
		free(plan);
	}
	return NULL;
}

char *lid_plan_error(const struct lid_job *job, const struct lid_plan *plan,
		     char ret[LID_PLAN_STRLEN])
{
	int n = snprintf(ret, LID_PLAN_STRLEN,
			 "LIDs 1 to %u do not suffice for %zu ports at LMC %u: %zu ports get none",
			 MIN(job->top, LID_MAX_UCAST), plan->n_ports, job->lmc, plan->n_unserved);

	if (plan->lmc_fits >= job->lmc)
		snprintf(ret + n, LID_PLAN_STRLEN - n, "; reassigning all LIDs would make room");
	else if (plan->lmc_fits >= 0)
		snprintf(ret + n, LID_PLAN_STRLEN - n, "; LMC %d would fit", plan->lmc_fits);
	return ret;
}
