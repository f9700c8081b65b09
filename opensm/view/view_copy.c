// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a view: the fabric as it stands, ordered by GUID, at one go or in parts.
 *
 *   BEGIN --> BESIDE --> NODES --all as it was--> INDEX --> SETS --> WHOLE
 *     ^                    | ^
 *     |                    | '-- some node was edited: another round
 *     '--------------------'---- a node came or went
 */
#include "view/view_copy.h"

#include <assert.h>
#include <string.h>

#include "util/bisect.h"
#include "util/mem.h"
#include "view/path_walk.h"
#include "view/view_policy.h"
#include "view/view_sets.h"

#define NODES_OF_A_TURN 4096u /* and ports */

enum step { BEGIN, BESIDE, NODES, INDEX, SETS, WHOLE };

struct place {
	guid_t guid;
	const struct node *node;
};

struct view_copy {
	struct view *view; /* in the making */
	struct view_source from;
	struct view_beside beside;
	enum step step;
	struct place *places; /* by GUID */
	uint32_t *place_of;   /* by node->index */
	uint64_t shape;	      /* of the fabric, when the copy began */
	uint64_t since;	      /* its edits, when this round began */
	uint64_t before;      /* nodes with later edits are copied in this round */
	uint64_t mft_since, mft_before; /* the same of multicast tables, with VIEW_TREES */
	uint32_t at;	      /* in `places`: the next node */
	bool first;	      /* this round copies all nodes */
	unsigned rounds;
	uint32_t spent; /* in this call */
	guid_t own; /* the SM's own port */
};

/* ---- places ---------------------------------------------------------------------------------- */

static int by_guid(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return COMPARE(a->guid, b->guid);
}

static void sort_nodes(struct view_copy *c)
{
	const struct fabric *f = c->from.fabric;

	free(c->places);
	free(c->place_of);
	c->places = xcalloc(f->n_nodes + 1, sizeof(*c->places));
	c->place_of = xcalloc(f->n_nodes + 1, sizeof(*c->place_of));
	FABRIC_EACH_NODE(f, n)
		c->places[n->index] = (struct place){ n->guid, n };
	qsort(c->places, f->n_nodes, sizeof(*c->places), by_guid);
}

/* Each node gets its place, and room for its ports. */
static void give_room(struct view_copy *c)
{
	struct view *v = c->view;

	v->mfts = mft_haves_free(v->mfts, v->n_nodes);
	free(v->nodes);
	free(v->ports);
	v->n_nodes = c->from.fabric->n_nodes;
	v->n_ports = 0;
	v->nodes = xcalloc(v->n_nodes + 1, sizeof(*v->nodes));
	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct node *n = c->places[i].node;

		c->place_of[n->index] = i;
		v->nodes[i].type = n->type;
		v->nodes[i].n_ports = n->n_ports;
		v->nodes[i].first_port = v->n_ports;
		v->n_ports += n->n_ports + (node_is_switch(n) ? 1u : 0u);
	}
	v->ports = xcalloc(v->n_ports + 1, sizeof(*v->ports));
	if (c->from.parts & VIEW_TREES)
		v->mfts = xcalloc(v->n_nodes + 1, sizeof(*v->mfts));
}

static enum step begin_copy(struct view_copy *c)
{
	sort_nodes(c);
	give_room(c);
	c->shape = c->from.fabric->shape;
	c->at = 0;
	c->first = true;
	c->rounds++;
	c->spent += c->view->n_nodes;
	return c->beside.begin ? BESIDE : NODES;
}

static enum step begin_beside(struct view_copy *c)
{
	if (c->from.fabric->shape != c->shape)
		return BEGIN;
	c->beside.begin(c->beside.arg, c->view);
	c->spent += c->view->n_nodes;
	return NODES;
}

/* ---- nodes and ports ------------------------------------------------------------------------- */

static void copy_node(struct view *v, struct view_node *to, const struct node *n)
{
	*to = (struct view_node){
		.guid = n->guid,
		.sysimg_guid = n->sysimg_guid,
		.first_port = to->first_port,
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

static uint32_t peer_of(const struct view_copy *c, const struct port *p)
{
	const struct node *far = p->peer ? p->peer->node : NULL;
	bool has_cable = far && (p->num || !node_is_switch(p->node));

	return has_cable ? view_node_port(&c->view->nodes[c->place_of[far->index]], p->peer->num)
			 : VIEW_NONE;
}

static void copy_port(const struct view_copy *c, struct view_port *to, const struct port *p)
{
	const struct port *owner = node_is_switch(p->node) ? &p->node->ports[0] : p;

	*to = (struct view_port){
		.guid = port_is_end(p) ? p->guid : 0,
		.node = c->at,
		.peer = peer_of(c, p),
		.lid = owner->lid,
		.lmc = owner->lmc,
		.num = p->num,
		.state = port_state(p),
		.known = p->known,
		.fdr10 = p->ext_known && (p->ext_active & EPI_SPEED_FDR10),
		.met_port = p->met_port,
		.met_guid = p->met_guid,
	};
	if (!p->known)
		return;
	memcpy(to->info, p->info, sizeof(to->info));
	to->mtu_cap = ib_get(p->info, PI_MTU_CAP);
	to->neighbor_mtu = mtu_of(p);
	to->rate = link_is_up(p) || port_is_end(p)
			   ? view_rate_of(p->info, fabric_speed_sets(p), to->fdr10)
			   : 0;
}

static void copy_one(struct view_copy *c, const struct node *n)
{
	struct view *v = c->view;
	struct view_node *to = &v->nodes[c->at];
	unsigned first = node_is_switch(n) ? 0 : 1;

	copy_node(v, to, n);
	for (unsigned k = first; k <= n->n_ports; k++)
		copy_port(c, &v->ports[to->first_port + k - first], &n->ports[k]);
	if (c->beside.node)
		c->beside.node(c->beside.arg, v, n, c->at);
}

static void copy_mft(struct view_copy *c, const struct node *n)
{
	struct mft_have *to = &c->view->mfts[c->at];

	mft_have_clear(to);
	mft_have_copy(to, &n->mft);
	c->spent += to->n_blocks;
}

/* What was noted beside is as it was, or was begun within this call. */
static bool beside_holds(const struct view_copy *c)
{
	return !c->beside.holds || c->rounds > VIEW_COPY_ROUNDS || c->beside.holds(c->beside.arg);
}

static enum step end_nodes(struct view_copy *c)
{
	const struct fabric *f = c->from.fabric;

	if (!beside_holds(c))
		return BEGIN;
	c->own = f->own_port ? f->own_port->guid : 0;
	return INDEX;
}

/* All nodes were gone over. */
static enum step end_round(struct view_copy *c)
{
	const struct fabric *f = c->from.fabric;

	if (f->edits == c->since && (!c->view->mfts || f->mft_edits == c->mft_since))
		return end_nodes(c);
	c->before = c->since;
	c->mft_before = c->mft_since;
	c->at = 0;
	c->first = false;
	c->rounds++;
	return NODES;
}

static enum step copy_nodes(struct view_copy *c, uint32_t budget)
{
	const struct fabric *f = c->from.fabric;

	if (f->shape != c->shape)
		return BEGIN;
	if (!c->at) {
		c->since = f->edits;
		c->mft_since = f->mft_edits;
	}
	for (; c->at < c->view->n_nodes && c->spent < budget; c->at++) {
		const struct node *n = c->places[c->at].node;

		c->spent++;
		if (c->view->mfts && (c->first || n->mft.edited > c->mft_before))
			copy_mft(c, n);
		if (!c->first && n->edited <= c->before)
			continue;
		copy_one(c, n);
		c->spent += n->n_ports;
	}
	return c->at < c->view->n_nodes ? NODES : end_round(c);
}

/* ---- what follows from these ----------------------------------------------------------------- */

static void index_port(struct view *v, uint32_t at)
{
	struct view_port *p = &v->ports[at];

	if (!p->guid)
		return;
	guidmap_put(v->by_guid, p->guid, p);
	for (unsigned i = 0; p->lid && i < 1u << p->lmc; i++) {
		if (lid_is_unicast(p->lid + i))
			v->by_lid[p->lid + i] = at;
	}
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

static enum step make_index(struct view_copy *c)
{
	struct view *v = c->view;

	v->by_lid = xmalloc((LID_MAX_UCAST + 1u) * sizeof(*v->by_lid));
	memset(v->by_lid, 0xFF, (LID_MAX_UCAST + 1u) * sizeof(*v->by_lid));
	v->by_guid = guidmap_new();
	for (uint32_t i = 0; i < v->n_ports; i++)
		index_port(v, i);
	v->sm_port = view_port_of_guid(v, c->own);
	take_sms(v, &c->from);
	c->spent += v->n_ports / 4;
	return SETS;
}

static enum step make_sets(struct view_copy *c)
{
	struct view *v = c->view;

	v->policy = policy_ports_new(v);
	v->sets = view_sets_new(v, c->from.pkeys, c->from.partitions);
	if (c->from.parts & VIEW_PATHS)
		v->paths = path_map_new(v);
	return WHOLE;
}

/* ---- the copy -------------------------------------------------------------------------------- */

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

struct view_copy *view_copy_new(const struct view_source *from, const struct view_beside *beside)
{
	struct view_copy *c = xcalloc(1, sizeof(*c));
	struct view *v = c->view = xcalloc(1, sizeof(*v));

	assert(from->conf && from->fabric);
	c->from = *from;
	c->from.partitions = from->partitions ? partitions_ref(from->partitions) : NULL;
	if (beside)
		c->beside = *beside;
	v->refs = 1;
	v->conf = conf_ref(from->conf);
	v->files = conf_files_ref(from->files);
	v->routes = routes_ref(from->routes);
	qos_plan_make(from->conf, v->routes, &v->qos);
	find_usable_sls(v);
	v->prefix = from->conf->subnet_prefix;
	return c;
}

struct view_copy *view_copy_free(struct view_copy *c)
{
	if (!c)
		return NULL;
	view_unref(c->view);
	partitions_unref(c->from.partitions);
	free(c->places);
	free(c->place_of);
	free(c);
	return NULL;
}

static enum step go_on(struct view_copy *c, uint32_t budget)
{
	switch (c->step) {
	case BEGIN:
		return begin_copy(c);
	case BESIDE:
		return begin_beside(c);
	case NODES:
		return copy_nodes(c, budget);
	case INDEX:
		return make_index(c);
	case SETS:
		return make_sets(c);
	case WHOLE:
		break;
	}
	return WHOLE;
}

/* What the fabric says, once it has changed too often. */
static bool is_at_one_go(const struct view_copy *c)
{
	return c->rounds >= VIEW_COPY_ROUNDS && c->step <= NODES;
}

static bool goes_on(const struct view_copy *c, uint32_t budget)
{
	return c->step != WHOLE && (c->spent < budget || is_at_one_go(c));
}

bool view_copy_some(struct view_copy *c, uint32_t budget)
{
	assert(c->view && budget);
	for (c->spent = 0; goes_on(c, budget);)
		c->step = go_on(c, is_at_one_go(c) ? VIEW_COPY_ALL : budget);
	return c->step == WHOLE;
}

struct view *view_copy_take(struct view_copy *c)
{
	assert(c->step == WHOLE && c->view);
	return take(c->view);
}

bool view_copy_turn(struct view_copy **c, struct view **ret)
{
	if (!view_copy_some(*c, NODES_OF_A_TURN))
		return false;
	*ret = view_copy_take(*c);
	*c = view_copy_free(*c);
	return true;
}

unsigned view_copy_rounds(const struct view_copy *c)
{
	return c->rounds;
}

struct view *view_new(const struct view_source *from)
{
	struct view_copy *c = view_copy_new(from, NULL);
	struct view *ret;

	view_copy_some(c, VIEW_COPY_ALL);
	ret = view_copy_take(c);
	view_copy_free(c);
	return ret;
}
