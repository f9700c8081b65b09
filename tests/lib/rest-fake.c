// SPDX-License-Identifier: BSD-2-Clause
/* A subnet manager for the endpoints of opensm-rest, without any of the daemon. */
#include "tests/lib/rest-fake.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "api/json.h"
#include "rest/http/router.h"
#include "tests/lib/openapi-fits.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- the fabric ------------------------------------------------------------------------------ */

/* Two leaf switches below one spine; the switches' names are those of the factory, but leaf1's. */
#define SWITCH(guid, name, ports)                                                                  \
	"{\"name\":\"" name "\",\"desc\":\"" name "\",\"node_guid\":\"0x" guid                     \
	"\",\"type\":\"switch\",\"system_guid\":\"0x" guid "\",\"vendor_id\":713,"                 \
	"\"device_id\":54000,\"lid\":2,\"port_guid\":\"0x" guid "\",\"ports\":[" ports "]}"
#define HOST(guid, name, desc, ports)                                                              \
	"{\"name\":\"" name "\",\"desc\":\"" desc "\",\"node_guid\":\"0x" guid                     \
	"\",\"type\":\"ca\",\"system_guid\":\"0x" guid "\",\"vendor_id\":713,"                     \
	"\"device_id\":4129,\"ports\":[" ports "]}"
#define LINK                                                                                       \
	"\"state\":\"active\",\"phys_state\":\"link_up\",\"width\":4,\"speed\":\"NDR\","           \
	"\"speed_enabled\":\"NDR\""
#define TO(guid, port, port_guid)                                                                  \
	",\"peer\":{\"node_guid\":\"0x" guid "\",\"port\":" #port ",\"port_guid\":" port_guid "}"
#define SWITCH_PORT(num, guid, port)     "{\"port\":" #num "," LINK TO(guid, port, "null") "}"
#define HOST_SIDE(num, guid, port)                                                                 \
	"{\"port\":" #num "," LINK TO(guid, port, "\"0x" guid "\"") "}"
#define HOST_PORT(guid, lid, sw, port)                                                             \
	"{\"port\":1,\"port_guid\":\"0x" guid "\",\"lid\":" #lid "," LINK TO(sw, port, "null") "}"
#define EMPTY_PORT(num)                                                                            \
	"{\"port\":" #num ",\"state\":\"down\",\"phys_state\":\"polling\"}"

#define LEAF1 "b8599f0300fc0001"
#define LEAF2 "b8599f0300fc0002"
#define SPINE "b8599f0300fc0003"
#define H0    "946dae0300590000"
#define H1    "946dae0300590001"
#define H2    "946dae0300590002"
#define H2B   "946dae0300590012"
#define H3    "946dae0300590003"

static const char topology[] =
	"{\"nodes\":[" HOST(H0, "h0 mlx5_0", "h0 mlx5_0", HOST_PORT(H0, 10, LEAF1, 1)) ","
	HOST(H1, "h1 \\\"x\\\"", "h1 \\\"x\\\"", HOST_PORT(H1, 11, LEAF1, 2)) ","
	HOST(H2, "h2", "h2 mlx5_0", HOST_PORT(H2, 12, LEAF2, 1)) ","
	HOST(H3, "h3", "h3", "{\"port\":1,\"port_guid\":\"0x" H3 "\",\"lid\":0,"
	"\"state\":\"down\",\"phys_state\":\"disabled\"}") ","
	HOST(H2B, "h2", "h2 mlx5_1", HOST_PORT(H2B, 13, LEAF2, 2)) ","
	SWITCH(LEAF1, "leaf1", HOST_SIDE(1, H0, 1) "," HOST_SIDE(2, H1, 1) ","
	SWITCH_PORT(3, SPINE, 1) "," EMPTY_PORT(4)) ","
	SWITCH(LEAF2, "Quantum", HOST_SIDE(1, H2, 1) "," HOST_SIDE(2, H2B, 1) ","
	SWITCH_PORT(3, SPINE, 2)) ","
	SWITCH(SPINE, "Quantum", SWITCH_PORT(1, LEAF1, 3) "," SWITCH_PORT(2, LEAF2, 3)) "]}";

/* GUIDs of the ports of a host; their number. */
static size_t host_guids(const char *name, uint64_t ret[2])
{
	static const char *const names[] = { "h0", "h1", "h2", "h3" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name)) {
			ret[0] = 0x946dae0300590000 + i;
			ret[1] = 0x946dae0300590012;
			return i == 2 ? 2 : 1;
		}
	return 0;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static struct json_object *fail_call(struct rest_error *err, const char *name, const char *text)
{
	snprintf(err->name, sizeof(err->name), "%s", name);
	snprintf(err->text, sizeof(err->text), "%s", text);
	return NULL;
}

/* ---- partitions ------------------------------------------------------------------------------ */

static struct fake_partition *find_partition(struct rest_fake *f, unsigned pkey)
{
	for (size_t i = 0; i < FAKE_PARTITIONS; i++)
		if (f->all[i].pkey == pkey)
			return &f->all[i];
	return NULL;
}

static unsigned pkey_of(struct json_object *parameters)
{
	const char *text = json_str(parameters, "pkey");
	uint64_t v = 0;

	assert(text && str_starts(text, "0x"));
	assert(str_to_u64(text + 2, 16, 0x7FFF, &v) == 0);
	return (unsigned)v;
}

static void put_member(struct json_object *o, const struct fake_member *m)
{
	json_add_guid(o, "guid", m->guid);
	json_add_str(o, "membership", m->full ? "full" : "limited");
	json_add_bool(o, "index0", m->index0);
}

static void put_partition(struct json_object *o, const struct fake_partition *p, bool members)
{
	char pkey[8];

	snprintf(pkey, sizeof(pkey), "0x%04x", p->pkey);
	json_add_str(o, "pkey", pkey);
	json_add_str(o, "name", p->name);
	json_add_str(o, "source", p->is_file ? "file" : "api");
	json_add_str(o, "default_membership", p->pkey == 0x7FFF ? "limited" : NULL);
	json_add_bool(o, "ip_over_ib", p->ipoib);
	json_add_int(o, "mtu", p->mtu);
	json_add_int(o, "rate", p->rate);
	json_add_int(o, "sl", p->sl);
	json_add_int(o, "generation", p->generation);
	json_add_int(o, "n_members", (int64_t)p->n);
	if (!members)
		return;
	o = json_add_array(o, "members");
	for (size_t i = 0; i < p->n; i++)
		put_member(json_append_object(o), &p->members[i]);
}

static struct json_object *answer_partitions(struct rest_fake *f, struct json_object *parameters)
{
	struct json_object *o = json_object_new_object(), *all;
	unsigned only = json_str(parameters, "pkey") ? pkey_of(parameters) : 0;
	bool members = json_object_get_boolean(json_object_object_get(parameters, "members"));

	assert(json_object_get_boolean(json_object_object_get(parameters, "master")));
	json_add_int(o, "generation", f->generation);
	json_add_str(o, "closed", f->closed);
	json_add_str(o, "changed", f->generation ? "2026-11-23T16:00:00Z" : NULL);
	json_add_int(o, "open", f->open);
	f->open -= MIN(f->open, f->open_falls);
	f->asked++;
	all = json_add_array(o, "partitions");
	for (size_t i = FAKE_PARTITIONS; i-- > 0;)
		if (f->all[i].pkey && (!only || only == f->all[i].pkey))
			put_partition(json_append_object(all), &f->all[i], members);
	return o;
}

/* ---- changes --------------------------------------------------------------------------------- */

static void set_member(struct fake_partition *p, const struct fake_member *m)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->members[i].guid == m->guid) {
			p->members[i] = *m;
			return;
		}
	if (p->n < FAKE_MEMBERS)
		p->members[p->n++] = *m;
}

static void drop_member(struct fake_partition *p, uint64_t guid)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->members[i].guid != guid)
			p->members[n++] = p->members[i];
	p->n = n;
}

static struct fake_member member_of(struct json_object *o)
{
	const char *membership = json_str(o, "membership"), *guid = json_str(o, "guid");
	struct fake_member m = { .full = !membership || !strcmp(membership, "full") };

	assert(!membership || m.full || !strcmp(membership, "limited"));
	assert(guid || json_str(o, "host"));
	assert(!guid || (strlen(guid) == 18 && str_starts(guid, "0x")));
	if (guid)
		assert(str_to_u64(guid + 2, 16, UINT64_MAX, &m.guid) == 0);
	m.index0 = json_object_get_boolean(json_object_object_get(o, "index0"));
	return m;
}

/* Each member, by GUID or by host; false: a host is not known. */
static bool each_member(struct json_object *members, struct fake_partition *p, bool remove)
{
	for (size_t i = 0; i < json_object_array_length(members); i++) {
		struct json_object *o = json_object_array_get_idx(members, i);
		struct fake_member m = member_of(o);
		uint64_t guids[2] = { m.guid };
		size_t n = m.guid ? 1 : host_guids(json_str(o, "host"), guids);

		if (!n)
			return false;
		for (size_t k = 0; k < n; k++) {
			m.guid = guids[k];
			if (remove)
				drop_member(p, m.guid);
			else
				set_member(p, &m);
		}
	}
	return true;
}

static int code_of(struct json_object *parameters, const char *key, int now)
{
	struct json_object *v = json_object_object_get(parameters, key);

	assert(!v || json_object_is_type(v, json_type_int));
	return v ? json_object_get_int(v) : now;
}

static void set_fields(struct fake_partition *p, struct json_object *parameters)
{
	struct json_object *ipoib = json_object_object_get(parameters, "ip_over_ib");

	if (ipoib)
		p->ipoib = json_object_get_boolean(ipoib);
	if (json_str(parameters, "name"))
		snprintf(p->name, sizeof(p->name), "%s", json_str(parameters, "name"));
	p->mtu = code_of(parameters, "mtu", p->mtu);
	p->rate = code_of(parameters, "rate", p->rate);
	p->sl = code_of(parameters, "sl", p->sl);
}

static void fill_new(struct fake_partition *p, unsigned pkey)
{
	*p = (struct fake_partition){ .pkey = pkey, .ipoib = true, .mtu = 4, .rate = 2 };
	snprintf(p->name, sizeof(p->name), "api_pkey_0x%x", pkey);
}

/* The partition before and after. NULL: `err`. */
static struct json_object *play_change(struct rest_fake *f, struct json_object *parameters,
				       struct fake_partition *p, bool is_new,
				       struct rest_error *err)
{
	const char *action = json_str(parameters, "action");
	struct json_object *members = json_object_object_get(parameters, "members"), *o;
	bool gone = !strcmp(action, "delete"), remove = !strcmp(action, "remove");

	assert(!members || strcmp(action, "create") != 0);
	if (!strcmp(action, "set"))
		p->n = 0;
	if (members && !each_member(members, p, remove))
		return fail_call(err, "NotFound", "no host has that name");
	set_fields(p, parameters);
	p->generation = ++f->generation;
	if (gone || (remove && !p->n))
		p->pkey = 0;
	o = json_object_new_object();
	json_add_int(o, "generation", f->generation);
	json_add_bool(o, "changed", true);
	json_add_bool(o, "replicated", f->replicated);
	json_add_int(o, "standbys", 2);
	json_add_int(o, "standbys_with", f->replicated);
	json_add_int(o, "n_members", (int64_t)p->n);
	json_add_array(o, "pending");
	return o;
}

static bool is_of(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

/* Refusals that do not depend on members. */
static bool is_refused(const struct fake_partition *p, struct json_object *parameters,
		       struct rest_error *err)
{
	static const char *const needs_it[] = { "delete", "configure", NULL };
	struct json_object *generation = json_object_object_get(parameters, "if_generation");
	const char *action = json_str(parameters, "action");

	if (!p && is_of(action, needs_it))
		return !fail_call(err, "NotFound", "there is no such partition");
	if (p && p->is_file)
		return !fail_call(err, "ReadOnly", "/etc/rdma/partitions.conf:3: is of the file");
	if (generation && json_object_get_int64(generation) != (p ? p->generation : 0))
		return !fail_call(err, "Overtaken", "it has changed since");
	if (p && !strcmp(action, "create") && code_of(parameters, "mtu", p->mtu) != p->mtu)
		return !fail_call(err, "Exists", "it is there with other limits");
	return false;
}

/* An error that the test wants, as host_fails and change_fails_once have it; NULL: none. */
static const char *wanted_error(struct rest_fake *f, struct json_object *parameters)
{
	struct json_object *members = json_object_object_get(parameters, "members"), *o;
	const char *once = f->change_fails_once, *host;

	f->change_fails_once = NULL;
	if (once || !members || json_object_array_length(members) != 1)
		return once;
	o = json_object_array_get_idx(members, 0);
	host = json_str(o, "host");
	for (size_t i = 0; host && i < ARRAY_SIZE(f->host_fails); i++)
		if (f->host_fails[i].host && !strcmp(f->host_fails[i].host, host))
			return f->host_fails[i].name;
	return NULL;
}

static struct json_object *answer_change(struct rest_fake *f, struct json_object *parameters,
					 struct rest_error *err)
{
	static const char *const actions[] = { "create", "delete", "add", "remove",
					       "set",	 "configure", NULL };
	unsigned pkey = pkey_of(parameters);
	struct fake_partition *p = find_partition(f, pkey), *now;
	static const struct fake_partition none;
	struct fake_partition next = none;
	struct json_object *ret;

	assert(is_of(json_str(parameters, "action"), actions));
	assert(pkey >= 1 && pkey <= 0x7FFE);
	assert(json_object_object_get(parameters, "client"));
	if (is_refused(p, parameters, err))
		return NULL;
	now = p ? p : find_partition(f, 0);
	if (!now)
		return fail_call(err, "NoRoom", "there are too many partitions");
	if (p)
		next = *p;
	else
		fill_new(&next, pkey);
	ret = play_change(f, parameters, &next, !p, err);
	if (ret)
		*now = next;
	return ret;
}

/* ---- marks ----------------------------------------------------------------------------------- */

static struct json_object *answer_marks(const struct rest_fake *f)
{
	struct json_object *o = json_object_new_object(), *all = json_add_array(o, "marks");

	json_add_int(o, "generation", f->marks_generation);
	for (size_t i = 0; i < f->n_marks; i++) {
		struct json_object *m = json_append_object(all);

		json_add_guid(m, "node_guid", f->marks[i].guid);
		json_add_known(m, "port", f->marks[i].port, f->marks[i].port);
		json_add_str(m, "kind", "isolate");
		json_add_seconds(m, "since", 1588118732);
	}
	return o;
}

/* The switch's side, as the manager stores it. */
static struct fake_mark mark_of(const char *target)
{
	struct fake_mark m = { 0 };
	uint64_t port = 0;
	char guid[17];

	assert(target && str_starts(target, "0x") && strlen(target) >= 18);
	snprintf(guid, sizeof(guid), "%.16s", target + 2);
	assert(str_to_u64(guid, 16, UINT64_MAX, &m.guid) == 0);
	if (target[18])
		assert(target[18] == '/' && str_to_u64(target + 19, 10, 254, &port) == 0);
	m.port = (unsigned)port;
	for (unsigned i = 0; i < 2; i++)
		if (m.guid == 0x946dae0300590000 + i && m.port == 1)
			m = (struct fake_mark){ .guid = 0xb8599f0300fc0001, .port = i + 1 };
	return m;
}

static size_t find_mark(const struct rest_fake *f, const struct fake_mark *m)
{
	size_t i = 0;

	while (i < f->n_marks && (f->marks[i].guid != m->guid || f->marks[i].port != m->port))
		i++;
	return i;
}

static struct json_object *answer_mark(struct rest_fake *f, struct json_object *parameters,
				       struct rest_error *err)
{
	struct fake_mark m = mark_of(json_str(parameters, "target"));
	bool isolate = !strcmp(json_str(parameters, "action"), "isolate");
	size_t i = find_mark(f, &m);
	struct json_object *o;

	assert(isolate || !strcmp(json_str(parameters, "action"), "restore"));
	assert(!json_object_get_boolean(json_object_object_get(parameters, "wait")));
	assert(json_str(parameters, "user") && f->n_marks < FAKE_MARKS);
	if (m.port > 40 || (m.guid >> 32 != 0xb8599f03 && m.guid >> 32 != 0x946dae03))
		return fail_call(err, "NotFound", "there is no such port");
	if (isolate && m.guid == 0xb8599f0300fc0001 && m.port == 3)
		return fail_call(err, "TooCostly", "2 pairs of hosts would have no way");
	if (!isolate && i == f->n_marks)
		return fail_call(err, "NotMarked", "it is not marked");
	if (!isolate)
		f->marks[i] = f->marks[--f->n_marks];
	else if (i == f->n_marks)
		f->marks[f->n_marks++] = m;
	o = json_object_new_object();
	json_add_int(o, "job", FAKE_FIRST_JOB + (int64_t)f->n_jobs++);
	json_add_int(o, "generation", ++f->marks_generation);
	json_add_bool(o, "changed", true);
	return o;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The latest first: it goes on, where the test says so; those before it are done, or failed. */
static struct json_object *answer_jobs(const struct rest_fake *f)
{
	struct json_object *o = json_object_new_object(), *all = json_add_array(o, "jobs");

	for (size_t i = f->n_jobs; i-- > 0;) {
		struct json_object *job = json_append_object(all);
		bool runs = f->job_runs && i + 1 == f->n_jobs;
		bool failed = i % 4 == 3;

		json_add_int(job, "number", FAKE_FIRST_JOB + (int64_t)i);
		json_add_str(job, "operation", i % 2 ? "restore" : "isolate");
		json_add_str(job, "object", "leaf1/2");
		json_add_str(job, "by", "opensm-rest/admin");
		json_add_str(job, "state", runs ? "running" : failed ? "failed" : "done");
		json_add_str(job, "began", "2026-11-30T06:00:00.000000Z");
		json_add_str(job, "ended", runs ? NULL : "2026-11-30T06:00:01.000000Z");
		json_add_str(job, "error", failed ? "TooCostly" : NULL);
		json_add_str(job, "text", failed ? "2 pairs of hosts would have no way" : NULL);
	}
	return o;
}

/* ---- alarms ---------------------------------------------------------------------------------- */

static const char alarms[] =
	"{\"master\":true,\"faults\":2,\"degraded\":1,\"planned\":1,\"more\":3,\"alarms\":["
	"{\"class\":\"fault\",\"kind\":\"unreachable_pairs\",\"object\":\"this manager\","
	"\"node_guid\":null,\"port\":null,\"peer\":null,\"place\":null,\"since\":null,"
	"\"before_start\":true,\"cause\":\"2 pairs of ports have no path\","
	"\"todo\":\"mend the links and switches below\",\"by\":null,\"why\":null,\"affected\":2,"
	"\"also\":[]},"
	"{\"class\":\"fault\",\"kind\":\"link_down\",\"object\":\"leaf1/7 - spine2/1\","
	"\"node_guid\":\"0xb8599f0300fc0001\",\"port\":7,"
	"\"peer\":{\"node_guid\":\"0xb8599f0300fc0003\",\"port\":1},\"place\":null,"
	"\"since\":\"2026-11-30T06:00:00Z\",\"before_start\":false,\"cause\":\"the link is down\","
	"\"todo\":\"check the cable\",\"by\":null,\"why\":null,\"affected\":0,"
	"\"also\":[\"missing\"]},"
	"{\"class\":\"planned\",\"kind\":\"drained\",\"object\":\"spine1\","
	"\"node_guid\":\"0xb8599f0300fc0002\",\"port\":null,\"peer\":null,\"place\":null,"
	"\"since\":\"2026-11-30T05:00:00Z\",\"before_start\":false,\"cause\":\"is drained\","
	"\"todo\":\"opensmctl restore spine1\",\"by\":\"root\",\"why\":\"ticket 4711\","
	"\"affected\":4,\"also\":[]},"
	"{\"class\":\"degraded\",\"kind\":\"slow_link\",\"object\":\"h0/1 - leaf1/2\","
	"\"node_guid\":\"0x946dae0300590000\",\"port\":1,\"peer\":null,\"place\":null,"
	"\"since\":\"2026-11-30T06:00:00Z\",\"before_start\":false,\"cause\":\"1x\","
	"\"todo\":\"reseat the cable\",\"by\":null,\"why\":null,\"affected\":0,\"also\":[]}]}";

/* ---- the expected topology ------------------------------------------------------------------- */

static struct json_object *answer_expected(const struct rest_fake *f)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "file", "/var/cache/opensm/meant.csv");
	json_add_bool(o, "in_force", f->expected[0]);
	json_add_str(o, "refused", NULL);
	json_add_int(o, "cables", f->expected[0] ? 1 : 0);
	json_add_str(o, "text", f->expected[0] ? f->expected : NULL);
	return o;
}

static struct json_object *answer_set_expected(struct rest_fake *f, struct json_object *parameters,
					       struct rest_error *err)
{
	const char *text = json_str(parameters, "text");
	struct json_object *o;

	assert(json_str(parameters, "user"));
	if (text && !strstr(text, ",Active"))
		return fail_call(err, "InvalidParameter", "sm_topology_file:1:7: expected a port");
	snprintf(f->expected, sizeof(f->expected), "%s",
		 text ? text : "0x1,1,0x2,1,Any,Active\n");
	o = json_object_new_object();
	json_add_str(o, "file", "/var/cache/opensm/meant.csv");
	json_add_int(o, "cables", 1);
	json_add_int(o, "warnings", 0);
	return o;
}

/* ---- other methods --------------------------------------------------------------------------- */

static void put_option(struct json_object *all, const char *name, const char *value,
		       bool is_default)
{
	struct json_object *o = json_append_object(all);

	json_add_str(o, "name", name);
	json_add_str(o, "value", value);
	json_add_bool(o, "is_default", is_default);
}

static struct json_object *answer_options(const struct rest_fake *f)
{
	struct json_object *o = json_object_new_object(), *all = json_add_array(o, "options");

	put_option(all, "subnet_prefix", "0xfe80000000000000", true);
	put_option(all, "m_key", "(not shown)", !f->secret_keys);
	put_option(all, "sm_key", "(not shown)", !f->secret_keys);
	put_option(all, "sa_key", "(not shown)", true);
	put_option(all, "randomize_sa_key", f->drawn_key ? "TRUE" : "FALSE", !f->drawn_key);
	put_option(all, "sm_priority", "0x0f", false);
	put_option(all, "m_key_per_port", f->keys_per_port ? "TRUE" : "FALSE", !f->keys_per_port);
	put_option(all, "m_key_lease_period", "60", false);
	put_option(all, "no_partition_enforcement", "FALSE", true);
	put_option(all, "exit_on_fatal", "TRUE", true);
	return o;
}

static struct json_object *answer_call(struct rest_fake *f, const char *method,
				       struct json_object *parameters, struct rest_error *err)
{
	if (!strcmp(method, "TenantPartitions"))
		return answer_partitions(f, parameters);
	if (!strcmp(method, "ChangePartition")) {
		const char *name = wanted_error(f, parameters);

		if (name && !strcmp(name, "Unconfirmed")) {
			err->changed = true;
			err->generation = (uint64_t)f->generation + 1;
		}
		return name ? fail_call(err, name, "it fails") : answer_change(f, parameters, err);
	}
	if (!strcmp(method, "Topology"))
		return json_tokener_parse(f->topology ? f->topology : topology);
	if (!strcmp(method, "Marks"))
		return answer_marks(f);
	if (!strcmp(method, "Mark"))
		return answer_mark(f, parameters, err);
	if (!strcmp(method, "Alarms"))
		return json_tokener_parse(alarms);
	if (!strcmp(method, "Jobs"))
		return answer_jobs(f);
	if (!strcmp(method, "ExpectedTopology"))
		return answer_expected(f);
	if (!strcmp(method, "SetExpectedTopology"))
		return answer_set_expected(f, parameters, err);
	if (!strcmp(method, "Options"))
		return answer_options(f);
	if (!strcmp(method, "Status"))
		return json_tokener_parse("{\"routing\":{\"engine\":\"minhop\"}}");
	assert(!strcmp(method, "GetPriority"));
	return json_tokener_parse("{\"priority\":15,\"configured\":15}");
}

static struct json_object *on_call(struct rest_backend *b, const struct rest_request *q,
				   const char *method, struct json_object *parameters,
				   struct rest_error *err)
{
	struct rest_fake *f = b->arg;

	json_object_put(f->last);
	f->last = parameters;
	snprintf(f->last_method, sizeof(f->last_method), "%s", method);
	if (f->fails)
		return fail_call(err, f->fails, "it fails");
	return answer_call(f, method, parameters, err);
}

void fake_start(struct rest_fake *f)
{
	memset(f, 0, sizeof(*f));
	f->backend = (struct rest_backend){ .call = on_call, .arg = f };
	fill_new(&f->all[0], 0x7FFF);
	snprintf(f->all[0].name, sizeof(f->all[0].name), "Default");
	f->all[0].is_file = true;
	fill_new(&f->all[1], 0x6000);
	f->all[1].is_file = true;
}

void fake_stop(struct rest_fake *f)
{
	json_object_put(f->last);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void read_query(char *text, struct rest_request *q)
{
	char *pair;

	while ((pair = strsep(&text, "&")) && q->n_query < REST_QUERY_MAX) {
		char *value = strchr(pair, '=');

		if (value)
			*value++ = '\0';
		q->query[q->n_query++] = (struct rest_pair){ pair, value ? value : "" };
	}
}

static struct json_object *document;
static pthread_once_t document_once = PTHREAD_ONCE_INIT;

static void make_document(void)
{
	document = openapi_document();
}

/* Every answer, in every test: a member that is no row is a member too many. */
static void assert_fits(const struct rest_endpoint *e, const struct rest_request *q,
			const struct rest_answer *answer)
{
	struct json_object *operation;
	char why[FITS_WHY] = "";

	pthread_once(&document_once, make_document); /* threads of a test ask at once */
	operation = openapi_operation(document, e->method, e->pattern);
	if (openapi_fits_exchange(document, operation, q, answer, why))
		return;
	fprintf(stderr, "%s: %s: %.400s\n", e->pattern, why, answer->bytes);
	abort();
}

static void dispatch(struct rest_request *q, char *path, struct rest_answer *ret)
{
	_cleanup_free_ char *segments = NULL;
	const struct rest_endpoint *e;
	int r = route_find(rest_endpoints, q->method, path, &e);

	if (r < 0) {
		rest_answer_error(ret, r == -ENOENT ? 404 : 405, "there is no such endpoint");
		return;
	}
	segments = route_segments(e->pattern, path, q->segments, &q->n_segments);
	e->operation->answer(q, ret);
	assert_fits(e, q, ret);
}

void fake_request(struct rest_fake *f, const char *method, const char *target, const char *body,
		  const struct fake_manner *manner, struct rest_answer *ret)
{
	_cleanup_free_ char *copy = xstrdup(target);
	char *query = strchr(copy, '?');
	const struct rest_policy policy = { .release = "6.19.0-5",
					    .site = "",
					    .known_only = manner && manner->known_only,
					    .openapi = "{}" };
	struct rest_request q = {
		.path = target,
		.user = manner && manner->user ? manner->user : "admin",
		.right = REST_ADMIN,
		.address = "127.0.0.1",
		.id = "0123456789abcdef",
		.prefix = "/ufmRest",
		.if_match = manner ? manner->if_match : NULL,
		.until = manner ? manner->patience : 0,
		.policy = &policy,
		.backend = &f->backend,
	};

	*ret = (struct rest_answer){ 0 };
	if (query) {
		*query++ = '\0';
		read_query(query, &q);
	}
	if (*copy && copy[strlen(copy) - 1] == '/')
		copy[strlen(copy) - 1] = '\0';
	q.body = body ? json_tokener_parse(body) : NULL;
	if (body && !q.body && strcmp(body, "null") != 0)
		rest_answer_error(ret, 400, "this is no JSON");
	else if (!method_from_name(method, &q.method))
		rest_answer_error(ret, 405, "there is no such method");
	else
		dispatch(&q, copy, ret);
	json_object_put(q.body);
}
