// SPDX-License-Identifier: BSD-2-Clause
/* Taking the numbers, and the order of the families on a page. */
#include "metrics/metrics.h"

#include <assert.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "ib/records.h"
#include "metrics/metrics_internal.h"
#include "util/mem.h"

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

static void take_fabric(struct metrics *m, const struct sm *sm)
{
	struct sm_reasons *reasons = m->state == SM_MASTER ? sm_reasons_new(sm) : NULL;

	FABRIC_EACH_NODE(sm_fabric(sm), n) {
		m->nodes[MIN(n->type, IB_NODE_ROUTER)]++;
		for (unsigned i = node_is_switch(n) ? 0 : 1; reasons && i <= n->n_ports; i++) {
			enum alarm_kind kind = sm_reason_kind(reasons, &n->ports[i]);

			if (kind != ALARM_NONE)
				m->reasons[kind]++;
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
			     uint32_t groups)
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
	m->groups = groups;
	m->refused = api->refused;
	m->config_errors = api->findings ? api->findings->errors : 0;
	m->config_warnings = api->findings ? api->findings->warnings : 0;
	if (!api->sm)
		return m;
	take_sm(m, api->sm);
	metrics_take_alarms(m, api->sm);
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
	free(m->sums);
	free(m->alarms);
	free(m->version);
	free(m->instance);
	free(m->port_name);
	free(m);
	return NULL;
}

/* ---- a page --------------------------------------------------------------------------------- */

/* The circumstances in which a part of a page is written. */
enum part_when { ALWAYS, WITH_MANAGER, WITH_VIEW };

/* Families in the names of other exporters have no label sm_instance. */
enum part_names { OURS, FOREIGN };

/* In the order of the page. */
static const struct part {
	enum metrics_group group;
	enum part_when when;
	metrics_put *put;
	enum part_names names;
} parts[] = {
	{ METRICS_MANAGER, ALWAYS, metrics_manager, OURS },
	{ METRICS_MANAGER, WITH_MANAGER, metrics_ledger, OURS },
	{ METRICS_ALARMS, WITH_MANAGER, metrics_alarms, OURS },
	{ METRICS_SWEEPS, ALWAYS, metrics_sweeps, OURS },
	{ METRICS_ROUTING, WITH_MANAGER, metrics_routing, OURS },
	{ METRICS_FABRIC, WITH_MANAGER, metrics_subnet, OURS },
	{ METRICS_FABRIC, WITH_MANAGER, metrics_rails, OURS },
	{ METRICS_FABRIC, WITH_VIEW, metrics_fabric, OURS },
	{ METRICS_LINKS, WITH_MANAGER, metrics_links, OURS },
	{ METRICS_LINKS, WITH_MANAGER, metrics_topology, OURS },
	{ METRICS_TENANTS, WITH_MANAGER, metrics_tenants, OURS },
	{ METRICS_SECURITY, WITH_MANAGER, metrics_security, OURS },
	{ METRICS_CONGESTION, WITH_MANAGER, metrics_congestion, OURS },
	{ METRICS_MADS, WITH_MANAGER, metrics_mads, OURS },
	{ METRICS_SA, WITH_MANAGER, metrics_sa, OURS },
	{ METRICS_PERFMGR, WITH_MANAGER, metrics_perf, OURS },
	{ METRICS_SWITCHES, WITH_VIEW, metrics_switch_ports, OURS },
	{ METRICS_SWITCHES, WITH_VIEW, metrics_sums, OURS },
	{ METRICS_SWITCHES, WITH_VIEW, metrics_switches, FOREIGN },
	{ METRICS_HOSTS, WITH_VIEW, metrics_hosts, FOREIGN },
	{ METRICS_CABLES, WITH_VIEW, metrics_cables, FOREIGN },
	{ METRICS_PORT_ERRORS, WITH_VIEW, metrics_port_errors, FOREIGN },
	{ METRICS_PORT_TRAFFIC, WITH_VIEW, metrics_port_traffic, FOREIGN },
	{ METRICS_MANAGER, ALWAYS, metrics_process, FOREIGN },
};

static bool is_written(const struct metrics *m, const struct part *p)
{
	if (!(m->groups & METRICS_BIT(p->group)))
		return false;
	switch (p->when) {
	case ALWAYS:
		return true;
	case WITH_MANAGER:
		return m->open;
	case WITH_VIEW:
		return m->view != NULL;
	}
	return false;
}

void metrics_render(const struct metrics *m, bool openmetrics, FILE *out)
{
	struct metrics_text *t = metrics_text_new(out, openmetrics);

	assert(m);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!is_written(m, &parts[i]))
			continue;
		metric_sm_instance(t, parts[i].names == FOREIGN ? NULL : m->instance);
		parts[i].put(m, t);
	}
	metrics_text_end(t);
}
