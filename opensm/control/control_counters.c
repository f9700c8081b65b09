// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters of a port, or of all ports of a node, as the performance manager read them last: values,
 * growth per second, bit error rates with the time they were watched.
 */
#include <math.h>

#include "control/control_smp.h"
#include "fabric/words.h"
#include "util/mem.h"

static const char *const count_names[PORT_COUNTS] = {
	[PORT_COUNT_SYMBOL_ERRORS] = "symbol_errors",
	[PORT_COUNT_LINK_RECOVERIES] = "link_recoveries",
	[PORT_COUNT_LINK_DOWNED] = "link_downed",
	[PORT_COUNT_RCV_ERRORS] = "rcv_errors",
	[PORT_COUNT_RCV_REMOTE_PHYSICAL] = "rcv_remote_errors",
	[PORT_COUNT_XMIT_DISCARDS] = "xmit_discards",
	[PORT_COUNT_XMIT_WAIT] = "xmit_wait",
	[PORT_COUNT_XMIT_DATA] = "xmit_data",
	[PORT_COUNT_RCV_DATA] = "rcv_data",
	[PORT_COUNT_XMIT_PKTS] = "xmit_packets",
	[PORT_COUNT_RCV_PKTS] = "rcv_packets",
	[PORT_COUNT_FEC_CORRECTED] = "fec_corrected",
	[PORT_COUNT_FEC_UNCORRECTABLE] = "fec_uncorrectable",
};

/* In the order of PortRcvErrorDetails and PortXmitDiscardDetails. */
static const char *const detail_names[PERF_DETAILS] = {
	"local_physical", "malformed", "buffer_overrun", "dlid_mapping", "vl_mapping",
	"looping",	  "inactive",  "neighbor_mtu",	 "lifetime",	 "hoq_lifetime",
};

static int64_t cut(uint64_t value)
{
	return (int64_t)MIN(value, (uint64_t)INT64_MAX);
}

#define COUNT_FIELDS(F)                                                                            \
	F("name", STR, count_names[n])                                                             \
	F("value", INT, cut(v->shown[n]))                                                          \
	F("per_second", OPT(FLOAT),                                                                \
	  known ? (double)last->grown[n] * MONO_S / (double)last->interval_us : (double)NAN)       \
	F("saturated", BOOL, last->saturated & 1u << n)

static const struct json_field count_fields[] = FIELDS_TABLE(COUNT_FIELDS);

static struct json_object *counts_of(const struct perf_view *v)
{
	struct json_object *list = json_object_new_array();
	const struct port_counts *last = &v->last;

	for (enum port_count n = 0; n < PORT_COUNTS; n++) {
		bool known = last->interval_us && port_count_known(last, n);

		if (v->has & 1u << n)
			json_object_array_add(list, FIELDS_NEW(COUNT_FIELDS));
	}
	return list;
}

#define BER_FIELDS(F)                                                                              \
	F("errors", INT, cut(errors))                                                              \
	F("observed_seconds", INT, cut(us / MONO_S))                                               \
	F("ber", OPT(FLOAT), ber_of(errors, w->bits, us))                                          \
	F("proven_below", FLOAT, errors ? 1 : ber_proven(w->bits, us))                             \
	F("goal", FLOAT, BER_WATCHED)                                                              \
	F("goal_seconds", INT, cut(ber_sure_us(BER_WATCHED, w->bits) / MONO_S))

static const struct json_field ber_fields[] = FIELDS_TABLE(BER_FIELDS);

static struct json_object *ber_json(const struct ber_watch *w)
{
	uint64_t errors = ber_watch_errors(w), us = ber_watch_us(w);

	return FIELDS_NEW(BER_FIELDS);
}

static bool is_watched(const struct ber_watch *w)
{
	return w->bits && ber_watch_us(w);
}

static struct json_object *details_of(const struct perf_view *v, unsigned from, unsigned to)
{
	struct json_object *reasons = json_object_new_object();

	for (unsigned i = from; i < to; i++)
		json_add_int(reasons, detail_names[i], v->details[i]);
	return reasons;
}

#define PORT_FIELDS(F)                                                                             \
	F("node", STR, node_name(n))                                                               \
	F("node_guid", GUID, n->guid)                                                              \
	F("port", INT, num)                                                                        \
	F("linked", BOOL, n->ports[num].peer)                                                      \
	F("read", BOOL, v->read)
#define READ_FIELDS(F)                                                                             \
	F("counters", OPT_LIST(count_fields), counts_of(v))                                        \
	F("age_seconds", OPT(INT), (daemon_api_now(api) - v->read_at) / MONO_S)                    \
	F("interval_ms", OPT(INT), cut(v->last.interval_us / (MONO_S / 1000)))                     \
	F("resets", OPT(INT), v->resets)                                                           \
	F("reset_last", OPT(BOOL), v->last.reset)                                                  \
	F("errors_of_64_bits", OPT(BOOL), perf_has_wide(&v->caps))                                 \
	F("bits_per_second", OPT(INT), cut(v->bits))                                               \
	F("symbol_ber", IF(is_watched(&v->symbol), OPT_OBJECT(ber_fields)), ber_json(&v->symbol))  \
	F("effective_ber", IF(is_watched(&v->effective), OPT_OBJECT(ber_fields)),                  \
	  ber_json(&v->effective))                                                                 \
	F("rcv_error_reasons", IF(v->has_details[0], OF("?[string]int")),                          \
	  details_of(v, 0, PERF_RCV_DETAILS))                                                      \
	F("discard_reasons", IF(v->has_details[1], OF("?[string]int")),                            \
	  details_of(v, PERF_RCV_DETAILS, PERF_DETAILS))

static const struct json_field port_fields[] = { PORT_FIELDS(FIELD_ROW)
							 READ_FIELDS(FIELD_ROW){ 0 } };

static struct json_object *port_of(const struct daemon_api *api, const struct node *n, unsigned num)
{
	struct perf_view view = { 0 }, *v = &view;
	struct json_object *o;

	v->read = perf_view_port(api->perf, n->guid, num, v) && v->read;
	o = FIELDS_NEW(PORT_FIELDS);
	if (v->read)
		FIELDS_PUT(READ_FIELDS);
	return o;
}

#define COUNTERS_FIELDS(F)                                                                         \
	F("enabled", BOOL, status->state == PERF_ENABLED)                                          \
	F("master", BOOL, sm_state(api->sm) == SM_MASTER)                                          \
	F("sweep_seconds", INT, status->sweep_time_s)                                              \
	F("ports", LIST(port_fields),                                                              \
	  JSON_LIST(port ? 1 : n->n_ports, port_of(api, n, port ? port : i + 1)))

const struct json_field control_counters_fields[] = FIELDS_TABLE(COUNTERS_FIELDS);

/* The node and the port (0: all) that are meant. */
static const struct node *find(const struct daemon_api *api, const char *word, unsigned *ret_port,
			       struct control_error *err)
{
	const struct node *n;
	guid_t guid;

	if (!control_manager(api, err) ||
	    !control_find_place(sm_fabric(api->sm), word, &guid, ret_port, err))
		return NULL;
	n = fabric_find_node(sm_fabric(api->sm), guid);
	if (n && *ret_port <= n->n_ports)
		return n;
	control_fail(err, "NotFound", "there is no port '%.100s' in the fabric", word);
	return NULL;
}

struct json_object *control_counters(const struct daemon_api *api, struct json_object *parameters,
				     struct control_error *err)
{
	const struct perf_status *status = perf_status(api->perf);
	unsigned port = 0;
	const struct node *n = find(api, json_str(parameters, "target"), &port, err);

	return n ? FIELDS_NEW(COUNTERS_FIELDS) : NULL;
}
