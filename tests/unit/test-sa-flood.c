// SPDX-License-Identifier: BSD-2-Clause
/*
 * Floods: a million hostile requests from one port. What is kept stays within the quotas that stand
 * in limits.h, mgroup.h, service.h and inform.h; a request of another port is answered at once.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sa/base/sa_internal.h"
#include "sa/notice/inform.h"
#include "sa/mcast/mgroup.h"
#include "sa/service.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

#define REQUESTS  1000000u
#define A_WAKE	  64u	     /* requests between two slices, as many as come in at a time */
#define WITNESSES 1000u	     /* requests between two of another port */
/* that all quotas of one port together may cost; 0.3 MB was measured */
#define MEMORY	  (4u << 20)

/* Of the sanitizer, where there is one: it counts what malloc() gave. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t memory_in_use(void)
{
	struct mallinfo2 m;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

static uint64_t dice;

static uint32_t roll(uint32_t n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (uint32_t)(dice >> 32) % n;
}

/* ---- what the hostile port sends ---- */

#define CREATE                                                                                     \
	(SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_QKEY) | SA_COMP(MCM_TCLASS) |     \
	 SA_COMP(MCM_PKEY) | SA_COMP(MCM_SL) | SA_COMP(MCM_FLOW) | SA_COMP(MCM_JOIN_STATE))

/* A group without members. */
static void join(struct desk *d, uint32_t i)
{
	uint8_t *r = desk_blank(d);

	ib_bits_put(r, MCM_MGID, 64, 0xFF12BEEF00000001);
	ib_bits_put(r, MCM_MGID + 64, 64, i);
	desk_gid(d, "h0", ib_at(r, MCM_PORT_GID));
	ib_put(r, MCM_QKEY, 0x0B1B);
	ib_put(r, MCM_PKEY, 0xFFFF);
	ib_put(r, MCM_SCOPE, 2);
	ib_put(r, MCM_JOIN_STATE, MC_FULL);
	desk_post(d, MAD_SET, SA_MC_MEMBER_RECORD, CREATE);
}

static void register_service(struct desk *d, uint32_t i)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, SVR_ID, i);
	desk_gid(d, "h0", ib_at(r, SVR_GID));
	memset(ib_at(r, SVR_NAME), 'x', SVR_NAME_W / 8);
	desk_post(d, MAD_SET, SA_SERVICE_RECORD,
		  SA_COMP(SVR_ID) | SA_COMP(SVR_GID) | SA_COMP(SVR_NAME));
}

/* From an unknown queue pair. */
static void subscribe(struct desk *d, uint32_t i)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, INF_LID_BEGIN, 0xFFFF);
	ib_put(r, INF_IS_GENERIC, 1);
	ib_put(r, INF_SUBSCRIBE, 1);
	ib_put(r, INF_TYPE, 0xFFFF);
	ib_put(r, INF_TRAP, i & 0x7FFF);
	ib_put(r, INF_QPN, i >> 4);
	ib_put(r, INF_PRODUCER, 0xFFFFFF);
	d->way.qp = i >> 4 & 0xFFFFFF;
	desk_post(d, MAD_SET, SA_INFORM_INFO, 0);
	d->way.qp = 1;
}

static const uint16_t tables[] = {
	SA_NODE_RECORD,	     SA_PORT_INFO_RECORD,   SA_LINK_RECORD,	 SA_PATH_RECORD,
	SA_LFT_RECORD,	     SA_SL2VL_RECORD,	    SA_VLARB_RECORD,	 SA_SERVICE_RECORD,
	SA_MC_MEMBER_RECORD, SA_INFORM_INFO_RECORD, SA_GUID_INFO_RECORD,
};

static void ask_for_everything(struct desk *d, uint32_t i)
{
	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, tables[i % ARRAY_SIZE(tables)], 0);
}

static void claim_alias(struct desk *d, uint32_t i)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, GIR_LID, 1);
	ib_put(r, GIR_BLOCK, roll(256));
	ib_put(r, GIR_GUID1, 0xA11A500000000000 + i);
	desk_post(d, MAD_SET, SA_GUID_INFO_RECORD,
		  SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) | SA_COMP(GIR_GUID1));
}

static void send_rubbish(struct desk *d, uint32_t i)
{
	uint8_t mad[MAD_SIZE];

	for (unsigned k = 0; k < sizeof(mad); k++)
		mad[k] = (uint8_t)roll(256);
	mad[0] = 1;
	mad[1] = MAD_CLASS_SA;
	mad[2] = 2;
	mad[3] = (uint8_t)(roll(2) ? MAD_GET : roll(256));
	ib_put(mad, SAH_ATTR_ID, roll(4) ? tables[roll(ARRAY_SIZE(tables))] : roll(256));
	if (roll(2))
		ib_put(mad, SAH_SM_KEY, 0);
	d->waits = false;
	desk_post_raw(d, mad, sizeof(mad));
}

/* ---- the flood ---- */

/* Another port: its question must not even wait for a slice. */
static void require_service(struct desk *d)
{
	const char *flooder = d->from;

	d->from = "h3";
	d->deaf = false;
	ib_put(desk_blank(d), NR_LID, 1);
	desk_post(d, MAD_GET, SA_NODE_RECORD, SA_COMP(NR_LID));
	assert_non_null(desk_reply(d));
	assert_int_equal(desk_reply(d)->status, 0);
	d->deaf = true;
	d->from = flooder;
}

static void flood(struct desk *d, void (*what)(struct desk *d, uint32_t i), uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		what(d, i);
		if (i % A_WAKE == 0) {
			d->now += 100 * MONO_US;
			sa_dispatch(d->sa, d->now);
		}
		if (i % WITNESSES == 0)
			require_service(d);
	}
}

/* A table of another port is made in turn with all that the flood has left behind. */
static void require_table(struct desk *d)
{
	d->from = "h2";
	d->deaf = false;
	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_LINK_RECORD, 0);
	for (unsigned i = 0; i < 100 && !desk_reply(d); i++)
		sa_dispatch(d->sa, d->now);
	assert_non_null(desk_reply(d));
	assert_int_equal(desk_reply(d)->n, 2 * (8 + 4));
	d->deaf = true;
}

static struct desk *flooded_desk(void)
{
	const struct log_config quiet = { .path = "/dev/null", .quiet = true };
	struct desk *d = desk_new("tree 2 4 2");

	log_open(&quiet);
	dice = 0x5EED;
	d->deaf = true;
	d->mute = true;
	return d;
}

static void joins_end_at_the_quota(void **state)
{
	_desk_ d = flooded_desk();
	size_t before = memory_in_use();
	uint32_t groups;

	flood(d, join, REQUESTS / 5);
	groups = sa_stats(d->sa)->groups;
	assert_in_range(groups, 64, 1024 / 4); /* MulticastFDBCap is 1024 */
	assert_true(memory_in_use() < before + MEMORY);
	require_table(d);
}

static void services_end_at_the_quota(void **state)
{
	_desk_ d = flooded_desk();
	size_t before = memory_in_use();

	flood(d, register_service, REQUESTS / 5);
	assert_in_range(sa_stats(d->sa)->services, SA_FEW_SERVICES,
			d->conf->sa_max_services_per_port);
	assert_true(memory_in_use() < before + MEMORY);
	require_table(d);
}

static void subscriptions_end_at_the_quota(void **state)
{
	_desk_ d = flooded_desk();
	size_t before = memory_in_use();

	flood(d, subscribe, REQUESTS / 5);
	assert_in_range(sa_stats(d->sa)->subscriptions, SA_FEW_SUBSCRIPTIONS,
			d->conf->sa_max_subscriptions_per_port);
	assert_true(memory_in_use() < before + MEMORY);
	require_table(d);
}

static void long_tables_end_at_the_quota(void **state)
{
	_desk_ d = flooded_desk();
	size_t before = memory_in_use();

	flood(d, ask_for_everything, REQUESTS / 20);
	assert_in_range(sa_stats(d->sa)->queries, 0, d->sa->limits.queries_each);
	assert_true(memory_in_use() < before + MEMORY);
	/* What the kernel may hold for it, window after window: it was fast. */
	assert_true(d->bytes_sent < 4 * d->sa->limits.sent_bytes_each);
	require_table(d);
}

static void rubbish_leaves_nothing(void **state)
{
	_desk_ d = flooded_desk();
	size_t before = memory_in_use();

	flood(d, claim_alias, REQUESTS / 10);
	flood(d, send_rubbish, REQUESTS / 10);
	assert_true(memory_in_use() < before + MEMORY);
	require_table(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_end_at_the_quota),
		cmocka_unit_test(services_end_at_the_quota),
		cmocka_unit_test(subscriptions_end_at_the_quota),
		cmocka_unit_test(long_tables_end_at_the_quota),
		cmocka_unit_test(rubbish_leaves_nothing),
	};

	return cmocka_run_group_tests_name("sa-flood", tests, NULL, NULL);
}
