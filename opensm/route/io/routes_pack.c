// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes to bytes and back, member by member. The reader makes them by the functions that engines
 * use: routes_derive() and routes_write() where rows were derived from others, so that its own
 * journal tells the differences.
 */
#include "route/io/routes_pack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "route/proof/check.h"
#include "route/proof/cdg_internal.h"
#include "topo/topo_pack.h"
#include "util/mem.h"

#define TITLE "opensm " PACKAGE_VERSION " tables\n"

enum rows_kind { ROWS_SAME, ROWS_CHANGED, ROWS_WHOLE };

/* All that is not an array. */
struct routes_head {
	uint64_t kind, options, n_changes;
	uint32_t n_switches, row_size, top;
	uint32_t compared_load, expected_load, balanced_load;
	uint8_t dealt, has_lanes, has_judged; /* bytes of a bool may be anything here */
	char engine[32], by[32], note[ROUTES_NOTE];
	struct route_verdict judged;
};

static size_t words_of(const struct topo *t)
{
	return (size_t)t->n_switches * ((t->n_switches + 63u) / 64);
}

static size_t squared(const struct topo *t)
{
	return (size_t)t->n_switches * t->n_switches;
}

/* ---- VLs ---------------------------------------------------------------------------------- */

static bool vls_are_alike(const struct sl2vl *a, const struct sl2vl *b)
{
	return a && b && a->by == b->by && a->n_switches == b->n_switches &&
	       a->row_size == b->row_size;
}

static void vls_pack(const struct sl2vl *l, const struct sl2vl *before, const struct topo *t,
		       struct pack *p)
{
	struct sl2vl head;

	memcpy(&head, l, sizeof(head));
	head.sl = head.class_of = head.vl = NULL;
	pack_value(p, head);
	pack_changed(p, l->sl, vls_are_alike(l, before) ? before->sl : NULL, sl2vl_n_sl(l),
		     sizeof(*l->sl));
	pack_array(p, l->class_of, topo_n_entries(t), sizeof(*l->class_of));
	pack_array(p, l->vl, (size_t)l->n_classes * l->n_classes * SL2VL_SLS, sizeof(*l->vl));
}

static bool vls_head_is_good(const struct sl2vl *h, const struct routes *r)
{
	return h->n_vls >= 1 && h->n_vls <= SL2VL_VLS_MAX && h->n_needed <= h->n_vls &&
	       h->sl_mask < SL2VL_SLS &&
	       h->n_levels <= h->n_vls && (unsigned)h->by <= SL2VL_BY_SWITCH_LID &&
	       h->n_switches == r->topo->n_switches && h->n_classes >= 1 &&
	       h->n_classes <= UINT8_MAX && h->row_size <= LID_MAX_UCAST + LFT_BLOCK_LIDS;
}

/* Of a byte that is neither 0 nor 1, too. */
static void make_bool(bool *b)
{
	uint8_t byte;

	memcpy(&byte, b, sizeof(byte));
	*b = byte != 0;
}

static bool all_are_below(const uint8_t *bytes, size_t n, unsigned limit)
{
	uint8_t most = 0;

#pragma omp simd reduction(max : most)
	for (size_t i = 0; i < n; i++)
		most = MAX(most, bytes[i]);
	return !n || most < limit;
}

/* Data VLs in use, or that packets are dropped, as tables from files may say. */
static bool vls_are_known(const uint8_t *vls, size_t n, unsigned n_vls)
{
	for (size_t i = 0; i < n; i++)
		if (vls[i] >= n_vls && vls[i] != SL2VL_VL_DROP)
			return false;
	return true;
}

static bool vls_are_good(const struct sl2vl *l, const struct topo *t)
{
	size_t n_vl = (size_t)l->n_classes * l->n_classes * SL2VL_SLS;

	return (l->sl || l->by == SL2VL_BY_NOTHING) && l->vl &&
	       (!l->sl || all_are_below(l->sl, sl2vl_n_sl(l), SL2VL_SLS)) &&
	       vls_are_known(l->vl, n_vl, l->n_vls) &&
	       all_are_below(l->host_vl, sizeof(l->host_vl), l->n_vls) &&
	       (l->class_of ? all_are_below(l->class_of, topo_n_entries(t), l->n_classes)
			    : l->n_classes == 1);
}

static struct sl2vl *vls_unpack(struct unpack *u, const struct routes *r,
				  const struct sl2vl *before)
{
	_cleanup_(sl2vl_freep) struct sl2vl *l = NULL;
	struct sl2vl head;

	unpack_value(u, head);
	if (u->bad || !vls_head_is_good(&head, r))
		return unpack_bad(u);
	l = xmemdup(&head, sizeof(head));
	l->sl = l->class_of = l->vl = NULL;
	make_bool(&l->mcast_mask_zero);
	l->sl = unpack_changed(u, vls_are_alike(l, before) ? before->sl : NULL, sl2vl_n_sl(l),
			       sizeof(*l->sl));
	l->class_of = unpack_array(u, topo_n_entries(r->topo), sizeof(*l->class_of));
	l->vl = unpack_array(u, (size_t)l->n_classes * l->n_classes * SL2VL_SLS, sizeof(*l->vl));
	u->bad |= !u->bad && !vls_are_good(l, r->topo);
	return u->bad ? NULL : take(l);
}

/* ---- routes --------------------------------------------------------------------------------- */

static void pack_rest(const struct routes *r, const struct routes *before, struct pack *p)
{
	const struct routes *like = routes_are_alike(r, before) ? before : NULL;
	const struct topo *t = r->topo;

	pack_changed(p, r->hops, like ? like->hops : NULL, squared(t), sizeof(*r->hops));
	pack_changed(p, r->downs, like ? like->downs : NULL, words_of(t), sizeof(*r->downs));
	pack_array(p, r->places, t->n_switches, sizeof(*r->places));
	pack_array(p, r->master_tree, t->n_switches, sizeof(*r->master_tree));
	if (r->lanes)
		vls_pack(r->lanes, before ? before->lanes : NULL, t, p);
}

void routes_pack(const struct routes *r, const struct routes *before, struct pack *p)
{
	_cleanup_free_ struct routes_entry *changes = NULL;
	struct routes_head head;
	size_t n = 0;

	memset(&head, 0, sizeof(head)); /* padding, too: nothing of the stack leaves */
	if (r != before && routes_are_alike(r, before))
		changes = routes_changes(before, r, &n);
	head.kind = r == before ? ROWS_SAME : changes ? ROWS_CHANGED : ROWS_WHOLE;
	head.n_changes = n;
	head.options = r->options;
	head.n_switches = r->topo->n_switches;
	head.row_size = r->row_size;
	head.top = r->top;
	head.compared_load = r->compared_load;
	head.expected_load = r->expected_load;
	head.balanced_load = r->balanced_load;
	head.dealt = r->dealt;
	head.has_lanes = r->lanes != NULL;
	head.has_judged = r->judged != NULL;
	if (r->judged)
		head.judged = *r->judged;
	snprintf(head.engine, sizeof(head.engine), "%s", r->engine);
	snprintf(head.by, sizeof(head.by), "%s", r->by);
	snprintf(head.note, sizeof(head.note), "%s", r->note);
	pack_value(p, head);
	if (head.kind == ROWS_SAME)
		return;
	for (size_t i = 0; i < n; i++)
		changes[i].port = changes[i].now;
	pack_bytes(p, changes, n * sizeof(*changes));
	for (uint32_t s = 0; head.kind == ROWS_WHOLE && s < r->topo->n_switches; s++)
		pack_bytes(p, routes_row(r, s), r->row_size);
	pack_rest(r, before, p);
}

static bool head_is_good(const struct routes_head *h, const struct topo *t,
			 const struct routes *before)
{
	uint32_t row_size = (h->top + LFT_BLOCK_LIDS) / LFT_BLOCK_LIDS * LFT_BLOCK_LIDS;

	if (h->kind > ROWS_WHOLE || h->top > LID_MAX_UCAST || h->row_size != row_size ||
	    (h->kind != ROWS_SAME && h->n_switches != t->n_switches))
		return false;
	return h->kind == ROWS_WHOLE || (before && before->row_size == row_size &&
					 before->topo->n_switches == h->n_switches);
}

/*
 * A port of the switch, or none. Found tables may hold others for LIDs that are not assigned, which
 * are kept as they are: so the former tables have the same there.
 */
static bool port_is_good(const struct topo *t, const struct routes *before, uint32_t sw, lid_t lid,
			 uint8_t port)
{
	uint32_t was;

	if (port <= t->switches[sw].n_ports || port == LFT_NO_PORT)
		return true;
	was = before ? topo_find_switch(before->topo, t->switches[sw].guid) : TOPO_NONE;
	return was != TOPO_NONE && routes_port(before, was, lid) == port;
}

static bool row_is_good(const struct routes *r, const struct routes *before, uint32_t sw)
{
	const uint8_t *row = routes_row(r, sw);
	unsigned n_ports = r->topo->switches[sw].n_ports;
	uint8_t strange = 0;

#pragma omp simd reduction(| : strange)
	for (uint32_t i = 0; i < r->row_size; i++)
		strange |= (uint8_t)((row[i] > n_ports) & (row[i] != LFT_NO_PORT));
	for (uint32_t i = 0; strange && i < r->row_size; i++)
		if (!port_is_good(r->topo, before, sw, (lid_t)i, row[i]))
			return false;
	return true;
}

static bool rows_are_good(const struct routes *r, const struct routes *before)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		if (!row_is_good(r, before, s))
			return false;
	return true;
}

static struct routes *unpack_changes(struct unpack *u, const struct routes_head *h,
				     const struct topo *t, const struct routes *before)
{
	_cleanup_(routes_unrefp) struct routes *r = NULL;

	if (h->n_changes > u->left / sizeof(struct routes_entry))
		return unpack_bad(u);
	r = routes_derive(t, before);
	r->top = (lid_t)h->top; /* a row has room for more LIDs than there were */
	for (uint64_t i = 0; i < h->n_changes; i++) {
		struct routes_entry e;

		unpack_value(u, e);
		if (u->bad || e.sw >= t->n_switches || e.lid >= r->row_size ||
		    !port_is_good(t, before, e.sw, e.lid, e.port))
			return unpack_bad(u);
		routes_write(r, e.sw, e.lid, e.port);
	}
	return take(r);
}

static struct routes *unpack_rows(struct unpack *u, const struct routes_head *h,
				  const struct topo *t, const struct routes *before)
{
	size_t size = (size_t)t->n_switches * h->row_size;
	struct routes *r;

	if (h->kind == ROWS_CHANGED)
		return unpack_changes(u, h, t, before);
	if (size > u->left)
		return unpack_bad(u);
	r = routes_new_unset(t, "", (lid_t)h->top);
	unpack_bytes(u, r->lft, size);
	u->bad |= !u->bad && !rows_are_good(r, before);
	return r;
}

/* Places in the order; ports to the root, each with a switch behind: multicast follows them. */
static bool trees_are_good(const struct routes *r)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		uint8_t port = r->master_tree ? r->master_tree[s] : 0;

		if ((port && topo_behind(t, s, port) == TOPO_NONE) ||
		    (r->places && r->places[s] >= t->n_switches))
			return false;
	}
	return true;
}

static void unpack_rest(struct unpack *u, struct routes *r, const struct routes_head *h,
			const struct routes *before)
{
	const struct routes *like = routes_are_alike(r, before) ? before : NULL;
	const struct topo *t = r->topo;

	r->hops = unpack_changed(u, like ? like->hops : NULL, squared(t), sizeof(*r->hops));
	r->downs = unpack_changed(u, like ? like->downs : NULL, words_of(t), sizeof(*r->downs));
	r->places = unpack_array(u, t->n_switches, sizeof(*r->places));
	r->master_tree = unpack_array(u, t->n_switches, sizeof(*r->master_tree));
	if (h->has_lanes && !u->bad)
		r->lanes = vls_unpack(u, r, before ? before->lanes : NULL);
	u->bad |= !trees_are_good(r);
}

static void take_text(char *to, const char *from, size_t cap)
{
	snprintf(to, cap, "%.*s", (int)cap - 1, from);
}

struct routes *routes_unpack(struct unpack *u, const struct topo *t, const struct routes *before)
{
	_cleanup_(routes_unrefp) struct routes *r = NULL;
	struct routes_head head;

	unpack_value(u, head);
	u->bad |= !head_is_good(&head, t, before);
	if (u->bad)
		return NULL;
	if (head.kind == ROWS_SAME)
		return routes_ref(before);
	r = unpack_rows(u, &head, t, before);
	if (!r)
		return NULL;
	r->options = head.options;
	r->compared_load = head.compared_load;
	r->expected_load = head.expected_load;
	r->balanced_load = head.balanced_load;
	r->dealt = head.dealt;
	take_text(r->engine, head.engine, sizeof(r->engine));
	take_text(r->by, head.by, sizeof(r->by));
	take_text(r->note, head.note, sizeof(r->note));
	if (head.has_judged) {
		r->judged = xmemdup(&head.judged, sizeof(head.judged));
		make_bool(&r->judged->credit_loop);
		make_bool(&r->judged->minimal);
	}
	unpack_rest(u, r, &head, before);
	return u->bad ? NULL : take(r);
}

/* ---- transitions ---------------------------------------------------------------------------- */

void transition_pack(const struct transition *t, const struct routes *to, struct pack *p)
{
	static const struct transition none; /* n_epochs is 0 */

	pack_bytes(p, t ? t : &none, sizeof(*t));
	if (!t)
		return;
	pack_sparse(p, t->drain, t->top + 1u, sizeof(*t->drain));
	pack_sparse(p, t->epochs, (size_t)to->topo->n_switches * t->n_blocks, sizeof(*t->epochs));
}

struct transition *transition_unpack(struct unpack *u, const struct routes *to)
{
	_cleanup_(transition_freep) struct transition *t = NULL;
	struct transition head;
	size_t n;

	unpack_value(u, head);
	if (u->bad || !head.n_epochs)
		return NULL;
	if (!to)
		return unpack_bad(u);
	n = (size_t)to->topo->n_switches * head.n_blocks;
	if (head.top != to->top || head.n_blocks != to->row_size / LFT_BLOCK_LIDS ||
	    head.n_epochs > UINT8_MAX || head.n_lids > head.top + 1u)
		return unpack_bad(u);
	t = xmemdup(&head, sizeof(head));
	t->drain = t->epochs = NULL;
	t->drain = unpack_sparse(u, t->top + 1u, sizeof(*t->drain));
	t->epochs = unpack_sparse(u, n, sizeof(*t->epochs));
	u->bad = u->bad || !all_are_below(t->epochs, n, t->n_epochs);
	return u->bad ? NULL : take(t);
}

/* ---- dependencies --------------------------------------------------------------------------- */

struct graph_head {
	uint32_t is_there, n_ports, n_vls, n_in, words, vls;
};

static size_t masks_of(const struct cdg *g)
{
	return (size_t)g->n_ports * g->n_vls * g->n_in * g->words;
}

void cdg_pack(const struct cdg *g, struct pack *p)
{
	struct graph_head head = { .is_there = g != NULL };

	if (g)
		head = (struct graph_head){ 1, g->n_ports, g->n_vls, g->n_in, g->words, g->vls };
	pack_value(p, head);
	if (!g)
		return;
	pack_array(p, g->into, masks_of(g), sizeof(*g->into));
	pack_array(p, g->rank, (size_t)g->n_ports * g->n_vls, sizeof(*g->rank));
}

/* Ports of `sw` that packets can have come in by: with a cable to a switch. */
static void find_ways_in(const struct cdg *g, uint32_t sw, uint64_t *ret)
{
	const struct topo_switch *s = &g->topo->switches[sw];

	memset(ret, 0, g->words * sizeof(*ret));
	for (unsigned p = 1; p <= s->n_ports; p++)
		if (g->peer[s->first_port + p] != TOPO_NONE)
			ret[p / 64] |= UINT64_C(1) << p % 64;
}

/* Every bit must be a port that a channel comes in by; entries that are no channel have none. */
static bool masks_are_good(const struct cdg *g)
{
	_cleanup_free_ uint64_t *in = xcalloc(g->words, sizeof(*in));
	const uint64_t *mask = g->into;
	uint64_t wrong = 0;

	for (uint32_t s = 0; s < g->topo->n_switches; s++) {
		const struct topo_switch *sw = &g->topo->switches[s];

		find_ways_in(g, s, in);
		for (unsigned p = 0; p <= sw->n_ports; p++) {
			bool leads = p && g->peer[sw->first_port + p] != TOPO_NONE;

			for (unsigned k = 0; k < g->n_vls * g->n_in; k++)
				for (unsigned w = 0; w < g->words; w++)
					wrong |= *mask++ & ~(leads ? in[w] : 0);
		}
	}
	return !wrong;
}

struct cdg *cdg_unpack(struct unpack *u, const struct routes *r)
{
	_cleanup_(cdg_freep) struct cdg *g = NULL;
	struct graph_head head;

	unpack_value(u, head);
	if (u->bad || !head.is_there)
		return NULL;
	if (!r)
		return unpack_bad(u);
	g = cdg_new(r->topo, r->lanes);
	if (head.n_ports != g->n_ports || head.n_vls != g->n_vls || head.n_in != g->n_in ||
	    head.words != g->words || head.vls >> g->n_vls)
		return unpack_bad(u);
	free(g->into);
	g->vls = (uint16_t)head.vls;
	g->into = unpack_array(u, masks_of(g), sizeof(*g->into));
	g->rank = unpack_array(u, (size_t)g->n_ports * g->n_vls, sizeof(*g->rank));
	u->bad |= !g->into || !masks_are_good(g);
	return u->bad ? NULL : take(g);
}

/* ---- a file: a line with kind and version, then topo and routes ------------------------------ */

int routes_save(const struct routes *r, FILE *out)
{
	struct pack p = { 0 };
	bool ok;

	pack_bytes(&p, TITLE, strlen(TITLE));
	topo_pack(r->topo, NULL, &p);
	routes_pack(r, NULL, &p);
	errno = EIO;
	ok = fwrite(p.bytes, 1, p.n, out) == p.n;
	free(p.bytes);
	return ok ? 0 : -errno;
}

struct routes *routes_restore(const void *bytes, size_t n, char *why, size_t why_len)
{
	_cleanup_(topo_unrefp) struct topo *t = NULL;
	struct unpack u = { .at = bytes, .left = n };
	char title[sizeof(TITLE)] = "";
	_cleanup_(routes_unrefp) struct routes *r = NULL;

	unpack_bytes(&u, title, sizeof(TITLE) - 1);
	if (u.bad || strcmp(title, TITLE) != 0)
		return route_refuse(why, why_len, "it does not begin with the line \"%.*s\"",
				    (int)strlen(TITLE) - 1, TITLE);
	t = topo_unpack(&u, NULL);
	r = t ? routes_unpack(&u, t, NULL) : NULL;
	if (!r || u.left)
		return route_refuse(why, why_len, "it is damaged at byte %zu of %zu", n - u.left,
				    n);
	return take(r);
}
