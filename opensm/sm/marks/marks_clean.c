// SPDX-License-Identifier: BSD-2-Clause
/*
 * May a mark that is limited in time end? Its cables return only if they are in order: no error was
 * counted at either end for hm_probation_secs, or for its whole time where that is shorter. When
 * the time is over and it is not so, it stays, and returns after that long without an error.
 *
 *   PAUSE --ends are asked--> ASKED --all have answered, or ANSWERS are over--> PAUSE
 *
 * Counted are the errors of PortCounters (16.1.3.5) that tell of a cable: not discards, which tell
 * of load. A counter that is smaller than before was cleared: it begins anew, and that is no error;
 * one at its maximum counts nothing any more, so the cable is not known to be clean. Ends that
 * never answer are passed over, as long as one does.
 */
#include "sm/marks/marks_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "sm/base/about.h"
#include "util/hash.h"

#define ANSWERS	     (10 * MONO_S) /* by then all questions have ended */
#define EVERY_LEAST  (5 * MONO_S)
#define EVERY_MOST   (60 * MONO_S)
#define EVERY_SHARE  10	/* number of readings in a probation */
#define CLOCK_STEP   (60 * MONO_S) /* change of the time of day that counts as a jump */
#define ODD_READINGS 3u		   /* number of readings after which other ends are the base */
#define NO_ROOM	     MONO_S

#define PORT_SELECT_BIT (65u * 8)

static const struct {
	const char *name;
	unsigned bit, width; /* offset and width in the MAD */
} counters[CLEAN_COUNTERS] = {
	[CLEAN_SYMBOL] = { "SymbolErrorCounter", 68 * 8, 16 },
	[CLEAN_RECOVERY] = { "LinkErrorRecoveryCounter", 70 * 8, 8 },
	[CLEAN_DOWNED] = { "LinkDownedCounter", 71 * 8, 8 },
	[CLEAN_RCV] = { "PortRcvErrors", 72 * 8, 16 },
	[CLEAN_RCV_REMOTE] = { "PortRcvRemotePhysicalErrors", 74 * 8, 16 },
	[CLEAN_INTEGRITY] = { "LocalLinkIntegrityErrors", 83 * 8, 4 },
	[CLEAN_OVERRUN] = { "ExcessiveBufferOverrunErrors", 83 * 8 + 4, 4 },
};

/* ---- times ----------------------------------------------------------------------------------- */

static int64_t probation_secs(const struct sm *sm, const struct link_mark *m)
{
	int64_t most = sm->conf->hm_probation_secs;

	return m->since && m->until > m->since ? MIN(most, m->until - m->since) : most;
}

static bool is_due(const struct sm *sm, const struct link_mark *m)
{
	return sm_realtime(sm) >= m->until;
}

static mono_t pause_of(const struct sm *sm, const struct link_mark *m)
{
	mono_t every = probation_secs(sm, m) * MONO_S / EVERY_SHARE;

	return MIN(MAX(every, EVERY_LEAST), EVERY_MOST);
}

/* The time of the next reading: at intervals, and when the mark may end. */
static mono_t next_reading(const struct sm *sm, const struct link_mark *m,
			   const struct mark_clean *c)
{
	int64_t left = MAX(m->until - sm_realtime(sm), (int64_t)0);
	mono_t end = MAX(c->since + probation_secs(sm, m) * MONO_S,
			 sm->now + MIN(left, (int64_t)EVERY_MOST) * MONO_S);
	mono_t next = sm->now + pause_of(sm, m);

	return end > sm->now ? mono_min(next, end) : next;
}

static void note_next(struct marks *ms)
{
	ms->next_clean = MONO_NEVER;
	ms->n_over = 0;
	for (uint32_t i = 0; i < ms->table->n; i++) {
		const struct mark_clean *c = &ms->work[i].clean;

		ms->n_over += c->is_over;
		if (ms->table->all[i].until && !c->is_over)
			ms->next_clean = mono_min(ms->next_clean, c->next);
	}
}

void marks_clean_anew(struct marks *ms)
{
	note_next(ms);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void take_answer(struct sm *sm, const struct counters_ask *ask,
			const struct transport_event *ev)
{
	struct marks *ms = sm->m.marks;
	uint32_t at = mark_table_find(ms->table, ask->node, ask->port);
	struct mark_clean *c = at == UINT32_MAX ? NULL : &ms->work[at].clean;
	const uint32_t end[2] = { ask->lid, ask->asked };

	if (!c || c->phase != CLEAN_ASKED || !c->n_asked)
		return;
	if (!--c->n_asked) {
		c->next = sm->now;
		ms->next_clean = sm->now;
	}
	if (!ev || ib_bits_get(ev->mad, PORT_SELECT_BIT, 8) != ask->asked)
		return;
	c->now.n++;
	c->now.ends += hash_bytes(HASH_START, end, sizeof(end));
	for (unsigned i = 0; i < CLEAN_COUNTERS; i++) {
		uint64_t v = ib_bits_get(ev->mad, counters[i].bit, counters[i].width);

		c->now.sum[i] += v;
		c->now.full |= v == (1u << counters[i].width) - 1 ? 1u << i : 0;
	}
}

static unsigned count_ends(const struct link_mark *m, struct node *n)
{
	unsigned ends = 0;

	for (unsigned i = 1; n && i <= n->n_ports; i++) {
		const struct port *p = mark_cable(m, n, i);

		if (p)
			ends += node_is_switch(p->node) + node_is_switch(p->peer->node);
	}
	return ends;
}

static void ask_ends(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct node *n = fabric_find_node(sm->fabric, m->node);
	const struct counters_ask ask = { .attr = PERF_COUNTERS,
					  .node = m->node,
					  .port = m->port,
					  .done = take_answer };
	struct mark_clean *c = &w->clean;

	c->n_asked = 0;
	c->now = (struct clean_reading){ 0 };
	c->phase = CLEAN_ASKED;
	c->next = sm->now + ANSWERS;
	for (unsigned i = 1; n && i <= n->n_ports; i++) {
		struct port *p = mark_cable(m, n, i);

		if (!p)
			continue;
		c->n_asked += counters_get(sm, p, &ask);
		c->n_asked += counters_get(sm, p->peer, &ask);
	}
	if (!c->n_asked)
		c->next = sm->now;
}

/* ---- a reading ------------------------------------------------------------------------------- */

static void begin_anew(const struct sm *sm, struct mark_clean *c)
{
	c->base = c->now;
	c->has_base = true;
	c->n_odd = 0;
	c->since = sm->now;
}

/*
 * Did other ends answer than before? One may have been silent once; if this continues, they are the
 * new base.
 */
static bool is_odd(struct mark_clean *c)
{
	if (c->now.ends == c->base.ends && c->now.n == c->base.n) {
		c->n_odd = 0;
		return false;
	}
	c->n_odd++;
	return true;
}

static void compare(const struct sm *sm, struct mark_clean *c)
{
	for (unsigned i = 0; i < CLEAN_COUNTERS; i++) {
		bool is_full = c->now.full & 1u << i;

		if (!is_full && c->now.sum[i] <= c->base.sum[i])
			continue;
		c->fault = is_full ? CLEAN_FULL : CLEAN_COUNTED;
		c->counter = (enum clean_counter)i;
		c->more = is_full ? 0 : c->now.sum[i] - c->base.sum[i];
		c->since = sm->now;
		break;
	}
	c->base = c->now;
}

static void take_reading(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct mark_clean *c = &w->clean;
	bool has_cable = count_ends(m, fabric_find_node(sm->fabric, m->node));

	c->phase = CLEAN_PAUSE;
	if (!c->now.n && c->has_base && ++c->n_odd < ODD_READINGS)
		return;
	if (!c->now.n) {
		c->fault = has_cable ? CLEAN_UNREAD : CLEAN_NO_CABLE;
		c->has_base = false;
		return;
	}
	if (!c->has_base) {
		bool was_unread = c->fault == CLEAN_UNREAD || c->fault == CLEAN_NO_CABLE;

		begin_anew(sm, c);
		if (was_unread)
			c->fault = CLEAN_SO_FAR;
		if (c->now.full)
			compare(sm, c);
		return;
	}
	if (!is_odd(c))
		compare(sm, c);
	else if (c->n_odd >= ODD_READINGS)
		begin_anew(sm, c);
}

/* The remaining probation of a mark. */
static mono_t left_of(const struct sm *sm, const struct link_mark *m, const struct mark_clean *c)
{
	return c->since + probation_secs(sm, m) * MONO_S - sm->now;
}

static bool is_clean(const struct sm *sm, const struct link_mark *m, const struct mark_clean *c)
{
	return c->has_base && !c->n_odd && !c->now.full && left_of(sm, m, c) <= 0;
}

/* Is the cable in use as the last path, so that nothing changes when the mark ends? */
static bool is_in_use(const struct mark_work *w)
{
	return w->state == MARK_SPARED && !w->n_out;
}

void mark_kept_str(const struct mark_work *w, char ret[MARK_KEPT_STRLEN])
{
	const struct mark_clean *c = &w->clean;

	ret[0] = '\0';
	if (!c->is_told)
		return;
	switch (c->fault) {
	case CLEAN_SO_FAR:
		break;
	case CLEAN_COUNTED:
		snprintf(ret, MARK_KEPT_STRLEN, "%s grew by %" PRIu64, counters[c->counter].name,
			 c->more);
		break;
	case CLEAN_FULL:
		snprintf(ret, MARK_KEPT_STRLEN, "%s is at its maximum, and has to be cleared",
			 counters[c->counter].name);
		break;
	case CLEAN_UNREAD:
		snprintf(ret, MARK_KEPT_STRLEN, "neither end answers with its error counters");
		break;
	case CLEAN_NO_CABLE:
		snprintf(ret, MARK_KEPT_STRLEN, "no cable is there");
		break;
	}
}

enum mark_state mark_state_of(const struct mark_work *w)
{
	if (!w->clean.is_told || w->state == MARK_SPARED || w->state == MARK_DRAINING)
		return w->state;
	return w->clean.fault == CLEAN_SO_FAR ? MARK_RETURNING : MARK_UNCLEAN;
}

static void tell_kept(const struct sm *sm, const struct link_mark *m, const struct mark_work *w)
{
	char where[MARK_PLACE_STRLEN], why[MARK_KEPT_STRLEN];

	mark_kept_str(w, why);
	log_on(about_port(LOG_ID_LINK_MARKED, mark_port(sm, m)), LOGB_ERROR,
	       "%s: its time is over, and it stays %s%s%s: it returns after %" PRId64
	       " s without an error, or by opensmctl restore",
	       mark_place_str(sm, m, where), m->kind == MARK_ISOLATE ? "isolated" : "drained",
	       why[0] ? ": " : "", why, probation_secs(sm, m));
}

/* Decides after a reading if the mark ends. */
static void judge(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct mark_clean *c = &w->clean;

	if (is_clean(sm, m, c))
		c->fault = CLEAN_SO_FAR;
	if (!is_due(sm, m))
		return;
	if (is_clean(sm, m, c)) {
		c->is_over = true;
		return;
	}
	if (!c->is_told && (c->fault != CLEAN_SO_FAR || left_of(sm, m, c) > EVERY_MOST)) {
		c->is_told = true;
		tell_kept(sm, m, w);
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The time until the probation begins. */
static mono_t wait_for(const struct sm *sm, const struct link_mark *m)
{
	int64_t now = sm_realtime(sm), begin = m->until - probation_secs(sm, m);

	if (!now)
		return CLOCK_STEP;
	return begin > now ? MIN((begin - now) * MONO_S, CLOCK_STEP) : 0;
}

static void step(struct sm *sm, const struct link_mark *m, struct mark_work *w)
{
	struct mark_clean *c = &w->clean;
	mono_t wait = wait_for(sm, m);

	if (is_in_use(w) && is_due(sm, m)) {
		c->is_over = true;
	} else if (c->phase == CLEAN_ASKED) {
		take_reading(sm, m, w);
		judge(sm, m, w);
		c->next = next_reading(sm, m, c);
	} else if (wait) {
		c->next = sm->now + wait;
	} else if (counters_free(sm) <
		   count_ends(m, fabric_find_node(sm->fabric, m->node))) {
		c->next = sm->now + NO_ROOM;
	} else {
		ask_ends(sm, m, w);
	}
}

void marks_clean_tick(struct sm *sm)
{
	struct marks *ms = sm->m.marks;

	if (sm->state != SM_MASTER || !sm->first_sweep_done || sm->now < ms->next_clean)
		return;
	for (uint32_t i = 0; i < ms->table->n; i++)
		if (ms->table->all[i].until && !ms->work[i].clean.is_over &&
		    sm->now >= ms->work[i].clean.next)
			step(sm, &ms->table->all[i], &ms->work[i]);
	note_next(ms);
}

mono_t marks_clean_next(const struct sm *sm)
{
	const struct marks *ms = sm->m.marks;

	if (sm->state != SM_MASTER || !sm->first_sweep_done)
		return MONO_NEVER;
	if (ms->n_over && ms->storing == STORE_NONE)
		return MAX(ms->retry_at, sm->now);
	return ms->next_clean;
}
