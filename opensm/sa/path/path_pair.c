// SPDX-License-Identifier: BSD-2-Clause
/*
 * The paths of one pair of ports: partition and service level once, then for each combination of
 * LIDs the way there and the way back (sa.md 4.2 to 4.4).
 */
#include <string.h>

#include "conf/files.h"
#include "conf/partitions/partitions.h"
#include "ib/codes.h"
#include "plan/pkey.h"
#include "sa/mcast/mgroup.h"
#include "sa/path/path.h"
#include "util/mem.h"
#include "view/view_policy.h"

#define HOP_LIMIT_GLOBAL 0xFF
#define LIFE_AT_HOME	 0 /* a port to itself */

/* Adapters that are slower with more bytes (enable_quirks). */
static bool is_slow_above_1024(const struct view *v, uint32_t port)
{
	const struct view_node *n = &v->nodes[v->ports[port].node];

	return conf_files_quirk(v->files, QUIRK_MTU_1024, n->vendor_id, n->device_id);
}

/* sa.md 4.4; one of the level's, if that names any. */
static bool choose_pkey(const struct view *v, const struct path_wish *w, struct path_pair *p)
{
	const struct qos_ranges *only = p->level && p->level->pkeys.n ? &p->level->pkeys : NULL;
	uint16_t common;
	unsigned src, dst;

	if (!w->raw && !w->has_pkey && only)
		return view_level_pkey(v, p->level, p->src.port, p->dst.port, &p->pkey);
	if (w->raw || !w->has_pkey) {
		if (!view_share_pkey(v, p->src.port, p->dst.port, &common))
			return false;
		p->pkey = w->raw ? 0 : common;
		return true;
	}
	src = view_pkey_forms(v, p->src.port, w->pkey);
	dst = view_pkey_forms(v, p->dst.port, w->pkey);
	if (!src || !dst || !((src | dst) & PKEY_SET_FULL))
		return false;
	if (only && !qos_ranges_have(only, w->pkey & PKEY_BASE))
		return false;
	p->pkey = w->pkey;
	return true;
}

/* Before routing has its say (sa.md 4.4). */
static uint8_t choose_sl(const struct sa_query *q, const struct path_wish *w,
			 const struct path_pair *p)
{
	const struct partitions *all = mgroups_partitions(q->sa);
	const struct partition *part = all ? partitions_find(all, p->pkey) : NULL;
	uint8_t sl = 0;

	if (w->has_sl)
		return w->sl;
	if (p->level)
		return p->level->sl;
	if (part)
		return part->sl;
	while (sl < QOS_SLS - 1 && !view_wish_passes(q->view, p->src.port, sl))
		sl++;
	return sl;
}

/*
 * An SL that is asked for has the bits of the level, if there is one; an SL that a level or
 * partition says has a VL.
 */
static bool level_allows_sl(const struct sa_query *q, const struct path_wish *w,
			    const struct path_pair *p)
{
	if (p->level && w->has_sl && !view_sl_is_of(q->view, w->sl, p->level->sl))
		return false;
	if (p->level)
		return view_wish_passes(q->view, p->src.port, p->level->sl);
	return w->has_sl || view_wish_passes(q->view, p->src.port, p->sl);
}

static uint16_t lids_of(const struct view *v, const struct path_side *s)
{
	return s->lid ? 1 : (uint16_t)(1u << v->ports[s->port].lmc);
}

bool path_open(const struct sa_query *q, const struct path_wish *w, struct path_pair *p)
{
	const struct view *v = q->view;

	p->level = path_level(q, w, p);
	if (!choose_pkey(v, w, p))
		return false;
	p->sl = choose_sl(q, w, p);
	if (!level_allows_sl(q, w, p))
		return false;
	p->mtu_limit = 0;
	if (q->sa->conf->enable_quirks &&
	    (is_slow_above_1024(v, p->src.port) || is_slow_above_1024(v, p->dst.port)))
		p->mtu_limit = IB_MTU_1024;
	p->n_src = lids_of(v, &p->src);
	p->n_dst = lids_of(v, &p->dst);
	p->at = 0;
	return true;
}

/* ---- one path ------------------------------------------------------------------------------- */

struct values {
	uint8_t mtu, rate, life, sl;
};

/*
 * Lanes are by LID, or by switch: each path has its own. A request that insists on another SL gets
 * none.
 */
static bool settle_sl(const struct view *v, const struct path_wish *w, const struct path_ask *ask,
		      uint8_t *sl)
{
	if (ask->src == ask->dst) {
		*sl = w->has_sl ? *sl : qos_level_sl(&v->qos, *sl);
		return view_sl_passes(v, ask->src, *sl);
	}
	*sl = w->has_sl ? view_asked_sl(v, ask->src, ask->dst, ask->dlid, *sl)
			: view_path_sl(v, ask->src, ask->dst, ask->dlid, *sl);
	return (!w->has_sl || *sl == w->sl) && view_sl_passes(v, ask->src, *sl);
}

/* The limit of old adapters is advice: a request for more gets more. */
static bool select_mtu(const struct path_wish *w, uint8_t advice, uint8_t *mtu)
{
	uint8_t limited = advice;

	if (advice && advice < *mtu && path_select_mtu(&w->mtu, &limited)) {
		*mtu = limited;
		return true;
	}
	return path_select_mtu(&w->mtu, mtu);
}

/* What the level allows at most, and its life time. */
static void limit(const struct qos_level *level, bool home, struct values *ret)
{
	if (level->mtu)
		ret->mtu = MIN(ret->mtu, level->mtu);
	if (level->rate && ib_rate_rank(level->rate) < ib_rate_rank(ret->rate))
		ret->rate = level->rate;
	if (level->has_life && !home)
		ret->life = level->life;
}

static bool judge(const struct sa_query *q, const struct path_wish *w, const struct path_pair *p,
		  const struct path_way *way, struct values *ret)
{
	const struct conf *conf = q->sa->conf;
	bool home = p->src.port == p->dst.port;

	*ret = (struct values){
		.mtu = way->mtu,
		.rate = way->rate,
		.life = home ? LIFE_AT_HOME : conf->subnet_timeout,
	};
	if (p->level)
		limit(p->level, home, ret);
	ret->rate = (uint8_t)sa_rate_for_clients(conf, ret->rate);
	return select_mtu(w, p->mtu_limit, &ret->mtu) && path_select_rate(&w->rate, &ret->rate) &&
	       path_select_life(&w->life, &ret->life);
}

/*
 * The policy has its say on the way back too, as the peer has it: what it forbids there makes no
 * reversible path.
 */
static bool comes_back(const struct sa_query *q, const struct path_wish *w,
		       const struct path_pair *p, const struct path_way *way)
{
	struct path_pair back = { .src = p->dst, .dst = p->src, .mtu_limit = p->mtu_limit };
	struct values unused;

	if (way->n == PATH_NO_WAY)
		return false;
	back.level = p->level && w->judges_back ? path_level_back(w, p) : NULL;
	if (!judge(q, w, &back, way, &unused))
		return false;
	if (!back.level)
		return true;
	return (back.level == p->level || choose_pkey(q->view, w, &back)) &&
	       level_allows_sl(q, w, &back);
}

static void put_gid(const struct view *v, const struct path_side *s, uint8_t *ret)
{
	sa_gid(v->prefix, s->id ? s->id : v->ports[s->port].guid, ret);
}

static void put_record(const struct view *v, const struct path_pair *p, const struct values *values,
		       uint8_t *ret)
{
	if (p->dgid)
		memcpy(ib_at(ret, PR_DGID), p->dgid, 16);
	else
		put_gid(v, &p->dst, ib_at(ret, PR_DGID));
	put_gid(v, &p->src, ib_at(ret, PR_SGID));
	ib_put(ret, PR_HOP, p->dgid ? HOP_LIMIT_GLOBAL : 0);
	ib_put(ret, PR_PKEY, p->pkey);
	ib_put(ret, PR_SL, values->sl);
	ib_put(ret, PR_MTU_SEL, SA_EXACT);
	ib_put(ret, PR_MTU, values->mtu);
	ib_put(ret, PR_RATE_SEL, SA_EXACT);
	ib_put(ret, PR_RATE, values->rate);
	ib_put(ret, PR_LIFE_SEL, SA_EXACT);
	ib_put(ret, PR_LIFE, values->life);
}

/* Combination number `at`: (0,0), (1,1) ..., then all others. False: there is none any more. */
static bool combination(const struct path_pair *p, unsigned at, unsigned *ret_src,
			unsigned *ret_dst)
{
	unsigned diagonal = MIN(p->n_src, p->n_dst), n = (unsigned)p->n_src * p->n_dst;

	if (at >= n)
		return false;
	if (at < diagonal) {
		*ret_src = *ret_dst = at;
		return true;
	}
	/* Row i of the matrix lacks its diagonal element as long as i < diagonal. */
	at -= diagonal;
	for (unsigned i = 0; i < p->n_src; i++) {
		unsigned row = p->n_dst - (i < diagonal ? 1u : 0u);

		if (at < row) {
			*ret_src = i;
			*ret_dst = at + (i < diagonal && at >= i ? 1u : 0u);
			return true;
		}
		at -= row;
	}
	return false;
}

static lid_t lid_of(const struct view *v, const struct path_side *s, unsigned i)
{
	return s->lid ? s->lid : (lid_t)(v->ports[s->port].lid + i);
}

enum sa_step path_next(const struct sa_query *q, const struct path_wish *w, struct path_pair *p,
		       uint8_t *ret)
{
	unsigned at = p->at, i, k;
	struct path_way there, back;
	struct path_ask ask;
	struct values values;
	bool reversible;

	if (!p->left || !combination(p, at, &i, &k))
		return SA_END;
	p->at++;
	ask = (struct path_ask){
		.src = p->src.port,
		.dst = p->dst.port,
		.slid = lid_of(q->view, &p->src, i),
		.dlid = lid_of(q->view, &p->dst, k),
	};
	if (!path_walk(q->view, &ask, &there, &back) || !judge(q, w, p, &there, &values))
		return SA_SKIP;
	values.sl = p->sl;
	if (!settle_sl(q->view, w, &ask, &values.sl))
		return SA_SKIP;
	reversible = comes_back(q, w, p, &back);
	if (w->reversible && !reversible)
		return SA_SKIP;
	put_record(q->view, p, &values, ret);
	ib_put(ret, PR_SLID, ask.slid);
	ib_put(ret, PR_DLID, ask.dlid);
	ib_put(ret, PR_REVERSIBLE, reversible);
	ib_put(ret, PR_PREFERENCE, i == k ? 0 : 2);
	p->left--;
	return SA_ROW;
}
