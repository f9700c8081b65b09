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
	struct held **list; /* sorted by P_Key */
	size_t n, cap;
	/* struct rights by GUID of the port, each with one partition at least */
	struct guidmap *ports;
	size_t n_members;
	size_t n_ipoib; /* number of partitions with an IPoIB broadcast group */
};

/* --- tenants.c ------------------------------------------------------------------------------- */

/* Index of the partition, or the index where it would be inserted. */
size_t tenants_place(const struct tenants *t, uint16_t pkey);
struct held *tenants_held(const struct tenants *t, uint16_t pkey);
struct held *held_free(struct held *h);
/* Index of the member, or the index where it would be inserted. */
size_t held_place(const struct tenant_partition *p, guid_t guid);
/* The fields of a partition for which a request names none. */
struct tenant_fields tenants_default_fields(uint16_t pkey);
bool tenants_fields_equal(const struct tenant_fields *a, const struct tenant_fields *b);

/* --- tenants_judge.c ------------------------------------------------------------------------- */

/* Is the name printable ASCII that ends within `size` bytes? May be "". */
bool tenants_name_is_fine(const char *name, size_t size);
