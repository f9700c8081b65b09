// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a view: the fabric as it stands after a sweep, copied once, ordered by GUID.
 */
#include "sa/view.h"

#include <string.h>

#include "plan/pkey.h"
#include "sa/impl.h"
#include "sa/path-walk.h"
#include "util/mem.h"

struct view *view_ref(const struct view *v)
{
	struct view *view = (struct view *)v;

	if (view)
		atomic_fetch_add(&view->refs, 1);
	return view;
}

struct view *view_unref(struct view *v)
{
	if (!v || atomic_fetch_sub(&v->refs, 1) > 1)
		return NULL;
	conf_unref((struct conf *)v->conf);
	routes_unref((struct routes *)v->routes);
	for (uint32_t i = 0; i < v->n_pkey_sets; i++) {
		free((void *)v->pkey_sets[i].order);
		free((void *)v->pkey_sets[i].forms);
	}
	free(v->pkey_sets);
	path_map_free(v->paths);
	guidmap_free(v->by_guid);
	guidmap_free(v->node_by_guid);
	free(v->nodes);
	free(v->ports);
	free(v->by_lid);
	free(v->sms);
	free(v);
	return NULL;
}

static const struct pkey_set *pkeys_of(const struct view *v, uint32_t port)
{
	uint32_t set = v->ports[view_end_port(v, port)].pkeys;

	return set == VIEW_NONE ? NULL : &v->pkey_sets[set];
}

bool view_share_pkey(const struct view *v, uint32_t a, uint32_t b, uint16_t *ret_pkey)
{
	const struct pkey_set *of_a = pkeys_of(v, a), *of_b = pkeys_of(v, b);

	return of_a && of_b && pkey_share(of_a, of_b, ret_pkey);
}

unsigned view_pkey_forms(const struct view *v, uint32_t port, uint16_t pkey)
{
	const struct pkey_set *set = pkeys_of(v, port);

	return set ? pkey_set_find(set, pkey) : 0;
}

bool view_has_pkey(const struct view *v, uint32_t port, uint16_t pkey)
{
	return view_pkey_forms(v, port, pkey) != 0;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* Where an end port is, among the switches of the routes. */
static uint32_t switch_of(const struct view *v, uint32_t port)
{
	const struct view_port *p = port == VIEW_NONE ? NULL : &v->ports[port];

	if (p && !view_is_switch(v, p))
		p = p->peer == VIEW_NONE ? NULL : &v->ports[p->peer];
	return p ? v->nodes[p->node].topo_sw : TOPO_NONE;
}

uint8_t view_path_sl(const struct view *v, uint32_t src, uint32_t dst, lid_t dlid, uint8_t wish)
{
	if (!v->qos.lanes || v->qos.lanes->by == LANES_BY_NOTHING)
		return wish;
	return lanes_sl(v->qos.lanes, switch_of(v, src), switch_of(v, dst), dlid, wish);
}

bool view_sl_passes(const struct view *v, uint32_t src, uint8_t sl)
{
	enum qos_kind kind = QOS_CA;

	if (!v->qos.by_options)
		return true;
	if (v->nodes[v->ports[src].node].type == IB_NODE_ROUTER)
		kind = QOS_ROUTER;
	else if (view_is_switch(v, &v->ports[src]))
		kind = QOS_SWITCH;
	return qos_usable_sls(&v->qos, kind) >> sl & 1;
}

uint8_t view_group_sl(const struct view *v, uint8_t wish)
{
	const struct lanes *l = v->qos.lanes;

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
	guidmap_put(v->node_by_guid, n->guid, to);
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
		.pkeys = VIEW_NONE,
		.lid = owner->lid,
		.lmc = owner->lmc,
		.num = p->num,
		.state = port_state(p),
		.known = p->known,
	};
	if (p->known) {
		bool fdr10 = p->ext_known && (p->ext_active & EPI_SPEED_FDR10);

		memcpy(to->info, p->info, sizeof(to->info));
		to->mtu_cap = ib_get(p->info, PI_MTU_CAP);
		to->neighbor_mtu = mtu_of(p);
		to->rate = link_is_up(p) || port_is_end(p)
				   ? sa_rate_of(p->info, fabric_cap_mask(p), fdr10)
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

/* Both ends of a cable are in `ports` by now; a node's ports stand together. */
static void connect(struct view *v, struct node *const *nodes)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct node *n = nodes[i];

		for (unsigned k = node_is_switch(n) ? 0 : 1; k <= n->n_ports; k++, at++) {
			const struct port *peer = n->ports[k].peer;
			const struct view_node *other =
				peer ? guidmap_get(v->node_by_guid, peer->node->guid) : NULL;

			if (other && k)
				v->ports[at].peer = view_node_port(other, peer->num);
		}
	}
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

/* The plan ends with the next sweep, a view may live longer. */
static void copy_sets(struct view *v, const struct pkey_plan *plan)
{
	v->n_pkey_sets = plan->n_sets;
	v->pkey_sets = xcalloc(plan->n_sets + 1, sizeof(*v->pkey_sets));
	for (uint32_t i = 0; i < plan->n_sets; i++) {
		const struct pkey_set *from = pkey_plan_set(plan, i);

		v->pkey_sets[i] = *from;
		v->pkey_sets[i].order = xmemdup(from->order, from->n * sizeof(*from->order));
		v->pkey_sets[i].forms = xmemdup(from->forms, from->n * sizeof(*from->forms));
	}
}

static void take_pkeys(struct view *v, const struct pkey_plan *plan)
{
	if (!plan)
		return;
	copy_sets(v, plan);
	for (uint32_t i = 0; i < v->n_ports; i++) {
		size_t at = v->ports[i].guid ? pkey_plan_find(plan, v->ports[i].guid) : SIZE_MAX;

		if (at != SIZE_MAX)
			v->ports[i].pkeys = plan->ports[at].set;
	}
}

struct view *view_new(const struct view_source *from)
{
	const struct fabric *f = from->fabric;
	_cleanup_free_ struct node **nodes = sorted_nodes(f);
	struct view *v = xcalloc(1, sizeof(*v));

	v->refs = 1;
	v->conf = conf_ref(from->conf);
	v->routes = routes_ref(from->routes);
	qos_plan_make(from->conf, v->routes, &v->qos);
	v->prefix = from->conf->subnet_prefix;
	v->nodes = xcalloc(f->n_nodes + 1, sizeof(*v->nodes));
	v->ports = xcalloc(count_ports(f) + 1, sizeof(*v->ports));
	v->by_lid = xmalloc((LID_MAX_UCAST + 1u) * sizeof(*v->by_lid));
	memset(v->by_lid, 0xFF, (LID_MAX_UCAST + 1u) * sizeof(*v->by_lid));
	v->by_guid = guidmap_new();
	v->node_by_guid = guidmap_new();
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct node *n = nodes[i];

		copy_node(v, i, n);
		for (unsigned k = node_is_switch(n) ? 0 : 1; k <= n->n_ports; k++)
			copy_port(v, &n->ports[k]);
		v->n_nodes++;
	}
	connect(v, nodes);
	v->sm_port = view_port_of_guid(v, f->own_port ? f->own_port->guid : 0);
	take_sms(v, from);
	take_pkeys(v, from->pkeys);
	v->paths = path_map_new(v);
	return v;
}
