// SPDX-License-Identifier: BSD-2-Clause
#include "keys/key_shares.h"

#include <assert.h>
#include <stdlib.h>

#include "util/bisect.h"

/* A cable, as seen from one of its ends. By GUID and port. */
struct end {
	guid_t guid, far;
	uint8_t port, far_port;
};

/* All that has a line or a cable. By GUID. */
struct vertex {
	guid_t guid;
	size_t ends, n_ends; /* its cables */
	size_t kids, n_kids; /* places: what is behind it, seen from the manager */
	size_t own;	     /* lines of this port */
	size_t wanted;	     /* lines of this port and of all that is behind it */
	size_t room;
	bool reached, kept;
};

/* Vertices in the order in which they are reached: all kids of one stand together. */
struct place {
	size_t wanted, vertex;
};

struct shares {
	struct end *ends;
	struct vertex *vertices;
	struct place *places;
	size_t n_ends, n_vertices, n_places;
};

static int compare_ends(const void *va, const void *vb)
{
	const struct end *a = va, *b = vb;

	return COMPARE(a->guid, b->guid) ?: COMPARE(a->port, b->port) ?: COMPARE(a->far, b->far);
}

/* What wants least is served first: what it leaves is for the others. */
static int compare_places(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return COMPARE(a->wanted, b->wanted) ?: COMPARE(a->vertex, b->vertex);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void add_cable(struct shares *s, guid_t a, uint8_t a_port, guid_t b, uint8_t b_port)
{
	s->ends[s->n_ends++] = (struct end){ a, b, a_port, b_port };
	s->ends[s->n_ends++] = (struct end){ b, a, b_port, a_port };
}

static void add_ends(struct shares *s, const struct key_line *lines, size_t n,
		     const struct key_map *map)
{
	s->ends = xcalloc(2 * (n + map->n) + 1, sizeof(*s->ends));
	for (size_t i = 0; i < map->n; i++)
		add_cable(s, map->cables[i].guid, map->cables[i].port, map->cables[i].far,
			  map->cables[i].far_port);
	for (size_t i = 0; i < n; i++)
		if (lines[i].far)
			add_cable(s, lines[i].guid, lines[i].port, lines[i].far, lines[i].far_port);
	SORT(s->ends, s->n_ends, compare_ends);
}

static struct vertex *vertex_of(const struct shares *s, guid_t guid)
{
	size_t at = BISECT(i, (size_t)0, s->n_vertices, s->vertices[i].guid < guid);

	return at < s->n_vertices && s->vertices[at].guid == guid ? &s->vertices[at] : NULL;
}

/* Each GUID of a line or a cable once, in order; the caller frees. */
static guid_t *list_guids(const struct shares *s, const struct key_line *lines, size_t n,
			  size_t *ret_n)
{
	guid_t *guids = xcalloc(s->n_ends + n + 1, sizeof(*guids));
	size_t n_guids = 0;

	for (size_t i = 0; i < s->n_ends; i++)
		guids[i] = s->ends[i].guid;
	for (size_t i = 0; i < n; i++)
		guids[s->n_ends + i] = lines[i].guid;
	SORT(guids, s->n_ends + n, compare_u64);
	for (size_t i = 0; i < s->n_ends + n; i++)
		if (!i || guids[i] != guids[n_guids - 1])
			guids[n_guids++] = guids[i];
	*ret_n = n_guids;
	return guids;
}

static void add_vertices(struct shares *s, const struct key_line *lines, size_t n)
{
	_cleanup_free_ guid_t *guids = list_guids(s, lines, n, &s->n_vertices);
	size_t at = 0;

	s->vertices = xcalloc(s->n_vertices + 1, sizeof(*s->vertices));
	for (size_t i = 0; i < s->n_vertices; i++) {
		struct vertex *v = &s->vertices[i];

		v->guid = guids[i];
		v->ends = at;
		while (at < s->n_ends && s->ends[at].guid == v->guid)
			at++;
		v->n_ends = at - v->ends;
	}
	for (size_t i = 0; i < n; i++)
		vertex_of(s, lines[i].guid)->own++;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void reach(struct shares *s, struct vertex *v)
{
	v->reached = true;
	s->places[s->n_places++].vertex = (size_t)(v - s->vertices);
}

/* All that is joined with the places from `first` on; each vertex is reached once. */
static void reach_all(struct shares *s, size_t first)
{
	for (size_t at = first; at < s->n_places; at++) {
		struct vertex *v = &s->vertices[s->places[at].vertex];

		v->kids = s->n_places;
		for (size_t i = v->ends; i < v->ends + v->n_ends; i++) {
			struct vertex *far = vertex_of(s, s->ends[i].far);

			if (!far->reached)
				reach(s, far);
		}
		v->n_kids = s->n_places - v->kids;
	}
}

/* From the leaves of the tree on, whose places are the last ones. */
static void add_up(struct shares *s, size_t first)
{
	for (size_t at = s->n_places; at-- > first;) {
		struct vertex *v = &s->vertices[s->places[at].vertex];

		v->wanted = v->own;
		for (size_t i = v->kids; i < v->kids + v->n_kids; i++)
			v->wanted += s->places[i].wanted;
		s->places[at].wanted = v->wanted;
	}
}

/* ---- the shares ------------------------------------------------------------------------------ */

static void divide(struct shares *s, size_t room, size_t first, size_t n)
{
	SORT(s->places + first, n, compare_places);
	for (size_t i = 0; i < n; i++) {
		const struct place *p = &s->places[first + i];
		size_t share = (room + (n - i) - 1) / (n - i);

		s->vertices[p->vertex].room = MIN(share, p->wanted);
		room -= s->vertices[p->vertex].room;
	}
}

/* Itself, then what is behind it. Returns how many lines are kept. */
static size_t serve(struct shares *s, struct vertex *v)
{
	v->kept = v->own <= v->room;
	divide(s, v->room - (v->kept ? v->own : 0), v->kids, v->n_kids);
	return v->kept ? v->own : 0;
}

/* The `n` places from `first` on have `room`, with all that is behind them. */
static size_t share_out(struct shares *s, size_t room, size_t first, size_t n)
{
	size_t kept = 0;

	reach_all(s, first);
	add_up(s, first);
	divide(s, room, first, n);
	for (size_t at = first; at < s->n_places; at++)
		kept += serve(s, &s->vertices[s->places[at].vertex]);
	return kept;
}

/* From the manager. */
static size_t share_joined(struct shares *s, guid_t own, size_t room)
{
	struct vertex *v = vertex_of(s, own);

	if (!v)
		return 0;
	reach(s, v);
	return share_out(s, room, 0, 1);
}

/* What is behind a port that has no line and is not joined with the manager. */
static size_t share_cut_off(struct shares *s, size_t room)
{
	size_t first = s->n_places;

	for (size_t i = 0; i < s->n_vertices; i++)
		if (!s->vertices[i].reached && !s->vertices[i].own)
			reach(s, &s->vertices[i]);
	return share_out(s, room, first, s->n_places - first);
}

/* The rest, by GUID. */
static size_t take_rest(struct shares *s, bool with_cable, size_t room)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_vertices; i++) {
		struct vertex *v = &s->vertices[i];

		if (v->reached || with_cable != (v->n_ends > 0) || v->own > room - kept)
			continue;
		v->kept = true;
		kept += v->own;
	}
	return kept;
}

size_t key_shares(const struct key_line *lines, size_t n, const struct key_map *map, size_t max,
		  bool *ret_keep)
{
	struct shares s = { 0 };
	size_t kept;

	add_ends(&s, lines, n, map);
	add_vertices(&s, lines, n);
	s.places = xcalloc(s.n_vertices + 1, sizeof(*s.places));
	kept = share_joined(&s, map->own, max);
	kept += share_cut_off(&s, max - kept);
	kept += take_rest(&s, true, max - kept);
	kept += take_rest(&s, false, max - kept);
	assert(kept <= max);
	for (size_t i = 0; i < n; i++)
		ret_keep[i] = vertex_of(&s, lines[i].guid)->kept;
	free(s.ends);
	free(s.vertices);
	free(s.places);
	return kept;
}
