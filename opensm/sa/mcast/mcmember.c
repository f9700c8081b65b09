// SPDX-License-Identifier: BSD-2-Clause
/*
 * MCMemberRecord: may this port join, create, leave? The order of the checks decides which status a
 * client sees; it is that of sa.md 6.1 and 6.2, and stands as such in mcm_set() and mcm_delete().
 *
 * Nothing is changed before all checks have passed, so that a request that fails leaves no trace.
 * Differs from OpenSM: FullMember and SendOnlyFullMember both count as full wherever members are
 * counted (there a group joined with 0x9 and left with 0x1 stays for ever, with its MLID).
 *
 * Get and GetTable give groups in the order of MGIDs, for the trusted with their members in the
 * order of PortGIDs. The place of a query is the last MGID and interface id it has shown, not a
 * pointer: groups come and go between two slices.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "ib/codes.h"
#include "ib/words.h"
#include "sa/mcast/mgroup_store.h"
#include "sa/base/requester.h"
#include "util/mem.h"
#include "util/str.h"

#define LINK_LOCAL_PREFIX UINT64_C(0xFE80000000000000)
#define SCOPE_LINK_LOCAL  2
#define RATE_DEFAULT	  3 /* 10 Gb/s, for switch ports 0 that have no link */

enum mgid_signature {
	SIGNATURE_IPV4 = 0x401B,
	SIGNATURE_IPV6 = 0x601B,
	SIGNATURE_SA = 0xA01B, /* MGIDs that subnet administration assigns */
};

/* A request, taken apart. */
struct mcm_request {
	struct sa *sa;
	const struct sa_request *rq;
	const uint8_t *asked;
	uint64_t mask;
	guid_t id;		      /* of its PortGID */
	uint32_t at;		      /* that port in the view */
	const struct view_port *port; /* the same */
	uint8_t join;
	bool proxy; /* asked by another port */
};

/* ---- values of a request -------------------------------------------------------------------- */

/* MTU and rate that a request names must be real, whatever the selectors (sa.md 6.1, step 1). */
static uint16_t check_values(uint64_t mask, const uint8_t *asked)
{
	if (SA_HAS(mask, MCM_MTU) && !sa_mtu_valid(ib_get(asked, MCM_MTU)))
		return SA_REQ_INVALID;
	if (SA_HAS(mask, MCM_RATE) && !ib_rate_valid(ib_get(asked, MCM_RATE)))
		return SA_REQ_INVALID;
	return 0;
}

/* A selector counts even if its value's component is not set; a value alone does not. */
static bool selectors_hold(uint64_t mask, const uint8_t *asked, const uint8_t *group)
{
	int mtu = (int)ib_get(group, MCM_MTU) - (int)ib_get(asked, MCM_MTU);
	int rate = sa_rate_compare(ib_get(group, MCM_RATE), ib_get(asked, MCM_RATE));

	if (SA_HAS(mask, MCM_MTU_SEL) && !sa_selector_holds(ib_get(asked, MCM_MTU_SEL), mtu))
		return false;
	return !SA_HAS(mask, MCM_RATE_SEL) || sa_selector_holds(ib_get(asked, MCM_RATE_SEL), rate);
}

/*
 * The interface id of a PortGID of this subnet; fe80::/64 counts as its prefix. False: the prefix
 * is another one.
 */
static bool port_gid_id(const struct view *v, const uint8_t *asked, guid_t *ret_id)
{
	uint64_t prefix = ib_bits_get(asked, MCM_PORT_GID, 64);

	if (prefix != v->prefix && prefix != LINK_LOCAL_PREFIX)
		return false;
	*ret_id = ib_bits_get(asked, MCM_PORT_GID + 64, 64);
	return true;
}

/* ---- refusals ------------------------------------------------------------------------------- */

/*
 * Logs the reason behind a status, once for each port, group and reason (util/log_flood.h counts
 * the rest); returns the status. A host may be refused thousands of groups in a second: no text is
 * made of those that follow each other so fast.
 */
__attribute__((format(printf, 3, 4))) static uint16_t refuse(const struct mcm_request *r,
							     uint16_t status, const char *fmt, ...)
{
	char why[160], mgid[IB_MGID_STRLEN], words[IB_WORD_STRLEN], rest[SA_MORE_STRLEN];
	struct sa_port_text port;
	unsigned more;
	va_list args;

	if (!log_wants(LOGB_INFO) || !askers_may_log(r->sa, r->rq, &more))
		return status;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	sa_requester_text(r->sa, r->rq, &port);
	port.about.id = LOG_ID_JOIN_REFUSED;
	port.about.mgid = ib_mgid_words(ib_at(r->asked, MCM_MGID), mgid);
	port.about.status = sa_status_words(status, words);
	port.about.method = r->rq->method == MAD_SET ? "join" : "leave";
	port.about.hint = why;
	port.about.often = 1;
	log_on(port.about, LOGB_INFO, "%s: multicast %s of %s refused (%s): %s%s", port.text,
	       port.about.method, mgid, words, why, sa_more_words(more, rest));
	return status;
}

/* `quota`: CONF_N_OPTIONS if multicast LIDs are short. */
static uint16_t refuse_quota(const struct mcm_request *r, enum conf_id quota)
{
	char text[SA_QUOTA_STRLEN];

	if (quota_silence(quota))
		return quota_silence(quota);
	if (quota == CONF_N_OPTIONS)
		return refuse(r, SA_NO_RESOURCES,
			      "no multicast LID is left of the %u that all switches have room for "
			      "(the last eighth is for "
			      "ports with less than %d groups)",
			      r->sa->mgroups->n_mlids, SA_FEW_GROUPS);
	return refuse(r, SA_NO_RESOURCES, "%s", quota_text(r->sa, quota, text));
}

/* ---- checks of every request ---------------------------------------------------------------- */

static void take_apart(struct mcm_request *r, struct sa *sa, const struct sa_request *rq)
{
	*r = (struct mcm_request){
		.sa = sa,
		.rq = rq,
		.asked = rq->data,
		.mask = rq->mask,
		.join = ib_get(rq->data, MCM_JOIN_STATE),
	};
}

static uint16_t check_form(const struct mcm_request *r)
{
	if (!SA_HAS(r->mask, MCM_MGID) || !SA_HAS(r->mask, MCM_PORT_GID) ||
	    !SA_HAS(r->mask, MCM_JOIN_STATE))
		return refuse(r, SA_REQ_INSUFFICIENT_COMPONENTS,
			      "MGID, PortGID and JoinState are needed");
	if (check_values(r->mask, r->asked))
		return refuse(r, SA_REQ_INVALID, "MTU %u, rate %u: no such value",
			      (unsigned)ib_get(r->asked, MCM_MTU),
			      (unsigned)ib_get(r->asked, MCM_RATE));
	return 0;
}

/* Steps 2 to 5: the port of the request. */
static uint16_t check_port(struct mcm_request *r)
{
	const struct view *v = r->sa->view;

	if (!port_gid_id(v, r->asked, &r->id))
		return refuse(r, SA_REQ_INVALID_GID, "the PortGID is of another subnet");
	r->at = sa_port_of_interface_id(r->sa, v, r->id);
	if (r->at == VIEW_NONE)
		return refuse(r, SA_REQ_INVALID, "no port has the PortGID ...%016" PRIx64, r->id);
	r->port = &v->ports[r->at];
	r->proxy = r->at != r->rq->port;
	if (r->proxy && !view_share_pkey(v, r->rq->port, r->at, NULL))
		return refuse(r, SA_REQ_INVALID, "no partition in common with the PortGID");
	if (SA_HAS(r->mask, MCM_PKEY) && !(ib_get(r->asked, MCM_PKEY) & PKEY_BASE))
		return refuse(r, SA_REQ_INVALID, "P_Key 0");
	return 0;
}

/* ---- step 6: a new group -------------------------------------------------------------------- */

static bool mgid_is_zero(const uint8_t *mgid)
{
	static const uint8_t zero[16];

	return !memcmp(mgid, zero, sizeof(zero));
}

static unsigned mgid_signature(const uint8_t *mgid)
{
	return (unsigned)mgid[2] << 8 | mgid[3];
}

/* The IPv4 broadcast group whose scope and P_Key bytes are those of `mgid` (RFC 4391, 4). */
static void broadcast_of(const uint8_t *mgid, uint8_t ret[16])
{
	memset(ret, 0, 16);
	ret[0] = 0xFF;
	ret[1] = 0x10 | (mgid[1] & 0x0F);
	ret[2] = SIGNATURE_IPV4 >> 8;
	ret[3] = SIGNATURE_IPV4 & 0xFF;
	memcpy(ret + 4, mgid + 4, 2);
	memset(ret + 12, 0xFF, 4);
}

#define FLOW_COMPONENTS                                                                            \
	(SA_COMP(MCM_QKEY) | SA_COMP(MCM_TCLASS) | SA_COMP(MCM_FLOW) | SA_COMP(MCM_HOP))

/* Are those of `components` that the request has as in the group? */
static bool same_fields(const struct mcm_request *r, const uint8_t *group, uint64_t components)
{
	return sa_match(&sa_mc_member_record, r->mask & components, r->asked, group);
}

/* A request for an SL that groups cannot have gets the SL that they have instead. */
static bool same_sl(const struct mcm_request *r, const uint8_t *group)
{
	return !SA_HAS(r->mask, MCM_SL) ||
	       view_group_sl(r->sa->view, (uint8_t)ib_get(r->asked, MCM_SL)) ==
		       ib_get(group, MCM_SL);
}

static bool same_flow(const struct mcm_request *r, const uint8_t *group)
{
	return same_fields(r, group, FLOW_COMPONENTS) && same_sl(r, group);
}

static uint16_t check_ipoib_mgid(const struct mcm_request *r, const uint8_t *mgid)
{
	uint8_t broadcast[16];
	const struct mgroup *g;

	broadcast_of(mgid, broadcast);
	if (!memcmp(mgid, broadcast, sizeof(broadcast)))
		return 0;
	g = mgroup_find(r->sa, broadcast);
	if (!g)
		return refuse(r, SA_REQ_INVALID, "IPoIB without a broadcast group");
	if (!same_flow(r, mgroup_record(g)) ||
	    !same_fields(r, mgroup_record(g), SA_COMP(MCM_PKEY)))
		return refuse(r, SA_REQ_INVALID,
			      "Q_Key, P_Key, TClass, SL, FlowLabel or HopLimit is not that of the "
			      "broadcast group");
	return 0;
}

static uint16_t check_mgid(const struct mcm_request *r, const uint8_t *mgid)
{
	unsigned signature = mgid_signature(mgid);

	if (mgid[0] != 0xFF)
		return refuse(r, SA_REQ_INVALID, "no multicast GID");
	if (!r->sa->conf->ipoib_mcgroup_creation_validation)
		return 0;
	if (signature == SIGNATURE_IPV4 || signature == SIGNATURE_IPV6)
		return check_ipoib_mgid(r, mgid);
	if (mgid[1] & 0xE0)
		return refuse(r, SA_REQ_INVALID, "reserved flags of the MGID");
	if (signature == SIGNATURE_SA && (mgid[1] & 0x0F) == SCOPE_LINK_LOCAL)
		return refuse(r, SA_REQ_INVALID, "MGIDs like this are assigned, not asked for");
	return 0;
}

/* ffxS:a01b, prefix, counter: the first that is not there. Among 2^32 there is one. */
static void assign_mgid(const struct mcm_request *r, uint8_t *mgid)
{
	unsigned scope = SA_HAS(r->mask, MCM_SCOPE) ? ib_get(r->asked, MCM_SCOPE) : 0;

	memset(mgid, 0, 16);
	mgid[0] = 0xFF;
	mgid[1] = 0x10 | (scope ? scope : SCOPE_LINK_LOCAL);
	mgid[2] = SIGNATURE_SA >> 8;
	mgid[3] = SIGNATURE_SA & 0xFF;
	ib_bits_put(mgid, 32, 64, r->sa->view->prefix);
	do
		ib_bits_put(mgid, 96, 32, mgroups_assign(r->sa));
	while (mgroup_find(r->sa, mgid));
}

/* Of a new group: the value asked for (above 0), else the one that the port has. 0: cannot be. */
static unsigned choose_value(bool asked, unsigned selector, unsigned has, unsigned value)
{
	if (!asked)
		return has;
	switch ((enum sa_selector)selector) {
	case SA_GREATER:
		return has > value ? has : 0;
	case SA_LESS:
		return MIN(has, value - 1);
	case SA_EXACT:
		return value;
	case SA_BEST:
		return has;
	}
	return 0;
}

static unsigned choose_mtu(const struct mcm_request *r)
{
	return choose_value(SA_HAS(r->mask, MCM_MTU_SEL) && SA_HAS(r->mask, MCM_MTU),
			    ib_get(r->asked, MCM_MTU_SEL), r->port->neighbor_mtu,
			    ib_get(r->asked, MCM_MTU));
}

/* By order of bandwidth. Switch ports 0 have no link; they are not what limits a group. */
static unsigned choose_rate(const struct mcm_request *r)
{
	unsigned has = sa_rate_for_clients(r->sa->conf, r->port->rate ? r->port->rate
								      : RATE_DEFAULT);
	bool asked = SA_HAS(r->mask, MCM_RATE_SEL) && SA_HAS(r->mask, MCM_RATE);

	return ib_rate_of_rank(choose_value(asked, ib_get(r->asked, MCM_RATE_SEL),
					    ib_rate_rank(has),
					    ib_rate_rank(ib_get(r->asked, MCM_RATE))));
}

#define TAKE(r, group, FIELD)                                                                      \
	do {                                                                                       \
		if (SA_HAS((r)->mask, FIELD))                                                      \
			ib_put(group, FIELD, ib_get((r)->asked, FIELD));                           \
	} while (0)

static void fill_group(const struct mcm_request *r, unsigned mtu, unsigned rate, uint8_t *group)
{
	TAKE(r, group, MCM_QKEY);
	TAKE(r, group, MCM_TCLASS);
	TAKE(r, group, MCM_PKEY);
	TAKE(r, group, MCM_LIFE);
	TAKE(r, group, MCM_SL);
	ib_put(group, MCM_SL, view_group_sl(r->sa->view, (uint8_t)ib_get(group, MCM_SL)));
	TAKE(r, group, MCM_FLOW);
	TAKE(r, group, MCM_HOP);
	ib_put(group, MCM_SCOPE, ib_at(group, MCM_MGID)[1] & 0x0F);
	ib_put(group, MCM_MTU_SEL, SA_EXACT);
	ib_put(group, MCM_MTU, mtu);
	ib_put(group, MCM_RATE_SEL, SA_EXACT);
	ib_put(group, MCM_RATE, rate);
	ib_put(group, MCM_LIFE_SEL, SA_EXACT);
}

#define NEEDED_TO_CREATE                                                                           \
	(SA_COMP(MCM_QKEY) | SA_COMP(MCM_TCLASS) | SA_COMP(MCM_PKEY) | SA_COMP(MCM_FLOW) |         \
	 SA_COMP(MCM_SL))

/* The record of the new group into `group` (zeroed), and its MLID. */
static uint16_t design_group(const struct mcm_request *r, uint8_t *group, lid_t *ret_mlid)
{
	uint8_t *mgid = ib_at(group, MCM_MGID);
	lid_t wanted = SA_HAS(r->mask, MCM_MLID) ? ib_get(r->asked, MCM_MLID) : 0;
	guid_t requester = r->sa->view->ports[r->rq->port].guid;
	unsigned mtu, rate;
	uint16_t status;

	if (!(r->join & (MC_FULL | MC_SEND_ONLY_FULL)))
		return refuse(r, SA_REQ_INVALID,
			      "there is no such group, and only full members make one");
	if ((r->mask & NEEDED_TO_CREATE) != NEEDED_TO_CREATE)
		return refuse(r, SA_REQ_INSUFFICIENT_COMPONENTS,
			      "there is no such group, and Q_Key, "
			      "TClass, P_Key, FlowLabel and SL are needed to make one");
	memcpy(mgid, ib_at(r->asked, MCM_MGID), 16);
	if (mgid_is_zero(mgid))
		assign_mgid(r, mgid);
	else if ((status = check_mgid(r, mgid)))
		return status;
	mtu = choose_mtu(r);
	rate = choose_rate(r);
	if (!sa_mtu_valid(mtu) || !ib_rate_valid(rate))
		return refuse(r, SA_REQ_INVALID, "no MTU or rate fits; the port has MTU %u rate %u",
			      r->port->neighbor_mtu, r->port->rate);
	fill_group(r, mtu, rate, group);
	*ret_mlid = mgroups_pick_mlid(r->sa, group, wanted, requester);
	if (!*ret_mlid)
		return refuse_quota(r, quota_reached(r->sa, SA_QUOTA_GROUPS, requester));
	return 0;
}

/* ---- steps 7 to 12: the group as it stands --------------------------------------------------- */

static bool same_partition(const struct mcm_request *r, const uint8_t *group)
{
	uint16_t asked = ib_get(r->asked, MCM_PKEY), has = ib_get(group, MCM_PKEY);

	return !SA_HAS(r->mask, MCM_PKEY) ||
	       (!((asked ^ has) & PKEY_BASE) && (asked | has) & PKEY_FULL);
}

static uint16_t check_existing(const struct mcm_request *r, const uint8_t *group)
{
	if (!r->sa->conf->mcgroup_join_validation)
		return 0;
	if (!same_partition(r, group) || !same_flow(r, group))
		return refuse(r, SA_REQ_INVALID,
			      "Q_Key, P_Key, TClass, SL, FlowLabel or HopLimit is not the group's");
	return 0;
}

/* Step 12. A member that joined for itself is changed by its own port only. */
static uint16_t check_requester(const struct mcm_request *r, const struct mgroup *g,
				const struct mgroup_member *member)
{
	const struct view *v = r->sa->view;

	if (!member->proxy && member->port != v->ports[r->rq->port].guid)
		return refuse(r, SA_REQ_INVALID, "the member has joined for itself");
	if (member->proxy && !view_has_pkey(v, r->rq->port, mgroup_pkey(g)))
		return refuse(r, SA_REQ_INVALID, "not in the partition of the group");
	return 0;
}

/* `g` is NULL while the group is only designed. */
static uint16_t check_join(const struct mcm_request *r, const uint8_t *group,
			   const struct mgroup *g)
{
	unsigned mtu = ib_get(group, MCM_MTU), rate = ib_get(group, MCM_RATE);
	uint16_t pkey = ib_get(group, MCM_PKEY);
	const struct mgroup_member *member = g ? mgroup_member(g, r->id) : NULL;

	if (!selectors_hold(r->mask, r->asked, group))
		return refuse(r, SA_REQ_INVALID, "the group has MTU %u rate %u", mtu, rate);
	if (r->port->neighbor_mtu < mtu ||
	    (r->port->rate && sa_rate_compare(r->port->rate, rate) < 0))
		return refuse(r, SA_REQ_INVALID,
			      "the port has MTU %u rate %u only, the group needs MTU %u rate %u",
			      r->port->neighbor_mtu, r->port->rate, mtu, rate);
	if (!r->join)
		return refuse(r, SA_REQ_INVALID, "JoinState 0");
	if (!view_has_pkey(r->sa->view, r->at, pkey))
		return refuse(r, SA_REQ_INVALID, "the port is not in partition 0x%04x", pkey);
	return member ? check_requester(r, g, member) : 0;
}

/* ---- the answers ---------------------------------------------------------------------------- */

/* All of the group, and the member with what it has joined so far. The PortGID stays as asked. */
static void put_joined(const struct mgroup *g, const struct mgroup_member *m, uint8_t *record)
{
	uint8_t gid[16];

	memcpy(gid, ib_at(record, MCM_PORT_GID), sizeof(gid));
	memcpy(record, mgroup_record(g), MCM_BYTES);
	memcpy(ib_at(record, MCM_PORT_GID), gid, sizeof(gid));
	ib_put(record, MCM_JOIN_STATE, m->join);
	ib_put(record, MCM_PROXY_JOIN, m->proxy);
}

/* sa.md 6.1, in its order. */
static uint16_t mcm_set(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	uint8_t fresh[MCM_BYTES] = { 0 };
	struct mcm_request r;
	struct mgroup *g;
	lid_t mlid = 0;
	uint16_t status;
	guid_t requester = sa->view->ports[rq->port].guid;
	enum conf_id quota;

	if (sa->conf->disable_multicast)
		return MAD_STATUS_BAD_METHOD_ATTR;
	take_apart(&r, sa, rq);
	if ((status = check_form(&r)) || (status = check_port(&r)))
		return status;
	g = mgroup_find(sa, ib_at(r.asked, MCM_MGID));
	status = g ? check_existing(&r, mgroup_record(g)) : design_group(&r, fresh, &mlid);
	if (status || (status = check_join(&r, g ? mgroup_record(g) : fresh, g)))
		return status;
	quota = g && mgroup_member(g, r.id) ? CONF_N_OPTIONS
					    : quota_reached_by(sa, SA_QUOTA_MEMBERS, rq);
	if (quota != CONF_N_OPTIONS)
		return refuse_quota(&r, quota);
	if (!g)
		g = mgroups_create(sa, fresh, mlid, requester);
	put_joined(g,
		   mgroups_join(sa, g,
				&(struct mgroup_join){ .id = r.id,
						       .port = r.port->guid,
						       .requester = requester,
						       .join = r.join,
						       .proxy = r.proxy }),
		   record);
	return 0;
}

/* sa.md 6.2. */
static uint16_t mcm_delete(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	const struct mgroup_member *member;
	struct mcm_request r;
	struct mgroup *g;
	uint16_t status;

	take_apart(&r, sa, rq);
	if ((status = check_form(&r)))
		return status;
	g = mgroup_find(sa, ib_at(r.asked, MCM_MGID));
	member = g && port_gid_id(sa->view, r.asked, &r.id) ? mgroup_member(g, r.id) : NULL;
	if (!member)
		return refuse(&r, SA_REQ_INVALID, "no such member");
	if (!r.join || r.join & ~member->join)
		return refuse(&r, SA_REQ_INVALID, "JoinState 0x%x of a member with 0x%x", r.join,
			      member->join);
	if ((status = check_requester(&r, g, member)))
		return status;
	ib_put(record, MCM_SCOPE, ib_get(mgroup_record(g), MCM_SCOPE));
	ib_put(record, MCM_JOIN_STATE, mgroups_leave(sa, g, r.id, r.join));
	return 0;
}

/* ---- Get (sa.md 6.3) ------------------------------------------------------------------------ */

/* sa_query.at as we use it; the MGID is all zeros before the first group. */
struct place {
	uint8_t mgid[16];
	guid_t id; /* next member to show; 0: go to the next group */
};

_Static_assert(sizeof(struct place) <= sizeof(((struct sa_query *)NULL)->at), "fits the cursor");

static uint16_t check_query(const struct sa_query *q)
{
	return check_values(q->rq.mask, query_asked(q));
}

/* Components of the group alone that are compared for equality. */
#define GROUP_COMPONENTS                                                                           \
	(SA_COMP(MCM_MLID) | SA_COMP(MCM_QKEY) | SA_COMP(MCM_PKEY) | SA_COMP(MCM_TCLASS) |         \
	 SA_COMP(MCM_SL) | SA_COMP(MCM_FLOW) | SA_COMP(MCM_HOP) | SA_COMP(MCM_SCOPE))

static bool group_matches(const struct sa_query *q, const uint8_t *group)
{
	return sa_match(q->type, q->rq.mask & GROUP_COMPONENTS, query_asked(q), group) &&
	       selectors_hold(q->rq.mask, query_asked(q), group);
}

static bool group_is_visible(const struct sa_query *q, const struct mgroup *g)
{
	return q->rq.whole || view_has_pkey(q->view, q->rq.port, mgroup_pkey(g));
}

/* A requester without the right to see members may still ask for the groups of a PortGID. */
static bool group_has_asked_port(struct sa_query *q, const struct mgroup *g)
{
	const struct mgroup_member *m;
	uint32_t port;
	guid_t id;

	if (!SA_HAS(q->rq.mask, MCM_PORT_GID))
		return true;
	m = port_gid_id(q->view, query_asked(q), &id) ? mgroup_member(g, id) : NULL;
	port = m ? view_port_of_guid(q->view, m->port) : VIEW_NONE;
	return port != VIEW_NONE && query_may_see(q, port);
}

static bool member_matches(const struct sa_query *q, const struct mgroup_member *m)
{
	unsigned join = (unsigned)QUERY_FIELD(q, MCM_JOIN_STATE, 0xF);

	return m->join & join && QUERY_FIELD(q, MCM_PROXY_JOIN, m->proxy) == m->proxy;
}

/* The next group of the query, or NULL. */
static struct mgroup *next_group(const struct sa_query *q, struct place *at)
{
	static const uint8_t none[16];
	bool first = !memcmp(at->mgid, none, sizeof(none));
	struct mgroup *g;

	if (SA_HAS(q->rq.mask, MCM_MGID))
		g = first ? mgroup_find(q->sa, ib_at(query_asked(q), MCM_MGID)) : NULL;
	else
		g = mgroup_next(q->sa, first ? NULL : at->mgid);
	if (g)
		memcpy(at->mgid, mgroup_mgid(g), sizeof(at->mgid));
	return g;
}

/* The member to show next of the group the query stands in; NULL: no more of it. */
static const struct mgroup_member *next_member(const struct sa_query *q, struct place *at,
					       const struct mgroup *g)
{
	guid_t only;
	const struct mgroup_member *m;

	if (SA_HAS(q->rq.mask, MCM_PORT_GID)) {
		at->id = 0;
		return port_gid_id(q->view, query_asked(q), &only) ? mgroup_member(g, only) : NULL;
	}
	m = mgroup_member_from(g, at->id);
	at->id = m ? m->id + 1 : 0;
	return m;
}

static enum sa_step show_member(const struct sa_query *q, struct place *at, uint8_t *ret)
{
	const struct mgroup *g = mgroup_find(q->sa, at->mgid);
	const struct mgroup_member *m = g ? next_member(q, at, g) : NULL;

	if (!m) {
		at->id = 0;
		return SA_SKIP;
	}
	if (!member_matches(q, m))
		return SA_SKIP;
	memcpy(ret, mgroup_record(g), MCM_BYTES);
	sa_gid(q->view->prefix, m->id, ib_at(ret, MCM_PORT_GID));
	ib_put(ret, MCM_JOIN_STATE, m->join);
	ib_put(ret, MCM_PROXY_JOIN, m->proxy);
	return SA_ROW;
}

static enum sa_step show_group(struct sa_query *q, struct place *at, uint8_t *ret)
{
	const struct mgroup *g = next_group(q, at);

	if (!g)
		return SA_END;
	if (!group_is_visible(q, g) || !group_matches(q, mgroup_record(g)))
		return SA_SKIP;
	if (q->rq.trusted && !(q->rq.whole && !mgroup_members(g))) {
		at->id = 1; /* its members come now */
		return SA_SKIP;
	}
	if (!group_has_asked_port(q, g))
		return SA_SKIP;
	memcpy(ret, mgroup_record(g), MCM_BYTES);
	return SA_ROW;
}

static enum sa_step next_mc_member(struct sa_query *q, uint8_t *ret)
{
	struct place at;
	enum sa_step step;

	memcpy(&at, q->at, sizeof(at));
	q->subject = VIEW_NONE; /* the P_Key of the group decides */
	step = at.id ? show_member(q, &at, ret) : show_group(q, &at, ret);
	memcpy(q->at, &at, sizeof(at));
	return step;
}

const struct sa_type sa_mc_member_record = {
	.size = MCM_BYTES,
	SA_HEAD(MC_MEMBER_LIST),
	.matches_itself = true,
	.check = check_query,
	.next = next_mc_member,
	.set = mcm_set,
	.delete = mcm_delete,
};
