// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loading plugins, and telling them in the numbers and in the order that plugins know (packaging.md
 * 4).
 *
 * A sweep that reads changes only ("dirty") is reported as a whole one is, once it has found
 * a change. An object that was told anything stays mapped to the
 * end: there may be threads of its own in it.
 */
#include "plugin/plugin.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "conf/conf.h"
#include "plugin/plugin_file.h"
#include "plugin/plugin_internal.h"
#include "route/select/external.h"
#include "util/log.h"
#include "route/select/engines.h"
#include "util/mem.h"

#define ENGINES_MAX 16
/* A report() that takes longer is complained about. */
#define SLOW	    (100 * MONO_MS)
/* A smaller `osm_version` is no pointer, but a number, as in plugins of before 2008. */
#define OLD_NUMBERS 4096

struct plugin {
	struct opensm face; /* the plugin has a pointer to it */
	const struct opensm_event_plugin *object;
	void *self;
	char *name;
	struct log_limit slow_log;
	struct plugin *next;
};

struct plugins {
	const struct daemon_api *api;
	struct plugin *first, **end;
	struct route_engine rows[ENGINES_MAX];
	struct route_engines engines;
	bool begun; /* the start of a sweep was reported, and not yet the end of its reading */
};

/* ---- loading -------------------------------------------------------------------------------- */

static bool is_ours(const struct opensm_event_plugin *object, char *why, size_t why_len)
{
	if ((uintptr_t)object->osm_version < OLD_NUMBERS) {
		snprintf(why, why_len, "it is built for an interface of long ago");
		return false;
	}
	if (strcmp(object->osm_version, OPENSM_PLUGIN_VERSION)) {
		snprintf(why, why_len,
			 "OpenSM version mismatch: it is built for \"%.40s\", this is \"%s\"",
			 object->osm_version, OPENSM_PLUGIN_VERSION);
		return false;
	}
	if (!object->create) {
		snprintf(why, why_len, "it has no create()");
		return false;
	}
	return true;
}

/* The mapped object of lib<name>.so; NULL and why. */
static void *map_object(const char *name, const struct opensm_event_plugin **ret, char *why,
			size_t why_len)
{
	_cleanup_free_ char *path = plugin_file_find(name, why, why_len);
	void *mapped;

	if (!path || !plugin_file_is_safe(path, why, why_len))
		return NULL;
	mapped = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!mapped) {
		snprintf(why, why_len, "%s", dlerror());
		return NULL;
	}
	*ret = dlsym(mapped, "osm_event_plugin");
	if (!*ret)
		snprintf(why, why_len, "%s has no symbol osm_event_plugin", path);
	if (*ret && is_ours(*ret, why, why_len))
		return mapped;
	dlclose(mapped);
	return NULL;
}

static struct plugin *plugin_free(struct plugin *p)
{
	free(p->name);
	free(p);
	return NULL;
}

bool plugins_add(struct plugins *ps, const char *name, const struct opensm_event_plugin *object)
{
	struct plugin *p = xcalloc(1, sizeof(*p));
	unsigned n_engines = ps->engines.n;

	p->object = object;
	p->name = xstrdup(name);
	p->slow_log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 3 };
	p->face = (struct opensm){
		.head = { .api = &plugin_api }, .api = ps->api, .all = ps, .name = p->name
	};
	p->face.creating = true;
	p->self = object->create(&p->face);
	p->face.creating = false;
	if (!p->self) {
		ps->engines.n = n_engines;
		plugin_free(p);
		return false;
	}
	*ps->end = p;
	ps->end = &p->next;
	return true;
}

static void load_plugin(struct plugins *ps, const char *name)
{
	const struct opensm_event_plugin *object;
	char why[600] = "";
	void *mapped = map_object(name, &object, why, sizeof(why));

	if (!mapped) {
		log_error("cannot load plugin '%s': %s; the start goes on without it", name, why);
	} else if (plugins_add(ps, name, object)) {
		log_info("plugin '%s' is loaded", name);
	} else {
		log_error("plugin '%s' says that it cannot run here (create() returned NULL); the "
			  "start goes on without it",
			  name);
		dlclose(mapped);
	}
}

static bool is_loaded(const struct plugins *ps, const char *name)
{
	for (const struct plugin *p = ps->first; p; p = p->next) {
		if (!strcmp(p->name, name))
			return true;
	}
	return false;
}

static void load_plugins(struct plugins *ps, const char *names)
{
	size_t at = 0;

	for (char *name; (name = plugin_file_next_name(names, &at)); free(name))
		if (!is_loaded(ps, name))
			load_plugin(ps, name);
}

/* With plugins the configuration could not judge names of engines; now all are known. */
static void check_engine_names(const struct plugins *ps)
{
	_cleanup_free_ char *copy = xstrdup(ps->api->conf->routing_engine ?: "");
	char *rest = NULL;

	for (char *name = strtok_r(copy, " \t\n,", &rest); name;
	     name = strtok_r(NULL, " \t\n,", &rest)) {
		if (strcmp(name, "no_fallback") && !conf_engine_known(name) &&
		    !route_engine_find_in(&ps->engines, name))
			log_error("routing_engine: no plugin brings an engine '%s'; it is left out",
				  name);
	}
}

struct plugins *plugins_new(const struct daemon_api *api)
{
	struct plugins *ps = xcalloc(1, sizeof(*ps));

	assert(api);
	ps->api = api;
	ps->end = &ps->first;
	ps->engines.rows = ps->rows;
	if (api->conf->event_plugin_name) {
		load_plugins(ps, api->conf->event_plugin_name);
		check_engine_names(ps);
	}
	return ps;
}

struct plugins *plugins_free(struct plugins *ps)
{
	if (!ps)
		return NULL;
	while (ps->first) {
		struct plugin *p = ps->first;

		ps->first = p->next;
		if (p->object->destroy)
			p->object->destroy(p->self);
		plugin_free(p);
	}
	free(ps);
	return NULL;
}

const char *plugins_name(const struct plugins *ps, unsigned n)
{
	const struct plugin *p = ps->first;

	for (; p && n; n--)
		p = p->next;
	return p ? p->name : NULL;
}

/* ---- engines -------------------------------------------------------------------------------- */

int plugins_add_engine(struct plugins *ps, const struct opensm_routing_engine *engine,
		       const char **why)
{
	if (engine->api != OPENSM_ROUTING_API || engine->size < sizeof(*engine))
		*why = "it is built for another interface";
	else if (!external_name_is_good(engine->name))
		*why = "invalid name: 1 to 31 letters, digits, '-' and '_' are expected";
	else if (!engine->compute)
		*why = "it has no compute()";
	else if (conf_engine_known(engine->name) ||
		 route_engine_find_in(&ps->engines, engine->name))
		*why = "there is an engine of this name already";
	else if (ps->engines.n == ENGINES_MAX)
		*why = "there are too many already";
	else {
		ps->rows[ps->engines.n++] = external_engine(engine);
		return 0;
	}
	return -1;
}

const struct route_engines *plugins_engines(const struct plugins *ps)
{
	return &ps->engines;
}

/* ---- telling -------------------------------------------------------------------------------- */

static void tell_slow(struct plugin *p, int id, mono_t took, mono_t now)
{
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (took > SLOW && log_allow(&p->slow_log, now, &more))
		log_error(
			"plugin '%s' took %lld ms to take in event %d: the subnet waits for it%s",
			p->name, (long long)(took / MONO_MS), id, log_others(more, others));
}

static void report_event(struct plugins *ps, int id, const void *what)
{
	for (struct plugin *p = ps->first; p; p = p->next) {
		mono_t before, after;

		if (!p->object->report || (id >= OPENSM_EVENT_NODE && !p->face.wants_all))
			continue;
		before = daemon_api_now(ps->api);
		p->object->report(p->self, id, (void *)what);
		after = daemon_api_now(ps->api);
		tell_slow(p, id, after - before, after);
	}
}

/* 5 when it begins, and 6 once for each 5. */
static void tell_begin(struct plugins *ps)
{
	if (!ps->begun)
		report_event(ps, OPENSM_EVENT_SWEEP_START, NULL);
	ps->begun = true;
}

static void tell_read(struct plugins *ps)
{
	if (ps->begun)
		report_event(ps, OPENSM_EVENT_SWEEP_DONE, NULL);
	ps->begun = false;
}

static void tell_sweep_end(struct plugins *ps, const struct sm_event *e)
{
	const struct opensm_sweep_event what = {
		.kind = sweep_kind_name(e->sweep.kind),
		.why = e->sweep.why,
		.n_gets = e->sweep.n_gets,
		.n_sets = e->sweep.n_sets,
		.n_errors = e->sweep.errors,
		.milliseconds = e->sweep.ms,
		.through = e->sweep.through,
	};

	tell_read(ps);
	report_event(ps, OPENSM_EVENT_SWEEP, &what);
}

static void tell_table(struct plugins *ps, const struct sm_event *e)
{
	const uint64_t guid = e->lft.node_guid;
	const struct opensm_lft_change what = {
		.switch_guid = &guid,
		.flags = e->lft.top_changed ? OPENSM_LFT_TOP_CHANGED : OPENSM_LFT_BLOCK_CHANGED,
		.top = (uint16_t)e->lft.top,
		.block = e->lft.block,
	};

	report_event(ps, OPENSM_EVENT_LFT_CHANGE, &what);
}

static void tell_node(struct plugins *ps, const struct sm_event *e)
{
	const struct opensm_node_event what = {
		.node_guid = e->node.node_guid,
		.port_guid = e->node.port_guid,
		.description = e->node.desc,
		.type = e->node.type,
		.came = e->node.came,
	};

	report_event(ps, OPENSM_EVENT_NODE, &what);
}

static void tell_link(struct plugins *ps, const struct sm_event *e)
{
	const struct opensm_link_event what = {
		.node_guid = { e->link.guid[0], e->link.guid[1] },
		.port = { e->link.port[0], e->link.port[1] },
		.up = e->link.up,
	};

	report_event(ps, OPENSM_EVENT_LINK, &what);
}

static void tell_manager(struct plugins *ps, const struct sm_event *e)
{
	const struct opensm_manager_event what = {
		.port_guid = e->manager.guid,
		.state = (uint8_t)e->manager.state,
		.priority = e->manager.priority,
		.gone = e->manager.gone,
		.text = e->manager.text,
	};

	report_event(ps, OPENSM_EVENT_MANAGER, &what);
}

static void tell_state(struct plugins *ps, const struct sm_event *e)
{
	const struct opensm_state_event what = { .from = (int)e->state.from,
						 .to = (int)e->state.to };

	if (e->state.to == SM_STANDBY)
		report_event(ps, OPENSM_EVENT_STATE_CHANGE, NULL);
	report_event(ps, OPENSM_EVENT_STATE, &what);
}

void plugins_event(struct plugins *ps, const struct sm_event *e)
{
	assert(ps && e);
	if (!ps->first)
		return;
	switch (e->kind) {
	case SM_EVENT_STATE:
		tell_state(ps, e);
		break;
	case SM_EVENT_SWEEP_START:
		if (e->sweep.kind == SWEEP_HEAVY)
			tell_begin(ps);
		break;
	case SM_EVENT_DISCOVERED:
		tell_begin(ps);
		tell_read(ps);
		break;
	case SM_EVENT_SWEEP_DONE:
		tell_sweep_end(ps, e);
		break;
	case SM_EVENT_ROUTES:
		report_event(ps, OPENSM_EVENT_ROUTES,
			     (void *)(uintptr_t)(e->routes.reroute ? 2 : 1));
		break;
	case SM_EVENT_LFT:
		tell_table(ps, e);
		break;
	case SM_EVENT_SUBNET_UP:
		report_event(ps, OPENSM_EVENT_SUBNET_UP, NULL);
		break;
	case SM_EVENT_NODE:
		tell_node(ps, e);
		break;
	case SM_EVENT_LINK:
		tell_link(ps, e);
		break;
	case SM_EVENT_TRAP:
		report_event(ps, OPENSM_EVENT_TRAP, e->trap.notice);
		break;
	case SM_EVENT_MANAGER:
		tell_manager(ps, e);
		break;
	case SM_EVENT_SA_DUMPED:
		report_event(ps, OPENSM_EVENT_SA_DB_DUMPED, NULL);
		break;
	case SM_EVENT_PORT_DOWN:
		report_event(ps, OPENSM_EVENT_STATE_CHANGE, NULL);
		break;
	case SM_EVENT_SECURITY:
	case SM_EVENT_DRIFT:
	case SM_EVENT_HEALTH:
	case SM_EVENT_MARK:
	case SM_EVENT_ALARM:
	case SM_EVENT_PATCH:
	case SM_EVENT_KINDS:
		break;
	}
}

/* ---- counters of ports ---------------------------------------------------------------------- */

static struct opensm_port_id port_id(const struct perf_node *node, uint8_t port)
{
	struct opensm_port_id id = { .node_guid = node->guid, .port = port };

	snprintf(id.name, sizeof(id.name), "%s", node->name);
	return id;
}

void plugins_port_errors(struct plugins *ps, const struct perf_node *node, uint8_t port,
			 const uint64_t deltas[PERF_ERRORS], int64_t seconds)
{
	const struct opensm_port_errors what = {
		.port = port_id(node, port),
		.symbol = deltas[PERF_SYMBOL],
		.link_recover = deltas[PERF_LINK_RECOVER],
		.link_downed = deltas[PERF_LINK_DOWNED],
		.rcv = deltas[PERF_RCV],
		.rcv_remote_phys = deltas[PERF_RCV_REM_PHYS],
		.rcv_switch_relay = deltas[PERF_RCV_SWITCH_RELAY],
		.xmit_discards = deltas[PERF_XMIT_DISCARDS],
		.xmit_constraint = deltas[PERF_XMIT_CONSTRAINT],
		.rcv_constraint = deltas[PERF_RCV_CONSTRAINT],
		.link_integrity = deltas[PERF_LINK_INTEGRITY],
		.buffer_overrun = deltas[PERF_BUFFER_OVERRUN],
		.vl15_dropped = deltas[PERF_VL15_DROPPED],
		.xmit_wait = deltas[PERF_XMIT_WAIT],
		.seconds = seconds,
	};

	report_event(ps, OPENSM_EVENT_PORT_ERRORS, &what);
}

void plugins_port_counts(struct plugins *ps, const struct perf_node *node, uint8_t port,
			 const uint64_t deltas[PERF_DATA], int64_t seconds)
{
	const struct opensm_port_counts what = {
		.port = port_id(node, port),
		.xmit_data = deltas[PERF_XMIT_DATA],
		.rcv_data = deltas[PERF_RCV_DATA],
		.xmit_packets = deltas[PERF_XMIT_PKTS],
		.rcv_packets = deltas[PERF_RCV_PKTS],
		.unicast_xmit_packets = deltas[PERF_UNICAST_XMIT_PKTS],
		.unicast_rcv_packets = deltas[PERF_UNICAST_RCV_PKTS],
		.multicast_xmit_packets = deltas[PERF_MULTICAST_XMIT_PKTS],
		.multicast_rcv_packets = deltas[PERF_MULTICAST_RCV_PKTS],
		.seconds = seconds,
	};

	report_event(ps, OPENSM_EVENT_PORT_COUNTS, &what);
}
