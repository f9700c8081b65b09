// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of groups, members and MLIDs. Arrays are sorted, as queries and dumps often read them
 * in order, and moving pointers is the least cost of a join. Changes of the fabric and of
 * partitions: mgroup_view.c; rights of hosts: mcmember.c.
 */
#include "sa/mcast/mgroup.h"

#include <assert.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "sa/mcast/mgroup_store.h"
#include "util/bisect.h"
#include "util/mem.h"

struct mgroups *mgroups_new(struct sa *sa)
{
	struct mgroups *m = xcalloc(1, sizeof(*m));

	sa->n_mlids = m->n_mlids = MLIDS_MAX;
	m->ports = guidmap_new();
	m->ids = guidmap_new();
	return m;
}

static struct mgroup *group_free(struct mgroup *g)
{
	for (uint32_t i = 0; i < g->n_members; i++)
		free(g->members[i]);
	free(g->members);
	free(g);
	return NULL;
}

struct mgroups *mgroups_free(struct mgroups *m)
{
	size_t pos = 0;
	void *port;

	if (!m)
		return NULL;
	for (uint32_t i = 0; i < m->n_groups; i++)
		group_free(m->groups[i]);
	while (guidmap_next(m->ports, &pos, NULL, &port))
		free(port);
	guidmap_free(m->ports);
	guidmap_free(m->ids);
	partitions_unref(m->parts);
	free(m->groups);
	free(m->changed);
	free(m);
	return NULL;
}

/* ---- finding ------------------------------------------------------------------------------- */

const uint8_t *mgroup_record(const struct mgroup *g)
{
	return g->record;
}

const uint8_t *mgroup_mgid(const struct mgroup *g)
{
	return ib_at(g->record, MCM_MGID);
}

lid_t mgroup_mlid(const struct mgroup *g)
{
	return g->mlid;
}

uint16_t mgroup_pkey(const struct mgroup *g)
{
	return ib_get(g->record, MCM_PKEY);
}

bool mgroup_is_well_known(const struct mgroup *g)
{
	return g->well_known;
}

unsigned mgroup_members(const struct mgroup *g)
{
	return g->n_members;
}

/* Index of the first group whose MGID is at or above `mgid`. */
static uint32_t group_place(const struct mgroups *m, const uint8_t *mgid)
{
	return BISECT(i, 0, m->n_groups, memcmp(mgroup_mgid(m->groups[i]), mgid, 16) < 0);
}

static bool group_is_at(const struct mgroups *m, uint32_t at, const uint8_t *mgid)
{
	return at < m->n_groups && !memcmp(mgroup_mgid(m->groups[at]), mgid, 16);
}

struct mgroup *mgroup_find(const struct sa *sa, const uint8_t *mgid)
{
	uint32_t at = group_place(sa->mgroups, mgid);

	return group_is_at(sa->mgroups, at, mgid) ? sa->mgroups->groups[at] : NULL;
}

struct mgroup *mgroup_next(const struct sa *sa, const uint8_t *mgid)
{
	const struct mgroups *m = sa->mgroups;
	uint32_t at = mgid ? group_place(m, mgid) : 0;

	if (mgid && group_is_at(m, at, mgid))
		at++;
	return at < m->n_groups ? m->groups[at] : NULL;
}

struct mgroup *mgroup_on_mlid(const struct sa *sa, lid_t mlid, const struct mgroup *after)
{
	if (after)
		return LIST_NEXT(after, on_mlid);
	return mlid >= MLID_FIRST && mlid <= MLID_LAST
		       ? LIST_FIRST(&sa->mgroups->mlids[mlid - MLID_FIRST])
		       : NULL;
}

/* Index of the first member whose interface id is at or above `id`. */
static uint32_t member_place(const struct mgroup *g, guid_t id)
{
	return BISECT(i, 0, g->n_members, g->members[i]->pub.id < id);
}

static struct member *member_find(const struct mgroup *g, guid_t id)
{
	uint32_t at = member_place(g, id);

	return at < g->n_members && g->members[at]->pub.id == id ? g->members[at] : NULL;
}

const struct mgroup_member *mgroup_member(const struct mgroup *g, guid_t id)
{
	const struct member *m = member_find(g, id);

	return m ? &m->pub : NULL;
}

const struct mgroup_member *mgroup_member_from(const struct mgroup *g, guid_t id)
{
	uint32_t at = member_place(g, id);

	return at < g->n_members ? &g->members[at]->pub : NULL;
}

bool mgroup_has_port(const struct sa *sa, const struct mgroup *g, guid_t port)
{
	const struct member *own = member_find(g, port), *m;
	const struct mport *p = port ? guidmap_get(sa->mgroups->ports, port) : NULL;

	if (own && own->pub.port == port)
		return true;
	m = p ? LIST_FIRST(&p->members) : NULL;
	/*
	 * Walks the groups of the port and the members of the group in step, to the end of the
	 * shorter list.
	 */
	for (uint32_t i = 0; m && i < g->n_members; i++, m = LIST_NEXT(m, of_port)) {
		if (m->group == g || g->members[i]->where == p)
			return true;
	}
	return false;
}

bool mgroups_uses_gid(const struct sa *sa, guid_t interface_id)
{
	return interface_id && guidmap_get(sa->mgroups->ids, interface_id);
}

/* ---- the role of a port on an MLID ---------------------------------------------------------- */

enum role { ROLE_NONE, ROLE_SENDS, ROLE_RECEIVES };

static enum role role_of(uint8_t join)
{
	return join & (MC_FULL | MC_NON_MEMBER) ? ROLE_RECEIVES : join ? ROLE_SENDS : ROLE_NONE;
}

/*
 * The role of its port on its MLID without this member: by an alias, or in another group with that
 * MLID. The groups of the port show it, and so do the members of the groups; both are walked in
 * step to the end of the shorter list.
 */
static enum role role_of_others(const struct mgroups *s, const struct member *self)
{
	const struct mgroup *g = LIST_FIRST(&s->mlids[self->group->mlid - MLID_FIRST]);
	const struct member *m = LIST_FIRST(&self->where->members);
	enum role by_port = ROLE_NONE, by_group = ROLE_NONE;
	uint32_t i = 0;

	for (; m && g; m = LIST_NEXT(m, of_port)) {
		if (MAX(by_port, by_group) == ROLE_RECEIVES)
			return ROLE_RECEIVES;
		if (m != self && m->group->mlid == g->mlid)
			by_port = MAX(by_port, role_of(m->pub.join));
		if (i == g->n_members) {
			g = LIST_NEXT(g, on_mlid);
			i = 0;
			continue;
		}
		if (g->members[i] != self && g->members[i]->where == self->where)
			by_group = MAX(by_group, role_of(g->members[i]->pub.join));
		i++;
	}
	return m ? by_group : by_port;
}

static void mark_changed(struct mgroups *m, lid_t mlid)
{
	unsigned i = mlid - MLID_FIRST;

	if (m->is_changed[i / 64] >> (i % 64) & 1)
		return;
	m->is_changed[i / 64] |= 1ull << (i % 64);
	GROW(m->changed, m->n_changed + 1, m->changed_cap);
	m->changed[m->n_changed++] = mlid;
}

void mgroups_tell(struct sa *sa)
{
	struct mgroups *m = sa->mgroups;

	for (uint32_t i = 0; i < m->n_changed; i++) {
		lid_t mlid = m->changed[i];

		m->is_changed[(mlid - MLID_FIRST) / 64] = 0;
		if (sa->hooks.mcast_changed)
			sa->hooks.mcast_changed(sa->hooks.arg, mlid);
	}
	m->n_changed = 0;
	sa->stats.groups = m->n_groups;
	sa->stats.members = m->n_members;
}

lid_t sa_next_mlid(const struct sa *sa, lid_t mlid)
{
	for (unsigned i = MAX(mlid, MLID_FIRST) - MLID_FIRST; i < MLIDS_MAX; i++) {
		if (!LIST_EMPTY(&sa->mgroups->mlids[i]))
			return MLID_FIRST + i;
	}
	return 0;
}

static int by_port(const void *a, const void *b)
{
	const struct sa_mc_port *x = a, *y = b;

	return x->port < y->port ? -1 : x->port > y->port;
}

/*
 * Sorts; mostly the order is right, as groups list members by GUID, and views list ports by GUID.
 */
static void sort_ports(struct sa_mc_port *list, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (list[i - 1].port > list[i].port) {
			qsort(list, n, sizeof(*list), by_port);
			return;
		}
	}
}

static uint32_t merge_equal(struct sa_mc_port *list, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (kept && list[kept - 1].port == list[i].port)
			list[kept - 1].receives |= list[i].receives;
		else
			list[kept++] = list[i];
	}
	return kept;
}

struct sa_mc_port *sa_mc_members(const struct sa *sa, lid_t mlid, uint32_t *ret_n)
{
	struct sa_mc_port *list;
	uint32_t n = 0;

	for (struct mgroup *g = mgroup_on_mlid(sa, mlid, NULL); g; g = LIST_NEXT(g, on_mlid))
		n += g->n_members;
	list = xcalloc(n + 1, sizeof(*list));
	n = 0;
	for (struct mgroup *g = mgroup_on_mlid(sa, mlid, NULL); g; g = LIST_NEXT(g, on_mlid)) {
		for (uint32_t i = 0; i < g->n_members; i++) {
			const struct member *m = g->members[i];

			if (m->where->at != VIEW_NONE)
				list[n++] = (struct sa_mc_port){
					.port = m->where->at,
					.receives = role_of(m->pub.join) == ROLE_RECEIVES,
				};
		}
	}
	sort_ports(list, n);
	*ret_n = merge_equal(list, n);
	return list;
}

uint8_t sa_mc_sl(const struct sa *sa, lid_t mlid)
{
	const struct mgroup *g = mgroup_on_mlid(sa, mlid, NULL);

	return g ? (uint8_t)ib_get(mgroup_record(g), MCM_SL) : 0;
}

/* ---- MLIDs --------------------------------------------------------------------------------- */

#define SNM_PREFIX 13

/* Is it an IPv6 solicited-node group: ffxS:601b:PPPP::1:ffXX:XXXX (RFC 4391, RFC 4291 2.7.1)? */
static bool is_snm(const uint8_t *mgid)
{
	static const uint8_t middle[] = { 0, 0, 0, 0, 0, 1, 0xFF };

	return mgid[0] == 0xFF && mgid[2] == 0x60 && mgid[3] == 0x1B &&
	       !memcmp(mgid + 6, middle, sizeof(middle));
}

lid_t mgroups_snm_mlid(const struct sa *sa, const uint8_t *record)
{
	const uint8_t *mgid = ib_at(record, MCM_MGID);
	uint8_t first[16] = { 0 };
	const struct mgroup *g;

	if (!sa->conf->consolidate_ipv6_snm_req || !is_snm(mgid))
		return 0;
	memcpy(first, mgid, SNM_PREFIX);
	for (uint32_t i = group_place(sa->mgroups, first); i < sa->mgroups->n_groups; i++) {
		g = sa->mgroups->groups[i];
		if (memcmp(mgroup_mgid(g), first, SNM_PREFIX))
			return 0;
		if (mgroup_pkey(g) == ib_get(record, MCM_PKEY))
			return g->mlid;
	}
	return 0;
}

void sa_mlids(const struct sa *sa, uint32_t *ret_used, uint32_t *ret_max)
{
	*ret_used = sa->mgroups->n_used;
	*ret_max = sa->mgroups->n_mlids;
}

uint32_t mgroups_assign(struct sa *sa)
{
	return ++sa->mgroups->next_assigned;
}

static lid_t lowest_free(const struct mgroups *m)
{
	for (uint32_t i = m->hint; i < m->n_mlids; i++) {
		if (LIST_EMPTY(&m->mlids[i]))
			return MLID_FIRST + i;
	}
	return 0;
}

lid_t mgroups_pick_mlid(const struct sa *sa, const uint8_t *record, lid_t wanted, guid_t requester)
{
	const struct mgroups *m = sa->mgroups;
	bool free = wanted >= MLID_FIRST && wanted < MLID_FIRST + m->n_mlids &&
		    LIST_EMPTY(&m->mlids[wanted - MLID_FIRST]);
	lid_t shared = free ? 0 : mgroups_snm_mlid(sa, record);

	if (quota_reached(sa, SA_QUOTA_GROUPS, requester) != CONF_N_OPTIONS ||
	    (!shared && !quota_has_room(sa, SA_QUOTA_GROUPS, requester, m->n_used, m->n_mlids)))
		return 0;
	if (free)
		return wanted;
	return shared ? shared : lowest_free(m);
}

static void link_mlid(struct mgroups *m, struct mgroup *g, lid_t mlid)
{
	uint32_t i = mlid - MLID_FIRST;

	g->mlid = mlid;
	ib_put(g->record, MCM_MLID, mlid);
	if (LIST_EMPTY(&m->mlids[i]) && i < m->n_mlids)
		m->n_used++;
	LIST_INSERT_HEAD(&m->mlids[i], g, on_mlid);
	while (m->hint < MLIDS_MAX && !LIST_EMPTY(&m->mlids[m->hint]))
		m->hint++;
}

static void unlink_mlid(struct mgroups *m, struct mgroup *g)
{
	uint32_t i = g->mlid - MLID_FIRST;

	LIST_REMOVE(g, on_mlid);
	if (!LIST_EMPTY(&m->mlids[i]))
		return;
	m->hint = MIN(m->hint, i);
	if (i < m->n_mlids)
		m->n_used--;
}

void mgroups_set_range(struct sa *sa, uint32_t n_mlids)
{
	struct mgroups *m = sa->mgroups;

	sa->n_mlids = m->n_mlids = n_mlids;
	m->n_used = 0;
	for (uint32_t i = 0; i < n_mlids; i++)
		if (!LIST_EMPTY(&m->mlids[i]))
			m->n_used++;
}

/* ---- groups -------------------------------------------------------------------------------- */

struct mgroup *mgroups_create(struct sa *sa, const uint8_t *record, lid_t mlid, guid_t requester)
{
	struct mgroups *m = sa->mgroups;
	struct mgroup *g = xcalloc(1, sizeof(*g));
	uint32_t at = group_place(m, ib_at(record, MCM_MGID));

	assert(mlid >= MLID_FIRST && mlid <= MLID_LAST);
	assert(!group_is_at(m, at, ib_at(record, MCM_MGID)));
	memcpy(g->record, record, MCM_BYTES);
	link_mlid(m, g, mlid);
	g->requester = requester;
	quota_charge(sa, SA_QUOTA_GROUPS, requester, 1);
	GROW(m->groups, m->n_groups + 1, m->cap);
	memmove(&m->groups[at + 1], &m->groups[at], (m->n_groups - at) * sizeof(*m->groups));
	m->groups[at] = g;
	sa->stats.groups = ++m->n_groups;
	sa->db_version++;
	return g;
}

static void member_remove(struct sa *sa, struct member *gone);

void mgroups_destroy(struct sa *sa, struct mgroup *g)
{
	struct mgroups *m = sa->mgroups;
	uint32_t at = group_place(m, mgroup_mgid(g));

	while (g->n_members)
		member_remove(sa, g->members[g->n_members - 1]);
	unlink_mlid(m, g);
	quota_charge(sa, SA_QUOTA_GROUPS, g->requester, -1);
	m->n_groups--;
	memmove(&m->groups[at], &m->groups[at + 1], (m->n_groups - at) * sizeof(*m->groups));
	group_free(g);
	sa->db_version++;
}

/* ---- members ------------------------------------------------------------------------------- */

/* Does a member with this JoinState keep a group alive? */
static bool mgroup_is_full(uint8_t join)
{
	return join & (MC_FULL | MC_SEND_ONLY_FULL);
}

static struct mport *port_get(struct sa *sa, guid_t guid)
{
	struct mgroups *m = sa->mgroups;
	struct mport *p = guidmap_get(m->ports, guid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->guid = guid;
	p->at = sa->view ? view_port_of_guid(sa->view, guid) : VIEW_NONE;
	guidmap_put(m->ports, guid, p);
	return p;
}

static void port_link(struct mport *p, struct member *m)
{
	m->where = p;
	m->pub.port = p->guid;
	LIST_INSERT_HEAD(&p->members, m, of_port);
}

static void port_unlink(struct mgroups *s, struct member *m)
{
	LIST_REMOVE(m, of_port);
	if (LIST_EMPTY(&m->where->members))
		free(guidmap_remove(s->ports, m->where->guid));
}

static void count_id(struct mgroups *m, guid_t id, int by)
{
	uintptr_t n = (uintptr_t)guidmap_get(m->ids, id) + (uintptr_t)by;

	if (n)
		guidmap_put(m->ids, id, (void *)n);
	else
		guidmap_remove(m->ids, id);
}

static struct member *member_add(struct sa *sa, struct mgroup *g, const struct mgroup_join *j)
{
	struct mgroups *s = sa->mgroups;
	struct member *m = xcalloc(1, sizeof(*m));
	uint32_t at = member_place(g, j->id);

	m->group = g;
	m->pub.id = j->id;
	m->pub.proxy = j->proxy;
	m->requester = j->requester;
	port_link(port_get(sa, j->port), m);
	count_id(s, j->id, 1);
	quota_charge(sa, SA_QUOTA_MEMBERS, j->requester, 1);
	GROW(g->members, g->n_members + 1, g->cap);
	memmove(&g->members[at + 1], &g->members[at],
		(g->n_members - at) * sizeof(struct member *));
	g->members[at] = m;
	g->n_members++;
	sa->stats.members = ++s->n_members;
	return m;
}

/* Sets JoinState; nothing else changes it. */
static void member_set_bits(struct sa *sa, struct member *m, uint8_t join)
{
	enum role others = role_of_others(sa->mgroups, m), before = role_of(m->pub.join);

	m->group->n_full += (uint32_t)mgroup_is_full(join) - (uint32_t)mgroup_is_full(m->pub.join);
	m->pub.join = join;
	sa->db_version++;
	if (MAX(role_of(join), others) != MAX(before, others))
		mark_changed(sa->mgroups, m->group->mlid);
}

static void member_remove(struct sa *sa, struct member *gone)
{
	struct mgroups *s = sa->mgroups;
	struct mgroup *g = gone->group;
	uint32_t at = member_place(g, gone->pub.id);

	member_set_bits(sa, gone, 0);
	g->n_members--;
	memmove(&g->members[at], &g->members[at + 1],
		(g->n_members - at) * sizeof(struct member *));
	port_unlink(s, gone);
	count_id(s, gone->pub.id, -1);
	quota_charge(sa, SA_QUOTA_MEMBERS, gone->requester, -1);
	free(gone);
	sa->stats.members = --s->n_members;
}

void mgroups_rehome(struct sa *sa, struct member *m, guid_t port)
{
	struct mgroups *s = sa->mgroups;

	mark_changed(s, m->group->mlid);
	port_unlink(s, m);
	port_link(port_get(sa, port), m);
	quota_move(sa, SA_QUOTA_MEMBERS, m->requester, port);
	m->requester = port;
	sa->db_version++;
}

struct member *mgroups_add_bits(struct sa *sa, struct mgroup *g, const struct mgroup_join *j)
{
	struct member *m = member_find(g, j->id);

	if (!m)
		m = member_add(sa, g, j);
	m->pub.proxy = m->pub.proxy && j->proxy; /* a port that joins for itself has no proxy */
	if ((m->pub.join | j->join) != m->pub.join)
		member_set_bits(sa, m, m->pub.join | j->join);
	return m;
}

const struct mgroup_member *mgroups_join(struct sa *sa, struct mgroup *g,
					 const struct mgroup_join *j)
{
	bool was_full = g->n_full;
	struct member *m;

	assert(j->id && j->port && j->join && j->join <= 0xF);
	m = mgroups_add_bits(sa, g, j);
	if (!was_full && g->n_full)
		sa_raise_mgid(sa, TRAP_MGID_CREATED, mgroup_mgid(g), mgroup_pkey(g));
	mgroups_tell(sa);
	return &m->pub;
}

static void remove_members(struct sa *sa, struct mgroup *g)
{
	while (g->n_members)
		member_remove(sa, g->members[g->n_members - 1]);
}

void mgroups_evict(struct sa *sa, struct mgroup *g)
{
	if (g->n_full)
		sa_raise_mgid(sa, TRAP_MGID_DESTROYED, mgroup_mgid(g), mgroup_pkey(g));
	remove_members(sa, g);
}

uint8_t mgroups_take_bits(struct sa *sa, struct member *m, uint8_t bits)
{
	struct mgroup *g = m->group;
	bool was_full = mgroup_is_full(m->pub.join);
	uint8_t left = m->pub.join & ~bits;

	if (!mgroup_is_full(left) && g->n_full == was_full)
		left = 0; /* without a full member, the others cannot stay (sa.md 6.2) */
	if (left)
		member_set_bits(sa, m, left);
	else
		member_remove(sa, m);
	if (!was_full || g->n_full)
		return left;
	/* before the group is removed, as its P_Key decides which subscribers get the notice */
	sa_raise_mgid(sa, TRAP_MGID_DESTROYED, mgroup_mgid(g), mgroup_pkey(g));
	remove_members(sa, g);
	if (!g->well_known)
		mgroups_destroy(sa, g);
	return left;
}

uint8_t mgroups_leave(struct sa *sa, struct mgroup *g, guid_t id, uint8_t bits)
{
	struct member *m = member_find(g, id);
	uint8_t left = m ? mgroups_take_bits(sa, m, bits) : 0;

	mgroups_tell(sa);
	return left;
}
