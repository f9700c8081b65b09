// SPDX-License-Identifier: BSD-2-Clause
/* Families of subnet administration: requests by their answers, and what is registered. */
#include "ib/records.h"
#include "metrics/metrics_internal.h"
#include "util/mem.h"

/* 15.2.4.2, and "no_answer"; NULL: another status. */
static const char *status_name(uint16_t status)
{
	static const char *const of_class[] = {
		"ok",
		"no_resources",
		"request_invalid",
		"no_records",
		"too_many_records",
		"invalid_gid",
		"insufficient_components",
		"denied",
		"priority_suggested",
	};

	if (status == SA_NO_ANSWER)
		return "no_answer";
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
		metric_label_name(t, "attr", sa_attr_name(c->attr), "", c->attr);
		metric_label_name(t, "method", mad_method_name(c->method),
				  mad_method_name(METRIC_NO_METHOD), c->method);
		metric_label_name(t, "status", status_name(c->status), "", c->status);
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
		metric_labelled(t, "reason", m->drops[i].why->word, m->drops[i].n);
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

void metrics_sa(const struct metrics *m, struct metrics_text *t)
{
	render_requests(m, t);
	render_registry(m, t);
}
