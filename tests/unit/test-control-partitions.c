// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time over the control socket: what is asked of the manager, what is answered
 * and logged, and callers and ports that go in between. The manager's part is tenancy-fake.h.
 */
#include "tests/unit/tenancy-fake.h"

#include "control/control.h"
#include "view/view.h"

/* ---- the manager's part --------------------------------------------------------------------- */

static void log_it(void *arg, unsigned bits, const char *text)
{
	size_t len = strlen(fake.log);

	if (bits & LOGB_INFO && strstr(text, "partition"))
		snprintf(fake.log + len, sizeof(fake.log) - len, "%s\n", text);
}

static int set_up(void **state)
{
	struct control_world *w = xcalloc(1, sizeof(*w));

	memset(&fake, 0, sizeof(fake));
	in_at = in_len = 0;
	fake.table = tenants_new();
	assert_true(cw_start(w));
	log_set_sink(log_it, NULL);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	cw_stop(*state);
	free(*state);
	free(fake.rq.members);
	tenants_free(fake.table);
	return 0;
}

/* The manager is through with it. */
static void end_change(struct control_world *w, struct sm_tenancy_result r)
{
	assert_non_null(fake.done);
	fake.done(fake.arg, &r);
	fake.done = NULL;
	cw_turn(w);
}

static int64_t num(struct json_object *o, const char *key)
{
	return json_object_get_int64(get(o, key));
}

static const struct view_node *node_of(struct control_world *w, const char *name)
{
	const struct view *v = sm_view(w->api.sm);

	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (!strcmp(v->nodes[i].desc, name))
			return &v->nodes[i];
	fail_msg("there is no %s", name);
	return NULL;
}

static guid_t guid_of(struct control_world *w, const char *name)
{
	return sm_view(w->api.sm)->ports[node_of(w, name)->first_port].guid;
}

/* ---- what is asked for ---------------------------------------------------------------------- */

static void a_request_arrives_as_it_was_said(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);
	struct json_object *o;

	say(w, fd,
	    CALL("ChangePartition",
		 "{\"action\": \"add\", \"pkey\": \"0x0005\", \"members\": ["
		 "{\"guid\": \"0x00000000deadbeef\", \"membership\": \"Limited\"},"
		 "{\"guid\": \"02000000000000AB\", \"index0\": true}],"
		 "\"name\": \"blue\", \"mtu\": 5, \"rate\": 16, \"sl\": 3, \"ip_over_ib\": false,"
		 "\"if_generation\": 0, \"wait\": false,"
		 "\"client\": {\"user\": \"k at \\\"x\", \"address\": \"10.0.0.1\", \"request\": "
		 "\"r7\"}}"));
	assert_null(hear(w, fd));
	assert_int_equal(fake.n_requests, 1);
	assert_int_equal(w->wakes, 1);
	assert_int_equal(fake.rq.action, TENANT_ADD);
	assert_int_equal(fake.rq.pkey, 5);
	assert_int_equal(fake.rq.n_members, 2);
	assert_true(fake.rq.members[0].guid == 0xdeadbeef && !fake.rq.members[0].full);
	assert_true(fake.rq.members[1].guid == 0x02000000000000ab && fake.rq.members[1].full);
	assert_true(!fake.rq.members[0].index0 && fake.rq.members[1].index0);
	assert_int_equal(fake.rq.has,
			 TENANT_NAME | TENANT_MTU | TENANT_RATE | TENANT_SL | TENANT_IPOIB);
	assert_string_equal(fake.rq.fields.name, "blue");
	assert_int_equal(fake.rq.fields.mtu, 5);
	assert_int_equal(fake.rq.fields.rate, 16);
	assert_int_equal(fake.rq.fields.sl, 3);
	assert_true(fake.rq.if_generation && !fake.rq.generation && !fake.wait && !fake.dry_run);
	assert_string_equal(fake.rq.user, "k at \"x");
	end_change(w,
		   (struct sm_tenancy_result){ .changed = true, .generation = 8, .n_members = 2 });
	o = hear(w, fd);
	assert_int_equal(num(get(o, "parameters"), "generation"), 8);
	json_object_put(o);
	assert_non_null(
		strstr(fake.log, "partition 0x0005: 2 members added, generation 8, by uid 0"));
	assert_non_null(strstr(fake.log, "for user \"k at \\\"x\" at \"10.0.0.1\""));
	assert_non_null(strstr(fake.log, ", request \"r7\""));
	close(fd);
}

static void hosts_stand_for_their_ports(void **state)
{
	struct control_world *w = *state;
	struct json_object *o, *hosts, *last;
	int fd = caller(w);

	say(w, fd,
	    CALL("ChangePartition",
		 "{\"action\": \"set\", \"pkey\": 7, \"members\": ["
		 "{\"host\": \"h1\"}, {\"host\": \"h0/1\", \"membership\": \"limited\"}]}"));
	assert_int_equal(fake.rq.pkey, 7);
	assert_int_equal(fake.rq.n_members, 2);
	assert_true(fake.rq.members[0].guid == guid_of(w, "h1") && fake.rq.members[0].full);
	assert_true(fake.rq.members[1].guid == guid_of(w, "h0") && !fake.rq.members[1].full);
	assert_true(fake.wait);
	end_change(w, (struct sm_tenancy_result){ .changed = true });
	o = hear(w, fd);
	hosts = get(get(o, "parameters"), "hosts");
	assert_int_equal(json_object_array_length(hosts), 2);
	last = json_object_array_get_idx(hosts, 1);
	assert_string_equal(str(last, "host"), "h0/1");
	assert_int_equal(json_object_array_length(get(last, "guids")), 1);
	json_object_put(o);
	assert_non_null(strstr(fake.log, ", 'h1' is 0x"));
	close(fd);
}

#define ADD(members)                                                                               \
	CALL("ChangePartition",                                                                    \
	     "{\"action\": \"add\", \"pkey\": \"5\", \"members\": [" members "]}")

static void what_is_no_request_is_refused_at_once(void **state)
{
	struct control_world *w = *state;
	static const char invalid[] = "org.opensm.InvalidParameter";
	static const char *const calls[] = {
		CALL("ChangePartition", "{\"action\": \"add\", \"pkey\": \"5\"}"),
		CALL("ChangePartition", "{\"action\": \"melt\", \"pkey\": \"5\"}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": \"0\"}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": \"0x\"}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": \"0x10000\"}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": \"0x8005\"}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": 32768}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": true}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": -1}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": 5, \"mtu\": 256}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": 5, \"client\": 7}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": 5, \"members\": [{}]}"),
		CALL("ChangePartition",
		     "{\"action\": \"create\", \"pkey\": 5, \"if_generation\": -1}"),
		CALL("ChangePartition", "{\"action\": \"create\", \"pkey\": 5, "
					"\"name\": \"01234567890123456789012345678901\"}"),
		ADD("7"),
		ADD("{}"),
		ADD("{\"guid\": \"0x0\"}"),
		ADD("{\"guid\": \"h0\"}"),
		ADD("{\"guid\": \"0x12345678901234567\"}"),
		ADD("{\"guid\": 7}"),
		ADD("{\"guid\": \"0x1\", \"host\": \"h0\"}"),
		ADD("{\"guid\": \"0x1\", \"index0\": \"yes\"}"),
		ADD("{\"guid\": \"0x1\", \"membership\": \"both\"}"),
		ADD("{\"guid\": \"0x1\", \"colour\": \"blue\"}"),
	};
	int fd = caller(w);

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		refused(w, fd, calls[i], invalid);
	refused(w, fd, ADD("{\"host\": \"h7\"}"), "org.opensm.NotFound");
	refused(w, fd, ADD("{\"host\": \"h0/2\"}"), "org.opensm.NotFound");
	refused(w, fd, ADD("{\"host\": \"\"}"), "org.opensm.NotFound");
	refused(w, fd,
		CALL("ChangePartition",
		     "{\"action\": \"add\", \"pkey\": \"5\", \"known_only\": true, "
		     "\"members\": [{\"guid\": \"0xdead\"}]}"),
		"org.opensm.NotFound");
	assert_int_equal(fake.n_requests, 0);
	close(fd);
}

/* All adapters have this description, of which a number may be part; the others' names go. */
static void describe_adapters(struct view *v, const char *name, bool number)
{
	for (uint32_t i = 0; i < v->n_nodes; i++)
		if (v->nodes[i].type == IB_NODE_CA)
			snprintf(v->nodes[i].desc, sizeof(v->nodes[i].desc), "%s%u", name,
				 number ? i : 0);
}

/* "twin mlx5_0" and "twin mlx5_1" are one host; to name a port of it is to name an adapter. */
static void adapters_of_one_name_are_one_host(void **state)
{
	struct control_world *w = *state;
	struct view *v = view_ref(sm_view(w->api.sm));
	int fd = caller(w);

	describe_adapters(v, "twin mlx5_", true);
	say(w, fd, ADD("{\"host\": \"twin\"}"));
	cw_turn(w);
	assert_int_equal(fake.n_requests, 1);
	end_change(w, (struct sm_tenancy_result){ .end = SM_TENANCY_DONE });
	json_object_put(hear(w, fd));
	assert_int_equal(fake.rq.n_members, 2);
	assert_int_not_equal(fake.rq.members[0].guid, fake.rq.members[1].guid);
	refused(w, fd, ADD("{\"host\": \"twin/1\"}"), "org.opensm.InvalidParameter");
	view_unref(v);
	close(fd);
}

static void a_name_of_several_nodes_names_them(void **state)
{
	struct control_world *w = *state;
	struct view *v = view_ref(sm_view(w->api.sm));
	int fd = caller(w);
	struct json_object *o;

	describe_adapters(v, "twin mlx5_", false);
	say(w, fd, ADD("{\"host\": \"twin\"}"));
	o = hear(w, fd);
	assert_string_equal(str(o, "error"), "org.opensm.InvalidParameter");
	assert_non_null(
		strstr(str(get(o, "parameters"), "text"), "'twin' is the name of 2 nodes (0x"));
	json_object_put(o);
	view_unref(v);
	close(fd);
}

static void describe(struct control_world *w, const char *is, const char *becomes)
{
	struct view_node *n = (struct view_node *)node_of(w, is);

	snprintf(n->desc, sizeof(n->desc), "%s", becomes);
}

/* Any host may call itself "twin": that does not put the adapters of "twin" aside. */
static void a_whole_name_does_not_silence_first_words(void **state)
{
	struct control_world *w = *state;
	struct view *v = view_ref(sm_view(w->api.sm));
	int fd = caller(w);

	describe(w, "h0", "twin mlx5_0");
	describe(w, "h1", "twin");
	refused(w, fd, ADD("{\"host\": \"twin\"}"), "org.opensm.InvalidParameter");
	say(w, fd, ADD("{\"host\": \"twin mlx5_0\"}"));
	assert_int_equal(fake.n_requests, 1);
	end_change(w, (struct sm_tenancy_result){ .end = SM_TENANCY_DONE });
	json_object_put(hear(w, fd));
	view_unref(v);
	close(fd);
}

#define REMOVE(members)                                                                            \
	CALL("ChangePartition",                                                                    \
	     "{\"action\": \"remove\", \"pkey\": \"5\", \"members\": [" members "]}")

/* An adapter of h1 is away: it is removed with the other, but not added. */
static void what_left_the_fabric_can_be_removed_by_name(void **state)
{
	struct control_world *w = *state;
	struct json_object *o, *host;
	int fd = caller(w);

	w->api.memory.gone[7] =
		(struct daemon_gone){ .node_guid = 0xa1, .port_guid = 0xa2, .name = "h1 mlx5_1" };
	w->api.memory.gone[9] =
		(struct daemon_gone){ .node_guid = 0xb1, .port_guid = 0xb2, .name = "h9" };
	say(w, fd, REMOVE("{\"host\": \"h1\"}, {\"host\": \"h9\"}"));
	assert_int_equal(fake.n_requests, 1);
	assert_int_equal(fake.rq.n_members, 3);
	end_change(w, (struct sm_tenancy_result){ .changed = true });
	o = hear(w, fd);
	host = json_object_array_get_idx(get(get(o, "parameters"), "hosts"), 0);
	assert_string_equal(str(host, "host"), "h1");
	assert_int_equal(json_object_array_length(get(host, "guids")), 2);
	assert_int_equal(json_object_array_length(get(host, "gone")), 1);
	host = json_object_array_get_idx(get(get(o, "parameters"), "hosts"), 1);
	assert_string_equal(str(host, "gone"), "[ \"0x00000000000000b2\" ]");
	json_object_put(o);
	assert_non_null(strstr(fake.log, ", 'h9' is 0x00000000000000b2"));
	refused(w, fd, ADD("{\"host\": \"h9\"}"), "org.opensm.NotFound");
	refused(w, fd, REMOVE("{\"host\": \"h8\"}"), "org.opensm.NotFound");
	refused(w, fd, REMOVE("{\"host\": \"h9/1\"}"), "org.opensm.NotFound");
	say(w, fd, ADD("{\"host\": \"h1\"}"));
	assert_int_equal(fake.rq.n_members, 1);
	end_change(w, (struct sm_tenancy_result){ .changed = true });
	json_object_put(hear(w, fd));
	close(fd);
}

/* ---- how it ends ---------------------------------------------------------------------------- */

static void every_end_has_its_error(void **state)
{
	static const struct {
		enum sm_tenancy_end end;
		enum tenant_fault fault;
		const char *error;
	} ends[] = {
		{ SM_TENANCY_REFUSED, TENANT_UNKNOWN, "org.opensm.NotFound" },
		{ SM_TENANCY_REFUSED, TENANT_EXISTS, "org.opensm.Exists" },
		{ SM_TENANCY_REFUSED, TENANT_INVALID, "org.opensm.InvalidParameter" },
		{ SM_TENANCY_REFUSED, TENANT_READ_ONLY, "org.opensm.ReadOnly" },
		{ SM_TENANCY_REFUSED, TENANT_OVERTAKEN, "org.opensm.Overtaken" },
		{ SM_TENANCY_REFUSED, TENANT_TOO_MANY, "org.opensm.NoRoom" },
		{ SM_TENANCY_NO_ROOM, TENANT_FINE, "org.opensm.NoRoom" },
		{ SM_TENANCY_NOT_MASTER, TENANT_FINE, "org.opensm.NotMaster" },
		{ SM_TENANCY_CLOSED, TENANT_FINE, "org.opensm.Closed" },
		{ SM_TENANCY_NO_STANDBY, TENANT_FINE, "org.opensm.NoStandby" },
		{ SM_TENANCY_BUSY, TENANT_FINE, "org.opensm.Busy" },
	};
	struct control_world *w = *state;
	int fd = caller(w);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct sm_tenancy_result r = { .end = ends[i].end, .fault = ends[i].fault };
		struct json_object *o;

		snprintf(r.text, sizeof(r.text), "partitions.conf:7: because of %zu", i);
		say(w, fd, CALL("ChangePartition", "{\"action\": \"delete\", \"pkey\": \"0x5\"}"));
		end_change(w, r);
		o = hear(w, fd);
		assert_string_equal(str(o, "error"), ends[i].error);
		assert_string_equal(str(get(o, "parameters"), "text"), r.text);
		json_object_put(o);
	}
	assert_string_equal(fake.log, "");
	close(fd);
}

static void what_is_not_confirmed_has_the_answer_beside(void **state)
{
	static const struct sm_tenancy_pending late = { 0xdead, "its switch port does not answer" };
	struct control_world *w = *state;
	struct sm_tenancy_result r = {
		.end = SM_TENANCY_UNCONFIRMED,
		.text = "stored; one device has not confirmed it",
		.generation = 9,
		.changed = true,
		.pending = &late,
		.n_pending = 1,
	};
	struct json_object *o, *p;
	int fd = caller(w);

	say(w, fd, ADD("{\"guid\": \"0xdead\"}"));
	end_change(w, r);
	o = hear(w, fd);
	assert_string_equal(str(o, "error"), "org.opensm.Unconfirmed");
	p = get(o, "parameters");
	assert_string_equal(str(p, "text"), r.text);
	assert_int_equal(num(p, "generation"), 9);
	assert_string_equal(str(json_object_array_get_idx(get(p, "pending"), 0), "guid"),
			    "0x000000000000dead");
	json_object_put(o);
	assert_non_null(strstr(fake.log, "generation 9"));
	assert_non_null(strstr(fake.log, "has not confirmed"));
	close(fd);
}

static void a_dry_run_shows_blocks(void **state)
{
	struct control_world *w = *state;
	struct sm_tenancy_block blocks[2] = {
		{ .node_guid = node_of(w, "h1")->guid,
		  .port = 1,
		  .before_known = true,
		  .before = { 0xffff },
		  .after = { 0xffff, 0x8005 } },
		{ .node_guid = 1, .port = 2, .is_switch = true, .block = 1 },
	};
	struct json_object *o, *all, *b;
	int fd = caller(w);

	say(w, fd,
	    CALL("ChangePartition", "{\"action\": \"add\", \"pkey\": 5, \"dry_run\": true, "
				    "\"members\": [{\"host\": \"h1\"}]}"));
	assert_true(fake.dry_run);
	end_change(w,
		   (struct sm_tenancy_result){ .changed = true, .blocks = blocks, .n_blocks = 2 });
	o = hear(w, fd);
	all = get(get(o, "parameters"), "blocks");
	assert_int_equal(json_object_array_length(all), 2);
	b = json_object_array_get_idx(all, 0);
	assert_int_equal(json_object_array_length(get(b, "after")), 32);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(get(b, "after"), 1)),
			    "0x8005");
	b = json_object_array_get_idx(all, 1);
	assert_null(get(b, "before"));
	assert_true(json_object_get_boolean(get(b, "switch")));
	json_object_put(o);
	assert_string_equal(fake.log, "");
	close(fd);
}

static void the_next_call_waits_for_the_end(void **state)
{
	struct control_world *w = *state;
	struct json_object *o;
	int fd = caller(w), other = caller(w);

	say(w, fd, ADD("{\"guid\": \"0x1\"}"));
	say(w, fd, CALL("GetPriority", "{}"));
	assert_null(hear(w, fd));
	json_object_put(ask(w, other, CALL("GetPriority", "{}")));
	end_change(w, (struct sm_tenancy_result){ .changed = true });
	o = hear(w, fd);
	assert_true(json_object_object_get_ex(get(o, "parameters"), "n_members", NULL));
	json_object_put(o);
	o = hear(w, fd);
	assert_true(json_object_object_get_ex(get(o, "parameters"), "priority", NULL));
	json_object_put(o);
	close(fd);
	close(other);
}

static void a_oneway_change_is_not_answered(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w);

	say(w, fd,
	    "{\"method\": \"org.opensm.ChangePartition\", \"oneway\": true, \"parameters\": "
	    "{\"action\": \"create\", \"pkey\": 5}}");
	end_change(w, (struct sm_tenancy_result){ .end = SM_TENANCY_UNCONFIRMED, .changed = true });
	assert_null(hear(w, fd));
	json_object_put(ask(w, fd, CALL("GetPriority", "{}")));
	close(fd);
}

/* ---- one side goes -------------------------------------------------------------------------- */

static void a_caller_that_hangs_up_is_logged_all_the_same(void **state)
{
	struct control_world *w = *state;
	int fd = caller(w), next;

	say(w, fd, ADD("{\"guid\": \"0x1\"}"));
	close(fd);
	cw_turn(w);
	end_change(w, (struct sm_tenancy_result){ .changed = true, .generation = 3 });
	assert_non_null(strstr(fake.log, "1 member added, generation 3"));
	next = caller(w);
	json_object_put(ask(w, next, CALL("GetPriority", "{}")));
	close(next);
}

static void a_port_that_is_lost_ends_the_call(void **state)
{
	struct control_world *w = *state;
	struct json_object *o;
	int fd = caller(w);

	say(w, fd, ADD("{\"guid\": \"0x1\"}"));
	cw_lose_port(w);
	cw_turn(w);
	o = hear(w, fd);
	assert_string_equal(str(o, "error"), "org.opensm.NotReady");
	json_object_put(o);
	refused(w, fd, ADD("{\"guid\": \"0x1\"}"), "org.opensm.NotReady");
	refused(w, fd, CALL("TenantPartitions", "{}"), "org.opensm.NotReady");
	refused(w, fd, CALL("VerifyPartitions", "{}"), "org.opensm.NotReady");
	/* The manager ends what it had. */
	end_change(w, (struct sm_tenancy_result){ .end = SM_TENANCY_NOT_MASTER });
	assert_null(hear(w, fd));
	close(fd);
}

/* ---- long requests --------------------------------------------------------------------------- */

/* The text of a request of `n` members, to be freed. */
static char *request_of(unsigned n)
{
	size_t cap = 200 + (size_t)n * 40, len;
	char *text = xmalloc(cap);

	len = (size_t)snprintf(text, cap,
			       "{\"method\":\"org.opensm.ChangePartition\","
			       "\"parameters\":{\"action\":\"set\",\"pkey\":5,\"members\":[");
	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, cap - len, "%s{\"guid\":\"%016x\"}",
					i ? "," : "", i + 1);
	snprintf(text + len, cap - len, "]}}");
	return text;
}

static void say_long(struct control_world *w, int fd, const char *text)
{
	size_t len = strlen(text) + 1;

	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, text + at, len - at, MSG_NOSIGNAL);

		assert_true(n > 0 || errno == EAGAIN);
		at += n > 0 ? (size_t)n : 0;
		cw_turn(w);
	}
}

static void a_request_has_many_members(void **state)
{
	struct control_world *w = *state;
	_cleanup_free_ char *most = request_of(TENANT_REQUEST_MAX);
	_cleanup_free_ char *more = request_of(TENANT_REQUEST_MAX + 1);
	int fd = caller(w);
	struct json_object *o;

	say_long(w, fd, most);
	assert_int_equal(fake.rq.n_members, TENANT_REQUEST_MAX);
	assert_true(fake.rq.members[TENANT_REQUEST_MAX - 1].guid == TENANT_REQUEST_MAX);
	end_change(w, (struct sm_tenancy_result){ .changed = true });
	json_object_put(hear(w, fd));
	close(fd);
	fd = caller(w);
	say_long(w, fd, more);
	o = hear(w, fd);
	assert_string_equal(str(o, "error"), "org.opensm.InvalidParameter");
	json_object_put(o);
	close(fd);
}

static void a_message_of_objects_without_end_is_refused(void **state)
{
	struct control_world *w = *state;
	size_t len = CONTROL_LONG_MAX - 100;
	_cleanup_free_ char *text = xmalloc(len + 1);
	int fd = caller(w);
	struct json_object *o;

	for (size_t i = 0; i < len; i++)
		text[i] = "{},"[i % 3];
	text[0] = '[';
	text[len] = '\0';
	say_long(w, fd, text);
	o = hear(w, fd);
	assert_string_equal(str(o, "error"), "org.opensm.BadMessage");
	assert_non_null(strstr(str(get(o, "parameters"), "text"), "too many objects"));
	json_object_put(o);
	close(fd);
}

/* ---- the listing ---------------------------------------------------------------------------- */

static void play(enum tenant_action action, uint16_t pkey, guid_t guid)
{
	struct tenant_member m = { .guid = guid, .index0 = true };
	struct tenant_request rq = {
		.action = action, .pkey = pkey, .members = &m, .n_members = 1
	};
	struct tenant_entry e;
	char why[300] = "";

	if (tenants_judge(fake.table, NULL, &rq, 1700000000, &e, why, sizeof(why)) != TENANT_FINE)
		fail_msg("%s", why);
	tenants_play(fake.table, &e);
	tenant_entry_clear(&e);
}

static struct json_object *listed(struct control_world *w, int fd, const char *call)
{
	say(w, fd, call);
	assert_true(cw_work(w));
	return hear(w, fd);
}

static void the_list_has_file_and_table(void **state)
{
	struct control_world *w = *state;
	struct json_object *o, *p, *row, *m;
	int fd = caller(w);

	fake.open = 3;
	play(TENANT_ADD, 5, 0xdead);
	play(TENANT_ADD, 5, 0xbeef);
	o = listed(w, fd, CALL("TenantPartitions", "{\"members\": true}"));
	p = get(o, "parameters");
	assert_int_equal(num(p, "generation"), 2);
	assert_int_equal(num(p, "open"), 3);
	assert_string_equal(str(p, "changed"), "2023-11-14T22:13:20.000000Z");
	assert_int_equal(json_object_array_length(get(p, "partitions")), 2);
	row = json_object_array_get_idx(get(p, "partitions"), 0);
	assert_string_equal(str(row, "pkey"), "0x0005");
	assert_string_equal(str(row, "name"), "api_pkey_0x5");
	assert_string_equal(str(row, "source"), "api");
	assert_int_equal(num(row, "n_members"), 2);
	m = json_object_array_get_idx(get(row, "members"), 1);
	assert_string_equal(str(m, "guid"), "0x000000000000dead");
	assert_string_equal(str(m, "membership"), "limited");
	assert_string_equal(str(m, "pending"), "no such port in the fabric");
	assert_null(get(json_object_array_get_idx(get(row, "members"), 0), "pending"));
	row = json_object_array_get_idx(get(p, "partitions"), 1);
	assert_string_equal(str(row, "pkey"), "0x7fff");
	assert_string_equal(str(row, "source"), "file");
	assert_string_equal(str(row, "default_membership"), "full");
	assert_true(json_object_get_boolean(get(row, "ip_over_ib")));
	json_object_put(o);
	close(fd);
}

static const char *pending_in(struct json_object *row, const char *guid)
{
	struct json_object *members = get(row, "members");

	for (size_t i = 0; i < json_object_array_length(members); i++) {
		struct json_object *m = json_object_array_get_idx(members, i);

		if (!strcmp(str(m, "guid"), guid))
			return json_object_get_string(get(m, "pending"));
	}
	fail_msg("%s is not in the list", guid);
	return NULL;
}

/* The main thread looks up few: of a long list the worker does it, by a picture of the ports. */
static void many_members_are_not_looked_up_one_by_one(void **state)
{
	struct control_world *w = *state;
	struct json_object *o, *row;
	int fd = caller(w);

	for (unsigned i = 0; i < 2000; i++)
		play(TENANT_ADD, 5, 0x20000 + i);
	play(TENANT_ADD, 5, 0xbeef);
	play(TENANT_ADD, 5, 0xace);
	fake.n_looked_up = 0;
	o = listed(w, fd, CALL("TenantPartitions", "{\"members\": true}"));
	assert_int_equal(fake.n_looked_up, 0);
	row = json_object_array_get_idx(get(get(o, "parameters"), "partitions"), 0);
	assert_string_equal(pending_in(row, "0x0000000000020007"), "no such port in the fabric");
	assert_string_equal(pending_in(row, "0x000000000000beef"), "its link is down");
	assert_null(pending_in(row, "0x0000000000000ace"));
	json_object_put(o);
	close(fd);
}

/* "jobs=0x20, api : ;" in partitions.conf */
static void file_jobs(struct control_world *w)
{
	struct partitions *p = (struct partitions *)sm_partitions(w->api.sm);

	p->list = xrealloc(p->list, p->n + 1, sizeof(p->list[0]));
	memmove(p->list + 1, p->list, p->n++ * sizeof(p->list[0]));
	p->list[0] = (struct partition){ .pkey = 0x20, .name = "jobs", .api = true, .line = 7 };
	for (size_t i = 0; i < p->n_groups; i++)
		p->groups[i].partition++;
}

static void a_partition_of_the_file_may_be_empty(void **state)
{
	struct control_world *w = *state;
	struct json_object *o, *row;
	int fd = caller(w);

	file_jobs(w);
	o = listed(w, fd, CALL("TenantPartitions", "{\"pkey\": \"0x20\"}"));
	row = json_object_array_get_idx(get(get(o, "parameters"), "partitions"), 0);
	assert_non_null(row);
	assert_string_equal(str(row, "source"), "file");
	assert_string_equal(str(row, "name"), "jobs");
	json_object_put(o);
	play(TENANT_ADD, 0x20, 0xbeef);
	o = listed(w, fd, CALL("TenantPartitions", "{\"pkey\": \"0x20\"}"));
	row = json_object_array_get_idx(get(get(o, "parameters"), "partitions"), 0);
	assert_string_equal(str(row, "source"), "both");
	assert_string_equal(str(row, "name"), "jobs");
	assert_false(json_object_get_boolean(get(row, "ip_over_ib")));
	json_object_put(o);
	close(fd);
}

static void one_partition_or_none_is_listed(void **state)
{
	struct control_world *w = *state;
	struct json_object *o, *p;
	int fd = caller(w);

	fake.closed = "the store is corrupt";
	play(TENANT_ADD, 5, 0xdead);
	o = listed(w, fd, CALL("TenantPartitions", "{\"pkey\": \"5\"}"));
	p = get(o, "parameters");
	assert_string_equal(str(p, "closed"), "the store is corrupt");
	assert_int_equal(json_object_array_length(get(p, "partitions")), 1);
	assert_false(json_object_object_get_ex(json_object_array_get_idx(get(p, "partitions"), 0),
					       "members", NULL));
	json_object_put(o);
	o = listed(w, fd, CALL("TenantPartitions", "{\"pkey\": 6}"));
	assert_int_equal(json_object_array_length(get(get(o, "parameters"), "partitions")), 0);
	assert_int_equal(fake.open_of, 6);
	json_object_put(o);
	json_object_put(listed(w, fd, CALL("TenantPartitions", "{}")));
	assert_int_equal(fake.open_of, 0);
	refused(w, fd, CALL("TenantPartitions", "{\"pkey\": \"0xffff\"}"),
		"org.opensm.InvalidParameter");
	refused(w, fd, CALL("TenantPartitions", "{\"pkey\": \"blue\"}"),
		"org.opensm.InvalidParameter");
	close(fd);
}

/* A standby shows the table that it has stored; not where that of the master is asked for. */
static void the_table_of_a_standby_is_not_that_of_the_master(void **state)
{
	static const char of_master[] = CALL("TenantPartitions", "{\"master\": true}");
	struct control_world *w = *state;
	int fd = caller(w);

	json_object_put(listed(w, fd, of_master));
	fake.standby = true;
	refused(w, fd, of_master, "org.opensm.NotMaster");
	json_object_put(listed(w, fd, CALL("TenantPartitions", "{}")));
	fake.standby = false;
	close(fd);
}

/* ---- the comparison ------------------------------------------------------------------------- */

static void a_comparison_tells_differences(void **state)
{
	struct control_world *w = *state;
	const struct sm_tenancy_block wrong = { .node_guid = node_of(w, "h1")->guid, .port = 1 };
	const struct sm_tenancy_audit a = {
		.n_ports = 4,
		.n_blocks = 4,
		.n_silent = 1,
		.wrong = &wrong,
		.n_wrong = 7,
		.n_wrong_told = 1,
	};
	struct json_object *o, *p;
	int fd = caller(w);

	say(w, fd, CALL("VerifyPartitions", "{}"));
	assert_null(hear(w, fd));
	fake.audited(fake.arg, &a);
	o = hear(w, fd);
	p = get(o, "parameters");
	assert_int_equal(num(p, "ports"), 4);
	assert_int_equal(num(p, "silent"), 1);
	assert_int_equal(num(p, "wrong"), 7);
	assert_int_equal(num(p, "all_limited"), 0);
	assert_string_equal(str(json_object_array_get_idx(get(p, "differences"), 0), "node"), "h1");
	json_object_put(o);
	fake.busy = true;
	refused(w, fd, CALL("VerifyPartitions", "{}"), "org.opensm.Busy");
	/* A caller that is gone is not told. */
	fake.busy = false;
	say(w, fd, CALL("VerifyPartitions", "{}"));
	close(fd);
	cw_turn(w);
	fake.audited(fake.arg, &a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		T(a_request_arrives_as_it_was_said),
		T(hosts_stand_for_their_ports),
		T(what_is_no_request_is_refused_at_once),
		T(a_name_of_several_nodes_names_them),
		T(adapters_of_one_name_are_one_host),
		T(a_whole_name_does_not_silence_first_words),
		T(what_left_the_fabric_can_be_removed_by_name),
		T(every_end_has_its_error),
		T(what_is_not_confirmed_has_the_answer_beside),
		T(a_dry_run_shows_blocks),
		T(the_next_call_waits_for_the_end),
		T(a_oneway_change_is_not_answered),
		T(a_caller_that_hangs_up_is_logged_all_the_same),
		T(a_port_that_is_lost_ends_the_call),
		T(a_request_has_many_members),
		T(a_message_of_objects_without_end_is_refused),
		T(the_list_has_file_and_table),
		T(many_members_are_not_looked_up_one_by_one),
		T(a_partition_of_the_file_may_be_empty),
		T(one_partition_or_none_is_listed),
		T(the_table_of_a_standby_is_not_that_of_the_master),
		T(a_comparison_tells_differences),
	};

	return cmocka_run_group_tests_name("control partitions", tests, NULL, NULL);
}
