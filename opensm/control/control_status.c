// SPDX-License-Identifier: BSD-2-Clause
/*
 * Status: the first things an administrator looks for, in one object whose size does not grow with
 * the fabric.
 */
#include <inttypes.h>
#include <unistd.h>

#include "control/control_internal.h"
#include "fabric/words.h"
#include "ib/attrs.h"
#include "sa/sa.h"
#include "show/show.h"
#include "sm/sm_ledger.h"
#include "topo/rails/rails.h"
#include "util/log.h"
#include "util/str.h"

#define MANAGERS_MAX 64
#define FINDINGS_MAX 200
#define ALARMS_SHOWN 50

/* ---- managers -- ----------------------------------------------------------------------------- */

static struct json_object *own_manager(const struct daemon_api *api)
{
	struct json_object *o = json_object_new_object();
	const struct fabric *f = sm_fabric(api->sm);

	if (f->own_port)
		json_add_guid(o, "guid", f->own_port->guid);
	json_add_bool(o, "is_self", true);
	json_add_str(o, "state", sm_state_name(sm_state(api->sm)));
	json_add_int(o, "priority", sm_told_priority(api->sm));
	json_add_str(o, "where", "this one");
	return o;
}

static struct json_object *other_manager(const struct sm_manager *m)
{
	struct json_object *o = json_object_new_object();

	json_add_guid(o, "guid", m->guid);
	json_add_bool(o, "is_self", false);
	json_add_str(o, "state", m->known ? sm_state_name(m->state) : NULL);
	json_add_known(o, "priority", m->known, m->priority);
	json_add_str(o, "where", m->where);
	json_add_bool(o, "watched", m->polled);
	json_add_bool(o, "trusted", !m->trust);
	json_add_str(o, "why_not", m->trust);
	return o;
}

/* NULL: none is known. */
static struct json_object *master_of(const struct daemon_api *api)
{
	struct sm_manager m;

	if (sm_state(api->sm) == SM_MASTER)
		return own_manager(api);
	for (unsigned i = 0; i < MANAGERS_MAX && sm_manager_at(api->sm, i, &m); i++)
		if (m.known && m.state == SM_MASTER && !m.trust)
			return other_manager(&m);
	return NULL;
}

/* What is shared with them; `trouble`: for the first line, and the exit status. */
static struct json_object *ledger_of(const struct sm *sm)
{
	struct json_object *ledger = json_object_new_object();
	char trouble[LEDGER_REASON_STRLEN];
	struct sm_ledger l;

	sm_ledger(sm, &l);
	json_add_str(ledger, "state", l.state);
	json_add_text(ledger, "trouble", sm_ledger_status(sm, trouble));
	json_add_str(ledger, "fault", l.fault);
	json_add_int(ledger, "standbys", l.n_standbys);
	json_add_int(ledger, "standbys_behind", l.n_behind);
	return ledger;
}

/* ---- the subnet ----------------------------------------------------------------------------- */

static void add_unserved(struct json_object *subnet, const struct daemon_api *api, mono_t now)
{
	struct sm_unserved is;
	struct json_object *o;

	json_add_str(subnet, "oldest_unserved_change", NULL);
	if (!sm_unserved(api->sm, now, &is))
		return;
	o = json_add_object(subnet, "oldest_unserved_change");
	json_add_int(o, "seconds", is.age / MONO_S);
	json_add_bool(o, "late", is.is_late);
	json_add_bool(o, "stuck", is.stuck);
	json_add_str(o, "why", is.why);
	json_add_str(o, "cause", is.cause);
}

static struct json_object *subnet_of(const struct daemon_api *api, mono_t now)
{
	const struct fabric *f = sm_fabric(api->sm);
	const struct sm_stats *st = sm_stats(api->sm);
	struct json_object *subnet = json_object_new_object();
	bool is_master = sm_state(api->sm) == SM_MASTER;

	json_add_bool(subnet, "up", is_master && st->up);
	json_add_bool(subnet, "own_port_answers", !sm_own_silent(api->sm));
	add_unserved(subnet, api, now);
	json_add_int(subnet, "nodes", f->n_nodes);
	json_add_int(subnet, "switches", f->n_switches);
	json_add_int(subnet, "aggregation_nodes", sm_aggregation_nodes(api->sm));
	json_add_int(subnet, "silent_nodes", st->silent_nodes);
	json_add_int(subnet, "edits", (int64_t)f->edits);
	json_add_int(subnet, "ports_active", st->ports_active);
	json_add_int(subnet, "ports_pending", st->ports_pending);
	return subnet;
}

static void put_sweep(struct json_object *o, const struct daemon_api *api,
		      const struct daemon_sweep *s, mono_t now)
{
	json_add_str(o, "kind", sweep_kind_name(s->kind));
	json_add_str(o, "why", s->why);
	json_add_bool(o, "went_through", s->through);
	json_add_int(o, "gets", s->n_gets);
	json_add_int(o, "sets", s->n_sets);
	json_add_int(o, "errors", s->errors);
	json_add_int(o, "duration_ms", s->ms);
	json_add_time(o, "ended", daemon_api_realtime(api, s->ended));
	json_add_int(o, "seconds_ago", (now - s->ended) / MONO_S);
}

static struct json_object *sweeps_of(const struct daemon_api *api, mono_t now)
{
	const struct daemon_memory *m = &api->memory;
	struct json_object *sweeps = json_object_new_object(), *last;
	const struct sm_stats *st = sm_stats(api->sm);

	json_add_bool(sweeps, "enabled", sm_sweeping_enabled(api->sm));
	json_add_bool(sweeps, "running", sm_sweeping(api->sm));
	json_add_int(sweeps, "heavy", st->heavy_sweeps);
	json_add_int(sweeps, "dirty", st->dirty_sweeps);
	json_add_int(sweeps, "light", st->light_sweeps);
	json_add_int(sweeps, "blocks_changed_by_others", (int64_t)sm_tables_changed(api->sm));
	last = json_add_array(sweeps, "last");
	for (unsigned i = 0; i < SWEEP_KINDS && m->sweeps[i].kind; i++)
		put_sweep(json_append_object(last), api, &m->sweeps[i], now);
	return sweeps;
}

/* Seconds until tables that changed are compared with those of a fresh start; null: none are. */
static void add_comparison(struct json_object *routing, const struct sm *sm, mono_t now)
{
	mono_t due = sm_comparison_due(sm);

	if (due == MONO_NEVER)
		json_add_str(routing, "compared_in_seconds", NULL);
	else
		json_add_int(routing, "compared_in_seconds", (MAX(due, now) - now) / MONO_S);
}

/* NULL: nothing was routed yet. */
static struct json_object *routing_of(const struct daemon_api *api, mono_t now)
{
	const struct routes *routes = sm_routes(api->sm);
	const struct daemon_memory *m = &api->memory;
	bool failed = sm_no_routes(api->sm)[0], is_routed = routes && m->engine[0];
	struct json_object *routing;

	if (!failed && !is_routed)
		return NULL;
	routing = json_object_new_object();
	if (failed)
		json_add_str(routing, "failed", sm_no_routes(api->sm));
	if (is_routed) {
		json_add_str(routing, "engine", m->engine);
		json_add_int(routing, "duration_ms", m->routing_ms);
		json_add_int(routing, "unreachable_pairs", m->unreachable);
		json_add_int(routing, "lanes", routes->lanes ? routes->lanes->n_vls : 1);
		json_add_str(routing, "note", routes->note);
	}
	json_add_str(routing, "refused", sm_routes_refused(api->sm));
	add_comparison(routing, api->sm, now);
	return routing;
}

static void put_rail(struct json_object *o, const struct rail *r)
{
	json_add_str(o, "name", r->name);
	json_add_int(o, "plane", r->plane);
	json_add_int(o, "leaves", r->leaves);
	json_add_int(o, "end_ports", r->ports);
}

/* NULL: hosts have no rails. */
static struct json_object *rails_of(const struct daemon_api *api)
{
	const struct rails *r = sm_rails(api->sm);
	struct json_object *rails, *list;

	if (!r)
		return NULL;
	rails = json_object_new_object();
	json_add_str(rails, "text", sm_rails_text(api->sm));
	json_add_int(rails, "count", r->n);
	json_add_int(rails, "planes", r->planes);
	json_add_bool(rails, "planes_are_joined", r->joined);
	json_add_int(rails, "hosts", r->hosts);
	json_add_int(rails, "ports_on_another_rail", r->wrong);
	json_add_int(rails, "cables_to_another_plane", r->crossing);
	list = json_add_array(rails, "rails");
	for (unsigned i = 0; i < r->n; i++)
		put_rail(json_append_object(list), &r->of[i]);
	return rails;
}

/* ---- counters ------------------------------------------------------------------------------- */

static struct json_object *smps_of(const struct daemon_api *api)
{
	struct json_object *smps = json_object_new_object();
	const struct mad_engine *mad = sm_mad(api->sm);
	struct json_object *rows;
	unsigned n;
	const struct mad_count *counts = mad_counts(mad, &n);

	json_add_int(smps, "sent", (int64_t)mad_sent(mad, 0));
	for (enum mad_stray why = 0; why < MAD_STRAYS; why++)
		json_add_int(smps, mad_stray_name(why), (int64_t)mad_strays(mad)[why]);
	rows = json_add_array(smps, "counts");
	for (unsigned i = 0; i < n; i++) {
		struct json_object *row = json_append_object(rows);

		json_add_str(row, "method", mad_method_name(counts[i].method));
		json_add_str(row, "attribute", ib_attr_name(counts[i].attr));
		json_add_int(row, "sent", (int64_t)counts[i].sent);
		json_add_int(row, "answered", (int64_t)counts[i].answered);
		json_add_int(row, "bad_status", (int64_t)counts[i].bad_status);
		json_add_int(row, "timeouts", (int64_t)counts[i].timeouts);
		json_add_int(row, "retries", (int64_t)counts[i].retries);
	}
	return smps;
}

static struct json_object *traps_of(const struct daemon_api *api)
{
	const struct sm_trap_stats *st = sm_trap_stats(api->sm);
	struct json_object *traps = json_object_new_object();
	struct json_object *kinds = json_add_object(traps, "received");

	for (unsigned i = 0; i < SM_TRAP_KINDS; i++)
		json_add_int(kinds, sm_trap_kind_name(i), (int64_t)st->received[i]);
	json_add_int(traps, "taken", (int64_t)st->taken);
	json_add_int(traps, "repeats", (int64_t)st->repeats);
	json_add_int(traps, "suppressed", (int64_t)st->suppressed);
	json_add_int(traps, "repressed", (int64_t)st->repressed);
	json_add_int(traps, "forged", (int64_t)st->forged);
	json_add_int(traps, "strangers", (int64_t)st->strangers);
	json_add_int(traps, "sources", st->sources);
	json_add_int(traps, "storms", st->storms);
	return traps;
}

/* ---- the configuration ---------------------------------------------------------------------- */

static bool has_value(struct json_object *array, struct json_object *value)
{
	for (size_t i = 0; i < json_object_array_length(array); i++)
		if (json_object_equal(json_object_array_get_idx(array, i), value))
			return true;
	return false;
}

/* SIGHUP and the files that count may say the same. */
static void add_findings(struct json_object *to, const struct conf_report *r)
{
	struct json_object *all = control_findings(r);

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *f = json_object_array_get_idx(all, i);

		if (json_object_array_length(to) < FINDINGS_MAX && !has_value(to, f))
			json_object_array_add(to, json_object_get(f));
	}
	json_object_put(all);
}

static int64_t count_of(struct json_object *findings, const char *severity)
{
	int64_t n = 0;

	for (size_t i = 0; i < json_object_array_length(findings); i++)
		if (str_equal(json_str(json_object_array_get_idx(findings, i), "severity"),
			      severity))
			n++;
	return n;
}

static struct json_object *configuration_of(const struct daemon_api *api)
{
	struct json_object *c = json_object_new_object(), *findings = json_object_new_array();
	const struct conf_files *files = api->sm ? sm_files(api->sm) : NULL;

	if (api->findings)
		add_findings(findings, api->findings);
	for (unsigned i = 0; files && i < CONF_N_FILES; i++)
		if (files->of[i])
			add_findings(findings, &files->of[i]->findings);
	json_add_str(c, "file", api->conf_path);
	json_add_bool(c, "exists", api->conf_path && access(api->conf_path, F_OK) == 0);
	json_add_bool(c, "refused", api->refused);
	json_add_int(c, "errors", count_of(findings, "error"));
	json_add_int(c, "warnings", count_of(findings, "warning"));
	json_object_object_add(c, "findings", findings);
	return c;
}

/* ---- the document ---------------------------------------------------------------------------- */

#define DAEMON_FIELDS(F)                                                                           \
	F("instance", STR, api->instance)                                                          \
	F("version", STR, api->version)                                                            \
	F("pid", INT, getpid())                                                                    \
	F("state", STR, api->sm ? sm_state_name(sm_state(api->sm)) : "WAITING")                    \
	F("status", STR, api->status)                                                              \
	F("port", TEXT, api->port_name)                                                            \
	F("started", TIME, daemon_api_realtime(api, api->started))                                 \
	F("uptime_seconds", INT, (now - api->started) / MONO_S)                                    \
	F("log_flags", INT, log_flags())                                                           \
	F("log_file", OPT(STR), api->conf->log_file)                                               \
	F("configuration", OF("object"), configuration_of(api))
/* Members of the answer while a port is open. */
#define MANAGER_FIELDS(F)                                                                          \
	F("state_seconds", OPT(INT), (now - since) / MONO_S)                                       \
	F("priority", OPT(INT), sm_priority(api->sm))
/* Once that port was read. */
#define PORT_FIELDS(F)                                                                             \
	F("port_guid", OPT(GUID), p->guid)                                                         \
	F("node_guid", OPT(GUID), p->node->guid)                                                   \
	F("node", OPT(STR), node_name(p->node))                                                    \
	F("port_number", OPT(INT), p->num)                                                         \
	F("lid", OPT(INT), fabric_lid_of(p))
#define SUBNET_FIELDS(F)                                                                           \
	F("master", OF("?object"), master_of(api))                                                 \
	F("other_managers", OF("?[]object"),                                                       \
	  JSON_LIST_OF(struct sm_manager m, i < MANAGERS_MAX && sm_manager_at(api->sm, i, &m),     \
		       other_manager(&m)))                                                         \
	F("configured_otherwise", OPT(STR),                                                        \
	  sm_configured_otherwise(api->sm, differs, sizeof(differs)) ? differs : NULL)             \
	F("ledger", OF("?object"), ledger_of(api->sm))                                             \
	F("alarms", OPT_OBJECT(control_alarms_fields), control_some_alarms(api->sm, ALARMS_SHOWN)) \
	F("subnet", OF("?object"), subnet_of(api, now))                                            \
	F("sweeps", OF("?object"), sweeps_of(api, now))                                            \
	F("routing", OF("?object"), routing_of(api, now))                                          \
	F("rails", OF("?object"), rails_of(api))                                                   \
	F("sa", OPT_OBJECT(show_sa_count_fields), show_sa_counts(sa_stats(sm_sa(api->sm))))        \
	F("traps", OF("?object"), traps_of(api))                                                   \
	F("smps", OF("?object"), smps_of(api))

const struct json_field control_status_fields[] = { DAEMON_FIELDS(FIELD_ROW) MANAGER_FIELDS(
	FIELD_ROW) PORT_FIELDS(FIELD_ROW) SUBNET_FIELDS(FIELD_ROW){ 0 } };

struct json_object *control_status(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	mono_t since = api->memory.state_since ? api->memory.state_since : api->started;
	const struct port *p = api->sm ? sm_fabric(api->sm)->own_port : NULL;
	const mono_t now = daemon_api_now(api);
	struct json_object *o = FIELDS_NEW(DAEMON_FIELDS);
	char differs[160];

	if (!api->sm)
		return o;
	FIELDS_PUT(MANAGER_FIELDS);
	if (p)
		FIELDS_PUT(PORT_FIELDS);
	FIELDS_PUT(SUBNET_FIELDS);
	return o;
}
