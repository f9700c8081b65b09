// SPDX-License-Identifier: BSD-2-Clause
/*
 * Status: the first things an administrator looks for, in one object whose size does not grow with
 * the fabric.
 */
#include <string.h>
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

#define OWN_FIELDS(F)                                                                              \
	F("guid", IF(own, GUID), own->guid)                                                        \
	F("is_self", BOOL, true)                                                                   \
	F("state", OPT_WORD(sm_state_name, SM_MASTER + 1), sm_state_name(sm_state(api->sm)))       \
	F("priority", OPT(INT), sm_told_priority(api->sm))                                         \
	F("where", STR, "this one")
#define OTHER_FIELDS(F)                                                                            \
	F("guid", GUID, m->guid)                                                                   \
	F("is_self", BOOL, false)                                                                  \
	F("state", OPT_WORD(sm_state_name, SM_MASTER + 1),                                         \
	  m->heard ? sm_state_name(m->state) : NULL)                                               \
	F("priority", KNOWN, m->heard, m->priority)                                                \
	F("where", STR, m->where)                                                                  \
	OF_OTHERS(F)
#define OF_OTHERS(F)                                                                               \
	F("watched", BOOL, m->polled)                                                              \
	F("trusted", BOOL, !m->trust)                                                              \
	F("why_not", OPT(STR), m->trust)

static const struct json_field manager_fields[] = { OWN_FIELDS(FIELD_ROW)
							    OF_OTHERS(FIELD_MAYBE){ 0 } };

static struct json_object *own_manager(const struct daemon_api *api)
{
	const struct port *own = sm_fabric(api->sm)->own_port;

	return FIELDS_NEW(OWN_FIELDS);
}

static struct json_object *other_manager(const struct sm_manager *m)
{
	return FIELDS_NEW(OTHER_FIELDS);
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

/* Groups of options in which a manager of ours differs; NULL: none does. */
static struct json_object *differing_of(const struct sm *sm)
{
	char differs[160], *rest = differs, *word;
	struct json_object *list;

	if (!sm_configured_otherwise(sm, differs, sizeof(differs)))
		return NULL;
	list = json_object_new_array();
	while ((word = strsep(&rest, ",")))
		json_append_str(list, str_trim(word));
	return list;
}

/* What is shared with them; `trouble`: for the first line, and the exit status. */
#define LEDGER_FIELDS(F)                                                                           \
	F("state", STR, l.state)                                                                   \
	F("trouble", TEXT, sm_ledger_status(sm, trouble))                                          \
	F("fault", OPT(STR), l.fault)                                                              \
	F("standbys", INT, l.n_standbys)                                                           \
	F("standbys_behind", INT, l.n_behind)

static const struct json_field ledger_fields[] = FIELDS_TABLE(LEDGER_FIELDS);

static struct json_object *ledger_of(const struct sm *sm)
{
	char trouble[LEDGER_REASON_STRLEN];
	struct sm_ledger l;

	sm_ledger(sm, &l);
	return FIELDS_NEW(LEDGER_FIELDS);
}

/* ---- the subnet ----------------------------------------------------------------------------- */

#define UNSERVED_FIELDS(F)                                                                         \
	F("seconds", INT, is.age / MONO_S)                                                         \
	F("late", BOOL, is.is_late)                                                                \
	F("stuck", BOOL, is.stuck)                                                                 \
	F("why", OPT(STR), is.why)                                                                 \
	F("cause", OPT(STR), is.cause)

static const struct json_field unserved_fields[] = FIELDS_TABLE(UNSERVED_FIELDS);

/* NULL: every change is served. */
static struct json_object *unserved_of(const struct daemon_api *api, mono_t now)
{
	struct sm_unserved is;

	return sm_unserved(api->sm, now, &is) ? FIELDS_NEW(UNSERVED_FIELDS) : NULL;
}

#define FABRIC_FIELDS(F)                                                                           \
	F("up", BOOL, is_master && st->up)                                                         \
	F("own_port_answers", BOOL, !sm_own_silent(api->sm))                                       \
	F("oldest_unserved_change", OPT_OBJECT(unserved_fields), unserved_of(api, now))            \
	F("nodes", INT, f->n_nodes)                                                                \
	F("switches", INT, f->n_switches)                                                          \
	F("aggregation_nodes", INT, sm_aggregation_nodes(api->sm))                                 \
	F("silent_nodes", INT, st->silent_nodes)                                                   \
	F("edits", INT, f->edits)                                                                  \
	F("ports_active", INT, st->ports_active)                                                   \
	F("ports_pending", INT, st->ports_pending)

static const struct json_field fabric_fields[] = FIELDS_TABLE(FABRIC_FIELDS);

static struct json_object *subnet_of(const struct daemon_api *api, mono_t now)
{
	const struct fabric *f = sm_fabric(api->sm);
	const struct sm_stats *st = sm_stats(api->sm);
	bool is_master = sm_state(api->sm) == SM_MASTER;

	return FIELDS_NEW(FABRIC_FIELDS);
}

#define SWEEP_FIELDS(F)                                                                            \
	F("kind", WORD(sweep_kind_name, SWEEP_KINDS), sweep_kind_name(last->kind))                 \
	F("why", STR, last->why)                                                                   \
	F("went_through", BOOL, last->through)                                                     \
	F("gets", INT, last->n_gets)                                                               \
	F("sets", INT, last->n_sets)                                                               \
	F("errors", INT, last->errors)                                                             \
	F("duration_ms", INT, last->ms)                                                            \
	F("ended", TIME, daemon_api_realtime(api, last->ended))                                    \
	F("seconds_ago", INT, (now - last->ended) / MONO_S)

static const struct json_field sweep_fields[] = FIELDS_TABLE(SWEEP_FIELDS);

#define SWEEPS_FIELDS(F)                                                                           \
	F("enabled", BOOL, sm_sweeping_enabled(api->sm))                                           \
	F("running", BOOL, sm_sweeping(api->sm))                                                   \
	F("heavy", INT, st->heavy_sweeps)                                                          \
	F("dirty", INT, st->dirty_sweeps)                                                          \
	F("light", INT, st->light_sweeps)                                                          \
	F("blocks_changed_by_others", INT, sm_tables_changed(api->sm))                             \
	F("last", LIST(sweep_fields),                                                              \
	  JSON_LIST_OF(const struct daemon_sweep *last,                                            \
		       i < SWEEP_KINDS && (last = &m->sweeps[i])->kind,                            \
		       FIELDS_ITEM(SWEEP_FIELDS)))

static const struct json_field sweeps_fields[] = FIELDS_TABLE(SWEEPS_FIELDS);

static struct json_object *sweeps_of(const struct daemon_api *api, mono_t now)
{
	const struct daemon_memory *m = &api->memory;
	const struct sm_stats *st = sm_stats(api->sm);

	return FIELDS_NEW(SWEEPS_FIELDS);
}

#define ROUTING_FIELDS(F)                                                                          \
	F("failed", IF(failed, OPT(STR)), sm_no_routes(api->sm))                                   \
	F("engine", IF(is_routed, STR), m->engine)                                                 \
	F("runs", IF(is_routed, INT), m->n_routings)                                               \
	F("duration_ms", IF(is_routed, INT), m->routing_ms)                                        \
	F("unreachable_pairs", IF(is_routed, INT), m->unreachable)                                 \
	F("lanes", IF(is_routed, INT), routes->lanes ? routes->lanes->n_vls : 1)                   \
	F("note", IF(is_routed, OPT(STR)), routes->note)                                           \
	F("refused", OPT(STR), sm_routes_refused(api->sm))                                         \
	F("compared_in_seconds", KNOWN, due != MONO_NEVER, (MAX(due, now) - now) / MONO_S)

static const struct json_field routing_fields[] = FIELDS_TABLE(ROUTING_FIELDS);

/* NULL: nothing was routed yet. */
static struct json_object *routing_of(const struct daemon_api *api, mono_t now)
{
	const struct routes *routes = sm_routes(api->sm);
	const struct daemon_memory *m = &api->memory;
	bool failed = sm_no_routes(api->sm)[0], is_routed = routes && m->engine[0];
	/* when tables that changed are compared with those of a fresh start */
	mono_t due = sm_comparison_due(api->sm);

	return failed || is_routed ? FIELDS_NEW(ROUTING_FIELDS) : NULL;
}

#define RAIL_FIELDS(F)                                                                             \
	F("name", STR, r->of[i].name)                                                              \
	F("plane", INT, r->of[i].plane)                                                            \
	F("leaves", INT, r->of[i].leaves)                                                          \
	F("end_ports", INT, r->of[i].ports)

static const struct json_field rail_fields[] = FIELDS_TABLE(RAIL_FIELDS);

#define RAILS_FIELDS(F)                                                                            \
	F("text", STR, sm_rails_text(api->sm))                                                     \
	F("count", INT, r->n)                                                                      \
	F("planes", INT, r->planes)                                                                \
	F("planes_are_joined", BOOL, r->joined)                                                    \
	F("hosts", INT, r->hosts)                                                                  \
	F("ports_on_another_rail", INT, r->wrong)                                                  \
	F("cables_to_another_plane", INT, r->crossing)                                             \
	F("rails", LIST(rail_fields), JSON_LIST(r->n, FIELDS_ITEM(RAIL_FIELDS)))

static const struct json_field rails_fields[] = FIELDS_TABLE(RAILS_FIELDS);

/* NULL: hosts have no rails. */
static struct json_object *rails_of(const struct daemon_api *api)
{
	const struct rails *r = sm_rails(api->sm);

	return r ? FIELDS_NEW(RAILS_FIELDS) : NULL;
}

/* ---- counters ------------------------------------------------------------------------------- */

#define STRAYS(why) mad_strays(mad)[why]
#define COUNT_FIELDS(F)                                                                            \
	F("method", STR, mad_method_name(counts[i].method))                                        \
	F("attribute", STR, ib_attr_name(counts[i].attr))                                          \
	F("sent", INT, counts[i].sent)                                                             \
	F("answered", INT, counts[i].answered)                                                     \
	F("bad_status", INT, counts[i].bad_status)                                                 \
	F("timeouts", INT, counts[i].timeouts)                                                     \
	F("retries", INT, counts[i].retries)

static const struct json_field count_fields[] = FIELDS_TABLE(COUNT_FIELDS);

#define SMPS_FIELDS(F)                                                                             \
	F("sent", INT, mad_sent(mad, 0))                                                           \
	F("late", INT, STRAYS(MAD_STRAY_LATE))                                                     \
	F("unasked", INT, STRAYS(MAD_STRAY_UNASKED))                                               \
	F("elsewhere", INT, STRAYS(MAD_STRAY_ELSEWHERE))                                           \
	F("mismatched", INT, STRAYS(MAD_STRAY_MISMATCHED))                                         \
	F("counts", LIST(count_fields), JSON_LIST(n, FIELDS_ITEM(COUNT_FIELDS)))

static const struct json_field smps_fields[] = FIELDS_TABLE(SMPS_FIELDS);

static struct json_object *smps_of(const struct daemon_api *api)
{
	const struct mad_engine *mad = sm_mad(api->sm);
	unsigned n;
	const struct mad_count *counts = mad_counts(mad, &n);

	return FIELDS_NEW(SMPS_FIELDS);
}

static struct json_object *received_of(const struct sm_trap_stats *st)
{
	struct json_object *kinds = json_object_new_object();

	for (unsigned i = 0; i < SM_TRAP_KINDS; i++)
		json_add_int(kinds, sm_trap_kind_name(i), (int64_t)st->received[i]);
	return kinds;
}

#define TRAPS_FIELDS(F)                                                                            \
	F("received", OF("[string]int"), received_of(st))                                          \
	F("taken", INT, st->taken)                                                                 \
	F("repeats", INT, st->repeats)                                                             \
	F("suppressed", INT, st->suppressed)                                                       \
	F("repressed", INT, st->repressed)                                                         \
	F("forged", INT, st->forged)                                                               \
	F("strangers", INT, st->strangers)                                                         \
	F("sources", INT, st->sources)                                                             \
	F("storms", INT, st->storms)

static const struct json_field traps_fields[] = FIELDS_TABLE(TRAPS_FIELDS);

static struct json_object *traps_of(const struct daemon_api *api)
{
	const struct sm_trap_stats *st = sm_trap_stats(api->sm);

	return FIELDS_NEW(TRAPS_FIELDS);
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

#define CONFIGURATION_FIELDS(F)                                                                    \
	F("file", OPT(STR), api->conf_path)                                                        \
	F("exists", BOOL, api->conf_path && access(api->conf_path, F_OK) == 0)                     \
	F("refused", BOOL, api->refused)                                                           \
	F("errors", INT, count_of(findings, "error"))                                              \
	F("warnings", INT, count_of(findings, "warning"))                                          \
	F("findings", LIST(control_finding_fields), findings)

static const struct json_field configuration_fields[] = FIELDS_TABLE(CONFIGURATION_FIELDS);

static struct json_object *configuration_of(const struct daemon_api *api)
{
	struct json_object *findings = json_object_new_array();
	const struct conf_files *files = api->sm ? sm_files(api->sm) : NULL;

	if (api->findings)
		add_findings(findings, api->findings);
	for (unsigned i = 0; files && i < CONF_N_FILES; i++)
		if (files->of[i])
			add_findings(findings, &files->of[i]->findings);
	return FIELDS_NEW(CONFIGURATION_FIELDS);
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
	F("configuration", OBJECT(configuration_fields), configuration_of(api))
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
	F("master", OPT_OBJECT(manager_fields), master_of(api))                                    \
	F("other_managers", OPT_LIST(manager_fields),                                              \
	  JSON_LIST_OF(struct sm_manager m, i < MANAGERS_MAX && sm_manager_at(api->sm, i, &m),     \
		       other_manager(&m)))                                                         \
	F("configured_otherwise", OF("?[]string"), differing_of(api->sm))                          \
	F("ledger", OPT_OBJECT(ledger_fields), ledger_of(api->sm))                                 \
	F("alarms", OPT_OBJECT(control_alarms_fields), control_some_alarms(api->sm, ALARMS_SHOWN)) \
	F("subnet", OPT_OBJECT(fabric_fields), subnet_of(api, now))                                \
	F("sweeps", OPT_OBJECT(sweeps_fields), sweeps_of(api, now))                                \
	F("routing", OPT_OBJECT(routing_fields), routing_of(api, now))                             \
	F("rails", OPT_OBJECT(rails_fields), rails_of(api))                                        \
	F("sa", OPT_OBJECT(show_sa_count_fields), show_sa_counts(sa_stats(sm_sa(api->sm))))        \
	F("traps", OPT_OBJECT(traps_fields), traps_of(api))                                        \
	F("smps", OPT_OBJECT(smps_fields), smps_of(api))

const struct json_field control_status_fields[] = { DAEMON_FIELDS(FIELD_ROW) MANAGER_FIELDS(
	FIELD_ROW) PORT_FIELDS(FIELD_ROW) SUBNET_FIELDS(FIELD_ROW){ 0 } };

struct json_object *control_status(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	mono_t since = api->memory.state_since ? api->memory.state_since : api->started;
	const struct port *p = api->sm ? sm_fabric(api->sm)->own_port : NULL;
	const mono_t now = daemon_api_now(api);
	struct json_object *o = FIELDS_NEW(DAEMON_FIELDS);

	if (!api->sm)
		return o;
	FIELDS_PUT(MANAGER_FIELDS);
	if (p)
		FIELDS_PUT(PORT_FIELDS);
	FIELDS_PUT(SUBNET_FIELDS);
	return o;
}
