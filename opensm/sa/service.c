// SPDX-License-Identifier: BSD-2-Clause
/*
 * ServiceRecord: hosts announce services, others look them up (sa.md 7).
 *
 * A service is told from others by its first 26 bytes: ID, GID and P_Key. A P_Key that the component
 * mask of Set does not name is kept as 0; Delete compares what stands in the request, whatever its mask
 * says. The key is shown to the trusted and authorizes nothing.
 */
#include "sa/service.h"

#include <errno.h>
#include <string.h>

#include "sa/roll.h"
#include "util/mem.h"

#define IDENTITY_BYTES 26
#define LOOK	       MONO_S /* leases are looked at so often at most */

struct services {
	struct guidmap *by_identity; /* hash -> struct service, chained */
	struct guidmap *owned;	     /* port GUID -> number registered, as a pointer */
	struct roll all;
	mono_t next_look, last_look;
	bool restored; /* leases that do not count yet */
	bool was_published;
	struct service *own; /* of the manager that we are part of; NULL: none */
	size_t n_managers;   /* services that are in no count and no dump */
};

struct services *services_new(struct sa *sa)
{
	struct services *s = xcalloc(1, sizeof(*s));

	s->by_identity = guidmap_new();
	s->owned = guidmap_new();
	s->next_look = MONO_NEVER;
	return s;
}

struct services *services_free(struct services *s)
{
	uint64_t cursor = 0;
	void *service;

	if (!s)
		return NULL;
	while ((service = roll_before(&s->all, &cursor)))
		free(service);
	roll_clear(&s->all);
	guidmap_free(s->by_identity);
	guidmap_free(s->owned);
	free(s);
	return NULL;
}

struct service *services_before(const struct sa *sa, uint64_t *cursor)
{
	return roll_before(&sa->services->all, cursor);
}

/* ---- the store ----------------------------------------------------------------------------- */

/* FNV-1a; never 0. Long chains of one requester's making end at its quota. */
static uint64_t hash_of(const uint8_t *record)
{
	uint64_t h = 0xCBF29CE484222325ull;

	for (unsigned i = 0; i < IDENTITY_BYTES; i++)
		h = (h ^ record[i]) * 0x100000001B3ull;
	return h ? h : 1;
}

static struct service *find(const struct services *all, const uint8_t *record)
{
	struct service *s = guidmap_get(all->by_identity, hash_of(record));

	while (s && memcmp(s->record, record, IDENTITY_BYTES))
		s = s->chain;
	return s;
}

static void changed(struct sa *sa, bool manager)
{
	sa->stats.services = (uint32_t)(sa->services->all.live - sa->services->n_managers);
	sa->db_version += !manager;
}

static size_t owned_by(const struct services *all, guid_t port)
{
	return (size_t)(uintptr_t)guidmap_get(all->owned, port);
}

static void charge(struct services *all, guid_t port, int n)
{
	size_t now = owned_by(all, port) + n;

	if (now)
		guidmap_put(all->owned, port, (void *)(uintptr_t)now);
	else
		guidmap_remove(all->owned, port);
}

static bool has_room(const struct services *all, guid_t owner)
{
	size_t n = owned_by(all, owner);

	return n < SERVICE_PER_PORT && all->all.live < SERVICE_MAX &&
	       (n < SERVICE_FEW || all->all.live < SERVICE_MAX - SERVICE_MAX / 8);
}

static void drop(struct sa *sa, struct service *s)
{
	struct services *all = sa->services;
	struct service *first = guidmap_get(all->by_identity, s->hash), **at = &first;

	while (*at != s)
		at = &(*at)->chain;
	*at = s->chain;
	if (first)
		guidmap_put(all->by_identity, s->hash, first);
	else
		guidmap_remove(all->by_identity, s->hash);
	roll_remove(&all->all, s->id);
	charge(all, s->owner, -1);
	all->n_managers -= s->manager;
	if (s == all->own)
		all->own = NULL;
	changed(sa, s->manager);
	free(s);
}

static bool is_of_manager(const uint8_t *record)
{
	return ib_get(record, SVR_ID) == SA_MANAGER_ID;
}

static struct service *add(struct sa *sa, const uint8_t *record, guid_t owner)
{
	struct services *all = sa->services;
	struct service *s = xcalloc(1, sizeof(*s));

	memcpy(s->record, record, SVR_BYTES);
	s->hash = hash_of(record);
	s->owner = owner;
	s->manager = is_of_manager(record);
	all->n_managers += s->manager;
	s->chain = guidmap_put(all->by_identity, s->hash, s);
	s->id = roll_add(&all->all, s);
	charge(all, owner, 1);
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
	uint64_t cursor = 0;
	struct service *s;

	all->restored = false;
	while ((s = roll_before(&all->all, &cursor))) {
		if (s->since == MONO_NEVER)
			start_lease(all, s, s->left, now);
	}
}

void services_tick(struct sa *sa, mono_t now)
{
	struct services *all = sa->services;
	mono_t next = MONO_NEVER;
	uint64_t cursor = 0;
	struct service *s;

	if (all->restored)
		start_restored(all, now);
	if (now < all->next_look)
		return;
	while ((s = roll_before(&all->all, &cursor))) {
		if (end_of(s) <= now)
			drop(sa, s);
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

/*
 * Who may see a service: holders of its P_Key; if it has none, those who share a partition with the
 * port of its GID, or, if nobody goes by that, with the port that registered it.
 */
static bool is_visible(const struct sa *sa, const struct view *v, uint32_t asker,
		       const struct service *s)
{
	uint16_t pkey = ib_get(s->record, SVR_PKEY);
	uint32_t port;

	if (pkey)
		return view_has_pkey(v, asker, pkey);
	port = port_of(sa, v, s);
	return port != VIEW_NONE && (port == asker || view_share_pkey(v, asker, port, NULL));
}

static bool may_see(const struct sa_query *q, const struct service *s)
{
	if (s->manager)
		return q->rq.manager && SA_HAS(q->rq.mask, SVR_ID);
	return q->rq.whole || is_visible(q->sa, q->view, q->rq.port, s);
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

static enum sa_step next(struct sa_query *q, uint8_t *ret)
{
	uint64_t cursor = (uint64_t)q->at[1] << 32 | q->at[0];
	const struct service *s = services_before(q->sa, &cursor);

	if (!s)
		return SA_END;
	q->at[0] = (uint32_t)cursor;
	q->at[1] = (uint32_t)(cursor >> 32);
	q->subject = VIEW_NONE;
	if (!key_fits(q, s) || !may_see(q, s))
		return SA_SKIP;
	memcpy(ret, s->record, SVR_BYTES);
	hide_key(ret, q->rq.trusted);
	if (q->rq.whole)
		ib_put(ret, SVR_LEASE, service_left(s, q->sa->now));
	if (s == q->sa->services->own)
		ib_put(ib_at(ret, SVR_DATA8_0), SMC_VERSION, q->sa->db_version);
	return SA_ROW;
}

/* The key has been compared before it was hidden; the peer does not look at the lease. */
static bool match(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done)
{
	*ret_done = SA_COMP(SVR_KEY) | SA_COMP(SVR_LEASE);
	return true;
}

/* ---- Set, Delete --------------------------------------------------------------------------- */

/*
 * Who will see the service is decided by its P_Key, or else by its GID: so the requester must be one of
 * them. A P_Key is held by it and by the port of the GID; without one the GID is of a port that it may
 * know of, or of nobody. What stands there already must be one that it sees.
 */
static bool may_register(const struct sa *sa, const struct sa_request *rq, const uint8_t *record,
			 const struct service *present)
{
	uint64_t id = ib_bits_get(ib_at(record, SVR_GID), 64, 64);
	uint32_t port = sa_port_of_interface_id(sa, sa->view, id);
	uint16_t pkey = ib_get(record, SVR_PKEY);

	if (present && !is_visible(sa, sa->view, rq->port, present))
		return false;
	if (pkey)
		return port != VIEW_NONE && view_has_pkey(sa->view, rq->port, pkey) &&
		       view_has_pkey(sa->view, port, pkey);
	return port == VIEW_NONE || port == rq->port ||
	       view_share_pkey(sa->view, rq->port, port, NULL);
}

/* A manager of ours may say how it is configured, for the port it asks from. */
static bool may_register_as_manager(const struct sa *sa, const struct sa_request *rq,
				    const uint8_t *record)
{
	return rq->manager && !ib_get(record, SVR_PKEY) &&
	       ib_bits_get(ib_at(record, SVR_GID), 64, 64) == sa->view->ports[rq->port].guid;
}

static uint16_t set(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	guid_t owner = sa->view->ports[rq->port].guid;
	uint8_t kept[SVR_BYTES];
	struct service *s;

	if (!SA_HAS(rq->mask, SVR_ID) || !SA_HAS(rq->mask, SVR_GID))
		return SA_REQ_INVALID;
	memcpy(kept, record, SVR_BYTES);
	if (!SA_HAS(rq->mask, SVR_PKEY))
		ib_put(kept, SVR_PKEY, 0);
	if (!SA_HAS(rq->mask, SVR_LEASE))
		ib_put(kept, SVR_LEASE, SERVICE_FOREVER);
	ib_put(kept, SVR_RSV1, 0);
	s = find(sa->services, kept);
	if (is_of_manager(kept) ? !may_register_as_manager(sa, rq, kept)
				: !may_register(sa, rq, kept, s))
		return SA_REQ_INVALID;
	if (!s && !has_room(sa->services, owner))
		return SA_NO_RESOURCES;
	if (!s)
		s = add(sa, kept, owner);
	memcpy(s->record, kept, SVR_BYTES);
	memcpy(record, kept, SVR_BYTES);
	start_lease(sa->services, s, ib_get(record, SVR_LEASE), sa->now);
	changed(sa, s->manager);
	if (s->manager && sa->hooks.manager_seen)
		sa->hooks.manager_seen(sa->hooks.arg, owner, kept);
	if (!SA_HAS(rq->mask, SVR_PKEY))
		ib_put(record, SVR_PKEY, 0xFFFF); /* in the answer alone */
	hide_key(record, rq->trusted);
	return SA_OK;
}

static uint16_t take_back(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	struct service *s = find(sa->services, record);

	if (!s || s->manager || !is_visible(sa, sa->view, rq->port, s))
		return SA_NO_RECORDS;
	memcpy(record, s->record, SVR_BYTES);
	hide_key(record, rq->trusted);
	drop(sa, s);
	return SA_OK;
}

/* Who asks for managers is one, whether the view shows that already or not. */
static uint16_t check(const struct sa_query *q)
{
	if (q->rq.trusted && QUERY_FIELD(q, SVR_ID, 0) == SA_MANAGER_ID && q->sa->hooks.manager_seen)
		q->sa->hooks.manager_seen(q->sa->hooks.arg, q->view->ports[q->rq.port].guid, NULL);
	return 0;
}

static const struct ib_field fields[] = IB_LAYOUT_ROWS(SERVICE_RECORD_LIST);

const struct sa_type sa_service_record = {
	.attr = SA_SERVICE_RECORD,
	.name = "ServiceRecord",
	.size = SVR_BYTES,
	.head = fields,
	.n_head = ARRAY_SIZE(fields),
	.check = check,
	.match = match,
	.next = next,
	.set = set,
	.delete = take_back,
};

/* ---- restart, and a fabric that changes ----------------------------------------------------- */

int services_restore(struct sa *sa, const uint8_t *record, uint32_t left, uint64_t modified_time)
{
	guid_t owner = ib_bits_get(ib_at(record, SVR_GID), 64, 64);
	struct service *s;

	if (!owner)
		owner = UINT64_MAX; /* of nobody; but it is charged to somebody */
	if (is_of_manager(record))
		return -EINVAL;
	if (find(sa->services, record))
		return -EEXIST;
	if (!has_room(sa->services, owner))
		return -ENOSPC;
	s = add(sa, record, owner);
	s->left = left;
	s->since = MONO_NEVER;
	s->modified_time = modified_time;
	sa->services->restored = true;
	changed(sa, false);
	return 0;
}

void sa_set_manager(struct sa *sa, const uint8_t *record)
{
	struct services *all = sa->services;

	if (!all->own) {
		all->own = find(all, record);
		if (!all->own)
			all->own = add(sa, record, ib_bits_get(ib_at(record, SVR_GID), 64, 64));
		all->own->left = SERVICE_FOREVER;
	}
	memcpy(all->own->record + IDENTITY_BYTES, record + IDENTITY_BYTES,
	       SVR_BYTES - IDENTITY_BYTES);
}

void services_clear(struct sa *sa)
{
	uint64_t cursor = 0;
	struct service *s;

	while ((s = roll_before(&sa->services->all, &cursor))) {
		if (s != sa->services->own)
			drop(sa, s);
	}
}

void services_view_changed(struct sa *sa, const struct view *before)
{
	struct services *all = sa->services;
	bool after_standby = !before && all->was_published;
	uint64_t cursor = 0;
	struct service *s;

	if (!sa->view)
		return;
	all->was_published = true;
	if (!sa->conf->drop_event_subscriptions)
		return;
	while ((s = roll_before(&all->all, &cursor))) {
		if (s != all->own &&
		    (after_standby || view_port_of_guid(sa->view, s->owner) == VIEW_NONE))
			drop(sa, s);
	}
}
