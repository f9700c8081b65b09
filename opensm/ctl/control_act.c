// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an administrator tells the manager to do, and the table of all methods about the manager. Each is
 * asked of sm/ and done by its next dispatch; a sweep can be followed to its end.
 */
#include "ctl/control_call.h"
#include "util/str.h"

#define PRIORITY_MAX 15

/* What stands behind log_file is there while a port is open. */
#define STATUS_TYPE                                                                                \
	"() -> (instance: string, version: string, pid: int, state: string, status: string, "      \
	"port: ?string, started: string, uptime_seconds: int, log_flags: int, log_file: ?string, " \
	"configuration: object, state_seconds: ?int, priority: ?int, port_guid: ?string, "         \
	"node_guid: ?string, node: ?string, port_number: ?int, lid: ?int, master: ?object, "       \
	"other_managers: ?[]object, subnet: ?object, sweeps: ?object, routing: ?object, "          \
	"sa: ?object, traps: ?object, smps: ?object)"
#define SWEEP_TYPE "(kind: ?string) -> (event: ?object, sweep: ?object)"

const struct control_method control_methods[] = {
	{ "Status", "How the manager and the subnet are", STATUS_TYPE, CONTROL_READ,
	  .answer = control_status },
	{ "Sweep", "A heavy (or light) sweep; with more: its events, then how it went", SWEEP_TYPE,
	  CONTROL_ACT, .answer = control_sweep, .follow = control_follow_sweep },
	{ "Reroute", "Routes are computed afresh and written", "() -> ()", CONTROL_ACT,
	  .answer = control_reroute },
	{ "Reload", "As SIGHUP; tells what it will find",
	  "() -> (errors: int, warnings: int, would_change: ?string, findings: []object)", CONTROL_ACT,
	  .answer = control_reload },
	{ "GetPriority", "The priority other managers are told",
	  "() -> (priority: int, configured: int)", CONTROL_READ, .answer = control_priority },
	{ "SetPriority", "Another priority (0 to 15) until the daemon ends",
	  "(priority: int) -> (priority: int, configured: int)", CONTROL_ACT,
	  .answer = control_set_priority },
	{ "GetLogLevel", "What is logged", "() -> (flags: int, names: []string)", CONTROL_READ,
	  .answer = control_log_level },
	{ "SetLogLevel", "Something else is logged until the next SIGHUP",
	  "(flags: int) -> (flags: int, names: []string)", CONTROL_ACT,
	  .answer = control_set_log_level },
	{ "SetSweeping", "False: no sweep begins until it is true again",
	  "(enabled: bool) -> (enabled: bool)", CONTROL_ACT, .answer = control_set_sweeping },
	{ "Monitor", "Every event as it happens; needs more. Kinds: none is all but lft",
	  "(kinds: ?[]string) -> (event: object, missed: ?bool)", CONTROL_READ,
	  .only_more = true, .answer = control_monitor, .follow = control_follow_monitor },
	{ "Options", "Options in force, where they come from, and what they mean",
	  "(name: ?string) -> (options: []object)", CONTROL_READ, .answer = control_options },
	{ "Check", "Reads the configuration as SIGHUP does, and takes nothing over",
	  "() -> (errors: int, warnings: int, would_change: ?string, findings: []object)", CONTROL_ACT,
	  .answer = control_check },
	{ 0 },
};

/* False: there is no manager to be asked. */
static bool is_there(const struct scene *scene, struct control_error *err)
{
	if (!scene->sm)
		control_fail(err, "NotReady", "%s",
			     scene->status[0] ? scene->status : "no port is open");
	return scene->sm != NULL;
}

static struct json_object *done(const struct scene *scene)
{
	scene->wake(scene->arg);
	return json_object_new_object();
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

struct json_object *control_sweep(const struct scene *scene, struct json_object *parameters,
				  struct control_error *err)
{
	const char *kind = json_object_get_string(json_object_object_get(parameters, "kind"));

	if (kind && !str_equal(kind, "heavy") && !str_equal(kind, "light")) {
		control_fail(err, "InvalidParameter", "kind must be 'heavy' or 'light'");
		return NULL;
	}
	if (!is_there(scene, err))
		return NULL;
	if (!sm_sweeping_enabled(scene->sm)) {
		control_fail(err, "NotReady", "sweeping is switched off");
		return NULL;
	}
	if (sm_state(scene->sm) == SM_NOT_ACTIVE) {
		control_fail(err, "NotReady", "the manager is %s",
			     sm_state_name(sm_state(scene->sm)));
		return NULL;
	}
	if (str_equal(kind, "light"))
		sm_request_light(scene->sm);
	else
		sm_request_heavy(scene->sm, NULL);
	return done(scene);
}

enum { SWEEP_AWAITED, SWEEP_RUNNING };

/* A light sweep in between is not the heavy one that was asked for; whatever else begins is. */
static bool is_the_one(const struct control_following *f, const struct sm_event *event)
{
	const char *kind = json_object_get_string(json_object_object_get(f->parameters, "kind"));

	return str_equal(kind, "light") || !str_equal(event->sweep.kind, "light");
}

static struct json_object *sweep_ended(const struct sm_event *event)
{
	struct json_object *o = json_object_new_object(), *sweep = json_object_new_object();

	json_add_str(sweep, "kind", event->sweep.kind);
	json_add_bool(sweep, "went_through", event->sweep.through);
	json_add_int(sweep, "gets", event->sweep.n_gets);
	json_add_int(sweep, "sets", event->sweep.n_sets);
	json_add_int(sweep, "errors", event->sweep.errors);
	json_add_int(sweep, "duration_ms", event->sweep.ms);
	json_object_object_add(o, "sweep", sweep);
	return o;
}

struct json_object *control_follow_sweep(const struct control_following *f,
					 const struct sm_event *event, unsigned *state,
					 bool *ret_last)
{
	struct json_object *o;

	if (!event) {
		*ret_last = true;
		o = json_object_new_object();
		json_object_object_add(o, "sweep", NULL);
		return o;
	}
	if (*state == SWEEP_AWAITED) {
		if (event->kind != SM_EVENT_SWEEP_START || !is_the_one(f, event))
			return NULL;
		*state = SWEEP_RUNNING;
	}
	if (event->kind == SM_EVENT_LFT)
		return NULL;
	if (event->kind == SM_EVENT_SWEEP_DONE) {
		*ret_last = true;
		return sweep_ended(event);
	}
	o = json_object_new_object();
	json_object_object_add(o, "event", control_event(f->scene, event));
	return o;
}

struct json_object *control_set_sweeping(const struct scene *scene, struct json_object *parameters,
					 struct control_error *err)
{
	bool enabled = json_object_get_boolean(json_object_object_get(parameters, "enabled"));
	struct json_object *o;

	if (!is_there(scene, err))
		return NULL;
	sm_set_sweeping(scene->sm, enabled);
	o = done(scene);
	json_add_bool(o, "enabled", enabled);
	return o;
}

struct json_object *control_reroute(const struct scene *scene, struct json_object *parameters,
				    struct control_error *err)
{
	if (!is_there(scene, err))
		return NULL;
	if (sm_state(scene->sm) != SM_MASTER) {
		control_fail(err, "NotMaster", "this manager is %s; only the master routes",
			     sm_state_name(sm_state(scene->sm)));
		return NULL;
	}
	sm_request_reroute(scene->sm);
	return done(scene);
}

/* ---- the rest -------------------------------------------------------------------------------- */

struct json_object *control_reload(const struct scene *scene, struct json_object *parameters,
				   struct control_error *err)
{
	struct json_object *o = control_check(scene, parameters, err);

	scene->reload(scene->arg);
	return o;
}

struct json_object *control_priority(const struct scene *scene, struct json_object *parameters,
				     struct control_error *err)
{
	struct json_object *o;

	if (!is_there(scene, err))
		return NULL;
	o = json_object_new_object();
	json_add_int(o, "priority", sm_priority(scene->sm));
	json_add_int(o, "configured", scene->conf->sm_priority);
	return o;
}

struct json_object *control_set_priority(const struct scene *scene, struct json_object *parameters,
					 struct control_error *err)
{
	int64_t priority = json_object_get_int64(json_object_object_get(parameters, "priority"));

	if (priority < 0 || priority > PRIORITY_MAX) {
		control_fail(err, "InvalidParameter", "priority must be from 0 to %d", PRIORITY_MAX);
		return NULL;
	}
	if (!is_there(scene, err))
		return NULL;
	sm_set_priority(scene->sm, (unsigned)priority);
	scene->wake(scene->arg);
	return control_priority(scene, parameters, err);
}
