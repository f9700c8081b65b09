// SPDX-License-Identifier: BSD-2-Clause
/*
 * The contract between the two halves of opensm-rest.
 *
 * The HTTP half (connections, TLS, authentication, rights, limits, audit; all other files) hands a
 * request that is parsed, authenticated and allowed to one function of the endpoint half (api_*.c,
 * rows in api_table.c). The endpoint talks to the subnet manager by rest_call() and fills an
 * answer.
 *
 * Threads: endpoints run in a small pool of worker threads, several at once. An endpoint may block
 * in rest_call(), has no static data that it changes (or guards it with a lock of its own), and
 * reads no clock but rest_request.now.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/fields.h"
#include "util/mono.h"

/* Rights in ascending order: each includes those before it. */
enum rest_right {
	REST_READ,
	REST_TENANT, /* may change partitions */
	REST_ADMIN,  /* may also see and revoke tokens of others, and take ports out of service */
};

/* HEAD arrives as REST_GET; its body is not sent. Other methods: 405 before any endpoint. */
enum rest_method {
	REST_GET,
	REST_POST,
	REST_PUT,
	REST_DELETE,
};

#define REST_SEGMENTS_MAX 4  /* {} in one pattern */
#define REST_QUERY_MAX	  16 /* pairs; a request with more is refused */
#define REST_BODY_MAX	  (1u << 20) /* bytes; larger: 413 */
#define REST_DEPTH_MAX	  8 /* of a JSON body; deeper: 400 */
#define REST_HEADERS_MAX  4 /* of an answer */
#define REST_IF_MATCH	  "If-Match"

struct rest_pair {
	const char *name, *value; /* decoded; a name without `=` has the value "" */
};

/* Configuration of the endpoints. */
struct rest_policy {
	const char *release; /* answer of /app/ufm_version, "6.19.0-5" by default */
	const char *site;    /* name of this fabric, may be "" */
	bool known_only;     /* set if a GUID that is not in the fabric is refused */
	const char *openapi; /* answer of /openapi.json */
};

struct rest_backend;
struct client; /* client/client.h */

/* All members belong to the HTTP half and live until the endpoint has returned. */
struct rest_request {
	enum rest_method method;
	/*
	 * Path below the prefix: decoded, begins with "/", has no query, no trailing slash and no
	 * "//".
	 */
	const char *path;
	/* Parts of the path where the pattern has {}, in order; never empty, no "/" inside. */
	const char *segments[REST_SEGMENTS_MAX];
	size_t n_segments;
	struct rest_pair query[REST_QUERY_MAX];
	size_t n_query;
	/*
	 * Any JSON value (an endpoint checks that it is an object), or NULL: there was no body. A
	 * body that is no JSON was answered with 400. Never shared between requests.
	 */
	struct json_object *body;
	const char *if_match; /* header REST_IF_MATCH, or NULL */

	const char *user;     /* printable, no blanks, no quotes */
	enum rest_right right;
	const char *address;  /* address of the client, numeric */
	const char *id;	      /* unique per request, 16 hex digits, in journal and header */
	const char *prefix;   /* "/ufmRest", "/ufmRestV2" or "/ufmRestV3" */

	mono_t now;	      /* time at which the endpoint was called */
	mono_t until;	      /* limit for the answer: now + 8 s, or + 30 s for GET */
	const struct rest_policy *policy;
	struct rest_backend *backend;
};

/* The first value of a query argument, or NULL. */
const char *rest_query(const struct rest_request *q, const char *name);
/* Is a query argument "true", "True", "TRUE", "1" or "yes"? `missing` if absent or "". */
bool rest_query_bool(const struct rest_request *q, const char *name, bool missing);

/*
 * The arguments of a query as one list, which gives members of a struct, the code that reads them
 * (`q`, the request, is in scope) and their description:
 *
 *   #define PAGE_QUERY(Q) Q(rpp, TEXT, "rows of a page")
 *
 *   struct page { PAGE_QUERY(QUERY_MEMBER) };
 *   struct page page = { PAGE_QUERY(QUERY_READ) };
 *   static const struct json_field page_query[] = QUERY_TABLE(PAGE_QUERY);
 */
#define QUERY_MEMBER(name, kind, text) QUERY_C_##kind name;
#define QUERY_READ(name, kind, text)   .name = QUERY_READ_##kind(#name),
#define QUERY_ROW(name, kind, text)    { #name, QUERY_TYPE_##kind, .optional = true, .help = text },
#define QUERY_TABLE(list)	       { list(QUERY_ROW) { 0 } }
/* Kinds: a text (NULL: not given); a flag; a flag that is set unless it is given as false. */
#define QUERY_C_TEXT	     const char *
#define QUERY_C_FLAG	     bool
#define QUERY_C_SET	     bool
#define QUERY_READ_TEXT(key) rest_query(q, key)
#define QUERY_READ_FLAG(key) rest_query_bool(q, key, false)
#define QUERY_READ_SET(key)  rest_query_bool(q, key, true)
#define QUERY_TYPE_TEXT	     "string"
#define QUERY_TYPE_FLAG	     "bool"
#define QUERY_TYPE_SET	     "bool"

/*
 * The same for members of a body, `body` in scope, with the kinds of values of api/fields.h. Each
 * is a borrowed struct json_object *, NULL if it is not given, and is yet to be checked.
 */
#define BODY_MEMBER(name, kind, text) struct json_object *name;
#define BODY_READ(name, kind, text)   .name = json_object_object_get(body, #name),
#define BODY_ROW(name, kind, text)    { .key = #name, FIELD_TYPE_##kind, .help = text },
#define BODY_TABLE(list)	      { list(BODY_ROW) { 0 } }

/*
 * Filled by rest_answer_*(); a later call replaces an earlier one. An answer that was not filled
 * is 500.
 */
struct rest_answer {
	unsigned status;
	char *bytes; /* to be freed */
	size_t len;
	const char *type; /* static text: "application/json" */
	struct {
		const char *name; /* static text: "ETag", "Retry-After", "X-Standbys" */
		char *value;	  /* to be freed */
	} headers[REST_HEADERS_MAX];
	size_t n_headers;
	uint64_t generation; /* for the journal: generation made by a change; 0: none */
	bool changed;	     /* for the journal: set if something was changed */
	uint64_t job; /* number of the last job that the request began; 0: none */
};

/* `o` is consumed; NULL is JSON's null. Spaces and "/" as plain json-c does; no final newline. */
void rest_answer_json(struct rest_answer *a, unsigned status, struct json_object *o);
/*
 * Answers with a copy of exactly these bytes; `type` is a static text. For `{}`:
 * rest_answer_empty().
 */
void rest_answer_bytes(struct rest_answer *a, unsigned status, const char *type, const char *bytes,
		       size_t len);
void rest_answer_empty(struct rest_answer *a); /* 200, `{}` */
/*
 * {"error":"text"}; for 401 and 503 the text begins with that number, which clients look for.
 * Returns nothing, so `return rest_answer_error(...)` is fine in a void function.
 */
void rest_answer_error(struct rest_answer *a, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* `name` is a static text; control characters in the value become blanks. At most four. */
void rest_answer_header(struct rest_answer *a, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void rest_answer_clear(struct rest_answer *a);

/* ---- the subnet manager -------------------------------------------------------------------- */

/* Error of a call to the manager. */
struct rest_error {
	/*
	 * The last part of org.opensm.NAME or org.varlink.service.NAME; beside these "Unreachable"
	 * (no manager answers at the socket) and "Timeout" (none within the time of the request).
	 */
	char name[40];
	char text[512]; /* a sentence for the user */
	/* With error Unconfirmed: set if the change is stored, as this generation. */
	bool changed;
	uint64_t generation;
};

/*
 * Calls org.opensm.METHOD and waits, at most until q->until. `parameters` (or NULL) is consumed.
 * Returns the parameters of the answer, an object for the caller to put, or NULL with `err` filled.
 */
struct json_object *rest_call(const struct rest_request *q, const char *method,
			      struct json_object *parameters, struct rest_error *err);
/* Adds client: {user, address, request}, which ChangePartition expects. */
void rest_add_client(const struct rest_request *q, struct json_object *parameters);
/*
 * Answers with the status that belongs to the error: NotFound 404, InvalidParameter NoRoom 400,
 * Denied ReadOnly 403, Exists 409, Overtaken 412, Unconfirmed Timeout 504, all others 503.
 */
void rest_answer_call_error(struct rest_answer *a, const struct rest_error *err);

/* The connection to the manager; tests have a call() of their own. */
struct rest_backend {
	struct json_object *(*call)(struct rest_backend *b, const struct rest_request *q,
				    const char *method, struct json_object *parameters,
				    struct rest_error *err);
	/*
	 * A connection on which a method without parameters was called that answers again and
	 * again, the caller's to close; NULL with `err` filled. May be NULL where there is no
	 * watch.
	 */
	struct client *(*follow)(struct rest_backend *b, const char *method, mono_t until,
				 struct rest_error *err);
	void *arg;
};

/* ---- endpoints ----------------------------------------------------------------------------- */

/* What a route does, in the file of its subject. */
struct rest_operation {
	const char *help; /* one sentence */
	const struct json_field *query; /* arguments; NULL: none */
	const struct json_field *body;	/* members of the object; NULL: the body is ignored */
	bool is_text_body; /* set if the body may also be a text alone, or missing */
	bool is_form;	   /* set if the body is a form, not JSON */
	bool if_match;	   /* set if the header If-Match counts */
	unsigned status;   /* of success; 0: 200 */
	const char *type;  /* media type of success; NULL: application/json */
	/* Answers with success: a row for each kind, with its name. NULL: it never succeeds. */
	const struct json_field *gives;
	void (*answer)(const struct rest_request *q, struct rest_answer *ret);
};

#define REST_GIVES(rows) (const struct json_field[]){ rows { 0 } }
/* The answer of rest_answer_empty(). */
#define REST_EMPTY FIELD_ROW("Empty", OBJECT(rest_no_members))
extern const struct json_field rest_no_members[];
extern const struct json_field rest_error_members[]; /* of rest_answer_error() */

struct rest_endpoint {
	enum rest_method method;
	const char *pattern;   /* "/resources/pkeys/{pkey}/guids/{guids}": {} is any one part */
	enum rest_right right; /* the least that a user needs; less: 403 */
	/* set if it changes something: written to the journal, short time limit */
	bool changes;
	const struct rest_operation *operation;
};

/*
 * api_table.c; ends with a row without a pattern. The first row that fits is taken, so
 * "/resources/pkeys/last_updated" stands before the same with {pkey}. A path that fits only under
 * another method is answered with 405, one that fits nowhere with 404. /app/tokens, /dologin and
 * /logout are the HTTP half's (http/own.h).
 */
extern const struct rest_endpoint rest_endpoints[];
