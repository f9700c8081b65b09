// SPDX-License-Identifier: BSD-2-Clause
/*
 * A greater manager comes, often the former master that is back: it gets the fabric, but if it is
 * one of ours, not before it has copied what is registered here.
 *
 *   HEIR_NEW --asks like one of ours within SHOWS--> HEIR_OURS --has its copy--> gets the fabric
 *      |                                                 |                         ^
 *      '------------- SHOWS is over ---------------------+-- STORES is over --> HEIR_DUE
 *
 * Registrations that cannot be copied are waited for COPIES only.
 *
 * Where nothing is registered the fabric is handed over at once.
 */
#include "sm/admin/replica_internal.h"
#include "sm/base/news.h"

#define SHOWS  (2 * MONO_S)
#define COPIES (8 * MONO_S)
#define STORES (60 * MONO_S) /* the same with what has_changes() */
#define STALE  (30 * MONO_S) /* not asked about for so long: it was away */

/*
 * Changes of an administrator or of orchestration, which are nowhere else; or the keys of hosts
 * that are away, which nothing else may make any more.
 */
static bool has_changes(const struct sm *sm)
{
	return tenants_generation(sm_tenants(sm)) || sm_marks_generation(sm) ||
	       sm->m.replica->questions->has_lines(sm);
}

static bool has_something(const struct sm *sm)
{
	const struct sa_stats *st = sa_stats(sm->sa);

	return sm->first_sweep_done &&
	       (st->members || st->services || st->guids || st->subscriptions ||
		has_changes(sm));
}

/*
 * The heir has the registrations of this manager, if they can be copied in time; and the partitions
 * and marks made at run time, and keys of hosts that are away, which are waited for longer.
 */
static bool has_copied(const struct sm *sm, const struct replica_heir *h)
{
	const struct config_peer *p = config_peer(sm->m.replica, h->guid);
	bool copied = p && p->copied && p->heard >= h->since;

	return (copied || (h->state == HEIR_OURS && sm->now >= h->since + COPIES)) &&
	       sm->m.replica->questions->has_stored(sm, h->guid);
}

bool replica_may_succeed(const struct sm *sm, guid_t guid)
{
	struct replica_heir *h = &sm->m.replica->heir;

	if (!has_something(sm))
		return true;
	if (h->guid != guid || sm->now > h->until + STALE)
		*h = (struct replica_heir){ .guid = guid,
					    .since = sm->now,
					    .until = sm->now + SHOWS };
	return has_copied(sm, h) || sm->now >= h->until;
}

/*
 * Only managers of ours ask for managers. One that is not known as such yet is asked what it is,
 * whether its trap 144 arrived or not: until it has answered it is told what any host may know.
 */
static void look_at_stranger(struct sm *sm, guid_t guid)
{
	struct port *p = fabric_find_port(sm->fabric, guid);

	if (p && !elect_is_manager(sm, guid))
		tell_news(sm, NEWS_MANAGER_HEARD, .port = p);
}

void replica_manager_seen(void *owner, guid_t guid, const uint8_t *record)
{
	struct sm *sm = owner;
	struct replica_heir *h = &sm->m.replica->heir;

	if (record)
		config_compare(sm, guid, record);
	else
		look_at_stranger(sm, guid);
	if (h->guid != guid)
		return;
	if (!record && h->state == HEIR_NEW && sm->now < h->until) {
		h->state = HEIR_OURS;
		h->until = h->since + (has_changes(sm) ? STORES : COPIES);
	}
	if (record && has_copied(sm, h))
		tell_news(sm, NEWS_SUCCESSOR_READY);
}

void replica_look_at_heir(struct sm *sm)
{
	const struct replica_heir *h = &sm->m.replica->heir;

	if (h->guid && h->state == HEIR_OURS && has_copied(sm, h))
		tell_news(sm, NEWS_SUCCESSOR_READY);
}

void heir_tick(struct sm *sm)
{
	struct replica_heir *h = &sm->m.replica->heir;

	if (!h->guid || h->state == HEIR_DUE || sm->now < heir_next(sm))
		return;
	if (sm->now < h->until && !has_copied(sm, h))
		return;
	h->state = HEIR_DUE;
	tell_news(sm, NEWS_SUCCESSOR_READY);
}

mono_t heir_next(const struct sm *sm)
{
	const struct replica_heir *h = &sm->m.replica->heir;

	if (!h->guid || h->state == HEIR_DUE)
		return MONO_NEVER;
	if (h->state == HEIR_OURS && sm->now < h->since + COPIES)
		return mono_min(h->until, h->since + COPIES);
	return h->until;
}
