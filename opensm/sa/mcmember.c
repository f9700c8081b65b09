// SPDX-License-Identifier: BSD-2-Clause
/*
 * Set and Delete of MCMemberRecord: may this port join, create, leave? The order of the questions
 * decides which status a client sees; it is that of sa.md 6.1 and 6.2, and stands as such in
 * mcm_set() and mcm_delete().
 *
 * Nothing is changed before everything has been asked, so that a request that fails leaves no trace.
 * Differs from OpenSM: FullMember and SendOnlyFullMember both count as full wherever members are
 * counted (there a group joined with 0x9 and left with 0x1 stays for ever, with its MLID).
 */
#include "sa/mcmember.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/partitions.h"
#include "ib/words.h"
#include "sa/words.h"
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

/* ---- shared with queries -------------------------------------------------------------------- */

uint16_t mcm_check_values(uint64_t mask, const uint8_t *asked)
{
	if (SA_HAS(mask, MCM_MTU) && !sa_mtu_valid(ib_get(asked, MCM_MTU)))
		return SA_REQ_INVALID;
	if (SA_HAS(mask, MCM_RATE) && !sa_rate_valid(ib_get(asked, MCM_RATE)))
		return SA_REQ_INVALID;
	return 0;
}

/* `order` as of "group compared with value". */
static bool selector_holds(enum sa_selector selector, int order)
{
	switch (selector) {
	case SA_GREATER:
		return order > 0;
	case SA_LESS:
		return order < 0;
	case SA_EXACT:
		return order == 0;
	case SA_BEST:
		return true;
	}
	return false;
}

/* A selector counts even if its value's component is not set; a value alone does not. */
bool mcm_selectors_hold(uint64_t mask, const uint8_t *asked, const uint8_t *group)
{
	int mtu = (int)ib_get(group, MCM_MTU) - (int)ib_get(asked, MCM_MTU);
	int rate = sa_rate_compare(ib_get(group, MCM_RATE), ib_get(asked, MCM_RATE));

	if (SA_HAS(mask, MCM_MTU_SEL) && !selector_holds(ib_get(asked, MCM_MTU_SEL), mtu))
		return false;
	return !SA_HAS(mask, MCM_RATE_SEL) || selector_holds(ib_get(asked, MCM_RATE_SEL), rate);
}

bool mcm_port_id(const struct view *v, const uint8_t *asked, guid_t *ret_id)
{
	uint64_t prefix = ib_bits_get(asked, MCM_PORT_GID, 64);

	if (prefix != v->prefix && prefix != LINK_LOCAL_PREFIX)
		return false;
	*ret_id = ib_bits_get(asked, MCM_PORT_GID + 64, 64);
	return true;
}

/* ---- saying why ----------------------------------------------------------------------------- */

/*
 * Logs what the status does not tell, once for each port, group and reason (util/log_flood.h counts the
 * rest); returns the status.
 */
__attribute__((format(printf, 3, 4))) static uint16_t refuse(const struct mcm_request *r,
							     uint16_t status, const char *fmt, ...)
{
	char why[160], mgid[IB_MGID_STRLEN], words[IB_WORD_STRLEN];
	struct sa_who who;
	va_list args;

	if (!log_wants(LOGB_INFO))
		return status;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	sa_who_asks(r->sa, r->rq, &who);
	who.about.id = LOG_ID_JOIN_REFUSED;
	who.about.mgid = ib_mgid_words(ib_at(r->asked, MCM_MGID), mgid);
	who.about.status = sa_status_words(status, words);
	who.about.method = r->rq->method == MAD_SET ? "join" : "leave";
	who.about.hint = why;
	who.about.often = 1;
	log_on(who.about, LOGB_INFO, "%s: multicast %s of %s refused (%s): %s", who.text,
	       who.about.method, mgid, words, why);
	return status;
}

/* ---- what every request must have ----------------------------------------------------------- */

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
	if (mcm_check_values(r->mask, r->asked))
		return refuse(r, SA_REQ_INVALID, "MTU %u, rate %u: no such value",
			      (unsigned)ib_get(r->asked, MCM_MTU),
			      (unsigned)ib_get(r->asked, MCM_RATE));
	return 0;
}

/* Steps 2 to 5: whom is this about? */
static uint16_t check_port(struct mcm_request *r)
{
	const struct view *v = r->sa->view;

	if (!mcm_port_id(v, r->asked, &r->id))
		return refuse(r, SA_REQ_INVALID_GID, "the PortGID is of another subnet");
	r->at = sa_port_of_interface_id(r->sa, v, r->id);
	if (r->at == VIEW_NONE)
		return refuse(r, SA_REQ_INVALID, "nobody has the PortGID ...%016" PRIx64, r->id);
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

#define SAME(r, group, FIELD)                                                                      \
	(!SA_HAS((r)->mask, FIELD) || ib_get((r)->asked, FIELD) == ib_get(group, FIELD))

/* Who asks for an SL that groups cannot have here means what they have instead. */
static bool same_sl(const struct mcm_request *r, const uint8_t *group)
{
	return !SA_HAS(r->mask, MCM_SL) ||
	       view_group_sl(r->sa->view, (uint8_t)ib_get(r->asked, MCM_SL)) == ib_get(group, MCM_SL);
}

static bool same_flow(const struct mcm_request *r, const uint8_t *group)
{
	return SAME(r, group, MCM_QKEY) && SAME(r, group, MCM_TCLASS) && same_sl(r, group) &&
	       SAME(r, group, MCM_FLOW) && SAME(r, group, MCM_HOP);
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
	if (!same_flow(r, mgroup_record(g)) || !SAME(r, mgroup_record(g), MCM_PKEY))
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

/* The MTU of a new group: what is asked for, else what the port has. 0: cannot be. */
static unsigned choose_mtu(const struct mcm_request *r)
{
	unsigned has = r->port->neighbor_mtu, value = ib_get(r->asked, MCM_MTU);

	if (!SA_HAS(r->mask, MCM_MTU_SEL) || !SA_HAS(r->mask, MCM_MTU))
		return has;
	switch ((enum sa_selector)ib_get(r->asked, MCM_MTU_SEL)) {
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

/* Switch ports 0 have no link; they are not what limits a group. */
static unsigned port_rate(const struct mcm_request *r)
{
	return r->port->rate ? r->port->rate : RATE_DEFAULT;
}

static unsigned choose_rate(const struct mcm_request *r)
{
	unsigned has = sa_rate_for_clients(r->sa->conf, port_rate(r));
	unsigned value = ib_get(r->asked, MCM_RATE);

	if (!SA_HAS(r->mask, MCM_RATE_SEL) || !SA_HAS(r->mask, MCM_RATE))
		return has;
	switch ((enum sa_selector)ib_get(r->asked, MCM_RATE_SEL)) {
	case SA_GREATER:
		return sa_rate_compare(has, value) > 0 ? has : 0;
	case SA_LESS:
		return sa_rate_compare(has, value) < 0 ? has : sa_rate_below(value);
	case SA_EXACT:
		return value;
	case SA_BEST:
		return has;
	}
	return 0;
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

/* What the group would be, into `group` (zeroed), and its MLID. */
static uint16_t design_group(const struct mcm_request *r, uint8_t *group, lid_t *ret_mlid)
{
	uint8_t *mgid = ib_at(group, MCM_MGID);
	lid_t wanted = SA_HAS(r->mask, MCM_MLID) ? ib_get(r->asked, MCM_MLID) : 0;
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
	if (!sa_mtu_valid(mtu) || !sa_rate_valid(rate))
		return refuse(r, SA_REQ_INVALID, "no MTU or rate fits; the port has MTU %u rate %u",
			      r->port->neighbor_mtu, r->port->rate);
	fill_group(r, mtu, rate, group);
	*ret_mlid = mgroups_pick_mlid(r->sa, group, wanted, r->sa->view->ports[r->rq->port].guid);
	if (!*ret_mlid)
		return refuse(r, SA_NO_RESOURCES, "no MLID is left, or not for this port");
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

/* Step 12. Who joined for itself is changed by nobody else. */
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

	if (!mcm_selectors_hold(r->mask, r->asked, group))
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

	if (sa->conf->disable_multicast)
		return MAD_STATUS_BAD_METHOD_ATTR;
	take_apart(&r, sa, rq);
	if ((status = check_form(&r)) || (status = check_port(&r)))
		return status;
	g = mgroup_find(sa, ib_at(r.asked, MCM_MGID));
	status = g ? check_existing(&r, mgroup_record(g)) : design_group(&r, fresh, &mlid);
	if (status || (status = check_join(&r, g ? mgroup_record(g) : fresh, g)))
		return status;
	if (!(g && mgroup_member(g, r.id)) && !mgroups_may_join(sa, requester))
		return refuse(&r, SA_NO_RESOURCES, "this port has asked for too many members");
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
	member = g && mcm_port_id(sa->view, r.asked, &r.id) ? mgroup_member(g, r.id) : NULL;
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

static const struct ib_field fields[] = IB_LAYOUT_ROWS(MC_MEMBER_LIST);

const struct sa_type sa_mc_member_record = {
	.attr = SA_MC_MEMBER_RECORD,
	.name = "MCMemberRecord",
	.size = MCM_BYTES,
	.head_len = MCM_BYTES,
	.head = fields,
	.n_head = ARRAY_SIZE(fields),
	.matches_itself = true,
	.check = mcquery_check,
	.next = mcquery_next,
	.set = mcm_set,
	.delete = mcm_delete,
};
