// SPDX-License-Identifier: BSD-2-Clause
/* Congestion control as a document: how far devices are set up, and which flows switches mark. */
#include "control/control_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/words.h"
#include "util/mem.h"

#define PORTS_MAX 2000 /* in one answer */

static const char *const state_names[CC_STATES] = {
	[CC_QUEUED] = "waiting",
	[CC_ASKED] = "asked",
	[CC_SETTLED] = "settled",
	[CC_SILENT] = "silent",
	[CC_UNSUPPORTED] = "unsupported",
};

/* The port of a LID. */
#define END_FIELDS(F)                                                                              \
	F("name", IF(p, STR), node_name(p->node))                                                  \
	F("port_guid", IF(end, OPT(GUID)), end->guid)                                              \
	F("lid", INT, lid)

static const struct json_field end_fields[] = FIELDS_TABLE(END_FIELDS);

static void put_end(struct json_object *o, const struct daemon_api *api, lid_t lid)
{
	const struct cc_port *end = cc_port_of_lid(api->cc, lid);
	const struct port *p = end ? fabric_find_port(sm_fabric(api->sm), end->guid) : NULL;

	FIELDS_PUT(END_FIELDS);
}

static struct json_object *end_of(const struct daemon_api *api, lid_t lid)
{
	struct json_object *o = json_object_new_object();

	put_end(o, api, lid);
	return o;
}

/* The port of the switch that leads to `to`, if it marked; 0: unknown. */
static unsigned marking_port(const struct daemon_api *api, const struct cc_port *p, lid_t to)
{
	const struct port *zero = fabric_find_port(sm_fabric(api->sm), p->guid);
	const uint8_t *block = zero ? lft_have_block(&zero->node->lft, to / 64) : NULL;
	unsigned num = block ? block[to % 64] : 0;

	return p->marked[num / 8] >> num % 8 & 1 ? num : 0;
}

#define FLOW_FIELDS(F)                                                                             \
	F("from", OBJECT(end_fields), end_of(api, flow->from))                                     \
	F("to", OBJECT(end_fields), end_of(api, flow->to))                                         \
	F("sl", INT, flow->sl)                                                                     \
	F("events", INT, flow->events)                                                             \
	F("port", IF(num, INT), num)

static const struct json_field flow_fields[] = FIELDS_TABLE(FLOW_FIELDS);

static struct json_object *flow_of(const struct daemon_api *api, const struct cc_port *p,
				   unsigned i)
{
	typeof(&p->flows[0]) flow = &p->flows[i];
	unsigned num = p->is_switch ? marking_port(api, p, flow->to) : 0;

	return FIELDS_NEW(FLOW_FIELDS);
}

/* PortXmitWait where the performance manager has counted it; NULL: it has not. */
static const struct perf_node *waits_of(const struct daemon_api *api, const struct cc_port *p,
					unsigned num)
{
	const struct port *port = fabric_find_port(sm_fabric(api->sm), p->guid);
	const struct perf_node *n =
		port && api->perf ? perf_node_find(api->perf, port->node->guid, NULL) : NULL;

	return n && num <= n->n_ports && n->ports[num].valid ? n : NULL;
}

#define MARKED_FIELDS(F)                                                                           \
	F("port", INT, num)                                                                        \
	F("xmit_wait", IF(n, INT), n->ports[num].errors[PERF_XMIT_WAIT])

static const struct json_field marked_fields[] = FIELDS_TABLE(MARKED_FIELDS);

static struct json_object *marked_of(const struct daemon_api *api, const struct cc_port *p)
{
	struct json_object *ports = json_object_new_array();

	for (unsigned num = 0; num < 255; num++) {
		const struct perf_node *n;

		if (!(p->marked[num / 8] >> num % 8 & 1))
			continue;
		n = waits_of(api, p, num);
		json_object_array_add(ports, FIELDS_NEW(MARKED_FIELDS));
	}
	return ports;
}

#define PORT_FIELDS(F)                                                                             \
	F("type", STR, ib_node_row(p->is_switch ? IB_NODE_SWITCH : IB_NODE_CA)->word)              \
	F("state", STR, state_names[p->state])                                                     \
	F("rounded", INT, p->rounded)                                                              \
	F("refused", INT, p->refused)                                                              \
	F("table_cut", BOOL, p->cut)                                                               \
	F("key_violations", INT, p->key_violations)                                                \
	F("marks", INT, p->marks)                                                                  \
	F("marked_ports", IF(p->is_switch, LIST(marked_fields)), marked_of(api, p))                \
	F("flows", LIST(flow_fields), JSON_LIST(p->n_flows, flow_of(api, p, i)))                   \
	F("seconds_ago", IF(p->n_flows, INT), (daemon_api_now(api) - p->flows_at) / MONO_S)

static const struct json_field port_fields[] = { END_FIELDS(FIELD_ROW)
							 PORT_FIELDS(FIELD_ROW){ 0 } };

static void put_port(struct json_object *o, const struct daemon_api *api, const struct cc_port *p)
{
	put_end(o, api, p->lid);
	FIELDS_PUT(PORT_FIELDS);
}

/* Is there something to say of it? */
static bool is_shown(const struct cc_port *p)
{
	return p->state != CC_SETTLED || p->rounded || p->refused || p->cut || p->key_violations ||
	       p->marks;
}

#define STATUS_FIELDS(F)                                                                           \
	F("on", BOOL, st.on)                                                                       \
	F("waiting", INT, st.ports[CC_QUEUED])                                                     \
	F("asked", INT, st.ports[CC_ASKED])                                                        \
	F("settled", INT, st.ports[CC_SETTLED])                                                    \
	F("silent", INT, st.ports[CC_SILENT])                                                      \
	F("unsupported", INT, st.ports[CC_UNSUPPORTED])                                            \
	F("rounded", INT, st.rounded)                                                              \
	F("refused", INT, st.refused)                                                              \
	F("table_cut", INT, st.cut)                                                                \
	F("with_key", INT, st.with_key)                                                            \
	F("key_violations", INT, st.violations)                                                    \
	F("marks", INT, st.marks)                                                                  \
	F("gets", INT, st.n_gets)                                                                  \
	F("sets", INT, st.n_sets)                                                                  \
	F("timeouts", INT, st.timeouts)

#define RATE_FIELDS(F)                                                                             \
	F("gbps", FLOAT, r->rate / 10.0)                                                           \
	F("hosts", INT, r->hosts)                                                                  \
	F("switch_ports", INT, r->switch_ports)                                                    \
	F("threshold", INT, r->threshold)                                                          \
	F("packet_size", INT, r->packet_size)                                                      \
	F("marking_rate", INT, r->marking_rate)                                                    \
	F("timer", INT, r->timer)                                                                  \
	F("increase", INT, r->increase)

static const struct json_field rate_fields[] = FIELDS_TABLE(RATE_FIELDS);

static struct json_object *sls_of(unsigned sls)
{
	struct json_object *list = json_object_new_array();

	for (int sl = 0; sl < 16; sl++)
		if (sls >> sl & 1)
			json_object_array_add(list, json_object_new_int(sl));
	return list;
}

/* The profile in force, and its values for the present links. */
#define PROFILE_FIELDS(F)                                                                          \
	F("profile", OPT(STR), slow.profile)                                                       \
	F("table_entries", OPT(INT), slow.entries)                                                 \
	F("longest_delay", OPT(INT), slow.longest)                                                 \
	F("incast", KNOWN, slow.incast, slow.incast)                                               \
	F("port_settings", OPT(STR), slow.port_settings)                                           \
	F("spared_sls", OF("?[]int"), sls_of(slow.spared_sls))                                     \
	F("rates", OPT_LIST(rate_fields),                                                          \
	  JSON_LIST_OF(const struct cc_rate *r, i < n && (r = &rates[i]),                          \
		       FIELDS_ITEM(RATE_FIELDS)))

static void put_profile(struct json_object *o, const struct cc *cc)
{
	struct cc_rate rates[CC_RATES];
	unsigned n = cc_rates(cc, rates);
	struct cc_slow_down slow;

	cc_slow_down(cc, &slow);
	FIELDS_PUT(PROFILE_FIELDS);
	free(slow.port_settings);
}

static struct json_object *ports_of(const struct daemon_api *api, unsigned *ret_shown)
{
	struct json_object *list = json_object_new_array();
	const struct cc_port *p;

	for (unsigned i = 0; (p = cc_port_at(api->cc, i)); i++) {
		if (is_shown(p) && (*ret_shown)++ < PORTS_MAX)
			put_port(json_append_object(list), api, p);
	}
	return list;
}

#define PORTS_FIELDS(F)                                                                            \
	F("ports", LIST(port_fields), ports_of(api, &shown))                                       \
	F("hidden", INT, shown - MIN(shown, (unsigned)PORTS_MAX))

const struct json_field control_congestion_fields[] = { STATUS_FIELDS(FIELD_ROW) PROFILE_FIELDS(
	FIELD_ROW) PORTS_FIELDS(FIELD_ROW){ 0 } };

struct json_object *control_congestion(const struct daemon_api *api, struct json_object *parameters,
				       struct control_error *err)
{
	struct json_object *o;
	struct cc_status st;
	unsigned shown = 0;

	if (!api->sm || !api->cc || sm_state(api->sm) != SM_MASTER)
		return control_fail(err, "NotReady", "only the master knows");
	cc_status(api->cc, &st);
	o = FIELDS_NEW(STATUS_FIELDS);
	if (st.on)
		put_profile(o, api->cc);
	FIELDS_PUT(PORTS_FIELDS);
	return o;
}
