// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subscriptions: InformInfo (subscribe, unsubscribe) and InformInfoRecord (subscribers), traps.md
 * 6.
 *
 * Decides which notices match which subscriptions; report.c sends them.
 */
#include "sa/notice/inform.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sa/base/chain.h"
#include "util/mem.h"

/* LIDRangeBegin: any LID; Type, TrapNumber: any; ProducerType: any. */
#define ANY_LID	     0xFFFFu
#define ANY_16	     0xFFFFu
#define ANY_PRODUCER 0xFFFFFFu

struct informs {
	struct guidmap *by_port; /* port GUID -> struct subscriber, a chain */
	struct roll all;	 /* struct subscription */
	bool was_published;	 /* once master before: the next first view ends a standby */
};

struct informs *informs_new(struct sa *sa)
{
	struct informs *s = xcalloc(1, sizeof(*s));

	s->by_port = guidmap_new();
	return s;
}

struct informs *informs_free(struct informs *s)
{
	struct subscription *subscription;
	size_t pos = 0;
	void *first;

	if (!s)
		return NULL;
	ROLL_EACH(&s->all, subscription)
		free(subscription);
	roll_clear(&s->all);
	while (guidmap_next(s->by_port, &pos, NULL, &first)) {
		for (struct subscriber *sub = first, *after; sub; sub = after) {
			after = sub->chain;
			free(sub);
		}
	}
	guidmap_free(s->by_port);
	free(s);
	return NULL;
}

struct subscription *informs_before(const struct sa *sa, uint64_t *cursor)
{
	return roll_before(&sa->informs->all, cursor);
}

static void informs_changed(struct sa *sa)
{
	sa->db_version++;
	sa->stats.subscriptions = (uint32_t)sa->informs->all.live;
}

/* ---- matching ------------------------------------------------------------------------------ */

static bool names_gid(const uint8_t *info)
{
	static const uint8_t none[16];

	return memcmp(ib_at(info, INF_GID), none, sizeof(none)) != 0;
}

/* Begin without an end, or with one below it, is one LID. */
static bool lid_matches(const uint8_t *info, unsigned lid)
{
	unsigned begin = ib_get(info, INF_LID_BEGIN), end = ib_get(info, INF_LID_END);

	return begin == ANY_LID || lid == begin || (lid > begin && lid <= end);
}

static bool is_any_or(unsigned wished, unsigned any, unsigned value)
{
	return wished == any || wished == value;
}

bool inform_matches(const uint8_t *info, const uint8_t *notice)
{
	assert(info && notice);
	if (ib_get(info, INF_IS_GENERIC) != ib_get(notice, NT_IS_GENERIC) ||
	    !is_any_or(ib_get(info, INF_TYPE), ANY_16, ib_get(notice, NT_TYPE)) ||
	    !is_any_or(ib_get(info, INF_TRAP), ANY_16, ib_get(notice, NT_TRAP)) ||
	    !is_any_or(ib_get(info, INF_PRODUCER), ANY_PRODUCER, ib_get(notice, NT_PRODUCER)))
		return false;
	if (names_gid(info))
		return !memcmp(ib_at(info, INF_GID), ib_at(notice, NT_ISSUER_GID), 16);
	return lid_matches(info, ib_get(notice, NT_ISSUER_LID));
}

static bool is_security_trap(bool generic, unsigned trap)
{
	return generic && trap >= TRAP_BAD_MKEY && trap <= TRAP_SWITCH_BAD_PKEY;
}

static bool names_security_trap(const uint8_t *info)
{
	return is_security_trap(ib_get(info, INF_IS_GENERIC), ib_get(info, INF_TRAP));
}

bool inform_is_security(const uint8_t *notice)
{
	assert(notice);
	return is_security_trap(ib_get(notice, NT_IS_GENERIC), ib_get(notice, NT_TRAP));
}

/* ---- the store ----------------------------------------------------------------------------- */

static bool same_grh(const struct transport_addr *a, const struct transport_addr *b)
{
	if (a->global != b->global)
		return false;
	return !a->global ||
	       (!memcmp(a->grh.gid, b->grh.gid, 16) && a->grh.flow_label == b->grh.flow_label &&
		a->grh.hop_limit == b->grh.hop_limit &&
		a->grh.traffic_class == b->grh.traffic_class);
}

static bool same_address(const struct transport_addr *a, const struct transport_addr *b)
{
	return a->lid == b->lid && a->qp == b->qp && a->sl == b->sl &&
	       a->path_bits == b->path_bits && a->pkey_index == b->pkey_index && same_grh(a, b);
}

/*
 * Equal for the same subscriptions of a subscriber: QPN is part of its address, Subscribe is the
 * action, and LIDs do not count where a GID does.
 */
static void identity_of(const uint8_t *info, uint8_t ret[INF_BYTES])
{
	memcpy(ret, info, INF_BYTES);
	ib_put(ret, INF_RSV1, 0);
	ib_put(ret, INF_RSV2, 0);
	ib_put(ret, INF_RSV3, 0);
	ib_put(ret, INF_SUBSCRIBE, 1);
	ib_put(ret, INF_QPN, 0);
	if (names_gid(info)) {
		ib_put(ret, INF_LID_BEGIN, 0);
		ib_put(ret, INF_LID_END, 0);
	}
}

static struct subscriber *find_subscriber(const struct sa *sa, guid_t port,
					  const struct transport_addr *addr)
{
	struct subscriber *sub = guidmap_get(sa->informs->by_port, port);

	while (sub && !same_address(&sub->addr, addr))
		sub = sub->chain;
	return sub;
}

static struct subscription *find_subscription(const struct subscriber *sub, const uint8_t *info)
{
	uint8_t wanted[INF_BYTES], has[INF_BYTES];

	identity_of(info, wanted);
	for (struct subscription *s = sub ? sub->subscriptions : NULL; s; s = s->next) {
		identity_of(s->info, has);
		if (!memcmp(wanted, has, INF_BYTES))
			return s;
	}
	return NULL;
}

static struct subscriber *obtain_subscriber(struct sa *sa, guid_t port,
					    const struct transport_addr *addr)
{
	struct subscriber *sub = find_subscriber(sa, port, addr);

	if (sub)
		return sub;
	sub = xcalloc(1, sizeof(*sub));
	sub->port_guid = port;
	sub->addr = *addr;
	sub->addr.qkey = MAD_QP1_QKEY;
	sub->addr.grh.gid_index = 0;
	CHAIN_ADD(sa->informs->by_port, port, sub);
	reports_admit(sa, sub);
	return sub;
}

static void link_subscription(struct subscriber *sub, struct subscription *s)
{
	s->subscriber = sub;
	s->next = sub->subscriptions;
	sub->subscriptions = s;
}

/* Kept without reserved bits and the QPN that the request claims. */
static void add_subscription(struct sa *sa, struct subscriber *sub, const uint8_t *info,
			     bool trusted)
{
	struct subscription *s = xcalloc(1, sizeof(*s));

	identity_of(info, s->info);
	s->trusted = trusted;
	ib_put(s->info, INF_LID_BEGIN, ib_get(info, INF_LID_BEGIN));
	ib_put(s->info, INF_LID_END, ib_get(info, INF_LID_END));
	ib_put(s->info, INF_QPN, sub->addr.qp);
	link_subscription(sub, s);
	s->id = roll_add(&sa->informs->all, s);
	quota_charge(sa, SA_QUOTA_SUBSCRIPTIONS, sub->port_guid, 1);
	informs_changed(sa);
}

static void remove_subscriber(struct sa *sa, struct subscriber *sub)
{
	reports_forget(sa, sub);
	CHAIN_REMOVE(sa->informs->by_port, sub->port_guid, sub);
	free(sub);
}

bool informs_remove(struct sa *sa, struct subscription *s)
{
	struct subscriber *sub = s->subscriber;
	struct subscription **at = &sub->subscriptions;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	roll_remove(&sa->informs->all, s->id);
	quota_charge(sa, SA_QUOTA_SUBSCRIPTIONS, sub->port_guid, -1);
	free(s);
	informs_changed(sa);
	if (sub->subscriptions)
		return false;
	remove_subscriber(sa, sub);
	return true;
}

void informs_remove_subscriber(struct sa *sa, struct subscriber *sub)
{
	while (!informs_remove(sa, sub->subscriptions))
		;
}

void informs_clear(struct sa *sa)
{
	struct subscription *s;

	ROLL_EACH(&sa->informs->all, s)
		informs_remove(sa, s);
}

int informs_restore(struct sa *sa, guid_t port_guid, const struct transport_addr *addr,
		    const uint8_t *info)
{
	assert(port_guid && addr && info);
	if (find_subscription(find_subscriber(sa, port_guid, addr), info))
		return -EEXIST;
	if (quota_reached(sa, SA_QUOTA_SUBSCRIPTIONS, port_guid) != CONF_N_OPTIONS)
		return -ENOSPC;
	add_subscription(sa, obtain_subscriber(sa, port_guid, addr), info,
			 names_security_trap(info));
	return 0;
}

/* ---- InformInfo ---------------------------------------------------------------------------- */

/* The first port in a range of LIDs; VIEW_NONE if there is none. */
static uint32_t port_in_range(const struct view *v, unsigned begin, unsigned end)
{
	end = MIN(MAX(begin, end), LID_MAX_UCAST);
	for (unsigned lid = begin; lid <= end; lid++) {
		if (view_port_at(v, lid) != VIEW_NONE)
			return view_port_at(v, lid);
	}
	return VIEW_NONE;
}

/*
 * May the requester get notices of the source it names? A range that begins at 0 names no
 * particular port and is taken, as the peer does; the rights are asked again at each notice.
 */
static bool may_name_source(const struct sa *sa, const struct sa_request *rq, const uint8_t *info)
{
	unsigned begin = ib_get(info, INF_LID_BEGIN);
	uint32_t source;

	if (names_gid(info))
		source = sa_port_of_interface_id(sa, sa->view,
						 ib_bits_get(ib_at(info, INF_GID), 64, 64));
	else if (begin == ANY_LID || begin == 0)
		return true;
	else
		source = port_in_range(sa->view, begin, ib_get(info, INF_LID_END));
	if (source == VIEW_NONE)
		return false;
	return source == rq->port || view_share_pkey(sa->view, rq->port, source, NULL);
}

static uint16_t subscribe(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	const struct view_port *port = &sa->view->ports[rq->port];
	struct subscription *present;
	struct subscriber *sub;
	enum conf_id quota;

	if (!may_name_source(sa, rq, record)) {
		ib_put(record, INF_SUBSCRIBE, 0);
		return SA_REQ_INVALID;
	}
	present = find_subscription(find_subscriber(sa, port->guid, &rq->from), record);
	if (present) {
		present->trusted |= rq->trusted;
		return SA_OK;
	}
	quota = quota_reached_by(sa, SA_QUOTA_SUBSCRIPTIONS, rq);
	if (quota != CONF_N_OPTIONS)
		return sa_over_quota(sa, rq, quota);
	sub = obtain_subscriber(sa, port->guid, &rq->from);
	sub->lid_offset = rq->from.lid - port->lid;
	add_subscription(sa, sub, record, rq->trusted);
	return SA_OK;
}

/* The QPN in the request is compared; 0, for clients that do not know theirs, is as good. */
static uint16_t unsubscribe(struct sa *sa, const struct sa_request *rq, const uint8_t *record)
{
	const struct view_port *port = &sa->view->ports[rq->port];
	struct subscription *s =
		find_subscription(find_subscriber(sa, port->guid, &rq->from), record);
	uint32_t qp = ib_get(record, INF_QPN);

	if (!s || (qp && qp != rq->from.qp))
		return SA_REQ_INVALID;
	informs_remove(sa, s);
	return SA_OK;
}

static uint16_t set_inform_info(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	unsigned wish = ib_get(record, INF_SUBSCRIBE);

	if (rq->port == VIEW_NONE || wish > 1)
		return SA_REQ_INVALID;
	if (names_security_trap(record) && !rq->trusted)
		return SA_REQ_INVALID;
	return wish ? subscribe(sa, rq, record) : unsubscribe(sa, rq, record);
}

const struct sa_type sa_inform_info = {
	.size = INF_BYTES,
	SA_HEAD(INFORM_INFO_LIST),
	.set = set_inform_info,
};

/* ---- InformInfoRecord ---------------------------------------------------------------------- */

/* The address of its Reports, for a standby that will have to send them. */
static void put_address(const struct sa *sa, const struct transport_addr *addr, uint8_t *ret)
{
	const struct port *own =
		fabric_find_port(sa->fabric, sa->view->ports[sa->view->sm_port].guid);
	const uint8_t *block =
		own ? fabric_cell(sa->fabric, own, TABLE_PKEYS, addr->pkey_index / PKEYS_PER_BLOCK)
		    : NULL;

	ib_put(ret, IIW_LID, addr->lid);
	ib_put(ret, IIW_SL, addr->sl);
	if (block)
		ib_put(ret, IIW_PKEY,
		       ib_bits_get(block, addr->pkey_index % PKEYS_PER_BLOCK * 16, 16));
	if (!addr->global)
		return;
	ib_put(ret, IIW_GID_PATH, 1);
	ib_put(ret, IIW_TCLASS, addr->grh.traffic_class);
	ib_put(ret, IIW_FLOW, addr->grh.flow_label);
	ib_put(ret, IIW_HOP, addr->grh.hop_limit);
}

/* The source that a subscription names is as secret as the port is. */
static bool may_see_source(struct sa_query *q, const uint8_t *info)
{
	uint32_t port;

	if (!names_gid(info))
		return true;
	port = sa_port_of_interface_id(q->sa, q->view, ib_bits_get(ib_at(info, INF_GID), 64, 64));
	return port != VIEW_NONE && query_may_see(q, port);
}

static enum sa_step next_subscription(struct sa_query *q, uint8_t *ret)
{
	const struct subscription *s = roll_next(&q->sa->informs->all, q);

	if (!s)
		return SA_END;
	q->subject = view_port_of_guid(q->view, s->subscriber->port_guid);
	if (q->subject == VIEW_NONE && !q->rq.trusted)
		return SA_SKIP; /* its port is away: the rights to see it are unknown */
	if (!q->rq.trusted && !may_see_source(q, s->info))
		return SA_SKIP;
	sa_gid(q->view->prefix, s->subscriber->port_guid, ib_at(ret, IIR_SUBSCRIBER_GID));
	memcpy(ret + IIR_BYTES, s->info, INF_BYTES);
	if (!q->rq.trusted)
		ib_put(ret + IIR_BYTES, INF_QPN, 0);
	if (q->rq.whole)
		put_address(q->sa, &s->subscriber->addr, ret);
	return SA_ROW;
}

const struct sa_type sa_inform_info_record = {
	.size = 64,
	.head_len = IIR_BYTES,
	SA_HEAD(INFORM_INFO_RECORD_LIST),
	SA_BODY(INFORM_INFO_LIST),
	.next = next_subscription,
};

/* ---- the fabric changes -------------------------------------------------------------------- */

/* The address moves along with the port, path within the LMC range included. True: it moved. */
static bool relocate_subscriber(struct subscriber *sub, const struct view_port *port)
{
	unsigned offset = sub->addr.lid - port->lid; /* huge if it lies below */
	lid_t before = sub->addr.lid;

	if (offset >> port->lmc == 0)
		sub->lid_offset = offset;
	else if (sub->lid_offset >> port->lmc)
		sub->lid_offset = 0;
	sub->addr.lid = port->lid + sub->lid_offset;
	return sub->addr.lid != before;
}

/* Two have come to be at the same address: they are one. */
static void merge_subscribers(struct sa *sa, struct subscriber *into, struct subscriber *from)
{
	while (from->subscriptions) {
		struct subscription *s = from->subscriptions;

		if (find_subscription(into, s->info)) {
			if (informs_remove(sa, s))
				return;
			continue;
		}
		from->subscriptions = s->next;
		link_subscription(into, s);
	}
	remove_subscriber(sa, from);
}

static void move_port(struct sa *sa, struct subscriber *first, const struct view_port *port)
{
	struct subscriber *after, *twin;
	bool moved = false;

	for (struct subscriber *sub = first; sub; sub = sub->chain)
		if (relocate_subscriber(sub, port))
			moved = true;
	if (!moved)
		return;
	sa->db_version++;
	for (struct subscriber *sub = first; sub; sub = after) {
		after = sub->chain;
		twin = find_subscriber(sa, sub->port_guid, &sub->addr); /* the first of them */
		if (twin != sub)
			merge_subscribers(sa, twin, sub);
	}
}

static void drop_port(struct sa *sa, struct subscriber *first)
{
	for (struct subscriber *sub = first, *after; sub; sub = after) {
		after = sub->chain;
		informs_remove_subscriber(sa, sub);
	}
}

/* The first subscriber of each port, in an array, as dropping changes the map. */
static struct subscriber **first_subscribers(const struct informs *s, size_t *ret_n)
{
	struct subscriber **list = xcalloc(guidmap_count(s->by_port) + 1, sizeof(*list));
	size_t pos = 0;
	void *first;

	*ret_n = 0;
	while (guidmap_next(s->by_port, &pos, NULL, &first))
		list[(*ret_n)++] = first;
	return list;
}

void informs_view_changed(struct sa *sa, const struct view *before)
{
	struct informs *s = sa->informs;
	bool after_standby = !before && s->was_published;
	_cleanup_free_ struct subscriber **first = NULL;
	size_t n;

	if (!sa->view)
		return;
	s->was_published = true;
	first = first_subscribers(s, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = view_port_of_guid(sa->view, first[i]->port_guid);

		if (sa->conf->drop_event_subscriptions && (after_standby || at == VIEW_NONE))
			drop_port(sa, first[i]);
		else if (at != VIEW_NONE && sa->view->ports[at].lid)
			move_port(sa, first[i], &sa->view->ports[at]);
	}
}
