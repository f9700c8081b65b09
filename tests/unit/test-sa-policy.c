// SPDX-License-Identifier: BSD-2-Clause
/* PathRecord and MultiPathRecord under a QoS policy: qos.md 4 and 5. */
#include "tests/unit/path-asking.h"

#include <stdio.h>

#include "conf/qos/qos_policy.h"
#include "view/view_policy.h"

#define PKEY  SA_COMP(PR_PKEY)
#define CLASS SA_COMP(PR_QOS_CLASS)

static const char levels[] =
	"qos-levels\n"
	"qos-level\n name: default\n sl: 1\nend-qos-level\n"
	"qos-level\n name: small\n sl: 2\n mtu-limit: 3\n rate-limit: 2\n packet-life: 9\n"
	"end-qos-level\n"
	"qos-level\n name: blue\n sl: 3\n pkey: 0x0020-0x0030\nend-qos-level\n"
	"end-qos-levels\n";

#define WITH(text) (snprintf(buffer, sizeof(buffer), "%s%s", levels, text), buffer)
static char buffer[4096];

static const uint8_t *path(struct desk *d, uint64_t mask)
{
	const struct desk_message *a = get(d, mask);

	assert_int_equal(a->status, 0);
	assert_int_equal(a->n, 1);
	return desk_record(a, 0);
}

static unsigned sl(struct desk *d, const char *src, const char *dst)
{
	blank_names(d, src, dst);
	return (unsigned)ib_get(path(d, GIDS), PR_SL);
}

static void level_limits_a_path(void **state)
{
	_desk_ d = two_leaves();
	const uint8_t *r;

	(void)state;
	desk_policy(d, WITH("qos-match-rules qos-match-rule\n service-id: 0x100-0x1ff\n"
			    "qos-level-name: small\nend-qos-match-rule end-qos-match-rules"));
	blank_names(d, "h0", "h2");
	ib_put(d->record, PR_SERVICE_ID_LSB, 0x180);
	r = path(d, GIDS | SERVICE);
	assert_int_equal(ib_get(r, PR_SL), 2);
	assert_int_equal(ib_get(r, PR_MTU), 3);
	assert_int_equal(ib_get(r, PR_RATE), 2);
	assert_int_equal(ib_get(r, PR_LIFE), 9);
	r = path(d, GIDS); /* the request says no service id */
	assert_int_equal(ib_get(r, PR_SL), 1);
	assert_int_equal(ib_get(r, PR_MTU), 4);
	assert_int_equal(ib_get(r, PR_LIFE), 18);
	ib_put(d->record, PR_SERVICE_ID_LSB, 0x200);
	assert_int_equal(ib_get(path(d, GIDS | SERVICE), PR_SL), 1);
	ib_put(d->record, PR_SERVICE_ID_MSB, 1);
	ib_put(d->record, PR_SERVICE_ID_LSB, 0x180);
	assert_int_equal(ib_get(path(d, GIDS | SERVICE), PR_SL), 1);
}

static void selectors_see_what_the_level_leaves(void **state)
{
	_desk_ d = two_leaves();

	(void)state;
	desk_policy(d, WITH("qos-match-rules qos-match-rule\n qos-class: 5\n"
			    "qos-level-name: small\nend-qos-match-rule end-qos-match-rules"));
	blank_names(d, "h0", "h2");
	ib_put(d->record, PR_QOS_CLASS, 5);
	ib_put(d->record, PR_MTU, 3);
	ib_put(d->record, PR_MTU_SEL, 0);
	expect_none(d, GIDS | CLASS | MTU);
	ib_put(d->record, PR_QOS_CLASS, 6);
	assert_int_equal(ib_get(path(d, GIDS | CLASS | MTU), PR_MTU), 4);
}

static void same_port_has_no_life_time(void **state)
{
	_desk_ d = two_leaves();

	(void)state;
	desk_policy(d, "qos-levels qos-level\nname: default\nsl: 4\npacket-life: 9\n"
		       "end-qos-level end-qos-levels");
	blank_names(d, "h0", "h0");
	assert_int_equal(ib_get(path(d, GIDS), PR_LIFE), 0);
	assert_int_equal(sl(d, "h0", "h1"), 4);
}

static void asked_sl_must_be_the_levels(void **state)
{
	_desk_ d = two_leaves();

	(void)state;
	desk_policy(d, WITH(""));
	blank_names(d, "h0", "h2");
	ib_put(d->record, PR_SL, 1);
	assert_int_equal(ib_get(path(d, GIDS | SA_COMP(PR_SL)), PR_SL), 1);
	ib_put(d->record, PR_SL, 2);
	expect_none(d, GIDS | SA_COMP(PR_SL));
}

static void level_names_the_pkey(void **state)
{
	_desk_ d = two_leaves();
	static const uint16_t keys[] = { 0xFFFF, 0x8028, 0x8022 }, few[] = { 0xFFFF, 0x0022 };

	(void)state;
	desk_keys(d, "h0", 3, keys);
	desk_keys(d, "h2", 2, few);
	desk_keys(d, "h3", 3, keys);
	desk_policy(d, WITH("qos-match-rules qos-match-rule\n source: \"from\"\n"
			    "qos-level-name: blue\nend-qos-match-rule end-qos-match-rules\n"
			    "port-groups port-group\nname: from\nport-name: h0/P1\n"
			    "end-port-group end-port-groups"));
	blank_names(d, "h0", "h3");
	assert_int_equal(ib_get(path(d, GIDS), PR_PKEY), 0x8022);
	ib_put(d->record, PR_PKEY, 0x8028);
	assert_int_equal(ib_get(path(d, GIDS | PKEY), PR_PKEY), 0x8028);
	ib_put(d->record, PR_PKEY, 0xFFFF);
	expect_none(d, GIDS | PKEY);
	blank_names(d, "h0", "h2");
	assert_int_equal(ib_get(path(d, GIDS), PR_PKEY), 0x8022);
	blank_names(d, "h0", "h1"); /* shares none of them */
	expect_none(d, GIDS);
}

static void groups_by_pkey_follow_changes(void **state)
{
	_desk_ d = two_leaves();
	static const uint16_t blue[] = { 0xFFFF, 0x8010 }, plain[] = { 0xFFFF };

	(void)state;
	desk_policy(d, WITH("qos-match-rules qos-match-rule\n destination: b\n"
			    "qos-level-name: small\nend-qos-match-rule end-qos-match-rules\n"
			    "port-groups port-group\nname: B\npkey: 0x8010\n"
			    "end-port-group end-port-groups"));
	assert_int_equal(sl(d, "h0", "h2"), 1);
	desk_move(d, "h2", 2, blue);
	assert_int_equal(sl(d, "h0", "h2"), 2);
	assert_int_equal(sl(d, "h2", "h0"), 1);
	desk_move(d, "h3", 2, blue);
	assert_int_equal(sl(d, "h0", "h3"), 2);
	desk_move(d, "h2", 1, plain);
	assert_int_equal(sl(d, "h0", "h2"), 1);
	assert_int_equal(sl(d, "h0", "h3"), 2);
	desk_publish(d);
	assert_int_equal(sl(d, "h0", "h3"), 2);
}

static void partitions_by_name_follow_changes(void **state)
{
	_desk_ d = two_leaves();
	struct partition list[] = { { .pkey = 0x7FFF, .name = "Default" },
				    { .pkey = 0x0010, .name = "Green" } };
	const struct partitions parts = { .list = list, .n = 2 };
	static const uint16_t keys[] = { 0xFFFF, 0x8010 };
	struct view *named;

	(void)state;
	desk_policy(d, WITH("qos-match-rules qos-match-rule\n source: b\n"
			    "qos-level-name: small\nend-qos-match-rule end-qos-match-rules\n"
			    "port-groups port-group\nname: B\npartition: Blue\n"
			    "end-port-group end-port-groups"));
	desk_keys(d, "h0", 2, keys);
	assert_int_equal(sl(d, "h0", "h2"), 1);
	snprintf(list[1].name, sizeof(list[1].name), "Blue");
	named = view_with_partitions(d->view, NULL, 0, &parts);
	sa_publish_pkeys(d->sa, named, d->now);
	assert_int_equal(sl(d, "h0", "h2"), 2);
	assert_int_equal(sl(d, "h2", "h0"), 1);
	view_unref(named);
}

static void node_types_and_self(void **state)
{
	_desk_ d = two_leaves();

	(void)state;
	desk_policy(d, WITH("qos-match-rules\n"
			    "qos-match-rule\n destination: sw\nqos-level-name: small\n"
			    "end-qos-match-rule\n"
			    "qos-match-rule\n source: me\nqos-level-name: default\n"
			    "end-qos-match-rule end-qos-match-rules\n"
			    "port-groups\nport-group\nname: sw\nnode-type: switch\n"
			    "end-port-group\nport-group\nname: me\nnode-type: self\n"
			    "end-port-group end-port-groups"));
	assert_int_equal(sl(d, "h1", "leaf1"), 2);
	assert_int_equal(sl(d, "leaf1", "h1"), 1);
	assert_int_equal(sl(d, "h0", "h1"), 1);
	assert_int_equal(sa_rules_decided(d->sa, view_policy(d->view))[0], 1);
	assert_int_equal(sa_rules_decided(d->sa, view_policy(d->view))[1],
			 desk_port(d, "h0") == d->view->sm_port);
}

static void rules_are_counted(void **state)
{
	_desk_ d = two_leaves();
	const uint64_t *counts;

	(void)state;
	desk_policy(d, "qos-ulps\ndefault: 0\nany, service-id 7 : 1\nend-qos-ulps\n");
	blank_names(d, "h0", "h2");
	ib_put(d->record, PR_SERVICE_ID_LSB, 7);
	path(d, GIDS | SERVICE);
	path(d, GIDS | SERVICE);
	path(d, GIDS);
	counts = sa_rules_decided(d->sa, view_policy(d->view));
	assert_int_equal(counts[0], 2);
	assert_int_equal(counts[1], 1);
	desk_publish(d); /* the same policy on another view */
	assert_int_equal(sa_rules_decided(d->sa, view_policy(d->view))[0], 2);
	desk_policy(d, "qos-ulps\ndefault: 0\nend-qos-ulps\n");
	assert_int_equal(sa_rules_decided(d->sa, view_policy(d->view))[0], 0);
}

static void multipath_has_levels_by_pair(void **state)
{
	_desk_ d = two_leaves();
	const struct desk_message *a;
	uint64_t mask = 1ull << MPR_C(MPR_SGID_COUNT) | 1ull << MPR_C(MPR_DGID_COUNT) |
			1ull << MPR_C(MPR_SERVICE_ID_MSB) | 1ull << MPR_C(MPR_SERVICE_ID_LSB);

	(void)state;
	desk_policy(d, WITH("qos-match-rules qos-match-rule\n destination: g\n"
			    "service-id: 0x0100000000000007\n"
			    "qos-level-name: small\nend-qos-match-rule end-qos-match-rules\n"
			    "port-groups port-group\nname: g\nport-name: h3/p1\n"
			    "end-port-group end-port-groups"));
	desk_blank(d);
	d->rmpp = true;
	ib_put(d->record, MPR_SGID_COUNT, 1);
	ib_put(d->record, MPR_DGID_COUNT, 2);
	ib_put(d->record, MPR_SERVICE_ID_MSB, 1);
	ib_put(d->record, MPR_SERVICE_ID_LSB, 7);
	desk_gid(d, "h0", d->record + MPR_BYTES);
	desk_gid(d, "h2", d->record + MPR_BYTES + 16);
	desk_gid(d, "h3", d->record + MPR_BYTES + 32);
	a = desk_ask(d, MAD_SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask);
	assert_int_equal(a->n, 2);
	assert_int_equal(ib_get(desk_record(a, 0), PR_SL), 1);
	assert_int_equal(ib_get(desk_record(a, 1), PR_SL), 2);
	assert_int_equal(ib_get(desk_record(a, 1), PR_MTU), 3);
}

static void sl_without_a_vl_gives_no_path(void **state)
{
	_desk_ d = two_leaves();

	(void)state;
	desk_conf(d, "qos_sl2vl", "0,15,2,3,4,5,6,7,8,9,10,11,12,13,14,7");
	desk_policy(d, "qos-ulps\ndefault: 0\nany, service-id 7 : 1\nend-qos-ulps\n");
	blank_names(d, "h0", "h2");
	path(d, GIDS);
	ib_put(d->record, PR_SERVICE_ID_LSB, 7);
	expect_none(d, GIDS | SERVICE);
	blank_names(d, "h0", "h0");
	ib_put(d->record, PR_SERVICE_ID_LSB, 7);
	expect_none(d, GIDS | SERVICE);
}

/* The level of the way back names a P_Key that the ports do not share. */
static void way_back_has_its_own_level(void **state)
{
	_desk_ d = two_leaves();

	(void)state;
	desk_policy(d, WITH("qos-match-rules qos-match-rule\n source: far\n"
			    "qos-level-name: blue\nend-qos-match-rule end-qos-match-rules\n"
			    "port-groups port-group\nname: far\nport-name: h2/P1\n"
			    "end-port-group end-port-groups"));
	blank_names(d, "h0", "h2");
	assert_int_equal(ib_get(path(d, GIDS), PR_REVERSIBLE), 0);
	ib_put(d->record, PR_REVERSIBLE, 1);
	expect_none(d, GIDS | SA_COMP(PR_REVERSIBLE));
	blank_names(d, "h0", "h1");
	ib_put(d->record, PR_REVERSIBLE, 1);
	path(d, GIDS | SA_COMP(PR_REVERSIBLE));
}

/* By what it limits, where the request has limits of its own; and by an SL without a VL. */
static void way_back_may_be_refused(void **state)
{
	static const char policy[] = /* no level names P_Keys, which would have a say of their own */
		"qos-levels qos-level\nname: default\nsl: 1\nend-qos-level\n"
		"qos-level\nname: small\nsl: 2\nmtu-limit: 3\npacket-life: 9\nend-qos-level\n"
		"end-qos-levels\n"
		"qos-match-rules qos-match-rule\n source: far\n"
		"qos-level-name: small\nend-qos-match-rule end-qos-match-rules\n"
		"port-groups port-group\nname: far\nport-name: h2/P1\n"
		"end-port-group end-port-groups";
	_desk_ d = two_leaves();

	(void)state;
	desk_policy(d, policy);
	blank_names(d, "h0", "h2");
	assert_int_equal(ib_get(path(d, GIDS), PR_REVERSIBLE), 1);
	ib_put(d->record, PR_MTU_SEL, SA_EXACT);
	ib_put(d->record, PR_MTU, 4);
	assert_int_equal(ib_get(path(d, GIDS | MTU), PR_REVERSIBLE), 0);
	ib_put(d->record, PR_LIFE_SEL, SA_GREATER);
	ib_put(d->record, PR_LIFE, 9);
	assert_int_equal(ib_get(path(d, GIDS | LIFE), PR_REVERSIBLE), 0);
	ib_put(d->record, PR_SL, 1);
	assert_int_equal(ib_get(path(d, GIDS | SA_COMP(PR_SL)), PR_REVERSIBLE), 0);
	desk_conf(d, "qos_sl2vl", "0,1,15,3,4,5,6,7,8,9,10,11,12,13,14,7");
	desk_policy(d, policy);
	assert_int_equal(ib_get(path(d, GIDS), PR_REVERSIBLE), 0);
}

/* SLs 0 to 6 by service, shifted; every second policy has its rules in another order. */
static void set_services(struct desk *d, unsigned n, unsigned shift)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("qos-ulps\ndefault: 7\n", out);
	for (unsigned k = 0; k < n; k++) {
		unsigned i = shift % 2 ? n - 1 - k : k;

		fprintf(out, "any, service-id 0x%x : %u\n", 0x100 + i, (i + shift) % 7);
	}
	fputs("end-qos-ulps\n", out);
	fclose(out);
	desk_policy(d, text);
}

/* More requests than are remembered, and a policy that comes in between. */
static void every_request_has_its_own_level(void **state)
{
	const unsigned n = 300;
	_desk_ d = two_leaves();

	(void)state;
	for (unsigned shift = 0; shift < 3; shift++) {
		set_services(d, n, shift);
		for (unsigned k = 0; k <= 3 * n; k++) { /* the last as the first */
			unsigned i = k * 7 % n;

			blank_names(d, "h0", "h2");
			ib_put(d->record, PR_SERVICE_ID_LSB, 0x100 + i);
			/* The request that does not say it is another one. */
			assert_int_equal(ib_get(path(d, GIDS), PR_SL), 7);
			assert_int_equal(ib_get(path(d, GIDS | SERVICE), PR_SL), (i + shift) % 7);
		}
	}
}

static void less_than_1_is_no_life_time(void **state)
{
	_desk_ d = two_leaves();

	(void)state;
	blank_names(d, "h0", "h2");
	ib_put(d->record, PR_LIFE_SEL, SA_LESS);
	ib_put(d->record, PR_LIFE, 1);
	expect_none(d, GIDS | LIFE);
	ib_put(d->record, PR_LIFE, 2);
	assert_int_equal(ib_get(path(d, GIDS | LIFE), PR_LIFE), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(level_limits_a_path),
		cmocka_unit_test(selectors_see_what_the_level_leaves),
		cmocka_unit_test(same_port_has_no_life_time),
		cmocka_unit_test(asked_sl_must_be_the_levels),
		cmocka_unit_test(level_names_the_pkey),
		cmocka_unit_test(groups_by_pkey_follow_changes),
		cmocka_unit_test(partitions_by_name_follow_changes),
		cmocka_unit_test(node_types_and_self),
		cmocka_unit_test(rules_are_counted),
		cmocka_unit_test(multipath_has_levels_by_pair),
		cmocka_unit_test(sl_without_a_vl_gives_no_path),
		cmocka_unit_test(way_back_has_its_own_level),
		cmocka_unit_test(way_back_may_be_refused),
		cmocka_unit_test(every_request_has_its_own_level),
		cmocka_unit_test(less_than_1_is_no_life_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
