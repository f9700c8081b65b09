// SPDX-License-Identifier: BSD-2-Clause
/*
 * The data of the page: what `opensmctl report` has in its file, asked for now.
 *
 * The fabric and the tables are large, and the same for all browsers: their text is kept, with the
 * key of the fabric that it is of. A change of the fabric has every page ask for them at once; the
 * first one has them made, in its turn (http/turn.h), the others get the text.
 */
#include <pthread.h>
#include <string.h>

#include "page/page.h"
#include "rest/api_internal.h"
#include "rest/api_text.h"
#include "rest/http/turn.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- the fabric, as it was made last --------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct large {
	char *key;	       /* of page_key(); NULL: none was made yet */
	char *fabric, *tables; /* JSON */
} kept;

static void large_clear(struct large *l)
{
	free(l->key);
	free(l->fabric);
	free(l->tables);
	*l = (struct large){ 0 };
}

/* A copy, for the caller. False: what is kept is of another fabric. */
static bool copy_kept(const char *key, struct large *ret)
{
	bool is_same;

	pthread_mutex_lock(&lock);
	is_same = *key && kept.key && !strcmp(kept.key, key);
	if (is_same)
		*ret = (struct large){ xstrdup(kept.key), xstrdup(kept.fabric),
				       xstrdup(kept.tables) };
	pthread_mutex_unlock(&lock);
	return is_same;
}

static void keep(const struct large *l)
{
	pthread_mutex_lock(&lock);
	large_clear(&kept);
	kept = (struct large){ xstrdup(l->key), xstrdup(l->fabric), xstrdup(l->tables) };
	pthread_mutex_unlock(&lock);
}

/* Consumes `o`. */
static char *text_of(struct json_object *o)
{
	char *text = xstrdup(json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));

	json_object_put(o);
	return text;
}

static struct json_object *absent(const char *why)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "absent", why);
	return o;
}

/* A document, or {"absent": why} of one that the manager does not have. */
static struct json_object *part_of(const struct rest_request *q, const char *method)
{
	struct rest_error err;
	struct json_object *o = rest_call(q, method, NULL, &err);

	return o ? o : absent(*err.text ? err.text : err.name);
}

/* False: `ret` is filled. */
static bool make(const struct rest_request *q, struct rest_answer *ret, struct large *large)
{
	struct rest_error err;
	struct json_object *topology = rest_call(q, "Topology", NULL, &err);

	if (!topology) {
		rest_answer_call_error(ret, &err);
		return false;
	}
	large->fabric = text_of(page_compact(topology));
	json_object_put(topology);
	large->tables = text_of(part_of(q, "Tables"));
	return true;
}

/* The fabric of this key. False: `ret` is filled. */
static bool find_large(const struct rest_request *q, struct rest_answer *ret, const char *key,
		       struct large *large)
{
	bool found = copy_kept(key, large);

	if (found)
		return true;
	if (!turn_wait(q, ret))
		return false;
	/* Another request may have made it meanwhile. */
	found = copy_kept(key, large);
	if (!found && make(q, ret, large)) {
		large->key = xstrdup(key);
		keep(large);
		found = true;
	}
	turn_end(q);
	return found;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* In the order in which they are written; the names of documents are those of page_parts. */
#define PAGE_FIELDS(F)                                                                             \
	F("key", STR, 0)                                                                           \
	F("status", OF("object"), 0)                                                               \
	F("fabric", OF("object"), 0)                                                               \
	F("tables", OF("object"), 0)                                                               \
	F("history", OF("object"), 0)                                                              \
	F("alarms", OF("object"), 0)                                                               \
	F("marks", OF("object"), 0)                                                                \
	F("health", OF("object"), 0)                                                               \
	F("traffic", OF("object"), 0)                                                              \
	F("managers", OF("object"), 0)                                                             \
	F("events", OF("object"), 0)                                                               \
	F("drift", OF("object"), 0)                                                                \
	F("security", IF(true, OF("object")), 0)

static const struct json_field page_fields[] = FIELDS_TABLE(PAGE_FIELDS);

static void put_text(struct api_text *t, const char *key, const char *json)
{
	fprintf(t->out, "%s\"%s\":%s", t->comma ? "," : "", key, json);
	t->comma = true;
}

static void put_parts(struct api_text *t, const struct rest_request *q)
{
	struct json_object *history = part_of(q, "CableHistory");

	api_text_value(t, "history", page_compact_history(history));
	json_object_put(history);
	for (const struct page_part *p = page_parts; p->member; p++)
		if (!p->is_secret || q->right >= REST_ADMIN)
			api_text_value(t, p->member, part_of(q, p->method));
}

static void write_page(const struct rest_request *q, struct rest_answer *ret,
		       struct json_object *status, const struct large *large)
{
	struct api_text t;

	api_text_start(&t);
	api_text_open(&t, NULL, '{');
	api_text_str(&t, "key", large->key);
	api_text_value(&t, "status", json_object_get(status));
	put_text(&t, "fabric", large->fabric);
	put_text(&t, "tables", large->tables);
	put_parts(&t, q);
	api_text_close(&t, '}');
	api_text_answer(&t, ret);
}

static void answer_page(const struct rest_request *q, struct rest_answer *ret)
{
	struct rest_error err;
	struct json_object *status = rest_call(q, "Status", NULL, &err);
	_cleanup_free_ char *key = NULL;
	struct large large = { 0 };

	if (!status) {
		rest_answer_call_error(ret, &err);
		return;
	}
	key = page_key(status);
	if (find_large(q, ret, key, &large))
		write_page(q, ret, status, &large);
	large_clear(&large);
	json_object_put(status);
}

const struct rest_operation api_page = {
	.help = "The data of the page that is served at /: the fabric and the manager's documents; "
		"security is for the right admin.",
	.gives = REST_GIVES(FIELD_ROW("Page", OBJECT(page_fields))),
	.answer = answer_page,
};
