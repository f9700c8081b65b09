// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a view says of nodes, ports and service levels; views that are derived from another one.
 * view_copy.c makes them.
 */
#include "view/view.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "plan/pkey.h"
#include "util/bisect.h"
#include "util/mem.h"
#include "view/path_walk.h"
#include "view/view_policy.h"
#include "view/view_sets.h"

struct view *view_ref(const struct view *v)
{
	struct view *view = as_owner(v);

	if (view)
		atomic_fetch_add(&view->refs, 1);
	return view;
}

struct view *view_unref(const struct view *shared)
{
	struct view *v = as_owner(shared);

	if (!v || atomic_fetch_sub(&v->refs, 1) > 1)
		return NULL;
	view_sets_free(v->sets);
	if (v->base) {
		view_unref(v->base);
		free(v);
		return NULL;
	}
	conf_unref(v->conf);
	conf_files_unref(v->files);
	routes_unref(v->routes);
	path_map_free(v->paths);
	policy_ports_free(v->policy);
	guidmap_free(v->by_guid);
	mft_haves_free(v->mfts, v->n_nodes);
	free(v->nodes);
	free(v->ports);
	free(v->by_lid);
	free(v->sms);
	free(v);
	return NULL;
}

const struct view_node *view_find_node(const struct view *v, guid_t guid)
{
	uint32_t at = BISECT(i, 0, v->n_nodes, v->nodes[i].guid < guid);

	return at < v->n_nodes && v->nodes[at].guid == guid ? &v->nodes[at] : NULL;
}

const struct view_node *view_switch_around(const struct view *v, const struct view_node *n)
{
	uint32_t peer;

	if (n->type == IB_NODE_SWITCH || !n->n_ports ||
	    !conf_files_quirk(v->files, QUIRK_AGGREGATION, n->vendor_id, n->device_id))
		return NULL;
	peer = v->ports[view_node_port(n, 1)].peer;
	if (peer == VIEW_NONE || v->nodes[v->ports[peer].node].type != IB_NODE_SWITCH)
		return NULL;
	return &v->nodes[v->ports[peer].node];
}

const char *view_node_name(const struct view *v, const struct view_node *n)
{
	const char *mapped = conf_names_find(conf_files_names(v->files), n->guid);

	return mapped ? mapped : n->desc;
}

enum ib_speed_set view_speed_sets(const struct view *v, const struct view_port *p)
{
	const struct view_port *end = &v->ports[view_end_port(v, (uint32_t)(p - v->ports))];

	return ib_speed_sets(end->known ? end->info : NULL);
}

unsigned view_rate_of(const uint8_t *port_info, enum ib_speed_set most, bool fdr10)
{
	return ib_rate_of_link(ib_link_width(port_info), ib_link_speed(port_info, most, fdr10));
}

bool view_share_pkey(const struct view *v, uint32_t a, uint32_t b, uint16_t *ret_pkey)
{
	const struct pkey_set *of_a = view_pkeys(v, a), *of_b = view_pkeys(v, b);

	return of_a && of_b && pkey_share(of_a, of_b, ret_pkey);
}

unsigned view_pkey_forms(const struct view *v, uint32_t port, uint16_t pkey)
{
	const struct pkey_set *set = view_pkeys(v, port);

	return set ? pkey_set_find(set, pkey) : 0;
}

bool view_has_pkey(const struct view *v, uint32_t port, uint16_t pkey)
{
	return view_pkey_forms(v, port, pkey) != 0;
}

/* ---- service levels -------------------------------------------------------------------------- */

/* The switch of an end port, in the topo of the routes; TOPO_NONE. */
static uint32_t switch_of(const struct view *v, uint32_t port)
{
	const struct view_port *p = port == VIEW_NONE ? NULL : &v->ports[port];

	if (p && !view_is_switch(v, p))
		p = p->peer == VIEW_NONE ? NULL : &v->ports[p->peer];
	return p ? v->nodes[p->node].topo_sw : TOPO_NONE;
}

uint8_t view_path_sl(const struct view *v, uint32_t src, uint32_t dst, lid_t dlid, uint8_t wish)
{
	return view_asked_sl(v, src, dst, dlid, qos_level_sl(&v->qos, wish));
}

uint8_t view_asked_sl(const struct view *v, uint32_t src, uint32_t dst, lid_t dlid, uint8_t asked)
{
	assert((src == VIEW_NONE || src < v->n_ports) && (dst == VIEW_NONE || dst < v->n_ports));
	if (!v->qos.lanes || v->qos.lanes->by == SL2VL_BY_NOTHING)
		return asked;
	return sl2vl_sl(v->qos.lanes, switch_of(v, src), switch_of(v, dst), dlid, asked);
}

bool view_sl_is_of(const struct view *v, uint8_t sl, uint8_t wish)
{
	uint8_t of_routes = v->qos.lanes ? v->qos.lanes->sl_mask : 0;

	assert(sl < 16 && wish < 16);
	return !((sl ^ qos_level_sl(&v->qos, wish)) & ~of_routes);
}

/* Of a bit that not all kinds have. */
static bool kind_has(const struct view *v, uint32_t port, const uint16_t bits[QOS_KINDS],
		     unsigned sl)
{
	enum qos_kind kind = QOS_CA;

	if (v->nodes[v->ports[port].node].type == IB_NODE_ROUTER)
		kind = QOS_ROUTER;
	else if (view_is_switch(v, &v->ports[port]))
		kind = QOS_SWITCH;
	return bits[kind] >> sl & 1;
}

bool view_wish_passes(const struct view *v, uint32_t src, uint8_t wish)
{
	assert(src < v->n_ports && wish < 16);
	return v->good_wishes >> wish & 1 || kind_has(v, src, v->usable_wishes, wish);
}

bool view_sl_passes(const struct view *v, uint32_t src, uint8_t sl)
{
	assert(src < v->n_ports && sl < 16);
	return v->good_sls >> sl & 1 || kind_has(v, src, v->usable_sls, sl);
}

uint8_t view_group_sl(const struct view *v, uint8_t wish)
{
	const struct sl2vl *l = v->qos.lanes;

	assert(wish < 16);
	return l && l->mcast_mask_zero ? wish & (uint8_t)~l->sl_mask : wish;
}

/* ---- derived ones -------------------------------------------------------------------------- */

static struct view *derive(const struct view *v, struct view_sets *sets)
{
	const size_t shared = offsetof(struct view, conf); /* `refs` may be changing now */
	struct view *ret = xcalloc(1, sizeof(*ret));

	memcpy((uint8_t *)ret + shared, (const uint8_t *)v + shared, sizeof(*ret) - shared);
	ret->refs = 1;
	ret->base = view_ref(v->base ? v->base : v);
	ret->sets = sets;
	return ret;
}

struct view *view_with_pkeys(const struct view *v, const struct view_pkey_change *changes,
			     size_t n)
{
	assert(changes || !n);
	return derive(v, view_sets_derive(v, changes, n));
}

struct view *view_with_partitions(const struct view *v, const struct view_pkey_change *changes,
				  size_t n, const struct partitions *partitions)
{
	struct view *ret = view_with_pkeys(v, changes, n);

	view_sets_rename(ret->sets, view_policy(v), partitions);
	return ret;
}
