// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters of a port, or of all ports of a node, as the performance manager read them last: values,
 * growth per second, bit error rates with the time they were watched.
 */
#include <string.h>

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

static void put_double(struct json_object *o, const char *key, double value)
{
	json_object_object_add(o, key, json_object_new_double(value));
}

static int64_t cut(uint64_t value)
{
	return (int64_t)MIN(value, (uint64_t)INT64_MAX);
}

static void put_count(struct json_object *o, const struct perf_view *v, enum port_count n)
{
	const struct port_counts *last = &v->last;
	bool known = last->interval_us && port_count_known(last, n);

	json_add_str(o, "name", count_names[n]);
	json_add_int(o, "value", cut(v->shown[n]));
	if (known)
		put_double(o, "per_second",
			   (double)last->grown[n] * MONO_S / (double)last->interval_us);
	else
		json_add_str(o, "per_second", NULL);
	json_add_bool(o, "saturated", last->saturated & 1u << n);
}

static void put_ber(struct json_object *o, const struct ber_watch *w)
{
	uint64_t errors = ber_watch_errors(w), us = ber_watch_us(w);

	json_add_int(o, "errors", cut(errors));
	json_add_int(o, "observed_seconds", cut(us / MONO_S));
	put_double(o, "ber", ber_of(errors, w->bits, us));
	put_double(o, "proven_below", errors ? 1 : ber_proven(w->bits, us));
	put_double(o, "goal", BER_WATCHED);
	json_add_int(o, "goal_seconds", cut(ber_sure_us(BER_WATCHED, w->bits) / MONO_S));
}

static void put_details(struct json_object *o, const char *key, const struct perf_view *v,
			unsigned from, unsigned to)
{
	struct json_object *reasons = json_add_object(o, key);

	for (unsigned i = from; i < to; i++)
		json_add_int(reasons, detail_names[i], v->details[i]);
}

static void put_read(struct json_object *o, const struct perf_view *v, mono_t now)
{
	struct json_object *all = json_add_array(o, "counters");

	json_add_int(o, "age_seconds", (now - v->read_at) / MONO_S);
	json_add_int(o, "interval_ms", cut(v->last.interval_us / (MONO_S / 1000)));
	json_add_int(o, "resets", v->resets);
	json_add_bool(o, "reset_last", v->last.reset);
	json_add_bool(o, "errors_of_64_bits", perf_has_wide(&v->caps));
	json_add_int(o, "bits_per_second", cut(v->bits));
	for (unsigned i = 0; i < PORT_COUNTS; i++)
		if (v->has & 1u << i)
			put_count(json_append_object(all), v, i);
	if (v->symbol.bits && ber_watch_us(&v->symbol))
		put_ber(json_add_object(o, "symbol_ber"), &v->symbol);
	if (v->effective.bits && ber_watch_us(&v->effective))
		put_ber(json_add_object(o, "effective_ber"), &v->effective);
	if (v->has_details[0])
		put_details(o, "rcv_error_reasons", v, 0, PERF_RCV_DETAILS);
	if (v->has_details[1])
		put_details(o, "discard_reasons", v, PERF_RCV_DETAILS, PERF_DETAILS);
}

static void put_port(struct json_object *list, const struct daemon_api *api, const struct node *n,
		     unsigned num)
{
	struct json_object *o = json_append_object(list);
	struct perf_view v;

	json_add_str(o, "node", node_name(n));
	json_add_guid(o, "node_guid", n->guid);
	json_add_int(o, "port", num);
	json_add_bool(o, "linked", n->ports[num].peer);
	v.read = false;
	json_add_bool(o, "read", perf_view_port(api->perf, n->guid, num, &v) && v.read);
	if (v.read)
		put_read(o, &v, daemon_api_now(api));
}

/* The node and the port (0: all) that are meant. */
static const struct node *find(const struct daemon_api *api, const char *word, unsigned *ret_port,
			       struct control_error *err)
{
	const struct node *n;
	guid_t guid;

	if (!api->sm) {
		control_fail(err, "NotReady", "%s",
			     api->status[0] ? api->status : "no port is open");
		return NULL;
	}
	if (!control_find_place(sm_fabric(api->sm), word, &guid, ret_port, err))
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
	struct json_object *o, *ports;
	const struct node *n;
	unsigned port = 0;

	n = find(api, json_str(parameters, "target"), &port, err);
	if (!n)
		return NULL;
	o = json_object_new_object();
	json_add_bool(o, "enabled", status->state == PERF_ENABLED);
	json_add_bool(o, "master", sm_state(api->sm) == SM_MASTER);
	json_add_int(o, "sweep_seconds", status->sweep_time_s);
	ports = json_add_array(o, "ports");
	for (unsigned i = port ? port : 1; i <= (port ? port : n->n_ports); i++)
		put_port(ports, api, n, i);
	return o;
}
