// SPDX-License-Identifier: BSD-2-Clause
/* Turns as bits at their switch, twice: by channel in (what follows it) and by channel out. */
#include "route/vl/cdg_order.h"

#include <assert.h>
#include <string.h>

/* ---- channels -------------------------------------------------------------------------------- */

struct cdg_channels *cdg_channels_open(uint32_t n_switches, uint32_t n)
{
	struct cdg_channels *c = xcalloc(1, sizeof(*c));

	c->n_switches = n_switches;
	c->n = n;
	ARENA_ARRAY(&c->memory, c->first, n_switches + 1u);
	ARENA_ARRAYS(&c->memory, n + 1u, c->to, c->back, c->deps, c->row);
	return c;
}

static uint32_t degree(const struct cdg_channels *c, uint32_t sw)
{
	return c->first[sw + 1] - c->first[sw];
}

static uint32_t words(const struct cdg_channels *c, uint32_t sw)
{
	return (degree(c, sw) + 63) / 64;
}

/* Each channel that leaves switch `at` and has its bit in `row`, as OUT. */
#define EACH_CHANNEL(c, at, row, OUT)                                                              \
	for (uint32_t w_ = 0, OUT; w_ < words((c), (at)); w_++)                                    \
		for (uint64_t bits_ = (row)[w_];                                                   \
		     bits_ &&                                                                      \
		     (OUT = (c)->first[at] + w_ * 64 + (uint32_t)__builtin_ctzll(bits_), true);    \
		     bits_ &= bits_ - 1)

void cdg_channels_close(struct cdg_channels *c)
{
	assert(c->first[c->n_switches] == c->n);
	for (uint32_t id = 0; id < c->n; id++) {
		c->deps[id + 1] = c->deps[id] + degree(c, c->to[id]);
		c->row[id + 1] = c->row[id] + words(c, cdg_tail(c, id));
	}
}

static void connect_channels(struct cdg_channels *c, const struct topo *t)
{
	for (uint32_t e = 0; e < topo_n_entries(t); e++)
		if (c->of_port[e] != CHANNEL_NONE) {
			c->to[c->of_port[e]] = t->ports[e].sw;
			c->back[c->of_port[e]] = c->of_port[topo_peer(t, e)];
		}
}

struct cdg_channels *cdg_channels_new(const struct topo *t)
{
	struct cdg_channels *c;
	uint32_t n_ports = topo_n_entries(t), n = 0;

	for (uint32_t i = 0; i < n_ports; i++)
		n += t->ports[i].sw != TOPO_NONE;
	c = cdg_channels_open(t->n_switches, n);
	ARENA_ARRAY(&c->memory, c->of_port, n_ports + 1u);
	n = 0;
	for (uint32_t s = 0, e = 0; s < t->n_switches; s++) {
		for (; e <= t->switches[s].first_port + t->switches[s].n_ports; e++)
			c->of_port[e] = t->ports[e].sw != TOPO_NONE ? n++ : CHANNEL_NONE;
		c->first[s + 1] = n;
	}
	connect_channels(c, t);
	cdg_channels_close(c);
	return c;
}

ARENA_FREE(cdg_channels_free, struct cdg_channels)

/* ---- turns ----------------------------------------------------------------------------------- */

enum { UNSEEN, AHEAD, BEHIND };

/* A turn taken, or refused, since the journal was empty. */
struct entry {
	uint32_t in, out;
	bool refused;
};

struct cdg_order {
	const struct cdg_channels *channels;
	uint64_t *after, *before, *refused;
	uint32_t *place; /* per channel */
	uint32_t *at;	 /* per place: its channel */
	uint8_t *seen;	 /* per channel, while searching */
	/*
	 * While searching, a bit per channel that leaves a switch, `width` words per switch: it was
	 * looked at; ahead, and behind as the other direction of its cables.
	 */
	uint64_t *looked[2];
	uint32_t width;
	uint64_t **dirty; /* words of these that are not 0 */
	uint32_t n_dirty;
	uint32_t *ahead, *behind, *places;
	uint64_t work; /* channels that searches went through */
	struct entry *journal;
	uint32_t n_journal;
	size_t journal_cap;
	struct arena memory;
};

struct cdg_order *cdg_order_new(const struct cdg_channels *c)
{
	struct cdg_order *o = xcalloc(1, sizeof(*o));
	size_t n = c->n + 1u, n_words = c->row[c->n] + 1;

	o->channels = c;
	ARENA_ARRAYS(&o->memory, n_words, o->after, o->before, o->refused);
	ARENA_ARRAYS(&o->memory, n, o->place, o->at, o->seen, o->ahead, o->behind, o->places);
	for (uint32_t s = 0; s < c->n_switches; s++)
		o->width = MAX(o->width, words(c, s));
	n_words = (size_t)c->n_switches * o->width;
	ARENA_ARRAYS(&o->memory, n_words + 1, o->looked[0], o->looked[1]);
	ARENA_ARRAY(&o->memory, o->dirty, 2 * n_words + 1);
	for (uint32_t i = 0; i < c->n; i++)
		o->place[i] = o->at[i] = i;
	return o;
}

struct cdg_order *cdg_order_free(struct cdg_order *o)
{
	if (!o)
		return NULL;
	free(o->journal);
	arena_done(&o->memory);
	free(o);
	return NULL;
}

void cdg_order_arrange(struct cdg_order *o, const uint32_t *channels)
{
	for (uint32_t i = 0; i < o->channels->n; i++) {
		o->place[channels[i]] = i;
		o->at[i] = channels[i];
	}
}

/* Where the bits of what follows `in` begin; of what leads to `out`: at its own row. */
static size_t row_after(const struct cdg_channels *c, uint32_t in)
{
	return c->row[c->back[in]];
}

static uint32_t bit_after(const struct cdg_channels *c, uint32_t in, uint32_t out)
{
	return out - c->first[c->to[in]];
}

static uint32_t bit_before(const struct cdg_channels *c, uint32_t in)
{
	return c->back[in] - c->first[c->to[in]];
}

static bool has(const uint64_t *rows, size_t row, uint32_t bit)
{
	return rows[row + bit / 64] >> bit % 64 & 1;
}

static void flip(uint64_t *rows, size_t row, uint32_t bit)
{
	rows[row + bit / 64] ^= UINT64_C(1) << bit % 64;
}

static void flip_turn(struct cdg_order *o, uint32_t in, uint32_t out)
{
	const struct cdg_channels *c = o->channels;

	flip(o->after, row_after(c, in), bit_after(c, in, out));
	flip(o->before, c->row[out], bit_before(c, in));
}

static void note_turn(struct cdg_order *o, uint32_t in, uint32_t out, bool refused)
{
	APPEND(o->journal, o->n_journal, o->journal_cap) =
		(struct entry){ .in = in, .out = out, .refused = refused };
}

enum cdg_turn cdg_order_look(const struct cdg_order *o, uint32_t in, uint32_t out)
{
	const struct cdg_channels *c = o->channels;
	size_t row = row_after(c, in);
	uint32_t bit = bit_after(c, in, out);

	if (has(o->after, row, bit))
		return CDG_TAKEN;
	if (o->place[in] < o->place[out])
		return CDG_FORWARD;
	return has(o->refused, row, bit) || c->back[in] == out ? CDG_REFUSED : CDG_UNSURE;
}

/* The bits of `bits` that were not there yet in this search, and are from now on. */
static uint64_t look_once(struct cdg_order *o, uint64_t *looked, uint64_t bits)
{
	bits &= ~*looked;
	if (bits && !*looked)
		o->dirty[o->n_dirty++] = looked;
	*looked |= bits;
	return bits;
}

/* What follows o->ahead[done], up to place `last`, into o->ahead. True: one is behind, too. */
static bool step_ahead(struct cdg_order *o, uint32_t done, uint32_t *n, uint32_t last)
{
	const struct cdg_channels *c = o->channels;
	uint32_t channel = o->ahead[done], at = c->to[channel];
	const uint64_t *row = o->after + row_after(c, channel);
	uint64_t *looked = o->looked[0] + (size_t)at * o->width;

	o->work++;
	for (uint32_t w = 0; w < words(c, at); w++)
		for (uint64_t bits = look_once(o, &looked[w], row[w]); bits; bits &= bits - 1) {
			uint32_t next = c->first[at] + w * 64 + (uint32_t)__builtin_ctzll(bits);

			if (o->seen[next] == BEHIND)
				return true;
			if (o->seen[next] || o->place[next] > last)
				continue;
			o->seen[next] = AHEAD;
			o->ahead[(*n)++] = next;
		}
	return false;
}

/* What leads to o->behind[done], down to place `first`, into o->behind. True: one is ahead, too. */
static bool step_behind(struct cdg_order *o, uint32_t done, uint32_t *n, uint32_t first)
{
	const struct cdg_channels *c = o->channels;
	uint32_t channel = o->behind[done], at = cdg_tail(c, channel);
	const uint64_t *row = o->before + c->row[channel];
	uint64_t *looked = o->looked[1] + (size_t)at * o->width;

	o->work++;
	for (uint32_t w = 0; w < words(c, at); w++)
		for (uint64_t bits = look_once(o, &looked[w], row[w]); bits; bits &= bits - 1) {
			uint32_t in =
				c->back[c->first[at] + w * 64 + (uint32_t)__builtin_ctzll(bits)];

			if (o->seen[in] == AHEAD)
				return true;
			if (o->seen[in] || o->place[in] < first)
				continue;
			o->seen[in] = BEHIND;
			o->behind[(*n)++] = in;
		}
	return false;
}

/*
 * Channels ahead of `out` and those behind `in`, as far as the place of the other, into o->ahead
 * and o->behind, seen. In turns, as a cycle shows as soon as the two meet: false then.
 */
static bool search(struct cdg_order *o, uint32_t in, uint32_t out, uint32_t *ret_behind,
		   uint32_t *ret_ahead)
{
	uint32_t first = o->place[out], last = o->place[in];
	uint32_t ahead = 1, behind = 1, done_ahead = 0, done_behind = 0;
	bool met = in == out;

	o->ahead[0] = out;
	o->behind[0] = in;
	o->seen[out] = AHEAD;
	o->seen[in] = BEHIND;
	while (!met && (done_ahead < ahead || done_behind < behind)) {
		if (done_ahead < ahead)
			met = step_ahead(o, done_ahead++, &ahead, last);
		if (!met && done_behind < behind)
			met = step_behind(o, done_behind++, &behind, first);
	}
	while (o->n_dirty)
		*o->dirty[--o->n_dirty] = 0;
	for (uint32_t i = 0; met && i < ahead; i++)
		o->seen[o->ahead[i]] = UNSEEN;
	for (uint32_t i = 0; met && i < behind; i++)
		o->seen[o->behind[i]] = UNSEEN;
	*ret_ahead = ahead;
	*ret_behind = behind;
	return !met;
}

/* Shell's sort: most lists are short, and there are many of them. */
static void sort_places(uint32_t *places, uint32_t n)
{
	static const uint32_t gaps[] = { 29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1 };

	for (unsigned g = 0; g < ARRAY_SIZE(gaps); g++)
		for (uint32_t i = gaps[g]; i < n; i++) {
			uint32_t place = places[i], at = i;

			for (; at >= gaps[g] && places[at - gaps[g]] > place; at -= gaps[g])
				places[at] = places[at - gaps[g]];
			places[at] = place;
		}
}

/* The places of all seen, ascending. Looking at all between is cheaper than sorting many. */
static void list_places(struct cdg_order *o, uint32_t n_behind, uint32_t n_ahead)
{
	uint32_t first = o->place[o->ahead[0]], last = o->place[o->behind[0]],
		 all = n_behind + n_ahead, n = 0;

	if ((uint64_t)all * 16 > last - first) {
		for (uint32_t p = first; n < all; p++)
			if (o->seen[o->at[p]])
				o->places[n++] = p;
		return;
	}
	for (uint32_t i = 0; i < n_behind; i++)
		o->places[n++] = o->place[o->behind[i]];
	for (uint32_t i = 0; i < n_ahead; i++)
		o->places[n++] = o->place[o->ahead[i]];
	sort_places(o->places, n);
}

/* At the places they all have: what lies behind, then what lies ahead, each in its order. */
static void change_places(struct cdg_order *o, uint32_t n_behind, uint32_t n_ahead)
{
	uint32_t all = n_behind + n_ahead, behind = 0, ahead = 0;

	list_places(o, n_behind, n_ahead);
	for (uint32_t i = 0; i < all; i++) {
		uint32_t channel = o->at[o->places[i]];

		if (o->seen[channel] == BEHIND)
			o->behind[behind++] = channel;
		else
			o->ahead[ahead++] = channel;
		o->seen[channel] = UNSEEN;
	}
	for (uint32_t i = 0; i < all; i++) {
		uint32_t channel = i < n_behind ? o->behind[i] : o->ahead[i - n_behind];

		o->place[channel] = o->places[i];
		o->at[o->places[i]] = channel;
	}
}

bool cdg_order_add(struct cdg_order *o, uint32_t in, uint32_t out)
{
	enum cdg_turn turn = cdg_order_look(o, in, out);
	uint32_t ahead, behind;

	assert(cdg_tail(o->channels, out) == o->channels->to[in]);
	if (turn == CDG_TAKEN || turn == CDG_REFUSED)
		return turn == CDG_TAKEN;
	if (turn == CDG_UNSURE) {
		if (!search(o, in, out, &behind, &ahead)) {
			flip(o->refused, row_after(o->channels, in),
			     bit_after(o->channels, in, out));
			note_turn(o, in, out, true);
			return false;
		}
		change_places(o, behind, ahead);
	}
	flip_turn(o, in, out);
	note_turn(o, in, out, false);
	return true;
}

uint64_t cdg_order_work(const struct cdg_order *o)
{
	return o->work;
}

uint32_t cdg_order_mark(const struct cdg_order *o)
{
	return o->n_journal;
}

/* The order holds for fewer turns as well. */
void cdg_order_undo(struct cdg_order *o, uint32_t mark)
{
	assert(mark <= o->n_journal);
	while (o->n_journal > mark) {
		const struct entry *e = &o->journal[--o->n_journal];

		if (e->refused)
			flip(o->refused, row_after(o->channels, e->in),
			     bit_after(o->channels, e->in, e->out));
		else
			flip_turn(o, e->in, e->out);
	}
}

void cdg_order_forget(struct cdg_order *o)
{
	o->n_journal = 0;
}

void cdg_order_cut(struct cdg_order *o, const uint32_t *channels, size_t n)
{
	const struct cdg_channels *c = o->channels;

	assert(!o->n_journal);
	for (size_t i = 0; i < n; i++) {
		uint32_t channel = channels[i], begins = cdg_tail(c, channel);
		uint64_t *after = o->after + row_after(c, channel),
			 *before = o->before + c->row[channel];

		EACH_CHANNEL(c, c->to[channel], after, out)
			flip(o->before, c->row[out], bit_before(c, channel));
		memset(after, 0, words(c, c->to[channel]) * sizeof(*after));
		EACH_CHANNEL(c, begins, before, out)
			flip(o->after, row_after(c, c->back[out]),
			     bit_after(c, c->back[out], channel));
		memset(before, 0, words(c, begins) * sizeof(*before));
	}
	memset(o->refused, 0, c->row[c->n] * sizeof(*o->refused));
}

void cdg_order_become(struct cdg_order *o, const struct cdg_order *of)
{
	size_t n = of->channels->n, n_words = of->channels->row[n];

	assert(o->channels == of->channels && !of->n_journal);
	memcpy(o->after, of->after, n_words * sizeof(*o->after));
	memcpy(o->before, of->before, n_words * sizeof(*o->before));
	memcpy(o->refused, of->refused, n_words * sizeof(*o->refused));
	memcpy(o->place, of->place, n * sizeof(*o->place));
	memcpy(o->at, of->at, n * sizeof(*o->at));
	o->n_journal = 0;
}

/* ---- many at once ---------------------------------------------------------------------------- */

void cdg_order_set(struct cdg_order *o, uint32_t in, uint32_t out)
{
	uint32_t bit = bit_after(o->channels, in, out);

	o->after[row_after(o->channels, in) + bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Fills in `before`; how many turns lead to each channel, into `ret_n`. */
static void mirror(struct cdg_order *o, uint32_t *ret_n)
{
	const struct cdg_channels *c = o->channels;

	memset(o->before, 0, c->row[c->n] * sizeof(*o->before));
	for (uint32_t in = 0; in < c->n; in++)
		EACH_CHANNEL(c, c->to[in], o->after + row_after(c, in), out)
		{
			flip(o->before, c->row[out], bit_before(c, in));
			ret_n[out]++;
		}
}

bool cdg_order_settle(struct cdg_order *o)
{
	const struct cdg_channels *c = o->channels;
	_cleanup_free_ uint32_t *waits = xcalloc(c->n + 1u, sizeof(*waits));
	uint32_t n = 0, done = 0;

	o->n_journal = 0;
	mirror(o, waits);
	for (uint32_t i = 0; i < c->n; i++)
		if (!waits[i])
			o->places[n++] = i;
	while (done < n) {
		uint32_t channel = o->places[done++], at = c->to[channel];
		const uint64_t *row = o->after + row_after(c, channel);

		EACH_CHANNEL(c, at, row, out)
		if (!--waits[out])
			o->places[n++] = out;
	}
	if (n < c->n)
		return false;
	cdg_order_arrange(o, o->places);
	return true;
}
