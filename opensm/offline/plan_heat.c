// SPDX-License-Identifier: BSD-2-Clause
#include "offline/base/svg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "offline/base/cut.h"
#include "util/mem.h"

#define SIDE	  30.0	/* margin on all sides */
#define HEAD	  36.0	/* above a block: its name */
#define GAP	  40.0	/* distance between blocks */
#define LEGEND	  46.0
#define WIDE	  1500.0 /* two blocks beside each other, about */
#define CELL_MOST 14.0
#define CELL_LEAST 2.5
#define NAMES	  9.0	/* a cell of this size has room for the names of its row and column */
#define NAME_ROOM 110.0
#define BINS	  200u	/* rows and columns of a block; of more switches some are one */
#define SPREAD	  0.25	/* relative to the mean: colours are never scaled finer */
#define STEPS	  15
#define LEVELS	  16u

/* Switches at one height of the layout; of a fabric without levels all of them. */
struct level {
	uint32_t first, n; /* range in layout->order */
	uint32_t bins;
};

struct cell {
	uint32_t most, channels;
	uint64_t sum;
	uint32_t from, to; /* switches of the most loaded channel */
};

/* Channels from the switches of one level to those of another. */
struct block {
	unsigned from, to;
	struct cell *cells; /* bins of `from` times those of `to` */
	double x, y;
	bool named;
};

struct heat {
	const struct topofile *names;
	const struct topo *t;
	const struct layout *l;
	uint32_t *at, *level; /* per switch: place in its level; level */
	struct level levels[LEVELS];
	unsigned n_levels;
	struct block blocks[LEVELS * LEVELS];
	unsigned n_blocks;
	double cell, width, height, mean;
	uint32_t most;
};

/* ---- levels ---------------------------------------------------------------------------------- */

static void find_levels(struct heat *h)
{
	for (uint32_t i = 0; i < h->t->n_switches; i++) {
		uint32_t sw = h->l->order[i], height = h->l->places[sw].level;
		struct level *level;

		if (!i ||
		    (height != h->l->places[h->l->order[i - 1]].level && h->n_levels < LEVELS))
			h->levels[h->n_levels++] = (struct level){ .first = i };
		level = &h->levels[h->n_levels - 1];
		h->at[sw] = level->n++;
		h->level[sw] = h->n_levels - 1;
		level->bins = MIN(level->n, BINS);
	}
}

static uint32_t bin_of(const struct heat *h, uint32_t sw)
{
	const struct level *l = &h->levels[h->level[sw]];

	return (uint32_t)((uint64_t)h->at[sw] * l->bins / l->n);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static struct block *need_block(struct heat *h, unsigned from, unsigned to)
{
	struct block *b;

	for (unsigned i = 0; i < h->n_blocks; i++)
		if (h->blocks[i].from == from && h->blocks[i].to == to)
			return &h->blocks[i];
	b = &h->blocks[h->n_blocks++];
	*b = (struct block){ .from = from, .to = to };
	b->cells = xcalloc((size_t)h->levels[from].bins * h->levels[to].bins, sizeof(*b->cells));
	return b;
}

static void add_channel(struct heat *h, uint32_t from, uint32_t to, uint32_t load)
{
	struct block *b = need_block(h, h->level[from], h->level[to]);
	struct cell *c = &b->cells[(size_t)bin_of(h, from) * h->levels[b->to].bins + bin_of(h, to)];

	if (!c->channels || load > c->most) {
		c->most = load;
		c->from = from;
		c->to = to;
	}
	c->channels++;
	c->sum += load;
}

static void add_channels(struct heat *h, const uint32_t *load)
{
	uint64_t sum = 0, n = 0;

	for (uint32_t s = 0; s < h->t->n_switches; s++) {
		for (unsigned i = 1; i <= h->t->switches[s].n_ports; i++) {
			const struct topo_port *p = topo_port(h->t, s, i);
			uint32_t l = load[p - h->t->ports];

			if (p->sw == TOPO_NONE || p->sw == s)
				continue;
			add_channel(h, s, p->sw, l);
			h->most = MAX(h->most, l);
			sum += l;
			n++;
		}
	}
	h->mean = n ? (double)sum / (double)n : 0;
}

/* ---- places of blocks ------------------------------------------------------------------------ */

/* Upwards on the left, downwards on the right, the lowest level first. */
static int by_levels(const void *va, const void *vb)
{
	const struct block *a = va, *b = vb;
	unsigned low_a = MIN(a->from, a->to), low_b = MIN(b->from, b->to);
	unsigned high_a = MAX(a->from, a->to), high_b = MAX(b->from, b->to);

	if (low_a != low_b)
		return low_a < low_b ? -1 : 1;
	if (high_a != high_b)
		return high_a < high_b ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static double room_of(const struct heat *h)
{
	return h->cell >= NAMES ? NAME_ROOM : 0;
}

static void place_blocks(struct heat *h)
{
	double y = LEGEND, x = SIDE, tall = 0;

	for (unsigned i = 0; i < h->n_blocks; i++) {
		struct block *b = &h->blocks[i];
		const struct block *before = i ? b - 1 : NULL;
		bool is_other_way = before && before->from == b->to && before->to == b->from;

		if (before && !is_other_way) {
			y += tall + HEAD + room_of(h) + GAP;
			x = SIDE;
			tall = 0;
		}
		b->x = x + room_of(h);
		b->y = y + HEAD + room_of(h);
		tall = MAX(tall, h->levels[b->from].bins * h->cell);
		x = b->x + h->levels[b->to].bins * h->cell + GAP;
		h->width = MAX(h->width, x - GAP + SIDE);
		h->height = MAX(h->height, b->y + tall + SIDE);
	}
	h->width = MAX(h->width, 720.0);
}

static double cell_size(const struct heat *h)
{
	uint32_t most = 1;

	for (unsigned i = 0; i < h->n_blocks; i++)
		most = MAX(most, h->levels[h->blocks[i].from].bins +
					 h->levels[h->blocks[i].to].bins);
	return MIN(MAX(WIDE / most, CELL_LEAST), CELL_MOST);
}

struct heat *heat_new(const struct topofile *names, const struct topo *t, const uint32_t *load,
		      const struct layout *l)
{
	struct heat *h = xcalloc(1, sizeof(*h));

	assert(t && load && l);
	h->names = names;
	h->t = t;
	h->l = l;
	h->at = xcalloc(t->n_switches + 1u, sizeof(*h->at));
	h->level = xcalloc(t->n_switches + 1u, sizeof(*h->level));
	find_levels(h);
	add_channels(h, load);
	qsort(h->blocks, h->n_blocks, sizeof(*h->blocks), by_levels);
	h->cell = cell_size(h);
	place_blocks(h);
	return h;
}

struct heat *heat_free(struct heat *h)
{
	if (!h)
		return NULL;
	for (unsigned i = 0; i < h->n_blocks; i++)
		free(h->blocks[i].cells);
	free(h->at);
	free(h->level);
	free(h);
	return NULL;
}

void heat_size(const struct heat *h, double top, double *ret_width, double *ret_height)
{
	*ret_width = h->width;
	*ret_height = h->height + top;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* -1 least, 0 the mean, 1 most: from blue over a light grey to red. */
static void colour(double at, char ret[8])
{
	static const uint8_t stops[][3] = { { 33, 102, 172 },  { 146, 197, 222 }, { 238, 238, 234 },
					    { 244, 165, 108 }, { 178, 24, 43 } };
	double place = (MIN(MAX(at, -1.0), 1.0) + 1) * 2;
	unsigned i = MIN((unsigned)place, 3u), rgb[3];

	for (unsigned k = 0; k < 3; k++)
		rgb[k] = (unsigned)(stops[i][k] + (stops[i + 1][k] - stops[i][k]) * (place - i)) &
			 0xFF;
	snprintf(ret, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

/* How far from the mean the ends of the scale are: the upper, and the lower, which is 0 at most. */
static double reach_of(const struct heat *h)
{
	return MAX(MAX(h->most - h->mean, h->mean * SPREAD), 1.0);
}

static double reach_below(const struct heat *h)
{
	return MAX(MIN(reach_of(h), h->mean), 1.0);
}

static void draw_legend(const struct heat *h, double top, FILE *out)
{
	double reach = reach_of(h);
	char text[8];

	for (unsigned i = 0; i < STEPS; i++) {
		colour((i + 0.5) / STEPS * 2 - 1, text);
		fprintf(out,
			"<rect x=\"%.0f\" y=\"%.0f\" width=\"20\" height=\"10\" fill=\"%s\"/>",
			SIDE + i * 20, top, text);
	}
	fprintf(out,
		"\n<g font-size=\"11\"><text x=\"%.0f\" y=\"%.0f\">%.0f</text>"
		"<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">mean %.0f</text>"
		"<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%.0f</text>"
		"<text x=\"%.0f\" y=\"%.0f\">pairs of end ports on the most loaded channel of a "
		"cell; most: %u. Rows send, columns receive.</text></g>\n",
		SIDE, top + 23, MAX(h->mean - reach_below(h), 0.0), SIDE + STEPS * 10, top + 23,
		h->mean,
		SIDE + STEPS * 20, top + 23, h->mean + reach, SIDE + STEPS * 20 + 16, top + 9,
		h->most);
}

static void draw_cell(const struct heat *h, const struct block *b, uint32_t row, uint32_t column,
		      double top, FILE *out)
{
	const struct cell *c = &b->cells[(size_t)row * h->levels[b->to].bins + column];
	double edge = h->cell > 5 ? 0.5 : 0;
	char text[8];

	if (!c->channels)
		return;
	colour((c->most - h->mean) / (c->most > h->mean ? reach_of(h) : reach_below(h)), text);
	fprintf(out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>",
		b->x + column * h->cell, top + b->y + row * h->cell, h->cell - edge,
		h->cell - edge, text);
	svg_escaped(out, svg_switch_name(h->names, h->t, c->from));
	fputs(" to ", out);
	svg_escaped(out, svg_switch_name(h->names, h->t, c->to));
	fprintf(out, ": %u pairs", c->most);
	if (h->mean > 0)
		fprintf(out, ", %.0f %% of the mean", c->most * 100 / h->mean);
	if (c->channels > 1)
		fprintf(out, "; the most loaded of %u cables, which have %.0f on average",
			c->channels, (double)c->sum / c->channels);
	fputs("</title></rect>\n", out);
}

static void draw_name(const struct heat *h, const struct level *l, uint32_t i, FILE *out)
{
	svg_escaped(out, svg_switch_name(h->names, h->t, h->l->order[l->first + i]));
	fputs("</text>\n", out);
}

/* Names of rows and columns, where each is one switch. */
static void draw_names(const struct heat *h, const struct block *b, double top, FILE *out)
{
	const struct level *from = &h->levels[b->from], *to = &h->levels[b->to];
	double size = MIN(h->cell - 1, 10.0);

	for (uint32_t i = 0; h->cell >= NAMES && from->bins == from->n && i < from->n; i++) {
		fprintf(out,
			"<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"end\">",
			b->x - 4, top + b->y + (i + 0.8) * h->cell, size);
		draw_name(h, from, i, out);
	}
	for (uint32_t i = 0; h->cell >= NAMES && to->bins == to->n && i < to->n; i++) {
		fprintf(out,
			"<text transform=\"translate(%.1f %.1f) rotate(-90)\" "
			"font-size=\"%.0f\">",
			b->x + (i + 0.8) * h->cell, top + b->y - 4, size);
		draw_name(h, to, i, out);
	}
}

static void draw_head(const struct heat *h, const struct block *b, double top, FILE *out)
{
	const struct level *from = &h->levels[b->from], *to = &h->levels[b->to];
	const char *way = b->from < b->to ? "up: " : b->from > b->to ? "down: " : "";

	fprintf(out,
		"<text x=\"%.1f\" y=\"%.1f\" font-size=\"13\">%slevel %u (%u switches) to level %u "
		"(%u)</text>\n",
		b->x, top + b->y - 8 - room_of(h), way, b->from, from->n, b->to, to->n);
	fprintf(out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fff\" "
		"stroke=\"#999\" stroke-width=\"0.6\"/>\n",
		b->x - 1, top + b->y - 1, to->bins * h->cell + 2, from->bins * h->cell + 2);
}

void heat_draw(const struct heat *h, double top, FILE *out)
{
	draw_legend(h, top, out);
	for (unsigned i = 0; i < h->n_blocks; i++) {
		const struct block *b = &h->blocks[i];

		draw_head(h, b, top, out);
		draw_names(h, b, top, out);
		for (uint32_t row = 0; row < h->levels[b->from].bins; row++)
			for (uint32_t column = 0; column < h->levels[b->to].bins; column++)
				draw_cell(h, b, row, column, top, out);
	}
}
