// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of the store of groups, shared by mgroup.c (groups, members, MLIDs), mgroup-quota.c
 * (who may have how much) and mgroup-view.c (views, partitions, restoring) only.
 */
#pragma once

#include "sa/impl.h"
#include "sa/mgroup.h"
#include "util/guidmap.h"

/* A port that has members, under whatever GUIDs. */
struct mport {
	guid_t guid;
	uint32_t at; /* in sa->view; VIEW_NONE: not there, or no view */
	struct member *first;
};

struct member {
	struct mgroup_member pub;
	struct mgroup *group;
	struct mport *where;
	guid_t requester;	     /* charged for it */
	struct member *next, **link; /* of the same port */
	bool stale;		     /* mgroups_view_changed(): its GUID is gone */
};

struct mgroup {
	uint8_t record[MCM_BYTES];	/* MLID included */
	guid_t requester;		/* charged for it; 0: nobody */
	struct mgroup *on_mlid, **link; /* next group on the same MLID; what points to this one */
	struct member **members;	/* by interface id */
	uint32_t n_members, cap, n_full;
	lid_t mlid;
	bool well_known;
	bool listed; /* mgroups_apply_partitions(): stands in the file */
};

struct mgroups {
	struct mgroup **groups; /* by MGID bytes */
	uint32_t n_groups, cap, n_members;
	struct mgroup *mlids[MLIDS_MAX]; /* the groups on each */
	uint32_t n_mlids;      /* range: min(MulticastFDBCap) of the switches in the view */
	uint32_t n_used;       /* of them, with a group */
	uint32_t hint;	       /* no MLID below is free */
	struct guidmap *ports; /* GUID -> struct mport */
	struct guidmap *ids;   /* interface id -> members that go by it, as a number */
	struct mquota *quota;
	uint32_t next_assigned; /* counter of assigned MGIDs */

	/* MLIDs whose ports have changed, each once, until mgroups_tell(). */
	lid_t *changed;
	uint32_t n_changed, changed_cap;
	uint64_t is_changed[(MLIDS_MAX + 63) / 64];

	const struct partitions *parts; /* one reference, or NULL */
	bool parts_new;			/* not yet applied: what cannot be done is said once */
	bool restored; /* what is in the store has not met the partition file yet */
};

/* ---- mgroup.c ---- */

/* Puts out who is left, in silence, and frees the MLID. */
void mgroups_destroy(struct sa *sa, struct mgroup *g);
/* Calls the hook for what has changed. Last step of everything public that changes members. */
void mgroups_tell(struct sa *sa);
/* mgroups_leave() without telling. */
uint8_t mgroups_take_bits(struct sa *sa, struct member *m, uint8_t bits);
/* mgroups_join() without trap and telling. */
struct member *mgroups_add_bits(struct sa *sa, struct mgroup *g, const struct mgroup_join *j);
/* The MLID this group may share with its like (consolidate_ipv6_snm_req); 0: none. */
lid_t mgroups_snm_mlid(const struct sa *sa, const uint8_t *record);
/* Gives a restored member to the port that has its interface id as an alias. */
void mgroups_rehome(struct sa *sa, struct member *m, guid_t port);
/* Does a member with this JoinState keep a group alive? */
bool mgroup_is_full(uint8_t join);
/* Of the range: MulticastFDBCap of the switches in the view. */
void mgroups_set_range(struct mgroups *m, uint32_t n_mlids);

/* ---- mgroup-quota.c ---- */

struct mquota *mquota_new(void);
struct mquota *mquota_free(struct mquota *q);
/* How much a requester has; 0 is nobody and has nothing. `by` is 1 or -1. */
void mquota_charge_group(struct mquota *q, guid_t requester, int by);
void mquota_charge_member(struct mquota *q, guid_t requester, int by);
/* One more group, on an MLID of its own or on a shared one. */
bool mquota_group(const struct mgroups *m, guid_t requester, bool shared);
bool mquota_member(const struct mgroups *m, guid_t requester);
