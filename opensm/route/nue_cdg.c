// SPDX-License-Identifier: BSD-2-Clause
/* Turns as bits at their switch, twice: by the channel in (what follows it) and by the channel out. */
#include "route/nue_cdg.h"

#include <string.h>

#include "util/mem.h"

enum { UNSEEN, AHEAD, BEHIND };

/* A turn taken, or refused, since the mark. */
struct entry {
	uint32_t in, out;
	bool refused;
};

struct nue_cdg {
	const struct nue_net *net;
	uint64_t *after, *before, *refused;
	uint32_t *place;   /* per channel */
	uint32_t *at;      /* per place: its channel */
	uint8_t *seen;     /* per channel, while searching */
	uint32_t *ahead, *behind, *places;
	struct entry *journal;
	size_t n_journal, journal_cap;
};

struct nue_cdg *nue_cdg_new(const struct nue_net *net)
{
	struct nue_cdg *c = xcalloc(1, sizeof(*c));
	size_t n = net->n_channels + 1u;

	c->net = net;
	c->after = xcalloc(net->n_words + 1, sizeof(*c->after));
	c->before = xcalloc(net->n_words + 1, sizeof(*c->before));
	c->refused = xcalloc(net->n_words + 1, sizeof(*c->refused));
	c->place = xcalloc(n, sizeof(*c->place));
	c->at = xcalloc(n, sizeof(*c->at));
	c->seen = xcalloc(n, 1);
	c->ahead = xcalloc(n, sizeof(*c->ahead));
	c->behind = xcalloc(n, sizeof(*c->behind));
	c->places = xcalloc(2 * n, sizeof(*c->places));
	for (uint32_t i = 0; i < net->n_channels; i++)
		c->place[i] = c->at[i] = i;
	return c;
}

struct nue_cdg *nue_cdg_free(struct nue_cdg *c)
{
	if (!c)
		return NULL;
	free(c->after);
	free(c->before);
	free(c->refused);
	free(c->place);
	free(c->at);
	free(c->seen);
	free(c->ahead);
	free(c->behind);
	free(c->places);
	free(c->journal);
	free(c);
	return NULL;
}

void nue_cdg_order(struct nue_cdg *c, const uint32_t *channels)
{
	for (uint32_t i = 0; i < c->net->n_channels; i++) {
		c->place[channels[i]] = i;
		c->at[i] = channels[i];
	}
}

static uint32_t bit_after(const struct nue_cdg *c, uint32_t out)
{
	return out - nue_first(c->net, c->net->tail[out]);
}

static uint32_t bit_before(const struct nue_cdg *c, uint32_t in)
{
	return bit_after(c, c->net->reverse[in]);
}

static bool has(const uint64_t *rows, size_t row, uint32_t bit)
{
	return rows[row + bit / 64] >> bit % 64 & 1;
}

static void flip(uint64_t *rows, size_t row, uint32_t bit)
{
	rows[row + bit / 64] ^= UINT64_C(1) << bit % 64;
}

static void flip_turn(struct nue_cdg *c, uint32_t in, uint32_t out)
{
	flip(c->after, nue_row_after(c->net, in), bit_after(c, out));
	flip(c->before, nue_row_before(c->net, out), bit_before(c, in));
}

static void note(struct nue_cdg *c, uint32_t in, uint32_t out, bool refused)
{
	GROW(c->journal, c->n_journal + 1, c->journal_cap);
	c->journal[c->n_journal++] = (struct entry){ .in = in, .out = out, .refused = refused };
}

enum nue_turn nue_cdg_look(const struct nue_cdg *c, uint32_t in, uint32_t out)
{
	size_t row = nue_row_after(c->net, in);
	uint32_t bit = bit_after(c, out);

	if (has(c->after, row, bit))
		return NUE_TAKEN;
	if (c->place[in] < c->place[out])
		return NUE_FORWARD;
	return has(c->refused, row, bit) || c->net->reverse[in] == out ? NUE_REFUSED : NUE_UNSURE;
}

/*
 * Channels that lie ahead of `from` and not behind place `last`, into c->ahead. TOPO_NONE if `goal` is among
 * them. They stay marked as seen.
 */
static uint32_t search_ahead(struct nue_cdg *c, uint32_t from, uint32_t goal)
{
	const struct nue_net *net = c->net;
	uint32_t n = 0, done = 0, last = c->place[goal];

	c->ahead[n++] = from;
	c->seen[from] = AHEAD;
	while (done < n) {
		uint32_t channel = c->ahead[done++], at = nue_head(net, channel);
		const uint64_t *row = c->after + nue_row_after(net, channel);

		for (uint32_t w = 0; w < nue_words(net, at); w++)
			for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
				uint32_t next = nue_first(net, at) + w * 64 +
						(uint32_t)__builtin_ctzll(bits);

				if (next == goal) {
					while (n-- > 0)
						c->seen[c->ahead[n]] = 0;
					return TOPO_NONE;
				}
				if (c->seen[next] || c->place[next] > last)
					continue;
				c->seen[next] = AHEAD;
				c->ahead[n++] = next;
			}
	}
	return n;
}

static uint32_t search_behind(struct nue_cdg *c, uint32_t from, uint32_t first)
{
	const struct nue_net *net = c->net;
	uint32_t n = 0, done = 0;

	c->behind[n++] = from;
	c->seen[from] = BEHIND;
	while (done < n) {
		uint32_t channel = c->behind[done++], at = net->tail[channel];
		const uint64_t *row = c->before + nue_row_before(net, channel);

		for (uint32_t w = 0; w < nue_words(net, at); w++)
			for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
				uint32_t in = net->reverse[nue_first(net, at) + w * 64 +
							   (uint32_t)__builtin_ctzll(bits)];

				if (c->seen[in] || c->place[in] < first)
					continue;
				c->seen[in] = BEHIND;
				c->behind[n++] = in;
			}
	}
	return n;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The places of all that were seen, ascending. Looking at every place between is cheaper than sorting many. */
static void list_places(struct nue_cdg *c, uint32_t n_behind, uint32_t n_ahead, uint32_t first)
{
	uint32_t all = n_behind + n_ahead, last = c->place[c->behind[0]], n = 0;

	if ((uint64_t)all * 16 > last - first) {
		for (uint32_t p = first; n < all; p++)
			if (c->seen[c->at[p]])
				c->places[n++] = p;
		return;
	}
	for (uint32_t i = 0; i < n_behind; i++)
		c->places[n++] = c->place[c->behind[i]];
	for (uint32_t i = 0; i < n_ahead; i++)
		c->places[n++] = c->place[c->ahead[i]];
	qsort(c->places, n, sizeof(*c->places), by_number);
}

/* What lies behind comes first, then what lies ahead, each in the order it has, at the places they all have. */
static void change_places(struct nue_cdg *c, uint32_t n_behind, uint32_t n_ahead)
{
	uint32_t all = n_behind + n_ahead, behind = 0, ahead = 0;

	list_places(c, n_behind, n_ahead, c->place[c->ahead[0]]);
	for (uint32_t i = 0; i < all; i++) {
		uint32_t channel = c->at[c->places[i]];

		if (c->seen[channel] == BEHIND)
			c->behind[behind++] = channel;
		else
			c->ahead[ahead++] = channel;
		c->seen[channel] = UNSEEN;
	}
	for (uint32_t i = 0; i < all; i++) {
		uint32_t channel = i < n_behind ? c->behind[i] : c->ahead[i - n_behind];

		c->place[channel] = c->places[i];
		c->at[c->places[i]] = channel;
	}
}

bool nue_cdg_add(struct nue_cdg *c, uint32_t in, uint32_t out)
{
	enum nue_turn turn = nue_cdg_look(c, in, out);
	uint32_t n;

	if (turn == NUE_TAKEN || turn == NUE_REFUSED)
		return turn == NUE_TAKEN;
	if (turn == NUE_UNSURE) {
		n = in == out ? TOPO_NONE : search_ahead(c, out, in);
		if (n == TOPO_NONE) {
			flip(c->refused, nue_row_after(c->net, in), bit_after(c, out));
			note(c, in, out, true);
			return false;
		}
		change_places(c, search_behind(c, in, c->place[out]), n);
	}
	flip_turn(c, in, out);
	note(c, in, out, false);
	return true;
}

void nue_cdg_mark(struct nue_cdg *c)
{
	c->n_journal = 0;
}

/* The order holds for fewer turns as well. */
void nue_cdg_undo(struct nue_cdg *c)
{
	while (c->n_journal > 0) {
		const struct entry *e = &c->journal[--c->n_journal];

		if (e->refused)
			flip(c->refused, nue_row_after(c->net, e->in), bit_after(c, e->out));
		else
			flip_turn(c, e->in, e->out);
	}
}

void nue_cdg_set(struct nue_cdg *c, uint32_t in, uint32_t out)
{
	size_t row = nue_row_after(c->net, in);
	uint32_t bit = bit_after(c, out);

	c->after[row + bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Fills in `before`; how many turns lead to each channel, into `ret_n`. */
static void mirror(struct nue_cdg *c, uint32_t *ret_n)
{
	const struct nue_net *net = c->net;

	memset(c->before, 0, net->n_words * sizeof(*c->before));
	for (uint32_t in = 0; in < net->n_channels; in++) {
		uint32_t at = nue_head(net, in), bit = bit_before(c, in);
		const uint64_t *row = c->after + nue_row_after(net, in);

		for (uint32_t w = 0; w < nue_words(net, at); w++)
			for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
				uint32_t out = nue_first(net, at) + w * 64 +
					       (uint32_t)__builtin_ctzll(bits);

				flip(c->before, nue_row_before(net, out), bit);
				ret_n[out]++;
			}
	}
}

bool nue_cdg_settle(struct nue_cdg *c)
{
	const struct nue_net *net = c->net;
	_cleanup_free_ uint32_t *waits = xcalloc(net->n_channels + 1u, sizeof(*waits));
	uint32_t n = 0, done = 0;

	c->n_journal = 0;
	mirror(c, waits);
	for (uint32_t i = 0; i < net->n_channels; i++)
		if (!waits[i])
			c->places[n++] = i;
	while (done < n) {
		uint32_t channel = c->places[done++], at = nue_head(net, channel);
		const uint64_t *row = c->after + nue_row_after(net, channel);

		for (uint32_t w = 0; w < nue_words(net, at); w++)
			for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
				uint32_t out = nue_first(net, at) + w * 64 +
					       (uint32_t)__builtin_ctzll(bits);

				if (!--waits[out])
					c->places[n++] = out;
			}
	}
	if (n < net->n_channels)
		return false;
	nue_cdg_order(c, c->places);
	return true;
}
