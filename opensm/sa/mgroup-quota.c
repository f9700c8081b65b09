// SPDX-License-Identifier: BSD-2-Clause
/*
 * How many groups and members one port may cause, and all of them together: see mgroup.h.
 *
 * Counts only; what is counted belongs to mgroup.c.
 */
#include "sa/mgroup-store.h"
#include "util/mem.h"

struct account {
	uint32_t groups, members;
};

struct mquota {
	struct guidmap *accounts; /* of those who have something */
};

struct mquota *mquota_new(void)
{
	struct mquota *q = xcalloc(1, sizeof(*q));

	q->accounts = guidmap_new();
	return q;
}

struct mquota *mquota_free(struct mquota *q)
{
	size_t pos = 0;
	void *account;

	if (!q)
		return NULL;
	while (guidmap_next(q->accounts, &pos, NULL, &account))
		free(account);
	guidmap_free(q->accounts);
	free(q);
	return NULL;
}

static void charge(struct mquota *q, guid_t requester, int groups, int members)
{
	struct account *a = requester ? guidmap_get(q->accounts, requester) : NULL;

	if (!requester)
		return;
	if (!a) {
		a = xcalloc(1, sizeof(*a));
		guidmap_put(q->accounts, requester, a);
	}
	a->groups += (uint32_t)groups;
	a->members += (uint32_t)members;
	if (!a->groups && !a->members)
		free(guidmap_remove(q->accounts, requester));
}

void mquota_charge_group(struct mquota *q, guid_t requester, int by)
{
	charge(q, requester, by, 0);
}

void mquota_charge_member(struct mquota *q, guid_t requester, int by)
{
	charge(q, requester, 0, by);
}

static struct account account_of(const struct mgroups *m, guid_t requester)
{
	const struct account *a = requester ? guidmap_get(m->quota->accounts, requester) : NULL;

	return a ? *a : (struct account){ 0 };
}

/* Room for one more of `max`, the last eighth being for those who have little. */
static bool has_room(uint32_t used, uint32_t max, bool has_little)
{
	return used < (has_little ? max : max - max / 8);
}

bool mquota_group(const struct mgroups *m, guid_t requester, bool shared)
{
	uint32_t has = account_of(m, requester).groups;
	bool little = has < MGROUP_FEW;

	if (requester && has >= MAX((uint32_t)MGROUP_PER_PORT_MIN, m->n_mlids / 4))
		return false;
	if (!has_room(m->n_groups, MGROUPS_MAX, little))
		return false;
	return shared || has_room(m->n_used, m->n_mlids, little);
}

bool mquota_member(const struct mgroups *m, guid_t requester)
{
	uint32_t has = account_of(m, requester).members;

	return (!requester || has < MGROUP_MEMBERS_PER_PORT) &&
	       has_room(m->n_members, MGROUP_MEMBERS_MAX, has < MGROUP_FEW_MEMBERS);
}

void sa_mlids(const struct sa *sa, uint32_t *ret_used, uint32_t *ret_max)
{
	*ret_used = sa->mgroups->n_used;
	*ret_max = sa->mgroups->n_mlids;
}
