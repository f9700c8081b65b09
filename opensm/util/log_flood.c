// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two tables of fixed size (kinds of records, and their sources) and three buckets. A row's place
 * is its hash and the few places after it; the one that is used least lately gives way.
 *
 * Counts pay too, from the same buckets: a source of a thousand kinds gets no thousand counts.
 */
#include "util/log_flood.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define N_KINDS	  512u
#define N_SOURCES 256u
#define PROBES	  8u
#define FIRST_SPAN (60 * MONO_S)
#define LONGEST_SPAN (3600 * MONO_S)
#define SPAN_GROWTH 4
/* Least time between two reports of suppressed records, for each source and for all. */
#define SOURCE_SPAN (600 * MONO_S)
#define ALL_SPAN    (60 * MONO_S)

/* `level` records may be written now; one is added per `interval`, up to `burst`. */
struct bucket {
	unsigned burst;
	mono_t interval;
	unsigned level;
	mono_t since;
};

struct kind {
	uint64_t what, source; /* what 0: a free row */
	mono_t started, until;
	mono_t span;
	unsigned written;
	unsigned bits, id;
	uint64_t n; /* number of records suppressed in this span */
	const char *func;
	char text[LOG_FLOOD_TEXT];
};

struct source {
	uint64_t source; /* 0: free */
	struct bucket bucket, alarms;
	mono_t used, lost_since;
	uint64_t lost;
	unsigned bits, id;
	char text[LOG_FLOOD_TEXT];
};

struct log_flood {
	struct kind kinds[N_KINDS];
	struct source sources[N_SOURCES];
	struct bucket remote, all, states;
	uint64_t lost;
	mono_t lost_since;
	char lost_text[LOG_FLOOD_TEXT];
	mono_t now, due;
};

static const struct bucket source_bucket = { .burst = 60, .interval = 30 * MONO_S };
static const struct bucket alarm_bucket = { .burst = 16, .interval = 225 * MONO_S };
static const struct bucket remote_bucket = { .burst = 1000, .interval = MONO_S };
static const struct bucket all_bucket = { .burst = 2000, .interval = 10 * MONO_MS };
static const struct bucket state_bucket = { .burst = 200, .interval = 100 * MONO_MS };

static void bucket_start(struct bucket *b, const struct bucket *model, mono_t now)
{
	*b = *model;
	b->level = b->burst;
	b->since = now;
}

static void bucket_fill(struct bucket *b, mono_t now)
{
	mono_t earned = (now - b->since) / b->interval;

	if (earned <= 0)
		return;
	if (earned >= (mono_t)(b->burst - b->level)) {
		b->level = b->burst;
		b->since = now;
	} else {
		b->level += (unsigned)earned;
		b->since += earned * b->interval;
	}
}

/* Records that are not important leave a quarter to those that are. */
static bool bucket_has(struct bucket *b, bool important, mono_t now)
{
	bucket_fill(b, now);
	return b->level > (important ? 0 : b->burst / 4);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static uint32_t mix(uint64_t key)
{
	return (uint32_t)((key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> 32);
}

static void keep_text(char to[LOG_FLOOD_TEXT], const char *text)
{
	snprintf(to, LOG_FLOOD_TEXT, "%s", text);
}

static void note_due(struct log_flood *f, mono_t at)
{
	f->due = mono_min(f->due, at);
}

static void lose(struct log_flood *f, const char *text, uint64_t n)
{
	if (!f->lost) {
		f->lost_since = f->now;
		note_due(f, f->now + ALL_SPAN);
	}
	f->lost += n;
	keep_text(f->lost_text, text);
}

static struct kind *find_kind(struct log_flood *f, uint64_t what)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct kind *k = &f->kinds[(mix(what) + i) % N_KINDS];

		if (k->what == what)
			return k;
	}
	return NULL;
}

static struct source *get_source(struct log_flood *f, uint64_t source)
{
	struct source *best = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		struct source *s = &f->sources[(mix(source) + i) % N_SOURCES];

		if (s->source == source) {
			s->used = f->now;
			return s;
		}
		if (!best || (best->source && (!s->source || s->used < best->used)))
			best = s;
	}
	if (best->source && best->lost)
		lose(f, best->text, best->lost);
	*best = (struct source){ .source = source, .used = f->now };
	bucket_start(&best->bucket, &source_bucket, f->now);
	bucket_start(&best->alarms, &alarm_bucket, f->now);
	return best;
}

static void lose_of(struct log_flood *f, struct source *s, const struct log_case *c, uint64_t n)
{
	if (!s->lost) {
		s->lost_since = f->now;
		note_due(f, f->now + SOURCE_SPAN);
	}
	s->lost += n;
	s->bits = c->bits;
	s->id = c->id;
	keep_text(s->text, c->text);
}

/* Reuses a row; its count is added to that of the source or of all. */
static void lose_kind(struct log_flood *f, const struct kind *k)
{
	const struct log_case c = { .bits = k->bits, .id = k->id, .text = k->text };

	if (k->source)
		lose_of(f, get_source(f, k->source), &c, k->n);
	else
		lose(f, k->text, k->n);
}

static struct kind *new_kind(struct log_flood *f, const struct log_case *c)
{
	struct kind *best = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		struct kind *k = &f->kinds[(mix(c->what) + i) % N_KINDS];

		if (!best || (best->what && (!k->what || k->until < best->until)))
			best = k;
	}
	if (best->what && best->n)
		lose_kind(f, best);
	*best = (struct kind){ .what = c->what, .source = c->source, .span = FIRST_SPAN };
	best->started = f->now;
	best->until = f->now + FIRST_SPAN;
	return best;
}

/* ---- records ------------------------------------------------------------------------------- */

/* True: it was written often enough, and is counted. */
static bool is_repetition(struct log_flood *f, const struct log_case *c)
{
	struct kind *k = find_kind(f, c->what);

	if (k && f->now >= k->until && !k->n)
		k->what = 0;
	if (!k || !k->what || k->written < c->often)
		return false;
	k->n++;
	k->bits = c->bits;
	k->id = c->id;
	k->func = c->func;
	keep_text(k->text, c->text);
	note_due(f, k->until);
	return true;
}

static void note_written(struct log_flood *f, const struct log_case *c)
{
	struct kind *k = find_kind(f, c->what);

	if (!k)
		k = new_kind(f, c);
	k->written++;
}

/* True: there is room for it, and it is taken. */
static bool pays(struct log_flood *f, const struct log_case *c, uint64_t n)
{
	struct source *s = c->source ? get_source(f, c->source) : NULL;
	struct bucket *last = c->state ? &f->states : &f->all, *own = s ? &s->bucket : NULL;

	if (s && c->alarm && bucket_has(&s->alarms, true, f->now))
		own = &s->alarms;
	if (own && !bucket_has(own, c->important, f->now)) {
		lose_of(f, s, c, n);
		return false;
	}
	if ((s && !bucket_has(&f->remote, c->important, f->now)) ||
	    !bucket_has(last, c->important || c->state, f->now)) {
		lose(f, c->text, n);
		return false;
	}
	if (s) {
		own->level--;
		f->remote.level--;
	}
	last->level--;
	return true;
}

/* A clock that goes back is another clock: the table starts again. */
static void set_now(struct log_flood *f, mono_t now)
{
	if (now < f->now) {
		memset(f, 0, sizeof(*f));
		f->due = MONO_NEVER;
	}
	if (!f->all.burst) {
		bucket_start(&f->remote, &remote_bucket, now);
		bucket_start(&f->all, &all_bucket, now);
		bucket_start(&f->states, &state_bucket, now);
	}
	f->now = now;
}

bool log_flood_pass(struct log_flood *f, const struct log_case *c, mono_t now)
{
	assert(f && c->text);
	set_now(f, now);
	if (c->often && is_repetition(f, c))
		return false;
	if (!pays(f, c, 1))
		return false;
	if (c->often)
		note_written(f, c);
	return true;
}

/* ---- counts -------------------------------------------------------------------------------- */

static unsigned seconds_of(mono_t span)
{
	return (unsigned)((span + MONO_S / 2) / MONO_S);
}

/* The span of a kind is over. True: there is something to say. */
static bool end_span(struct log_flood *f, struct kind *k, struct log_count *ret)
{
	const struct log_case c = { .source = k->source, .important = true, .text = k->text,
				    .bits = k->bits, .id = k->id };
	mono_t span = f->now - k->started;
	uint64_t n = k->n;

	if (!n) {
		k->what = 0;
		return false;
	}
	k->n = 0;
	k->started = f->now;
	if (k->source)
		k->span = mono_min(k->span * SPAN_GROWTH, LONGEST_SPAN);
	else
		k->written = 0;
	k->until = f->now + k->span;
	if (!pays(f, &c, n))
		return false;
	*ret = (struct log_count){ .kind = LOG_COUNT_ALIKE, .n = n, .bits = k->bits, .id = k->id,
				   .func = k->func, .seconds = seconds_of(span) };
	keep_text(ret->text, k->text);
	return true;
}

static bool end_source(struct log_flood *f, struct source *s, struct log_count *ret)
{
	*ret = (struct log_count){ .kind = LOG_COUNT_SOURCE, .n = s->lost, .bits = s->bits,
				   .id = s->id, .seconds = seconds_of(f->now - s->lost_since) };
	keep_text(ret->text, s->text);
	s->lost = 0;
	return true;
}

static bool end_all(struct log_flood *f, struct log_count *ret)
{
	*ret = (struct log_count){ .kind = LOG_COUNT_ALL, .n = f->lost,
				   .seconds = seconds_of(f->now - f->lost_since) };
	keep_text(ret->text, f->lost_text);
	f->lost = 0;
	return true;
}

bool log_flood_next(struct log_flood *f, mono_t now, struct log_count *ret)
{
	set_now(f, now);
	if (now < f->due)
		return false;
	for (unsigned i = 0; i < N_KINDS; i++)
		if (f->kinds[i].what && now >= f->kinds[i].until && end_span(f, &f->kinds[i], ret))
			return true;
	for (unsigned i = 0; i < N_SOURCES; i++)
		if (f->sources[i].lost && now - f->sources[i].lost_since >= SOURCE_SPAN)
			return end_source(f, &f->sources[i], ret);
	if (f->lost && now - f->lost_since >= ALL_SPAN)
		return end_all(f, ret);
	f->due = MONO_NEVER;
	for (unsigned i = 0; i < N_KINDS; i++)
		if (f->kinds[i].what && f->kinds[i].n)
			note_due(f, f->kinds[i].until);
	for (unsigned i = 0; i < N_SOURCES; i++)
		if (f->sources[i].lost)
			note_due(f, f->sources[i].lost_since + SOURCE_SPAN);
	if (f->lost)
		note_due(f, f->lost_since + ALL_SPAN);
	return false;
}

bool log_flood_last(struct log_flood *f, mono_t now, struct log_count *ret)
{
	set_now(f, now);
	for (unsigned i = 0; i < N_KINDS; i++)
		if (f->kinds[i].n && end_span(f, &f->kinds[i], ret))
			return true;
	for (unsigned i = 0; i < N_SOURCES; i++)
		if (f->sources[i].lost)
			return end_source(f, &f->sources[i], ret);
	return f->lost && end_all(f, ret);
}

char *log_span_str(unsigned seconds, char ret[LOG_SPAN_STRLEN])
{
	if (seconds < 120)
		snprintf(ret, LOG_SPAN_STRLEN, "%u s", seconds);
	else if (seconds < 7200)
		snprintf(ret, LOG_SPAN_STRLEN, "%u min", seconds / 60);
	else
		snprintf(ret, LOG_SPAN_STRLEN, "%u h", seconds / 3600);
	return ret;
}

/* ---- life ---------------------------------------------------------------------------------- */

struct log_flood *log_flood_new(void)
{
	struct log_flood *f = xcalloc(1, sizeof(*f));

	f->due = MONO_NEVER;
	return f;
}

struct log_flood *log_flood_free(struct log_flood *f)
{
	free(f);
	return NULL;
}
