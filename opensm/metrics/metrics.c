// SPDX-License-Identifier: BSD-2-Clause
/* Taking the numbers, and the families that are about the manager. */
#include "metrics/metrics.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conf/partitions/partitions.h"
#include "ib/records.h"
#include "metrics/metrics_internal.h"
#include "util/mem.h"

/* Numbers without a name, to learn the name that all such have. */
#define NO_METHOD 0x7E
#define NO_ATTR	  0xFFFE

/* ---- taking --------------------------------------------------------------------------------- */

static void take_mads(struct metrics *m, const struct sm *sm)
{
	unsigned n;
	const struct mad_count *counts = mad_counts(sm_mad(sm), &n);

	m->n_mads = MIN(n, METRIC_MADS);
	memcpy(m->mads, counts, m->n_mads * sizeof(*counts));
	memcpy(m->strays, mad_strays(sm_mad(sm)), sizeof(m->strays));
}

static void take_sa(struct metrics *m, const struct sa *sa)
{
	const struct sa_drop_count *drops = sa_drop_counts(sa, &m->n_drops);
	const struct sa_count *requests = sa_counts(sa, &m->n_requests);

	m->sa = *sa_stats(sa);
	memcpy(m->requests, requests, m->n_requests * sizeof(*requests));
	memcpy(m->drops, drops, m->n_drops * sizeof(*drops));
	sa_mlids(sa, &m->mlids, &m->mlids_max);
}

static void count_reason(struct metrics *m, const char *why)
{
	unsigned i = 0;

	while (i < m->n_reasons && strcmp(m->reasons[i].why, why))
		i++;
	if (i == METRIC_REASONS)
		return;
	if (i == m->n_reasons)
		m->reasons[m->n_reasons++].why = why;
	m->reasons[i].n++;
}

static void take_fabric(struct metrics *m, const struct sm *sm)
{
	struct sm_reasons *reasons = m->state == SM_MASTER ? sm_reasons_new(sm) : NULL;

	FABRIC_EACH_NODE(sm_fabric(sm), n) {
		m->nodes[MIN(n->type, IB_NODE_ROUTER)]++;
		for (unsigned i = node_is_switch(n) ? 0 : 1; reasons && i <= n->n_ports; i++) {
			const char *why = sm_reason(reasons, &n->ports[i]);

			if (why)
				count_reason(m, why);
		}
	}
	sm_reasons_free(reasons);
}

static void take_managers(struct metrics *m, const struct sm *sm)
{
	struct sm_manager manager;

	for (unsigned i = 0; sm_manager_at(sm, i, &manager); i++) {
		if (manager.trust)
			m->managers.others++;
		else
			m->managers.trusted++;
	}
}

static void take_deaths(struct metrics *m, const struct sm *sm)
{
	const struct route_death_count *counts = sm_route_deaths(sm, &m->n_deaths);

	memcpy(m->deaths, counts, m->n_deaths * sizeof(*counts));
	m->routing_has_process = sm_routing_has_process(sm);
}

static void take_sm(struct metrics *m, const struct sm *sm)
{
	m->open = true;
	m->state = sm_state(sm);
	m->priority = sm_priority(sm);
	m->stats = *sm_stats(sm);
	m->own_answers = !sm_own_silent(sm);
	m->traps = *sm_trap_stats(sm);
	m->violations = *violations_total(sm);
	m->violating_ports = violations_ports(sm, &m->isolated_ports);
	metrics_take_links(m, sm);
	m->n_partitions = sm_partitions(sm) ? (unsigned)sm_partitions(sm)->n : 0;
	m->view = view_ref(sm_view(sm));
	take_mads(m, sm);
	take_sa(m, sm_sa(sm));
	take_fabric(m, sm);
	take_managers(m, sm);
	take_deaths(m, sm);
	metrics_take_tenants(m, sm);
	metrics_take_ledger(m, sm);
	metrics_take_topology(m, sm);
	metrics_take_rails(m, sm);
}

struct metrics *metrics_take(const struct daemon_api *api, const struct metrics_tally *tally,
			     bool per_port)
{
	struct metrics *m = xcalloc(1, sizeof(*m));
	int64_t realtime;
	mono_t now;

	assert(api && tally);
	m->tally = *tally;
	m->version = xstrdup(api->version);
	m->instance = xstrdup(api->instance ? api->instance : "");
	m->port_name = xstrdup(api->port_name);
	m->started = api->started_realtime;
	m->per_port = per_port;
	m->refused = api->refused;
	m->config_errors = api->findings ? api->findings->errors : 0;
	m->config_warnings = api->findings ? api->findings->warnings : 0;
	if (!api->sm)
		return m;
	take_sm(m, api->sm);
	security_judge(api, SECURITY_OF_MEMORY, &m->security);
	metrics_take_congestion(m, api);
	api->clock(api->arg, &now, &realtime);
	sm_unserved(api->sm, now, &m->unserved);
	m->whole_age = metrics_tally_broken(tally, api->sm, now);
	metrics_take_counters(m, api);
	return m;
}

struct metrics *metrics_free(struct metrics *m)
{
	if (!m)
		return NULL;
	view_unref(m->view);
	free(m->counters);
	free(m->version);
	free(m->instance);
	free(m->port_name);
	free(m);
	return NULL;
}

/* ---- the manager ---------------------------------------------------------------------------- */

static void render_identity(const struct metrics *m, struct metrics_text *t)
{
	static const enum sm_state states[] = { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY,
						SM_MASTER };

	metric_family(t, "opensm_build_info", METRIC_GAUGE, "Version of the subnet manager");
	metric_labelled(t, "version", m->version, 1);
	metric_family(t, "opensm_port_info", METRIC_GAUGE,
		      "Port that it works through; none while it waits for one");
	if (m->open) {
		metric_labelled(t, "port", m->port_name, 1);
	}
	metric_family(t, "opensm_state", METRIC_GAUGE,
		      "1 for the state that it is in, 0 for all others");
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		metric_labelled(t, "state", sm_state_name(states[i]),
				m->open && m->state == states[i]);
	}
	metric_gauge(t, "opensm_is_master", "It is the master of its subnet",
		     m->open && m->state == SM_MASTER);
	metric_gauge(t, "opensm_subnet_up",
		     "It is master, and the last sweep that set up the subnet ended without errors",
		     m->open && m->state == SM_MASTER && m->stats.up);
	metric_gauge(t, "opensm_config_errors", "Errors in the configuration when it was read last",
		     m->config_errors);
	metric_gauge(t, "opensm_config_warnings",
		     "Warnings about the configuration when it was read last", m->config_warnings);
	metric_gauge(t, "opensm_config_last_reload_success",
		     "The configuration that was read last is in force", !m->refused);
}

/* ---- sweeps and routes ---------------------------------------------------------------------- */

static void render_durations(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_sweep_duration_seconds", METRIC_HISTOGRAM, "How long sweeps took");
	for (unsigned k = SWEEP_LIGHT; k < SWEEP_KINDS; k++) {
		const struct metrics_sweep *s = &m->tally.sweeps[k];
		uint64_t below = 0;

		for (unsigned i = 0; i <= METRIC_BUCKETS; i++) {
			char le[20] = "+Inf";

			below += s->bucket[i];
			if (i < METRIC_BUCKETS)
				snprintf(le, sizeof(le), "%g", metric_bucket_ms[i] / 1000.0);
			metric_sample(t, "_bucket");
			metric_label(t, "kind", sweep_kind_name(k));
			metric_label(t, "le", le);
			metric_count(t, below);
		}
		metric_sample(t, "_sum");
		metric_label(t, "kind", sweep_kind_name(k));
		metric_value(t, (double)s->ms / 1000);
		metric_sample(t, "_count");
		metric_label(t, "kind", sweep_kind_name(k));
		metric_count(t, s->ended);
	}
}

/* A sample for each kind of sweep: the uint64_t at `offset` of struct metrics_sweep. */
static void render_by_kind(const struct metrics *m, struct metrics_text *t, const char *name,
			   enum metric_type type, const char *help, size_t offset)
{
	metric_family(t, name, type, help);
	for (unsigned k = SWEEP_LIGHT; k < SWEEP_KINDS; k++) {
		const char *at = (const char *)&m->tally.sweeps[k] + offset;

		metric_labelled(t, "kind", sweep_kind_name(k), *(const uint64_t *)at);
	}
}

static void render_differences(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_table_differences_total", METRIC_COUNTER,
		      "Blocks of tables of devices that were found changed by another, by table");
	for (unsigned i = 0; i < SM_TABLES; i++) {
		uint16_t attr = i == SM_TABLE_LFT ? IB_ATTR_LFT : port_tables[i].attr;

		metric_labelled(t, "table", ib_attr_name(attr), m->stats.tables_changed[i]);
	}
}

static void render_sweeps(const struct metrics *m, struct metrics_text *t)
{
	render_by_kind(m, t, "opensm_sweeps_total", METRIC_COUNTER, "Sweeps that ended",
		       offsetof(struct metrics_sweep, ended));
	render_by_kind(m, t, "opensm_sweeps_with_errors_total", METRIC_COUNTER,
		       "Sweeps in which a node did not answer or refused a Set",
		       offsetof(struct metrics_sweep, failed));
	render_by_kind(m, t, "opensm_last_sweep_timestamp_seconds", METRIC_GAUGE,
		       "When the last one ended; 0: none has",
		       offsetof(struct metrics_sweep, last));
	render_durations(m, t);
	metric_gauge(t, "opensm_last_sweep_errors",
		     "Errors of the last sweep that set up the subnet", m->stats.last_errors);
	render_differences(m, t);
	metric_counter(t, "opensm_state_changes_total", "Changes of its state",
		       (double)m->tally.state_changes);
	metric_family(t, "opensm_node_changes_total", METRIC_COUNTER, "Nodes that came or went");
	metric_labelled(t, "change", "came", m->tally.nodes_came);
	metric_sample(t, "");
	metric_label(t, "change", "went");
	metric_count(t, m->tally.nodes_went);
	metric_family(t, "opensm_link_changes_total", METRIC_COUNTER,
		      "Links that came up or went down");
	metric_labelled(t, "change", "up", m->tally.links_up);
	metric_sample(t, "");
	metric_label(t, "change", "down");
	metric_count(t, m->tally.links_down);
}

static void render_deaths(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_routing_died_total", METRIC_COUNTER,
		      "Computations of a routing engine that crashed, hung, or returned invalid "
		      "tables, by cause");
	for (unsigned i = 0; i < m->n_deaths; i++) {
		metric_sample(t, "");
		metric_label(t, "engine", m->deaths[i].engine);
		metric_label(t, "cause", m->deaths[i].cause);
		metric_count(t, m->deaths[i].n);
	}
}

static void render_routes(const struct metrics *m, struct metrics_text *t)
{
	render_deaths(m, t);
	metric_gauge(t, "opensm_routing_has_process",
		     "1: routes are computed in a process of their own; 0: none could be started, "
		     "tables in force stay",
		     m->routing_has_process);
	metric_counter(t, "opensm_routings_total", "Routes that were computed and written",
		       (double)m->tally.routings);
	metric_gauge(t, "opensm_routing_seconds", "How long the last computation of routes took",
		     m->tally.routing_ms / 1000.0);
	metric_gauge(t, "opensm_routing_unreachable_pairs",
		     "Pairs of end ports that the routes in force leave without a path",
		     m->tally.unreachable);
	metric_gauge(t, "opensm_routing_lanes",
		     "VLs that the routes in force need to be free of deadlock", m->tally.lanes);
	metric_counter(t, "opensm_table_blocks_written_total",
		       "Blocks of forwarding tables that were written",
		       (double)m->tally.table_blocks);
	metric_family(t, "opensm_routing_info", METRIC_GAUGE,
		      "Engine that made the routes in force");
	if (!m->tally.engine[0])
		return;
	metric_labelled(t, "engine", m->tally.engine, 1);
}

/* ---- MADs ----------------------------------------------------------------------------------- */

/* `name`, or the number where it is what all unknown ones are called: no sample stands twice. */
static void label_name(struct metrics_text *t, const char *label, const char *name,
		       const char *unknown, unsigned number)
{
	char hex[12];

	snprintf(hex, sizeof(hex), "0x%04x", number);
	metric_label(t, label, name && strcmp(name, unknown) ? name : hex);
}

static void label_mad(struct metrics_text *t, const struct mad_count *c)
{
	metric_sample(t, "");
	metric_label(t, "class", "smp");
	label_name(t, "method", mad_method_name(c->method), mad_method_name(NO_METHOD), c->method);
	label_name(t, "attr", ib_attr_name(c->attr), ib_attr_name(NO_ATTR), c->attr);
}

enum mad_figure {
	MADS_SENT,
	MADS_RECEIVED,
	MADS_REFUSED,
	MADS_RETRIES,
	MADS_TIMEOUTS,
	MAD_FIGURES
};

static const struct {
	const char *name, *help;
} mad_families[MAD_FIGURES] = {
	[MADS_SENT] = { "opensm_mads_sent_total", "MADs sent, repeated ones included" },
	[MADS_RECEIVED] = { "opensm_mads_received_total", "Answers to them" },
	[MADS_REFUSED] = { "opensm_mads_refused_total", "Answers with a bad status" },
	[MADS_RETRIES] = { "opensm_mads_retries_total", "MADs that were sent again" },
	[MADS_TIMEOUTS] = { "opensm_mad_timeouts_total", "Questions without an answer in the end" },
};

static uint64_t mad_figure(const struct mad_count *c, enum mad_figure what)
{
	const uint64_t figures[MAD_FIGURES] = {
		[MADS_SENT] = c->sent,		[MADS_RECEIVED] = c->answered + c->bad_status,
		[MADS_REFUSED] = c->bad_status, [MADS_RETRIES] = c->retries,
		[MADS_TIMEOUTS] = c->timeouts,
	};

	return figures[what];
}

static void render_wire(const struct metrics *m, struct metrics_text *t)
{
	for (enum mad_figure k = 0; k < MAD_FIGURES; k++) {
		metric_family(t, mad_families[k].name, METRIC_COUNTER, mad_families[k].help);
		for (unsigned i = 0; i < m->n_mads; i++) {
			label_mad(t, &m->mads[i]);
			metric_count(t, mad_figure(&m->mads[i], k));
		}
	}
	metric_family(t, "opensm_mads_ignored_total", METRIC_COUNTER,
		      "MADs that came in and answer nothing that was asked");
	for (enum mad_stray why = 0; why < MAD_STRAYS; why++)
		metric_labelled(t, "reason", mad_stray_name(why), m->strays[why]);
}

static void render_traps(const struct metrics *m, struct metrics_text *t)
{
	const struct {
		const char *what;
		uint64_t n;
	} fates[] = {
		{ "taken", m->traps.taken },	       { "repeated", m->traps.repeats },
		{ "suppressed", m->traps.suppressed }, { "forged", m->traps.forged },
		{ "stranger", m->traps.strangers },
	};

	metric_family(t, "opensm_traps_total", METRIC_COUNTER,
		      "Traps received, by what they are about");
	for (unsigned i = 0; i < SM_TRAP_KINDS; i++) {
		metric_labelled(t, "kind", sm_trap_kind_name(i), m->traps.received[i]);
	}
	metric_family(t, "opensm_trap_verdicts_total", METRIC_COUNTER, "What was made of traps");
	for (size_t i = 0; i < ARRAY_SIZE(fates); i++) {
		metric_labelled(t, "verdict", fates[i].what, fates[i].n);
	}
	metric_gauge(t, "opensm_trap_storms", "Sources whose traps are suppressed now",
		     m->traps.storms);
}

static void render_violations(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_violations_total", METRIC_COUNTER,
		      "Rules broken by ports, by kind (opensmctl ports --violations)");
	for (unsigned i = 0; i < VIOLATION_KINDS; i++)
		metric_labelled(t, "kind", violation_kind_name(i), m->violations.n[i]);
	metric_gauge(t, "opensm_violating_ports",
		     "Ports with violations by the node attached, since the start",
		     m->violating_ports);
	metric_gauge(t, "opensm_isolated_ports",
		     "Of these: switched off by security_violation_policy", m->isolated_ports);
}

/* ---- subnet administration ------------------------------------------------------------------ */

/* 15.2.4.2, and "no answer"; NULL: another status. */
static const char *status_name(uint16_t status)
{
	static const char *const of_class[] = {
		"ok",
		"no resources",
		"request invalid",
		"no records",
		"too many records",
		"invalid GID",
		"insufficient components",
		"denied",
		"priority suggested",
	};

	if (status == SA_NO_ANSWER)
		return "no answer";
	if (!(status & 0xFF) && status >> 8 < ARRAY_SIZE(of_class))
		return of_class[status >> 8];
	return NULL;
}

static void render_requests(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_sa_requests_total", METRIC_COUNTER,
		      "Requests to subnet administration, by what was answered");
	for (unsigned i = 0; i < m->n_requests; i++) {
		const struct sa_count *c = &m->requests[i];

		metric_sample(t, "");
		label_name(t, "attr", sa_attr_name(c->attr), "", c->attr);
		label_name(t, "method", mad_method_name(c->method), mad_method_name(NO_METHOD),
			   c->method);
		label_name(t, "status", status_name(c->status), "", c->status);
		metric_count(t, c->n);
	}
	metric_counter(t, "opensm_sa_key_guesses_total",
		       "Requests with a key that is neither 0 nor sa_key",
		       (double)m->sa.key_guesses);
	metric_counter(t, "opensm_sa_key_guessers_total",
		       "Times that a port was found trying out keys", (double)m->sa.key_guessers);
	metric_family(t, "opensm_sa_dropped_total", METRIC_COUNTER,
		      "Requests that were not answered, by reason");
	for (unsigned i = 0; i < m->n_drops; i++) {
		metric_labelled(t, "reason", m->drops[i].why, m->drops[i].n);
	}
}

static void render_registry(const struct metrics *m, struct metrics_text *t)
{
	metric_counter(t, "opensm_sa_reports_total", "Notices sent to subscribers",
		       (double)m->sa.reports);
	metric_counter(t, "opensm_sa_reports_lost_total", "Notices that a subscriber did not get",
		       (double)m->sa.reports_lost);
	metric_gauge(t, "opensm_sa_queries", "Long answers under way", m->sa.queries);
	metric_gauge(t, "opensm_multicast_groups", "Multicast groups", m->sa.groups);
	metric_gauge(t, "opensm_multicast_members", "Members of all groups", m->sa.members);
	metric_gauge(t, "opensm_mlids_used", "Multicast LIDs with a group", m->mlids);
	metric_gauge(t, "opensm_mlids_max", "Multicast LIDs that all switches have room for",
		     m->mlids_max);
	metric_gauge(t, "opensm_services", "Registered services", m->sa.services);
	metric_gauge(t, "opensm_subscriptions", "Subscriptions to notices", m->sa.subscriptions);
	metric_gauge(t, "opensm_alias_guids", "Ports with alias GUIDs", m->sa.guids);
	metric_counter(t, "opensm_sa_database_writes_total", "Times that the database was written",
		       (double)m->tally.databases);
}

/* ---- the fabric, as far as it is known without a view --------------------------------------- */

/* Writes metrics that only a master has. */
static void render_whole(const struct metrics *m, struct metrics_text *t)
{
	if (m->state != SM_MASTER)
		return;
	metric_gauge(t, "opensm_seconds_since_whole",
		     "How long the subnet has not been as it should be: a sweep with errors, a "
		     "silent node, a port that is not active, a change not served; 0: it is",
		     (double)MAX(m->whole_age, m->unserved.age) / MONO_S);
}

static void render_subnet(const struct metrics *m, struct metrics_text *t)
{
	metric_gauge(t, "opensm_priority", "Its priority, 0 to 15", m->priority);
	metric_family(t, "opensm_nodes", METRIC_GAUGE, "Nodes that are known");
	for (unsigned type = IB_NODE_CA; type <= IB_NODE_ROUTER; type++) {
		metric_labelled(t, "type", ib_node_row(type)->word, m->nodes[type]);
	}
	metric_gauge(t, "opensm_own_port_answers",
		     "The port of the subnet manager itself answers; 0: no sweep is possible",
		     m->own_answers);
	metric_gauge(t, "opensm_oldest_unserved_change_seconds",
		     "Age of the oldest change that no sweep has served; 0: none",
		     (double)m->unserved.age / MONO_S);
	metric_gauge(t, "opensm_convergence_stuck",
		     "That change is older than is usual on a fabric of this size, and nothing "
		     "moves",
		     m->unserved.stuck);
	render_whole(m, t);
	metric_gauge(t, "opensm_silent_nodes", "Nodes that do not answer", m->stats.silent_nodes);
	metric_gauge(t, "opensm_ports_pending", "Ports that should be active and are not",
		     m->stats.ports_pending);
	metric_family(t, "opensm_ports_left_out", METRIC_GAUGE,
		      "Ports that are not served as they should be, by reason");
	for (unsigned i = 0; i < m->n_reasons; i++) {
		metric_labelled(t, "reason", m->reasons[i].why, m->reasons[i].n);
	}
	metric_gauge(t, "opensm_partitions", "Partitions in force", m->n_partitions);
	metric_family(t, "opensm_foreign_sms", METRIC_GAUGE,
		      "Other subnet managers, by whether they are believed");
	metric_labelled(t, "trusted", "true", m->managers.trusted);
	metric_sample(t, "");
	metric_label(t, "trusted", "false");
	metric_count(t, m->managers.others);
}

/* ---- the process ---------------------------------------------------------------------------- */

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n > 3 ? n - 3 : 0; /* ".", "..", and the folder itself */
}

/* Names are those that every client library has, without an instance. */
static void render_process(const struct metrics *m, struct metrics_text *t)
{
	struct rlimit files = { 0 };
	struct rusage used = { 0 };
	unsigned long pages = 0, resident = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	getrusage(RUSAGE_SELF, &used);
	getrlimit(RLIMIT_NOFILE, &files);
	if (statm && fscanf(statm, "%lu %lu", &pages, &resident) != 2)
		pages = resident = 0;
	if (statm)
		fclose(statm);
	metric_counter(t, "process_cpu_seconds_total", "CPU time",
		       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	metric_gauge(t, "process_resident_memory_bytes", "Memory in use",
		     (double)resident * (double)sysconf(_SC_PAGESIZE));
	metric_gauge(t, "process_virtual_memory_bytes", "Address space in use",
		     (double)pages * (double)sysconf(_SC_PAGESIZE));
	metric_gauge(t, "process_start_time_seconds", "When it was started", (double)m->started);
	metric_gauge(t, "process_open_fds", "Open descriptors", count_fds());
	metric_gauge(t, "process_max_fds", "Descriptors that it may open", (double)files.rlim_cur);
}

char *metrics_render(const struct metrics *m, bool openmetrics, size_t *ret_len)
{
	struct metrics_text *t = metrics_text_new(openmetrics);

	assert(m && ret_len);
	metric_instance(t, m->instance);
	render_identity(m, t);
	render_sweeps(m, t);
	if (m->open) {
		render_routes(m, t);
		render_subnet(m, t);
		metrics_tenants(m, t);
		metrics_ledger(m, t);
		metrics_security(m, t);
		metrics_congestion(m, t);
		render_wire(m, t);
		render_traps(m, t);
		render_violations(m, t);
		metrics_links(m, t);
		metrics_topology(m, t);
		metrics_rails(m, t);
		render_requests(m, t);
		render_registry(m, t);
		metrics_perf(m, t);
	}
	if (m->view)
		metrics_fabric(m, t);
	metric_instance(t, NULL);
	metrics_counters(m, t);
	render_process(m, t);
	return metrics_text_end(t, ret_len);
}
