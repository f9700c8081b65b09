// SPDX-License-Identifier: BSD-2-Clause
/* The parameters of ChangePartition, which may be written by any program. */
#include "control/control_change.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/json.h"
#include "show/show.h"
#include "util/mem.h"
#include "util/str.h"

#define WORD_MAX 64 /* most bytes of a caller's word in texts */

/* ---- values --------------------------------------------------------------------------------- */

static struct json_object *value_of(struct json_object *o, const char *key)
{
	return json_object_object_get(o, key);
}

static const char *shown(const char *text, char ret[static WORD_MAX])
{
	return str_printable(text, strlen(text), ret, WORD_MAX);
}

bool control_read_pkey(struct json_object *value, uint16_t *ret, struct control_error *err)
{
	const char *text = json_object_get_string(value);
	bool is_hex = text && (str_starts(text, "0x") || str_starts(text, "0X"));
	char word[WORD_MAX];
	uint64_t pkey = 0;

	assert(ret && err);
	if (json_object_is_type(value, json_type_string) ||
	    json_object_is_type(value, json_type_int))
		if (str_to_u64(text + (is_hex ? 2 : 0), is_hex ? 16 : 10, UINT16_MAX, &pkey) < 0)
			pkey = 0;
	*ret = pkey <= PKEY_BASE ? (uint16_t)pkey : 0;
	if (*ret)
		return true;
	if (pkey & PKEY_BASE)
		return control_fail(err, "InvalidParameter",
				    "'%s' is P_Key 0x%04x as a full member has it; expected 0x%04x",
				    shown(text, word), (unsigned)pkey & PKEY_BASE,
				    (unsigned)pkey & PKEY_BASE);
	return control_fail(err, "InvalidParameter",
			    "'%s' is no P_Key; expected 0x0001 to 0x7fff, as a number or as "
			    "\"0x5\" or \"5\"",
			    text ? shown(text, word) : "");
}

static bool read_guid(const char *text, guid_t *ret)
{
	bool has_prefix = str_starts(text, "0x") || str_starts(text, "0X");

	return str_to_u64(text + (has_prefix ? 2 : 0), 16, UINT64_MAX, ret) == 0 && *ret;
}

/* ---- members -------------------------------------------------------------------------------- */

/* Rows of the request become rows of `rq`, whose array has room for `cap`. */
struct member_reader {
	struct tenant_request *rq;
	size_t cap;
	const char **hosts;		    /* words of the request */
	struct tenant_member *host_members; /* requested membership of each host */
	size_t n_hosts;
	struct json_object *told; /* answer for each host */
	size_t told_at;		  /* index + 1 of the host of the last element of `told` */
	bool too_many;
};

static void add_member(struct member_reader *r, const struct tenant_member *m)
{
	r->too_many = r->too_many || r->rq->n_members >= TENANT_REQUEST_MAX;
	if (r->too_many)
		return;
	GROW(r->rq->members, r->rq->n_members + 1, r->cap);
	r->rq->members[r->rq->n_members++] = *m;
}

/* One host of the answer: its name, all its port GUIDs, and those that are not in the fabric. */
#define HOST_FIELDS(F)                                                                             \
	F("host", STR, r->hosts[at])                                                               \
	F("guids", OF("[]string"), json_object_new_array())                                        \
	F("gone", OF("[]string"), json_object_new_array())

const struct json_field control_host_fields[] = FIELDS_TABLE(HOST_FIELDS);

static void put_host_port(struct member_reader *r, size_t at, guid_t guid, bool is_gone)
{
	size_t n = json_object_array_length(r->told);
	struct json_object *o = n ? json_object_array_get_idx(r->told, n - 1) : NULL;
	char text[24];

	if (r->told_at != at + 1) {
		if (n == CONTROL_HOSTS_TOLD)
			return;
		o = FIELDS_NEW(HOST_FIELDS);
		json_object_array_add(r->told, o);
		r->told_at = at + 1;
	}
	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	json_append_str(value_of(o, "guids"), text);
	if (is_gone)
		json_append_str(value_of(o, "gone"), text);
}

static void add_host_port(void *arg, size_t at, guid_t guid, bool is_gone)
{
	struct member_reader *r = arg;
	struct tenant_member m = r->host_members[at];

	m.guid = guid;
	add_member(r, &m);
	if (!r->too_many)
		put_host_port(r, at, guid, is_gone);
}

static bool read_membership(const char *text, bool *ret_full)
{
	*ret_full = !text || !strcasecmp(text, "full");
	return *ret_full || !strcasecmp(text, "limited");
}

/* The members of the object that describes one member; false: another one, or of another type. */
static bool has_known_keys(struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object))
		return false;
	json_object_object_foreach(o, key, value)
	{
		bool is_text = !strcmp(key, "guid") || !strcmp(key, "host") ||
			       !strcmp(key, "membership");

		if (!is_text && strcmp(key, "index0"))
			return false;
		if (value && !json_object_is_type(value, is_text ? json_type_string
								 : json_type_boolean))
			return false;
	}
	return true;
}

static bool read_member(struct member_reader *r, struct json_object *o, size_t at,
			struct control_error *err)
{
	const char *guid, *host;
	struct tenant_member m = { 0 };
	char word[WORD_MAX];

	if (!has_known_keys(o))
		return control_fail(err, "InvalidParameter",
				    "members[%zu] must be an object of guid or host, membership, "
				    "index0",
				    at);
	guid = json_str(o, "guid");
	host = json_str(o, "host");
	m.index0 = json_flag(o, "index0", false);
	if (!read_membership(json_str(o, "membership"), &m.full))
		return control_fail(err, "InvalidParameter",
				    "members[%zu]: membership is 'full' or 'limited', not '%s'", at,
				    shown(json_str(o, "membership"), word));
	if ((guid != NULL) == (host != NULL))
		return control_fail(err, "InvalidParameter",
				    "members[%zu] must have either a guid or a host", at);
	if (host) {
		r->hosts[r->n_hosts] = host;
		r->host_members[r->n_hosts++] = m;
		return true;
	}
	if (!read_guid(guid, &m.guid))
		return control_fail(err, "InvalidParameter",
				    "members[%zu]: '%s' is no GUID; expected 0x and 16 hexadecimal "
				    "digits",
				    at, shown(guid, word));
	add_member(r, &m);
	return true;
}

static bool read_rows(struct member_reader *r, const struct daemon_api *api,
		      struct json_object *list, size_t n, struct control_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (!read_member(r, json_object_array_get_idx(list, i), i, err))
			return false;
	if (r->n_hosts && !show_hosts(api, r->hosts, r->n_hosts, r->rq->action == TENANT_REMOVE,
				      add_host_port, r, err))
		return false;
	if (!r->too_many)
		return true;
	return control_fail(err, "InvalidParameter",
			    "a request has at most %u members; send it in parts",
			    TENANT_REQUEST_MAX);
}

static bool read_members(const struct daemon_api *api, struct json_object *list,
			 struct tenant_request *ret, struct json_object *told,
			 struct control_error *err)
{
	bool takes = ret->action == TENANT_ADD || ret->action == TENANT_REMOVE ||
		     ret->action == TENANT_SET;
	size_t n = list ? json_object_array_length(list) : 0;
	struct member_reader r = { .rq = ret, .told = told };
	bool fine;

	if (takes && !list)
		return control_fail(err, "InvalidParameter", "parameter 'members' is missing");
	if (!takes && n)
		return control_fail(err, "InvalidParameter",
				    "parameter 'members' is for add, remove and set");
	r.hosts = xcalloc(n + 1, sizeof(r.hosts[0]));
	r.host_members = xcalloc(n + 1, sizeof(r.host_members[0]));
	fine = read_rows(&r, api, list, n, err);
	free(r.hosts);
	free(r.host_members);
	return fine;
}

static bool all_are_there(const struct daemon_api *api, const struct tenant_request *rq,
			  struct control_error *err)
{
	for (size_t i = 0; i < rq->n_members; i++)
		if (!fabric_find_port(sm_fabric(api->sm), rq->members[i].guid))
			return control_fail(err, "NotFound",
					    "no port in the fabric has GUID 0x%016" PRIx64,
					    rq->members[i].guid);
	return true;
}

/* ---- fields --------------------------------------------------------------------------------- */

static bool read_code(struct json_object *parameters, const char *key, uint8_t *ret,
		      struct control_error *err)
{
	int64_t v = json_object_get_int64(value_of(parameters, key));

	if (v < 0 || v > UINT8_MAX)
		return control_fail(err, "InvalidParameter", "%s is out of range: %" PRId64, key,
				    v);
	*ret = (uint8_t)v;
	return true;
}

static bool read_fields(struct json_object *parameters, struct tenant_request *ret,
			struct control_error *err)
{
	const struct {
		const char *key;
		enum tenant_field bit;
		uint8_t *ret;
	} codes[] = {
		{ "mtu", TENANT_MTU, &ret->fields.mtu },
		{ "rate", TENANT_RATE, &ret->fields.rate },
		{ "sl", TENANT_SL, &ret->fields.sl },
	};
	const char *name = json_str(parameters, "name");

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		if (!value_of(parameters, codes[i].key))
			continue;
		if (!read_code(parameters, codes[i].key, codes[i].ret, err))
			return false;
		ret->has |= codes[i].bit;
	}
	if (value_of(parameters, "ip_over_ib")) {
		ret->fields.ipoib = json_flag(parameters, "ip_over_ib", false);
		ret->has |= TENANT_IPOIB;
	}
	if (!name)
		return true;
	if (strlen(name) > PARTITION_NAME_MAX)
		return control_fail(err, "InvalidParameter", "a name has at most %d bytes",
				    PARTITION_NAME_MAX);
	snprintf(ret->fields.name, sizeof(ret->fields.name), "%s", name);
	ret->has |= TENANT_NAME;
	return true;
}

/* ---- the request ---------------------------------------------------------------------------- */

static bool read_action(struct json_object *parameters, enum tenant_action *ret,
			struct control_error *err)
{
	static const char *const words[] = {
		[TENANT_CREATE] = "create", [TENANT_DELETE] = "delete",
		[TENANT_ADD] = "add",	    [TENANT_REMOVE] = "remove",
		[TENANT_SET] = "set",	    [TENANT_CONFIGURE] = "configure",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_equal(json_str(parameters, "action"), words[i])) {
			*ret = (enum tenant_action)i;
			return true;
		}
	return control_fail(err, "InvalidParameter",
			    "action must be create, delete, add, remove, set or configure");
}

static void read_client_word(struct json_object *client, const char *key,
			     char ret[static TENANT_CLIENT_MAX + 1])
{
	const char *text = json_object_is_type(value_of(client, key), json_type_string)
				   ? json_str(client, key)
				   : "";

	str_printable(text, strlen(text), ret, TENANT_CLIENT_MAX + 1);
}

static bool read_generation(struct json_object *parameters, struct tenant_request *ret,
			    struct control_error *err)
{
	struct json_object *value = value_of(parameters, "if_generation");

	if (!value)
		return true;
	if (json_object_get_int64(value) < 0)
		return control_fail(err, "InvalidParameter",
				    "if_generation is 0 or a generation of the partition");
	ret->if_generation = true;
	ret->generation = (uint64_t)json_object_get_int64(value);
	return true;
}

static bool read_all(const struct daemon_api *api, struct json_object *parameters,
		     struct tenant_request *ret, struct json_object *told,
		     struct control_error *err)
{
	struct json_object *client = value_of(parameters, "client");

	if (!read_action(parameters, &ret->action, err) ||
	    !control_read_pkey(value_of(parameters, "pkey"), &ret->pkey, err) ||
	    !read_generation(parameters, ret, err) || !read_fields(parameters, ret, err))
		return false;
	ret->keep_empty = json_flag(parameters, "keep_empty", false);
	read_client_word(client, "user", ret->user);
	read_client_word(client, "address", ret->address);
	read_client_word(client, "request", ret->request);
	if (!read_members(api, value_of(parameters, "members"), ret, told, err))
		return false;
	return !json_flag(parameters, "known_only", false) || all_are_there(api, ret, err);
}

bool control_read_change(const struct daemon_api *api, struct json_object *parameters,
			 struct tenant_request *ret, struct json_object **ret_hosts,
			 struct control_error *err)
{
	struct json_object *told = json_object_new_array();

	assert(api->sm && parameters && ret && ret_hosts && err);
	*ret = (struct tenant_request){ 0 };
	if (read_all(api, parameters, ret, told, err)) {
		*ret_hosts = told;
		return true;
	}
	json_object_put(told);
	free(take(ret->members));
	return false;
}
