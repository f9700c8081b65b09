// SPDX-License-Identifier: BSD-2-Clause
/*
 * A greater manager comes, often the former master that is back: it gets the fabric, but if it is one of
 * ours, not before it has copied what is registered here. Who does not ask like one of ours within
 * SHOWS, and who has not got its copy within COPIES, gets the fabric as it is. Where nothing is
 * registered nobody waits.
 */
#include "sm/replica.h"

#include "sm/elect.h"

#define SHOWS  (2 * MONO_S)
#define COPIES (8 * MONO_S)
#define STALE  (30 * MONO_S) /* not asked about for so long: it was away */

static bool has_something(const struct sm *sm)
{
	const struct sa_stats *st = sa_stats(sm->sa);

	return sm->first_sweep_done &&
	       (st->members || st->services || st->guids || st->subscriptions);
}

static bool has_copied(const struct replica *r, const struct replica_heir *h)
{
	const struct config_peer *p = config_peer(r, h->guid);

	return p && p->copied && p->heard >= h->since;
}

bool replica_may_succeed(const struct sm *sm, guid_t guid)
{
	struct replica_heir *h = &sm->replica->heir;

	if (!has_something(sm))
		return true;
	if (h->guid != guid || sm->now > h->until + STALE)
		*h = (struct replica_heir){ .guid = guid,
					    .since = sm->now,
					    .until = sm->now + SHOWS };
	return has_copied(sm->replica, h) || sm->now >= h->until;
}

/*
 * Only managers of ours ask for managers. One that is not known as such yet is asked what it is, whether its
 * trap 144 arrived or not: until it has answered it is told what any host may know.
 */
static void look_at_stranger(struct sm *sm, guid_t guid)
{
	const struct remote_sm *r = remote_find(sm, guid);
	struct port *p = fabric_find_port(sm->fabric, guid);

	if (p && !(r && remote_counts(sm, r)))
		elect_look_at(sm, p);
}

void replica_manager_seen(void *owner, guid_t guid, const uint8_t *record)
{
	struct sm *sm = owner;
	struct replica_heir *h = &sm->replica->heir;

	if (record)
		config_compare(sm, guid, record);
	else
		look_at_stranger(sm, guid);
	if (h->guid != guid)
		return;
	if (!record && !h->asked && sm->now < h->until) {
		h->asked = true;
		h->until = h->since + COPIES;
	}
	if (record && has_copied(sm->replica, h))
		sm->decide_pending = true;
}

void heir_tick(struct sm *sm)
{
	struct replica_heir *h = &sm->replica->heir;

	if (!h->guid || sm->now < h->until || h->told)
		return;
	h->told = true;
	sm->decide_pending = true;
}

mono_t heir_next(const struct sm *sm)
{
	const struct replica_heir *h = &sm->replica->heir;

	return h->guid && !h->told ? h->until : MONO_NEVER;
}
