// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks of forwarding tables that are written outside of runs, because tables were patched around
 * cables that died (route/patch/patch.h).
 *
 * A block has one Set under way at a time. Patched again meanwhile, it is sent once more when that
 * Set has ended, so the last one to arrive has the last content. A run has the last word: where it
 * has not come past forwarding tables it writes what was patched, and when it begins it cancels the
 * Sets under way here, whose blocks it compares itself.
 */
#include <assert.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

/* Most Sets under way: ahead of all others, and beside the window, which lost SMPs may fill. */
#define MOST	   16
/* Most of them to one switch, which may be silent. */
#define PER_SWITCH 4
/* Blocks that wait and are looked at for one that may be sent. */
#define LOOKED_AT  256

struct lft_now_block {
	TAILQ_ENTRY(lft_now_block) next; /* while it waits */
	struct node *node;
	uint32_t sw; /* index in the topo of the routes */
	uint32_t block;
	bool sent;
	bool again; /* set if it was patched again since its Set was sent */
};

bool sync_writes_tables(const struct sync *s)
{
	return sync_running(s) && !s->is_ahead && s->stage <= ST_TABLES;
}

/* Unique while the node lives: nodes are aligned, and blocks less than a table's. */
static guid_t key_of(const struct node *n, uint32_t block)
{
	return (guid_t)(uintptr_t)n / _Alignof(struct node) * LFT_MAX_BLOCKS + block;
}

static void enqueue(struct sync *s, struct lft_now_block *b)
{
	b->sent = b->again = false;
	TAILQ_INSERT_TAIL(&s->now.waiting, b, next);
}

static void drop(struct sync *s, struct lft_now_block *b)
{
	guidmap_remove(s->now.blocks, key_of(b->node, b->block));
	if (!b->sent)
		TAILQ_REMOVE(&s->now.waiting, b, next);
	free(b);
}

static void on_block(void *owner, const struct mad_result *r)
{
	struct sync *s = (struct sync *)((char *)owner - offsetof(struct sync, now));
	struct port *p = r->arg;
	const struct sync_row *row = sync_plain_row(IB_ATTR_LFT);
	struct lft_now_block *b = guidmap_get(s->now.blocks, key_of(p->node, r->mod));
	enum verdict v = sync_verdict(r, r->end == MAD_END_ANSWERED &&
						 row->observe(s, row, p, r->mod, r->payload));

	s->now.in_flight--;
	p->node->sync.patches--;
	if (row->unknown & AFTER(v))
		row->forget(s, row, p, r->mod);
	if (v != VERDICT_SILENT && v != VERDICT_CANCELLED)
		s->now.answered = r->now;
	if (v != VERDICT_STORED && v != VERDICT_CANCELLED && s->hooks.unsettled)
		s->hooks.unsettled(s->hooks.arg);
	if (b->again && v != VERDICT_CANCELLED)
		enqueue(s, b);
	else
		drop(s, b);
}

/* False: nothing may be written, or no path is known. */
static bool send_block(struct sync *s, struct lft_now_block *b)
{
	const struct mad_request rq = {
		.attr = IB_ATTR_LFT,
		.mod = b->block,
		.payload = routes_row(s->plan.routes, b->sw) + (size_t)b->block * LFT_BLOCK_LIDS,
		.urgent = true,
	};

	return smp_set(&s->sender, &b->node->ports[0], &rq, on_block, &s->now, &b->node->ports[0]);
}

/* The first block that waits whose switch has not too many under way; NULL: none. */
static struct lft_now_block *next_to_send(struct sync *s)
{
	struct lft_now_block *b = TAILQ_FIRST(&s->now.waiting);

	for (unsigned i = 0; b && i < LOOKED_AT; i++, b = TAILQ_NEXT(b, next))
		if (b->node->sync.patches < PER_SWITCH)
			return b;
	return NULL;
}

void lft_now_feed(struct sync *s)
{
	struct lft_now_block *b;

	while (s->now.in_flight < MOST && (b = next_to_send(s))) {
		if (!s->plan.routes || sync_writes_tables(s) || !send_block(s, b)) {
			drop(s, b);
			continue;
		}
		TAILQ_REMOVE(&s->now.waiting, b, next);
		b->sent = true;
		b->node->sync.patches++;
		s->now.in_flight++;
	}
}

void sync_patch_routes(struct sync *s, const struct routes *routes)
{
	assert(s && routes);
	if (s->is_ahead && sync_running(s))
		return;
	assert(!sync_writes_tables(s) || routes_are_alike(s->plan.routes, routes));
	s->plan.routes = routes;
	s->again |= sync_running(s) && (s->stage == ST_DRAIN || s->stage == ST_TABLES);
}

void sync_patch_block(struct sync *s, struct node *n, uint32_t sw, uint32_t block)
{
	struct lft_now_block *b = guidmap_get(s->now.blocks, key_of(n, block));

	/* the run that follows one ahead of routes compares all blocks */
	if (!s->plan.routes || sync_writes_tables(s))
		return;
	assert(block < s->plan.routes->row_size / LFT_BLOCK_LIDS);
	if (b) {
		b->again = b->sent;
		return;
	}
	b = xcalloc(1, sizeof(*b));
	*b = (struct lft_now_block){ .node = n, .sw = sw, .block = block };
	guidmap_put(s->now.blocks, key_of(n, block), b);
	enqueue(s, b);
}

void sync_patch_forget(struct sync *s)
{
	lft_now_stop(s, NULL);
	if (!sync_running(s))
		s->plan.routes = NULL;
}

unsigned sync_patch_open(const struct sync *s)
{
	return (unsigned)guidmap_count(s->now.blocks);
}

mono_t sync_patch_answered(const struct sync *s)
{
	return s->now.answered;
}

void lft_now_stop(struct sync *s, struct node *n)
{
	struct lft_now_block *b, *after;

	for (b = TAILQ_FIRST(&s->now.waiting); b; b = after) {
		after = TAILQ_NEXT(b, next);
		if (!n || b->node == n)
			drop(s, b);
	}
	mad_cancel(s->mad, &s->now, n ? &n->target : NULL);
}
