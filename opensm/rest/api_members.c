// SPDX-License-Identifier: BSD-2-Clause
/* Members and fields of a change, as bodies and paths of requests have them. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rest/api_internal.h"
#include "util/guidmap.h"
#include "util/mem.h"

#define MEMBERS_MAX 65536u

static void *members_fail(char why[API_WHY_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void *members_fail(char why[API_WHY_MAX], const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, API_WHY_MAX, fmt, args);
	va_end(args);
	return NULL;
}

/* ---- how members are in a partition ---------------------------------------------------------- */

/* Membership and index0 of a body, for all its members or for each. */
struct manner {
	const char *membership;		/* membership of all, constant text */
	struct json_object *memberships; /* membership of each, in order; NULL: all are alike */
	bool index0;
};

/* "membership"; the old name of it, "default_membership", counts where that is missing. */
static bool read_membership(const struct api_body *b, struct manner *ret, char why[API_WHY_MAX])
{
	struct json_object *v = b->membership ? b->membership : b->default_membership;

	ret->membership = "full";
	if (!v)
		return true;
	ret->membership = json_object_is_type(v, json_type_string)
				  ? api_membership(json_object_get_string(v))
				  : NULL;
	return ret->membership ||
	       members_fail(why, "membership: expected \"full\" or \"limited\", found %.80s",
			    json_object_to_json_string(v));
}

static bool read_memberships(const struct api_body *b, size_t n, struct manner *ret,
			     char why[API_WHY_MAX])
{
	struct json_object *all = b->memberships;

	if (!all)
		return true;
	if (b->membership)
		return members_fail(why, "membership and memberships: expected one of them");
	if (!json_object_is_type(all, json_type_array) || json_object_array_length(all) != n)
		return members_fail(
			why, "memberships: expected a list with one entry for each of %zu guids",
			n);
	ret->memberships = all;
	return true;
}

/* `n`: members that the body names. */
static bool read_manner(const struct api_body *b, size_t n, struct manner *ret,
			char why[API_WHY_MAX])
{
	*ret = (struct manner){ 0 };
	if (b->index0 && !api_bool_of_json(b->index0, &ret->index0))
		return members_fail(why, "index0: expected true or false, found %.80s",
				    json_object_to_json_string(b->index0));
	return read_membership(b, ret, why) && read_memberships(b, n, ret, why);
}

/* Membership of member number `i`; NULL with `why`. */
static const char *membership_of(const struct manner *m, size_t i, char why[API_WHY_MAX])
{
	struct json_object *v;
	const char *ret;

	if (!m->memberships)
		return m->membership;
	v = json_object_array_get_idx(m->memberships, i);
	ret = json_object_is_type(v, json_type_string) ? api_membership(json_object_get_string(v))
						       : NULL;
	if (ret)
		return ret;
	return members_fail(why, "memberships: expected \"full\" or \"limited\", found %.80s",
			    json_object_to_json_string(v));
}

/* Default values are left out, as calls of the control socket are bounded. */
static struct json_object *member_new(const char *key, const char *value, const char *membership,
				      bool index0)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, key, json_object_new_string(value));
	if (strcmp(membership, "full") != 0)
		json_object_object_add(o, "membership", json_object_new_string(membership));
	if (index0)
		json_object_object_add(o, "index0", json_object_new_boolean(true));
	return o;
}

/* ---- GUIDs ----------------------------------------------------------------------------------- */

/* An array under construction: each GUID stands in it once. */
struct guid_list {
	struct json_object *members;
	struct guidmap *seen; /* GUID -> its membership */
	char *why;
};

static bool add_guid(struct guid_list *l, const char *text, const char *membership, bool index0)
{
	char wire[19];
	const char *former;
	guid_t guid;

	if (!api_guid_of_text(text, &guid))
		return members_fail(l->why, "guids: expected 16 hexadecimal digits, found '%.40s'",
				    text);
	former = guidmap_get(l->seen, guid);
	if (former && former != membership)
		return members_fail(l->why,
				    "guids: %016" PRIx64 " is given twice, as full and as limited",
				    guid);
	if (former)
		return true;
	guidmap_put(l->seen, guid, as_owner(membership));
	snprintf(wire, sizeof(wire), "0x%016" PRIx64, guid);
	json_object_array_add(l->members, member_new("guid", wire, membership, index0));
	return true;
}

static struct guid_list guid_list_new(char why[API_WHY_MAX])
{
	return (struct guid_list){ json_object_new_array(), guidmap_new(), why };
}

/* The array, or NULL where `is_good` is false. */
static struct json_object *guid_list_end(struct guid_list *l, bool is_good)
{
	guidmap_free(l->seen);
	if (is_good)
		return l->members;
	json_object_put(l->members);
	return NULL;
}

struct json_object *api_members_of_guids(const struct api_body *b, char why[API_WHY_MAX])
{
	struct json_object *guids = b->guids;
	struct guid_list l;
	struct manner m;
	size_t n;
	bool is_good = true;

	assert(why);
	if (!json_object_is_type(guids, json_type_array))
		return members_fail(why, "guids: expected a list of GUIDs");
	n = json_object_array_length(guids);
	if (n > MEMBERS_MAX)
		return members_fail(why, "guids: %zu are too many, at most %u go into one request",
				    n, MEMBERS_MAX);
	if (!read_manner(b, n, &m, why))
		return NULL;
	l = guid_list_new(why);
	for (size_t i = 0; i < n && is_good; i++) {
		struct json_object *v = json_object_array_get_idx(guids, i);
		const char *membership = membership_of(&m, i, why);

		is_good = membership && add_guid(&l, v ? json_object_get_string(v) : "null",
						 membership, m.index0);
	}
	return guid_list_end(&l, is_good);
}

struct json_object *api_members_of_guid_list(const char *list, char why[API_WHY_MAX])
{
	_cleanup_free_ char *copy = xstrdup(list);
	struct guid_list l = guid_list_new(why);
	char *rest = copy, *word;
	bool is_good = true;

	while (is_good && (word = strsep(&rest, ",")))
		is_good = add_guid(&l, word, "full", false);
	return guid_list_end(&l, is_good);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* `names` is consumed. */
static struct json_object *members_of_names(struct json_object *names, const struct manner *m)
{
	struct json_object *ret = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(names); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(names, i));

		json_object_array_add(ret, member_new("host", name, m->membership, m->index0));
	}
	json_object_put(names);
	return ret;
}

struct json_object *api_members_of_hosts(const struct api_body *b, char why[API_WHY_MAX])
{
	struct json_object *list = b->hosts_names, *names;
	struct manner m;

	if (!json_object_is_type(list, json_type_string))
		return members_fail(why,
				    "hosts_names: expected names of hosts in one text, \"n1,n2\"");
	if (b->memberships)
		return members_fail(why,
				    "memberships: is for guids; for hosts there is membership");
	if (!read_manner(b, 0, &m, why))
		return NULL;
	names = api_hosts_expand(json_object_get_string(list), why);
	return names ? members_of_names(names, &m) : NULL;
}

struct json_object *api_members_of_host_list(const char *list, char why[API_WHY_MAX])
{
	struct json_object *names = api_hosts_expand(list, why);
	const struct manner m = { .membership = "full" };

	return names ? members_of_names(names, &m) : NULL;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool add_ipoib(struct json_object *v, struct json_object *parameters, char why[API_WHY_MAX])
{
	bool on;

	if (!api_bool_of_json(v, &on))
		return members_fail(why, "ip_over_ib: expected true or false, found %.80s",
				    json_object_to_json_string(v));
	json_object_object_add(parameters, "ip_over_ib", json_object_new_boolean(on));
	return true;
}

static bool add_code(struct json_object *parameters, const char *key, unsigned code)
{
	json_object_object_add(parameters, key, json_object_new_int((int)code));
	return true;
}

static bool add_mtu(struct json_object *v, struct json_object *parameters, char why[API_WHY_MAX])
{
	unsigned code = api_mtu_of_json(v);

	if (!code)
		return members_fail(why, "mtu_limit: expected 2 or 4 (K bytes), found %.80s",
				    json_object_to_json_string(v));
	return add_code(parameters, "mtu", code);
}

static bool add_rate(struct json_object *v, struct json_object *parameters, char why[API_WHY_MAX])
{
	unsigned code = api_rate_of_json(v);

	if (!code)
		return members_fail(
			why, "rate_limit: expected Gb/s of a link (2.5, 10, 100, 200), found %.80s",
			json_object_to_json_string(v));
	return add_code(parameters, "rate", code);
}

static bool add_sl(struct json_object *v, struct json_object *parameters, char why[API_WHY_MAX])
{
	unsigned sl;

	if (!api_sl_of_json(v, &sl))
		return members_fail(why, "service_level: expected 0 to 15, found %.80s",
				    json_object_to_json_string(v));
	return add_code(parameters, "sl", sl);
}

static bool add_partition_name(struct json_object *v, struct json_object *parameters,
			       char why[API_WHY_MAX])
{
	if (!json_object_is_type(v, json_type_string) || !json_object_get_string_len(v))
		return members_fail(why, "partition_name: expected a text, found %.80s",
				    json_object_to_json_string(v));
	json_object_object_add(parameters, "name", json_object_get(v));
	return true;
}

bool api_add_fields(const struct api_body *b, struct json_object *parameters,
		    char why[API_WHY_MAX])
{
	const struct {
		struct json_object *v;
		bool (*add)(struct json_object *v, struct json_object *parameters, char *why);
	} fields[] = {
		{ b->ip_over_ib, add_ipoib },	{ b->mtu_limit, add_mtu },
		{ b->rate_limit, add_rate },	{ b->service_level, add_sl },
		{ b->partition_name, add_partition_name },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].v && !fields[i].add(fields[i].v, parameters, why))
			return false;
	return true;
}
