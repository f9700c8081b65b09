// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subscriptions: InformInfo (subscribe, unsubscribe) and InformInfoRecord (who subscribed), traps.md 6.
 *
 * Says which notices interest whom; telling them is report.c's.
 */
#include "sa/inform.h"

#include <errno.h>
#include <string.h>

#include "util/mem.h"

/* LIDRangeBegin: any LID; Type, TrapNumber: any; ProducerType: any. */
#define ANY_LID	     0xFFFFu
#define ANY_16	     0xFFFFu
#define ANY_PRODUCER 0xFFFFFFu

/* A port with subscribers; kept while it has one. */
struct inform_port {
	guid_t guid;
	struct subscriber *first;
	unsigned n; /* subscriptions */
};

struct informs {
	struct guidmap *ports; /* port GUID -> struct inform_port */
	struct roll all;       /* struct subscription */
	bool was_published;    /* once master before: the next first view ends a standby */
};

struct informs *informs_new(struct sa *sa)
{
	struct informs *s = xcalloc(1, sizeof(*s));

	s->ports = guidmap_new();
	return s;
}

static void free_subscribers(struct inform_port *p)
{
	while (p->first) {
		struct subscriber *who = p->first;

		p->first = who->next;
		while (who->subscriptions) {
			struct subscription *s = who->subscriptions;

			who->subscriptions = s->next;
			free(s);
		}
		free(who);
	}
	free(p);
}

struct informs *informs_free(struct informs *s)
{
	size_t pos = 0;
	guid_t guid;
	void *port;

	if (!s)
		return NULL;
	while (guidmap_next(s->ports, &pos, &guid, &port))
		free_subscribers(port);
	guidmap_free(s->ports);
	roll_clear(&s->all);
	free(s);
	return NULL;
}

struct subscription *informs_before(const struct sa *sa, uint64_t *cursor)
{
	return roll_before(&sa->informs->all, cursor);
}

size_t informs_count(const struct sa *sa)
{
	return sa->informs->all.live;
}

static void changed(struct sa *sa)
{
	sa->db_version++;
	sa->stats.subscriptions = (uint32_t)sa->informs->all.live;
}

/* ---- what interests whom ------------------------------------------------------------------- */

static bool is_zero(const uint8_t *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	return n == 0;
}

static bool names_gid(const uint8_t *info)
{
	return !is_zero(ib_at(info, INF_GID), 16);
}

/* Begin without an end, or with one below it, is one LID. */
static bool lid_matches(const uint8_t *info, unsigned lid)
{
	unsigned begin = ib_get(info, INF_LID_BEGIN), end = ib_get(info, INF_LID_END);

	return begin == ANY_LID || lid == begin || (lid > begin && lid <= end);
}

static bool is_any_or(unsigned wanted, unsigned any, unsigned value)
{
	return wanted == any || wanted == value;
}

bool inform_matches(const uint8_t *info, const uint8_t *notice)
{
	if (ib_get(info, INF_IS_GENERIC) != ib_get(notice, NT_IS_GENERIC) ||
	    !is_any_or(ib_get(info, INF_TYPE), ANY_16, ib_get(notice, NT_TYPE)) ||
	    !is_any_or(ib_get(info, INF_TRAP), ANY_16, ib_get(notice, NT_TRAP)) ||
	    !is_any_or(ib_get(info, INF_PRODUCER), ANY_PRODUCER, ib_get(notice, NT_PRODUCER)))
		return false;
	if (names_gid(info))
		return !memcmp(ib_at(info, INF_GID), ib_at(notice, NT_ISSUER_GID), 16);
	return lid_matches(info, ib_get(notice, NT_ISSUER_LID));
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

/* QPN is part of the address, Subscribe says what to do, LIDs do not count where a GID does. */
static bool same_subscription(const uint8_t *a, const uint8_t *b)
{
	if (memcmp(ib_at(a, INF_GID), ib_at(b, INF_GID), 16) ||
	    (!names_gid(a) && (ib_get(a, INF_LID_BEGIN) != ib_get(b, INF_LID_BEGIN) ||
			       ib_get(a, INF_LID_END) != ib_get(b, INF_LID_END))))
		return false;
	return ib_get(a, INF_IS_GENERIC) == ib_get(b, INF_IS_GENERIC) &&
	       ib_get(a, INF_TYPE) == ib_get(b, INF_TYPE) &&
	       ib_get(a, INF_TRAP) == ib_get(b, INF_TRAP) &&
	       ib_get(a, INF_RESP_TIME) == ib_get(b, INF_RESP_TIME) &&
	       ib_get(a, INF_PRODUCER) == ib_get(b, INF_PRODUCER);
}

static struct subscriber *find_subscriber(const struct sa *sa, guid_t port,
					  const struct transport_addr *addr)
{
	const struct inform_port *p = guidmap_get(sa->informs->ports, port);

	for (struct subscriber *who = p ? p->first : NULL; who; who = who->next) {
		if (same_address(&who->addr, addr))
			return who;
	}
	return NULL;
}

static struct subscription *find(const struct subscriber *who, const uint8_t *info)
{
	for (struct subscription *s = who ? who->subscriptions : NULL; s; s = s->next) {
		if (same_subscription(s->info, info))
			return s;
	}
	return NULL;
}

static bool has_room(const struct sa *sa, guid_t port)
{
	const struct inform_port *p = guidmap_get(sa->informs->ports, port);
	unsigned n = p ? p->n : 0;
	size_t all = sa->informs->all.live;

	return n < INFORM_PER_PORT && all < INFORM_MAX &&
	       (n < INFORM_FEW || all < INFORM_MAX - INFORM_MAX / 8);
}

static struct inform_port *obtain_port(struct informs *s, guid_t guid)
{
	struct inform_port *p = guidmap_get(s->ports, guid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->guid = guid;
	guidmap_put(s->ports, guid, p);
	return p;
}

static struct subscriber *obtain_subscriber(struct sa *sa, guid_t port,
					    const struct transport_addr *addr)
{
	struct subscriber *who = find_subscriber(sa, port, addr);
	struct inform_port *p = obtain_port(sa->informs, port);

	if (who)
		return who;
	who = xcalloc(1, sizeof(*who));
	who->port_guid = port;
	who->addr = *addr;
	who->addr.qkey = MAD_QP1_QKEY;
	who->addr.grh.gid_index = 0;
	who->next = p->first;
	p->first = who;
	reports_admit(sa, who);
	return who;
}

/* What of a request is kept: without Subscribe, reserved bits and the QPN it claims. */
static void normalise(const uint8_t *info, uint32_t qp, uint8_t *ret)
{
	memcpy(ret, info, INF_BYTES);
	ib_put(ret, INF_RSV1, 0);
	ib_put(ret, INF_RSV2, 0);
	ib_put(ret, INF_RSV3, 0);
	ib_put(ret, INF_SUBSCRIBE, 1);
	ib_put(ret, INF_QPN, qp);
}

static void add(struct sa *sa, struct subscriber *who, const uint8_t *info)
{
	struct inform_port *p = guidmap_get(sa->informs->ports, who->port_guid);
	struct subscription *s = xcalloc(1, sizeof(*s));

	s->who = who;
	normalise(info, who->addr.qp, s->info);
	s->next = who->subscriptions;
	who->subscriptions = s;
	s->id = roll_add(&sa->informs->all, s);
	p->n++;
	changed(sa);
}

static void remove_empty(struct sa *sa, struct subscriber *who)
{
	struct inform_port *p = guidmap_get(sa->informs->ports, who->port_guid);
	struct subscriber **at = &p->first;

	reports_forget(sa, who);
	while (*at != who)
		at = &(*at)->next;
	*at = who->next;
	free(who);
	if (p->first)
		return;
	guidmap_remove(sa->informs->ports, p->guid);
	free(p);
}

bool informs_remove(struct sa *sa, struct subscription *s)
{
	struct subscriber *who = s->who;
	struct inform_port *p = guidmap_get(sa->informs->ports, who->port_guid);
	struct subscription **at = &who->subscriptions;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	roll_remove(&sa->informs->all, s->id);
	p->n--;
	free(s);
	changed(sa);
	if (who->subscriptions)
		return false;
	remove_empty(sa, who);
	return true;
}

void informs_remove_subscriber(struct sa *sa, struct subscriber *who)
{
	while (!informs_remove(sa, who->subscriptions))
		;
}

void informs_clear(struct sa *sa)
{
	struct subscription *s;
	uint64_t cursor = 0;

	while ((s = informs_before(sa, &cursor)))
		informs_remove(sa, s);
}

int informs_restore(struct sa *sa, guid_t port_guid, const struct transport_addr *addr,
		    const uint8_t *info)
{
	if (find(find_subscriber(sa, port_guid, addr), info))
		return -EEXIST;
	if (!has_room(sa, port_guid))
		return -ENOSPC;
	add(sa, obtain_subscriber(sa, port_guid, addr), info);
	return 0;
}

/* ---- InformInfo ---------------------------------------------------------------------------- */

static bool names_security_trap(const uint8_t *info)
{
	unsigned trap = ib_get(info, INF_TRAP);

	return ib_get(info, INF_IS_GENERIC) && trap >= TRAP_BAD_MKEY &&
	       trap <= TRAP_SWITCH_BAD_PKEY;
}

/* The first port in a range of LIDs; VIEW_NONE if nobody is there. */
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
 * May the requester hear of the source it names? A range that begins at 0 names nobody in particular
 * and is taken, as the peer does; what it may hear of is asked again at each notice.
 */
static bool may_hear_source(const struct sa *sa, const struct sa_request *rq, const uint8_t *info)
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
	struct subscriber *who;

	if (!may_hear_source(sa, rq, record)) {
		ib_put(record, INF_SUBSCRIBE, 0);
		return SA_REQ_INVALID;
	}
	if (find(find_subscriber(sa, port->guid, &rq->from), record))
		return SA_OK;
	if (!has_room(sa, port->guid))
		return SA_NO_RESOURCES;
	who = obtain_subscriber(sa, port->guid, &rq->from);
	who->lid_offset = rq->from.lid - port->lid;
	add(sa, who, record);
	return SA_OK;
}

/* The QPN in the request is compared; 0, for clients that do not know theirs, is as good. */
static uint16_t unsubscribe(struct sa *sa, const struct sa_request *rq, const uint8_t *record)
{
	const struct view_port *port = &sa->view->ports[rq->port];
	struct subscription *s = find(find_subscriber(sa, port->guid, &rq->from), record);
	uint32_t qp = ib_get(record, INF_QPN);

	if (!s || (qp && qp != rq->from.qp))
		return SA_REQ_INVALID;
	informs_remove(sa, s);
	return SA_OK;
}

static uint16_t set(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	unsigned wish = ib_get(record, INF_SUBSCRIBE);

	if (rq->port == VIEW_NONE || wish > 1)
		return SA_REQ_INVALID;
	if (names_security_trap(record) && !rq->trusted)
		return SA_REQ_INVALID;
	return wish ? subscribe(sa, rq, record) : unsubscribe(sa, rq, record);
}

static const struct ib_field info_fields[] = IB_LAYOUT_ROWS(INFORM_INFO_LIST);

const struct sa_type sa_inform_info = {
	.attr = SA_INFORM_INFO,
	.name = "InformInfo",
	.size = INF_BYTES,
	.head = info_fields,
	.n_head = ARRAY_SIZE(info_fields),
	.set = set,
};

/* ---- InformInfoRecord ---------------------------------------------------------------------- */

/* Where Reports to it go, for a standby that will have to send them. */
static void put_way(const struct sa *sa, const struct transport_addr *addr, uint8_t *ret)
{
	const struct port *own =
		fabric_find_port(sa->fabric, sa->view->ports[sa->view->sm_port].guid);
	const uint8_t *block = own ? fabric_pkey_block(sa->fabric, own,
						       addr->pkey_index / PKEYS_PER_BLOCK)
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

static enum sa_step next(struct sa_query *q, uint8_t *ret)
{
	uint64_t cursor = (uint64_t)q->at[1] << 32 | q->at[0];
	const struct subscription *s = informs_before(q->sa, &cursor);

	if (!s)
		return SA_END;
	q->at[0] = (uint32_t)cursor;
	q->at[1] = (uint32_t)(cursor >> 32);
	q->subject = view_port_of_guid(q->view, s->who->port_guid);
	if (q->subject == VIEW_NONE && !q->rq.trusted)
		return SA_SKIP; /* its port is away: nobody knows who may see it */
	sa_gid(q->view->prefix, s->who->port_guid, ib_at(ret, IIR_SUBSCRIBER_GID));
	memcpy(ret + IIR_BYTES, s->info, INF_BYTES);
	if (!q->rq.trusted)
		ib_put(ret + IIR_BYTES, INF_QPN, 0);
	if (q->rq.whole)
		put_way(q->sa, &s->who->addr, ret);
	return SA_ROW;
}

static const struct ib_field record_fields[] = IB_LAYOUT_ROWS(INFORM_INFO_RECORD_LIST);

const struct sa_type sa_inform_info_record = {
	.attr = SA_INFORM_INFO_RECORD,
	.name = "InformInfoRecord",
	.size = 64,
	.head_len = IIR_BYTES,
	.head = record_fields,
	.n_head = ARRAY_SIZE(record_fields),
	.body = info_fields,
	.n_body = ARRAY_SIZE(info_fields),
	.next = next,
};

/* ---- the fabric changes -------------------------------------------------------------------- */

/* The address of a port that moved moves along, path within the LMC range included. True: it did. */
static bool relocate(struct subscriber *who, const struct view_port *port)
{
	unsigned offset = who->addr.lid - port->lid; /* huge if it lies below */
	lid_t before = who->addr.lid;

	if (offset >> port->lmc == 0)
		who->lid_offset = offset;
	else if (who->lid_offset >> port->lmc)
		who->lid_offset = 0;
	who->addr.lid = port->lid + who->lid_offset;
	return who->addr.lid != before;
}

/* Two have come to be at the same address: they are one. */
static void merge(struct sa *sa, struct subscriber *into, struct subscriber *from)
{
	while (from->subscriptions) {
		struct subscription *s = from->subscriptions;

		if (find(into, s->info)) {
			if (informs_remove(sa, s))
				return;
			continue;
		}
		from->subscriptions = s->next;
		s->who = into;
		s->next = into->subscriptions;
		into->subscriptions = s;
	}
	remove_empty(sa, from);
}

static void move_port(struct sa *sa, struct inform_port *p, const struct view_port *port)
{
	struct subscriber *after, *twin;
	bool moved = false;

	for (struct subscriber *who = p->first; who; who = who->next)
		moved |= relocate(who, port);
	if (!moved)
		return;
	sa->db_version++;
	for (struct subscriber *who = p->first; who; who = after) {
		after = who->next;
		twin = find_subscriber(sa, p->guid, &who->addr); /* the first of them */
		if (twin != who)
			merge(sa, twin, who);
	}
}

static void drop_port(struct sa *sa, struct inform_port *p)
{
	struct subscriber *who = p->first, *after;

	for (; who; who = after) { /* with the last one, the port is freed */
		after = who->next;
		informs_remove_subscriber(sa, who);
	}
}

/* In an array, as dropping changes the map. */
static struct inform_port **all_ports(const struct informs *s, size_t *ret_n)
{
	struct inform_port **ports = xcalloc(guidmap_count(s->ports) + 1, sizeof(*ports));
	size_t pos = 0;
	guid_t guid;
	void *port;

	*ret_n = 0;
	while (guidmap_next(s->ports, &pos, &guid, &port))
		ports[(*ret_n)++] = port;
	return ports;
}

void informs_view_changed(struct sa *sa, const struct view *before, mono_t now)
{
	struct informs *s = sa->informs;
	bool after_standby = !before && s->was_published;
	_cleanup_free_ struct inform_port **ports = NULL;
	size_t n;

	if (!sa->view)
		return;
	s->was_published = true;
	ports = all_ports(s, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = view_port_of_guid(sa->view, ports[i]->guid);

		if (sa->conf->drop_event_subscriptions && (after_standby || at == VIEW_NONE))
			drop_port(sa, ports[i]);
		else if (at != VIEW_NONE && sa->view->ports[at].lid)
			move_port(sa, ports[i], &sa->view->ports[at]);
	}
}
