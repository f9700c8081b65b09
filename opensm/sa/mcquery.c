// SPDX-License-Identifier: BSD-2-Clause
/*
 * Get and GetTable of MCMemberRecord (sa.md 6.3): groups in the order of MGIDs, for the trusted with
 * their members in the order of PortGIDs. A standby of ours is told of groups without members, too.
 *
 * The place of a query is the last MGID and interface id it has shown, not a pointer: groups come
 * and go between two slices.
 */
#include <string.h>

#include "sa/mcmember.h"
#include "util/mem.h"

/* sa_query.at as we use it; the MGID is all zeros before the first group. */
struct place {
	uint8_t mgid[16];
	guid_t id; /* next member to show; 0: go to the next group */
};

_Static_assert(sizeof(struct place) <= sizeof(((struct sa_query *)NULL)->at), "fits the cursor");

uint16_t mcquery_check(const struct sa_query *q)
{
	return mcm_check_values(q->rq.mask, query_asked(q));
}

#define SAME(q, group, FIELD)                                                                      \
	(!SA_HAS((q)->rq.mask, FIELD) || ib_get(query_asked(q), FIELD) == ib_get(group, FIELD))

static bool group_matches(const struct sa_query *q, const uint8_t *group)
{
	return SAME(q, group, MCM_MLID) && SAME(q, group, MCM_QKEY) && SAME(q, group, MCM_PKEY) &&
	       SAME(q, group, MCM_TCLASS) && SAME(q, group, MCM_SL) && SAME(q, group, MCM_FLOW) &&
	       SAME(q, group, MCM_HOP) && SAME(q, group, MCM_SCOPE) &&
	       mcm_selectors_hold(q->rq.mask, query_asked(q), group);
}

static bool group_is_visible(const struct sa_query *q, const struct mgroup *g)
{
	return q->rq.whole || view_has_pkey(q->view, q->rq.port, mgroup_pkey(g));
}

/* For those who must not see members a PortGID still asks for the groups it is in. */
static bool group_has_asked_port(const struct sa_query *q, const struct mgroup *g)
{
	guid_t id;

	if (!SA_HAS(q->rq.mask, MCM_PORT_GID))
		return true;
	return mcm_port_id(q->view, query_asked(q), &id) && mgroup_member(g, id);
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
		return mcm_port_id(q->view, query_asked(q), &only) ? mgroup_member(g, only) : NULL;
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

static enum sa_step show_group(const struct sa_query *q, struct place *at, uint8_t *ret)
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

enum sa_step mcquery_next(struct sa_query *q, uint8_t *ret)
{
	struct place at;
	enum sa_step step;

	memcpy(&at, q->at, sizeof(at));
	q->subject = VIEW_NONE; /* what decides is the P_Key of the group */
	step = at.id ? show_member(q, &at, ret) : show_group(q, &at, ret);
	memcpy(q->at, &at, sizeof(at));
	return step;
}
