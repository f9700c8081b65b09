// SPDX-License-Identifier: BSD-2-Clause
/*
 * --svg: the load of every link as a picture. Cables between the same two switches are one line, in
 * the colour of the most loaded channel. Where switches are is layout.c's affair; names and
 * figures are in titles that a viewer shows under the mouse, and written out where there is room.
 * More lines than can be told apart are drawn as a matrix (plan_heat.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "offline/base/layout.h"
#include "offline/plan.h"
#include "offline/base/svg.h"
#include "util/file.h"
#include "util/mem.h"

#define TOP	   70.0
#define MATRIX_TOP 40.0
#define STEPS 10
/*
 * Most lines that can be told apart: in a layout as wide as a screen, and between places in a grid.
 */
#define LINES_MOST	1000u
#define LINES_MOST_GRID 5000u

struct line {
	uint32_t a, b, cables, load, total;
};

/* From grey-blue over yellow to red. */
static void colour(double share, char ret[8])
{
	static const uint8_t stops[][3] = {
		{ 198, 210, 224 }, { 120, 160, 205 }, { 245, 190, 60 }, { 205, 30, 30 }
	};
	double at = MIN(MAX(share, 0.0), 1.0) * 3;
	unsigned i = MIN((unsigned)at, 2u);
	double rest = at - i;
	unsigned rgb[3];

	for (unsigned k = 0; k < 3; k++)
		rgb[k] = (unsigned)(stops[i][k] + (stops[i + 1][k] - stops[i][k]) * rest) & 0xFF;
	snprintf(ret, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

/* --- Lines ---------------------------------------------------------------------------------- */

static int by_ends(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

static int by_load(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	return a->load != b->load ? (a->load < b->load ? -1 : 1) : by_ends(va, vb);
}

/* The most loaded last, so that they are on top. The caller frees. */
static struct line *lines_of(const struct topo *t, const uint32_t *load, uint32_t *ret_n)
{
	struct line *lines = xcalloc((size_t)cut_n_ports(t) + 1, sizeof(*lines));
	uint32_t n = 0, kept = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned i = 1; i <= t->switches[s].n_ports; i++) {
			const struct topo_port *p = topo_port(t, s, i);

			if (p->sw != TOPO_NONE && p->sw != s)
				lines[n++] =
					(struct line){ MIN(s, p->sw), MAX(s, p->sw), 1,
						       load[p - t->ports], load[p - t->ports] };
		}
	qsort(lines, n, sizeof(*lines), by_ends);
	for (uint32_t i = 0; i < n; i++)
		if (kept && lines[kept - 1].a == lines[i].a && lines[kept - 1].b == lines[i].b) {
			lines[kept - 1].cables++;
			lines[kept - 1].total += lines[i].load;
			lines[kept - 1].load = MAX(lines[kept - 1].load, lines[i].load);
		} else {
			lines[kept++] = lines[i];
		}
	qsort(lines, kept, sizeof(*lines), by_load);
	*ret_n = kept;
	return lines;
}

static void draw_path(const struct layout *l, const struct line *line, FILE *out)
{
	const struct layout_place *a = &l->places[line->a], *b = &l->places[line->b];
	double x = l->width / 2, y = l->height / 2;

	if (l->round) {
		fprintf(out, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"", a->x, a->y + TOP,
			(a->x + b->x) / 4 + x / 2, (a->y + b->y) / 4 + y / 2 + TOP, b->x,
			b->y + TOP);
	} else if (layout_wraps(l, line->a, line->b)) {
		double dx = b->x - a->x, dy = b->y - a->y, r = l->pitch * 0.7 / hypot(dx, dy);

		fprintf(out, "<path d=\"M%.1f %.1fl%.1f %.1fM%.1f %.1fl%.1f %.1f\"", a->x,
			a->y + TOP, -dx * r, -dy * r, b->x, b->y + TOP, dx * r, dy * r);
	} else if (layout_bends(l, line->a, line->b)) {
		fprintf(out, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\"", a->x, a->y + TOP,
			(a->x + b->x) / 2 + (b->y - a->y) / 6,
			(a->y + b->y) / 2 + TOP + (b->x - a->x) / 6, b->x, b->y + TOP);
	} else {
		fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\"", a->x, a->y + TOP, b->x,
			b->y + TOP);
	}
}

static void draw_lines(const struct topofile *names, const struct topo *t, const struct layout *l,
		       const struct line *lines, uint32_t n, FILE *out)
{
	uint32_t most = n ? MAX(lines[n - 1].load, 1u) : 1;
	double width = n > 5000 ? 0.6 : n > 1000 ? 1.0 : 1.6;
	char text[8];

	fputs("<g fill=\"none\" stroke-linecap=\"round\">\n", out);
	for (uint32_t i = 0; i < n; i++) {
		const struct line *line = &lines[i];
		double share = (double)line->load / most;

		colour(share, text);
		draw_path(l, line, out);
		fprintf(out, " stroke=\"%s\" stroke-width=\"%.1f\"><title>", text,
			width * (1 + share));
		svg_escaped(out, svg_switch_name(names, t, line->a));
		fputs(" - ", out);
		svg_escaped(out, svg_switch_name(names, t, line->b));
		fprintf(out, ": %u pairs on the most loaded channel, %u cable%s</title></path>\n",
			line->load, line->cables / 2, line->cables > 2 ? "s" : "");
	}
	fputs("</g>\n", out);
}

/* --- Switches and words --------------------------------------------------------------------- */

static void draw_switch(const struct topofile *names, const struct topo *t, const struct layout *l,
			uint32_t s, uint32_t hosts, FILE *out)
{
	const struct layout_place *p = &l->places[s];
	double r = MIN(MAX(l->pitch * 0.32, 1.5), 9.0);
	bool upright = l->pitch < 70;

	fprintf(out,
		"<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" "
		"fill=\"%s\" stroke=\"#333\" "
		"stroke-width=\"0.6\"/><title>",
		p->x - r, p->y + TOP - r, 2 * r, 2 * r, hosts ? "#4a7d4a" : "#666");
	svg_escaped(out, svg_switch_name(names, t, s));
	fprintf(out, " 0x%016" PRIx64 ", lid %u, %u end ports</title></g>\n", t->switches[s].guid,
		t->switches[s].lid, hosts);
	if (l->pitch < 9)
		return;
	fprintf(out,
		"<text font-size=\"%d\" paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"2\" ",
		l->pitch < 20 || l->grid ? 7 : 10);
	if (l->round)
		fprintf(out, "transform=\"translate(%.1f %.1f) rotate(%.1f)\"%s>", p->x, p->y + TOP,
			p->turn, p->flip ? " text-anchor=\"end\"" : "");
	else if (l->grid)
		fprintf(out, "x=\"%.1f\" y=\"%.1f\">", p->x + r + 1, p->y + TOP - 2);
	else if (upright)
		fprintf(out, "transform=\"translate(%.1f %.1f) rotate(%d)\">", p->x + 3,
			p->y + TOP + (p->low ? r + 4 : -r - 4), p->low ? 90 : -90);
	else
		fprintf(out, "x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", p->x,
			p->y + TOP + (p->low ? r + 13 : -r - 5));
	if (l->round)
		fputs(p->flip ? "" : "&#160;&#160;&#160;", out);
	svg_escaped(out, svg_switch_name(names, t, s));
	if (hosts)
		fprintf(out, " (%u)", hosts);
	if (l->round)
		fputs(p->flip ? "&#160;&#160;&#160;" : "", out);
	fputs("</text>\n", out);
}

static void draw_legend(uint32_t most, FILE *out)
{
	char text[8];

	for (unsigned i = 0; i < STEPS; i++) {
		colour((i + 0.5) / STEPS, text);
		fprintf(out, "<rect x=\"%u\" y=\"40\" width=\"24\" height=\"10\" fill=\"%s\"/>",
			20 + i * 24, text);
	}
	fprintf(out,
		"\n<text x=\"20\" y=\"62\" font-size=\"11\">0</text><text x=\"%u\" y=\"62\" "
		"font-size=\"11\" "
		"text-anchor=\"end\">%u pairs of end ports on a channel</text>\n",
		20 + STEPS * 24 + 160, most);
	fprintf(out,
		"<rect x=\"%u\" y=\"40\" width=\"10\" height=\"10\" fill=\"#4a7d4a\"/><text "
		"x=\"%u\" y=\"49\" "
		"font-size=\"11\">switch with (end ports)</text><rect x=\"%u\" y=\"40\" "
		"width=\"10\" height=\"10\" "
		"fill=\"#666\"/><text x=\"%u\" y=\"49\" font-size=\"11\">without</text>\n",
		480, 495, 630, 645);
}

static void begin_picture(double width, double height, const char *title, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
		"xmlns=\"http://www.w3.org/2000/svg\" "
		"viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
		"font-family=\"sans-serif\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height, width, height);
	fputs("<text x=\"20\" y=\"25\" font-size=\"15\">", out);
	svg_escaped(out, title);
	fputs("</text>\n", out);
}

static void draw_matrix(const struct topofile *names, const struct topo *t, const uint32_t *load,
			const struct layout *l, const char *title, FILE *out)
{
	_cleanup_(heat_freep) struct heat *h = heat_new(names, t, load, l);
	double width, height;

	heat_size(h, MATRIX_TOP, &width, &height);
	begin_picture(width, height, title, out);
	heat_draw(h, MATRIX_TOP, out);
}

static void draw_graph(const struct topofile *names, const struct topo *t, const struct layout *l,
		       const struct line *lines, uint32_t n, const char *title, FILE *out)
{
	_cleanup_free_ uint32_t *hosts = xcalloc((size_t)t->n_switches + 1, sizeof(*hosts));

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE)
			hosts[t->hosts[h].sw]++;
	begin_picture(l->width, l->height + TOP, title, out);
	draw_legend(n ? lines[n - 1].load : 0, out);
	draw_lines(names, t, l, lines, n, out);
	for (uint32_t s = 0; s < t->n_switches; s++)
		draw_switch(names, t, l, s, hosts[s], out);
}

void plan_draw_svg(const struct topofile *names, const struct topo *t, const uint32_t *load,
		   const char *title, FILE *out)
{
	_cleanup_(layout_freep) struct layout *l = layout_new(t);
	_cleanup_free_ struct line *lines = NULL;
	uint32_t n;

	lines = lines_of(t, load, &n);
	if (n > (l->grid ? LINES_MOST_GRID : LINES_MOST))
		draw_matrix(names, t, load, l, title, out);
	else
		draw_graph(names, t, l, lines, n, title, out);
	fputs("</svg>\n", out);
}

int plan_write_svg(const struct plan_result *r, const char *path)
{
	const struct plan_tables *p = r->broken ? &r->after : &r->now;
	const struct topo *t = r->broken ? r->broken : r->world.topo;
	const struct topofile *names = r->later.file ? r->later.file : r->world.file;
	_cleanup_(file_replace_abortp) struct file_replace *f = file_output_open(path, 0644);
	_cleanup_free_ uint32_t *none = xcalloc((size_t)cut_n_ports(t) + 1, sizeof(*none));
	_cleanup_free_ char *title = NULL;
	int e = f ? 0 : -errno;

	if (f) {
		title = xasprintf("%s: %u switches, %u end ports, %s%s", r->world.args->fabric,
				  t->n_switches, t->n_hosts,
				  p->routes ? p->routes->engine : "no tables",
				  r->cut      ? ", after the failure"
				  : r->broken ? ", the later fabric"
					      : "");
		plan_draw_svg(names, t, p->routes ? p->figures.load : none, title,
			      file_replace_stream(f));
		e = file_replace_commit(take(f), false);
	}
	if (e < 0)
		fprintf(stderr, "opensm: --svg %s: %s\n", path, strerror(-e));
	return e;
}
