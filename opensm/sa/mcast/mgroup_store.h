// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of the store of groups, shared by mgroup.c (groups, members, MLIDs) and mgroup_view.c
 * (views, partitions, restoring) only.
 */
#pragma once

#include <sys/queue.h>

#include "sa/base/sa_internal.h"
#include "sa/mcast/mgroup.h"
#include "util/guidmap.h"

/* A port that has members, under whatever GUIDs. */
struct mport {
	guid_t guid;
	uint32_t at; /* in sa->view; VIEW_NONE: not there, or no view */
	LIST_HEAD(, member) members;
};

struct member {
	struct mgroup_member pub;
	struct mgroup *group;
	struct mport *where;
	guid_t requester;	     /* charged for it */
	LIST_ENTRY(member) of_port;
	bool stale;		     /* mgroups_view_changed(): its GUID is gone */
};

struct mgroup {
	uint8_t record[MCM_BYTES];	/* MLID included */
	guid_t requester;		/* charged for it; 0: none */
	LIST_ENTRY(mgroup) on_mlid;	/* groups that share an MLID */
	struct member **members;	/* by interface id */
	uint32_t n_members, cap, n_full;
	lid_t mlid;
	bool well_known;
	bool listed; /* mgroups_apply_partitions(): stands in the file */
};

struct mgroups {
	struct mgroup **groups; /* by MGID bytes */
	uint32_t n_groups, cap, n_members;
	LIST_HEAD(, mgroup) mlids[MLIDS_MAX];
	uint32_t n_mlids;      /* range: min(MulticastFDBCap) of the switches in the view */
	uint32_t n_used;       /* of them, with a group */
	uint32_t hint;	       /* no MLID below is free */
	struct guidmap *ports; /* GUID -> struct mport */
	struct guidmap *ids;   /* interface id -> members that go by it, as a number */
	uint32_t next_assigned; /* counter of assigned MGIDs */

	/* MLIDs whose ports have changed, each once, until mgroups_tell(). */
	lid_t *changed;
	uint32_t n_changed, changed_cap;
	uint64_t is_changed[(MLIDS_MAX + 63) / 64];

	const struct partitions *parts; /* one reference, or NULL */
	bool parts_new;			/* not yet applied: faults are logged once */
	struct view_bases known;	/* P_Keys that ports hold, when they were applied */
	bool restored; /* the store was restored, and the partition file not applied yet */
};

/* ---- mgroup.c ---- */

/* Removes the remaining members without notices, and frees the MLID. */
void mgroups_destroy(struct sa *sa, struct mgroup *g);
/* All members go, with trap 67 if one of them was full. The group stays. */
void mgroups_evict(struct sa *sa, struct mgroup *g);
/* Calls the hook for MLIDs that changed. Last step of each public function that changes members. */
void mgroups_tell(struct sa *sa);
/* mgroups_leave() without the hook. */
uint8_t mgroups_take_bits(struct sa *sa, struct member *m, uint8_t bits);
/* mgroups_join() without trap and hook. */
struct member *mgroups_add_bits(struct sa *sa, struct mgroup *g, const struct mgroup_join *j);
/* The MLID this group may share with its like (consolidate_ipv6_snm_req); 0: none. */
lid_t mgroups_snm_mlid(const struct sa *sa, const uint8_t *record);
/* Gives a restored member to the port that has its interface id as an alias. */
void mgroups_rehome(struct sa *sa, struct member *m, guid_t port);
/* Of the range: MulticastFDBCap of the switches in the view. */
void mgroups_set_range(struct sa *sa, uint32_t n_mlids);
