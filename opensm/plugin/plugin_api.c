// SPDX-License-Identifier: BSD-2-Clause
/* struct opensm_api: calls of plugins, answered from the daemon API. All on the main thread. */
#include <stdio.h>
#include <string.h>

#include "plugin/plugin_internal.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

_Static_assert((int)OPENSM_NOT_ACTIVE == (int)SM_NOT_ACTIVE &&
		       (int)OPENSM_MASTER == (int)SM_MASTER &&
		       (int)OPENSM_STANDBY == (int)SM_STANDBY &&
		       (int)OPENSM_DISCOVERING == (int)SM_DISCOVERING,
	       "states are told as they are");

static const char *get_version(struct opensm *sm)
{
	return OPENSM_PLUGIN_VERSION;
}

static const char *get_options(struct opensm *sm)
{
	return sm->api->conf->event_plugin_options;
}

static const char *get_instance(struct opensm *sm)
{
	return sm->api->instance ? sm->api->instance : "";
}

static void write_log(struct opensm *sm, enum opensm_log level, const char *text)
{
	char line[500];
	unsigned bits = level == OPENSM_LOG_ERROR  ? LOGB_ERROR
			: level == OPENSM_LOG_INFO ? LOGB_INFO
						   : LOGB_VERBOSE;

	if (log_wants(bits))
		log_write(bits, NULL, "plugin '%s': %s", sm->name,
			  str_printable(text, strlen(text), line, sizeof(line)));
}

static void want_all(struct opensm *sm)
{
	sm->wants_all = true;
}

static int get_state(struct opensm *sm)
{
	return sm->api->sm ? (int)sm_state(sm->api->sm) : OPENSM_NO_PORT_YET;
}

static int get_counts(struct opensm *sm, struct opensm_counts *ret)
{
	const struct sm_stats *st;

	if (!sm->api->sm)
		return -1;
	st = sm_stats(sm->api->sm);
	*ret = (struct opensm_counts){
		.nodes = sm_fabric(sm->api->sm)->n_nodes,
		.switches = sm_fabric(sm->api->sm)->n_switches,
		.ports_active = st->ports_active,
		.heavy_sweeps = st->heavy_sweeps,
		.light_sweeps = st->light_sweeps,
		.dirty_sweeps = st->dirty_sweeps,
		.last_errors = st->last_errors,
		.up = st->up,
	};
	return 0;
}

static int fill_node(const struct node *n, struct opensm_node *ret)
{
	if (!n)
		return -1;
	*ret = (struct opensm_node){
		.guid = n->guid,
		.system_guid = n->sysimg_guid,
		.type = n->type,
		.n_ports = n->n_ports,
	};
	snprintf(ret->description, sizeof(ret->description), "%s", n->desc);
	return 0;
}

static const struct node *find_node(const struct opensm *sm, guid_t guid)
{
	return sm->api->sm ? fabric_find_node(sm_fabric(sm->api->sm), guid) : NULL;
}

static int get_node(struct opensm *sm, uint64_t node_guid, struct opensm_node *ret)
{
	return fill_node(find_node(sm, node_guid), ret);
}

static int get_node_at(struct opensm *sm, uint32_t n, struct opensm_node *ret)
{
	const struct fabric *f = sm->api->sm ? sm_fabric(sm->api->sm) : NULL;

	return f && n < f->n_nodes ? fill_node(f->nodes[n], ret) : -1;
}

static int get_port(struct opensm *sm, uint64_t node_guid, uint8_t port, struct opensm_port *ret)
{
	const struct node *n = find_node(sm, node_guid);
	const struct port *p = n && port <= n->n_ports ? &n->ports[port] : NULL;

	if (!p || (port == 0 && !node_is_switch(n)))
		return -1;
	*ret = (struct opensm_port){
		.guid = p->guid,
		.peer_guid = p->peer ? p->peer->node->guid : 0,
		.peer_port = p->peer ? p->peer->num : 0,
		.state = (uint8_t)port_state(p),
		.lmc = p->lmc,
		.lid = p->lid,
	};
	return 0;
}

static int get_lft_entry(struct opensm *sm, uint64_t switch_guid, uint16_t lid)
{
	const struct routes *r = sm->api->sm ? sm_routes(sm->api->sm) : NULL;
	uint32_t sw = r ? topo_find_switch(r->topo, switch_guid) : TOPO_NONE;
	uint8_t port = sw == TOPO_NONE ? LFT_NO_PORT : routes_port(r, sw, lid);

	return port == LFT_NO_PORT ? -1 : port;
}

static int register_engine(struct opensm *sm, const struct opensm_routing_engine *engine)
{
	const char *why = "create() has ended";

	if (sm->creating && plugins_add_engine(sm->all, engine, &why) == 0) {
		log_info("plugin '%s' brings the routing engine '%s'", sm->name, engine->name);
		return 0;
	}
	log_error("plugin '%s': its routing engine is refused: %s", sm->name, why);
	return -1;
}

const struct opensm_api plugin_api = {
	.version = OPENSM_API,
	.size = sizeof(plugin_api),
	.program_version = get_version,
	.options = get_options,
	.instance = get_instance,
	.log = write_log,
	.want_all = want_all,
	.state = get_state,
	.counts = get_counts,
	.node = get_node,
	.node_at = get_node_at,
	.port = get_port,
	.lft_entry = get_lft_entry,
	.register_engine = register_engine,
};
