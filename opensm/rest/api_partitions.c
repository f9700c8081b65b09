// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions as they are read: lists of keys, objects by key, one of them.
 *
 * Without an argument a list is one of texts; "guids_data" and "qos_conf" make it an object. An
 * unknown key has the answer `{}`, which one client compares byte for byte.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "api/json.h"
#include "rest/api_internal.h"
#include "rest/api_text.h"
#include "rest/http/turn.h"
#include "util/mem.h"

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v = json_object_object_get(o, key);

	return v ? json_object_get_string(v) : "";
}

static int64_t number_of(struct json_object *o, const char *key)
{
	return json_object_get_int64(json_object_object_get(o, key));
}

static bool is_true(struct json_object *o, const char *key)
{
	return json_object_get_boolean(json_object_object_get(o, key));
}

/* ---- one partition --------------------------------------------------------------------------- */

#define PKEYS_QUERY(Q)                                                                             \
	Q(guids_data, FLAG, "true: with members")                                                  \
	Q(qos_conf, FLAG, "true: with MTU, rate and service level")                                \
	Q(sharp_state, FLAG, "true: with sharp_enabled")

#define PKEYS_ARGUMENTS(Q) PKEYS_QUERY(Q) API_PAGE_QUERY(Q)

static const struct json_field pkey_query[] = QUERY_TABLE(PKEYS_QUERY);
static const struct json_field pkeys_query[] = QUERY_TABLE(PKEYS_ARGUMENTS);

/* What a reader asks for. */
struct wish {
	PKEYS_QUERY(QUERY_MEMBER)
	struct api_page *page; /* NULL: a single partition */
};

#define QOS_FIELDS(F)                                                                              \
	F("mtu_limit", FLOAT, api_mtu_to_json((unsigned)number_of(p, "mtu")))                      \
	F("rate_limit", FLOAT, api_rate_to_json((unsigned)number_of(p, "rate")))                   \
	F("service_level", INT, number_of(p, "sl"))

static const struct json_field qos_fields[] = FIELDS_TABLE(QOS_FIELDS);

static void write_qos(struct api_text *t, struct json_object *p)
{
	FIELDS_TEXT_INSIDE(t, QOS_FIELDS);
}

static const char *membership_of(struct json_object *o, const char *key, const char *usual,
				 const char *other)
{
	return strcmp(text_of(o, key), other) != 0 ? usual : other;
}

#define MEMBER_FIELDS(F)                                                                           \
	F("guid", GUID, guid)                                                                      \
	F("index0", BOOL, is_true(m, "index0"))                                                    \
	F("membership", STR, membership_of(m, "membership", "full", "limited"))

static const struct json_field member_fields[] = FIELDS_TABLE(MEMBER_FIELDS);

static void write_members(struct api_text *t, struct json_object *p)
{
	struct json_object *members = json_object_object_get(p, "members");
	size_t n = members ? json_object_array_length(members) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *m = json_object_array_get_idx(members, i);
		guid_t guid;

		if (api_guid_of_text(text_of(m, "guid"), &guid))
			FIELDS_TEXT(t, NULL, MEMBER_FIELDS);
	}
}

/*
 * The last two members are what ports are in the default partition that nothing names: without ALL
 * in the file, limited.
 */
#define PARTITION_FIELDS(F)                                                                        \
	F("partition", STR, is_default ? "management" : text_of(p, "name"))                        \
	F("ip_over_ib", BOOL, is_true(p, "ip_over_ib"))                                            \
	F("sharp_enabled", IF(wish->sharp_state, BOOL), false)                                     \
	F("qos_conf", IF(wish->qos_conf, OBJECT(qos_fields)), write_qos(t, p))                     \
	F("guids", IF(wish->guids_data, LIST(member_fields)), write_members(t, p))                 \
	F("index0", IF(wish->guids_data && is_default, BOOL), false)                               \
	F("membership", IF(wish->guids_data && is_default, STR),                                   \
	  membership_of(p, "default_membership", "limited", "full"))

static const struct json_field partition_fields[] = FIELDS_TABLE(PARTITION_FIELDS);

/* `key` NULL: the partition alone. */
static void write_partition(struct api_text *t, const char *key, struct json_object *p,
			    uint16_t pkey, const struct wish *wish)
{
	bool is_default = pkey == API_PKEY_DEFAULT;

	FIELDS_TEXT(t, key, PARTITION_FIELDS);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/*
 * What TenantPartitions answers, the caller's; NULL: `ret` is filled. `pkey` 0: all. The table of a
 * standby may be an old one: only the master is believed.
 */
static struct json_object *ask(const struct rest_request *q, struct rest_answer *ret, uint16_t pkey,
			       bool members)
{
	struct json_object *parameters = json_object_new_object(), *answer;
	char text[API_PKEY_TEXT];
	struct rest_error err;

	api_pkey_text(pkey, text);
	if (pkey)
		json_add_str(parameters, "pkey", text);
	json_add_bool(parameters, "members", members);
	json_add_bool(parameters, "master", true);
	answer = rest_call(q, "TenantPartitions", parameters, &err);
	if (!answer)
		rest_answer_call_error(ret, &err);
	return answer;
}

static struct json_object *array_of(struct json_object *answer)
{
	struct json_object *all = json_object_object_get(answer, "partitions");

	return json_object_is_type(all, json_type_array) ? all : NULL;
}

static void write_one(struct api_text *t, struct json_object *p, uint16_t pkey,
		      const struct wish *wish)
{
	char text[API_PKEY_TEXT];

	api_pkey_text(pkey, text);
	if (wish->guids_data || wish->qos_conf)
		write_partition(t, text, p, pkey, wish);
	else
		api_text_str(t, NULL, text);
}

/* The default partition is the first one. */
static void write_all(struct api_text *t, struct json_object *answer, const struct wish *wish)
{
	struct json_object *all = array_of(answer);
	size_t n = all ? json_object_array_length(all) : 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			struct json_object *p = json_object_array_get_idx(all, i);
			uint16_t pkey;

			if (api_pkey_of_text(text_of(p, "pkey"), &pkey) &&
			    (pkey == API_PKEY_DEFAULT) == (pass == 0) && api_page_takes(wish->page))
				write_one(t, p, pkey, wish);
		}
}

/* `o`: of which the generation is the version of what is shown. */
static void tag_version(struct rest_answer *ret, struct json_object *o)
{
	rest_answer_header(ret, "ETag", "\"%" PRId64 "\"", number_of(o, "generation"));
}

/* Members are without a bound: one list of them at a time is in memory. */
static void in_turn(const struct rest_request *q, struct rest_answer *ret, const struct wish *wish,
		    void (*answer)(const struct rest_request *q, struct rest_answer *ret,
				   const struct wish *wish))
{
	if (wish->guids_data && !turn_wait(q, ret))
		return;
	answer(q, ret, wish);
	if (wish->guids_data)
		turn_end(q);
}

#define PKEYS_PAGE_FIELDS(F)                                                                       \
	API_PAGE_FIELDS(F, OF("[]string"), wish->page, write_all(t, answer, wish))
#define PARTITIONS_PAGE_FIELDS(F)                                                                  \
	API_PAGE_FIELDS(F, MAP(partition_fields), wish->page, write_all(t, answer, wish))

static const struct json_field pkeys_page_fields[] = FIELDS_TABLE(PKEYS_PAGE_FIELDS);
static const struct json_field partitions_page_fields[] = FIELDS_TABLE(PARTITIONS_PAGE_FIELDS);

static void write_list(struct api_text *t, struct json_object *answer, const struct wish *wish)
{
	bool is_list = !wish->guids_data && !wish->qos_conf;

	if (wish->page->is_paged && is_list)
		FIELDS_TEXT(t, NULL, PKEYS_PAGE_FIELDS);
	else if (wish->page->is_paged)
		FIELDS_TEXT(t, NULL, PARTITIONS_PAGE_FIELDS);
	else
		API_TEXT_AROUND(t, NULL, is_list ? '[' : '{', write_all(t, answer, wish),
				is_list ? ']' : '}');
}

static void answer_all(const struct rest_request *q, struct rest_answer *ret,
		       const struct wish *wish)
{
	struct json_object *answer = ask(q, ret, 0, wish->guids_data);
	struct api_text t;

	if (!answer)
		return;
	api_text_start(&t);
	write_list(&t, answer, wish);
	api_text_answer(&t, ret);
	tag_version(ret, answer);
	json_object_put(answer);
}

static void answer_pkeys(const struct rest_request *q, struct rest_answer *ret)
{
	struct api_page page;
	const struct wish wish = { PKEYS_QUERY(QUERY_READ) .page = &page };

	if (api_page_read(q, ret, &page))
		in_turn(q, ret, &wish, answer_all);
}

const struct rest_operation api_pkeys = {
	.help = "Lists P_Keys, with guids_data or qos_conf partitions by P_Key, or a page of them.",
	.query = pkeys_query,
	.gives = REST_GIVES(FIELD_ROW("PKeys", OF("[]string"))
				    FIELD_ROW("Partitions", MAP(partition_fields))
				    FIELD_ROW("PKeysPage", OBJECT(pkeys_page_fields))
				    FIELD_ROW("PartitionsPage", OBJECT(partitions_page_fields))),
	.answer = answer_pkeys,
};

/* ---- what goes on ---------------------------------------------------------------------------- */

#define SETTLED_EVERY (200 * MONO_MS)

/*
 * Ports that may hold the key; < 0: `ret` is filled with the reason. A manager that changes nothing
 * does not believe its table either.
 */
static int64_t open_ports(const struct rest_request *q, struct rest_answer *ret,
			  uint16_t pkey)
{
	struct json_object *answer = ask(q, ret, pkey, false);
	const char *closed = answer ? json_str(answer, "closed") : NULL;
	int64_t n = answer && !closed ? number_of(answer, "open") : -1;

	if (closed) {
		rest_answer_error(ret, 503, "%s", closed);
		rest_answer_header(ret, "Retry-After", "1");
	}
	json_object_put(answer);
	return n;
}

bool api_wait_settled(const struct rest_request *q, struct rest_answer *ret, uint16_t pkey)
{
	const struct timespec pause = { .tv_nsec = SETTLED_EVERY * 1000 };
	mono_t left = q->until - q->now;
	int64_t n, last = 0;

	assert(pkey);
	for (; (n = open_ports(q, ret, pkey)) > 0 && left >= SETTLED_EVERY; left -= SETTLED_EVERY) {
		last = n;
		nanosleep(&pause, NULL);
	}
	/* The last question may have come too late to be asked. */
	n = n < 0 && last > 0 ? last : n;
	if (n > 0)
		rest_answer_error(ret, 504,
				  "there is no partition with P_Key 0x%x, and %" PRId64
				  " ports may still hold it: they have not confirmed its removal, "
				  "or have not been read since the manager started; the manager "
				  "goes on",
				  pkey, n);
	return n == 0;
}

/* ---- one by its key -------------------------------------------------------------------------- */

struct json_object *api_find_partition(const struct rest_request *q, struct rest_answer *ret,
				       uint16_t pkey, bool members, bool *ret_failed)
{
	struct json_object *answer = ask(q, ret, pkey, members), *all, *p = NULL;
	uint16_t found;

	assert(pkey);
	*ret_failed = !answer;
	all = array_of(answer);
	for (size_t i = 0; all && i < json_object_array_length(all); i++) {
		p = json_object_array_get_idx(all, i);
		if (api_pkey_of_text(text_of(p, "pkey"), &found) && found == pkey)
			break;
		p = NULL;
	}
	json_object_get(p);
	json_object_put(answer);
	return p;
}

/* A key of the path that is none was refused before. */
static void answer_one(const struct rest_request *q, struct rest_answer *ret,
		       const struct wish *wish)
{
	struct json_object *p = NULL;
	bool failed = false;
	struct api_text t;
	uint16_t pkey;

	if (api_pkey_of_text(q->segments[0], &pkey) && pkey)
		p = api_find_partition(q, ret, pkey, wish->guids_data, &failed);
	if (failed)
		return;
	if (!p) {
		rest_answer_empty(ret);
		rest_answer_header(ret, "ETag", "\"0\"");
		return;
	}
	api_text_start(&t);
	write_partition(&t, NULL, p, pkey, wish);
	api_text_answer(&t, ret);
	tag_version(ret, p);
	json_object_put(p);
}

static void answer_pkey(const struct rest_request *q, struct rest_answer *ret)
{
	const struct wish wish = { PKEYS_QUERY(QUERY_READ) };
	uint16_t pkey;

	if (api_pkey_of_text(q->segments[0], &pkey))
		in_turn(q, ret, &wish, answer_one);
	else
		api_refuse(ret, "'%.40s' is no P_Key; expected 0x1 to 0x7fff", q->segments[0]);
}

const struct rest_operation api_pkey = {
	.help = "Shows a partition; an unknown P_Key has an empty object.",
	.query = pkey_query,
	.gives = REST_GIVES(FIELD_ROW("Partition", OBJECT(partition_fields))
				    REST_EMPTY),
	.answer = answer_pkey,
};

#define UPDATED_FIELDS(F)                                                                          \
	F("last_updated", OPT(STR), json_str(answer, "changed"))

static const struct json_field updated_fields[] = FIELDS_TABLE(UPDATED_FIELDS);

static void answer_last_updated(const struct rest_request *q, struct rest_answer *ret)
{
	struct json_object *answer = ask(q, ret, API_PKEY_DEFAULT, false);

	if (!answer)
		return;
	rest_answer_json(ret, 200, FIELDS_NEW(UPDATED_FIELDS));
	tag_version(ret, answer);
	json_object_put(answer);
}

const struct rest_operation api_last_updated = {
	.help = "Shows when partitions were last changed.",
	.gives = REST_GIVES(FIELD_ROW("LastUpdated", OBJECT(updated_fields))),
	.answer = answer_last_updated,
};
