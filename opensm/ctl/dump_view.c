// SPDX-License-Identifier: BSD-2-Clause
/*
 * The copy of the fabric that dumps are written from. Picks what is shown; formats nothing.
 */
#include "ctl/dump_view.h"

#include <string.h>

#include "util/mem.h"

static void copy_node(struct dump_node *ret, const struct node *n, const struct conf_names *names)
{
	const char *mapped = names ? conf_names_find(names, n->guid) : NULL;

	*ret = (struct dump_node){
		.guid = n->guid,
		.sysimg_guid = n->sysimg_guid,
		.vendor_id = n->vendor_id,
		.revision = n->revision,
		.first_port = ret->first_port,
		.device_id = n->device_id,
		.type = n->type,
		.n_ports = n->n_ports,
		.is_enhanced = node_is_switch(n) && port_is_enhanced0(&n->ports[0]),
		.mapped = mapped ? xstrdup(mapped) : NULL,
	};
	memcpy(ret->desc, n->desc, sizeof(ret->desc));
}

static void copy_info(struct dump_port *ret, const struct port *p)
{
	bool fdr10 = p->ext_known && (p->ext_active & EPI_SPEED_FDR10);

	ret->sm_lid = ib_get(p->info, PI_MASTER_SM_LID);
	ret->state = ib_get(p->info, PI_PORT_STATE);
	ret->phys = ib_get(p->info, PI_PHYS_STATE);
	ret->mtu_cap = ib_get(p->info, PI_MTU_CAP);
	ret->vl_cap = ib_get(p->info, PI_VL_CAP);
	if (ret->state == IB_PORT_DOWN)
		return;
	ret->width = ib_link_width(p->info);
	ret->vls = ib_get(p->info, PI_OPER_VLS);
	ret->mtu = ib_get(p->info, PI_NEIGHBOR_MTU);
	ret->speed = ib_link_speed(p->info, IB_CAP(IB_CAP_EXTENDED_SPEEDS), fdr10);
	ret->speed_plain = ib_link_speed(p->info, 0, fdr10);
	ret->ext_capable = fabric_cap_mask(p) & IB_CAP(IB_CAP_EXTENDED_SPEEDS);
}

static void copy_port(const struct dump_view *v, struct dump_port *ret, const struct fabric *f,
		      const struct port *p)
{
	*ret = (struct dump_port){
		.guid = p->guid,
		.node = p->node->index,
		.peer = p->peer ? v->nodes[p->peer->node->index].first_port + p->peer->num
				: DUMP_NONE,
		.lid = p->lid,
		.lmc = p->lmc,
		.num = p->num,
		.state = IB_PORT_DOWN,
		.known = p->known,
		.is_own = p == f->own_port,
		.had_cable = p->had_cable,
		.met_port = p->met_port,
		.met_guid = p->met_guid,
	};
	if (p->known)
		copy_info(ret, p);
}

/* External ports of a switch are addressed through its port 0. */
static void copy_port0(struct dump_port *ports, const struct dump_node *n)
{
	if (!ports[0].guid)
		ports[0].guid = n->guid;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		ports[i].guid = ports[0].guid;
		ports[i].lid = ports[0].lid;
		ports[i].sm_lid = ports[0].sm_lid;
		ports[i].is_own = ports[0].is_own;
	}
}

struct dump_view *dump_view_new(const struct fabric *f, const struct routes *routes,
				const struct conf_names *names)
{
	struct dump_view *v = xcalloc(1, sizeof(*v));

	v->n_nodes = f->n_nodes;
	v->nodes = xcalloc(MAX(f->n_nodes, 1u), sizeof(*v->nodes));
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		v->nodes[i].first_port = v->n_ports;
		copy_node(&v->nodes[i], f->nodes[i], names);
		v->n_ports += f->nodes[i]->n_ports + 1u;
	}
	v->ports = xcalloc(MAX(v->n_ports, 1u), sizeof(*v->ports));
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct node *n = f->nodes[i];
		struct dump_port *ports = v->ports + v->nodes[i].first_port;

		for (unsigned p = 0; p <= n->n_ports; p++)
			copy_port(v, &ports[p], f, &n->ports[p]);
		if (node_is_switch(n))
			copy_port0(ports, &v->nodes[i]);
	}
	v->routes = routes_ref(routes);
	return v;
}

void dump_view_add_mfts(struct dump_view *v, const struct fabric *f)
{
	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (node_is_switch(f->nodes[i]))
			mft_have_copy(&v->nodes[i].mft, &f->nodes[i]->mft);
}

void dump_view_add_qos(struct dump_view *v, const struct conf *conf)
{
	qos_plan_make(conf, v->routes, &v->qos);
	v->max_op_vls = conf->max_op_vls;
}

void dump_view_add_engine(struct dump_view *v, const struct conf *conf, const struct conf_files *files)
{
	v->conf = conf_ref(conf);
	v->files = files ? conf_files_ref(files) : NULL;
}

static void dump_node_clear(struct dump_node *n)
{
	mft_have_clear(&n->mft);
	free(n->mapped);
}

struct dump_view *dump_view_free(struct dump_view *v)
{
	if (!v)
		return NULL;
	for (uint32_t i = 0; i < v->n_nodes; i++)
		dump_node_clear(&v->nodes[i]);
	routes_unref(v->routes);
	conf_unref(v->conf);
	conf_files_unref(v->files);
	free(v->nodes);
	free(v->ports);
	free(v);
	return NULL;
}

void dump_view_freep(struct dump_view **v)
{
	*v = dump_view_free(*v);
}

static int by_rank(const void *a, const void *b, void *arg)
{
	const struct dump_view *v = arg;
	guid_t ra = dump_rank(v->nodes[*(const uint32_t *)a].guid);
	guid_t rb = dump_rank(v->nodes[*(const uint32_t *)b].guid);

	return (ra > rb) - (ra < rb);
}

uint32_t *dump_view_order(const struct dump_view *v)
{
	uint32_t *order = xcalloc(MAX(v->n_nodes, 1u), sizeof(*order));

	for (uint32_t i = 0; i < v->n_nodes; i++)
		order[i] = i;
	qsort_r(order, v->n_nodes, sizeof(*order), by_rank, (void *)v);
	return order;
}

const struct dump_node *dump_view_find(const struct dump_view *v, const uint32_t *order,
				       guid_t guid)
{
	uint32_t low = 0, high = v->n_nodes;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (dump_rank(v->nodes[order[mid]].guid) < dump_rank(guid))
			low = mid + 1;
		else
			high = mid;
	}
	return low < v->n_nodes && v->nodes[order[low]].guid == guid ? &v->nodes[order[low]] : NULL;
}
