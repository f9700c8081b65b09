// SPDX-License-Identifier: BSD-2-Clause
/*
 * A manager of greater priority stands by, often the former master that is back. It gets the
 * fabric; if it is one of ours, not before it has all state of this one (the ledger, our
 * configuration), however long that takes. It is one of ours if it answers on the channel, or asks
 * for managers, within SHOWS. For registrations of hosts that cannot be copied, COPIES is the
 * limit: hosts register again. Without registrations or state the fabric is handed over at once.
 */
#include "sm/answers/replica_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/sm_ledger.h"

#define SHOWS  (2 * MONO_S)
#define COPIES (8 * MONO_S)
#define STORES (60 * MONO_S)
#define TELL   (10 * MONO_S)
#define STALE  (30 * MONO_S) /* time without a request of the election after which it was away */

/*
 * Has the ledger changes of an administrator or orchestrator, or keys of absent hosts, which exist
 * nowhere else?
 */
static bool has_changes(const struct sm *sm)
{
	const struct ledger *l = settle_ledger(sm);

	return ledger_rows(l, LEDGER_MEMBER) || ledger_rows(l, LEDGER_PARTITION) ||
	       ledger_rows(l, LEDGER_MARK) || sm_marks_generation(sm) ||
	       sm->m.replica->questions->has_keys(sm);
}

static bool has_something(const struct sm *sm)
{
	const struct sa_stats *st = sa_stats(sm->sa);

	return sm->first_sweep_done &&
	       (st->members || st->services || st->guids || st->subscriptions || has_changes(sm));
}

static bool is_ours(const struct sm *sm, const struct replica_successor *h)
{
	/* a manager that was ours may be replaced by another program, so STORES limits the wait */
	return h->is_ours || channel_has_answered(sm, h->guid) ||
	       (settle_knows(sm, h->guid) && sm->now < h->since + STORES);
}

/*
 * The time to wait for registrations of hosts, and for what the channel copies besides the ledger.
 */
static mono_t patience(const struct sm *sm, const struct replica_successor *h)
{
	if (!is_ours(sm, h))
		return SHOWS;
	return sm->m.replica->questions->has_rest(sm, h->guid) ? COPIES : STORES;
}

static bool has_copied(const struct sm *sm, const struct replica_successor *h)
{
	const struct config_peer *p = config_peer(sm->m.replica, h->guid);

	return p && p->copied && p->heard >= h->since &&
	       sm->m.replica->questions->has_rest(sm, h->guid);
}

static bool may_have_it(const struct sm *sm, const struct replica_successor *h)
{
	if (is_ours(sm, h) && !sm->m.replica->questions->has_rows(sm, h->guid))
		return false;
	return has_copied(sm, h) || sm->now >= h->since + patience(sm, h);
}

bool replica_may_succeed(const struct sm *sm, guid_t guid)
{
	struct replica_successor *h = &sm->m.replica->successor;

	if (!has_something(sm))
		return true;
	if (h->guid != guid || sm->now > h->asked_at + STALE)
		*h = (struct replica_successor){ .guid = guid, .since = sm->now };
	h->asked_at = sm->now;
	h->is_ready = may_have_it(sm, h);
	return h->is_ready;
}

guid_t sm_ledger_waiting(const struct sm *sm)
{
	const struct replica_successor *h = &sm->m.replica->successor;
	bool waits = sm->state == SM_MASTER && h->guid && !h->is_ready && is_ours(sm, h) &&
		     sm->now <= h->asked_at + STALE;

	return waits ? h->guid : 0;
}

/*
 * Asks an unknown manager what it is, whether or not its trap 144 arrived, as only managers of ours
 * ask for managers. Until it answers it gets the rights of any host.
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
	struct replica_successor *h = &sm->m.replica->successor;

	if (record)
		config_compare(sm, guid, record);
	else
		look_at_stranger(sm, guid);
	if (h->guid == guid && !record && sm->now < h->since + SHOWS)
		h->is_ours = true;
	replica_look_at_successor(sm);
}

void replica_look_at_successor(struct sm *sm)
{
	struct replica_successor *h = &sm->m.replica->successor;

	if (sm->state != SM_MASTER || !h->guid || h->is_ready || !may_have_it(sm, h))
		return;
	h->is_ready = true;
	tell_news(sm, NEWS_SUCCESSOR_READY);
}

/* Logs once why the manager of greater priority does not take over yet. */
static void tell_wait(struct sm *sm, struct replica_successor *h)
{
	if (h->is_told || h->is_ready || sm->now < h->since + TELL || sm->now > h->asked_at + STALE)
		return;
	h->is_told = true;
	log_guid(sm, h->guid, LOG_ID_HANDOVER, LOGB_INFO,
		 "this manager has a greater priority, and takes over when it has stored what was "
		 "changed at run time (opensmctl managers shows what it lacks)");
}

void successor_tick(struct sm *sm)
{
	if (sm->state != SM_MASTER || !sm->m.replica->successor.guid)
		return;
	replica_look_at_successor(sm);
	tell_wait(sm, &sm->m.replica->successor);
}

mono_t successor_next(const struct sm *sm)
{
	static const mono_t ends[] = { SHOWS, COPIES, TELL, STORES };
	const struct replica_successor *h = &sm->m.replica->successor;
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; h->guid && !h->is_ready && i < ARRAY_SIZE(ends); i++) {
		if (sm->now < h->since + ends[i])
			next = mono_min(next, h->since + ends[i]);
	}
	return sm->state == SM_MASTER ? next : MONO_NEVER;
}
