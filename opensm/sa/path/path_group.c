// SPDX-License-Identifier: BSD-2-Clause
/* PathRecord to a multicast group: the values of the group, for members (sa.md 4.5). */
#include <string.h>

#include "sa/mcast/mgroup.h"
#include "sa/path/path.h"
#include "util/mem.h"

#define SCOPE_LINK_LOCAL 2
#define HOP_LIMIT_GLOBAL 0xFF

/* Fields that must be equal if the request names them. */
static bool same_values(const struct sa_query *q, const uint8_t *group)
{
	const uint8_t *asked = query_asked(q);
	uint64_t mask = q->rq.mask;

	return (!SA_HAS(mask, PR_PKEY) || ib_get(asked, PR_PKEY) == ib_get(group, MCM_PKEY)) &&
	       (!SA_HAS(mask, PR_SL) || ib_get(asked, PR_SL) == ib_get(group, MCM_SL)) &&
	       (!SA_HAS(mask, PR_TCLASS) ||
		ib_get(asked, PR_TCLASS) == ib_get(group, MCM_TCLASS)) &&
	       (!SA_HAS(mask, PR_FLOW) || ib_get(asked, PR_FLOW) == ib_get(group, MCM_FLOW)) &&
	       (!SA_HAS(mask, PR_HOP) || ib_get(asked, PR_HOP) == ib_get(group, MCM_HOP));
}

static bool suits(const struct sa_query *q, const struct path_wish *w, const struct path_side *src,
		  const struct mgroup *g)
{
	const struct view *v = q->view;
	const uint8_t *group = mgroup_record(g);

	return view_has_pkey(v, q->rq.port, mgroup_pkey(g)) && same_values(q, group) &&
	       path_select_fixed(&w->mtu, (unsigned)ib_get(group, MCM_MTU)) &&
	       path_select_fixed_rate(&w->rate, (unsigned)ib_get(group, MCM_RATE)) &&
	       path_select_fixed(&w->life, (unsigned)ib_get(group, MCM_LIFE)) &&
	       (src->port == VIEW_NONE || mgroup_has_port(q->sa, g, v->ports[src->port].guid));
}

/* By GID, by LID, or by both if they agree. */
static const struct mgroup *find_group(const struct sa_query *q, const struct path_wish *w,
				       const struct path_side *src)
{
	const uint8_t *asked = query_asked(q);
	bool by_lid = SA_HAS(q->rq.mask, PR_DLID);
	lid_t mlid = (lid_t)ib_get(asked, PR_DLID);
	const struct mgroup *g = NULL;

	if (SA_HAS(q->rq.mask, PR_DGID)) {
		g = mgroup_find(q->sa, ib_at(asked, PR_DGID));
		if (g && by_lid && mgroup_mlid(g) != mlid)
			return NULL;
		return g && suits(q, w, src, g) ? g : NULL;
	}
	do
		g = mgroup_on_mlid(q->sa, mlid, g);
	while (g && !suits(q, w, src, g));
	return g;
}

static void put_source(const struct view *v, const struct path_side *src, uint8_t *ret)
{
	const struct view_port *p;

	if (src->port == VIEW_NONE)
		return;
	p = &v->ports[src->port];
	sa_gid(v->prefix, src->id ? src->id : p->guid, ib_at(ret, PR_SGID));
	ib_put(ret, PR_SLID, src->lid ? src->lid : p->lid);
}

bool path_to_group(const struct sa_query *q, const struct path_wish *w, const struct path_side *src,
		   uint8_t *ret)
{
	const struct mgroup *g = find_group(q, w, src);
	const uint8_t *group;

	if (!g)
		return false;
	group = mgroup_record(g);
	memcpy(ib_at(ret, PR_DGID), mgroup_mgid(g), 16);
	put_source(q->view, src, ret);
	ib_put(ret, PR_DLID, mgroup_mlid(g));
	ib_put(ret, PR_FLOW, ib_get(group, MCM_FLOW));
	ib_put(ret, PR_HOP,
	       ib_get(group, MCM_SCOPE) == SCOPE_LINK_LOCAL ? ib_get(group, MCM_HOP)
							    : HOP_LIMIT_GLOBAL);
	ib_put(ret, PR_TCLASS, ib_get(group, MCM_TCLASS));
	ib_put(ret, PR_NUMB_PATH, 1);
	ib_put(ret, PR_PKEY, mgroup_pkey(g));
	ib_put(ret, PR_SL, ib_get(group, MCM_SL));
	ib_put(ret, PR_MTU_SEL, SA_EXACT);
	ib_put(ret, PR_MTU, ib_get(group, MCM_MTU));
	ib_put(ret, PR_RATE_SEL, SA_EXACT);
	ib_put(ret, PR_RATE, ib_get(group, MCM_RATE));
	ib_put(ret, PR_LIFE_SEL, SA_EXACT);
	ib_put(ret, PR_LIFE, ib_get(group, MCM_LIFE));
	return true;
}
