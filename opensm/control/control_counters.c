// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters as the performance manager read them last: of a port, or of all ports of a node, values,
 * growth per second, bit error rates with the time they were watched; of the fabric, which ports
 * between switches are the busiest.
 */
#include <math.h>
#include <stdlib.h>

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

/* ---- traffic --------------------------------------------------------------------------------- */

#define TRAFFIC_LIMIT 100
#define TRAFFIC_MOST  1000

/* A port that was read, with what it sent. */
struct busy {
	const struct port *port;
	double share;		/* part of what the link carries, 0 to 1 */
	double bits_per_second; /* as sent */
	/* ticks per second with something to send and no credit; NAN: not known */
	double waits;
};

static double per_second(const struct port_counts *c, enum port_count n)
{
	if (!c->interval_us || !port_count_known(c, n))
		return (double)NAN;
	return (double)c->grown[n] * MONO_S / (double)c->interval_us;
}

/* False: it is not between switches, or was not read twice yet. */
static bool measure(const struct daemon_api *api, const struct port *p, struct busy *ret)
{
	struct perf_view v;
	double words;

	if (!p->num || !p->peer || !node_is_switch(p->peer->node) ||
	    !perf_view_port(api->perf, p->node->guid, p->num, &v) || !v.read || !v.bits)
		return false;
	words = per_second(&v.last, PORT_COUNT_XMIT_DATA);
	if (isnan(words))
		return false;
	*ret = (struct busy){ .port = p,
			      .bits_per_second = words * 32,
			      .share = words * 32 / (double)v.bits,
			      .waits = per_second(&v.last, PORT_COUNT_XMIT_WAIT) };
	return true;
}

static int by_share(const void *va, const void *vb)
{
	const struct busy *a = va, *b = vb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	if (a->port->node->guid != b->port->node->guid)
		return a->port->node->guid < b->port->node->guid ? -1 : 1;
	return a->port->num - b->port->num;
}

/* All ports that were read, the busiest first, to be freed. */
static struct busy *busiest_of(const struct daemon_api *api, size_t *ret_n)
{
	struct busy *all = NULL;
	size_t cap = 0;

	*ret_n = 0;
	FABRIC_EACH_NODE(sm_fabric(api->sm), n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			GROW(all, *ret_n + 1, cap);
			if (measure(api, &n->ports[i], &all[*ret_n]))
				++*ret_n;
		}
	}
	if (all)
		qsort(all, *ret_n, sizeof(*all), by_share);
	return all;
}

static double mean_of(const struct busy *all, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += all[i].share;
	return n ? sum / (double)n : (double)NAN;
}

#define BUSY_FIELDS(F)                                                                             \
	F("node", STR, node_name(b->port->node))                                                   \
	F("node_guid", GUID, b->port->node->guid)                                                  \
	F("port", INT, b->port->num)                                                               \
	F("peer_node", STR, node_name(b->port->peer->node))                                        \
	F("peer_guid", GUID, b->port->peer->node->guid)                                            \
	F("peer_port", INT, b->port->peer->num)                                                    \
	F("bits_per_second", FLOAT, b->bits_per_second)                                            \
	F("share", FLOAT, b->share)                                                                \
	F("waits_per_second", OPT(FLOAT), b->waits)

static const struct json_field busy_fields[] = FIELDS_TABLE(BUSY_FIELDS);

static struct json_object *busy_of(const struct busy *b)
{
	return FIELDS_NEW(BUSY_FIELDS);
}

#define TRAFFIC_FIELDS(F)                                                                          \
	F("enabled", BOOL, status->state == PERF_ENABLED)                                          \
	F("master", BOOL, sm_state(api->sm) == SM_MASTER)                                          \
	F("sweep_seconds", INT, status->sweep_time_s)                                              \
	F("measured", INT, n)                                                                      \
	F("mean_share", OPT(FLOAT), mean_of(busy, n))                                              \
	F("ports", LIST(busy_fields), JSON_LIST(n_shown, busy_of(&busy[i])))

const struct json_field control_traffic_fields[] = FIELDS_TABLE(TRAFFIC_FIELDS);

struct json_object *control_traffic(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	struct json_object *wanted = json_object_object_get(parameters, "limit");
	int64_t limit = wanted ? json_object_get_int64(wanted) : TRAFFIC_LIMIT;
	const struct perf_status *status = perf_status(api->perf);
	_cleanup_free_ struct busy *busy = NULL;
	size_t n, n_shown;

	if (limit < 1 || limit > TRAFFIC_MOST)
		return control_fail(err, "InvalidParameter", "limit must be from 1 to %d",
				    TRAFFIC_MOST);
	if (!control_manager(api, err))
		return NULL;
	busy = busiest_of(api, &n);
	n_shown = MIN(n, (size_t)limit);
	return FIELDS_NEW(TRAFFIC_FIELDS);
}
