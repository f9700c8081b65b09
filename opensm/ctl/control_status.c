// SPDX-License-Identifier: BSD-2-Clause
/* Status: what somebody wants to know first, in one object whose size does not grow with the fabric. */
#include <inttypes.h>
#include <unistd.h>

#include "ctl/control_call.h"
#include "ctl/show.h"
#include "fabric/words.h"
#include "ib/attrs.h"
#include "sa/sa.h"
#include "util/log.h"
#include "util/str.h"

#define LEFT_OUT_MAX  2000
#define MANAGERS_MAX  64
#define FINDINGS_MAX  200

/* ---- who is who -------------------------------------------------------------------------------- */

static struct json_object *own_manager(const struct scene *scene)
{
	const struct fabric *f = sm_fabric(scene->sm);
	struct json_object *o = json_object_new_object();

	if (f->own_port)
		json_add_guid(o, "guid", f->own_port->guid);
	json_add_bool(o, "is_self", true);
	json_add_str(o, "state", sm_state_name(sm_state(scene->sm)));
	json_add_int(o, "priority", sm_told_priority(scene->sm));
	json_add_str(o, "where", "this one");
	return o;
}

static struct json_object *other_manager(const struct sm_manager *m)
{
	struct json_object *o = json_object_new_object();

	json_add_guid(o, "guid", m->guid);
	json_add_bool(o, "is_self", false);
	json_add_str(o, "state", m->known ? sm_state_name(m->state) : NULL);
	if (m->known)
		json_add_int(o, "priority", m->priority);
	else
		json_object_object_add(o, "priority", NULL);
	json_add_str(o, "where", m->where);
	json_add_bool(o, "watched", m->polled);
	json_add_bool(o, "trusted", !m->trust);
	json_add_str(o, "why_not", m->trust);
	return o;
}

static void add_managers(struct json_object *o, const struct scene *scene)
{
	struct json_object *others = json_object_new_array(), *master = NULL;
	struct sm_manager m;

	if (sm_state(scene->sm) == SM_MASTER)
		master = own_manager(scene);
	for (unsigned i = 0; i < MANAGERS_MAX && sm_manager_at(scene->sm, i, &m); i++) {
		json_object_array_add(others, other_manager(&m));
		if (!master && m.known && m.state == SM_MASTER && !m.trust)
			master = other_manager(&m);
	}
	json_object_object_add(o, "master", master);
	json_object_object_add(o, "other_managers", others);
}

/* ---- the subnet ---------------------------------------------------------------------------------- */

static void add_own_port(struct json_object *o, const struct fabric *f)
{
	const struct port *p = f->own_port;

	if (!p)
		return;
	json_add_guid(o, "port_guid", p->guid);
	json_add_guid(o, "node_guid", p->node->guid);
	json_add_str(o, "node", node_name(p->node));
	json_add_int(o, "port_number", p->num);
	json_add_int(o, "lid", fabric_lid_of(p));
}

static void add_subnet(struct json_object *o, const struct scene *scene)
{
	const struct fabric *f = sm_fabric(scene->sm);
	const struct sm_stats *st = sm_stats(scene->sm);
	struct json_object *subnet = json_object_new_object(), *left = json_object_new_object();
	bool is_master = sm_state(scene->sm) == SM_MASTER;
	char text[LEFT_OUT_MAX] = "";

	json_add_bool(subnet, "up", is_master && st->up);
	json_add_bool(subnet, "own_port_answers", !sm_own_silent(scene->sm));
	json_add_int(subnet, "nodes", f->n_nodes);
	json_add_int(subnet, "switches", f->n_switches);
	json_add_int(subnet, "silent_nodes", st->silent_nodes);
	json_add_int(subnet, "ports_active", st->ports_active);
	json_add_int(subnet, "ports_pending", st->ports_pending);
	/* Others than the master leave nothing out: they give no LIDs to begin with. */
	json_add_int(left, "count", is_master ? sm_left_out(scene->sm, text, sizeof(text)) : 0);
	json_add_str(left, "text", text);
	json_object_object_add(subnet, "left_out", left);
	json_object_object_add(o, "subnet", subnet);
}

static struct json_object *sweep_object(const struct scene *scene, const struct scene_sweep *s,
					mono_t now)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "kind", s->kind);
	json_add_str(o, "why", s->why);
	json_add_bool(o, "went_through", s->through);
	json_add_int(o, "gets", s->n_gets);
	json_add_int(o, "sets", s->n_sets);
	json_add_int(o, "errors", s->errors);
	json_add_int(o, "duration_ms", s->ms);
	control_add_time(o, "ended", control_realtime(scene, s->ended));
	json_add_int(o, "seconds_ago", (now - s->ended) / MONO_S);
	return o;
}

static void add_sweeps(struct json_object *o, const struct scene *scene, mono_t now)
{
	const struct scene_memory *m = &scene->memory;
	struct json_object *sweeps = json_object_new_object(), *last = json_object_new_array();
	const struct sm_stats *st = sm_stats(scene->sm);

	json_add_bool(sweeps, "enabled", sm_sweeping_enabled(scene->sm));
	json_add_bool(sweeps, "running", sm_sweeping(scene->sm));
	json_add_int(sweeps, "heavy", st->heavy_sweeps);
	json_add_int(sweeps, "dirty", st->dirty_sweeps);
	json_add_int(sweeps, "light", st->light_sweeps);
	for (unsigned i = 0; i < SCENE_SWEEPS && m->sweeps[i].kind[0]; i++)
		json_object_array_add(last, sweep_object(scene, &m->sweeps[i], now));
	json_object_object_add(sweeps, "last", last);
	json_object_object_add(o, "sweeps", sweeps);
}

static void add_routing(struct json_object *o, const struct scene *scene)
{
	const struct routes *routes = sm_routes(scene->sm);
	const struct scene_memory *m = &scene->memory;
	struct json_object *routing = NULL;

	if (sm_no_routes(scene->sm)[0] || (routes && m->engine[0]))
		routing = json_object_new_object();
	if (sm_no_routes(scene->sm)[0])
		json_add_str(routing, "failed", sm_no_routes(scene->sm));
	if (routes && m->engine[0]) {
		json_add_str(routing, "engine", m->engine);
		json_add_int(routing, "duration_ms", m->routing_ms);
		json_add_int(routing, "unreachable_pairs", m->unreachable);
		json_add_int(routing, "lanes", routes->lanes ? routes->lanes->n_vls : 1);
		json_add_str(routing, "note", routes->note);
	}
	if (routing)
		json_add_str(routing, "refused", sm_routes_refused(scene->sm));
	json_object_object_add(o, "routing", routing);
}

/* ---- counters -------------------------------------------------------------------------------------- */

static void add_smps(struct json_object *o, const struct scene *scene)
{
	const struct mad_engine *mad = sm_mad(scene->sm);
	struct json_object *smps = json_object_new_object(), *rows = json_object_new_array();
	unsigned n;
	const struct mad_count *counts = mad_counts(mad, &n);

	json_add_int(smps, "sent", (int64_t)mad_sent(mad, 0));
	json_add_int(smps, "late", (int64_t)mad_strays(mad)->late);
	json_add_int(smps, "mismatched", (int64_t)mad_strays(mad)->mismatched);
	for (unsigned i = 0; i < n; i++) {
		struct json_object *row = json_object_new_object();

		json_add_str(row, "method", mad_method_name(counts[i].method));
		json_add_str(row, "attribute", ib_attr_name(counts[i].attr));
		json_add_int(row, "sent", (int64_t)counts[i].sent);
		json_add_int(row, "answered", (int64_t)counts[i].answered);
		json_add_int(row, "bad_status", (int64_t)counts[i].bad_status);
		json_add_int(row, "timeouts", (int64_t)counts[i].timeouts);
		json_add_int(row, "retries", (int64_t)counts[i].retries);
		json_object_array_add(rows, row);
	}
	json_object_object_add(smps, "counts", rows);
	json_object_object_add(o, "smps", smps);
}

static void add_sa(struct json_object *o, const struct scene *scene)
{
	json_object_object_add(o, "sa", show_sa_counts(sa_stats(sm_sa(scene->sm))));
}

static void add_traps(struct json_object *o, const struct scene *scene)
{
	const struct sm_trap_stats *st = sm_trap_stats(scene->sm);
	struct json_object *traps = json_object_new_object(), *kinds = json_object_new_object();

	for (unsigned i = 0; i < SM_TRAP_KINDS; i++)
		json_add_int(kinds, sm_trap_kind_name(i), (int64_t)st->received[i]);
	json_object_object_add(traps, "received", kinds);
	json_add_int(traps, "taken", (int64_t)st->taken);
	json_add_int(traps, "repeats", (int64_t)st->repeats);
	json_add_int(traps, "suppressed", (int64_t)st->suppressed);
	json_add_int(traps, "repressed", (int64_t)st->repressed);
	json_add_int(traps, "forged", (int64_t)st->forged);
	json_add_int(traps, "strangers", (int64_t)st->strangers);
	json_add_int(traps, "sources", st->sources);
	json_add_int(traps, "storms", st->storms);
	json_object_object_add(o, "traps", traps);
}

/* ---- the configuration ----------------------------------------------------------------------------- */

static bool has(struct json_object *array, struct json_object *value)
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

		if (json_object_array_length(to) < FINDINGS_MAX && !has(to, f))
			json_object_array_add(to, json_object_get(f));
	}
	json_object_put(all);
}

static int64_t count_of(struct json_object *findings, const char *severity)
{
	int64_t n = 0;

	for (size_t i = 0; i < json_object_array_length(findings); i++) {
		struct json_object *f = json_object_array_get_idx(findings, i);
		const char *is = json_object_get_string(json_object_object_get(f, "severity"));

		n += str_equal(is, severity);
	}
	return n;
}

static void add_configuration(struct json_object *o, const struct scene *scene)
{
	struct json_object *c = json_object_new_object(), *findings = json_object_new_array();
	const struct conf_files *files = scene->sm ? sm_files(scene->sm) : NULL;

	if (scene->findings)
		add_findings(findings, scene->findings);
	for (unsigned i = 0; files && i < CONF_N_FILES; i++)
		if (files->of[i])
			add_findings(findings, &files->of[i]->findings);
	json_add_str(c, "file", scene->conf_path);
	json_add_bool(c, "exists", scene->conf_path && access(scene->conf_path, F_OK) == 0);
	json_add_bool(c, "refused", scene->refused);
	json_add_int(c, "errors", count_of(findings, "error"));
	json_add_int(c, "warnings", count_of(findings, "warning"));
	json_object_object_add(c, "findings", findings);
	json_object_object_add(o, "configuration", c);
}

struct json_object *control_status(const struct scene *scene, struct json_object *parameters,
				   struct control_error *err)
{
	struct json_object *o = json_object_new_object();
	int64_t realtime;
	mono_t now;

	scene->clock(scene->arg, &now, &realtime);
	json_add_str(o, "instance", scene->instance);
	json_add_str(o, "version", scene->version);
	json_add_int(o, "pid", getpid());
	json_add_str(o, "state", scene->sm ? sm_state_name(sm_state(scene->sm)) : "WAITING");
	json_add_str(o, "status", scene->status);
	json_add_str(o, "port", scene->port_name[0] ? scene->port_name : NULL);
	control_add_time(o, "started", control_realtime(scene, scene->started));
	json_add_int(o, "uptime_seconds", (now - scene->started) / MONO_S);
	json_add_int(o, "log_flags", log_flags());
	json_add_str(o, "log_file", scene->conf->log_file);
	add_configuration(o, scene);
	if (!scene->sm)
		return o;
	json_add_int(o, "state_seconds",
			(now - (scene->memory.state_since ? scene->memory.state_since :
							    scene->started)) /
				MONO_S);
	json_add_int(o, "priority", sm_priority(scene->sm));
	add_own_port(o, sm_fabric(scene->sm));
	add_managers(o, scene);
	add_subnet(o, scene);
	add_sweeps(o, scene, now);
	add_routing(o, scene);
	add_sa(o, scene);
	add_traps(o, scene);
	add_smps(o, scene);
	return o;
}
