// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests of an administrator, and the table of all methods about the manager.
 * Each is asked of sm/ and done by its next dispatch; a sweep can be followed to its end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "control/control_internal.h"
#include "util/str.h"

#define PRIORITY_MAX 15

#define CHANGE_TYPE                                                                                \
	"(action: string, pkey: object, members: ?[](guid: ?string, host: ?string, "               \
	"membership: ?string, index0: ?bool), name: ?string, ip_over_ib: ?bool, mtu: ?int, "       \
	"rate: ?int, sl: ?int, keep_empty: ?bool, if_generation: ?int, wait: ?bool, "              \
	"dry_run: ?bool, known_only: ?bool, client: ?(user: ?string, address: ?string, "           \
	"request: ?string))"
#define MARK_TYPE                                                                                  \
	"(action: string, target: string, why: ?string, until_seconds: ?int, force: ?bool, "       \
	"plan: ?bool, wait: ?bool, user: ?string)"

const struct control_method control_methods[] = {
	{ "Status", "How the manager and the subnet are", "()", control_status_fields, CONTROL_READ,
	  .answer = control_status },
	{ "Sweep", "A heavy (or light) sweep; with more: its events, then how it went",
	  "(kind: ?string)", control_sweep_fields, CONTROL_ACT,
	  .answer = control_sweep, .follow = control_follow_sweep },
	{ "Reroute", "Routes are computed afresh and written", "() -> ()", NULL, CONTROL_ACT,
	  .answer = control_reroute },
	{ "Reload", "As SIGHUP; tells what it will find", "()", control_check_fields, CONTROL_ACT,
	  .answer = control_reload },
	{ "GetPriority", "The priority other managers are told", "()", control_priority_fields,
	  CONTROL_READ, .answer = control_priority },
	{ "SetPriority", "Another priority (0 to 15) until the daemon ends", "(priority: int)",
	  control_priority_fields, CONTROL_ACT, .answer = control_set_priority },
	{ "Keys", "M_Keys made from a seed; right: ports that have the key they shall have", "()",
	  control_keys_fields, CONTROL_READ, .answer = control_keys },
	{ "RotateKeys", "All ports get other M_Keys; errors: NotReady", "()", control_keys_fields,
	  CONTROL_ACT, .answer = control_rotate_keys },
	{ "GetLogLevel", "What is logged", "()", control_log_level_fields, CONTROL_READ,
	  .answer = control_log_level },
	{ "SetLogLevel", "Something else is logged until the next SIGHUP", "(flags: int)",
	  control_log_level_fields, CONTROL_ACT, .answer = control_set_log_level },
	{ "SetSweeping", "False: no sweep begins until it is true again", "(enabled: bool)",
	  control_sweeping_fields, CONTROL_ACT, .answer = control_set_sweeping },
	{ "SaKey", "The SM_Key of trusted requests that is in force", "()", control_sa_key_fields,
	  CONTROL_ACT, .answer = control_sa_key },
	{ "Monitor", "Every event as it happens; needs more. Kinds: none is all but lft",
	  "(kinds: ?[]string)", control_monitor_fields, CONTROL_READ,
	  .only_more = true, .answer = control_monitor, .follow = control_follow_monitor },
	{ "Events",
	  "The last events, the latest first; forgotten: those before them. Kinds: none is all",
	  "(kinds: ?[]string)",
	  control_history_fields, CONTROL_READ, .answer = control_history },
	{ "CableHistory",
	  "The last day of cables, of each kind the latest first: links up and down, findings of "
	  "health, marks, patches of the routes, and errors by port and hour; since: nothing after "
	  "it is missing. Target: NODE or NODE/PORT; all if absent",
	  "(target: ?string)", control_cables_fields, CONTROL_READ, .answer = control_cables },
	{ "TenantPartitions",
	  "Partitions of partitions.conf and those made at run time; pkey is a number or a text "
	  "such as 0x5; master: NotMaster on a standby",
	  "(pkey: ?object, members: ?bool, master: ?bool)", control_partitions_fields, CONTROL_READ,
	  .snapshot = control_partitions_new, .render = control_partitions,
	  .drop = control_partitions_drop },
	{ "ChangePartition",
	  "create, delete, add, remove, set or configure a partition; answered when devices have "
	  "confirmed it",
	  CHANGE_TYPE, control_change_fields, CONTROL_TENANT, .begin = control_change_partition,
	  .leave = control_leave },
	{ "Jobs",
	  "Changes of partitions and of links out of service that were asked for, the latest "
	  "first, also those that go on; text: why it failed, or a remark",
	  "()", control_jobs_fields, CONTROL_READ, .answer = control_jobs },
	{ "VerifyPartitions",
	  "Reads the P_Key tables of all devices, and compares; before is what a device has", "()",
	  control_verify_fields, CONTROL_ACT, .begin = control_verify_partitions,
	  .leave = control_leave },
	{ "Ledger",
	  "What is entrusted to managers at run time: may it be written to devices, and which "
	  "managers have it",
	  "()", control_ledger_fields, CONTROL_READ, .answer = control_ledger },
	{ "LedgerAdopt",
	  "In state keeping: partitions and members are made of the P_Keys on devices that nothing "
	  "explains; missing: P_Keys that devices lack, and are given. Errors: NotReady, NoRoom",
	  "(user: ?string)", control_adopted_fields, CONTROL_TENANT, .begin = control_ledger_adopt,
	  .leave = control_leave },
	{ "LedgerForget",
	  "In state keeping: P_Keys on devices that nothing explains are cleared. Errors: NotReady",
	  "(user: ?string)", control_forgotten_fields, CONTROL_TENANT,
	  .begin = control_ledger_forget, .leave = control_leave },
	{ "Smp",
	  "One Get of an attribute of a device, with the M_Key that the manager has for it; a key "
	  "in the answer is shown as 0. Target: a name, NAME/PORT, a LID, a GUID, or a directed "
	  "route such as 0,1,5",
	  "(attribute: string, target: string, modifier: ?int)", control_smp_fields, CONTROL_ACT,
	  .begin = control_smp, .leave = control_leave_smp },
	{ "Marks", "Links and switches that an administrator took out of service", "()",
	  control_marks_fields, CONTROL_READ, .answer = control_marks },
	{ "Mark",
	  "drain, isolate or restore a link, a switch or a host; with plan nothing is done, and "
	  "refused says why it would be. Target: a name, NAME/PORT, a GUID, GUID/PORT; or all, to "
	  "restore",
	  MARK_TYPE, control_mark_fields, CONTROL_LINKS, .begin = control_mark,
	  .leave = control_leave },
	{ "Alarms",
	  "What is wrong, the severest first: faults, links and devices that are degraded, and "
	  "what "
	  "an administrator took out of service",
	  "()", control_alarms_fields, CONTROL_READ, .answer = control_alarms },
	{ "ForgetAlarm",
	  "A device or cable that is gone does not come back. Target: the object of an alarm, one "
	  "end of it, or a GUID",
	  "(target: string)", control_forget_alarm_fields, CONTROL_ACT,
	  .answer = control_forget_alarm },
	{ "Health",
	  "Links with findings, the sickest first; slow: links below what both ends can do", "()",
	  control_health_fields, CONTROL_READ, .answer = control_health },
	{ "Counters",
	  "Counters of a port as read last, growth per second and bit error rates; enabled: the "
	  "performance manager is on. Target: NODE/PORT, or NODE for all its ports",
	  "(target: string)", control_counters_fields, CONTROL_READ, .answer = control_counters },
	{ "Traffic",
	  "The ports between switches that send most of what their link carries, by the counters "
	  "as read last, the busiest first; mean_share: of all that were read. Limit: 100, if "
	  "absent",
	  "(limit: ?int)", control_traffic_fields, CONTROL_READ, .answer = control_traffic },
	{ "HealthClear", "What is known against a link is forgotten. Target: NODE/PORT",
	  "(target: string) -> ()", NULL, CONTROL_ACT, .answer = control_health_clear },
	{ "Drift", "What differs from the expected topology, and what is held for it", "()",
	  control_drift_fields, CONTROL_READ, .snapshot = control_drift_new,
	  .render = control_drift, .drop = control_topology_drop },
	{ "TopologyText",
	  "The cables that are found, as a file for expected_topology_file; with accept (a "
	  "finding, or all) the file as it would be then. Nothing is written",
	  "(accept: ?string, csv: ?bool, ndt: ?bool)", control_topology_text_fields, CONTROL_READ,
	  .snapshot = control_topology_text_new, .collect = control_topology_collect,
	  .render = control_topology_text, .drop = control_topology_drop },
	{ "ExpectedTopology", "The expected topology in force, as it was read", "()",
	  control_expected_fields, CONTROL_READ, .snapshot = control_expected_new,
	  .render = control_expected, .drop = control_expected_drop },
	{ "SetExpectedTopology",
	  "Writes expected_topology_file: the text or, without one, the cables that are found; the "
	  "manager reads it then, and judges it. A text with a fault is refused",
	  "(text: ?string, user: ?string)", control_written_fields, CONTROL_LINKS,
	  .snapshot = control_set_expected_new, .collect = control_set_expected_collect,
	  .render = control_set_expected, .drop = control_expected_drop },
	{ "Options", "Options in force, where they come from, and what they mean",
	  "(name: ?string)", control_options_fields, CONTROL_READ, .answer = control_options },
	{ "Security",
	  "The security checklist; ports are those without the protection of the configuration",
	  "()", control_security_fields, CONTROL_READ, .answer = control_security },
	{ "Congestion",
	  "How far congestion control is set up, what links of each rate get, and ports with "
	  "something to say of: flows that switches mark, settings not held",
	  "()", control_congestion_fields, CONTROL_READ, .answer = control_congestion },
	{ "Check", "Reads the configuration as SIGHUP does, and takes nothing over", "()",
	  control_check_fields, CONTROL_ACT, .answer = control_check },
	{ 0 },
};

static struct json_object *asked_for(const struct daemon_api *api)
{
	api->wake(api->arg);
	return json_object_new_object();
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

struct json_object *control_sweep(const struct daemon_api *api, struct json_object *parameters,
				  struct control_error *err)
{
	const char *kind = json_str(parameters, "kind");

	if (kind && !str_equal(kind, sweep_kind_name(SWEEP_HEAVY)) &&
	    !str_equal(kind, sweep_kind_name(SWEEP_LIGHT)))
		return control_fail(err, "InvalidParameter", "kind must be 'heavy' or 'light'");
	if (!control_manager(api, err))
		return NULL;
	if (!sm_sweeping_enabled(api->sm))
		return control_fail(err, "NotReady", "sweeping is switched off");
	if (sm_state(api->sm) == SM_NOT_ACTIVE)
		return control_fail(err, "NotReady", "the manager is %s",
				    sm_state_name(sm_state(api->sm)));
	if (str_equal(kind, sweep_kind_name(SWEEP_LIGHT)))
		sm_request_light(api->sm);
	else
		sm_request_heavy(api->sm, NULL);
	return asked_for(api);
}

enum { SWEEP_AWAITED, SWEEP_RUNNING };

/*
 * Sweeps of other kinds that begin first are not the heavy one that was asked for. A standby, which
 * writes nothing, has its "watch" instead. Any sweep serves one that asked for a light one.
 */
static bool is_the_one(const struct control_following *f, const struct sm_event *event)
{
	const char *kind = json_str(f->parameters, "kind");

	return str_equal(kind, sweep_kind_name(SWEEP_LIGHT)) || event->sweep.kind == SWEEP_HEAVY ||
	       event->sweep.kind == SWEEP_WATCH;
}

#define ENDED_FIELDS(F)                                                                            \
	F("kind", WORD(sweep_kind_name, SWEEP_KINDS), sweep_kind_name(event->sweep.kind))          \
	F("went_through", BOOL, event->sweep.through)                                              \
	F("gets", INT, event->sweep.n_gets)                                                        \
	F("sets", INT, event->sweep.n_sets)                                                        \
	F("errors", INT, event->sweep.errors)                                                      \
	F("duration_ms", INT, event->sweep.ms)

static const struct json_field ended_fields[] = FIELDS_TABLE(ENDED_FIELDS);

/* Events, then how the sweep went; null: the manager is gone. */
const struct json_field control_sweep_fields[] = {
	{ .key = "event", .optional = true, FIELD_TYPE_OBJECT(control_event_fields) },
	{ .key = "sweep", FIELD_TYPE_OPT_OBJECT(ended_fields) },
	{ 0 },
};

static struct json_object *sweep_ended(const struct sm_event *event)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "sweep", FIELDS_NEW(ENDED_FIELDS));
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
		json_add_str(o, "sweep", NULL);
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
	control_put_event(json_add_object(o, "event"), f->api, event);
	return o;
}

#define SWEEPING_FIELDS(F) F("enabled", BOOL, enabled)
const struct json_field control_sweeping_fields[] = FIELDS_TABLE(SWEEPING_FIELDS);

struct json_object *control_set_sweeping(const struct daemon_api *api,
					 struct json_object *parameters, struct control_error *err)
{
	bool enabled = json_flag(parameters, "enabled", false);

	if (!control_manager(api, err))
		return NULL;
	sm_set_sweeping(api->sm, enabled);
	api->wake(api->arg);
	return FIELDS_NEW(SWEEPING_FIELDS);
}

struct json_object *control_reroute(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	if (!control_manager(api, err))
		return NULL;
	if (sm_state(api->sm) != SM_MASTER)
		return control_fail(err, "NotMaster", "this manager is %s; only the master routes",
				    sm_state_name(sm_state(api->sm)));
	sm_request_reroute(api->sm);
	return asked_for(api);
}

/* ---- the rest -------------------------------------------------------------------------------- */

struct json_object *control_reload(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	struct json_object *o = control_check(api, parameters, err);

	api->reload(api->arg);
	return o;
}

#define SA_KEY_FIELDS(F)                                                                           \
	F("sa_key", STR, text)                                                                     \
	F("drawn", BOOL, conf_draws_sa_key(api->conf))

const struct json_field control_sa_key_fields[] = FIELDS_TABLE(SA_KEY_FIELDS);

struct json_object *control_sa_key(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	const struct sm *sm = control_manager(api, err);
	char text[24];

	if (!sm)
		return NULL;
	snprintf(text, sizeof(text), "0x%016" PRIx64, sm_sa_key(sm));
	return FIELDS_NEW(SA_KEY_FIELDS);
}

/* ---- M_Keys ---------------------------------------------------------------------------------- */

#define KEYS_FIELDS(F)                                                                             \
	F("state", WORD(sm_state_name, SM_MASTER + 1), sm_state_name(sm_state(api->sm)))           \
	F("per_port", BOOL, keys.per_port)                                                         \
	F("epoch", INT, keys.epoch)                                                                \
	F("changing", BOOL, keys.changing)                                                         \
	F("ports", INT, keys.n_ports)                                                              \
	F("right", INT, keys.n_right)                                                              \
	F("standbys", INT, keys.n_standbys)                                                        \
	F("informed", INT, keys.n_informed)                                                        \
	F("next_seconds", IF(keys.next_in >= 0, OPT(INT)), keys.next_in / MONO_S)

const struct json_field control_keys_fields[] = FIELDS_TABLE(KEYS_FIELDS);

struct json_object *control_keys(const struct daemon_api *api, struct json_object *parameters,
				 struct control_error *err)
{
	struct sm_keys keys;

	if (!control_manager(api, err))
		return NULL;
	sm_keys(api->sm, &keys);
	return FIELDS_NEW(KEYS_FIELDS);
}

struct json_object *control_rotate_keys(const struct daemon_api *api,
					struct json_object *parameters, struct control_error *err)
{
	int r;

	if (!control_manager(api, err))
		return NULL;
	r = sm_rotate_keys(api->sm);
	if (r == -ENOKEY)
		return control_fail(err, "NotReady",
				    "M_Keys are not made from a seed: m_key_per_port is FALSE, or "
				    "its seed cannot be used");
	if (r == -ERANGE)
		return control_fail(err, "NotReady",
				    "the seed has no further epoch: name another one "
				    "(m_key_seed_file)");
	if (r < 0)
		return control_fail(err, "NotReady", "%s",
				    r == -EBUSY ? "M_Keys change right now"
						: "the manager is not MASTER, the subnet is not up "
						  "yet, or another manager of ours has not said "
						  "yet what it knows");
	api->wake(api->arg);
	return control_keys(api, parameters, err);
}

/* ---- priority -------------------------------------------------------------------------------- */

#define PRIORITY_FIELDS(F)                                                                         \
	F("priority", INT, sm_priority(api->sm))                                                   \
	F("configured", INT, api->conf->sm_priority)

const struct json_field control_priority_fields[] = FIELDS_TABLE(PRIORITY_FIELDS);

struct json_object *control_priority(const struct daemon_api *api, struct json_object *parameters,
				     struct control_error *err)
{
	return control_manager(api, err) ? FIELDS_NEW(PRIORITY_FIELDS) : NULL;
}

struct json_object *control_set_priority(const struct daemon_api *api,
					 struct json_object *parameters, struct control_error *err)
{
	int64_t priority = json_object_get_int64(json_object_object_get(parameters, "priority"));

	if (priority < 0 || priority > PRIORITY_MAX)
		return control_fail(err, "InvalidParameter", "priority must be from 0 to %d",
				    PRIORITY_MAX);
	if (!control_manager(api, err))
		return NULL;
	sm_set_priority(api->sm, (unsigned)priority);
	api->wake(api->arg);
	return control_priority(api, parameters, err);
}

/* ---- what goes on without its caller --------------------------------------------------------- */

void control_leave(struct control_ticket *t)
{
	struct control_ticket **ticket = take(t->work);

	if (ticket)
		*ticket = NULL;
}
