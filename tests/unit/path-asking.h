// SPDX-License-Identifier: BSD-2-Clause
/* Asking for path records at the desk: for the tests of path*.c. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sa/base/sa_internal.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

#define MTU	   (SA_COMP(PR_MTU_SEL) | SA_COMP(PR_MTU))
#define RATE	   (SA_COMP(PR_RATE_SEL) | SA_COMP(PR_RATE))
#define LIFE	   (SA_COMP(PR_LIFE_SEL) | SA_COMP(PR_LIFE))
#define SERVICE	   (SA_COMP(PR_SERVICE_ID_MSB) | SA_COMP(PR_SERVICE_ID_LSB))
#define LIDS	   (SA_COMP(PR_SLID) | SA_COMP(PR_DLID))
#define GIDS	   (SA_COMP(PR_SGID) | SA_COMP(PR_DGID))
#define REVERSIBLE 0x80

static inline uint8_t byte_at(const uint8_t *record, unsigned field)
{
	return record[field / 8];
}

/* As ibsim: 2048 on all ports but 1024 on port 0 of switches. */
static inline void set_mtus(struct desk *d)
{
	FABRIC_EACH_NODE(d->fabric, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
			ib_put(n->ports[i].info, PI_MTU_CAP, i ? IB_MTU_2048 : IB_MTU_1024);
	desk_publish(d);
}

/* h0 h1 on leaf1, h2 h3 on leaf2, spine1; LIDs in this order. */
static inline struct desk *two_leaves(void)
{
	struct desk *d = desk_new("tree 2 2 1");

	set_mtus(d);
	return d;
}

static inline void blank_lids(struct desk *d, unsigned slid, unsigned dlid)
{
	desk_blank(d);
	ib_put(d->record, PR_SLID, slid);
	ib_put(d->record, PR_DLID, dlid);
}

static inline void blank_names(struct desk *d, const char *src, const char *dst)
{
	desk_blank(d);
	desk_gid(d, src, ib_at(d->record, PR_SGID));
	desk_gid(d, dst, ib_at(d->record, PR_DGID));
}

static inline const struct desk_message *table(struct desk *d, uint64_t mask)
{
	return desk_table(d, SA_PATH_RECORD, mask);
}

static inline const struct desk_message *get(struct desk *d, uint64_t mask)
{
	return desk_get(d, SA_PATH_RECORD, mask);
}

static inline void expect_none(struct desk *d, uint64_t mask)
{
	const struct desk_message *a = table(d, mask);

	assert_int_equal(a->status, 0);
	assert_int_equal(a->n, 0);
	a = get(d, mask);
	assert_int_equal(a->status, SA_NO_RECORDS);
}

static inline void expect_status(struct desk *d, uint64_t mask, unsigned status)
{
	assert_int_equal(table(d, mask)->status, status);
	assert_int_equal(get(d, mask)->status, status);
}

/* The one record of the answer. */
static inline const uint8_t *one(const struct desk_message *a)
{
	assert_non_null(a);
	assert_int_equal(a->status, 0);
	assert_int_equal(a->n, 1);
	return desk_record(a, 0);
}
