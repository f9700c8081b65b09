// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm-sa.dump, written and read. tests/golden/opensm-sa.dump is what the Debian peer wrote after
 * three hosts had joined, subscribed, registered services and aliases.
 */
#include <stdio.h>

#include "sa-events.h"
#include "sa/service.h"
#include "util/file.h"

#define SERVICE(id)                                                                                \
	"Service Record: id=0x" id " gid=0xfe80000000000000:0x0000000000100001 pkey=0x0"           \
	" lease=0x64 key=0x0000000000000000:0x0000000000000000 name='n'"                           \
	" data8=0x0000000000000000:0x0000000000000000 "                                            \
	"data16=0x0000000000000000:0x0000000000000000"                                             \
	" data32=0x0000000000000000:0x0000000000000000"                                            \
	" data64=0x0000000000000000:0x0000000000000000 modified_time=0x0 lease_period=0x64\n\n"
#define GROUP(mlid, tail)                                                                          \
	"MC Group 0x" mlid " : mgid=0xff12401bffff0000:0x0000000000" tail                          \
	" port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000b1b mlid=0x" mlid             \
	" mtu=0x84 tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92 sl_flow_hop=0x00000000"         \
	" scope_state=0x21 proxy_join=0x0\n\n"
#define MEMBER                                                                                     \
	"mcm_port: port_gid=0xfe80000000000000:0x0000000000100001 scope_state=0x21"                \
	" proxy_join=0x0\n\n"
#define SUBSCRIPTION(port, lid)                                                                    \
	"InformInfo Record: subscriber_gid=0xfe80000000000000:0x" port " subscriber_enum=0x0"      \
	" InformInfo: gid=0x0000000000000000:0x0000000000000000 lid_range_begin=0xffff"            \
	" lid_range_end=0x0 is_generic=0x1 subscribe=0x1 trap_type=0xffff trap_num=0xffff"         \
	" qpn_resp_time_val=0x100 node_type=0xffffff rep_addr: lid=0x" lid " path_bits=0x00"       \
	" static_rate=0x00 remote_qp=0x00000001 remote_qkey=0x00000000 pkey_ix=0x0000 sl=0x00\n\n"

/* An SA that has not seen a view, beside the desk's own. */
static struct sa *fresh(struct desk *d)
{
	return sa_new(d->conf, d->fabric, d->mad, NULL);
}

static void sa_freep(struct sa **sa)
{
	sa_free(*sa);
}
#define _sa_ _cleanup_(sa_freep) struct sa *

static int restore(struct sa *sa, const char *text, struct conf_report *report)
{
	return sa_db_restore(sa, text, strlen(text), "db", report);
}

static char *text_of(const struct sa *sa)
{
	size_t len;
	char *text = sa_db_text(sa, &len);

	assert_int_equal(strlen(text), len);
	return text;
}

static char *golden(void)
{
	const char *top = getenv("abs_top_srcdir");
	_cleanup_free_ char *path = xasprintf("%s/tests/golden/opensm-sa.dump", top ? top : ".");
	char *text;
	size_t len;

	assert_int_equal(file_read(path, 1u << 20, &text, &len), 0);
	return text;
}

/* Overwrites what follows `key` at its first place behind `at`. */
static void overwrite(char *at, const char *key, const char *with)
{
	char *p = strstr(at, key);

	assert_non_null(p);
	memcpy(p + strlen(key), with, strlen(with));
}

/*
 * The peer shows the request that created a group in its head; we do not keep that, nor does it
 * mean anything after a restart.
 */
static void forget_creators(char *text)
{
	for (char *p = strstr(text, "MC Group"); p; p = strstr(p + 1, "MC Group")) {
		char *state = strstr(p, "scope_state=0x");

		overwrite(p, " port_gid=", "0x0000000000000000:0x0000000000000000");
		state[strlen("scope_state=0x") + 1] = '1';
	}
}

static void what_the_peer_wrote_comes_back_byte_for_byte(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };
	_cleanup_free_ char *peer = golden(), *ours = NULL;

	assert_int_equal(restore(sa, peer, &report), 0);
	assert_int_equal(report.n, 0);
	assert_int_equal(sa_stats(sa)->subscriptions, 4);
	assert_int_equal(sa_stats(sa)->services, 3);
	assert_int_equal(sa_stats(sa)->guids, 3);
	assert_int_equal(sa_stats(sa)->groups, 3);
	ours = text_of(sa);
	forget_creators(peer);
	assert_string_equal(ours, peer);
}

/* ---- what hosts registered, there and back again ------------------------------------------- */

static void put_service(struct desk *d, uint64_t id, const char *name, size_t len, uint32_t lease)
{
	ib_put(desk_blank(d), SVR_ID, id);
	desk_gid(d, "h1", ib_at(d->record, SVR_GID));
	memcpy(ib_at(d->record, SVR_NAME), name, len);
	ib_put(d->record, SVR_LEASE, lease);
	assert_int_equal(desk_set(d, SA_SERVICE_RECORD,
				  SA_COMP(SVR_ID) | SA_COMP(SVR_GID) | SA_COMP(SVR_LEASE))
				 ->status,
			 SA_OK);
}

static void register_all_sorts(struct desk *d)
{
	uint64_t where = SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) | SA_COMP(GIR_GUID7);
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };

	put_service(d, 1, "plain", 5, 600);
	put_service(d, 2, "it's", 4, SERVICE_FOREVER);
	put_service(d, 3, "a\"b", 3, SERVICE_FOREVER);
	put_service(d, 4, "line\nbreak", 10, SERVICE_FOREVER);
	put_service(d, 5, "behind\0zero", 11, SERVICE_FOREVER);
	put_service(d, 6, "' data8=0x1:0x2 'x", 18, SERVICE_FOREVER);
	put_service(d, 7, "\xC3\xA4\xFF", 3, SERVICE_FOREVER);
	put_service(d, 8, "", 0, SERVICE_FOREVER);
	ib_put(desk_blank(d), GIR_LID, desk_lid(d, "h2"));
	ib_put(d->record, GIR_BLOCK, 1);
	ib_put(d->record, GIR_GUID7, 0xFFFFFFFFFFFFFFFF);
	desk_set(d, SA_GUID_INFO_RECORD, where);
	subscribe(d, "h1", 0xFFFF);
	subscribe(d, "h2", 64);
	ev.from = (struct transport_addr){ .lid = desk_lid(d, "h3"),
					   .qp = 0xFFFFFF,
					   .sl = 15,
					   .path_bits = 3,
					   .pkey_index = 65535,
					   .global = true };
	ev.from.grh = (struct transport_grh){ .gid = { 0xFE, 0x80, [15] = 9 },
					      .flow_label = 0xABCDE,
					      .hop_limit = 64,
					      .traffic_class = 7 };
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_CLASS_VERSION, 2);
	ib_put(ev.mad, SAH_METHOD, MAD_SET);
	ib_put(ev.mad, SAH_ATTR_ID, SA_INFORM_INFO);
	info_any(ev.mad + SA_DATA);
	ib_put(ev.mad + SA_DATA, INF_RESP_TIME, 31);
	sa_receive(d->sa, &ev, d->now);
	drop_mail(d);
}

static void everything_survives_a_restart(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };
	_cleanup_free_ char *before = NULL, *after = NULL;

	register_all_sorts(d);
	before = text_of(d->sa);
	assert_int_equal(restore(sa, before, &report), 0);
	assert_int_equal(report.n, 0);
	after = text_of(sa);
	assert_string_equal(after, before);
	assert_int_equal(sa_stats(sa)->services, 8);
	assert_int_equal(sa_stats(sa)->subscriptions, 3);
}

static void names_are_the_same_bytes_again(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };
	_cleanup_free_ char *text = NULL;
	const struct service *a, *b;
	uint64_t i = 0, k = 0;

	register_all_sorts(d);
	text = text_of(d->sa);
	restore(sa, text, &report);
	while ((a = services_before(d->sa, &i))) {
		b = services_before(sa, &k);
		assert_non_null(b);
		assert_memory_equal(a->record, b->record, SVR_BYTES);
	}
}

static void leases_go_on(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };

	assert_int_equal(restore(sa, SERVICE("1"), &report), 0); /* 100 s */
	sa_publish(sa, d->view, d->now);
	while (sa_dispatch(sa, d->now))
		;
	assert_true(sa_next(sa) == d->now + 100 * MONO_S);
	while (sa_dispatch(sa, d->now + 99 * MONO_S))
		;
	assert_int_equal(sa_stats(sa)->services, 1);
	while (sa_dispatch(sa, d->now + 101 * MONO_S))
		;
	assert_int_equal(sa_stats(sa)->services, 0);
}

static void what_remains_of_a_lease_is_written(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_cleanup_free_ char *text = NULL;

	put_service(d, 1, "n", 1, 600);
	desk_wait(d, 100 * MONO_S);
	text = text_of(d->sa);
	assert_non_null(strstr(text, " lease=0x258 "));
	assert_non_null(strstr(text, " lease_period=0x1f4\n"));
}

static void restored_subscribers_are_told(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };
	_cleanup_free_ char *text = NULL;
	const struct desk_message *m;

	subscribe(d, "h1", TRAP_MGID_DESTROYED);
	text = text_of(d->sa);
	desk_end(d, "h1")->lid = 99; /* a new LID since */
	desk_publish(d);
	restore(sa, text, &report);
	sa_publish(sa, d->view, d->now);
	sa_raise_mgid(sa, TRAP_MGID_DESTROYED, (const uint8_t[16]){ 1 }, 0);
	while (sa_dispatch(sa, d->now))
		;
	m = desk_mail(d);
	assert_non_null(m);
	assert_int_equal(m->method, MAD_REPORT);
	assert_int_equal(m->to.lid, 99);
}

static void changes_change_the_version(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t version = sa_db_version(d->sa);

	desk_blank(d);
	desk_table(d, SA_SERVICE_RECORD, 0);
	desk_table(d, SA_GUID_INFO_RECORD, 0);
	desk_wait(d, 100 * MONO_S);
	assert_int_equal(sa_db_version(d->sa), version);
	put_service(d, 1, "n", 1, 600);
	assert_int_not_equal(sa_db_version(d->sa), version);
	version = sa_db_version(d->sa);
	subscribe(d, "h1", 64);
	assert_int_not_equal(sa_db_version(d->sa), version);
	version = sa_db_version(d->sa);
	subscribe(d, "h1", 64); /* again */
	assert_int_equal(sa_db_version(d->sa), version);
	desk_wait(d, 601 * MONO_S);
	assert_int_not_equal(sa_db_version(d->sa), version);
}

/* ---- files that are not as they should be --------------------------------------------------- */

static void expect_finding(const struct conf_report *r, size_t i, unsigned line, unsigned column)
{
	assert_true(i < r->n);
	assert_int_equal(r->findings[i].line, line);
	if (column)
		assert_int_equal(r->findings[i].column, column);
	assert_string_equal(r->findings[i].file, "db");
	assert_int_equal(r->findings[i].severity, CONF_WARNING);
}

static void a_bad_line_costs_itself(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };

	assert_int_equal(
		restore(sa,
			SERVICE("1") "Service Record: id=0x2 gid=0xfe80000000000000:0x1 pkey=12\n"
				     "Service Record: id=0x11112222333344445\n"
				     "nonsense\n" SERVICE("3"),
			&report),
		1);
	assert_int_equal(sa_stats(sa)->services, 2);
	assert_int_equal(report.n, 3);
	expect_finding(&report, 0, 3, 56);
	expect_finding(&report, 1, 4, 22);
	expect_finding(&report, 2, 5, 1);
	conf_report_clear(&report);
}

/* Every line of the golden file, cut at every place, is a finding and no crash; or harmless. */
static void cut_lines_are_found(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_cleanup_free_ char *text = golden();
	char *end;

	for (char *line = text; *line; line = end + 1) {
		end = strchr(line, '\n');
		for (char *cut = line + 1; cut < end; cut += 7) {
			_sa_ sa = fresh(d);
			struct conf_report report = { 0 };
			int r = sa_db_restore(sa, line, (size_t)(cut - line), "db", &report);

			assert_int_equal(r, report.n > 0);
			if (r == 1)
				expect_finding(&report, 0, 1, 0);
			conf_report_clear(&report);
		}
	}
}

static void values_out_of_range_are_refused(void **state)
{
	static const struct {
		const char *from, *to;
	} wrong[] = {
		{ " lid=0x0002", " lid=0xc000" },
		{ " lid=0x0002", " lid=0x0000" },
		{ " sl=0x00", " sl=0x10" },
		{ " path_bits=0x00", " path_bits=0x80" },
		{ " remote_qp=0x00000001", " remote_qp=0x01000001" },
		{ " remote_qp=0x00000001", " remote_qp=0x00000000" },
		{ " is_generic=0x1", " is_generic=0x100" },
		{ " subscribe=0x1", " subscribe=0x2" },
		{ " trap_num=0xffff", " trap_num=0x10000" },
		{ ":0x0000000000100001 sub", ":0x0000000000000000 sub" },
	};
	_desk_ d = desk_new("tree 2 2 1");

	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		static const char right[] = SUBSCRIPTION("0000000000100001", "0002");
		_sa_ sa = fresh(d);
		struct conf_report report = { 0 };
		const char *at = strstr(right, wrong[i].from);
		_cleanup_free_ char *text = NULL;

		assert_non_null(at);
		text = xasprintf("%.*s%s%s", (int)(at - right), right, wrong[i].to,
				 at + strlen(wrong[i].from));
		assert_int_equal(restore(sa, text, &report), 1);
		assert_int_equal(sa_stats(sa)->subscriptions, 0);
		conf_report_clear(&report);
	}
}

static void a_group_left_out_takes_its_members_along(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };

	assert_int_equal(restore(sa,
				 GROUP("c001", "000001") MEMBER GROUP("c001", "000002")
					 MEMBER GROUP("c00", "000003")
						 MEMBER MEMBER GROUP("c003", "000004"),
				 &report),
			 1);
	assert_int_equal(sa_stats(sa)->groups, 2);
	assert_int_equal(sa_stats(sa)->members, 1);
	assert_int_equal(report.n, 2); /* the MLID is another's; it is none */
	expect_finding(&report, 0, 5, 0);
	expect_finding(&report, 1, 9, 0);
	conf_report_clear(&report);
}

static void a_member_needs_a_group(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };

	assert_int_equal(restore(sa, MEMBER SERVICE("1"), &report), 1);
	expect_finding(&report, 0, 1, 0);
	assert_int_equal(sa_stats(sa)->services, 1);
	conf_report_clear(&report);
}

static void what_stands_twice_is_kept_once(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };

	assert_int_equal(restore(sa,
				 SERVICE("1") SERVICE("1") SUBSCRIPTION("0000000000100001", "0002")
					 SUBSCRIPTION("0000000000100001", "0002"),
				 &report),
			 1);
	assert_int_equal(sa_stats(sa)->services, 1);
	assert_int_equal(sa_stats(sa)->subscriptions, 1);
	assert_int_equal(report.n, 2);
	conf_report_clear(&report);
}

static void binary_is_refused_as_a_whole(void **state)
{
	static const char text[] = SERVICE("1") "\0" SERVICE("2");
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };

	assert_int_equal(sa_db_restore(sa, text, sizeof(text) - 1, "db", &report), -EINVAL);
	assert_int_equal(sa_stats(sa)->services, 0);
	conf_report_clear(&report);
}

static void the_quotas_hold_for_files(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned i = 0; i < 1024u + 50; i++)
		fprintf(out, SERVICE("%x"), i);
	fclose(out);
	assert_int_equal(restore(sa, text, &report), 1);
	assert_int_equal(sa_stats(sa)->services, 1024u);
	assert_int_equal(report.n, 50);
	conf_report_clear(&report);
}

static void editors_may_have_been_there(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	_sa_ sa = fresh(d);
	struct conf_report report = { 0 };
	static const char text[] =
		"# saved by hand\r\n"
		"Service Record: id=0x1 gid=0x0:0xA pkey=0x0 lease=0xffffffff key=0x0:0x1"
		" name=\"it's\" data8=0x0:0x0 data16=0x0:0x0 data32=0x0:0x0 data64=0x0:0x0"
		" modified_time=0x0 lease_period=0xFFFFFFFF\r\n";
	uint64_t cursor = 0;

	assert_int_equal(restore(sa, text, &report), 0);
	assert_int_equal(report.warnings + report.errors, 0);
	assert_string_equal((const char *)ib_at(services_before(sa, &cursor)->record, SVR_NAME),
			    "it's");
	conf_report_clear(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_peer_wrote_comes_back_byte_for_byte),
		cmocka_unit_test(everything_survives_a_restart),
		cmocka_unit_test(names_are_the_same_bytes_again),
		cmocka_unit_test(leases_go_on),
		cmocka_unit_test(what_remains_of_a_lease_is_written),
		cmocka_unit_test(restored_subscribers_are_told),
		cmocka_unit_test(changes_change_the_version),
		cmocka_unit_test(a_bad_line_costs_itself),
		cmocka_unit_test(cut_lines_are_found),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(a_group_left_out_takes_its_members_along),
		cmocka_unit_test(a_member_needs_a_group),
		cmocka_unit_test(what_stands_twice_is_kept_once),
		cmocka_unit_test(binary_is_refused_as_a_whole),
		cmocka_unit_test(the_quotas_hold_for_files),
		cmocka_unit_test(editors_may_have_been_there),
	};

	return cmocka_run_group_tests_name("sa-db", tests, NULL, NULL);
}
