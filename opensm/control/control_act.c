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

/* Members behind configuration are there while a port is open. */
#define STATUS_TYPE                                                                                \
	"() -> (instance: string, version: string, pid: int, state: string, status: string, "      \
	"port: ?string, started: string, uptime_seconds: int, log_flags: int, log_file: ?string, " \
	"configuration: object, state_seconds: ?int, priority: ?int, port_guid: ?string, "         \
	"node_guid: ?string, node: ?string, port_number: ?int, lid: ?int, master: ?object, "       \
	"other_managers: ?[]object, configured_otherwise: ?string, ledger: ?object, "              \
	"subnet: ?object, sweeps: ?object, routing: ?object, rails: ?object, sa: ?object, "        \
	"traps: ?object, smps: ?object)"
/* Of TenantPartitions, and of changes. MTU and rate are codes, of PortInfo and of the SA. */
#define PARTITIONS_TYPE                                                                            \
	"(pkey: ?object, members: ?bool, master: ?bool) -> (generation: int, changed: ?string, "   \
	"closed: ?string, standbys: int, open: int, partitions: [](pkey: string, name: string, "   \
	"source: string, default_membership: ?string, ip_over_ib: bool, mtu: int, rate: int, "     \
	"sl: int, generation: int, n_members: int, members: ?[](guid: string, "                    \
	"membership: string, index0: bool, pending: ?string)))"
#define BLOCKS_TYPE                                                                                \
	"[](node_guid: string, node: ?string, port: int, switch: bool, block: int, "               \
	"before: ?[]string, after: []string)"
#define CHANGE_TYPE                                                                                \
	"(action: string, pkey: object, members: ?[](guid: ?string, host: ?string, "               \
	"membership: ?string, index0: ?bool), name: ?string, ip_over_ib: ?bool, mtu: ?int, "       \
	"rate: ?int, sl: ?int, keep_empty: ?bool, if_generation: ?int, wait: ?bool, "              \
	"dry_run: ?bool, known_only: ?bool, client: ?(user: ?string, address: ?string, "           \
	"request: ?string)) -> (generation: int, changed: bool, replicated: bool, "                \
	"standbys: int, standbys_with: int, "                                                      \
	"n_members: int, n_pending: int, pending: [](guid: string, node: ?string, why: string), "  \
	"hosts: [](host: string, guids: []string, gone: []string), "                               \
	"text: ?string, n_blocks: ?int, blocks: ?" BLOCKS_TYPE ")"
#define VERIFY_TYPE                                                                                \
	"() -> (ports: int, blocks: int, silent: int, wrong: int, without_room: int, "             \
	"all_limited: int, all_limited_pkeys: []string, differences: " BLOCKS_TYPE ")"
#define KEYS_TYPE                                                                                  \
	"() -> (state: string, per_port: bool, epoch: int, changing: bool, ports: int, "           \
	"right: int, standbys: int, informed: int, next_seconds: ?int)"
/* Times are those of RFC 3339. `standing`: with, behind, comparing, refuses, unreached. */
#define LEDGER_TYPE                                                                                \
	"() -> (state: string, reason: ?string, trouble: ?string, term: int, file: ?string, "      \
	"fault: ?string, unexplained: int, changed: ?string, standbys: int, "                      \
	"standbys_behind: int, tables: [](name: string, rows: int, removed: int, number: ?int, "   \
	"changed: ?string), managers: [](port_guid: string, where: string, standing: string, "     \
	"rows_behind: ?int, seen: ?string, told_all: bool, text: string))"
#define LEDGER_ADOPT_TYPE                                                                          \
	"(user: ?string) -> (partitions: int, members: int, ports: int, missing: int)"
#define SMP_TYPE                                                                                   \
	"(attribute: string, target: string, modifier: ?int) -> (attribute: string, "              \
	"modifier: int, path: string, node: ?string, node_guid: ?string, node_type: ?string, "     \
	"port: ?int, status: int, status_text: string, hex: string, hidden: []string, "            \
	"fields: object)"
#define CONGESTION_TYPE                                                                            \
	"() -> (on: bool, waiting: int, asked: int, settled: int, silent: int, unsupported: int, " \
	"rounded: int, refused: int, table_cut: int, with_key: int, key_violations: int, "         \
	"marks: int, gets: int, sets: int, timeouts: int, profile: ?string, table_entries: ?int, " \
	"longest_delay: ?int, incast: ?int, port_settings: ?string, spared_sls: ?[]int, "          \
	"rates: ?[](gbps: float, hosts: int, switch_ports: int, threshold: int, "                  \
	"packet_size: int, marking_rate: int, timer: int, increase: int), ports: []object, "       \
	"hidden: int)"
#define SECURITY_TYPE                                                                              \
	"() -> (profile: string, passed: int, failed: int, unknown: int, checks: [](number: int, " \
	"name: string, verdict: string, present: string, advice: ?string), n_ports: int, "         \
	"ports: []string)"
/* Of Marks, and of Mark. Times are seconds since 1970. */
#define MARK_END_TYPE                                                                              \
	"?(node: string, description: string, type: string, node_guid: string, "                   \
	"port_guid: ?string, port: ?int, lid: int)"
#define MARKS_TYPE                                                                                 \
	"() -> (generation: int, marks: [](node_guid: string, port: ?int, kind: string, "          \
	"state: string, forced: bool, by: string, why: ?string, since: ?int, until: ?int, "        \
	"cables: int, out: int, spared: int, kept: ?string, "                              \
	"end: " MARK_END_TYPE ", peer: " MARK_END_TYPE "))"
#define MARK_PEAK_TYPE "(pairs: int, node: ?string, port: ?int)"
#define MARK_TYPE                                                                                  \
	"(action: string, target: string, why: ?string, until_seconds: ?int, force: ?bool, "       \
	"plan: ?bool, wait: ?bool, user: ?string) -> (generation: int, changed: bool, "            \
	"replicated: bool, standbys: int, standbys_with: int, marks: int, state: ?string, "        \
	"text: ?string, refused: ?string, "                                                        \
	"cost: (cables: int, pairs_over: int, pairs_lost: int, hosts_cut_off: int, "               \
	"switches_cut_off: int, groups: int, load: ?(now: " MARK_PEAK_TYPE ", "                    \
	"after: " MARK_PEAK_TYPE ", pairs_moved: int)))"
#define HEALTH_ENDS_TYPE "[](node: ?string, type: ?string, node_guid: string, port: int)"
#define HEALTH_TYPE                                                                                \
	"() -> (checks: bool, master: bool, dry_run: bool, counters: bool, isolated: int, "        \
	"most_isolated: int, links: [](ends: " HEALTH_ENDS_TYPE ", state: string, done: string, "  \
	"action: string, why: string, conditions: []string, now: []string, since: int, "           \
	"last: int), slow: [](ends: " HEALTH_ENDS_TYPE ", width: int, speed: string, "             \
	"width_possible: int, speed_possible: string))"
#define DRIFT_TYPE                                                                                 \
	"() -> (file: ?string, refused: ?string, in_force: bool, compared: bool, cables: int, "    \
	"held: int, spared: int, grace: bool, learnt: ?int, findings: [](id: string, "             \
	"cause: string, text: string, since: ?int))"
#define TOPOLOGY_TEXT_TYPE                                                                         \
	"(accept: ?string, csv: ?bool) -> (file: ?string, cables: int, text: string)"
#define COUNTERS_TYPE                                                                              \
	"(target: string) -> (enabled: bool, master: bool, sweep_seconds: int, ports: []("         \
	"node: string, node_guid: string, port: int, linked: bool, read: bool, "                   \
	"age_seconds: ?int, interval_ms: ?int, resets: ?int, reset_last: ?bool, "                  \
	"errors_of_64_bits: ?bool, bits_per_second: ?int, counters: ?[]object, "                   \
	"symbol_ber: ?object, effective_ber: ?object, rcv_error_reasons: ?object, "                \
	"discard_reasons: ?object))"
#define SWEEP_TYPE "(kind: ?string) -> (event: ?object, sweep: ?object)"

const struct control_method control_methods[] = {
	{ "Status", "How the manager and the subnet are", STATUS_TYPE, CONTROL_READ,
	  .answer = control_status },
	{ "Sweep", "A heavy (or light) sweep; with more: its events, then how it went", SWEEP_TYPE,
	  CONTROL_ACT, .answer = control_sweep, .follow = control_follow_sweep },
	{ "Reroute", "Routes are computed afresh and written", "() -> ()", CONTROL_ACT,
	  .answer = control_reroute },
	{ "Reload", "As SIGHUP; tells what it will find",
	  "() -> (errors: int, warnings: int, would_change: ?string, findings: []object)",
	  CONTROL_ACT, .answer = control_reload },
	{ "GetPriority", "The priority other managers are told",
	  "() -> (priority: int, configured: int)", CONTROL_READ, .answer = control_priority },
	{ "SetPriority", "Another priority (0 to 15) until the daemon ends",
	  "(priority: int) -> (priority: int, configured: int)", CONTROL_ACT,
	  .answer = control_set_priority },
	{ "Keys", "M_Keys made from a seed; right: ports that have the key they shall have",
	  KEYS_TYPE, CONTROL_READ, .answer = control_keys },
	{ "RotateKeys", "All ports get other M_Keys; errors: NotReady", KEYS_TYPE, CONTROL_ACT,
	  .answer = control_rotate_keys },
	{ "GetLogLevel", "What is logged", "() -> (flags: int, names: []string)", CONTROL_READ,
	  .answer = control_log_level },
	{ "SetLogLevel", "Something else is logged until the next SIGHUP",
	  "(flags: int) -> (flags: int, names: []string)", CONTROL_ACT,
	  .answer = control_set_log_level },
	{ "SetSweeping", "False: no sweep begins until it is true again",
	  "(enabled: bool) -> (enabled: bool)", CONTROL_ACT, .answer = control_set_sweeping },
	{ "SaKey", "The SM_Key of trusted requests that is in force",
	  "() -> (sa_key: string, drawn: bool)", CONTROL_ACT, .answer = control_sa_key },
	{ "Monitor", "Every event as it happens; needs more. Kinds: none is all but lft",
	  "(kinds: ?[]string) -> (event: object, missed: ?bool)", CONTROL_READ, .only_more = true,
	  .answer = control_monitor, .follow = control_follow_monitor },
	{ "Events", "The last events, the latest first; forgotten: those before them",
	  "() -> (forgotten: int, events: [](kind: string, realtime_us: int, text: string))",
	  CONTROL_READ, .answer = control_history },
	{ "TenantPartitions",
	  "Partitions of partitions.conf and those made at run time; pkey is a number or a text "
	  "such as 0x5; master: NotMaster on a standby",
	  PARTITIONS_TYPE, CONTROL_READ, .snapshot = control_partitions_new,
	  .render = control_partitions, .drop = control_partitions_drop },
	{ "ChangePartition",
	  "create, delete, add, remove, set or configure a partition; answered when devices have "
	  "confirmed it",
	  CHANGE_TYPE, CONTROL_TENANT, .begin = control_change_partition,
	  .leave = control_leave_change },
	{ "VerifyPartitions",
	  "Reads the P_Key tables of all devices, and compares; before is what a device has",
	  VERIFY_TYPE, CONTROL_ACT, .begin = control_verify_partitions,
	  .leave = control_leave_verify },
	{ "Ledger",
	  "What is entrusted to managers at run time: may it be written to devices, and which "
	  "managers have it",
	  LEDGER_TYPE, CONTROL_READ, .answer = control_ledger },
	{ "LedgerAdopt",
	  "In state keeping: partitions and members are made of the P_Keys on devices that nothing "
	  "explains; missing: P_Keys that devices lack, and are given. Errors: NotReady, NoRoom",
	  LEDGER_ADOPT_TYPE, CONTROL_TENANT, .begin = control_ledger_adopt,
	  .leave = control_leave_ledger },
	{ "LedgerForget",
	  "In state keeping: P_Keys on devices that nothing explains are cleared. Errors: NotReady",
	  "(user: ?string) -> (unexplained: int)", CONTROL_TENANT,
	  .begin = control_ledger_forget, .leave = control_leave_ledger },
	{ "Smp",
	  "One Get of an attribute of a device, with the M_Key that the manager has for it; a key "
	  "in the answer is shown as 0. Target: a name, NAME/PORT, a LID, a GUID, or a directed "
	  "route such as 0,1,5",
	  SMP_TYPE, CONTROL_ACT, .begin = control_smp, .leave = control_leave_smp },
	{ "Marks", "Links and switches that an administrator took out of service", MARKS_TYPE,
	  CONTROL_READ, .answer = control_marks },
	{ "Mark",
	  "drain, isolate or restore a link, a switch or a host; with plan nothing is done, and "
	  "refused says why it would be. Target: a name, NAME/PORT, a GUID, GUID/PORT; or all, to "
	  "restore",
	  MARK_TYPE, CONTROL_LINKS, .begin = control_mark, .leave = control_leave_mark },
	{ "Health",
	  "Links with findings, the sickest first; slow: links below what both ends can do",
	  HEALTH_TYPE, CONTROL_READ, .answer = control_health },
	{ "Counters",
	  "Counters of a port as read last, growth per second and bit error rates; enabled: the "
	  "performance manager is on. Target: NODE/PORT, or NODE for all its ports",
	  COUNTERS_TYPE, CONTROL_READ, .answer = control_counters },
	{ "HealthClear", "What is known against a link is forgotten. Target: NODE/PORT",
	  "(target: string) -> ()", CONTROL_ACT, .answer = control_health_clear },
	{ "Drift", "What differs from the expected topology, and what is held for it", DRIFT_TYPE,
	  CONTROL_READ, .snapshot = control_drift_new, .render = control_drift,
	  .drop = control_topology_drop },
	{ "TopologyText",
	  "The cables that are found, as a file for expected_topology_file; with accept (a "
	  "finding, or all) the file as it would be then. Nothing is written",
	  TOPOLOGY_TEXT_TYPE, CONTROL_READ, .snapshot = control_topology_text_new,
	  .collect = control_topology_collect, .render = control_topology_text,
	  .drop = control_topology_drop },
	{ "ExpectedTopology", "The expected topology in force, as it was read",
	  "() -> (file: string, in_force: bool, refused: ?string, cables: int, text: ?string)",
	  CONTROL_READ, .snapshot = control_expected_new, .render = control_expected,
	  .drop = control_expected_drop },
	{ "SetExpectedTopology",
	  "Writes expected_topology_file: the text or, without one, the cables that are found; the "
	  "manager reads it then, and judges it. A text with a fault is refused",
	  "(text: ?string, user: ?string) -> (file: string, cables: int, warnings: int)",
	  CONTROL_LINKS, .snapshot = control_set_expected_new,
	  .collect = control_set_expected_collect, .render = control_set_expected,
	  .drop = control_expected_drop },
	{ "Options", "Options in force, where they come from, and what they mean",
	  "(name: ?string) -> (options: []object)", CONTROL_READ, .answer = control_options },
	{ "Security",
	  "The security checklist; ports are those without the protection of the configuration",
	  SECURITY_TYPE, CONTROL_READ, .answer = control_security },
	{ "Congestion",
	  "How far congestion control is set up, what links of each rate get, and ports with "
	  "something to say of: flows that switches mark, settings not held",
	  CONGESTION_TYPE, CONTROL_READ, .answer = control_congestion },
	{ "Check", "Reads the configuration as SIGHUP does, and takes nothing over",
	  "() -> (errors: int, warnings: int, would_change: ?string, findings: []object)",
	  CONTROL_ACT, .answer = control_check },
	{ 0 },
};

/* The manager; NULL: there is none to be asked. */
static struct sm *manager_of(const struct daemon_api *api, struct control_error *err)
{
	return api->sm ? api->sm
		       : control_fail(err, "NotReady", "%s",
				      api->status[0] ? api->status : "no port is open");
}

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
	if (!manager_of(api, err))
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

static struct json_object *sweep_ended(const struct sm_event *event)
{
	struct json_object *o = json_object_new_object(), *sweep = json_add_object(o, "sweep");

	json_add_str(sweep, "kind", sweep_kind_name(event->sweep.kind));
	json_add_bool(sweep, "went_through", event->sweep.through);
	json_add_int(sweep, "gets", event->sweep.n_gets);
	json_add_int(sweep, "sets", event->sweep.n_sets);
	json_add_int(sweep, "errors", event->sweep.errors);
	json_add_int(sweep, "duration_ms", event->sweep.ms);
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

struct json_object *control_set_sweeping(const struct daemon_api *api,
					 struct json_object *parameters, struct control_error *err)
{
	bool enabled = json_object_get_boolean(json_object_object_get(parameters, "enabled"));
	struct json_object *o;

	if (!manager_of(api, err))
		return NULL;
	sm_set_sweeping(api->sm, enabled);
	o = asked_for(api);
	json_add_bool(o, "enabled", enabled);
	return o;
}

struct json_object *control_reroute(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	if (!manager_of(api, err))
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

struct json_object *control_sa_key(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	const struct sm *sm = manager_of(api, err);
	struct json_object *o;
	char text[24];

	if (!sm)
		return NULL;
	o = json_object_new_object();
	snprintf(text, sizeof(text), "0x%016" PRIx64, sm_sa_key(sm));
	json_add_str(o, "sa_key", text);
	json_add_bool(o, "drawn", conf_draws_sa_key(api->conf));
	return o;
}

/* ---- M_Keys ---------------------------------------------------------------------------------- */

struct json_object *control_keys(const struct daemon_api *api, struct json_object *parameters,
				 struct control_error *err)
{
	struct json_object *o;
	struct sm_keys keys;

	if (!manager_of(api, err))
		return NULL;
	sm_keys(api->sm, &keys);
	o = json_object_new_object();
	json_add_str(o, "state", sm_state_name(sm_state(api->sm)));
	json_add_bool(o, "per_port", keys.per_port);
	json_add_int(o, "epoch", keys.epoch);
	json_add_bool(o, "changing", keys.changing);
	json_add_int(o, "ports", keys.n_ports);
	json_add_int(o, "right", keys.n_right);
	json_add_int(o, "standbys", keys.n_standbys);
	json_add_int(o, "informed", keys.n_informed);
	if (keys.next_in >= 0)
		json_add_int(o, "next_seconds", keys.next_in / MONO_S);
	return o;
}

struct json_object *control_rotate_keys(const struct daemon_api *api,
					struct json_object *parameters, struct control_error *err)
{
	int r;

	if (!manager_of(api, err))
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

struct json_object *control_priority(const struct daemon_api *api, struct json_object *parameters,
				     struct control_error *err)
{
	struct json_object *o;

	if (!manager_of(api, err))
		return NULL;
	o = json_object_new_object();
	json_add_int(o, "priority", sm_priority(api->sm));
	json_add_int(o, "configured", api->conf->sm_priority);
	return o;
}

struct json_object *control_set_priority(const struct daemon_api *api,
					 struct json_object *parameters, struct control_error *err)
{
	int64_t priority = json_object_get_int64(json_object_object_get(parameters, "priority"));

	if (priority < 0 || priority > PRIORITY_MAX)
		return control_fail(err, "InvalidParameter", "priority must be from 0 to %d",
				    PRIORITY_MAX);
	if (!manager_of(api, err))
		return NULL;
	sm_set_priority(api->sm, (unsigned)priority);
	api->wake(api->arg);
	return control_priority(api, parameters, err);
}
