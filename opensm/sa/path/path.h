// SPDX-License-Identifier: BSD-2-Clause
/*
 * Path records: what PathRecord and MultiPathRecord have in common (sa.md 4, 5).
 *
 *   path.c       a PathRecord request, pair by pair       multipath.c  many to many
 *   path_pair.c  all paths of one pair of ports           path_walk.c  one way through the tables
 *   path_group.c to a multicast group               select.c     selectors
 *   path_policy.c  the level of the QoS policy
 *
 * A pair is opened (may the requester know of both, which P_Key, which SL), then gives one record
 * after the other: the diagonal of its LID ranges first. Nothing is allocated per path.
 */
#pragma once

#include "conf/qos/qos_policy.h"
#include "sa/base/sa_internal.h"
#include "view/path_walk.h"

/* GIDs with this prefix mean our subnet, whatever subnet_prefix is. */
#define PATH_LINK_LOCAL_PREFIX UINT64_C(0xFE80000000000000)

/* A selector with MTU, rate or packet life time; given if both components are set. */
struct path_select {
	bool given;
	uint8_t selector; /* enum sa_selector */
	uint8_t value;
};

/* Requirements of a request on every path, whatever its ends. */
struct path_wish {
	struct path_select mtu, rate, life;
	bool raw;
	bool reversible;
	bool has_pkey, has_sl;
	/* set if one of the two components of a ServiceID is given without the other */
	bool half_service;
	uint16_t pkey;
	uint8_t sl;
	/* of the query's view; NULL: none. Set by path_wish_ask() */
	const struct qos_policy *policy;
	struct qos_asked asked; /* answer of that policy */
	bool judges_back;	/* set if a level may refuse the way back */
};

/* Reads a wish; P is PR or MPR. */
#define PATH_SELECT(P, MASK, RECORD, WHAT)                                                         \
	{                                                                                          \
		.given = SA_HAS(MASK, P##_##WHAT##_SEL) && SA_HAS(MASK, P##_##WHAT),               \
		.selector = (uint8_t)ib_get(RECORD, P##_##WHAT##_SEL),                             \
		.value = (uint8_t)ib_get(RECORD, P##_##WHAT)                                       \
	}
#define PATH_WISH(P, MASK, RECORD)                                                                 \
	{                                                                                          \
		.mtu = PATH_SELECT(P, MASK, RECORD, MTU),                                          \
		.rate = PATH_SELECT(P, MASK, RECORD, RATE),                                        \
		.life = PATH_SELECT(P, MASK, RECORD, LIFE),                                        \
		.raw = SA_HAS(MASK, P##_RAW) && ib_get(RECORD, P##_RAW),                           \
		.reversible = SA_HAS(MASK, P##_REVERSIBLE) && ib_get(RECORD, P##_REVERSIBLE),      \
		.has_pkey = SA_HAS(MASK, P##_PKEY), .has_sl = SA_HAS(MASK, P##_SL),                \
		.half_service =                                                                    \
			P##_HAS(MASK, P##_SERVICE_ID_MSB) != P##_HAS(MASK, P##_SERVICE_ID_LSB),    \
		.pkey = (uint16_t)ib_get(RECORD, P##_PKEY), .sl = (uint8_t)ib_get(RECORD, P##_SL)  \
	}

/*
 * Checks that MTU and rate exist, whatever the selector, and that a ServiceID is complete (sa.md
 * 4.1). Returns 0, REQ_INVALID or REQ_INSUFFICIENT_COMPONENTS.
 */
uint16_t path_wish_check(const struct path_wish *w);

/* Does `value` fit as it is? For groups, whose values cannot be lowered. */
bool path_select_fixed(const struct path_select *s, unsigned value);
bool path_select_fixed_rate(const struct path_select *s, unsigned rate);
/*
 * Does a path of that value satisfy the request? Changes the value to that of the answer ("less
 * than 2048" of a 4096 path: 1024; see the table in sa.md 4.3).
 */
bool path_select_mtu(const struct path_select *s, uint8_t *mtu);
bool path_select_rate(const struct path_select *s, uint8_t *rate);
bool path_select_life(const struct path_select *s, uint8_t *life);

/* The request for the policy; P is PR or MPR. */
#define PATH_REQUEST(P, MASK, RECORD)                                                              \
	{                                                                                          \
		.has_service =                                                                     \
			P##_HAS(MASK, P##_SERVICE_ID_MSB) && P##_HAS(MASK, P##_SERVICE_ID_LSB),    \
		.has_class = SA_HAS(MASK, P##_QOS_CLASS), .has_pkey = SA_HAS(MASK, P##_PKEY),      \
		.service = ib_get(RECORD, P##_SERVICE_ID_MSB) << 56 |                              \
			   ib_get(RECORD, P##_SERVICE_ID_LSB),                                     \
		.class = (uint16_t)ib_get(RECORD, P##_QOS_CLASS),                                  \
		.pkey = (uint16_t)ib_get(RECORD, P##_PKEY)                                         \
	}
/* Sets the policy of the query's view, and its answer to such a request. Once per query. */
void path_wish_ask(const struct sa_query *q, const struct qos_request *rq, struct path_wish *w);
/* One side of a pair. */
struct path_side {
	uint32_t port; /* end port of the view */
	lid_t lid;     /* requested LID, for this LID only; 0: all LIDs of the port */
	guid_t id;     /* requested interface id, perhaps an alias; 0: the port's GUID */
};

/* All paths from one port to another. All zero but for the first five members, then path_open(). */
struct path_pair {
	struct path_side src, dst;
	const uint8_t *dgid; /* off-subnet: `dst` is the router; NULL: dst's own GID */
	uint16_t left;	     /* most paths to be returned */
	bool counted;	     /* set if a pair was opened before: its rule has been counted */

	const struct qos_level *level; /* level of the QoS policy; NULL: no policy */
	struct qos_ends ends;	       /* valid with a policy */
	uint16_t pkey;
	uint8_t sl;
	uint8_t mtu_limit;     /* by enable_quirks; 0: none */
	uint16_t n_src, n_dst; /* number of LIDs of each side */
	uint16_t at;	       /* number of the next combination, the diagonal first */
};

/* The level of the pair; NULL: no policy. Sets p->ends, and counts the rule once. */
const struct qos_level *path_level(const struct sa_query *q, const struct path_wish *w,
				   struct path_pair *p);
/* The level of the way back of a pair with a level; counts nothing. */
const struct qos_level *path_level_back(const struct path_wish *w, const struct path_pair *p);

/*
 * Do the ports share the requested P_Key? Sets P_Key and SL of all their paths. Whether the
 * requester may know the ports is checked by the caller: query_may_see().
 */
bool path_open(const struct sa_query *q, const struct path_wish *w, struct path_pair *p);
/*
 * Tries the next combination of LIDs. SA_ROW: `ret` (zeroed, PR_BYTES) is a record; SA_SKIP: no
 * record, there may be more; SA_END: no more combinations.
 */
enum sa_step path_next(const struct sa_query *q, const struct path_wish *w, struct path_pair *p,
		       uint8_t *ret);
/*
 * Fills in the record of a PathRecord request whose DGID or DLID is multicast (sa.md 4.5). `src`:
 * requested source, VIEW_NONE: none. False: no such group, or not for this requester.
 */
bool path_to_group(const struct sa_query *q, const struct path_wish *w, const struct path_side *src,
		   uint8_t *ret);
