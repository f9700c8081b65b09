// SPDX-License-Identifier: BSD-2-Clause
/*
 * ServiceRecord: hosts announce services, others look them up (sa.md 7).
 *
 * The first 26 bytes of a service identify it: ID, GID and P_Key. A P_Key that the
 * component mask of Set does not name is kept as 0; Delete compares the bytes of the request,
 * whatever its mask says. The key is shown to the trusted and authorizes nothing.
 */
#include "sa/service.h"

#include <errno.h>
#include <string.h>

#include "plan/pkey.h"
#include "sa/base/chain.h"
#include "sa/base/roll.h"
#include "util/hash.h"
#include "util/mem.h"

#define IDENTITY_BYTES 26
#define LOOK	       MONO_S /* least time between two checks of leases */

struct services {
	struct guidmap *by_identity; /* by hash of the identity: chain of struct service */
	struct roll all;
	mono_t next_look, last_look;
	bool restored; /* set if restored leases do not run yet */
	bool was_published;
	struct service *own; /* services of the manager itself; NULL: none */
	size_t n_managers;   /* number of services of managers, which are in no count and no dump */
};

struct services *services_new(struct sa *sa)
{
	struct services *s = xcalloc(1, sizeof(*s));

	s->by_identity = guidmap_new();
	s->next_look = MONO_NEVER;
	return s;
}

struct services *services_free(struct services *s)
{
	void *service;

	if (!s)
		return NULL;
	ROLL_EACH(&s->all, service)
		free(service);
	roll_clear(&s->all);
	guidmap_free(s->by_identity);
	free(s);
	return NULL;
}

struct service *services_before(const struct sa *sa, uint64_t *cursor)
{
	return roll_before(&sa->services->all, cursor);
}

/* ---- the store ----------------------------------------------------------------------------- */

/* A hash, never 0. The quota of a requester limits the chains that it can cause. */
static uint64_t hash_of(const uint8_t *record)
{
	uint64_t h = hash_bytes(HASH_START, record, IDENTITY_BYTES);

	return h ? h : 1;
}

static struct service *find_service(const struct services *all, const uint8_t *record)
{
	struct service *s = guidmap_get(all->by_identity, hash_of(record));

	while (s && memcmp(s->record, record, IDENTITY_BYTES))
		s = s->chain;
	return s;
}

static void services_changed(struct sa *sa, bool manager)
{
	sa->stats.services = (uint32_t)(sa->services->all.live - sa->services->n_managers);
	if (!manager)
		sa->db_version++;
}

static void drop_service(struct sa *sa, struct service *s)
{
	struct services *all = sa->services;

	CHAIN_REMOVE(all->by_identity, s->hash, s);
	roll_remove(&all->all, s->id);
	quota_charge(sa, SA_QUOTA_SERVICES, s->owner, -1);
	if (s->manager)
		all->n_managers--;
	if (s == all->own)
		all->own = NULL;
	services_changed(sa, s->manager);
	free(s);
}

static bool is_of_manager(const uint8_t *record)
{
	return ib_get(record, SVR_ID) == SA_MANAGER_ID;
}

static struct service *add_service(struct sa *sa, const uint8_t *record, guid_t owner)
{
	struct services *all = sa->services;
	struct service *s = xcalloc(1, sizeof(*s));

	memcpy(s->record, record, SVR_BYTES);
	s->hash = hash_of(record);
	s->owner = owner;
	s->manager = is_of_manager(record);
	if (s->manager)
		all->n_managers++;
	CHAIN_ADD(all->by_identity, s->hash, s);
	s->id = roll_add(&all->all, s);
	quota_charge(sa, SA_QUOTA_SERVICES, owner, 1);
	return s;
}

/* ---- leases -------------------------------------------------------------------------------- */

static mono_t end_of(const struct service *s)
{
	if (s->left == SERVICE_FOREVER || s->since == MONO_NEVER)
		return MONO_NEVER;
	return s->since + s->left * MONO_S;
}

uint32_t service_left(const struct service *s, mono_t now)
{
	mono_t end = end_of(s);

	if (end == MONO_NEVER)
		return s->left;
	return end > now ? (uint32_t)((end - now + MONO_S - 1) / MONO_S) : 0;
}

static void start_lease(struct services *all, struct service *s, uint32_t seconds, mono_t now)
{
	s->left = seconds;
	s->since = now;
	if (seconds == SERVICE_FOREVER)
		return;
	all->next_look = mono_min(all->next_look, MAX(end_of(s), all->last_look + LOOK));
}

static void start_restored(struct services *all, mono_t now)
{
	struct service *s;

	all->restored = false;
	ROLL_EACH(&all->all, s)
		if (s->since == MONO_NEVER)
			start_lease(all, s, s->left, now);
}

void services_tick(struct sa *sa, mono_t now)
{
	struct services *all = sa->services;
	mono_t next = MONO_NEVER;
	struct service *s;

	if (all->restored)
		start_restored(all, now);
	if (now < all->next_look)
		return;
	ROLL_EACH(&all->all, s) {
		if (end_of(s) <= now)
			drop_service(sa, s);
		else
			next = mono_min(next, end_of(s));
	}
	all->last_look = now;
	all->next_look = next == MONO_NEVER ? next : MAX(next, now + LOOK);
}

mono_t services_next(const struct sa *sa)
{
	return sa->services->restored ? sa->now : sa->services->next_look;
}

/* ---- Get ----------------------------------------------------------------------------------- */

static uint32_t port_of(const struct sa *sa, const struct view *v, const struct service *s)
{
	uint64_t id = ib_bits_get(ib_at(s->record, SVR_GID), 64, 64);
	uint32_t port = sa_port_of_interface_id(sa, v, id);

	return port != VIEW_NONE ? port : view_port_of_guid(v, s->owner);
}

/* Do both ports hold the P_Key, one of them as full member? A port may talk to itself. */
static bool may_talk_in(const struct view *v, uint32_t a, uint32_t b, uint16_t pkey)
{
	unsigned of_a = view_pkey_forms(v, a, pkey), of_b = view_pkey_forms(v, b, pkey);

	return of_a && of_b && (a == b || (of_a | of_b) & PKEY_SET_FULL);
}

/*
 * A service is visible to ports that may talk to the port of its GID (if no port has that GID: to
 * the port that registered it) in the partition of its P_Key; if it has none, in any partition. Of
 * a port that is away full members of its P_Key may know.
 */
static bool service_is_visible(const struct sa *sa, const struct view *v, uint32_t requester,
		       const struct service *s)
{
	uint16_t pkey = ib_get(s->record, SVR_PKEY);
	uint32_t port = port_of(sa, v, s);

	if (pkey)
		return port == VIEW_NONE
			       ? view_pkey_forms(v, requester, pkey) & PKEY_SET_FULL
			       : may_talk_in(v, requester, port, pkey);
	return port != VIEW_NONE &&
	       (port == requester || view_share_pkey(v, requester, port, NULL));
}

static bool may_see_service(const struct sa_query *q, const struct service *s)
{
	if (s->manager)
		return q->rq.manager && SA_HAS(q->rq.mask, SVR_ID);
	return q->rq.whole || service_is_visible(q->sa, q->view, q->rq.port, s);
}

static bool key_fits(const struct sa_query *q, const struct service *s)
{
	return !SA_HAS(q->rq.mask, SVR_KEY) ||
	       !memcmp(ib_at(s->record, SVR_KEY), ib_at(query_asked(q), SVR_KEY), 16);
}

static void hide_key(uint8_t *record, bool trusted)
{
	if (!trusted)
		memset(ib_at(record, SVR_KEY), 0, SVR_KEY_W / 8);
}

static enum sa_step next_service(struct sa_query *q, uint8_t *ret)
{
	const struct service *s = roll_next(&q->sa->services->all, q);

	if (!s)
		return SA_END;
	q->subject = VIEW_NONE;
	if (!key_fits(q, s) || !may_see_service(q, s))
		return SA_SKIP;
	memcpy(ret, s->record, SVR_BYTES);
	hide_key(ret, q->rq.trusted);
	if (q->rq.whole)
		ib_put(ret, SVR_LEASE, service_left(s, q->sa->now));
	if (s == q->sa->services->own)
		ib_put(ib_at(ret, SVR_DATA8_0), SMC_VERSION, q->sa->db_version);
	return SA_ROW;
}

/* ---- Set, Delete --------------------------------------------------------------------------- */

/*
 * P_Key, or else GID, decide to which ports the service is visible: the requester must be one of
 * them. A P_Key is held by the requester and by the port of the GID; without a P_Key the GID is of
 * no port, or of one that the requester may know of. A service that is replaced must be visible to
 * the requester.
 */
static bool may_register(const struct sa *sa, const struct sa_request *rq, const uint8_t *record,
			 const struct service *present)
{
	uint64_t id = ib_bits_get(ib_at(record, SVR_GID), 64, 64);
	uint32_t port = sa_port_of_interface_id(sa, sa->view, id);
	uint16_t pkey = ib_get(record, SVR_PKEY);

	if (present && !service_is_visible(sa, sa->view, rq->port, present))
		return false;
	if (pkey)
		return port != VIEW_NONE && may_talk_in(sa->view, rq->port, port, pkey);
	return port == VIEW_NONE || port == rq->port ||
	       view_share_pkey(sa->view, rq->port, port, NULL);
}

/* May the service be registered as a manager's? It must be for the requester's own port. */
static bool may_register_as_manager(const struct sa *sa, const struct sa_request *rq,
				    const uint8_t *record)
{
	return rq->manager && !ib_get(record, SVR_PKEY) &&
	       ib_bits_get(ib_at(record, SVR_GID), 64, 64) == sa->view->ports[rq->port].guid;
}

static uint16_t set_service(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	guid_t owner = sa->view->ports[rq->port].guid;
	uint8_t kept[SVR_BYTES];
	struct service *s;
	enum conf_id quota;

	if (!SA_HAS(rq->mask, SVR_ID) || !SA_HAS(rq->mask, SVR_GID))
		return SA_REQ_INVALID;
	memcpy(kept, record, SVR_BYTES);
	if (!SA_HAS(rq->mask, SVR_PKEY))
		ib_put(kept, SVR_PKEY, 0);
	if (!SA_HAS(rq->mask, SVR_LEASE))
		ib_put(kept, SVR_LEASE, SERVICE_FOREVER);
	ib_put(kept, SVR_RSV1, 0);
	s = find_service(sa->services, kept);
	if (is_of_manager(kept) ? !may_register_as_manager(sa, rq, kept)
				: !may_register(sa, rq, kept, s))
		return SA_REQ_INVALID;
	quota = s ? CONF_N_OPTIONS : quota_reached_by(sa, SA_QUOTA_SERVICES, rq);
	if (quota != CONF_N_OPTIONS)
		return sa_over_quota(sa, rq, quota);
	if (!s)
		s = add_service(sa, kept, owner);
	memcpy(s->record, kept, SVR_BYTES);
	memcpy(record, kept, SVR_BYTES);
	start_lease(sa->services, s, ib_get(record, SVR_LEASE), sa->now);
	services_changed(sa, s->manager);
	if (s->manager && sa->hooks.manager_seen)
		sa->hooks.manager_seen(sa->hooks.arg, owner, kept);
	if (!SA_HAS(rq->mask, SVR_PKEY))
		ib_put(record, SVR_PKEY, 0xFFFF); /* only in the answer */
	hide_key(record, rq->trusted);
	return SA_OK;
}

static uint16_t delete_service(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	struct service *s = find_service(sa->services, record);

	if (!s || s->manager || !service_is_visible(sa, sa->view, rq->port, s))
		return SA_NO_RECORDS;
	memcpy(record, s->record, SVR_BYTES);
	hide_key(record, rq->trusted);
	drop_service(sa, s);
	return SA_OK;
}

/*
 * Notes that the requester is a manager, as it asks for managers, even if the view does not show
 * it.
 */
static uint16_t note_manager(const struct sa_query *q)
{
	if (q->rq.trusted && QUERY_FIELD(q, SVR_ID, 0) == SA_MANAGER_ID &&
	    q->sa->hooks.manager_seen)
		q->sa->hooks.manager_seen(q->sa->hooks.arg, q->view->ports[q->rq.port].guid, NULL);
	return 0;
}

const struct sa_type sa_service_record = {
	.size = SVR_BYTES,
	SA_HEAD(SERVICE_RECORD_LIST),
	/* the key is compared before it is hidden; the peer does not look at the lease */
	.settled = SA_COMP(SVR_KEY) | SA_COMP(SVR_LEASE),
	.check = note_manager,
	.next = next_service,
	.set = set_service,
	.delete = delete_service,
};

/* ---- restart, and a fabric that changes ----------------------------------------------------- */

int services_restore(struct sa *sa, const uint8_t *record, uint32_t left, uint64_t modified_time)
{
	guid_t owner = ib_bits_get(ib_at(record, SVR_GID), 64, 64);
	struct service *s;

	if (!owner)
		owner = UINT64_MAX; /* no port's, but an account must be charged */
	if (is_of_manager(record))
		return -EINVAL;
	if (find_service(sa->services, record))
		return -EEXIST;
	if (quota_reached(sa, SA_QUOTA_SERVICES, owner) != CONF_N_OPTIONS)
		return -ENOSPC;
	s = add_service(sa, record, owner);
	s->left = left;
	s->since = MONO_NEVER;
	s->modified_time = modified_time;
	sa->services->restored = true;
	services_changed(sa, false);
	return 0;
}

void sa_set_manager(struct sa *sa, const uint8_t *record)
{
	struct services *all = sa->services;

	if (!all->own) {
		all->own = find_service(all, record);
		if (!all->own)
			all->own = add_service(sa, record,
					       ib_bits_get(ib_at(record, SVR_GID), 64, 64));
		all->own->left = SERVICE_FOREVER;
	}
	memcpy(all->own->record + IDENTITY_BYTES, record + IDENTITY_BYTES,
	       SVR_BYTES - IDENTITY_BYTES);
}

void services_clear(struct sa *sa)
{
	struct service *s;

	ROLL_EACH(&sa->services->all, s)
		if (s != sa->services->own)
			drop_service(sa, s);
}

void services_view_changed(struct sa *sa, const struct view *before)
{
	struct services *all = sa->services;
	bool after_standby = !before && all->was_published;
	struct service *s;

	if (!sa->view)
		return;
	all->was_published = true;
	if (!sa->conf->drop_event_subscriptions)
		return;
	ROLL_EACH(&all->all, s)
		if (s != all->own &&
		    (after_standby || view_port_of_guid(sa->view, s->owner) == VIEW_NONE))
			drop_service(sa, s);
}
