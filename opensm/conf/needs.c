// SPDX-License-Identifier: BSD-2-Clause
/*
 * Options that have an effect only with another option: the table, and a remark on each that is set
 * in vain. Conditions on files or on the fabric are not here.
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

/* Can the performance manager run? The console can enable it at run time. */
static bool may_count(const struct conf *c)
{
	return c->perfmgr || !str_equal(c->console, "off");
}

static bool logs_waits(const struct conf *c)
{
	return c->perfmgr_xmit_wait_log;
}

static bool has_cc(const struct conf *c)
{
	return c->congestion_control;
}

static bool gives_cc_keys(const struct conf *c)
{
	return c->congestion_control && c->cc_key_enable == 2;
}

static bool has_cc_profile(const struct conf *c)
{
	return c->congestion_control && !str_equal(c->cc_profile, "off");
}

/* A profile writes victims, threshold and rate unless the map says otherwise. */
static bool writes_switches(const struct conf *c, unsigned bit)
{
	if (has_cc_profile(c) && !c->cc_sw_cong_setting_control_map)
		return 0x15 >> bit & 1;
	return c->congestion_control && c->cc_sw_cong_setting_control_map >> bit & 1;
}

#define WRITES(name, bit)                                                                          \
	static bool writes_##name(const struct conf *c)                                            \
	{                                                                                          \
		return writes_switches(c, bit);                                                    \
	}
WRITES(victims, 0)
WRITES(credits, 1)
WRITES(threshold, 2)
WRITES(starvation, 3)
WRITES(rate, 4)

static bool writes_sls(const struct conf *c)
{
	return c->congestion_control && (c->cc_ca_cong_setting_control_map || has_cc_profile(c));
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

static bool has_expected(const struct conf *c)
{
	return c->expected_topology_file || (c->topo_config_enabled && c->topo_config_file);
}

static bool uses_topo_config(const struct conf *c)
{
	return c->topo_config_enabled && !c->expected_topology_file;
}

static bool names_topo_config(const struct conf *c)
{
	return c->topo_config_file;
}

static bool routes_by_files(const struct conf *c)
{
	return conf_engine_is_asked_for(c, "file");
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
#define EXPECTED(name)                                                                             \
	{ CONF_ID_expected_topology_##name, OTHER, has_expected,                                   \
	  "expected_topology_file is not set" }
#define PERF(name) { CONF_ID_##name, OTHER, may_count, "perfmgr is FALSE and console is off" }

#define CC(name, of_kind)                                                                          \
	{ CONF_ID_##name, of_kind, has_cc, "congestion_control is FALSE" }
#define CC_SWITCH(name, what, bit)                                                                 \
	{ CONF_ID_cc_sw_cong_setting_##name, OTHER, writes_##what,                                 \
	  "congestion_control is FALSE, or cc_sw_cong_setting_control_map is without " #bit }
#define CC_SL(name)                                                                                \
	{ CONF_ID_cc_ca_cong_setting_##name, OTHER, writes_sls,                                    \
	  "congestion_control is FALSE, or cc_ca_cong_setting_control_map is 0 and cc_profile off" }

/* Option `id` has no effect while the condition in `text` holds. */
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
	{ CONF_ID_topo_config_file, OTHER, uses_topo_config,
	  "topo_config_enabled is FALSE, or expected_topology_file is set" },
	{ CONF_ID_topo_config_enabled, SECURITY, names_topo_config, "topo_config_file is not set" },
	EXPECTED(links),
	EXPECTED(node_guid),
	EXPECTED(port_guid),
	EXPECTED(description),
	EXPECTED(rate),
	EXPECTED(cap),
	EXPECTED(grace),
	EXPECTED(log_limit),
	{ CONF_ID_qos_policy_file, OTHER, has_qos, "qos is FALSE" },
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
	CC(cc_key, OTHER),
	CC(cc_key_enable, SECURITY),
	{ CONF_ID_cc_key_lease_period, SECURITY, gives_cc_keys,
	  "congestion_control is FALSE, or cc_key_enable is not 2" },
	{ CONF_ID_cc_key_protect_bit, SECURITY, gives_cc_keys,
	  "congestion_control is FALSE, or cc_key_enable is not 2" },
	CC(cc_no_throttle_sls, OTHER),
	CC(cc_profile, OTHER),
	CC(cc_sw_port_cong_setting, OTHER),
	CC(cc_log_interval, OTHER),
	CC(cc_max_outstanding_mads, OTHER),
	CC(cc_cct, OTHER),
	CC(cc_sw_cong_setting_control_map, OTHER),
	CC_SWITCH(victim_mask, victims, 1),
	CC_SWITCH(credit_mask, credits, 2),
	CC_SWITCH(threshold, threshold, 4),
	CC_SWITCH(packet_size, threshold, 4),
	CC_SWITCH(credit_starvation_threshold, starvation, 8),
	CC_SWITCH(credit_starvation_return_delay, starvation, 8),
	CC_SWITCH(marking_rate, rate, 16),
	CC(cc_ca_cong_setting_port_control, OTHER),
	CC(cc_ca_cong_setting_control_map, OTHER),
	CC_SL(ccti_timer),
	CC_SL(ccti_increase),
	CC_SL(trigger_threshold),
	CC_SL(ccti_min),
	{ CONF_ID_console_port, OTHER, has_port_console, "console is not loopback" },
	{ CONF_ID_event_plugin_options, OTHER, has_plugins, "event_plugin_name is not set" },
	{ CONF_ID_metrics_interval, OTHER, has_metrics_file, "metrics_file is not set" },
	{ CONF_ID_metrics_groups, OTHER, has_metrics,
	  "neither metrics_listen nor metrics_file is set" },
	{ CONF_ID_lfts_file, OTHER, routes_by_files, "routing_engine does not name file" },
	{ CONF_ID_lid_matrix_dump_file, OTHER, routes_by_files,
	  "routing_engine does not name file" },
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
	return (c->file_line[id] || c->given[id]) && !conf_value_is_default_path(c, id);
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
