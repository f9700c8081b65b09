// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the judge knows as rows: one a link with anything against it, at its lesser end, and one a
 * port that is disabled; both in one where that is the same port. Numbers are without sign, most
 * significant byte first.
 *
 *	counted (8)	how much was counted against the link: grows
 *	form (1)	of what follows: 1
 *	sweep (4)	of the judge that wrote it, as times of some events are numbers of sweeps
 *	off (1)		0; the port 1: is to be disabled, 2: was found disabled. Then of the other
 *			end of its cable: node (8), port (1)
 *	link (1)	0: there is none; 1: between switches, 2: to a host. Then
 *	  node (8), port (1) of the other end; on (2), since (8), last (8)
 *	  for each event of enum health_cond: how many (1), their times (4 each), rising
 *	  for each end: 0 (1): no counters; or 1 (1), bits per second (8), and two rings: how many
 *	    buckets (1); unless 0: number of the latest (8), and for each, the oldest first: how
 *	    many before the latest (1), symbols, drops, seconds (4 each), packets, wait (4 each:
 *	    float)
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "health/judge_internal.h"
#include "util/bisect.h"

#define FORM 1
#define HEAD 13 /* counted, form, sweep */

enum { OFF_NONE, OFF_NOTED, OFF_SEEN };
enum { LINK_NONE, LINK_SWITCHES, LINK_HOST };

/* ---- which rows there are -------------------------------------------------------------------- */

static bool is_clean_ring(const struct health_ring *ring)
{
	for (unsigned i = 0; i < LONG_BUCKETS; i++) {
		if (ring->at[i].symbols || ring->at[i].drops)
			return false;
	}
	return true;
}

static bool is_clean(const struct health_record *r)
{
	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		if (r->times[i].n)
			return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		if (r->port[i] && !is_clean_ring(&r->port[i]->wide))
			return false;
	}
	return !r->v.on;
}

/* Removes links without findings from the list. */
static void tidy_list(struct health *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n_listed; i++) {
		struct health_record *r = &h->all[h->listed[i]];

		r->listed = !is_clean(r) && r->v.end[0].node;
		if (r->listed)
			h->listed[n++] = h->listed[i];
	}
	h->n_listed = n;
}

static bool is_at(const struct health_end *a, const struct health_end *b)
{
	return a->node == b->node && a->port == b->port;
}

/* The link whose row is at this port, with anything against it or not; NULL: there is none. */
static struct health_record *record_at(const struct health *h, struct health_end at)
{
	uint32_t link = health_find(h, at.node, at.port);

	return link != UINT32_MAX && is_at(&h->all[link].v.end[0], &at) ? &h->all[link] : NULL;
}

static struct health_off *off_at(const struct health *h, struct health_end at)
{
	for (uint32_t i = 0; i < h->n_offs; i++) {
		if (is_at(&h->offs[i].at, &at))
			return &h->offs[i];
	}
	return NULL;
}

bool health_next_row(struct health *h, uint32_t *pos, struct health_end *ret)
{
	uint32_t n;

	if (!*pos)
		tidy_list(h);
	for (n = (*pos)++; n >= h->n_listed && n - h->n_listed < h->n_offs; n = (*pos)++) {
		const struct health_record *r;

		*ret = h->offs[n - h->n_listed].at;
		r = record_at(h, *ret);
		if (!r || !r->listed)
			return true; /* otherwise it was returned as a listed link */
	}
	if (n >= h->n_listed)
		return false;
	*ret = h->all[h->listed[n]].v.end[0];
	return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint8_t *put_number(uint8_t *to, uint64_t value, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		to[i] = (uint8_t)(value >> 8 * (len - 1 - i));
	return to + len;
}

static uint8_t *put_end(uint8_t *to, const struct health_end *e)
{
	return put_number(put_number(to, e->node, 8), e->port, 1);
}

static uint8_t *put_float(uint8_t *to, float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return put_number(to, bits, 4);
}

static uint8_t *put_bucket(uint8_t *to, const struct health_bucket *b, unsigned before)
{
	to = put_number(to, before, 1);
	to = put_number(to, b->symbols, 4);
	to = put_number(to, b->drops, 4);
	to = put_number(to, b->secs, 4);
	return put_float(put_float(to, b->packets), b->wait);
}

static bool is_empty(const struct health_bucket *b)
{
	return !b->secs && !b->symbols && !b->drops;
}

static uint8_t *put_ring(uint8_t *to, const struct health_ring *ring, unsigned n)
{
	uint8_t *count = to++;

	*count = 0;
	to = put_number(to, (uint64_t)ring->no, 8);
	for (unsigned before = n; before-- > 0;) {
		int64_t no = ring->no - before;
		const struct health_bucket *b = no > 0 ? &ring->at[no % n] : NULL;

		if (!b || is_empty(b))
			continue;
		to = put_bucket(to, b, before);
		++*count;
	}
	return *count ? to : count + 1;
}

static uint8_t *put_record(uint8_t *to, const struct health_record *r)
{
	to = put_end(to, &r->v.end[1]);
	to = put_number(to, r->v.on, 2);
	to = put_number(put_number(to, (uint64_t)r->v.since, 8), (uint64_t)r->v.last, 8);
	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		to = put_number(to, r->times[i].n, 1);
		for (unsigned k = 0; k < r->times[i].n; k++)
			to = put_number(to, r->times[i].at[k], 4);
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct health_port *p = r->port[i];

		to = put_number(to, p != NULL, 1);
		if (!p)
			continue;
		to = put_ring(put_number(to, p->bps, 8), &p->brief, SHORT_BUCKETS);
		to = put_ring(to, &p->wide, LONG_BUCKETS);
	}
	return to;
}

size_t health_pack(const struct health *h, struct health_end at, uint8_t to[HEALTH_ROW_MAX])
{
	const struct health_record *r = record_at(h, at);
	const struct health_off *o = off_at(h, at);
	uint8_t *end;

	if (r && is_clean(r))
		r = NULL;
	if (!r && !o)
		return 0;
	end = put_number(put_number(put_number(to, r ? r->counted : 0, 8), FORM, 1), h->sweep, 4);
	end = put_number(end, !o ? OFF_NONE : o->seen ? OFF_SEEN : OFF_NOTED, 1);
	if (o)
		end = put_end(end, &o->far);
	end = put_number(end, !r ? LINK_NONE : r->v.host ? LINK_HOST : LINK_SWITCHES, 1);
	if (r)
		end = put_record(end, r);
	assert(end <= to + HEALTH_ROW_MAX);
	return (size_t)(end - to);
}

bool health_rows_agree(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	return a_len == b_len && a_len > HEAD && !memcmp(a + HEAD, b + HEAD, a_len - HEAD);
}

bool health_row_is_ours(const uint8_t *bytes, size_t len)
{
	return len > HEAD && bytes[8] == FORM;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct row {
	uint64_t counted;
	uint32_t sweep;
	unsigned off, link; /* as above */
	struct health_end off_far;
	struct health_verdict v;
	uint8_t n_times[HEALTH_EVENTS];
	uint32_t times[HEALTH_EVENTS][HEALTH_MOST_EVENTS];
	struct health_port port[2];
	bool has_port[2];
};

struct reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static uint64_t get_number(struct reader *rd, unsigned len)
{
	uint64_t value = 0;

	if (rd->left < len) {
		rd->bad = true;
		rd->left = 0;
		return 0;
	}
	for (unsigned i = 0; i < len; i++)
		value = value << 8 | rd->at[i];
	rd->at += len;
	rd->left -= len;
	return value;
}

static uint64_t get_below(struct reader *rd, unsigned len, uint64_t end)
{
	uint64_t value = get_number(rd, len);

	if (value < end)
		return value;
	rd->bad = true;
	return 0;
}

/* Reads a sum: finite, and not below 0. */
static float get_float(struct reader *rd)
{
	uint32_t bits = (uint32_t)get_number(rd, 4);
	float f;

	memcpy(&f, &bits, sizeof(f));
	if (isfinite(f) && f >= 0)
		return f;
	rd->bad = true;
	return 0;
}

static struct health_end get_end(struct reader *rd)
{
	guid_t node = get_number(rd, 8);
	struct health_end e = { node, (uint8_t)get_number(rd, 1) };

	rd->bad |= !e.node;
	return e;
}

static struct health_bucket get_bucket(struct reader *rd)
{
	struct health_bucket b = { .symbols = (uint32_t)get_number(rd, 4) };

	b.drops = (uint32_t)get_number(rd, 4);
	b.secs = (uint32_t)get_number(rd, 4);
	b.packets = get_float(rd);
	b.wait = get_float(rd);
	rd->bad |= is_empty(&b);
	return b;
}

static void get_ring(struct reader *rd, struct health_ring *ring, unsigned n)
{
	unsigned count = (unsigned)get_below(rd, 1, n + 1), last = n;

	if (!count)
		return;
	ring->no = (int64_t)get_below(rd, 8, (uint64_t)UINT32_MAX + 1);
	for (; count && !rd->bad; count--) {
		unsigned before = (unsigned)get_below(rd, 1, last);

		if (ring->no <= before)
			rd->bad = true;
		else
			ring->at[(ring->no - before) % n] = get_bucket(rd);
		last = before;
	}
}

static void get_port(struct reader *rd, struct row *row, unsigned end)
{
	row->has_port[end] = get_below(rd, 1, 2);
	if (!row->has_port[end])
		return;
	row->port[end].bps = get_number(rd, 8);
	get_ring(rd, &row->port[end].brief, SHORT_BUCKETS);
	get_ring(rd, &row->port[end].wide, LONG_BUCKETS);
}

static void get_record(struct reader *rd, struct row *row)
{
	row->v.end[1] = get_end(rd);
	row->v.host = row->link == LINK_HOST;
	row->v.on = (unsigned)get_below(rd, 2, 1u << HEALTH_CONDS);
	row->v.since = (int64_t)get_below(rd, 8, 1ull << 63);
	row->v.last = (int64_t)get_below(rd, 8, 1ull << 63);
	rd->bad |= row->v.last < row->v.since;
	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		row->n_times[i] = (uint8_t)get_number(rd, 1);
		for (unsigned k = 0; k < row->n_times[i] && !rd->bad; k++)
			row->times[i][k] = (uint32_t)get_number(rd, 4);
	}
	get_port(rd, row, 0);
	get_port(rd, row, 1);
}

/* A link has its row at its lesser end. */
static bool is_lesser(const struct health_end *a, const struct health_end *b)
{
	return (COMPARE(a->node, b->node) ?: COMPARE(a->port, b->port)) < 0;
}

static bool read_row(struct health_end at, const uint8_t *bytes, size_t len, struct row *ret)
{
	struct reader rd = { bytes, len, false };

	ret->counted = get_number(&rd, 8);
	rd.bad |= get_number(&rd, 1) != FORM;
	ret->sweep = (uint32_t)get_number(&rd, 4);
	ret->off = (unsigned)get_below(&rd, 1, OFF_SEEN + 1);
	if (ret->off)
		ret->off_far = get_end(&rd);
	ret->link = (unsigned)get_below(&rd, 1, LINK_HOST + 1);
	ret->v.end[0] = at;
	if (ret->link)
		get_record(&rd, ret);
	return !rd.bad && !rd.left && at.node && (!ret->off || at.port) &&
	       (!ret->link || is_lesser(&at, &ret->v.end[1]));
}

/* ---- taking in ------------------------------------------------------------------------------- */

static void take_off(struct health *h, struct health_end at, const struct row *row)
{
	struct health_off *o = off_at(h, at);

	if (row->off)
		health_off_add(h, at, row->off_far)->seen = row->off == OFF_SEEN;
	else if (o)
		health_off_remove(h, (uint32_t)(o - h->offs));
}

static void take_events(struct health *h, struct health_record *r, const struct row *row)
{
	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		for (unsigned k = 0; k < row->n_times[i]; k++)
			health_note_time(h, r, i, row->times[i][k]);
	}
}

static void take_link(struct health *h, const struct row *row)
{
	uint32_t link = health_link(h, row->v.end[0], row->v.end[1], row->v.host);
	struct health_record *r;

	if (link == UINT32_MAX)
		return; /* as if it had been seen by this manager alone */
	r = &h->all[link];
	health_clear(h, link);
	r->v.on = row->v.on;
	r->v.since = row->v.since;
	r->v.last = row->v.last;
	r->v.host = row->v.host;
	r->manual = row->v.on & 1u << HEALTH_MANUAL;
	take_events(h, r, row);
	for (unsigned i = 0; i < 2; i++) {
		if (row->has_port[i])
			*health_need_port(r, i) = row->port[i];
	}
	r->counted = row->counted;
	if (!is_clean(r))
		health_list(h, r);
}

bool health_take(struct health *h, struct health_end at, const uint8_t *bytes, size_t len)
{
	struct row *row = xcalloc(1, sizeof(*row));
	bool good = !len || read_row(at, bytes, len, row);
	struct health_record *r = record_at(h, at);

	if (good) {
		h->sweep = MAX(h->sweep, row->sweep);
		take_off(h, at, row);
		if (row->link)
			take_link(h, row);
		else if (r)
			health_clear(h, (uint32_t)(r - h->all));
	}
	free(row);
	return good;
}
