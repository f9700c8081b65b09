// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a view: the fabric as it stands, copied once, ordered by GUID.
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
	for (uint32_t i = 0; v->mfts && i < v->n_nodes; i++)
		mft_have_clear(&v->mfts[i]);
	free(v->mfts);
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

/* ---- making one ---------------------------------------------------------------------------- */

static int by_guid(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static struct node **sorted_nodes(const struct fabric *f)
{
	struct node **nodes = xcalloc(f->n_nodes + 1, sizeof(*nodes));

	if (f->n_nodes)
		memcpy(nodes, f->nodes, f->n_nodes * sizeof(*nodes));
	qsort(nodes, f->n_nodes, sizeof(*nodes), by_guid);
	return nodes;
}

static void copy_node(struct view *v, uint32_t at, const struct node *n)
{
	struct view_node *to = &v->nodes[at];

	*to = (struct view_node){
		.guid = n->guid,
		.sysimg_guid = n->sysimg_guid,
		.first_port = v->n_ports,
		.topo_sw = TOPO_NONE,
		.vendor_id = n->vendor_id,
		.revision = n->revision,
		.device_id = n->device_id,
		.partition_cap = n->partition_cap,
		.type = n->type,
		.n_ports = n->n_ports,
		.switch_known = n->switch_known,
	};
	memcpy(to->switch_info, n->switch_info, SI_BYTES);
	memcpy(to->desc, n->desc, sizeof(to->desc));
	if (node_is_switch(n) && v->routes)
		to->topo_sw = topo_find_switch(v->routes->topo, n->guid);
}

static bool link_is_up(const struct port *p)
{
	return port_state(p) > IB_PORT_DOWN;
}

static unsigned mtu_of(const struct port *p)
{
	return port_is_end(p) && node_is_switch(p->node) ? ib_get(p->info, PI_MTU_CAP)
							 : ib_get(p->info, PI_NEIGHBOR_MTU);
}

static void copy_port(struct view *v, const struct port *p)
{
	const struct port *owner = node_is_switch(p->node) ? &p->node->ports[0] : p;
	struct view_port *to = &v->ports[v->n_ports];

	*to = (struct view_port){
		.guid = port_is_end(p) ? p->guid : 0,
		.node = v->n_nodes,
		.peer = VIEW_NONE,
		.lid = owner->lid,
		.lmc = owner->lmc,
		.num = p->num,
		.state = port_state(p),
		.known = p->known,
		.fdr10 = p->ext_known && (p->ext_active & EPI_SPEED_FDR10),
		.met_port = p->met_port,
		.met_guid = p->met_guid,
	};
	if (p->known) {
		memcpy(to->info, p->info, sizeof(to->info));
		to->mtu_cap = ib_get(p->info, PI_MTU_CAP);
		to->neighbor_mtu = mtu_of(p);
		to->rate = link_is_up(p) || port_is_end(p)
				   ? view_rate_of(p->info, fabric_speed_sets(p), to->fdr10)
				   : 0;
	}
	if (to->guid)
		guidmap_put(v->by_guid, to->guid, to);
	for (unsigned i = 0; to->guid && to->lid && i < 1u << to->lmc; i++) {
		if (lid_is_unicast(to->lid + i))
			v->by_lid[to->lid + i] = v->n_ports;
	}
	v->n_ports++;
}

/*
 * All ports are there: those of `nodes` in that order. `places`: where in it a node of the fabric
 * stands.
 */
static void connect_ports(struct view *v, struct node *const *nodes, const uint32_t *places)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct node *n = nodes[i];

		for (unsigned k = node_is_switch(n) ? 0 : 1; k <= n->n_ports; k++, at++) {
			const struct port *peer = n->ports[k].peer;

			if (peer && k)
				v->ports[at].peer = view_node_port(
					&v->nodes[places[peer->node->index]], peer->num);
		}
	}
}

static void copy_nodes(struct view *v, const struct fabric *f)
{
	_cleanup_free_ struct node **nodes = sorted_nodes(f);
	_cleanup_free_ uint32_t *places = xcalloc(f->n_nodes + 1, sizeof(*places));

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct node *n = nodes[i];

		places[n->index] = i;
		copy_node(v, i, n);
		for (unsigned k = node_is_switch(n) ? 0 : 1; k <= n->n_ports; k++)
			copy_port(v, &n->ports[k]);
		v->n_nodes++;
	}
	connect_ports(v, nodes, places);
}

static void copy_trees(struct view *v, const struct fabric *f)
{
	v->mfts = xcalloc(v->n_nodes + 1, sizeof(*v->mfts));
	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (v->nodes[i].type == IB_NODE_SWITCH)
			mft_have_copy(&v->mfts[i], &fabric_find_node(f, v->nodes[i].guid)->mft);
}

static size_t count_ports(const struct fabric *f)
{
	size_t n = 0;

	FABRIC_EACH_NODE(f, node)
		n += node->n_ports + (node_is_switch(node) ? 1u : 0u);
	return n;
}

static void take_sms(struct view *v, const struct view_source *from)
{
	v->sms = xcalloc(from->n_sms + 1, sizeof(*v->sms));
	for (unsigned i = 0; i < from->n_sms; i++) {
		v->sms[v->n_sms] = from->sms[i];
		v->sms[v->n_sms].port = view_port_of_guid(v, from->sms[i].guid);
		v->n_sms++;
	}
}

static void find_usable_sls(struct view *v)
{
	v->good_sls = v->good_wishes = UINT16_MAX;
	for (unsigned kind = 0; kind < QOS_KINDS && v->qos.by_options; kind++) {
		v->usable_sls[kind] = qos_usable_sls(&v->qos, kind);
		v->usable_wishes[kind] = qos_usable_wishes(&v->qos, kind);
		v->good_sls &= v->usable_sls[kind];
		v->good_wishes &= v->usable_wishes[kind];
	}
}

struct view *view_new(const struct view_source *from)
{
	const struct fabric *f = from->fabric;
	struct view *v = xcalloc(1, sizeof(*v));

	assert(from->conf && f);
	v->refs = 1;
	v->conf = conf_ref(from->conf);
	v->files = conf_files_ref(from->files);
	v->routes = routes_ref(from->routes);
	qos_plan_make(from->conf, v->routes, &v->qos);
	find_usable_sls(v);
	v->prefix = from->conf->subnet_prefix;
	v->nodes = xcalloc(f->n_nodes + 1, sizeof(*v->nodes));
	v->ports = xcalloc(count_ports(f) + 1, sizeof(*v->ports));
	v->by_lid = xmalloc((LID_MAX_UCAST + 1u) * sizeof(*v->by_lid));
	memset(v->by_lid, 0xFF, (LID_MAX_UCAST + 1u) * sizeof(*v->by_lid));
	v->by_guid = guidmap_new();
	copy_nodes(v, f);
	v->sm_port = view_port_of_guid(v, f->own_port ? f->own_port->guid : 0);
	take_sms(v, from);
	v->policy = policy_ports_new(v);
	v->sets = view_sets_new(v, from->pkeys, from->partitions);
	if (from->parts & VIEW_TREES)
		copy_trees(v, f);
	if (from->parts & VIEW_PATHS)
		v->paths = path_map_new(v);
	return v;
}

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
