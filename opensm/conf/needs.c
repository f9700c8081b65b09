// SPDX-License-Identifier: BSD-2-Clause
/*
 * Options that have an effect only with another option: the table, and the remark on each of them
 * that is set while the other one is not. What depends on files or on the fabric is not here.
 */
#include <string.h>

#include "conf/conf.h"
#include "conf/value.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- conditions ----------------------------------------------------------------------------- */

static bool has_trust_model(const struct conf *c)
{
	return c->sa_enhanced_trust_model;
}

static bool has_port_keys(const struct conf *c)
{
	return c->m_key_per_port;
}

static bool protects(const struct conf *c)
{
	return c->m_key_protection_level;
}

static bool isolates(const struct conf *c)
{
	return str_equal(c->security_violation_policy, "isolate");
}

static bool holds(const struct conf *c)
{
	return str_equal(c->guid_location_policy, "hold");
}

static bool has_qos(const struct conf *c)
{
	return c->qos;
}

/* The console can enable it at run time. */
static bool may_count(const struct conf *c)
{
	return c->perfmgr || !str_equal(c->console, "off");
}

static bool logs_waits(const struct conf *c)
{
	return c->perfmgr_xmit_wait_log;
}

static bool has_port_console(const struct conf *c)
{
	return str_equal(c->console, "loopback");
}

static bool has_plugins(const struct conf *c)
{
	return c->event_plugin_name;
}

static bool has_metrics_file(const struct conf *c)
{
	return c->metrics_file;
}

static bool has_metrics(const struct conf *c)
{
	return c->metrics_file || c->metrics_listen;
}

static bool scatters_but_lists(const struct conf *c)
{
	return c->scatter_ports && c->guid_routing_order_file;
}

/* ---- the table ------------------------------------------------------------------------------ */

enum kind { SECURITY, OTHER };

#define TRUST(name)                                                                                \
	{ CONF_ID_sa_etm_##name, SECURITY, has_trust_model, "sa_enhanced_trust_model is FALSE" }
#define QOS(set)                                                                                   \
	{ CONF_ID_##set##_high_limit, OTHER, has_qos, "qos is FALSE" },                            \
	{ CONF_ID_##set##_vlarb_high, OTHER, has_qos, "qos is FALSE" },                            \
	{ CONF_ID_##set##_vlarb_low, OTHER, has_qos, "qos is FALSE" },                             \
	{ CONF_ID_##set##_sl2vl, OTHER, has_qos, "qos is FALSE" }
#define PERF(name) { CONF_ID_##name, OTHER, may_count, "perfmgr is FALSE and console is off" }

/* `id` has no effect while `text`. */
static const struct need {
	enum conf_id id;
	enum kind kind;
	bool (*is_met)(const struct conf *c);
	const char *text;
} needs[] = {
	{ CONF_ID_periodic_key_update, SECURITY, has_port_keys, "m_key_per_port is FALSE" },
	{ CONF_ID_m_key_seed_file, SECURITY, has_port_keys, "m_key_per_port is FALSE" },
	{ CONF_ID_m_key_lease_period, SECURITY, protects, "m_key_protection_level is 0" },
	{ CONF_ID_security_violation_threshold, SECURITY, isolates,
	  "security_violation_policy is not isolate" },
	{ CONF_ID_security_violation_window, SECURITY, isolates,
	  "security_violation_policy is not isolate" },
	{ CONF_ID_guid_location_hold_time, SECURITY, holds, "guid_location_policy is not hold" },
	TRUST(allow_untrusted_guidinfo_rec),
	TRUST(allow_guidinfo_rec_by_vf),
	TRUST(allow_untrusted_proxy_requests),
	TRUST(max_num_mcgs),
	TRUST(max_num_srvcs),
	TRUST(max_num_event_subs),
	QOS(qos),
	QOS(qos_ca),
	QOS(qos_sw0),
	QOS(qos_swe),
	QOS(qos_rtr),
	PERF(perfmgr_redir),
	PERF(perfmgr_sweep_time_s),
	PERF(perfmgr_max_outstanding_queries),
	PERF(perfmgr_ignore_cas),
	PERF(perfmgr_rm_nodes),
	PERF(perfmgr_log_errors),
	PERF(perfmgr_query_cpi),
	PERF(perfmgr_xmit_wait_log),
	PERF(event_db_dump_file),
	{ CONF_ID_perfmgr_xmit_wait_threshold, OTHER, logs_waits,
	  "perfmgr_xmit_wait_log is FALSE" },
	{ CONF_ID_console_port, OTHER, has_port_console, "console is not loopback" },
	{ CONF_ID_event_plugin_options, OTHER, has_plugins, "event_plugin_name is not set" },
	{ CONF_ID_metrics_interval, OTHER, has_metrics_file, "metrics_file is not set" },
	{ CONF_ID_metrics_per_port, OTHER, has_metrics,
	  "neither metrics_listen nor metrics_file is set" },
	{ CONF_ID_guid_routing_order_no_scatter, OTHER, scatters_but_lists,
	  "scatter_ports is 0, or guid_routing_order_file is not set" },
};

const char *conf_need(enum conf_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		if (needs[i].id == id)
			return needs[i].text;
	return NULL;
}

/* ---- remarks -------------------------------------------------------------------------------- */

static bool was_set_here(const struct conf *c, enum conf_id id)
{
	return (c->file_line[id] || c->given[id]) && !conf_value_is_default(c, id);
}

static bool is_idle(const struct conf *c, const struct need *n)
{
	return was_set_here(c, n->id) && !n->is_met(c);
}

static enum conf_severity severity_of(const struct conf *c, const struct need *n)
{
	if (c->strict)
		return CONF_ERROR;
	return n->kind == SECURITY ? CONF_WARNING : CONF_NOTE;
}

void conf_advise_needs(const struct conf *c, const struct conf *since, struct conf_report *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		const struct need *n = &needs[i];

		if (!is_idle(c, n) ||
		    (since && is_idle(since, n) && conf_value_equal(c, since, n->id)))
			continue;
		conf_report_option(r, severity_of(c, n), c, n->id, "has no effect while %s",
				   n->text);
	}
}
