// SPDX-License-Identifier: BSD-2-Clause
/* Congestion control as a document: how far devices are set up, and which flows switches mark. */
#include "control/control_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/mem.h"

#define PORTS_MAX 2000 /* in one answer */

static const char *const state_names[CC_STATES] = {
	[CC_QUEUED] = "waiting",
	[CC_ASKED] = "asked",
	[CC_SETTLED] = "settled",
	[CC_SILENT] = "silent",
	[CC_UNSUPPORTED] = "unsupported",
};

/* The port of a LID: "port" (name), "port_guid" and "lid". */
static void put_end(struct json_object *o, const struct daemon_api *api, lid_t lid)
{
	const struct cc_port *end = cc_port_of_lid(api->cc, lid);
	const struct port *p = end ? fabric_find_port(sm_fabric(api->sm), end->guid) : NULL;

	if (p)
		json_add_str(o, "name", p->node->alias ? p->node->alias : p->node->desc);
	if (end)
		json_add_guid(o, "port_guid", end->guid);
	json_add_int(o, "lid", lid);
}

/* The port of the switch that leads to `to`, if it marked; 0: unknown. */
static unsigned marking_port(const struct daemon_api *api, const struct cc_port *p, lid_t to)
{
	const struct port *zero = fabric_find_port(sm_fabric(api->sm), p->guid);
	const uint8_t *block = zero ? lft_have_block(&zero->node->lft, to / 64) : NULL;
	unsigned num = block ? block[to % 64] : 0;

	return p->marked[num / 8] >> num % 8 & 1 ? num : 0;
}

static void put_flows(struct json_object *o, const struct daemon_api *api, const struct cc_port *p)
{
	struct json_object *flows = json_add_array(o, "flows");

	if (p->n_flows)
		json_add_int(o, "seconds_ago", (daemon_api_now(api) - p->flows_at) / MONO_S);

	for (unsigned i = 0; i < p->n_flows; i++) {
		struct json_object *flow = json_append_object(flows);
		unsigned num;

		put_end(json_add_object(flow, "from"), api, p->flows[i].from);
		put_end(json_add_object(flow, "to"), api, p->flows[i].to);
		json_add_int(flow, "sl", p->flows[i].sl);
		json_add_int(flow, "events", p->flows[i].events);
		num = p->is_switch ? marking_port(api, p, p->flows[i].to) : 0;
		if (num)
			json_add_int(flow, "port", num);
	}
}

/* PortXmitWait where the performance manager has counted it. */
static void put_waits(struct json_object *o, const struct daemon_api *api, const struct cc_port *p,
		      unsigned num)
{
	const struct port *port = fabric_find_port(sm_fabric(api->sm), p->guid);
	const struct perf_node *n =
		port && api->perf ? perf_node_find(api->perf, port->node->guid, NULL) : NULL;

	if (n && num <= n->n_ports && n->ports[num].valid)
		json_add_int(o, "xmit_wait", (int64_t)n->ports[num].errors[PERF_XMIT_WAIT]);
}

static void put_marked(struct json_object *o, const struct daemon_api *api, const struct cc_port *p)
{
	struct json_object *ports = json_add_array(o, "marked_ports");

	for (unsigned num = 0; num < 255; num++) {
		struct json_object *one;

		if (!(p->marked[num / 8] >> num % 8 & 1))
			continue;
		one = json_append_object(ports);
		json_add_int(one, "port", num);
		put_waits(one, api, p, num);
	}
}

static void put_port(struct json_object *o, const struct daemon_api *api, const struct cc_port *p)
{
	put_end(o, api, p->lid);
	json_add_str(o, "type", p->is_switch ? "switch" : "host");
	json_add_str(o, "state", state_names[p->state]);
	json_add_int(o, "rounded", p->rounded);
	json_add_int(o, "refused", p->refused);
	json_add_bool(o, "table_cut", p->cut);
	json_add_int(o, "key_violations", p->key_violations);
	json_add_int(o, "marks", (int64_t)p->marks);
	if (p->is_switch)
		put_marked(o, api, p);
	put_flows(o, api, p);
}

/* Is there something to say of it? */
static bool is_shown(const struct cc_port *p)
{
	return p->state != CC_SETTLED || p->rounded || p->refused || p->cut || p->key_violations ||
	       p->marks;
}

static void put_status(struct json_object *o, const struct cc_status *st)
{
	json_add_bool(o, "on", st->on);
	for (unsigned i = 0; i < CC_STATES; i++)
		json_add_int(o, state_names[i], st->ports[i]);
	json_add_int(o, "rounded", st->rounded);
	json_add_int(o, "refused", st->refused);
	json_add_int(o, "table_cut", st->cut);
	json_add_int(o, "with_key", st->with_key);
	json_add_int(o, "key_violations", (int64_t)st->violations);
	json_add_int(o, "marks", (int64_t)st->marks);
	json_add_int(o, "gets", (int64_t)st->n_gets);
	json_add_int(o, "sets", (int64_t)st->n_sets);
	json_add_int(o, "timeouts", (int64_t)st->timeouts);
}

static void put_rate(struct json_object *o, const struct cc_rate *r)
{
	json_object_object_add(o, "gbps", json_object_new_double(r->rate / 10.0));
	json_add_int(o, "hosts", r->hosts);
	json_add_int(o, "switch_ports", r->switch_ports);
	json_add_int(o, "threshold", r->threshold);
	json_add_int(o, "packet_size", r->packet_size);
	json_add_int(o, "marking_rate", r->marking_rate);
	json_add_int(o, "timer", r->timer);
	json_add_int(o, "increase", r->increase);
}

/* The profile in force, and what it comes to for the links that there are. */
static void put_numbers(struct json_object *o, const struct cc *cc)
{
	struct json_object *rates, *spared;
	struct cc_rate all[CC_RATES];
	struct cc_slow_down slow;
	unsigned n = cc_rates(cc, all);

	cc_slow_down(cc, &slow);
	json_add_str(o, "profile", slow.profile);
	json_add_int(o, "table_entries", slow.entries);
	json_add_int(o, "longest_delay", slow.longest);
	json_add_known(o, "incast", slow.incast, slow.incast);
	json_add_str(o, "port_settings", slow.port_settings);
	free(slow.port_settings);
	spared = json_add_array(o, "spared_sls");
	for (int sl = 0; sl < 16; sl++)
		if (slow.spared_sls >> sl & 1)
			json_object_array_add(spared, json_object_new_int(sl));
	rates = json_add_array(o, "rates");
	for (unsigned i = 0; i < n; i++)
		put_rate(json_append_object(rates), &all[i]);
}

struct json_object *control_congestion(const struct daemon_api *api, struct json_object *parameters,
				       struct control_error *err)
{
	struct json_object *o, *ports;
	const struct cc_port *p;
	struct cc_status st;
	unsigned shown = 0;

	if (!api->sm || !api->cc || sm_state(api->sm) != SM_MASTER)
		return control_fail(err, "NotReady", "only the master knows");
	o = json_object_new_object();
	cc_status(api->cc, &st);
	put_status(o, &st);
	if (st.on)
		put_numbers(o, api->cc);
	ports = json_add_array(o, "ports");
	for (unsigned i = 0; (p = cc_port_at(api->cc, i)); i++) {
		if (is_shown(p) && shown++ < PORTS_MAX)
			put_port(json_append_object(ports), api, p);
	}
	json_add_int(o, "hidden", shown - MIN(shown, (unsigned)PORTS_MAX));
	return o;
}
