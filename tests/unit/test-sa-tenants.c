// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tenants: ports of different partitions learn nothing of each other from subnet administration,
 * and a change of partitions at run time holds from the next answer on, for what was begun before
 * as well.
 *
 * h0 and h1 are full members of P_Key 1, h2 and h3 of P_Key 2; all are limited members of the
 * default partition, as a manager sets hosts up whose tenants do not trust each other.
 */
#include "conf/tenants/tenants.h"
#include "fabric/fabric_internal.h"
#include "sa/base/sa_internal.h"
#include "sa-events.h"
#include "tests/unit/mc-desk.h"

static const uint16_t of_one[] = { 0x7FFF, 0x8001 }, of_two[] = { 0x7FFF, 0x8002 };

static struct desk *two_tenants(void)
{
	struct desk *d = desk_new("tree 2 2 1");

	desk_keys(d, "h0", 2, of_one);
	desk_keys(d, "h1", 2, of_one);
	desk_keys(d, "h2", 2, of_two);
	desk_keys(d, "h3", 2, of_two);
	return d;
}

/* ---- what one port learns of another --------------------------------------------------------- */

/* Records of an answer; 0 for a refusal. */
static unsigned n_of(const struct desk_message *a)
{
	return a && !a->status ? a->n : 0;
}

static unsigned by_lid(struct desk *d, uint16_t attr, lid_t lid)
{
	ib_bits_put(desk_blank(d), 0, 16, lid);
	return n_of(desk_table(d, attr, 1));
}

static unsigned paths(struct desk *d, const char *src, const char *dst)
{
	desk_blank(d);
	desk_gid(d, src, ib_at(d->record, PR_SGID));
	desk_gid(d, dst, ib_at(d->record, PR_DGID));
	return n_of(desk_table(d, SA_PATH_RECORD, SA_COMP(PR_SGID) | SA_COMP(PR_DGID)));
}

static const struct desk_message *ask_multi(struct desk *d, const char *src, guid_t dst)
{
	const uint64_t counts = 1ull << MPR_C(MPR_SGID_COUNT) | 1ull << MPR_C(MPR_DGID_COUNT);
	const struct desk_message *a;

	desk_blank(d);
	d->rmpp = true;
	ib_put(d->record, MPR_SGID_COUNT, 1);
	ib_put(d->record, MPR_DGID_COUNT, 1);
	desk_gid(d, src, d->record + MPR_BYTES);
	sa_gid(d->view->prefix, dst, d->record + MPR_BYTES + 16);
	a = desk_ask(d, MAD_SA_GET_MULTI, SA_MULTI_PATH_RECORD, counts);
	d->rmpp = false;
	return a;
}

/* Records in which these 8 bytes stand anywhere. */
static unsigned n_with(const struct desk_message *a, guid_t guid)
{
	uint8_t bytes[8];
	unsigned n = 0;

	ib_bits_put(bytes, 0, 64, guid);
	for (unsigned i = 0; a && !a->status && i < a->n; i++)
		if (memmem(desk_record(a, i), a->stride, bytes, sizeof(bytes)))
			n++;
	return n;
}

/* Of a whole table. */
static unsigned with_guid(struct desk *d, uint16_t attr, guid_t guid)
{
	desk_blank(d);
	return n_with(desk_table(d, attr, 0), guid);
}

/* Records in which the LID stands: those of links, in both directions. */
static unsigned with_lid(struct desk *d, lid_t lid)
{
	const struct desk_message *a;
	unsigned n = 0;

	desk_blank(d);
	a = desk_table(d, SA_LINK_RECORD, 0);
	for (unsigned i = 0; i < a->n; i++)
		if (ib_get(desk_record(a, i), LKR_FROM_LID) == lid ||
		    ib_get(desk_record(a, i), LKR_TO_LID) == lid)
			n++;
	return n;
}

/* Records by which `from` learns of `of`. */
static unsigned learns(struct desk *d, const char *from, const char *of)
{
	static const uint16_t by_lids[] = { SA_NODE_RECORD, SA_PORT_INFO_RECORD, SA_SL2VL_RECORD,
					    SA_VLARB_RECORD, SA_GUID_INFO_RECORD };
	static const uint16_t whole[] = { SA_NODE_RECORD,      SA_GUID_INFO_RECORD,
					  SA_SERVICE_RECORD,   SA_INFORM_INFO_RECORD,
					  SA_MC_MEMBER_RECORD, SA_SM_INFO_RECORD };
	const char *before = d->from;
	unsigned n;

	d->from = from;
	n = paths(d, from, of) + paths(d, of, from) + n_of(ask_multi(d, from, mc_guid(d, of))) +
	    with_lid(d, desk_lid(d, of));
	for (unsigned i = 0; i < ARRAY_SIZE(by_lids); i++)
		n += by_lid(d, by_lids[i], desk_lid(d, of));
	for (unsigned i = 0; i < ARRAY_SIZE(whole); i++)
		n += with_guid(d, whole[i], mc_guid(d, of));
	d->from = before;
	return n;
}

static unsigned offer_service(struct desk *d, const char *host, uint16_t pkey)
{
	const char *before = d->from;
	uint8_t *r = desk_blank(d);
	unsigned status;

	d->from = host;
	ib_put(r, SVR_ID, 0x1000 + desk_lid(d, host));
	desk_gid(d, host, ib_at(r, SVR_GID));
	ib_put(r, SVR_PKEY, pkey);
	status = desk_set(d, SA_SERVICE_RECORD,
			  SA_COMP(SVR_ID) | SA_COMP(SVR_GID) | SA_COMP(SVR_PKEY))
			 ->status;
	d->from = before;
	return status;
}

static void everything_is_registered(struct desk *d)
{
	static const char *const hosts[] = { "h0", "h1", "h2", "h3" };

	for (unsigned i = 0; i < ARRAY_SIZE(hosts); i++) {
		subscribe(d, hosts[i], 0xFFFF);
		assert_int_equal(offer_service(d, hosts[i], i < 2 ? 0x8001 : 0x8002), SA_OK);
		assert_int_equal(offer_service(d, hosts[i], 0x7FFF), SA_OK);
	}
}

static void tenants_do_not_learn_of_each_other(void **state)
{
	_desk_ d = two_tenants();

	everything_is_registered(d);
	assert_int_equal(learns(d, "h0", "h3"), 0);
	assert_int_equal(learns(d, "h3", "h0"), 0);
	assert_true(learns(d, "h1", "h0") >= 10);
	assert_true(learns(d, "h2", "h3") >= 10);
}

static void a_move_counts_from_the_next_answer_on(void **state)
{
	_desk_ d = two_tenants();
	unsigned before;

	subscribe(d, "h1", 0xFFFF);
	assert_int_equal(offer_service(d, "h1", 0x8001), SA_OK);
	before = learns(d, "h0", "h1");
	desk_move(d, "h1", 2, of_two);
	assert_int_equal(learns(d, "h0", "h1"), 0);
	assert_int_equal(learns(d, "h1", "h0"), 0);
	assert_true(learns(d, "h2", "h1") > 5);
	assert_true(learns(d, "h1", "h2") > 5);
	desk_move(d, "h1", 2, of_one);
	assert_int_equal(learns(d, "h0", "h1"), before);
	assert_int_equal(learns(d, "h2", "h1"), 0);
}

static void two_limited_members_stay_apart(void **state)
{
	_desk_ d = two_tenants();

	desk_move(d, "h0", 1, (const uint16_t[]){ 0x0001 });
	assert_true(learns(d, "h0", "h1") > 5); /* one side is full */
	desk_move(d, "h1", 1, (const uint16_t[]){ 0x0001 });
	assert_int_equal(learns(d, "h0", "h1"), 0);
}

/* A port without partitions learns of itself alone; no port learns of it. */
static void a_port_without_partitions_is_alone(void **state)
{
	_desk_ d = two_tenants();

	everything_is_registered(d);
	desk_move(d, "h1", 0, NULL);
	assert_int_equal(learns(d, "h0", "h1"), 0);
	assert_int_equal(learns(d, "h1", "h0"), 0);
}

static void what_others_registered_cannot_be_changed(void **state)
{
	_desk_ d = two_tenants();

	assert_int_equal(offer_service(d, "h1", 0x8001), SA_OK);
	desk_move(d, "h1", 2, of_two);
	assert_int_equal(offer_service(d, "h1", 0x8001), SA_REQ_INVALID);
	d->from = "h0"; /* in that partition, but the service is hidden */
	ib_put(desk_blank(d), SVR_ID, 0x1000 + desk_lid(d, "h1"));
	desk_gid(d, "h1", ib_at(d->record, SVR_GID));
	ib_put(d->record, SVR_PKEY, 0x8001);
	assert_int_equal(desk_delete(d, SA_SERVICE_RECORD, 7)->status, SA_NO_RECORDS);
}

/* ---- less obvious ways ----------------------------------------------------------------------- */

/* Leaves are full members of the default partition: hosts may read their tables. */
static void tables_of_switches_do_not_show_others(void **state)
{
	_desk_ d = two_tenants();
	const uint8_t *table;
	lid_t h1 = desk_lid(d, "h1"), h2 = desk_lid(d, "h2");

	ib_put(desk_blank(d), LFR_LID, desk_lid(d, "leaf1"));
	table = ib_at(desk_record(desk_table(d, SA_LFT_RECORD, SA_COMP(LFR_LID)), 0), LFR_TABLE);
	assert_int_not_equal(table[h1], LFT_NO_PORT);
	assert_int_equal(table[h2], LFT_NO_PORT);
	d->sm_key = 1;
	ib_put(desk_blank(d), LFR_LID, desk_lid(d, "leaf1"));
	table = ib_at(desk_record(desk_table(d, SA_LFT_RECORD, SA_COMP(LFR_LID)), 0), LFR_TABLE);
	assert_int_not_equal(table[h2], LFT_NO_PORT);
}

static unsigned ports_of_mlid(struct desk *d, lid_t mlid)
{
	const uint8_t *table;

	ib_put(desk_blank(d), MFR_LID, desk_lid(d, "leaf1"));
	table = ib_at(desk_record(desk_table(d, SA_MFT_RECORD, SA_COMP(MFR_LID)), 0), MFR_TABLE);
	return ib_bits_get(table, (mlid - MLID_FIRST) * 16u, 16);
}

#define GROUP(n, pkey)                                                                             \
	"mgid=ff12::" #n " join=1 qkey=1 tclass=0 pkey=" #pkey " flow=0 sl=0 mtu=0x84 rate=0x83"

static void tables_of_switches_do_not_show_groups_of_others(void **state)
{
	_desk_ d = two_tenants();
	struct mft_cell cell = { 0 };

	assert_int_equal(mc_join(d, "h0", GROUP(1, 0x8001)), 0);
	assert_int_equal(mc_join(d, "h2", GROUP(2, 0x8002)), 0);
	cell.mask[mc_mlid(d, "ff12::1") - MLID_FIRST] = 2;
	cell.mask[mc_mlid(d, "ff12::2") - MLID_FIRST] = 4;
	mft_have_set(&desk_node(d, "leaf1")->mft, 0, 0, &cell);
	assert_int_equal(ports_of_mlid(d, mc_mlid(d, "ff12::1")), 2);
	assert_int_equal(ports_of_mlid(d, mc_mlid(d, "ff12::2")), 0);
	d->sm_key = 1;
	assert_int_equal(ports_of_mlid(d, mc_mlid(d, "ff12::2")), 4);
}

/* Whether a GID and a LID belong together is said of ports that one may see. */
static void path_requests_do_not_confirm_a_guess(void **state)
{
	const uint64_t mask = SA_COMP(PR_DGID) | SA_COMP(PR_DLID) | SA_COMP(PR_SLID);
	_desk_ d = two_tenants();

	for (unsigned right = 0; right < 2; right++) {
		desk_blank(d);
		desk_gid(d, "h2", ib_at(d->record, PR_DGID));
		ib_put(d->record, PR_DLID, desk_lid(d, right ? "h2" : "h3"));
		ib_put(d->record, PR_SLID, desk_lid(d, "h0"));
		assert_int_equal(desk_get(d, SA_PATH_RECORD, mask)->status, SA_NO_RECORDS);
	}
	desk_blank(d);
	desk_gid(d, "h1", ib_at(d->record, PR_DGID));
	ib_put(d->record, PR_DLID, desk_lid(d, "h0"));
	ib_put(d->record, PR_SLID, desk_lid(d, "h0"));
	assert_int_equal(desk_get(d, SA_PATH_RECORD, mask)->status, SA_REQ_INVALID);
}

static void a_hidden_gid_is_as_unknown_as_one_that_is_none(void **state)
{
	_desk_ d = two_tenants();

	assert_int_equal(ask_multi(d, "h0", 0x1234567)->status, SA_REQ_INVALID_GID);
	assert_int_equal(ask_multi(d, "h0", mc_guid(d, "h2"))->status, SA_REQ_INVALID_GID);
	assert_int_equal(ask_multi(d, "h0", mc_guid(d, "h1"))->status, SA_OK);
}

/* A group of the partition in which both are limited: it is seen, that h2 is in it is not. */
static void members_of_a_common_group_stay_hidden(void **state)
{
	_desk_ d = two_tenants();

	assert_int_equal(mc_join(d, "h2", GROUP(7, 0xffff)), 0);
	assert_int_equal(mc_table(d, "mgid=ff12::7"), 1);
	assert_int_equal(mc_table(d, "mgid=ff12::7 port=h2"), 0);
	assert_int_equal(mc_join(d, "h1", GROUP(7, 0xffff)), 0);
	assert_int_equal(mc_table(d, "mgid=ff12::7 port=h1"), 1);
}

/* h1 shares a partition with both sides, and subscribes to notices of h2. */
static void a_subscription_does_not_show_its_source(void **state)
{
	static const uint16_t of_both[] = { 0x7FFF, 0x8001, 0x8002 };
	_desk_ d = two_tenants();

	desk_move(d, "h1", 3, of_both);
	d->from = "h1";
	info_any(d->record);
	desk_gid(d, "h2", ib_at(d->record, INF_GID));
	assert_int_equal(inform_by(d, 1), SA_OK);
	d->from = "h0";
	assert_int_equal(with_guid(d, SA_INFORM_INFO_RECORD, mc_guid(d, "h2")), 0);
	d->from = "h3";
	assert_int_equal(with_guid(d, SA_INFORM_INFO_RECORD, mc_guid(d, "h2")), 1);
}

/* ---- queries under way ----------------------------------------------------------------------- */

static struct desk *slow(struct desk *d)
{
	d->sa->limits.rows_at_once = 2;
	d->sa->limits.rows_a_turn = 4;
	d->sa->limits.rows_a_slice = 4;
	return d;
}

static struct desk *slow_tenants(void)
{
	return slow(two_tenants());
}

/* Posts the question, lets `slices` slices of it be done, moves h1, and counts rows with h1. */
static unsigned rows_about_h1(struct desk *d, uint16_t attr, unsigned slices, bool by_guid,
			      void (*move)(struct desk *d, const char *node, unsigned n,
					   const uint16_t *keys))
{
	const struct desk_message *a;
	unsigned n = 0;

	desk_move(d, "h1", 2, of_one);
	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, attr, 0);
	assert_null(desk_reply(d));
	for (unsigned i = 0; i < slices; i++)
		sa_dispatch(d->sa, d->now);
	if (desk_reply(d))
		return UINT32_MAX; /* it was done before */
	move(d, "h1", 2, of_two);
	desk_settle(d);
	a = desk_reply(d);
	assert_non_null(a);
	assert_int_equal(a->status, SA_OK);
	if (by_guid)
		return n_with(a, mc_guid(d, "h1"));
	for (unsigned i = 0; i < a->n; i++)
		if (ib_bits_get(desk_record(a, i), 0, 16) == desk_lid(d, "h1"))
			n++;
	return n;
}

/* Wherever a long answer is when the right goes, no row by that right is in it. */
static void long_answers_have_no_row_by_a_right_that_is_gone(void **state)
{
	_desk_ d = slow_tenants();
	unsigned under_way = 0;

	/* By a change of P_Keys alone, and by one that comes with a new view of the fabric. */
	for (unsigned i = 0; i < 120; i++) {
		unsigned slices = i / 2;
		void (*move)(struct desk * d, const char *node, unsigned n, const uint16_t *keys) =
			i % 2 ? desk_keys : desk_move;
		unsigned nodes = rows_about_h1(d, SA_NODE_RECORD, slices, true, move);
		unsigned ports = rows_about_h1(d, SA_PORT_INFO_RECORD, slices, false, move);
		unsigned pairs = rows_about_h1(d, SA_PATH_RECORD, slices, true, move);

		assert_true(nodes == 0 || nodes == UINT32_MAX);
		assert_true(ports == 0 || ports == UINT32_MAX);
		assert_true(pairs == 0 || pairs == UINT32_MAX);
		under_way += (nodes == 0) + (ports == 0) + (pairs == 0);
	}
	assert_true(under_way > 6);
}

/* Rights of other tenants come and go all the time: that costs a query no turn. */
static void a_query_is_not_begun_anew_for_changes_of_others(void **state)
{
	_desk_ d = slow(desk_new("tree 2 20 1"));
	unsigned slices = 0, undisturbed = 0;

	desk_keys(d, "h0", 2, of_one);
	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	while (sa_dispatch(d->sa, d->now))
		undisturbed++;
	assert_non_null(desk_reply(d));
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	do
		desk_move(d, "h3", slices % 2 ? 2 : 1, of_two);
	while (sa_dispatch(d->sa, d->now) && ++slices < 100);
	assert_non_null(desk_reply(d));
	assert_true(undisturbed > 5);
	assert_int_equal(slices, undisturbed);
}

/* Turns of a query about all pairs until it is answered, while `node` comes and goes. */
static unsigned turns_of_pairs(struct desk *d, const char *node, uint16_t pkey)
{
	const uint16_t keys[] = { 0x7FFF, pkey };
	unsigned slices = 0;

	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_PATH_RECORD, 0);
	do {
		if (node && slices % 20 == 0)
			desk_move(d, node, slices % 40 ? 1 : 2, keys);
		slices++;
	} while (sa_dispatch(d->sa, d->now) && slices < 2000);
	assert_int_equal(desk_reply(d)->status, SA_OK);
	return slices;
}

/* h0 and h3 are limited members of the default partition: neither learns of the other's paths. */
static void pairs_are_not_begun_anew_for_changes_of_others(void **state)
{
	_desk_ d = slow(desk_new("tree 2 4 1"));
	unsigned undisturbed;

	for (unsigned i = 0; i < 8; i++)
		desk_keys(d, (char[]){ 'h', (char)('0' + i), 0 }, 2, i < 3 ? of_one : of_two);
	undisturbed = turns_of_pairs(d, NULL, 0);
	assert_true(undisturbed > 10);
	assert_int_equal(turns_of_pairs(d, "h3", 0x8002), undisturbed);
	assert_true(turns_of_pairs(d, "h3", 0x0001) > undisturbed);
}

/* The fabric changes once, and then ports come into partitions and none leaves one. */
static void a_query_in_an_earlier_view_survives_additions(void **state)
{
	_desk_ d = slow(desk_new("tree 2 20 1"));
	unsigned slices[2] = { 0 };

	desk_keys(d, "h0", 2, of_one);
	desk_keys(d, "h3", 1, of_two);
	desk_blank(d);
	for (unsigned i = 0; i < 2; i++) {
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
		for (; sa_dispatch(d->sa, d->now) && slices[i] < 1000; slices[i]++) {
			if (i && slices[i] == 2)
				desk_publish(d);
			if (i && slices[i] == 4)
				desk_move(d, "h3", 2, of_two);
		}
		assert_non_null(desk_reply(d));
	}
	assert_true(slices[0] > 8);
	assert_int_equal(slices[1], slices[0]);
}

/* In an earlier view as well: what is lost later counts. */
static void a_query_in_an_earlier_view_goes_by_the_rights_of_now(void **state)
{
	_desk_ d = slow_tenants();
	const struct desk_message *a;

	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_PATH_RECORD, 0);
	for (unsigned i = 0; i < 4; i++)
		sa_dispatch(d->sa, d->now);
	desk_publish(d);
	assert_null(desk_reply(d));
	desk_move(d, "h1", 2, of_two);
	desk_settle(d);
	a = desk_reply(d);
	assert_true(a->n > 0);
	assert_int_equal(n_with(a, mc_guid(d, "h1")), 0);
}

/* One that is begun anew again and again ends with a refusal: the client asks again. */
static void a_query_is_not_begun_anew_for_ever(void **state)
{
	_desk_ d = slow_tenants();
	uint64_t dropped = sa_stats(d->sa)->dropped;

	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_PATH_RECORD, 0);
	for (unsigned i = 0; i < 100 && sa_stats(d->sa)->queries; i++) {
		desk_move(d, "h1", 2, i % 2 ? of_one : of_two);
		sa_dispatch(d->sa, d->now);
	}
	assert_int_equal(sa_stats(d->sa)->queries, 0);
	assert_int_equal(sa_stats(d->sa)->dropped, dropped);
	assert_int_equal(desk_reply(d)->status, SA_NO_RESOURCES);
}

/* A question that waits for a table of a device when the right goes. */
static void a_query_that_waits_for_a_device_goes_by_the_rights_of_now(void **state)
{
	_desk_ d = two_tenants();

	d->mute = true;
	ib_put(desk_blank(d), SLR_LID, desk_lid(d, "h1"));
	desk_post(d, MAD_SA_GET_TABLE, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	assert_null(desk_reply(d));
	assert_int_equal(d->n_cells, 1);
	desk_move(d, "h1", 2, of_two);
	desk_answer_cells(d);
	desk_settle(d);
	assert_int_equal(desk_reply(d)->n, 0);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* A trap of a host comes in, and is not looked at yet. */
static void raise_trap(struct desk *d, const char *node)
{
	uint8_t notice[SMP_DATA_SIZE] = { 0 };
	const struct transport_addr from = { .lid = desk_lid(d, node) };

	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 1);
	ib_put(notice, NT_PRODUCER, 1);
	ib_put(notice, NT_TRAP, TRAP_LINK_STATE);
	ib_put(notice, NT_ISSUER_LID, from.lid);
	sa_forward_trap(d->sa, &from, notice, d->now);
}

/* Reports that come, each answered. */
static unsigned n_mail(struct desk *d)
{
	const struct desk_message *m;
	unsigned n = 0;

	desk_settle(d);
	while ((m = desk_mail(d))) {
		answer_report(d, m);
		desk_settle(d);
		n++;
	}
	return n;
}

static void reports_go_by_the_rights_of_now(void **state)
{
	_desk_ d = two_tenants();

	subscribe(d, "h1", 0xFFFF);
	raise_trap(d, "h0");
	assert_int_equal(n_mail(d), 1);
	raise_trap(d, "h0");
	desk_move(d, "h1", 2, of_two); /* the subscriber goes */
	assert_int_equal(n_mail(d), 0);
	raise_trap(d, "h0");
	assert_int_equal(n_mail(d), 0);
	raise_trap(d, "h2");
	desk_move(d, "h2", 2, of_one); /* the port that it is about goes */
	assert_int_equal(n_mail(d), 0);
	raise_trap(d, "h3");
	assert_int_equal(n_mail(d), 1);
}

/* What was raised before a port came is not for the tenant it came to. */
static void reports_do_not_travel_with_a_port(void **state)
{
	_desk_ d = two_tenants();

	subscribe(d, "h1", 0xFFFF);
	raise_trap(d, "h2");
	desk_move(d, "h2", 2, of_one);
	assert_int_equal(n_mail(d), 0);
}

static void a_report_is_not_repeated_once_the_right_is_gone(void **state)
{
	_desk_ d = two_tenants();
	const struct desk_message *m;

	subscribe(d, "h1", 0xFFFF);
	raise_trap(d, "h0");
	desk_settle(d);
	m = desk_mail(d);
	assert_non_null(m);
	desk_move(d, "h1", 2, of_two);
	d->now += 200 * MONO_MS;
	return_report(d, m);
	assert_int_equal(n_mail(d), 0);
	raise_trap(d, "h2"); /* it goes on with the next */
	assert_int_equal(n_mail(d), 1);
}

/* ---- groups ---------------------------------------------------------------------------------- */

#define GROUP_ONE "mgid=ff12::1 join=1 qkey=1 tclass=0 pkey=0x8001 flow=0 sl=0 mtu=0x84 rate=0x83"

static void a_port_leaves_with_its_partition(void **state)
{
	_desk_ d = two_tenants();
	unsigned changes;

	assert_int_equal(mc_join(d, "h0", GROUP_ONE), 0);
	assert_int_equal(mc_join(d, "h1", GROUP_ONE), 0);
	changes = d->mcast_changes;
	desk_move(d, "h1", 2, of_two);
	sa_leave_partition(d->sa, mc_guid(d, "h1"), 0x8001);
	assert_int_equal(mc_state(d, "ff12::1", "h1"), 0);
	assert_int_equal(mc_state(d, "ff12::1", "h0"), 1);
	assert_int_equal(d->mcast_changes, changes + 1);
	sa_leave_partition(d->sa, mc_guid(d, "h1"), 0x0001); /* again: nothing */
	assert_int_equal(d->mcast_changes, changes + 1);
	assert_int_equal(mc_join(d, "h1", GROUP_ONE), SA_REQ_INVALID);
	d->from = "h1";
	assert_int_equal(mc_table(d, "mgid=ff12::1"), 0);
}

/* Membership of a group needs the P_Key in any form. */
static void a_limited_member_stays_in_its_groups(void **state)
{
	_desk_ d = two_tenants();

	assert_int_equal(mc_join(d, "h1", GROUP_ONE), 0);
	desk_move(d, "h1", 2, (const uint16_t[]){ 0x7FFF, 0x0001 });
	sa_leave_partition(d->sa, mc_guid(d, "h1"), 0x0001);
	assert_int_equal(mc_state(d, "ff12::1", "h1"), 1);
}

static void the_last_takes_the_group_along(void **state)
{
	_desk_ d = two_tenants();

	assert_int_equal(mc_join(d, "h1", GROUP_ONE), 0);
	subscribe(d, "h0", TRAP_MGID_DESTROYED);
	drop_mail(d);
	desk_move(d, "h1", 2, of_two);
	sa_leave_partition(d->sa, mc_guid(d, "h1"), 1);
	assert_null(mc_group(d, "ff12::1"));
	assert_int_equal(n_mail(d), 1); /* h0 holds the P_Key */
}

/* Without a word of the manager: members without rights leave with the next view at the latest. */
static void a_new_view_finds_members_without_rights(void **state)
{
	_desk_ d = two_tenants();

	assert_int_equal(mc_join(d, "h0", GROUP_ONE), 0);
	assert_int_equal(mc_join(d, "h1", GROUP_ONE), 0);
	desk_keys(d, "h1", 2, of_two);
	assert_int_equal(mc_state(d, "ff12::1", "h1"), 0);
	assert_int_equal(mc_state(d, "ff12::1", "h0"), 1);
}

/* ---- partitions that come and go ------------------------------------------------------------- */

#define BROADCAST_FIVE "ff12:401b:8005::ffff:ffff"
#define JOIN_FIVE      "mgid=" BROADCAST_FIVE " join=1"

/* P_Key 5 with these values, or (mtu 0) without it, beside the file. */
static void table_has(struct desk *d, uint8_t mtu, uint8_t rate, bool ipoib)
{
	_cleanup_(tenants_freep) struct tenants *t = tenants_new();
	_cleanup_(partitions_unrefp) struct partitions *file = partitions_builtin(d->conf);
	_cleanup_(partitions_unrefp) struct partitions *joined = NULL;
	struct tenant_row row = {
		.kind = TENANT_ROW_PARTITION,
		.pkey = 5,
		.fields = { .name = "five", .ipoib = ipoib, .mtu = mtu, .rate = rate }
	};
	struct tenant_entry e = { .generation = 1, .rows = &row, .n_rows = 1 };

	if (mtu)
		tenants_play(t, &e);
	joined = tenants_join(t, file, d->conf);
	sa_set_partitions(d->sa, joined);
}

static const uint16_t of_five[] = { 0x7FFF, 0x8005 };

static void a_group_comes_with_the_first_port_and_goes_with_the_last(void **state)
{
	_desk_ d = two_tenants();

	table_has(d, IB_MTU_2048, 3, true);
	assert_null(mc_group(d, BROADCAST_FIVE));
	desk_move(d, "h1", 2, of_five);
	assert_non_null(mc_group(d, BROADCAST_FIVE));
	assert_true(mgroup_is_well_known(mc_group(d, BROADCAST_FIVE)));
	assert_int_equal(mc_join(d, "h1", JOIN_FIVE), 0);
	desk_move(d, "h1", 2, of_two);
	sa_leave_partition(d->sa, mc_guid(d, "h1"), 5);
	assert_null(mc_group(d, BROADCAST_FIVE));
	mc_check_mlids(d);
}

static void a_partition_that_is_gone_takes_its_groups_along(void **state)
{
	_desk_ d = two_tenants();

	table_has(d, IB_MTU_2048, 3, true);
	desk_move(d, "h0", 2, of_five);
	desk_move(d, "h1", 2, of_five);
	assert_int_equal(mc_join(d, "h0", JOIN_FIVE), 0);
	assert_int_equal(mc_join(d, "h1",
				 "mgid=ff12::5 join=1 qkey=1 tclass=0 pkey=0x8005 flow=0 "
				 "sl=0 mtu=0x84 rate=0x83"),
			 0);
	subscribe(d, "h1", TRAP_MGID_DESTROYED);
	drop_mail(d);
	table_has(d, 0, 0, false);
	assert_null(mc_group(d, BROADCAST_FIVE));
	assert_null(mc_group(d, "ff12::5"));
	desk_settle(d);
	assert_int_equal(trap_of(desk_mail(d)), TRAP_MGID_DESTROYED);
	mc_check_mlids(d);
}

/* ip_over_ib is taken from a partition: its group becomes an ordinary one. */
static void a_group_no_longer_named_goes_with_its_last_member(void **state)
{
	_desk_ d = two_tenants();

	table_has(d, IB_MTU_2048, 3, true);
	desk_move(d, "h1", 2, of_five);
	assert_int_equal(mc_join(d, "h1", JOIN_FIVE), 0);
	table_has(d, IB_MTU_2048, 3, false);
	assert_int_equal(mc_state(d, BROADCAST_FIVE, "h1"), 1);
	assert_int_equal(mc_leave(d, "h1", JOIN_FIVE), 0);
	assert_null(mc_group(d, BROADCAST_FIVE));
}

static void other_values_make_the_group_anew(void **state)
{
	_desk_ d = two_tenants();
	lid_t mlid;

	table_has(d, IB_MTU_2048, 3, true);
	desk_move(d, "h0", 2, of_five);
	desk_move(d, "h1", 2, of_five);
	assert_int_equal(mc_join(d, "h1", JOIN_FIVE), 0);
	subscribe(d, "h0", 0xFFFF);
	drop_mail(d);
	mlid = mc_mlid(d, BROADCAST_FIVE);
	table_has(d, IB_MTU_2048, 3, true); /* the same */
	assert_int_equal(mc_state(d, BROADCAST_FIVE, "h1"), 1);
	table_has(d, IB_MTU_1024, 3, true);
	assert_int_equal(mc_state(d, BROADCAST_FIVE, "h1"), 0);
	assert_int_equal(ib_get(mgroup_record(mc_group(d, BROADCAST_FIVE)), MCM_MTU), IB_MTU_1024);
	assert_int_equal(mc_mlid(d, BROADCAST_FIVE), mlid);
	assert_int_equal(d->members_lost, 1);
	assert_int_equal(d->lost_last, mc_guid(d, "h1"));
	assert_int_equal(d->mcast_last, mlid);
	desk_settle(d);
	assert_int_equal(trap_of(desk_mail(d)), TRAP_MGID_DESTROYED);
	assert_int_equal(mc_join(d, "h1", JOIN_FIVE), 0);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_MTU), IB_MTU_1024);
	table_has(d, IB_MTU_1024, 24, true); /* faster than the port: it stays outside */
	assert_int_equal(mc_join(d, "h1", JOIN_FIVE), SA_REQ_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tenants_do_not_learn_of_each_other),
		cmocka_unit_test(a_move_counts_from_the_next_answer_on),
		cmocka_unit_test(two_limited_members_stay_apart),
		cmocka_unit_test(a_port_without_partitions_is_alone),
		cmocka_unit_test(what_others_registered_cannot_be_changed),
		cmocka_unit_test(tables_of_switches_do_not_show_others),
		cmocka_unit_test(tables_of_switches_do_not_show_groups_of_others),
		cmocka_unit_test(path_requests_do_not_confirm_a_guess),
		cmocka_unit_test(a_hidden_gid_is_as_unknown_as_one_that_is_none),
		cmocka_unit_test(members_of_a_common_group_stay_hidden),
		cmocka_unit_test(a_subscription_does_not_show_its_source),
		cmocka_unit_test(long_answers_have_no_row_by_a_right_that_is_gone),
		cmocka_unit_test(a_query_is_not_begun_anew_for_changes_of_others),
		cmocka_unit_test(pairs_are_not_begun_anew_for_changes_of_others),
		cmocka_unit_test(a_query_in_an_earlier_view_survives_additions),
		cmocka_unit_test(a_query_in_an_earlier_view_goes_by_the_rights_of_now),
		cmocka_unit_test(a_query_is_not_begun_anew_for_ever),
		cmocka_unit_test(a_query_that_waits_for_a_device_goes_by_the_rights_of_now),
		cmocka_unit_test(reports_go_by_the_rights_of_now),
		cmocka_unit_test(reports_do_not_travel_with_a_port),
		cmocka_unit_test(a_report_is_not_repeated_once_the_right_is_gone),
		cmocka_unit_test(a_port_leaves_with_its_partition),
		cmocka_unit_test(a_limited_member_stays_in_its_groups),
		cmocka_unit_test(the_last_takes_the_group_along),
		cmocka_unit_test(a_new_view_finds_members_without_rights),
		cmocka_unit_test(a_group_comes_with_the_first_port_and_goes_with_the_last),
		cmocka_unit_test(a_partition_that_is_gone_takes_its_groups_along),
		cmocka_unit_test(a_group_no_longer_named_goes_with_its_last_member),
		cmocka_unit_test(other_values_make_the_group_anew),
	};

	return cmocka_run_group_tests_name("sa-tenants", tests, NULL, NULL);
}
