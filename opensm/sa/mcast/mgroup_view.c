// SPDX-License-Identifier: BSD-2-Clause
/*
 * Changes of groups that requests do not cause: a new view (ports come and go, there are fewer
 * MLIDs), another partition file, a dump of an earlier process. The store itself is mgroup.c.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "ib/words.h"
#include "sa/mcast/mgroup_store.h"
#include "sa/base/requester.h"
#include "util/mem.h"

/* ---- range of MLIDs ------------------------------------------------------------------------- */

/* The number of MLIDs that all multicast switches can hold; trees avoid other switches. */
static uint32_t mlids_of(const struct view *v)
{
	uint32_t n = MLIDS_MAX;

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct view_node *node = &v->nodes[i];
		uint32_t cap =
			node->switch_known ? ib_get(node->switch_info, SI_MULTICAST_FDB_CAP) : 0;

		if (node->type == IB_NODE_SWITCH && cap)
			n = MIN(n, cap);
	}
	return n;
}

static void range_update(struct sa *sa)
{
	struct mgroups *m = sa->mgroups;
	uint32_t before = m->n_mlids, now = mlids_of(sa->view), beyond = 0;

	if (now == before)
		return;
	mgroups_set_range(sa, now);
	for (uint32_t i = 0; i < m->n_groups; i++)
		if (m->groups[i]->mlid >= MLID_FIRST + now)
			beyond++;
	if (beyond)
		log_on(ABOUT(.id = LOG_ID_TABLE_FULL), LOGB_ERROR,
		       "multicast: switches have room for MLIDs 0x%X to 0x%X only; %u group(s) "
		       "above "
		       "cannot be reached until they are made anew",
		       MLID_FIRST, MLID_FIRST + now - 1, beyond);
	else
		log_verbose("multicast: MLIDs 0x%X to 0x%X", MLID_FIRST, MLID_FIRST + now - 1);
}

/* ---- ports --------------------------------------------------------------------------------- */

/* Could the port join now, as far as its P_Keys are known (sa.md 6.1)? */
static bool may_be_in(const struct sa *sa, uint32_t port, const struct mgroup *g)
{
	return !view_pkeys(sa->view, port) || view_has_pkey(sa->view, port, mgroup_pkey(g));
}

/*
 * Finds the port of a member. A restored member has only its interface id: an alias leads to the
 * port that has it now.
 */
static bool member_is_there(struct sa *sa, const struct mport *p, struct member *m,
			    guid_t *ret_home)
{
	uint32_t at;

	if (p->at != VIEW_NONE && m->pub.id == p->guid)
		return may_be_in(sa, p->at, m->group);
	at = sa_port_of_interface_id(sa, sa->view, m->pub.id);
	if (at == VIEW_NONE || !may_be_in(sa, at, m->group))
		return false;
	if (m->pub.id == p->guid)
		*ret_home = sa->view->ports[at].guid;
	return *ret_home || at == p->at;
}

/* Marks members of a port that are gone. True: there were some. */
static bool mark_stale(struct sa *sa, struct mport *p)
{
	bool any = false;

	for (struct member *m = LIST_FIRST(&p->members); m; m = LIST_NEXT(m, of_port)) {
		guid_t home = 0;

		m->stale = !member_is_there(sa, p, m, &home) || home;
		any |= m->stale;
	}
	return any;
}

static struct member *first_stale(const struct mgroups *s, guid_t port)
{
	const struct mport *p = guidmap_get(s->ports, port);
	struct member *m = p ? LIST_FIRST(&p->members) : NULL;

	while (m && !m->stale)
		m = LIST_NEXT(m, of_port);
	return m;
}

/*
 * Removes stale members of a port. The port may be freed, and a group that ends takes other members
 * with it.
 */
static void settle_port(struct sa *sa, guid_t port)
{
	struct member *m;

	while ((m = first_stale(sa->mgroups, port))) {
		guid_t home = 0;

		m->stale = false;
		if (member_is_there(sa, m->where, m, &home))
			mgroups_rehome(sa, m, home);
		else
			mgroups_take_bits(sa, m, 0xF);
	}
}

static void ports_update(struct sa *sa)
{
	struct mgroups *s = sa->mgroups;
	_cleanup_free_ guid_t *stale = xcalloc(guidmap_count(s->ports) + 1, sizeof(*stale));
	size_t pos = 0, n = 0;
	void *value;

	while (guidmap_next(s->ports, &pos, NULL, &value)) {
		struct mport *p = value;

		p->at = view_port_of_guid(sa->view, p->guid);
		if (mark_stale(sa, p))
			stale[n++] = p->guid;
	}
	for (size_t i = 0; i < n; i++)
		settle_port(sa, stale[i]);
}

/* A membership of the port in a group with this P_Key; NULL: none. */
static struct member *member_with_pkey(const struct mgroups *s, guid_t port, uint16_t pkey)
{
	const struct mport *p = guidmap_get(s->ports, port);
	struct member *m = p ? LIST_FIRST(&p->members) : NULL;

	while (m && (mgroup_pkey(m->group) ^ pkey) & PKEY_BASE)
		m = LIST_NEXT(m, of_port);
	return m;
}

void sa_leave_partition(struct sa *sa, guid_t port_guid, uint16_t pkey)
{
	uint32_t at = sa->view ? view_port_of_guid(sa->view, port_guid) : VIEW_NONE;
	struct member *m;

	assert(port_guid && pkey & PKEY_BASE);
	/*
	 * Without a view P_Keys are unknown; with the next one, members without rights are removed.
	 */
	if (!sa->view || (at != VIEW_NONE && view_has_pkey(sa->view, at, pkey)))
		return;
	while ((m = member_with_pkey(sa->mgroups, port_guid, pkey)))
		mgroups_take_bits(sa, m, 0xF);
	mgroups_tell(sa);
}

static void ports_forget_places(struct mgroups *s)
{
	size_t pos = 0;
	void *value;

	while (guidmap_next(s->ports, &pos, NULL, &value))
		((struct mport *)value)->at = VIEW_NONE;
}

/* ---- partitions ---------------------------------------------------------------------------- */

/* Makes the record of a group as in the file; MLID 0. */
static void record_of(const struct partition_group *from, uint8_t *ret)
{
	memset(ret, 0, MCM_BYTES);
	memcpy(ib_at(ret, MCM_MGID), from->mgid, 16);
	ib_put(ret, MCM_QKEY, from->qkey);
	ib_put(ret, MCM_MTU_SEL, SA_EXACT);
	ib_put(ret, MCM_MTU, from->mtu);
	ib_put(ret, MCM_TCLASS, from->tclass);
	ib_put(ret, MCM_PKEY, from->pkey);
	ib_put(ret, MCM_RATE_SEL, SA_EXACT);
	ib_put(ret, MCM_RATE, from->rate);
	ib_put(ret, MCM_LIFE_SEL, SA_EXACT);
	ib_put(ret, MCM_LIFE, from->life);
	ib_put(ret, MCM_SL, from->sl);
	ib_put(ret, MCM_FLOW, from->flow);
	ib_put(ret, MCM_HOP, from->hop);
	ib_put(ret, MCM_SCOPE, from->scope);
}

/* The first member that could not be in the group with the values of `record`; NULL: none. */
static const struct member *unfit_member(const struct sa *sa, const struct mgroup *g,
					 const uint8_t *record)
{
	bool same_keys = ib_get(record, MCM_QKEY) == ib_get(g->record, MCM_QKEY) &&
			 ib_get(record, MCM_PKEY) == ib_get(g->record, MCM_PKEY);

	for (uint32_t i = 0; i < g->n_members; i++) {
		const struct member *m = g->members[i];
		const struct view_port *p =
			m->where->at == VIEW_NONE ? NULL : &sa->view->ports[m->where->at];

		if (!same_keys || !p || p->neighbor_mtu < ib_get(record, MCM_MTU) ||
		    sa_rate_compare(p->rate, ib_get(record, MCM_RATE)) < 0)
			return m;
	}
	return NULL;
}

/*
 * Applies new values of the file to an existing group. They hold for joins from now on, unless
 * present members would be cut off: by a Q_Key that they do not know, or an MTU or rate that their
 * port lacks. After a restart the file holds in any case.
 */
static void group_follow_file(struct sa *sa, struct mgroup *g, const uint8_t *record)
{
	const struct member *unfit;
	char text[IB_MGID_STRLEN];
	struct sa_port_text port;

	if (!memcmp(record, g->record, MCM_BYTES))
		return;
	ib_mgid_words(mgroup_mgid(g), text);
	unfit = unfit_member(sa, g, record);
	if (unfit && !sa->mgroups->restored) {
		sa_port_text(sa, unfit->pub.port, 0, &port);
		port.about.id = LOG_ID_PARTITION_FAULT;
		port.about.mgid = text;
		if (sa->mgroups->parts_new)
			log_on(port.about, LOGB_ERROR,
			       "multicast group %s stays as it was while %s is in it, which cannot "
			       "follow the partition file (MTU %u rate %u Q_Key 0x%x)",
			       text, port.text, (unsigned)ib_get(record, MCM_MTU),
			       (unsigned)ib_get(record, MCM_RATE),
			       (unsigned)ib_get(record, MCM_QKEY));
		return;
	}
	memcpy(g->record, record, MCM_BYTES);
	sa->db_version++;
	log_info("multicast group %s: now as in the partition file (MTU %u rate %u SL %u); its %u "
		 "member(s) learn it when they join again",
		 text, (unsigned)ib_get(record, MCM_MTU), (unsigned)ib_get(record, MCM_RATE),
		 (unsigned)ib_get(record, MCM_SL), g->n_members);
}

/* Replaces a group that began with another MTU or rate; its members must join again. */
static void group_anew(struct sa *sa, struct mgroup *g, const uint8_t *record)
{
	_cleanup_free_ guid_t *ports = xcalloc(g->n_members + 1, sizeof(*ports));
	uint32_t n = g->n_members;
	char text[IB_MGID_STRLEN];

	for (uint32_t i = 0; i < n; i++)
		ports[i] = g->members[i]->pub.port;
	mgroups_evict(sa, g);
	memcpy(g->record, record, MCM_BYTES);
	sa->db_version++;
	log_info("multicast group %s: made anew with MTU %u rate %u; its %u member(s) have to join "
		 "again",
		 ib_mgid_words(mgroup_mgid(g), text), (unsigned)ib_get(record, MCM_MTU),
		 (unsigned)ib_get(record, MCM_RATE), n);
	for (uint32_t i = 0; i < n && sa->hooks.members_lost; i++)
		sa->hooks.members_lost(sa->hooks.arg, ports[i]);
}

/* Must the group of a partition made at run time be replaced, as its values have changed? */
static bool must_be_anew(const struct sa *sa, const struct mgroup *g, uint16_t partition,
			 const uint8_t *record)
{
	return !sa->mgroups->parts->list[partition].n_items && g->n_members &&
	       !sa->mgroups->restored &&
	       (ib_get(record, MCM_MTU) != ib_get(g->record, MCM_MTU) ||
		ib_get(record, MCM_RATE) != ib_get(g->record, MCM_RATE));
}

static struct mgroup *group_from_file(struct sa *sa, const uint8_t *record)
{
	lid_t mlid = sa->conf->disable_multicast ? 0 : mgroups_pick_mlid(sa, record, 0, 0);
	char text[IB_MGID_STRLEN];

	if (mlid)
		return mgroups_create(sa, record, mlid, 0);
	if (sa->mgroups->parts_new && !sa->conf->disable_multicast)
		log_on(ABOUT(.id = LOG_ID_TABLE_FULL), LOGB_ERROR,
		       "multicast group %s of the partition file: no MLID is free",
		       ib_mgid_words(ib_at(record, MCM_MGID), text));
	return NULL;
}

static void group_list(struct sa *sa, const struct partition_group *from)
{
	struct mgroup *g = mgroup_find(sa, from->mgid);
	uint8_t record[MCM_BYTES];

	/* a partition without ports has no group (partitions-conf.md 5) */
	if (!view_bases_have(&sa->mgroups->known, from->pkey))
		return;
	record_of(from, record);
	ib_put(record, MCM_SL, view_group_sl(sa->view, from->sl));
	if (g) {
		ib_put(record, MCM_MLID, g->mlid);
		if (must_be_anew(sa, g, from->partition, record))
			group_anew(sa, g, record);
		group_follow_file(sa, g, record);
	} else {
		g = group_from_file(sa, record);
	}
	if (!g)
		return;
	g->listed = true;
	if (!g->well_known)
		sa->db_version++;
	g->well_known = true;
}

static void apply_partitions(struct sa *sa)
{
	struct mgroups *m = sa->mgroups;

	if (!m->parts || !sa->view)
		return;
	view_known_pkeys(sa->view, &m->known);
	for (uint32_t i = 0; i < m->n_groups; i++)
		m->groups[i]->listed = false;
	for (size_t i = 0; i < m->parts->n_groups; i++)
		group_list(sa, &m->parts->groups[i]);
	for (uint32_t i = m->n_groups; i-- > 0;) {
		struct mgroup *g = m->groups[i];

		if (!g->well_known || g->listed)
			continue;
		g->well_known = false;
		sa->db_version++;
		if (!g->n_full)
			mgroups_destroy(sa, g);
	}
	m->parts_new = false;
	m->restored = false;
}

const struct partitions *mgroups_partitions(const struct sa *sa)
{
	return sa->mgroups->parts;
}

/* Ends the groups of partitions that are gone. */
static void end_groups(struct sa *sa, const struct partitions *before)
{
	struct mgroups *m = sa->mgroups;

	for (uint32_t i = m->n_groups; i-- > 0;) {
		struct mgroup *g = m->groups[i];

		if (!partitions_find(before, mgroup_pkey(g)) ||
		    partitions_find(m->parts, mgroup_pkey(g)))
			continue;
		mgroups_evict(sa, g);
		mgroups_destroy(sa, g);
	}
}

void mgroups_pkeys_changed(struct sa *sa)
{
	struct view_bases known;

	view_known_pkeys(sa->view, &known);
	if (!memcmp(&known, &sa->mgroups->known, sizeof(known)))
		return;
	apply_partitions(sa);
	mgroups_tell(sa);
}

void sa_set_partitions(struct sa *sa, const struct partitions *parts)
{
	struct mgroups *m = sa->mgroups;
	const struct partitions *before = m->parts;

	if (parts == before)
		return; /* applied with each view */
	m->parts = parts ? partitions_ref(parts) : NULL;
	m->parts_new = !before || !parts || !partitions_equal(before, parts);
	if (before && parts && m->parts_new)
		end_groups(sa, before);
	partitions_unref(before);
	apply_partitions(sa);
	mgroups_tell(sa);
}

/* ---- a new view ---------------------------------------------------------------------------- */

/* Removes restored groups that have no full member. */
static void drop_restored(struct sa *sa)
{
	struct mgroups *m = sa->mgroups;

	for (uint32_t i = m->n_groups; i-- > 0;) {
		if (!m->groups[i]->n_full && !m->groups[i]->well_known)
			mgroups_destroy(sa, m->groups[i]);
	}
}

void mgroups_view_changed(struct sa *sa)
{
	struct mgroups *m = sa->mgroups;
	bool restored = m->restored;

	if (!sa->view) {
		ports_forget_places(m);
		return;
	}
	for (uint32_t i = 0; i < m->n_groups; i++) {
		uint8_t *record = m->groups[i]->record;

		ib_put(record, MCM_SL, view_group_sl(sa->view, (uint8_t)ib_get(record, MCM_SL)));
	}
	range_update(sa);
	ports_update(sa);
	apply_partitions(sa);
	if (restored)
		drop_restored(sa);
	mgroups_tell(sa);
}

void mgroups_clear(struct sa *sa)
{
	struct mgroups *m = sa->mgroups;

	while (m->n_groups)
		mgroups_destroy(sa, m->groups[m->n_groups - 1]);
	mgroups_tell(sa);
}

/* ---- restoring ----------------------------------------------------------------------------- */

static bool record_is_sound(const uint8_t *record, lid_t mlid)
{
	return *ib_at(record, MCM_MGID) == 0xFF && mlid >= MLID_FIRST && mlid <= MLID_LAST &&
	       sa_mtu_valid(ib_get(record, MCM_MTU)) && ib_rate_valid(ib_get(record, MCM_RATE)) &&
	       ib_get(record, MCM_PKEY) & PKEY_BASE;
}

/*
 * May the group have an MLID that another group has? Only if it would have got it by sharing (sa.md
 * 6.4).
 */
static bool mlid_is_open(const struct sa *sa, const uint8_t *record, lid_t mlid)
{
	return !mgroup_on_mlid(sa, mlid, NULL) || mgroups_snm_mlid(sa, record) == mlid;
}

int mgroups_restore(struct sa *sa, const uint8_t *record, lid_t mlid, bool well_known)
{
	struct mgroup *g = mgroup_find(sa, ib_at(record, MCM_MGID));
	uint8_t clean[MCM_BYTES];

	if (!record_is_sound(record, mlid))
		return -EINVAL;
	if (g)
		return g->mlid == mlid ? 0 : -EEXIST;
	if (!mlid_is_open(sa, record, mlid))
		return -EEXIST;
	if (sa->mgroups->n_groups >= sa->conf->sa_max_groups)
		return -ENOSPC;
	memcpy(clean, record, MCM_BYTES);
	memset(ib_at(clean, MCM_PORT_GID), 0, 16);
	ib_put(clean, MCM_MTU_SEL, SA_EXACT);
	ib_put(clean, MCM_RATE_SEL, SA_EXACT);
	ib_put(clean, MCM_LIFE_SEL, SA_EXACT);
	ib_put(clean, MCM_JOIN_STATE, 0);
	ib_put(clean, MCM_PROXY_JOIN, 0);
	ib_put(clean, MCM_RSV1, 0);
	ib_put(clean, MCM_RSV2, 0);
	g = mgroups_create(sa, clean, mlid, 0);
	g->well_known = well_known;
	sa->mgroups->restored = true;
	return 0;
}

int mgroups_restore_member(struct sa *sa, const uint8_t *mgid, guid_t id, uint8_t join, bool proxy)
{
	struct mgroup *g = mgroup_find(sa, mgid);

	if (!g)
		return -ENOENT;
	if (!id || !join || join > 0xF)
		return -EINVAL;
	if (sa->mgroups->n_members >= sa->conf->sa_max_members)
		return -ENOSPC;
	if (!g->requester && !g->well_known) {
		g->requester = id; /* some requester must be charged */
		quota_move(sa, SA_QUOTA_GROUPS, 0, id);
	}
	mgroups_add_bits(sa, g, &(struct mgroup_join){ id, id, id, join, proxy });
	sa->mgroups->restored = true;
	return 0;
}
