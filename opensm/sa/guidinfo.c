// SPDX-License-Identifier: BSD-2-Clause
/*
 * GUIDInfoRecord: alias GUIDs that hypervisors request for their guests (sa.md 8). Keeps the
 * aliases and answers; hooks.guids_changed() has the device's table written.
 */
#include "sa/guidinfo.h"

#include <errno.h>
#include <string.h>

#include "sa/notice/inform.h"
#include "sa/records.h"
#include "util/mem.h"

/* Prefix of GUIDs that are assigned here: OUI; then the byte sm_assigned_guid, and a counter. */
#define ASSIGNED_OUI 0x0014050000000000ull

struct alias_guids *alias_guids_new(struct sa *sa)
{
	struct alias_guids *a = xcalloc(1, sizeof(*a));

	a->ports = guidmap_new();
	a->by_guid = guidmap_new();
	return a;
}

static void port_free(struct alias_port *p)
{
	free(p->guids);
	free(p);
}

struct alias_guids *alias_guids_free(struct alias_guids *a)
{
	size_t pos = 0;
	guid_t guid;
	void *port;

	if (!a)
		return NULL;
	while (guidmap_next(a->ports, &pos, &guid, &port))
		port_free(port);
	guidmap_free(a->ports);
	guidmap_free(a->by_guid);
	free(a);
	return NULL;
}

/* ---- the store ----------------------------------------------------------------------------- */

static int by_port_guid(const void *a, const void *b)
{
	const struct alias_port *x = *(struct alias_port *const *)a;
	const struct alias_port *y = *(struct alias_port *const *)b;

	return x->port < y->port ? -1 : x->port > y->port;
}

struct alias_port **alias_guids_sorted(const struct sa *sa, size_t *ret_n)
{
	struct alias_port **ports = xcalloc(guidmap_count(sa->guids->ports) + 1, sizeof(*ports));
	size_t pos = 0, n = 0;
	guid_t guid;
	void *port;

	while (guidmap_next(sa->guids->ports, &pos, &guid, &port))
		ports[n++] = port;
	qsort(ports, n, sizeof(*ports), by_port_guid);
	*ret_n = n;
	return ports;
}

static struct alias_port *find_table(const struct sa *sa, guid_t port)
{
	return guidmap_get(sa->guids->ports, port);
}

/* The table of a port, made if need be, with room for `n_blocks`. */
static struct alias_port *obtain_table(struct sa *sa, guid_t port, unsigned n_blocks)
{
	struct alias_port *p = find_table(sa, port);

	if (!p) {
		p = xcalloc(1, sizeof(*p));
		p->port = port;
		guidmap_put(sa->guids->ports, port, p);
	}
	if (n_blocks <= p->n_blocks)
		return p;
	p->guids = xrealloc(p->guids, n_blocks * ALIAS_BLOCK, sizeof(*p->guids));
	memset(p->guids + p->n_blocks * ALIAS_BLOCK, 0,
	       (n_blocks - p->n_blocks) * ALIAS_BLOCK * sizeof(*p->guids));
	p->n_blocks = n_blocks;
	return p;
}

/* Sets an entry of a port's table to `guid` (0: none). */
static void put_alias(struct sa *sa, struct alias_port *p, unsigned at, guid_t guid)
{
	if (p->guids[at])
		guidmap_remove(sa->guids->by_guid, p->guids[at]);
	p->guids[at] = guid;
	if (guid)
		guidmap_put(sa->guids->by_guid, guid, p);
	sa->stats.guids = (uint32_t)guidmap_count(sa->guids->by_guid);
	sa->db_version++;
}

static void remove_alias(struct sa *sa, struct alias_port *p, guid_t guid)
{
	for (unsigned i = 0; i < p->n_blocks * ALIAS_BLOCK; i++) {
		if (p->guids[i] == guid)
			put_alias(sa, p, i, 0);
	}
}

static bool is_empty(const struct alias_port *p)
{
	for (unsigned i = 0; i < p->n_blocks * ALIAS_BLOCK; i++)
		if (p->guids[i])
			return false;
	return true;
}

/* The number of entries of the port's table, its own GUID included. */
static unsigned capacity(const struct view_port *port)
{
	return port->known ? MAX(ib_get(port->info, PI_GUID_CAP), 1) : 1;
}

static unsigned n_blocks_of(const struct view_port *port)
{
	return (capacity(port) + ALIAS_BLOCK - 1) / ALIAS_BLOCK;
}

static void fill_block(const struct sa *sa, guid_t port, unsigned block, guid_t ret[ALIAS_BLOCK])
{
	const struct alias_port *p = find_table(sa, port);

	memset(ret, 0, ALIAS_BLOCK * sizeof(*ret));
	if (p && block < p->n_blocks)
		memcpy(ret, p->guids + block * ALIAS_BLOCK, ALIAS_BLOCK * sizeof(*ret));
	if (block == 0)
		ret[0] = port;
}

bool sa_guid_block(const struct sa *sa, guid_t port_guid, unsigned block, guid_t ret[8])
{
	const struct alias_port *p = find_table(sa, port_guid);

	if (!p || block >= p->n_blocks)
		return false;
	fill_block(sa, port_guid, block, ret);
	return true;
}

/* ---- Get ----------------------------------------------------------------------------------- */

static void put_block(uint8_t *record, const guid_t guids[ALIAS_BLOCK])
{
	for (unsigned i = 0; i < ALIAS_BLOCK; i++)
		ib_bits_put(record, GIR_GUID0 + 64 * i, 64, guids[i]);
}

static enum sa_step block_of_port(struct sa_query *q, uint32_t end, uint8_t *ret)
{
	const struct view_port *port = &q->view->ports[end];
	uint32_t block = q->at[WALK_OWN]++;
	guid_t guids[ALIAS_BLOCK];

	if (q->rq.whole && !find_table(q->sa, port->guid))
		return SA_END;
	ib_put(ret, GIR_BLOCK, block);
	fill_block(q->sa, port->guid, block, guids);
	put_block(ret, guids);
	if (block + 1 >= n_blocks_of(port))
		walk_on(q);
	return SA_ROW;
}

/* ---- Set, Delete --------------------------------------------------------------------------- */

/* A block of a port, as a request names it. */
struct target {
	uint32_t at; /* index in the view */
	const struct view_port *port;
	unsigned block;
	uint8_t wanted; /* entries 0..7 of the block that the request names, as bits */
};

static uint16_t find_target(const struct sa *sa, const struct sa_request *rq, const uint8_t *record,
			    struct target *ret)
{
	if (!SA_HAS(rq->mask, GIR_LID) || !SA_HAS(rq->mask, GIR_BLOCK))
		return SA_REQ_INSUFFICIENT_COMPONENTS;
	ret->at = view_port_at(sa->view, ib_get(record, GIR_LID));
	if (ret->at == VIEW_NONE)
		return SA_NO_RECORDS;
	ret->port = &sa->view->ports[ret->at];
	if (ret->at != rq->port && !view_share_pkey(sa->view, rq->port, ret->at, NULL))
		return SA_DROP;
	ret->block = ib_get(record, GIR_BLOCK);
	if (ret->block >= n_blocks_of(ret->port))
		return SA_NO_RECORDS;
	ret->wanted = rq->mask >> GIR_GUID0_C & 0xFF;
	if (ret->block == 0 && (ret->wanted & 1))
		return SA_REQ_INVALID;
	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		if (ret->block * ALIAS_BLOCK + i >= capacity(ret->port))
			ret->wanted &= ~(1u << i); /* beyond the table: 0 is answered */
	}
	return SA_OK;
}

static guid_t assign_alias(struct sa *sa)
{
	for (;;) {
		guid_t guid = ASSIGNED_OUI | (guid_t)sa->conf->sm_assigned_guid << 32 |
			      ++sa->guids->counter;

		if (view_port_of_guid(sa->view, guid) == VIEW_NONE &&
		    !guidmap_get(sa->guids->by_guid, guid))
			return guid;
	}
}

/* Has a present port this GUID? */
static bool in_use(const struct sa *sa, guid_t guid)
{
	return sa_port_of_interface_id(sa, sa->view, guid) != VIEW_NONE;
}

static bool is_of_another(const struct sa *sa, guid_t guid, const struct target *t)
{
	uint32_t owner = guid ? sa_port_of_interface_id(sa, sa->view, guid) : VIEW_NONE;

	return owner != VIEW_NONE && owner != t->at;
}

static bool is_full(const struct sa *sa)
{
	return guidmap_count(sa->guids->by_guid) >= sa->conf->sa_max_alias_guids;
}

/* The GUID for an entry that `wish` asks for (0: any); `have`: it stays. */
static guid_t decide_alias(struct sa *sa, guid_t have, guid_t wish)
{
	if (have && (!wish || wish == have))
		return have;
	if (is_full(sa) && !have)
		return 0;
	if (!wish)
		return assign_alias(sa);
	return in_use(sa, wish) ? have : wish;
}

static void raise_alias(struct sa *sa, enum ib_trap trap, guid_t guid, const struct target *t)
{
	if (guid)
		reports_raise_gid(sa, trap, guid, sa->view, t->at);
}

static void change_alias(struct sa *sa, const struct target *t, unsigned i, guid_t guid)
{
	struct alias_port *p = obtain_table(sa, t->port->guid, n_blocks_of(t->port)), *away;
	unsigned at = t->block * ALIAS_BLOCK + i;
	guid_t before = p->guids[at];

	p->lid = t->port->lid;
	away = guid ? guidmap_get(sa->guids->by_guid, guid) : NULL;
	if (away)
		remove_alias(sa, away, guid);
	put_alias(sa, p, at, guid);
	raise_alias(sa, TRAP_GID_OUT_OF_SERVICE, before, t);
	raise_alias(sa, TRAP_GID_IN_SERVICE, guid, t);
}

/*
 * Applies `wish` to the block, and answers with the result. Nothing is changed if an alias of a
 * group member would be replaced (OpenSM replaces it, and the member is lost).
 */
static uint16_t apply_block(struct sa *sa, const struct target *t, const guid_t wish[ALIAS_BLOCK],
		      uint8_t *record)
{
	guid_t have[ALIAS_BLOCK];
	bool changed = false;

	fill_block(sa, t->port->guid, t->block, have);
	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		if (have[i] != wish[i] && have[i] && mgroups_uses_gid(sa, have[i]))
			return SA_REQ_DENIED;
	}
	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		if (have[i] == wish[i])
			continue;
		change_alias(sa, t, i, wish[i]);
		changed = true;
	}
	put_block(record, wish);
	if (changed && sa->hooks.guids_changed)
		sa->hooks.guids_changed(sa->hooks.arg, t->port->guid, t->block);
	return SA_OK;
}

static bool is_among(const guid_t *guids, unsigned n, guid_t guid)
{
	for (unsigned i = 0; i < n; i++) {
		if (guids[i] == guid)
			return true;
	}
	return false;
}

/* Handles Set and Delete. */
static uint16_t change_block(struct sa *sa, const struct sa_request *rq, uint8_t *record)
{
	guid_t wish[ALIAS_BLOCK];
	struct target t;
	uint16_t status = find_target(sa, rq, record, &t);
	bool lacks = false;

	if (status)
		return status;
	fill_block(sa, t.port->guid, t.block, wish);
	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		guid_t asked = ib_bits_get(record, GIR_GUID0 + 64 * i, 64);

		if (!(t.wanted >> i & 1))
			continue;
		if (rq->method == MAD_SA_DELETE) {
			wish[i] = 0;
		} else if (!asked || !is_among(wish, i, asked)) {
			wish[i] = decide_alias(sa, wish[i], asked);
			if (!wish[i] && is_full(sa))
				lacks = true;
		}
		if (rq->method == MAD_SET && is_of_another(sa, asked, &t))
			sa_abused(sa, rq, SA_ABUSE_ALIAS);
	}
	if (lacks)
		sa_without(sa, rq, "a GUID", CONF_ID_sa_max_alias_guids);
	return apply_block(sa, &t, wish, record);
}

const struct sa_type sa_guid_info_record = {
	.size = GIR_BYTES,
	SA_HEAD(GUID_INFO_RECORD_LIST),
	.lids = SA_COMP(GIR_LID),
	.start = walk_start,
	.next = walk_next,
	.of_port = block_of_port,
	.set = change_block,
	.delete = change_block,
};

/* ---- the fabric changes -------------------------------------------------------------------- */

static void clear_table(struct sa *sa, struct alias_port *p, unsigned from)
{
	for (unsigned i = from; i < p->n_blocks * ALIAS_BLOCK; i++)
		if (p->guids[i])
			put_alias(sa, p, i, 0);
}

static void trim_table(struct sa *sa, struct alias_port *p, const struct view_port *port)
{
	clear_table(sa, p, capacity(port));
	p->n_blocks = MIN(p->n_blocks, n_blocks_of(port));
}

static void on_arrival(struct sa *sa, struct alias_port *p, uint32_t at)
{
	struct target t = { .at = at, .port = &sa->view->ports[at] };

	trim_table(sa, p, t.port);
	for (unsigned i = 0; i < p->n_blocks * ALIAS_BLOCK; i++)
		raise_alias(sa, TRAP_GID_IN_SERVICE, p->guids[i], &t);
	for (unsigned block = 0; block < p->n_blocks && sa->hooks.guids_changed; block++)
		sa->hooks.guids_changed(sa->hooks.arg, p->port, block);
}

static void on_departure(struct sa *sa, struct alias_port *p, const struct view *before,
			 uint32_t at)
{
	for (unsigned i = 0; i < p->n_blocks * ALIAS_BLOCK; i++) {
		if (p->guids[i])
			reports_raise_gid(sa, TRAP_GID_OUT_OF_SERVICE, p->guids[i], before, at);
	}
	if (!is_empty(p))
		return;
	guidmap_remove(sa->guids->ports, p->port);
	port_free(p);
	sa->db_version++;
}

void alias_guids_view_changed(struct sa *sa, const struct view *before)
{
	_cleanup_free_ struct alias_port **ports = NULL;
	size_t n;

	if (!sa->view || !guidmap_count(sa->guids->ports))
		return;
	ports = alias_guids_sorted(sa, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = view_port_of_guid(sa->view, ports[i]->port);
		uint32_t was = before ? view_port_of_guid(before, ports[i]->port) : VIEW_NONE;

		if (at != VIEW_NONE && ports[i]->lid != sa->view->ports[at].lid) {
			ports[i]->lid = sa->view->ports[at].lid;
			sa->db_version++;
		}
		if (at != VIEW_NONE && was == VIEW_NONE)
			on_arrival(sa, ports[i], at);
		else if (at == VIEW_NONE && was != VIEW_NONE)
			on_departure(sa, ports[i], before, was);
	}
}

void alias_guids_clear(struct sa *sa)
{
	size_t pos = 0;
	void *port;

	while (guidmap_next(sa->guids->ports, &pos, NULL, &port))
		clear_table(sa, port, 0);
}

int alias_guids_restore(struct sa *sa, guid_t port, lid_t lid, unsigned block,
			const guid_t guids[ALIAS_BLOCK])
{
	struct alias_port *p;
	int r = 0;

	if (!port || block >= ALIAS_BLOCKS)
		return -EINVAL;
	p = obtain_table(sa, port, block + 1);
	p->lid = lid;
	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		if ((block == 0 && i == 0) || !guids[i])
			continue;
		if (guidmap_count(sa->guids->by_guid) >= sa->conf->sa_max_alias_guids)
			return -ENOSPC;
		if (guidmap_get(sa->guids->by_guid, guids[i]))
			r = -EINVAL; /* another port has it already */
		else
			put_alias(sa, p, block * ALIAS_BLOCK + i, guids[i]);
	}
	return r;
}
