// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of tenants*.c: the table.
 *
 *   tenants.c        life and look-up
 *   tenants_play.c   entries change it, forth and back
 *   tenants_judge.c  what a request comes to
 *   tenants_join.c   with the file: what the planner plans
 *   tenants_limited.c  with the file: partitions without a full member
 */
#pragma once

#include "conf/tenants/tenants.h"
#include "util/guidmap.h"

struct held {
	struct tenant_partition p;
	size_t cap; /* of p.members */
};

/* The partitions of one port. */
struct rights {
	uint32_t n, cap;
	struct tenant_right list[]; /* sorted by partition_order() */
};

struct tenants {
	uint64_t generation;
	int64_t changed_at;
	struct held **list; /* by P_Key */
	size_t n, cap;
	struct guidmap *ports; /* GUID: struct rights, with one at least */
	size_t n_members;
	size_t n_ipoib; /* partitions with an IPoIB broadcast group */
};

/* --- tenants.c ------------------------------------------------------------------------------- */

/* Place of the partition, or the place where it would be. */
size_t tenants_place(const struct tenants *t, uint16_t pkey);
struct held *tenants_held(const struct tenants *t, uint16_t pkey);
struct held *held_free(struct held *h);
/* Place of the member, or the place where it would be. */
size_t held_place(const struct tenant_partition *p, guid_t guid);
/* What a partition has if a request does not say otherwise. */
struct tenant_fields tenants_default_fields(uint16_t pkey);
bool tenants_fields_equal(const struct tenant_fields *a, const struct tenant_fields *b);

/* --- tenants_judge.c ------------------------------------------------------------------------- */

/* Printable ASCII that ends within `size` bytes; may be "". */
bool tenants_name_is_fine(const char *name, size_t size);
