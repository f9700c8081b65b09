// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the list files of the configuration to the options of a routing job. Nothing is copied:
 * conf_guid_port and route_guid_port have one shape, checked below.
 */
#include "plan/route_lists.h"

#include <stddef.h>

_Static_assert(
	sizeof(struct conf_guid_port) == sizeof(struct route_guid_port) &&
		offsetof(struct conf_guid_port, guid) == offsetof(struct route_guid_port, guid) &&
		offsetof(struct conf_guid_port, port) == offsetof(struct route_guid_port, port) &&
		offsetof(struct conf_guid_port, weight) == offsetof(struct route_guid_port, weight),
	"one shape on both sides of the layer border");

static const struct route_guid_port *ports_of(const struct conf_files *files,
					      enum conf_file_kind kind, uint32_t *ret_n)
{
	const struct conf_file *f = files ? files->of[kind] : NULL;

	*ret_n = f ? (uint32_t)f->ports.n : 0;
	return f ? (const struct route_guid_port *)f->ports.items : NULL;
}

struct route_options route_lists_options(const struct conf *conf, const struct conf_files *files)
{
	const struct conf_file *order = files ? files->of[CONF_FILE_ORDER] : NULL;
	struct route_options o = {
		.order = order ? order->order.guids : NULL,
		.n_order = order ? (uint32_t)order->order.n : 0,
		.port_shifting = conf->port_shifting,
		.scatter_seed = conf->scatter_ports,
		.order_no_scatter = conf->guid_routing_order_no_scatter,
		.count_switches = conf->port_profile_switch_nodes,
	};

	o.ignore = ports_of(files, CONF_FILE_IGNORE, &o.n_ignore);
	o.weights = ports_of(files, CONF_FILE_WEIGHTS, &o.n_weights);
	return o;
}
