// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the list files of the configuration to the options of a routing job. Nothing is copied: rows
 * of conf/ and of route/ have one shape, checked below.
 */
#include "plan/route_lists.h"

#include <errno.h>
#include <stddef.h>

#include "plan/qos.h"

#define SAME(A, B, FIELD) (offsetof(struct A, FIELD) == offsetof(struct B, FIELD))
_Static_assert(sizeof(struct conf_guid_port) == sizeof(struct route_guid_port) &&
		       SAME(conf_guid_port, route_guid_port, guid) &&
		       SAME(conf_guid_port, route_guid_port, port) &&
		       SAME(conf_guid_port, route_guid_port, weight) &&
		       sizeof(struct conf_guid_id) == sizeof(struct route_guid_id) &&
		       SAME(conf_guid_id, route_guid_id, guid) &&
		       SAME(conf_guid_id, route_guid_id, id) &&
		       sizeof(struct conf_port_order) == sizeof(struct route_port_order) &&
		       SAME(conf_port_order, route_port_order, guid) &&
		       SAME(conf_port_order, route_port_order, n) &&
		       SAME(conf_port_order, route_port_order, ports),
	       "one shape on both sides of the layer border");

static const struct conf_file *file_of(const struct conf_files *files, enum conf_file_kind kind)
{
	return files ? files->of[kind] : NULL;
}

static const struct route_guid_port *ports_of(const struct conf_files *files,
					      enum conf_file_kind kind, uint32_t *ret_n)
{
	const struct conf_file *f = file_of(files, kind);

	*ret_n = f ? (uint32_t)f->ports.n : 0;
	return f ? (const struct route_guid_port *)f->ports.items : NULL;
}

static struct route_guids guids_of(const struct conf_files *files, enum conf_file_kind kind)
{
	const struct conf_file *f = file_of(files, kind);

	if (!f)
		return (struct route_guids){ 0 };
	return (struct route_guids){
		.guids = f->guids.guids,
		.n = (uint32_t)f->guids.n,
		.given = true,
		.broken = f->error || f->findings.errors,
	};
}

static struct route_text text_of(const struct conf_files *files, enum conf_file_kind kind)
{
	const struct conf_file *f = file_of(files, kind);

	return f ? (struct route_text){ .name = f->path, .text = f->text, .len = f->len }
		 : (struct route_text){ 0 };
}

/*
 * max_op_vls (PortInfo:OperationalVLs, 14.2.5.6): 1..5 stand for 1, 2, 4, 8, 15 VLs; 0 for no
 * limit.
 */
static unsigned lanes_of_code(unsigned code)
{
	return !code ? 0 : code >= 5 ? SL2VL_VLS_MAX : 1u << (code - 1);
}

struct route_options route_lists_options(const struct conf *conf, const struct conf_files *files)
{
	const struct conf_file *ids = file_of(files, CONF_FILE_IDS);
	const struct conf_file *order = file_of(files, CONF_FILE_PORT_ORDER);
	const struct conf_file *torus = file_of(files, CONF_FILE_TORUS);
	struct route_guids first = guids_of(files, CONF_FILE_ORDER);
	struct route_options o = {
		.order = first.guids,
		.n_order = first.n,
		.port_shifting = conf->port_shifting,
		.scatter_seed = conf->scatter_ports,
		.order_no_scatter = conf->guid_routing_order_no_scatter,
		.count_switches = conf->port_profile_switch_nodes,
		.roots = guids_of(files, CONF_FILE_ROOTS),
		.cn = guids_of(files, CONF_FILE_CN),
		.io = guids_of(files, CONF_FILE_IO),
		.lfts = text_of(files, CONF_FILE_LFTS),
		.lid_matrix = text_of(files, CONF_FILE_LID_MATRIX),
		.lash_start_vl = conf->lash_start_vl,
		.nue_max_num_vls = conf->nue_max_num_vls,
		.quasi_ftree_indexing = conf->quasi_ftree_indexing,
		.nue_include_switches = conf->nue_include_switches,
		.avoid_throttled_links = conf->avoid_throttled_links,
		.max_vls = lanes_of_code(conf->max_op_vls),
		.levels = qos_levels_asked(conf),
	};

	if (torus) {
		o.torus = torus->torus;
		o.torus_broken = !torus->torus && torus->loaded != -ENOENT;
	}
	o.ignore = ports_of(files, CONF_FILE_IGNORE, &o.n_ignore);
	o.weights = ports_of(files, CONF_FILE_WEIGHTS, &o.n_weights);
	if (ids) {
		o.ids = (const struct route_guid_id *)ids->ids.items;
		o.n_ids = (uint32_t)ids->ids.n;
	}
	if (order) {
		o.port_order = (const struct route_port_order *)order->port_orders.items;
		o.n_port_order = (uint32_t)order->port_orders.n;
	}
	return o;
}
