// SPDX-License-Identifier: BSD-2-Clause
/* Token buckets, repetitions and storms of the sources of traps (trap_flow.h). */
#include "sm/trust/trap_flow.h"

#include <assert.h>
#include <string.h>

#include "util/hash.h"
#include "util/mem.h"
#include "util/told.h"

/* Number of notices of a source that are remembered: it has one of a kind under way (13.4.9). */
#define SEEN	      4
/* Time within which the same TID and content is a repetition of the same notice (o13-5). */
#define REPEAT_WINDOW (60 * MONO_S)
/* Times in a row that the same content, under another TID or none, makes a source stuck. */
#define STUCK_TIMES   10
/* Longest time between two of these. */
#define STUCK_WINDOW  (5 * MONO_S)
/* Interval at which the notices of a stuck source are acted upon. */
#define STUCK_LOOK    (10 * MONO_S)
/* Number of suppressed traps from which on it is a storm, and logged. */
#define STORM_AT      20
/* Time without suppressed traps after which a storm is over. */
#define STORM_QUIET   (10 * MONO_S)
/* Period at which due records are handed out, and most of those of hosts each time. */
#define TICK	      (250 * MONO_MS)
#define HOSTS_A_TICK  64

/* A token bucket: one token per `every`, at most `burst`. */
struct rate {
	mono_t every;
	unsigned burst;
};

/* Rates by source: a switch that restarts reports all of its links, one by one, within seconds. */
static const struct rate own_rates[TRAP_FROMS] = {
	[TRAP_FROM_SWITCH] = { 250 * MONO_MS, 64 },
	[TRAP_FROM_HOST] = { 2 * MONO_S, 8 },
	[TRAP_FROM_STRANGER] = { 5 * MONO_S, 4 },
};

/* Rates of all sources of a kind together. */
static const struct rate common_rates[TRAP_FROMS] = {
	[TRAP_FROM_SWITCH] = { 10 * MONO_MS, 4096 },
	[TRAP_FROM_HOST] = { 250 * MONO_MS, 256 },
	[TRAP_FROM_STRANGER] = { 5 * MONO_S, 4 },
};

/* Rate of answers to traps that are not taken. */
static const struct rate repress_rate = { MONO_S, 32 };

struct seen {
	uint64_t hash, tid;
	mono_t at; /* time of the last arrival */
	unsigned times;
};

enum { TOLD_STORM };

struct source {
	lid_t lid;
	guid_t guid;
	enum trap_from from;
	mono_t spent; /* when the bucket will be full again */
	mono_t repress_spent; /* the state of repress_rate */
	mono_t heard;
	struct seen seen[SEEN];
	uint32_t owed; /* kinds of suppressed traps, as bits, that are still to be acted upon */
	mono_t owed_at;
	struct told told;
	uint64_t suppressed; /* number of traps suppressed in this storm; 0: no storm */
	mono_t storm_from, storm_to;
	uint8_t notice[SMP_DATA_SIZE]; /* the last notice that was suppressed */
};

struct trap_flow {
	uint16_t at[LID_MAX_UCAST + 1]; /* by base LID: index in sources plus 1; LID 0: strangers */
	struct source *sources;
	unsigned n, cap, storms;
	mono_t common[TRAP_FROMS]; /* state of common_rates */
	mono_t tick_at, ticked;
	/* State while due records are handed out: */
	bool ticking;
	unsigned place, left, hosts_left;
	mono_t next;
};

struct trap_flow *trap_flow_new(void)
{
	struct trap_flow *f = xcalloc(1, sizeof(*f));

	f->tick_at = MONO_NEVER;
	return f;
}

struct trap_flow *trap_flow_free(struct trap_flow *f)
{
	if (!f)
		return NULL;
	free(f->sources);
	free(f);
	return NULL;
}

unsigned trap_flow_sources(const struct trap_flow *f)
{
	return f->n;
}

unsigned trap_flow_storms(const struct trap_flow *f)
{
	return f->storms;
}

mono_t trap_flow_next(const struct trap_flow *f)
{
	return f->tick_at;
}

/* ---- buckets ------------------------------------------------------------------------------- */

/* The time of the next token; not after `now` if there is one. */
static mono_t token_at(mono_t spent, const struct rate *r)
{
	return spent - (mono_t)(r->burst - 1) * r->every;
}

static void spend_token(mono_t *spent, const struct rate *r, mono_t now)
{
	*spent = MAX(*spent, now) + r->every;
}

/* Ends the storm of a source. True: it had been reported. */
static bool end_storm(struct trap_flow *f, struct source *s)
{
	if (told_change(&s->told, TOLD_STORM, false) != TOLD_ENDS)
		return false;
	f->storms--;
	return true;
}

/* ---- sources ------------------------------------------------------------------------------- */

static struct source *source_of(struct trap_flow *f, const struct trap_arrival *a)
{
	lid_t lid = a->from == TRAP_FROM_STRANGER || a->lid > LID_MAX_UCAST ? 0 : a->lid;
	struct source *s;

	if (!f->at[lid]) {
		GROW(f->sources, f->n + 1, f->cap);
		f->at[lid] = (uint16_t)++f->n;
		s = &f->sources[f->n - 1];
		*s = (struct source){ .lid = lid, .guid = a->guid, .from = a->from };
	}
	s = &f->sources[f->at[lid] - 1];
	if (s->guid != a->guid || s->from != a->from) {
		end_storm(f, s);
		*s = (struct source){ .lid = lid, .guid = a->guid, .from = a->from };
	}
	return s;
}

/* Removes a source; the last one of the array takes its place. */
static void forget_source(struct trap_flow *f, struct source *s)
{
	unsigned place = (unsigned)(s - f->sources);

	f->at[s->lid] = 0;
	f->n--;
	if (place == f->n)
		return;
	*s = f->sources[f->n];
	f->at[s->lid] = (uint16_t)(place + 1);
}

/* The entry of this content; a new one replaces the entry not heard for longest, with `times` 0. */
static struct seen *seen_of(struct source *s, uint64_t hash)
{
	struct seen *oldest = &s->seen[0];

	for (unsigned i = 0; i < SEEN; i++) {
		if (s->seen[i].times && s->seen[i].hash == hash)
			return &s->seen[i];
		if (s->seen[i].at < oldest->at)
			oldest = &s->seen[i];
	}
	*oldest = (struct seen){ .hash = hash };
	return oldest;
}

/* ---- arrivals ------------------------------------------------------------------------------ */

static void tick_by(struct trap_flow *f, mono_t when)
{
	f->tick_at = mono_min(f->tick_at, MAX(when, f->ticked + TICK));
}

static void count_suppressed(struct trap_flow *f, struct source *s, const uint8_t *notice,
			     mono_t now)
{
	memcpy(s->notice, notice, SMP_DATA_SIZE);
	if (!s->suppressed++)
		s->storm_from = now;
	s->storm_to = now;
	tick_by(f, s->suppressed == STORM_AT ? now : now + STORM_QUIET);
}

static void owe_look(struct trap_flow *f, struct source *s, const struct trap_arrival *a,
		     mono_t when)
{
	s->owed_at = s->owed ? mono_min(s->owed_at, when) : when;
	s->owed |= 1u << (a->kind & 31);
	tick_by(f, s->owed_at);
}

static enum trap_verdict suppress_trap(struct trap_flow *f, struct source *s,
				       const struct trap_arrival *a, mono_t when, mono_t now)
{
	count_suppressed(f, s, a->notice, now);
	owe_look(f, s, a, when);
	return TRAP_SUPPRESS;
}

enum trap_verdict trap_flow_arrived(struct trap_flow *f, const struct trap_arrival *a, mono_t now)
{
	struct source *s = source_of(f, a);
	const struct rate *own = &own_rates[a->from], *common = &common_rates[a->from];
	struct seen *seen = seen_of(s, hash_words(HASH_START, a->notice, SMP_DATA_SIZE / 8));
	mono_t since = seen->times ? now - seen->at : MONO_NEVER, token;
	bool repeated = a->tid && seen->tid == a->tid && since <= REPEAT_WINDOW;

	assert(a->from < TRAP_FROMS && a->kind < 32 && a->notice);
	s->heard = seen->at = now;
	seen->tid = a->tid;
	seen->times =
		repeated || since <= STUCK_WINDOW ? seen->times + (seen->times < UINT16_MAX) : 1;
	tick_by(f, now + REPEAT_WINDOW);
	if (repeated) {
		if (seen->times > STUCK_TIMES)
			count_suppressed(f, s, a->notice, now);
		return TRAP_REPEAT;
	}
	if (seen->times > STUCK_TIMES)
		return suppress_trap(f, s, a, now + STUCK_LOOK, now);
	token = MAX(token_at(s->spent, own), token_at(f->common[a->from], common));
	if (token > now)
		return suppress_trap(f, s, a, token_at(s->spent, own), now);
	spend_token(&s->spent, own, now);
	spend_token(&f->common[a->from], common, now);
	return TRAP_TAKE;
}

bool trap_flow_represses(struct trap_flow *f, const struct trap_arrival *a, enum trap_verdict v,
			 mono_t now)
{
	struct source *s = source_of(f, a);

	if (v == TRAP_TAKE)
		return true;
	if (token_at(s->repress_spent, &repress_rate) > now)
		return false;
	spend_token(&s->repress_spent, &repress_rate, now);
	return true;
}

/* ---- due records --------------------------------------------------------------------------- */

static bool may_look(const struct trap_flow *f, const struct source *s)
{
	return s->from != TRAP_FROM_HOST || f->hosts_left;
}

static bool hand_out(struct trap_flow *f, struct source *s, mono_t now, struct trap_due *ret)
{
	*ret = (struct trap_due){ .lid = s->lid,
				  .guid = s->guid,
				  .suppressed = s->suppressed,
				  .lasted = s->storm_to - s->storm_from };
	memcpy(ret->notice, s->notice, SMP_DATA_SIZE);
	if (s->suppressed >= STORM_AT && told_first(&s->told, TOLD_STORM)) {
		f->storms++;
		ret->what = TRAP_DUE_STORM;
		return true;
	}
	if (s->owed && now >= s->owed_at && may_look(f, s)) {
		f->hosts_left -= s->from == TRAP_FROM_HOST;
		spend_token(&s->spent, &own_rates[s->from], now);
		ret->what = TRAP_DUE_LOOK;
		ret->kinds = s->owed;
		s->owed = 0;
		return true;
	}
	if (!s->suppressed || s->owed || now < s->storm_to + STORM_QUIET)
		return false;
	s->suppressed = 0;
	ret->what = TRAP_DUE_OVER;
	return end_storm(f, s);
}

/* The time at which a source is due; never MONO_NEVER. */
static mono_t next_of(const struct source *s)
{
	if (s->owed)
		return s->owed_at;
	if (s->suppressed)
		return s->storm_to + STORM_QUIET;
	return MAX(s->heard + REPEAT_WINDOW, s->spent);
}

static bool is_idle(const struct source *s, mono_t now)
{
	return !s->owed && !s->suppressed && now >= next_of(s);
}

bool trap_flow_due(struct trap_flow *f, mono_t now, struct trap_due *ret)
{
	if (!f->ticking) {
		if (now < f->tick_at)
			return false;
		f->ticking = true;
		f->left = f->n;
		f->hosts_left = HOSTS_A_TICK;
		f->next = MONO_NEVER;
	}
	while (f->left) {
		struct source *s;

		if (f->place >= f->n)
			f->place = 0;
		s = &f->sources[f->place];
		if (hand_out(f, s, now, ret))
			return true;
		f->left--;
		if (is_idle(s, now)) {
			forget_source(f, s);
			continue;
		}
		f->next = mono_min(f->next, next_of(s));
		f->place++;
	}
	f->ticking = false;
	f->ticked = now;
	f->tick_at = f->next == MONO_NEVER ? MONO_NEVER : MAX(f->next, now + TICK);
	return false;
}
