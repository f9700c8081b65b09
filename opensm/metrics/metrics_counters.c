// SPDX-License-Identifier: BSD-2-Clause
/*
 * Port counters, while the performance manager reads them: totals since it began, or since they
 * were cleared. Port by port they have the names of infiniband_exporter; their sums for each switch
 * are what a scrape has by default, as they are fifty times fewer.
 */
#include <stdio.h>
#include <string.h>

#include "metrics/metrics_internal.h"
#include "util/mem.h"

/* ---- names ---------------------------------------------------------------------------------- */

/* Ends of names, behind "infiniband_switch_port_" and "infiniband_hca_port_". */
static const struct counter_name {
	const char *name, *help;
} error_names[PERF_ERRORS] = {
	[PERF_SYMBOL] = { "symbol_error_total", "SymbolErrorCounter" },
	[PERF_LINK_RECOVER] = { "link_error_recovery_total", "LinkErrorRecoveryCounter" },
	[PERF_LINK_DOWNED] = { "link_downed_total", "LinkDownedCounter" },
	[PERF_RCV] = { "receive_errors_total", "PortRcvErrors" },
	[PERF_RCV_REM_PHYS] = { "receive_remote_physical_errors_total",
				"PortRcvRemotePhysicalErrors" },
	[PERF_RCV_SWITCH_RELAY] = { "receive_switch_relay_errors_total",
				    "PortRcvSwitchRelayErrors" },
	[PERF_XMIT_DISCARDS] = { "transmit_discards_total", "PortXmitDiscards" },
	[PERF_XMIT_CONSTRAINT] = { "transmit_constraint_errors_total", "PortXmitConstraintErrors" },
	[PERF_RCV_CONSTRAINT] = { "receive_constraint_errors_total", "PortRcvConstraintErrors" },
	[PERF_LINK_INTEGRITY] = { "local_link_integrity_errors_total", "LocalLinkIntegrityErrors" },
	[PERF_BUFFER_OVERRUN] = { "excessive_buffer_overrun_errors_total",
				  "ExcessiveBufferOverrunErrors" },
	[PERF_VL15_DROPPED] = { "vl15_dropped_total", "VL15Dropped" },
	[PERF_XMIT_WAIT] = { "transmit_wait_total", "PortXmitWait" },
}, data_names[PERF_DATA] = {
	[PERF_XMIT_DATA] = { "transmit_data_bytes_total", "PortXmitData, in bytes" },
	[PERF_RCV_DATA] = { "receive_data_bytes_total", "PortRcvData, in bytes" },
	[PERF_XMIT_PKTS] = { "transmit_packets_total", "PortXmitPkts" },
	[PERF_RCV_PKTS] = { "receive_packets_total", "PortRcvPkts" },
	[PERF_UNICAST_XMIT_PKTS] = { "unicast_transmit_packets_total", "PortUnicastXmitPkts" },
	[PERF_UNICAST_RCV_PKTS] = { "unicast_receive_packets_total", "PortUnicastRcvPkts" },
	[PERF_MULTICAST_XMIT_PKTS] = { "multicast_transmit_packets_total",
				       "PortMulticastXmitPkts" },
	[PERF_MULTICAST_RCV_PKTS] = { "multicast_receive_packets_total", "PortMulticastRcvPkts" },
};

/* PortXmitWait is no error: it belongs to the traffic. */
static enum metrics_group group_of(enum perf_error e)
{
	return e == PERF_XMIT_WAIT ? METRICS_PORT_TRAFFIC : METRICS_PORT_ERRORS;
}

/* Data is in units of four bytes (16.1.3.5). */
static uint64_t unit_of(enum perf_data d)
{
	return d == PERF_XMIT_DATA || d == PERF_RCV_DATA ? 4 : 1;
}

/*
 * Sums of counters of all ports of a switch. Without PortRcvSwitchRelayErrors: switches count
 * packets of multicast there that came back to where they came from.
 */
static const struct sum_name {
	const char *name, *help;
	uint32_t errors, data; /* counters that are added, a bit each */
} sum_names[] = {
	{ "opensm_switch_transmit_data_bytes_total", "PortXmitData of all ports, in bytes",
	  .data = 1u << PERF_XMIT_DATA },
	{ "opensm_switch_receive_data_bytes_total", "PortRcvData of all ports, in bytes",
	  .data = 1u << PERF_RCV_DATA },
	{ "opensm_switch_transmit_wait_total", "PortXmitWait of all ports",
	  .errors = 1u << PERF_XMIT_WAIT },
	{ "opensm_switch_transmit_discards_total", "PortXmitDiscards of all ports",
	  .errors = 1u << PERF_XMIT_DISCARDS },
	{ "opensm_switch_link_downed_total", "LinkDownedCounter of all ports",
	  .errors = 1u << PERF_LINK_DOWNED },
	{ "opensm_switch_symbol_errors_total", "SymbolErrorCounter of all ports",
	  .errors = 1u << PERF_SYMBOL },
	{ "opensm_switch_other_errors_total",
	  "All other error counters of all ports, without PortRcvSwitchRelayErrors",
	  .errors = 1u << PERF_LINK_RECOVER | 1u << PERF_RCV | 1u << PERF_RCV_REM_PHYS |
		    1u << PERF_XMIT_CONSTRAINT | 1u << PERF_RCV_CONSTRAINT |
		    1u << PERF_LINK_INTEGRITY | 1u << PERF_BUFFER_OVERRUN |
		    1u << PERF_VL15_DROPPED },
};

/* ---- taking --------------------------------------------------------------------------------- */

struct metrics_counters {
	guid_t guid; /* of switches the node GUID, of hosts the port GUID */
	uint8_t port;
	bool is_switch;
	struct perf_port total;
};

struct metrics_sums {
	guid_t guid;
	uint64_t of[ARRAY_SIZE(sum_names)];
};

static uint64_t sum_of(const struct sum_name *s, const struct perf_port *p)
{
	uint64_t sum = 0;

	for (unsigned e = 0; e < PERF_ERRORS; e++)
		if (s->errors & 1u << e)
			sum += p->errors[e];
	for (unsigned d = 0; d < PERF_DATA; d++)
		if (s->data & 1u << d)
			sum += p->data[d] * unit_of(d);
	return sum;
}

static void take_sums(struct metrics *m, const struct node *n, const struct perf_node *counted)
{
	struct metrics_sums sums = { .guid = n->guid };

	for (unsigned i = 1; i <= counted->n_ports && i <= n->n_ports; i++)
		for (size_t k = 0; k < ARRAY_SIZE(sum_names) && counted->ports[i].valid; k++)
			sums.of[k] += sum_of(&sum_names[k], &counted->ports[i]);
	GROW(m->sums, m->n_sums + 1, m->sums_cap);
	m->sums[m->n_sums++] = sums;
}

static void take_ports(struct metrics *m, const struct node *n, const struct perf_node *counted)
{
	for (unsigned i = 1; i <= counted->n_ports && i <= n->n_ports; i++) {
		guid_t guid = node_is_switch(n) ? n->guid : n->ports[i].guid;

		if (!counted->ports[i].valid || !guid)
			continue;
		GROW(m->counters, m->n_counters + 1, m->counters_cap);
		m->counters[m->n_counters++] = (struct metrics_counters){
			.guid = guid,
			.port = (uint8_t)i,
			.is_switch = node_is_switch(n),
			.total = counted->ports[i],
		};
	}
}

void metrics_take_node(struct metrics *m, const struct node *n, const struct perf_node *counted)
{
	if (m->groups & METRICS_BIT(METRICS_SWITCHES) && node_is_switch(n) && n->guid)
		take_sums(m, n, counted);
	if (m->groups & (METRICS_BIT(METRICS_PORT_ERRORS) | METRICS_BIT(METRICS_PORT_TRAFFIC)))
		take_ports(m, n, counted);
}

void metrics_take_counters(struct metrics *m, const struct daemon_api *api)
{
	const struct perf_node *counted;

	if (!api->perf)
		return;
	m->perf = *perf_status(api->perf);
	if (m->perf.state != PERF_ENABLED || m->state != SM_MASTER)
		return;
	for (unsigned i = 0; (counted = perf_node_at(api->perf, i)); i++) {
		const struct node *n = fabric_find_node(sm_fabric(api->sm), counted->guid);

		if (n)
			metrics_take_node(m, n, counted);
	}
}

/* ---- rendering ------------------------------------------------------------------------------ */

static void begin_family(struct metrics_text *t, bool switches, const struct counter_name *c)
{
	char name[100];

	snprintf(name, sizeof(name), "infiniband_%s_port_%s", switches ? "switch" : "hca", c->name);
	metric_family(t, name, METRIC_COUNTER, c->help);
}

static void put_one(struct metrics_text *t, const struct metrics_counters *c, uint64_t n)
{
	metric_sample(t, "");
	metric_label_guid(t, "guid", c->guid);
	metric_label_number(t, "port", c->port);
	metric_count(t, n);
}

static void render_error(const struct metrics *m, struct metrics_text *t, bool switches,
			 enum perf_error e)
{
	begin_family(t, switches, &error_names[e]);
	for (size_t i = 0; i < m->n_counters; i++) {
		if (m->counters[i].is_switch == switches)
			put_one(t, &m->counters[i], m->counters[i].total.errors[e]);
	}
}

/* Packets by kind need counters of 64 bits. */
static void render_data(const struct metrics *m, struct metrics_text *t, bool switches,
			enum perf_data d)
{
	begin_family(t, switches, &data_names[d]);
	for (size_t i = 0; i < m->n_counters; i++) {
		const struct metrics_counters *c = &m->counters[i];

		if (c->is_switch == switches && (c->total.extended || d < PERF_UNICAST_XMIT_PKTS))
			put_one(t, c, c->total.data[d] * unit_of(d));
	}
}

static void render_errors(const struct metrics *m, struct metrics_text *t, bool switches,
			  enum metrics_group group)
{
	for (unsigned e = 0; e < PERF_ERRORS; e++)
		if (group_of(e) == group)
			render_error(m, t, switches, e);
}

void metrics_port_errors(const struct metrics *m, struct metrics_text *t)
{
	for (unsigned switches = 0; switches < 2 && m->n_counters; switches++)
		render_errors(m, t, switches, METRICS_PORT_ERRORS);
}

void metrics_port_traffic(const struct metrics *m, struct metrics_text *t)
{
	for (unsigned switches = 0; switches < 2 && m->n_counters; switches++) {
		for (unsigned d = 0; d < PERF_DATA; d++)
			render_data(m, t, switches, d);
		render_errors(m, t, switches, METRICS_PORT_TRAFFIC);
	}
}

void metrics_sums(const struct metrics *m, struct metrics_text *t)
{
	for (size_t k = 0; k < ARRAY_SIZE(sum_names) && m->n_sums; k++) {
		metric_family(t, sum_names[k].name, METRIC_COUNTER, sum_names[k].help);
		for (size_t i = 0; i < m->n_sums; i++) {
			metric_sample(t, "");
			metric_label_guid(t, "guid", m->sums[i].guid);
			metric_count(t, m->sums[i].of[k]);
		}
	}
}

void metrics_perf(const struct metrics *m, struct metrics_text *t)
{
	metric_gauge(t, "opensm_perfmgr_enabled", "Port counters are read at intervals",
		     m->perf.state == PERF_ENABLED);
	metric_counter(t, "opensm_perfmgr_sweeps_total", "Readings of all port counters",
		       m->perf.sweeps);
	metric_counter(t, "opensm_perfmgr_queries_total", "Questions about port counters",
		       (double)m->perf.queries);
	metric_counter(t, "opensm_perfmgr_unanswered_total", "Of these: without an answer",
		       (double)m->perf.unanswered);
	metric_gauge(t, "opensm_perfmgr_sweep_seconds", "How long the last reading took",
		     m->perf.last_ms / 1000.0);
}
