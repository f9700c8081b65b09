// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions as they are changed: each path is one ChangePartition of the manager, which does all
 * of it or nothing, and answers when it stands on the devices.
 *
 * Clients take 200 alone for done: no answer of these is 201, 202 or 204.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/json.h"
#include "rest/api_internal.h"
#include "util/mem.h"
#include "util/str.h"

/* Copies of a change, beside that of the manager that made it. */
struct copies {
	bool replicated;
	int64_t with, of; /* standbys that have it, of those that are reached */
};

#define CHANGE_QUERY(Q) Q(wait, SET, "false: answers before the devices have confirmed")

static const struct json_field change_query[] = QUERY_TABLE(CHANGE_QUERY);

/* A change under construction. */
struct change {
	CHANGE_QUERY(QUERY_MEMBER)
	const struct rest_request *q;
	struct rest_answer *ret;
	struct json_object *parameters; /* consumed by the call */
	struct api_body body;		/* as far as the request has one */
	uint16_t pkey;
	struct copies copies; /* for an answer with 200 */
};

static struct api_body body_of(struct json_object *body)
{
	return (struct api_body){ BODY_ALL(BODY_READ) };
}

static struct change change_new(const struct rest_request *q, struct rest_answer *ret)
{
	return (struct change){
		.q = q, .ret = ret, .body = body_of(q->body), CHANGE_QUERY(QUERY_READ)
	};
}

static bool refuse(struct change *c, const char *why)
{
	api_refuse(c->ret, "%s", why);
	return false;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Errors of a change whose status clients expect otherwise than that of other calls. */
static void answer_error(struct rest_answer *ret, const struct rest_error *err)
{
	if (str_equal(err->name, "ReadOnly") || str_equal(err->name, "Exists"))
		api_refuse(ret, "%s", err->text);
	else if (str_equal(err->name, "Timeout"))
		rest_answer_error(ret, 504,
				  "it is not known whether the change is stored: %s; the same "
				  "request again is harmless",
				  err->text);
	else
		rest_answer_call_error(ret, err);
	ret->changed = err->changed;
	ret->generation = err->changed ? err->generation : 0;
}

/*
 * Bodies of changes are `{}`: the generation, if there is a new one, is a header, and so is whether
 * a standby has stored it too, how many of how many have, and the number of the job.
 */
static void answer_empty(struct rest_answer *ret, const struct copies *copies)
{
	rest_answer_empty(ret);
	if (ret->generation)
		rest_answer_header(ret, "ETag", "\"%" PRIu64 "\"", ret->generation);
	rest_answer_header(ret, "X-Replicated", "%s", copies->replicated ? "true" : "false");
	rest_answer_header(ret, "X-Standbys", "%" PRId64 "/%" PRId64, copies->with, copies->of);
	if (ret->job)
		rest_answer_header(ret, "X-Job", "%" PRIu64, ret->job);
}

static void answer_done(struct change *c, struct json_object *answer)
{
	bool changed = json_object_get_boolean(json_object_object_get(answer, "changed"));
	int64_t generation = json_object_get_int64(json_object_object_get(answer, "generation"));

	c->ret->job = (uint64_t)json_object_get_int64(json_object_object_get(answer, "job"));
	c->ret->changed = changed;
	c->ret->generation = changed ? (uint64_t)generation : 0;
	c->copies = (struct copies){
		.replicated = json_object_get_boolean(json_object_object_get(answer, "replicated")),
		.with = json_object_get_int64(json_object_object_get(answer, "standbys_with")),
		.of = json_object_get_int64(json_object_object_get(answer, "standbys")),
	};
	answer_empty(c->ret, &c->copies);
}

/* ---- If-Match -------------------------------------------------------------------------------- */

static bool answer_overtaken(struct change *c, const char *why)
{
	rest_answer_error(c->ret, 412, "If-Match: %s", why);
	return false;
}

/* "*": any generation, but the partition is there. */
static bool match_any(struct change *c, uint64_t *ret)
{
	bool failed;
	struct json_object *p = api_find_partition(c->q, c->ret, c->pkey, false, &failed);

	if (failed)
		return false;
	if (!p)
		return answer_overtaken(c, "there is no such partition");
	*ret = (uint64_t)json_object_get_int64(json_object_object_get(p, "generation"));
	json_object_put(p);
	return true;
}

/* The number in "12"; 0: the partition is not there. */
static bool read_tag(const char *text, uint64_t *ret)
{
	size_t len = strlen(text);
	bool quoted = len > 2 && text[0] == '"' && text[len - 1] == '"';
	_cleanup_free_ char *digits =
		quoted ? xasprintf("%.*s", (int)(len - 2), text + 1) : xstrdup(text);

	return len < 32 && str_to_u64(digits, 10, INT64_MAX, ret) == 0;
}

/* Before the call: a header that cannot be met ends the request. */
static bool add_if_match(struct change *c)
{
	uint64_t generation;

	if (!c->q->if_match)
		return true;
	if (!strcmp(c->q->if_match, "*")) {
		if (!match_any(c, &generation))
			return false;
	} else if (!read_tag(c->q->if_match, &generation)) {
		return answer_overtaken(c, "expected the ETag of an answer, or *");
	}
	json_object_object_add(c->parameters, "if_generation",
			       json_object_new_int64((int64_t)generation));
	return true;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Adds what all calls have. False: If-Match cannot be met, which is answered. */
static bool add_usual(struct change *c, const char *action)
{
	char pkey[API_PKEY_TEXT];

	if (!add_if_match(c))
		return false;
	api_pkey_text(c->pkey, pkey);
	json_add_str(c->parameters, "action", action);
	json_add_str(c->parameters, "pkey", pkey);
	if (!c->wait)
		json_object_object_add(c->parameters, "wait", json_object_new_boolean(false));
	rest_add_client(c->q, c->parameters);
	return true;
}

/*
 * Clients read "not found" as "gone": it is no answer while ports may hold what an earlier request
 * has taken from them. `is_fine`: what is not there need not be taken away.
 */
static void answer_missing(struct change *c, bool is_fine)
{
	if (c->wait && !api_wait_settled(c->q, c->ret, c->pkey))
		return;
	if (is_fine)
		rest_answer_empty(c->ret);
	else
		rest_answer_error(c->ret, 404, "there is no partition with P_Key 0x%x", c->pkey);
}

/* `missing_is_fine`: as of answer_missing(). Consumes the parameters. */
static void make_change(struct change *c, const char *action, bool missing_is_fine)
{
	struct json_object *answer;
	struct rest_error err;

	if (!add_usual(c, action)) {
		json_object_put(c->parameters);
		return;
	}
	answer = rest_call(c->q, "ChangePartition", c->parameters, &err);
	if (answer)
		answer_done(c, answer);
	else if (str_equal(err.name, "NotFound") &&
		 (missing_is_fine || str_equal(action, "delete")))
		answer_missing(c, missing_is_fine);
	else
		answer_error(c->ret, &err);
	json_object_put(answer);
}

/* Adds `members` (an array, consumed); NULL: `why` is the error. False: it was answered. */
static bool add_members(struct change *c, struct json_object *members, const char *why)
{
	if (!members)
		return refuse(c, why);
	json_object_object_add(c->parameters, "members", members);
	return true;
}

static void forbid_unknown(struct change *c)
{
	if (c->q->policy && c->q->policy->known_only)
		json_object_object_add(c->parameters, "known_only", json_object_new_boolean(true));
}

/* ---- what a request names -------------------------------------------------------------------- */

static bool check_key(struct change *c)
{
	if (c->pkey >= 1 && c->pkey <= API_PKEY_MAX)
		return true;
	api_refuse(c->ret, "P_Key 0x%x cannot be changed; expected 0x1 to 0x7ffe", c->pkey);
	return false;
}

/* From `pkey` of the body. True: parameters are to be given to make_change(). */
static bool change_of_body(struct change *c, const struct rest_request *q, struct rest_answer *ret)
{
	*c = change_new(q, ret);
	if (!json_object_is_type(q->body, json_type_object))
		return refuse(c, "expected a JSON object in the body");
	if (!c->body.pkey)
		return refuse(c, "pkey is missing");
	if (!api_pkey_of_json(c->body.pkey, &c->pkey)) {
		api_refuse(ret, "pkey: expected 0x1 to 0x7ffe, found %.80s",
			   json_object_to_json_string(c->body.pkey));
		return false;
	}
	if (!check_key(c))
		return false;
	c->parameters = json_object_new_object();
	return true;
}

/* From the first part of the path. */
static bool change_of_path(struct change *c, const struct rest_request *q, struct rest_answer *ret)
{
	*c = change_new(q, ret);
	if (!api_pkey_of_text(q->segments[0], &c->pkey)) {
		api_refuse(ret, "'%.40s' is no P_Key; expected 0x1 to 0x7ffe", q->segments[0]);
		return false;
	}
	if (!check_key(c))
		return false;
	c->parameters = json_object_new_object();
	return true;
}

/* Frees a change that failed. */
static void drop_change(struct change *c)
{
	json_object_put(c->parameters);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

typedef struct json_object *members_fn(const struct api_body *b, char why[API_WHY_MAX]);

/* Members and fields of the body; `members` NULL: fields alone. */
static void change_by_body(const struct rest_request *q, struct rest_answer *ret,
			   const char *action, members_fn *members)
{
	char why[API_WHY_MAX] = "";
	struct change c;

	if (!change_of_body(&c, q, ret))
		return;
	if ((members && !add_members(&c, members(&c.body, why), why)) ||
	    (!api_add_fields(&c.body, c.parameters, why) && !refuse(&c, why))) {
		drop_change(&c);
		return;
	}
	if (members)
		forbid_unknown(&c);
	make_change(&c, action, false);
}

/* Rows of an operation that changes a partition. */
#define CHANGES .query = change_query, .if_match = true, .gives = REST_GIVES(REST_EMPTY)

#define GUIDS_BODY(B) BODY_KEY(B) BODY_GUIDS(B) BODY_MANNER(B) BODY_FIELDS(B)

static const struct json_field guids_body[] = BODY_TABLE(GUIDS_BODY);

static void add_guids(const struct rest_request *q, struct rest_answer *ret)
{
	change_by_body(q, ret, "add", api_members_of_guids);
}

const struct rest_operation api_add_guids = {
	CHANGES,
	.help = "Adds members to a partition, which is made if it is not there.",
	.body = guids_body,
	.answer = add_guids,
};

static void set_guids(const struct rest_request *q, struct rest_answer *ret)
{
	change_by_body(q, ret, "set", api_members_of_guids);
}

const struct rest_operation api_set_guids = {
	CHANGES,
	.help = "Replaces the members of a partition, which is made if it is not there.",
	.body = guids_body,
	.answer = set_guids,
};

#define HOSTS_BODY(B) BODY_KEY(B) BODY_HOSTS(B) BODY_MANNER(B) BODY_FIELDS(B)

static const struct json_field hosts_body[] = BODY_TABLE(HOSTS_BODY);

static void add_hosts(const struct rest_request *q, struct rest_answer *ret)
{
	change_by_body(q, ret, "add", api_members_of_hosts);
}

const struct rest_operation api_add_hosts = {
	CHANGES,
	.help = "Adds the ports of hosts to a partition, which is made if it is not there.",
	.body = hosts_body,
	.answer = add_hosts,
};

#define EMPTY_BODY(B) BODY_KEY(B) BODY_FIELDS(B)

static const struct json_field empty_body[] = BODY_TABLE(EMPTY_BODY);

static void create(const struct rest_request *q, struct rest_answer *ret)
{
	change_by_body(q, ret, "create", NULL);
}

const struct rest_operation api_create = {
	CHANGES,
	.help = "Makes a partition without members.",
	.body = empty_body,
	.answer = create,
};

/* Its paths ask for limits; one that names none would change nothing and look like success. */
static void configure(const struct rest_request *q, struct rest_answer *ret)
{
	const struct api_body b = body_of(q->body);

	if (json_object_is_type(q->body, json_type_object) && !b.mtu_limit && !b.rate_limit &&
	    !b.service_level)
		api_refuse(ret, "expected mtu_limit, rate_limit or service_level");
	else
		change_by_body(q, ret, "configure", NULL);
}

const struct rest_operation api_configure = {
	CHANGES,
	.help = "Changes mtu_limit, rate_limit or service_level of a partition.",
	.body = empty_body,
	.answer = configure,
};

#define REMOVE_BODY(B) BODY_KEY(B) BODY_GUIDS(B) BODY_MANNER(B)

static const struct json_field remove_body[] = BODY_TABLE(REMOVE_BODY);

/* Removes members; those, and partitions, that do not exist are no error. */
static void remove_guids(const struct rest_request *q, struct rest_answer *ret)
{
	char why[API_WHY_MAX] = "";
	struct change c;

	if (!change_of_body(&c, q, ret))
		return;
	if (add_members(&c, api_members_of_guids(&c.body, why), why))
		make_change(&c, "remove", true);
	else
		drop_change(&c);
}

const struct rest_operation api_remove_guids = {
	CHANGES,
	.help = "Removes members from a partition.",
	.body = remove_body,
	.answer = remove_guids,
};

/* ---- paths ----------------------------------------------------------------------------------- */

static void delete_partition(const struct rest_request *q, struct rest_answer *ret)
{
	struct change c;

	if (change_of_path(&c, q, ret))
		make_change(&c, "delete", false);
}

const struct rest_operation api_delete = {
	CHANGES,
	.help = "Deletes a partition.",
	.answer = delete_partition,
};

/* False: the partition is not there, and that is answered. */
static bool is_there(struct change *c)
{
	bool failed;
	struct json_object *p = api_find_partition(c->q, c->ret, c->pkey, false, &failed);

	if (!p && !failed)
		answer_missing(c, false);
	json_object_put(p);
	return p != NULL;
}

static void remove_listed(const struct rest_request *q, struct rest_answer *ret)
{
	char why[API_WHY_MAX] = "";
	struct change c;

	if (!change_of_path(&c, q, ret))
		return;
	if (add_members(&c, api_members_of_guid_list(q->segments[1], why), why) && is_there(&c))
		make_change(&c, "remove", false);
	else
		drop_change(&c);
}

const struct rest_operation api_remove_listed = {
	CHANGES,
	.help = "Removes members from a partition: GUIDs with commas between them.",
	.answer = remove_listed,
};

/* ---- hosts that are to leave ----------------------------------------------------------------- */

/* Hosts of one request that are tried one by one. */
#define SINGLE_MAX 256

/* Removes one host of `members`; the answer is in c->ret. */
static void remove_host(struct change *c, struct json_object *members, size_t i)
{
	struct change one = { .q = c->q, .ret = c->ret, .pkey = c->pkey, .wait = c->wait };
	struct json_object *only = json_object_new_array();

	json_object_array_add(only, json_object_get(json_object_array_get_idx(members, i)));
	one.parameters = json_object_new_object();
	json_object_object_add(one.parameters, "members", only);
	rest_answer_clear(c->ret);
	make_change(&one, "remove", false);
}

/* How much an answer matters beside others: what may still hold the key first. */
static unsigned weight_of(unsigned status)
{
	switch (status) {
	case 200:
		return 0;
	case 404:
		return 1;
	case 503:
		return 3;
	case 504:
		return 4;
	default:
		return 2;
	}
}

/* Keeps the smaller results of two changes that are answered together. */
static void keep_fewer(struct copies *copies, const struct copies *other)
{
	copies->replicated &= other->replicated;
	copies->with = MIN(copies->with, other->with);
	copies->of = MAX(copies->of, other->of);
}

/*
 * A host that is off has no name that is known. The others do not keep the key for that: they
 * leave, each by itself. The answer is the gravest one: 504, 503, any other, 404; of equal ones the
 * first.
 */
static void remove_each(struct change *c, struct json_object *members)
{
	struct rest_answer bad = { .status = 200 };
	uint64_t generation = 0;
	struct copies copies = { .replicated = true, .with = INT64_MAX };

	for (size_t i = 0; i < json_object_array_length(members); i++) {
		c->copies = (struct copies){ 0 };
		remove_host(c, members, i);
		keep_fewer(&copies, &c->copies);
		if (c->ret->changed)
			generation = c->ret->generation;
		if (weight_of(c->ret->status) <= weight_of(bad.status))
			continue;
		rest_answer_clear(&bad);
		bad = *c->ret;
		*c->ret = (struct rest_answer){ 0 };
	}
	rest_answer_clear(c->ret);
	*c->ret = bad;
	c->ret->changed = generation != 0;
	c->ret->generation = generation;
	if (bad.status == 200)
		answer_empty(c->ret, &copies);
}

static void remove_hosts(const struct rest_request *q, struct rest_answer *ret)
{
	char why[API_WHY_MAX] = "";
	struct json_object *members = NULL;
	struct change c;
	size_t n;

	if (!change_of_path(&c, q, ret))
		return;
	if (!add_members(&c, api_members_of_host_list(q->segments[1], why), why) ||
	    !is_there(&c)) {
		drop_change(&c);
		return;
	}
	members = json_object_get(json_object_object_get(c.parameters, "members"));
	make_change(&c, "remove", false);
	n = json_object_array_length(members);
	if (ret->status == 404 && n > 1 && n <= SINGLE_MAX && !q->if_match)
		remove_each(&c, members);
	json_object_put(members);
}

const struct rest_operation api_remove_hosts = {
	CHANGES,
	.help = "Removes the ports of hosts from a partition: n1,n[3-8].",
	.answer = remove_hosts,
};
