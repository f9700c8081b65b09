// SPDX-License-Identifier: BSD-2-Clause
/* Taking the numbers, and the families that are about the manager. */
#include "ctl/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conf/files.h"
#include "conf/partitions.h"
#include "ctl/metrics_private.h"
#include "ib/records.h"
#include "util/mem.h"

/* Numbers that nobody gave a name: what all such are called. */
#define NO_METHOD 0x7E
#define NO_ATTR	  0xFFFE

/* ---- taking --------------------------------------------------------------------------------- */

static void take_mads(struct metrics *m, const struct sm *sm)
{
	unsigned n;
	const struct mad_count *counts = mad_counts(sm_mad(sm), &n);

	m->n_mads = MIN(n, METRIC_MADS);
	memcpy(m->mads, counts, m->n_mads * sizeof(*counts));
	m->strays = *mad_strays(sm_mad(sm));
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
		m->managers.trusted += !manager.trust;
		m->managers.others += manager.trust != NULL;
	}
}

static void take_sm(struct metrics *m, const struct sm *sm)
{
	m->open = true;
	m->state = sm_state(sm);
	m->priority = sm_priority(sm);
	m->stats = *sm_stats(sm);
	m->traps = *sm_trap_stats(sm);
	m->n_partitions = sm_partitions(sm) ? (unsigned)sm_partitions(sm)->n : 0;
	m->view = sm_view(sm) ? view_ref((struct view *)sm_view(sm)) : NULL;
	m->files = conf_files_ref(sm_files(sm));
	take_mads(m, sm);
	take_sa(m, sm_sa(sm));
	take_fabric(m, sm);
	take_managers(m, sm);
}

struct metrics *metrics_take(const struct scene *scene, const struct metrics_tally *tally,
			     bool per_port)
{
	struct metrics *m = xcalloc(1, sizeof(*m));

	m->tally = *tally;
	m->version = xstrdup(scene->version);
	m->instance = xstrdup(scene->instance ? scene->instance : "");
	m->port_name = xstrdup(scene->port_name);
	m->started = scene->started_realtime;
	m->per_port = per_port;
	m->refused = scene->refused;
	m->config_errors = scene->findings ? scene->findings->errors : 0;
	m->config_warnings = scene->findings ? scene->findings->warnings : 0;
	if (!scene->sm)
		return m;
	take_sm(m, scene->sm);
	metrics_take_counters(m, scene);
	return m;
}

struct metrics *metrics_free(struct metrics *m)
{
	if (!m)
		return NULL;
	view_unref(m->view);
	conf_files_unref(m->files);
	free(m->counters);
	free(m->version);
	free(m->instance);
	free(m->port_name);
	free(m);
	return NULL;
}

/* ---- who we are ----------------------------------------------------------------------------- */

static void render_identity(const struct metrics *m, struct metrics_text *t)
{
	static const enum sm_state states[] = { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY,
						SM_MASTER };

	metric_family(t, "opensm_build_info", METRIC_GAUGE, "Version of the subnet manager");
	metric_sample(t, "");
	metric_label(t, "version", m->version);
	metric_count(t, 1);
	metric_family(t, "opensm_port_info", METRIC_GAUGE,
		      "Port that it works through; none while it waits for one");
	if (m->open) {
		metric_sample(t, "");
		metric_label(t, "port", m->port_name);
		metric_count(t, 1);
	}
	metric_family(t, "opensm_state", METRIC_GAUGE,
		      "1 for the state that it is in, 0 for all others");
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		metric_sample(t, "");
		metric_label(t, "state", sm_state_name(states[i]));
		metric_count(t, m->open && m->state == states[i]);
	}
	metric_one(t, "opensm_is_master", METRIC_GAUGE, "It is the master of its subnet",
		   m->open && m->state == SM_MASTER);
	metric_one(t, "opensm_subnet_up", METRIC_GAUGE,
		   "It is master, and the last sweep that set up the subnet ended without errors",
		   m->open && m->state == SM_MASTER && m->stats.up);
	metric_one(t, "opensm_config_errors", METRIC_GAUGE,
		   "Errors in the configuration when it was read last", m->config_errors);
	metric_one(t, "opensm_config_warnings", METRIC_GAUGE,
		   "Warnings about the configuration when it was read last", m->config_warnings);
	metric_one(t, "opensm_config_last_reload_success", METRIC_GAUGE,
		   "The configuration that was read last is in force", !m->refused);
}

/* ---- sweeps and routes ---------------------------------------------------------------------- */

static void render_durations(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_sweep_duration_seconds", METRIC_HISTOGRAM, "How long sweeps took");
	for (unsigned k = 0; k < METRIC_SWEEPS; k++) {
		const struct metrics_sweep *s = &m->tally.sweeps[k];
		uint64_t below = 0;

		for (unsigned i = 0; i <= METRIC_BUCKETS; i++) {
			char le[20] = "+Inf";

			below += s->bucket[i];
			if (i < METRIC_BUCKETS)
				snprintf(le, sizeof(le), "%g", metric_bucket_ms[i] / 1000.0);
			metric_sample(t, "_bucket");
			metric_label(t, "kind", metric_sweep_name(k));
			metric_label(t, "le", le);
			metric_count(t, below);
		}
		metric_sample(t, "_sum");
		metric_label(t, "kind", metric_sweep_name(k));
		metric_value(t, (double)s->ms / 1000);
		metric_sample(t, "_count");
		metric_label(t, "kind", metric_sweep_name(k));
		metric_count(t, s->ended);
	}
}

/* One family with a sample for each kind of sweep. */
static void render_by_kind(const struct metrics *m, struct metrics_text *t,
			   uint64_t (*of)(const struct metrics_sweep *s))
{
	for (unsigned k = 0; k < METRIC_SWEEPS; k++) {
		metric_sample(t, "");
		metric_label(t, "kind", metric_sweep_name(k));
		metric_count(t, of(&m->tally.sweeps[k]));
	}
}

static uint64_t ended_of(const struct metrics_sweep *s)
{
	return s->ended;
}

static uint64_t failed_of(const struct metrics_sweep *s)
{
	return s->failed;
}

static uint64_t last_of(const struct metrics_sweep *s)
{
	return (uint64_t)(s->last / MONO_S);
}

static void render_sweeps(const struct metrics *m, struct metrics_text *t)
{
	metric_family(t, "opensm_sweeps_total", METRIC_COUNTER, "Sweeps that ended");
	render_by_kind(m, t, ended_of);
	metric_family(t, "opensm_sweeps_with_errors_total", METRIC_COUNTER,
		      "Sweeps in which somebody did not answer, or refused");
	render_by_kind(m, t, failed_of);
	metric_family(t, "opensm_last_sweep_timestamp_seconds", METRIC_GAUGE,
		      "When the last one ended; 0: none has");
	render_by_kind(m, t, last_of);
	render_durations(m, t);
	metric_one(t, "opensm_last_sweep_errors", METRIC_GAUGE,
		   "Errors of the last sweep that set up the subnet", m->stats.last_errors);
	metric_one(t, "opensm_state_changes_total", METRIC_COUNTER, "Changes of its state",
		   (double)m->tally.state_changes);
	metric_family(t, "opensm_node_changes_total", METRIC_COUNTER, "Nodes that came or went");
	metric_sample(t, "");
	metric_label(t, "change", "came");
	metric_count(t, m->tally.nodes_came);
	metric_sample(t, "");
	metric_label(t, "change", "went");
	metric_count(t, m->tally.nodes_went);
	metric_family(t, "opensm_link_changes_total", METRIC_COUNTER,
		      "Links that came up or went down");
	metric_sample(t, "");
	metric_label(t, "change", "up");
	metric_count(t, m->tally.links_up);
	metric_sample(t, "");
	metric_label(t, "change", "down");
	metric_count(t, m->tally.links_down);
}

static void render_routes(const struct metrics *m, struct metrics_text *t)
{
	metric_one(t, "opensm_routings_total", METRIC_COUNTER,
		   "Routes that were computed and written", (double)m->tally.routings);
	metric_one(t, "opensm_routing_seconds", METRIC_GAUGE,
		   "How long the last computation of routes took", m->tally.routing_ms / 1000.0);
	metric_one(t, "opensm_routing_unreachable_pairs", METRIC_GAUGE,
		   "Pairs of end ports that the routes in force leave without a path",
		   m->tally.unreachable);
	metric_one(t, "opensm_routing_lanes", METRIC_GAUGE,
		   "Virtual lanes that the routes in force need to be free of deadlock",
		   m->tally.lanes);
	metric_one(t, "opensm_table_blocks_written_total", METRIC_COUNTER,
		   "Blocks of forwarding tables that were written", (double)m->tally.table_blocks);
	metric_family(t, "opensm_routing_info", METRIC_GAUGE,
		      "Engine that made the routes in force");
	if (!m->tally.engine[0])
		return;
	metric_sample(t, "");
	metric_label(t, "engine", m->tally.engine);
	metric_count(t, 1);
}

/* ---- MADs ----------------------------------------------------------------------------------- */

/* `name`, unless it is what all unknown numbers are called: then the number, so that no sample is there twice. */
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

static void render_mads(const struct metrics *m, struct metrics_text *t, const char *name,
			const char *help, uint64_t (*of)(const struct mad_count *c))
{
	metric_family(t, name, METRIC_COUNTER, help);
	for (unsigned i = 0; i < m->n_mads; i++) {
		label_mad(t, &m->mads[i]);
		metric_count(t, of(&m->mads[i]));
	}
}

static uint64_t sent_of(const struct mad_count *c)
{
	return c->sent;
}

static uint64_t received_of(const struct mad_count *c)
{
	return c->answered + c->bad_status;
}

static uint64_t timeouts_of(const struct mad_count *c)
{
	return c->timeouts;
}

static uint64_t retries_of(const struct mad_count *c)
{
	return c->retries;
}

static uint64_t refused_of(const struct mad_count *c)
{
	return c->bad_status;
}

static void render_wire(const struct metrics *m, struct metrics_text *t)
{
	render_mads(m, t, "opensm_mads_sent_total", "MADs sent, repeated ones included", sent_of);
	render_mads(m, t, "opensm_mads_received_total", "Answers to them", received_of);
	render_mads(m, t, "opensm_mads_refused_total", "Answers with a bad status", refused_of);
	render_mads(m, t, "opensm_mads_retries_total", "MADs that were sent again", retries_of);
	render_mads(m, t, "opensm_mad_timeouts_total", "Questions without an answer in the end",
		    timeouts_of);
	metric_family(t, "opensm_mads_ignored_total", METRIC_COUNTER,
		      "MADs that came in and answer nothing that was asked");
	metric_sample(t, "");
	metric_label(t, "reason", "late");
	metric_count(t, m->strays.late);
	metric_sample(t, "");
	metric_label(t, "reason", "mismatched");
	metric_count(t, m->strays.mismatched);
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
		metric_sample(t, "");
		metric_label(t, "kind", sm_trap_kind_name(i));
		metric_count(t, m->traps.received[i]);
	}
	metric_family(t, "opensm_trap_verdicts_total", METRIC_COUNTER, "What was made of traps");
	for (size_t i = 0; i < ARRAY_SIZE(fates); i++) {
		metric_sample(t, "");
		metric_label(t, "verdict", fates[i].what);
		metric_count(t, fates[i].n);
	}
	metric_one(t, "opensm_trap_storms", METRIC_GAUGE, "Sources whose traps are suppressed now",
		   m->traps.storms);
}

/* ---- subnet administration ------------------------------------------------------------------ */

/* 15.2.4.2, and what stands for none; NULL: one that is none of these. */
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
	metric_family(t, "opensm_sa_dropped_total", METRIC_COUNTER,
		      "Requests that were not answered, by reason");
	for (unsigned i = 0; i < m->n_drops; i++) {
		metric_sample(t, "");
		metric_label(t, "reason", m->drops[i].why);
		metric_count(t, m->drops[i].n);
	}
}

static void render_registry(const struct metrics *m, struct metrics_text *t)
{
	metric_one(t, "opensm_sa_reports_total", METRIC_COUNTER, "Notices sent to subscribers",
		   (double)m->sa.reports);
	metric_one(t, "opensm_sa_reports_lost_total", METRIC_COUNTER,
		   "Notices that a subscriber did not get", (double)m->sa.reports_lost);
	metric_one(t, "opensm_sa_queries", METRIC_GAUGE, "Long answers under way", m->sa.queries);
	metric_one(t, "opensm_multicast_groups", METRIC_GAUGE, "Multicast groups", m->sa.groups);
	metric_one(t, "opensm_multicast_members", METRIC_GAUGE, "Members of all groups",
		   m->sa.members);
	metric_one(t, "opensm_mlids_used", METRIC_GAUGE, "Multicast LIDs with a group", m->mlids);
	metric_one(t, "opensm_mlids_max", METRIC_GAUGE,
		   "Multicast LIDs that all switches have room for", m->mlids_max);
	metric_one(t, "opensm_services", METRIC_GAUGE, "Registered services", m->sa.services);
	metric_one(t, "opensm_subscriptions", METRIC_GAUGE, "Subscriptions to notices",
		   m->sa.subscriptions);
	metric_one(t, "opensm_alias_guids", METRIC_GAUGE, "Ports with alias GUIDs", m->sa.guids);
	metric_one(t, "opensm_sa_database_writes_total", METRIC_COUNTER,
		   "Times that the database was written", (double)m->tally.databases);
}

/* ---- the fabric, as far as it is known without a view --------------------------------------- */

static void render_subnet(const struct metrics *m, struct metrics_text *t)
{
	static const struct {
		unsigned type;
		const char *name;
	} types[] = {
		{ IB_NODE_CA, "ca" },
		{ IB_NODE_SWITCH, "switch" },
		{ IB_NODE_ROUTER, "router" },
	};

	metric_one(t, "opensm_priority", METRIC_GAUGE, "Its priority, 0 to 15", m->priority);
	metric_family(t, "opensm_nodes", METRIC_GAUGE, "Nodes that are known");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		metric_sample(t, "");
		metric_label(t, "type", types[i].name);
		metric_count(t, m->nodes[types[i].type]);
	}
	metric_one(t, "opensm_silent_nodes", METRIC_GAUGE, "Nodes that do not answer",
		   m->stats.silent_nodes);
	metric_one(t, "opensm_ports_pending", METRIC_GAUGE,
		   "Ports that should be active and are not", m->stats.ports_pending);
	metric_family(t, "opensm_ports_left_out", METRIC_GAUGE,
		      "Ports that are not served as they should be, by reason");
	for (unsigned i = 0; i < m->n_reasons; i++) {
		metric_sample(t, "");
		metric_label(t, "reason", m->reasons[i].why);
		metric_count(t, m->reasons[i].n);
	}
	metric_one(t, "opensm_partitions", METRIC_GAUGE, "Partitions in force", m->n_partitions);
	metric_family(t, "opensm_foreign_sms", METRIC_GAUGE,
		      "Other subnet managers, by whether they are believed");
	metric_sample(t, "");
	metric_label(t, "trusted", "true");
	metric_count(t, m->managers.trusted);
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
	metric_one(t, "process_cpu_seconds_total", METRIC_COUNTER, "CPU time",
		   (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			   (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	metric_one(t, "process_resident_memory_bytes", METRIC_GAUGE, "Memory in use",
		   (double)resident * (double)sysconf(_SC_PAGESIZE));
	metric_one(t, "process_virtual_memory_bytes", METRIC_GAUGE, "Address space in use",
		   (double)pages * (double)sysconf(_SC_PAGESIZE));
	metric_one(t, "process_start_time_seconds", METRIC_GAUGE, "When it was started",
		   (double)m->started);
	metric_one(t, "process_open_fds", METRIC_GAUGE, "Open descriptors", count_fds());
	metric_one(t, "process_max_fds", METRIC_GAUGE, "Descriptors that it may open",
		   (double)files.rlim_cur);
}

char *metrics_render(const struct metrics *m, bool openmetrics, size_t *ret_len)
{
	struct metrics_text *t = metrics_text_new(openmetrics);

	metric_instance(t, m->instance);
	render_identity(m, t);
	render_sweeps(m, t);
	if (m->open) {
		render_routes(m, t);
		render_subnet(m, t);
		render_wire(m, t);
		render_traps(m, t);
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
