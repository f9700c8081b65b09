// SPDX-License-Identifier: BSD-2-Clause
/*
 * Path: why one port reaches another as it does, as hosts are told (sa.md 4): hop by hop the ports
 * and what else would have been as short, the P_Key, the service level, the MTU and the rate with
 * the link that bounds them. Where there is no path: every reason that stands against it.
 *
 * Works on the view that subnet administration answers from, so that it says what a PathRecord
 * says.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ib/codes.h"
#include "plan/link.h"
#include "plan/pkey.h"
#include "route/proof/disjoint.h"
#include "show/show_internal.h"
#include "sm/base/alarm_kinds.h"
#include "util/mem.h"
#include "view/lid_hops.h"
#include "view/path_walk.h"
#include "view/view_policy.h"

struct side {
	const struct view_port *port;
	uint32_t at; /* in the view; VIEW_NONE: subnet administration does not know it */
	lid_t lid;
};

/* Ports passed, two by two: left through, entered by. Port 0 at the end is one, too. */
struct way {
	uint32_t out[PATH_SWITCHES_MAX + 1], in[PATH_SWITCHES_MAX + 1];
	unsigned n; /* links */
	bool arrived;
};

struct question {
	const struct show *s;
	const struct view *v;
	struct side from, to;
	struct way way;
	struct qos_request rq;	       /* request that the host would send */
	const struct qos_level *level; /* level of the QoS policy; NULL: there is none */
	/* Members of the answer, which takes them; NULL, except of the first: it has none. */
	struct json_object *why_not, *policy, *partition, *sl, *shared, *limited, *hops, *disjoint;
	struct json_object *mtu, *rate;
};

static void object_to(struct question *q, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void object_to(struct question *q, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_append_str(q->why_not, text);
}

static const struct view_node *node_at(const struct question *q, uint32_t port)
{
	return view_find_node(q->s->view, q->v->nodes[q->v->ports[port].node].guid);
}

/* The view may have a node that has left meanwhile. */
static const char *name_at(const struct question *q, uint32_t port)
{
	const struct view_node *n = node_at(q, port);

	return n ? show_name(q->s, n) : q->v->nodes[q->v->ports[port].node].desc;
}

/* ---- the ends ------------------------------------------------------------------------------- */

static bool find_side(const struct show *s, unsigned which, struct side *ret,
		      struct control_error *err)
{
	uint64_t lid;

	if (!show_find_end(s, s->word[which], &ret->port, err))
		return false;
	ret->lid = ret->port->lid;
	if (show_number(s->word[which], LID_MAX_UCAST, &lid))
		ret->lid = (lid_t)lid; /* one of several (LMC) */
	ret->at = view_port_of_guid(s->answers, ret->port->guid);
	return true;
}

/* Kinds of alarms by which the device does not answer: packets reach it, and nothing comes back. */
static bool is_silent(const char *why)
{
	return why == alarm_rows[ALARM_SILENT_HOST].cause ||
	       why == alarm_rows[ALARM_SILENT_SWITCH].cause ||
	       why == alarm_rows[ALARM_NO_PORT_INFO].cause;
}

static void judge_side(struct question *q, const struct side *side)
{
	const struct view_port *p = side->port;
	const struct view_node *n = show_node_of(q->s, p);
	const char *why = q->s->why[p - q->s->view->ports];
	bool active = p->state == IB_PORT_ACTIVE || (n->type == IB_NODE_SWITCH && !p->num);

	if (!active)
		object_to(q, "'%s' port %u is %s%s%s", show_name(q->s, n), p->num,
			  p->known ? ib_port_state_row(p->state)->word : "not read",
			  why ? ": " : "", why ? why : "");
	else if (q->s->part[p - q->s->view->ports] != SHOW_NO_PART && is_silent(why))
		object_to(q, "'%s' %s, its link is up", show_name(q->s, n), why);
	if (!p->lid)
		object_to(q, "'%s' port %u has no LID", show_name(q->s, n), p->num);
	else if (side->at == VIEW_NONE)
		object_to(q,
			  "'%s' port %u came after the last sweep was done: hosts are not told of "
			  "it yet",
			  show_name(q->s, n), p->num);
}

/* ---- the way -------------------------------------------------------------------------------- */

/* Through the cable of a port. False: it leads nowhere. */
static bool cross_cable(struct question *q, uint32_t port, uint32_t *ret)
{
	const struct view_port *p = &q->v->ports[port];
	const struct view_port *peer = p->peer == VIEW_NONE ? NULL : &q->v->ports[p->peer];

	if (!peer || p->state == IB_PORT_DOWN || peer->state == IB_PORT_DOWN) {
		object_to(q, "the link of '%s' port %u, which the way takes, is down",
			  name_at(q, port), p->num);
		return false;
	}
	q->way.out[q->way.n] = port;
	q->way.in[q->way.n++] = p->peer;
	*ret = p->peer;
	return true;
}

/* The port by which a switch, entered at `port`, sends on; VIEW_NONE: none. */
static uint32_t next_port(struct question *q, uint32_t port)
{
	const struct view_node *n = &q->v->nodes[q->v->ports[port].node];
	uint8_t out;

	if (n->topo_sw == TOPO_NONE || !q->v->routes) {
		object_to(q, "'%s' is not routed", name_at(q, port));
		return VIEW_NONE;
	}
	out = routes_port(q->v->routes, n->topo_sw, q->to.lid);
	if (out > n->n_ports) {
		object_to(q, "the forwarding table of '%s' has no entry for LID %u",
			  name_at(q, port), q->to.lid);
		return VIEW_NONE;
	}
	return n->first_port + out;
}

static void follow_tables(struct question *q)
{
	uint32_t at = q->from.at;
	bool leaving = !view_is_switch(q->v, &q->v->ports[at]);

	while (at != q->to.at) {
		if (!leaving && !view_is_switch(q->v, &q->v->ports[at])) {
			object_to(q, "LID %u leads to '%s', not to '%s'", q->to.lid, name_at(q, at),
				  name_at(q, q->to.at));
			return;
		}
		if (!leaving && (at = next_port(q, at)) == VIEW_NONE)
			return;
		if (!leaving && !q->v->ports[at].num)
			break; /* port 0: the switch itself */
		if (q->way.n > PATH_SWITCHES_MAX) {
			object_to(q, "the forwarding tables lead in a circle");
			return;
		}
		if (!cross_cable(q, at, &at))
			return;
		leaving = false;
	}
	q->way.arrived = at == q->to.at;
	if (!q->way.arrived)
		object_to(q, "LID %u ends at '%s'", q->to.lid, name_at(q, at));
}

/* ---- hops ----------------------------------------------------------------------------------- */

#define CANDIDATE_FIELDS(F)                                                                        \
	F("port", INT, port)                                                                       \
	F("to", IF(peer, STR), show_name(q->s, peer))                                              \
	F("lids", INT, lids)

static const struct json_field candidate_fields[] = FIELDS_TABLE(CANDIDATE_FIELDS);

static struct json_object *candidate_of(const struct question *q, const struct lid_hops *h,
					uint32_t sw, uint8_t port, uint32_t lids)
{
	const struct topo_port *to = topo_port(h->topo, sw, port);
	const struct view_node *peer =
		to->sw == TOPO_NONE ? NULL
				    : view_find_node(q->s->view, h->topo->switches[to->sw].guid);

	return FIELDS_NEW(CANDIDATE_FIELDS);
}

/* Ports of a switch that are as short as any, and the one that is taken. */
struct choice {
	uint32_t sw;
	uint8_t out, ports[256];
	unsigned n;
	uint32_t loads[256]; /* LIDs by port */
};

#define WHY_LEN 240

static const char *chosen_because(const struct question *q, const struct lid_hops *h,
				  const struct choice *c, char why[WHY_LEN])
{
	if (h->lids[q->to.lid].sw == c->sw)
		snprintf(why, WHY_LEN, "the destination is here");
	else if (!memchr(c->ports, c->out, c->n))
		snprintf(why, WHY_LEN,
			 "a detour, or the least hops are not known: kept from earlier "
			 "tables, or what is shorter is left out");
	else if (c->n == 1)
		snprintf(why, WHY_LEN, "the only shortest way");
	else
		snprintf(why, WHY_LEN,
			 "%u ports are as short; %s deals destinations out to them, so that "
			 "all that goes to one destination comes together early; this one carries "
			 "%u LIDs",
			 c->n, q->v->routes->engine, c->loads[c->out]);
	return why;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* The P_Key of the answer (sa.md 4.4). False: none. */
static bool choose_pkey(const struct question *q, uint16_t *ret)
{
	unsigned a, b;

	if (!q->rq.has_pkey && q->level && q->level->pkeys.n)
		return view_level_pkey(q->v, q->level, q->from.at, q->to.at, ret);
	if (!q->rq.has_pkey)
		return view_share_pkey(q->v, q->from.at, q->to.at, ret);
	*ret = q->rq.pkey;
	a = view_pkey_forms(q->v, q->from.at, q->rq.pkey);
	b = view_pkey_forms(q->v, q->to.at, q->rq.pkey);
	return a && b && ((a | b) & PKEY_SET_FULL) &&
	       (!q->level || !q->level->pkeys.n ||
		qos_ranges_have(&q->level->pkeys, q->rq.pkey & PKEY_BASE));
}

static uint8_t sl_wish(const struct question *q)
{
	const struct partition *part = NULL;
	uint16_t pkey;

	if (q->level)
		return q->level->sl;
	if (choose_pkey(q, &pkey))
		part = show_partition_of(q->s, pkey);
	return part ? part->sl : 0;
}

static uint8_t sl_of(const struct question *q)
{
	if (q->from.at == q->to.at)
		return qos_level_sl(&q->v->qos, sl_wish(q));
	return view_path_sl(q->v, q->from.at, q->to.at, q->to.lid, sl_wish(q));
}

static unsigned vls_of(const struct question *q, uint32_t out)
{
	const struct view_port *p = &q->v->ports[out];
	const struct view_port *peer = p->peer == VIEW_NONE ? NULL : &q->v->ports[p->peer];

	return MIN(link_oper_vls(q->v->conf, p->info, peer ? peer->info : NULL), QOS_CODES - 1u);
}

/*
 * The VL on the cable behind `out`, having come in by `in` (VIEW_NONE: from here); < 0: none is
 * planned.
 */
static int vl_of(const struct question *q, uint32_t in, uint32_t out)
{
	const struct view_node *n = &q->v->nodes[q->v->ports[out].node];
	const struct qos_plan *plan = &q->v->qos;
	uint8_t row[SMP_DATA_SIZE];
	unsigned pair = 0;
	enum qos_kind kind = n->type == IB_NODE_ROUTER ? QOS_ROUTER : QOS_CA;

	if (!plan->wanted)
		return -1;
	if (n->type == IB_NODE_SWITCH) {
		kind = QOS_SWITCH;
		if (plan->lanes && n->topo_sw == TOPO_NONE)
			return -1;
		pair = qos_pair(plan, n->topo_sw, in == VIEW_NONE ? 0 : q->v->ports[in].num,
				q->v->ports[out].num);
	}
	qos_sl2vl(plan, kind, pair, vls_of(q, out), row);
	return (int)ib_bits_get(row, sl_of(q) * 4, 4);
}

/* False: the hop, at a node that is left by port number `out`, chooses nothing. */
static bool make_choice(const struct question *q, const struct lid_hops *h,
			const struct view_node *n, uint8_t out, struct choice *ret)
{
	if (n->type != IB_NODE_SWITCH || n->topo_sw == TOPO_NONE || !h ||
	    q->to.lid > h->routes->top)
		return false;
	*ret = (struct choice){ .sw = n->topo_sw, .out = out };
	ret->n = lid_hops_shortest(h, ret->sw, q->to.lid, ret->ports);
	lid_hops_loads(h, ret->sw, ret->loads);
	return true;
}

/* Behind the node. */
#define HOP_FIELDS(F)                                                                              \
	F("lid", IF(n->type == IB_NODE_SWITCH, INT), q->v->ports[n->first_port].lid)               \
	F("in_port", KNOWN, in != VIEW_NONE, in == VIEW_NONE ? 0 : q->v->ports[in].num)            \
	F("out_port", KNOWN, p, p ? p->num : 0)                                                    \
	F("mtu", IF(peer, INT), ib_mtu_bytes(MIN(p->mtu_cap, peer->mtu_cap)))                      \
	F("gbps", IF(peer, TENTHS), ib_rate_bandwidth(p->rate))                                    \
	F("vl", IF(vl >= 0, INT), vl)                                                              \
	F("candidates", IF(is_choice, LIST(candidate_fields)),                                     \
	  JSON_LIST(c.n, candidate_of(q, h, c.sw, c.ports[i], c.loads[c.ports[i]])))               \
	F("chosen_because", IF(is_choice, STR), chosen_because(q, h, &c, why))

static const struct json_field hop_fields[] = { SHOW_NODE_FIELDS(FIELD_MAYBE)
							HOP_FIELDS(FIELD_ROW){ 0 } };

static struct json_object *hop_of(const struct question *q, const struct lid_hops *h, uint32_t in,
				  uint32_t out)
{
	uint32_t at = in == VIEW_NONE ? out : in;
	const struct view_node *n = &q->v->nodes[q->v->ports[at].node];
	const struct view_node *known = node_at(q, at);
	const struct view_port *p = out == VIEW_NONE ? NULL : &q->v->ports[out];
	const struct view_port *peer = p && p->num ? &q->v->ports[p->peer] : NULL;
	int vl = peer ? vl_of(q, in, out) : -1;
	struct json_object *o = json_object_new_object();
	char why[WHY_LEN];
	struct choice c;
	bool is_choice = p && make_choice(q, h, n, p->num, &c);

	if (known) {
		show_put_node(o, q->s, known);
	} else {
		json_add_str(o, "name", n->desc);
		json_add_guid(o, "node_guid", n->guid);
	}
	FIELDS_PUT(HOP_FIELDS);
	return o;
}

static struct json_object *hops_of(const struct question *q)
{
	_cleanup_(lid_hops_freep) struct lid_hops *h = lid_hops_new(q->s->view);
	struct json_object *hops = json_object_new_array();
	const struct way *way = &q->way;

	for (unsigned i = 0; i < way->n; i++)
		json_object_array_add(hops,
				      hop_of(q, h, i ? way->in[i - 1] : VIEW_NONE, way->out[i]));
	if (way->n)
		json_object_array_add(hops, hop_of(q, h, way->in[way->n - 1], VIEW_NONE));
	return hops;
}

/* ---- MTU and rate --------------------------------------------------------------------------- */

struct bound {
	uint32_t port; /* VIEW_NONE: nothing passed */
	unsigned value, most;
	bool limited; /* set if `value` is the limit of the level */
};

static void limit_bound(struct bound *b, unsigned most)
{
	if (!most || b->port == VIEW_NONE || most >= b->value)
		return;
	b->value = most;
	b->limited = true;
}

static void lower_bound(struct bound *b, uint32_t port, unsigned value)
{
	if (!value)
		return;
	b->most = MAX(b->most, value);
	if (b->port == VIEW_NONE || value < b->value) {
		b->port = port;
		b->value = value;
	}
}

#define BY_FIELDS(F)                                                                               \
	F("level", IF(b->limited, STR), q->level->name ? q->level->name : "default")               \
	F("name", IF(!b->limited, STR), name_at(q, b->port))                                       \
	F("port", IF(!b->limited, INT), p->num)                                                    \
	F("peer", IF(has_peer, STR), name_at(q, p->peer))                                          \
	F("peer_port", IF(has_peer, INT), q->v->ports[p->peer].num)                                \
	F("alone", IF(!b->limited, BOOL), b->most > b->value)

static const struct json_field by_fields[] = FIELDS_TABLE(BY_FIELDS);

static struct json_object *bound_by(const struct question *q, const struct bound *b)
{
	const struct view_port *p = &q->v->ports[b->port];
	bool has_peer = !b->limited && p->peer != VIEW_NONE && p->num;

	return FIELDS_NEW(BY_FIELDS);
}

#define MTU_FIELDS(F)                                                                              \
	F("bytes", INT, ib_mtu_bytes(b->value))                                                    \
	F("bound_by", OBJECT(by_fields), bound_by(q, b))
#define RATE_FIELDS(F)                                                                             \
	F("code", INT, ib_rate_of_rank(b->value))                                                  \
	F("gbps", TENTHS, ib_rate_bandwidth(ib_rate_of_rank(b->value)))                            \
	F("bound_by", OBJECT(by_fields), bound_by(q, b))

static const struct json_field mtu_fields[] = FIELDS_TABLE(MTU_FIELDS);
static const struct json_field rate_fields[] = FIELDS_TABLE(RATE_FIELDS);

/* NULL: nothing bounds it. */
static struct json_object *mtu_of(const struct question *q, const struct bound *b)
{
	return b->port == VIEW_NONE ? NULL : FIELDS_NEW(MTU_FIELDS);
}

static struct json_object *rate_of(const struct question *q, const struct bound *b)
{
	return b->port == VIEW_NONE ? NULL : FIELDS_NEW(RATE_FIELDS);
}

static void pass_port(const struct question *q, uint32_t port, struct bound *mtu,
		      struct bound *rate)
{
	lower_bound(mtu, port, q->v->ports[port].mtu_cap);
	lower_bound(rate, port, ib_rate_rank(q->v->ports[port].rate));
}

static void find_bounds(struct question *q)
{
	struct bound mtu = { .port = VIEW_NONE }, rate = { .port = VIEW_NONE };

	pass_port(q, q->from.at, &mtu, &rate);
	for (unsigned i = 0; i < q->way.n; i++) {
		pass_port(q, q->way.out[i], &mtu, &rate);
		pass_port(q, q->way.in[i], &mtu, &rate);
	}
	pass_port(q, q->to.at, &mtu, &rate);
	if (q->level) {
		limit_bound(&mtu, q->level->mtu);
		limit_bound(&rate, ib_rate_rank(q->level->rate));
	}
	q->mtu = mtu_of(q, &mtu);
	q->rate = rate_of(q, &rate);
}

static int64_t life_of(const struct question *q)
{
	if (q->from.at == q->to.at)
		return 0;
	return q->level && q->level->has_life ? q->level->life : q->v->conf->subnet_timeout;
}

/* ---- partitions and service level ----------------------------------------------------------- */

#define PARTITION_FIELDS(F)                                                                        \
	F("pkey", HEX, pkey)                                                                       \
	F("name", OPT(STR), part ? part->name : NULL)                                              \
	F("from", STR, show_membership(view_pkey_forms(q->v, q->from.at, pkey)))                   \
	F("to", STR, show_membership(view_pkey_forms(q->v, q->to.at, pkey)))

static const struct json_field partition_fields[] = FIELDS_TABLE(PARTITION_FIELDS);

static struct json_object *partition_of(const struct question *q, uint16_t pkey)
{
	const struct partition *part = show_partition_of(q->s, pkey);

	return FIELDS_NEW(PARTITION_FIELDS);
}

/* P_Keys that both hold: those by which they may talk, and those where both are limited. */
static void sort_pkeys(struct question *q)
{
	const struct pkey_set *a = view_pkeys(q->v, q->from.at);

	for (unsigned i = 0; a && i < a->n; i++) {
		uint16_t pkey = partition_pkey(a->entries[i].order);
		unsigned forms = view_pkey_forms(q->v, q->to.at, pkey);
		bool may_talk = (forms | a->entries[i].forms) & PKEY_SET_FULL;

		if (forms)
			json_object_array_add(may_talk ? q->shared : q->limited,
					      partition_of(q, pkey));
	}
}

/* Names the source of the SL before routing decides; "": there is none. */
static void write_sayer(const struct question *q, const struct partition *part, char *ret,
			size_t len)
{
	ret[0] = '\0';
	if (q->level && q->level->name)
		snprintf(ret, len, "level '%.60s' of the QoS policy", q->level->name);
	else if (q->level)
		snprintf(ret, len, "line %u of the QoS policy", q->level->line);
	else if (part && part->sl)
		snprintf(ret, len, "sl of partition '%.60s'", part->name);
}

/* Routing chooses the SL, or bits of it. */
static void write_sl_of_path(const struct question *q, const char *sayer, char *ret, size_t len)
{
	const struct qos_plan *plan = &q->v->qos;
	const struct sl2vl *l = plan->lanes;
	const char *engine = q->v->routes->engine;
	unsigned wish = sl_wish(q), kept = qos_level_sl(plan, (uint8_t)wish) & ~l->sl_mask;

	if (l->n_levels > 1)
		snprintf(ret, len,
			 "%s%sSL %u is QoS level %u, where %s has %u VLs and the path one of them",
			 sayer, *sayer ? ": " : "", wish, kept >> __builtin_popcount(l->sl_mask),
			 engine, sl2vl_own_vls(l));
	else if (!*sayer)
		snprintf(ret, len, "the VL of this path: %s uses %u VLs", engine, l->n_vls);
	else if (kept)
		snprintf(ret, len,
			 "the VL of this path: %s uses %u VLs; %s: SL %u, of which bits 0x%x stay",
			 engine, l->n_vls, sayer, wish, kept);
	else
		snprintf(ret, len,
			 "the VL of this path: %s uses %u VLs, so SL %u (%s) is without effect",
			 engine, l->n_vls, wish, sayer);
}

#define SL_FIELDS(F)                                                                               \
	F("value", INT, sl_of(q))                                                                  \
	F("from", STR, why)

static const struct json_field sl_fields[] = FIELDS_TABLE(SL_FIELDS);

static struct json_object *sl_with_reason(const struct question *q, uint16_t pkey)
{
	const struct sl2vl *l = q->v->qos.lanes;
	char why[320], sayer[120];

	write_sayer(q, show_partition_of(q->s, pkey), sayer, sizeof(sayer));
	if (l && l->by != SL2VL_BY_NOTHING)
		write_sl_of_path(q, sayer, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "%s",
			 *sayer ? sayer
				: "nothing sets another: no sl of the partition, or qos is off");
	if (l && l->by == SL2VL_BY_NOTHING)
		snprintf(why + strlen(why), sizeof(why) - strlen(why),
			 "; %s uses %u VLs, which switches choose by their ports",
			 q->v->routes->engine, l->n_vls);
	return FIELDS_NEW(SL_FIELDS);
}

static void find_partition(struct question *q)
{
	uint16_t pkey;

	q->shared = json_object_new_array();
	q->limited = json_object_new_array();
	sort_pkeys(q);
	if (choose_pkey(q, &pkey)) {
		q->partition = partition_of(q, pkey);
		q->sl = sl_with_reason(q, pkey);
		if (!view_wish_passes(q->v, q->from.at, sl_wish(q)))
			object_to(q, "SL %u gets no VL: the qos_*sl2vl tables say 15", sl_wish(q));
	} else if (json_object_array_length(q->shared)) {
		object_to(q, "%s P_Key is not one that they have in common",
			  q->rq.has_pkey ? "the requested" : "the level's");
	} else if (json_object_array_length(q->limited)) {
		object_to(q,
			  "both are limited members of %s, and limited members do not hear each "
			  "other: "
			  "one of them has to be full",
			  json_object_get_string(json_object_object_get(
				  json_object_array_get_idx(q->limited, 0), "pkey")));
	} else {
		object_to(q,
			  "they have no P_Key in common: they are members of no common partition");
	}
}

/* ---- disjoint paths ---- */

static uint32_t topo_switch_of(const struct topo *t, const struct side *side)
{
	const struct topo_host *end = topo_find_end(t, side->port->guid);

	return end ? end->sw : topo_find_switch(t, side->port->guid);
}

#define DISJOINT_FIELDS(F)                                                                         \
	F("paths", INT, paths)                                                                     \
	F("cables", INT, have.cables)                                                              \
	F("cables_possible", INT, most.cables)                                                     \
	F("switches", INT, have.switches)                                                          \
	F("switches_possible", INT, most.switches)

static const struct json_field disjoint_fields[] = FIELDS_TABLE(DISJOINT_FIELDS);

/* How many of the paths to the LIDs of the destination (LMC) have nothing in common; NULL: one. */
static struct json_object *disjoint_of(const struct question *q)
{
	const struct routes *r = q->v->routes;
	uint32_t sw, host = r ? topo_find_host(r->topo, q->to.port->guid) : TOPO_NONE;
	struct disjoint have, most;
	struct graph *g;
	unsigned paths;

	if (host == TOPO_NONE || !r->topo->hosts[host].lmc)
		return NULL;
	sw = topo_switch_of(r->topo, &q->from);
	if (sw == TOPO_NONE || r->topo->hosts[host].sw == TOPO_NONE ||
	    sw == r->topo->hosts[host].sw)
		return NULL;
	paths = 1u << r->topo->hosts[host].lmc;
	g = graph_new(r->topo, NULL);
	have = disjoint_have(r, sw, host);
	most = disjoint_most(g, sw, r->topo->hosts[host].sw, paths);
	graph_free(g);
	return FIELDS_NEW(DISJOINT_FIELDS);
}

/* ---- the document --------------------------------------------------------------------------- */

/* One of several LIDs (LMC), where that was asked for. */
static struct json_object *side_of(const struct show *s, const struct side *side)
{
	struct json_object *o = json_object_new_object();

	show_put_end(o, s, side->port);
	json_add_int(o, "lid", side->lid);
	return o;
}

static bool comes_back(const struct question *q)
{
	const struct path_ask ask = {
		.src = q->from.at,
		.dst = q->to.at,
		.slid = q->from.lid,
		.dlid = q->to.lid,
	};
	struct path_way there, back;

	return path_walk(q->v, &ask, &there, &back) && back.n != PATH_NO_WAY;
}

/* What subnet administration says of both ends. */
static void find_path(struct question *q)
{
	q->policy = show_policy_decision(q->v, &q->rq, q->from.at, q->to.at, &q->level);
	find_partition(q);
	follow_tables(q);
	q->hops = hops_of(q);
	q->disjoint = disjoint_of(q);
	if (q->way.arrived)
		find_bounds(q);
}

#define PATH_FIELDS(F)                                                                             \
	F("from", OBJECT(show_end_fields), side_of(s, &q.from))                                    \
	F("to", OBJECT(show_end_fields), side_of(s, &q.to))                                        \
	F("why_not", OF("[]string"), q.why_not)                                                    \
	F("policy", IF(q.policy, OBJECT(show_decision_fields)), q.policy)                          \
	F("partition", IF(q.partition, OBJECT(partition_fields)), q.partition)                     \
	F("sl", IF(q.sl, OBJECT(sl_fields)), q.sl)                                                 \
	F("shared_pkeys", IF(q.shared, LIST(partition_fields)), q.shared)                          \
	F("limited_to_limited", IF(q.limited, LIST(partition_fields)), q.limited)                  \
	F("hops", IF(q.hops, LIST(hop_fields)), q.hops)                                            \
	F("disjoint", IF(q.disjoint, OBJECT(disjoint_fields)), q.disjoint)                         \
	F("life", IF(q.way.arrived, INT), life_of(&q))                                             \
	F("mtu", IF(q.mtu, OBJECT(mtu_fields)), q.mtu)                                             \
	F("rate", IF(q.rate, OBJECT(rate_fields)), q.rate)                                         \
	F("reversible", IF(q.hops, BOOL), q.way.arrived &&comes_back(&q))                          \
	F("reachable", BOOL, q.way.arrived && !json_object_array_length(q.why_not))

const struct json_field show_path_fields[] = FIELDS_TABLE(PATH_FIELDS);

struct json_object *show_path(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	struct question q = { .s = s, .v = s->answers };

	if (!find_side(s, 0, &q.from, err) || !find_side(s, 1, &q.to, err) ||
	    !show_policy_request(s, &q.rq, err))
		return NULL;
	q.why_not = json_object_new_array();
	judge_side(&q, &q.from);
	if (q.to.port != q.from.port)
		judge_side(&q, &q.to);
	if (q.from.at != VIEW_NONE && q.to.at != VIEW_NONE && q.to.lid)
		find_path(&q);
	return FIELDS_NEW(PATH_FIELDS);
}
