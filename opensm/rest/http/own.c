// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is about users alone: tokens, the login form, its end. Tokens are answered in a thread, as
 * their file waits for the disk.
 */
#include "rest/http/http_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rest/http/own.h"
#include "rest/http/router.h"

/* ---- tokens -------------------------------------------------------------------------------- */

#define TOKEN_FIELDS(F)                                                                            \
	F("access_token", STR, text)                                                               \
	F("revoked", BOOL, false)                                                                  \
	F("issued_at", INT, issued)                                                                \
	F("expires_in", INT, life)                                                                 \
	F("username", STR, user)

static const struct json_field token_fields[] = FIELDS_TABLE(TOKEN_FIELDS);

static struct json_object *describe_token(const char *text, const char *user, int64_t issued,
					  int64_t life)
{
	return FIELDS_NEW(TOKEN_FIELDS);
}

/* Lists tokens by their id, the beginning of their text, as no more of it is stored. */
static void list_tokens(struct exchange *x, const char *id)
{
	struct tokens *tokens = login_tokens(x->http->source.login);
	struct json_object *list = json_object_new_array();
	struct token t;

	for (size_t i = 0; tokens_at(tokens, i, &t); i++)
		if (x->request.right == REST_ADMIN || !strcmp(t.user, x->user))
			json_object_array_add(list,
					      describe_token(t.id, t.user, t.issued, t.expires_in));
	rest_answer_json(&x->answer, 200, list);
}

/* A holder of a token must not make another one, which would outlive its revocation. */
static bool may_issue(struct exchange *x)
{
	if (x->target.entry == ENTRY_TOKEN)
		rest_answer_error(&x->answer, 403,
				  "a token makes no token: a password or certificate is needed");
	else if (x->request.right < REST_TENANT)
		rest_answer_error(&x->answer, 403, "a token needs the right %s; user %s has %s",
				  right_name(REST_TENANT), x->user, right_name(x->request.right));
	else
		return true;
	return false;
}

static void issue_token(struct exchange *x, const char *id)
{
	int64_t now = x->wall;
	char text[SECRET_TEXT];
	int r;

	if (!may_issue(x))
		return;
	r = tokens_issue(login_tokens(x->http->source.login), x->user, now, text);
	if (r == -ENOSPC) {
		rest_answer_error(&x->answer, 409,
				  "user %s has its share of tokens: DELETE /app/tokens/ID revokes "
				  "one",
				  x->user);
		return;
	}
	if (r < 0) {
		rest_answer_error(&x->answer, 503, "the token cannot be stored: %s", strerror(-r));
		return;
	}
	rest_answer_json(&x->answer, 200, describe_token(text, x->user, now, TOKEN_LIFE));
	x->answer.changed = true;
	explicit_bzero(text, sizeof(text));
}

static void revoke_token(struct exchange *x, const char *id)
{
	const char *user = x->request.right == REST_ADMIN ? NULL : x->user;
	int r = tokens_revoke(login_tokens(x->http->source.login), id, user);

	if (r == -ENOENT) {
		rest_answer_error(&x->answer, 404, "there is no such token");
		return;
	}
	if (r < 0) {
		rest_answer_error(&x->answer, 503, "the file of tokens cannot be written: %s",
				  strerror(-r));
		return;
	}
	rest_answer_empty(&x->answer);
	x->answer.changed = true;
}

/* ---- sessions ------------------------------------------------------------------------------ */

void own_logged_in(struct exchange *x)
{
	char cookie[SECRET_TEXT];

	memcpy(x->user, x->check.user, sizeof(x->user));
	x->conn->is_known = true;
	sessions_start(login_sessions(x->http->source.login), x->user, http_now(x->http), cookie);
	rest_answer_empty(&x->answer);
	rest_answer_header(&x->answer, "Set-Cookie",
			   SESSION_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict%s", cookie,
			   x->conn->listener->tls ? "; Secure" : "");
	explicit_bzero(cookie, sizeof(cookie));
}

static enum login_verdict log_in(struct exchange *x)
{
	enum login_verdict verdict = LOGIN_REFUSED;

	if (x->request.method != REST_POST) {
		rest_answer_error(&x->answer, 405, "POST is expected");
		return LOGIN_OK;
	}
	if (login_from_form(x->body, x->body_len, &x->check.given) == 0)
		verdict = login_by_password(x->http->source.login, &x->check, http_now(x->http));
	if (verdict == LOGIN_OK)
		own_logged_in(x);
	return verdict;
}

static void log_out(struct exchange *x)
{
	const char *header = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Cookie");
	char cookie[SECRET_TEXT];

	if (session_from_cookie(header, cookie, sizeof(cookie)))
		sessions_end(login_sessions(x->http->source.login), cookie);
	rest_answer_empty(&x->answer);
	rest_answer_header(&x->answer, "Set-Cookie",
			   SESSION_COOKIE "=; Path=/; HttpOnly; Max-Age=0");
}

/* ---- the page ------------------------------------------------------------------------------ */

/* Scripts, styles and data of this server alone; in no frame of another page. */
#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "            \
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static void give_file(struct exchange *x)
{
	const struct http_file *f = x->http->source.files;

	while (f && f->path && strcmp(f->path, x->target.path))
		f++;
	if (!f || !f->path) {
		rest_answer_error(&x->answer, 404, "there is no page here");
		return;
	}
	if (x->request.method != REST_GET) {
		rest_answer_error(&x->answer, 405, "GET is expected");
		return;
	}
	rest_answer_bytes(&x->answer, 200, f->type, f->text, strlen(f->text));
	rest_answer_header(&x->answer, "Content-Security-Policy", PAGE_POLICY);
	rest_answer_header(&x->answer, "Referrer-Policy", "no-referrer");
}

enum login_verdict own_answer(struct exchange *x)
{
	switch (x->kind) {
	case EXCHANGE_LOGOUT:
		log_out(x);
		break;
	case EXCHANGE_DOLOGIN:
		return log_in(x);
	case EXCHANGE_PAGE:
		give_file(x);
		break;
	case EXCHANGE_ENDPOINT:
	case EXCHANGE_TOKENS:
	case EXCHANGE_EVENTS:
		break;
	}
	return LOGIN_OK;
}

/* ---- endpoints ----------------------------------------------------------------------------- */

static const struct rest_operation tokens_listed = {
	.help = "Lists tokens of the user, those of all for the right admin.",
	.gives = REST_GIVES(FIELD_ROW("Tokens", LIST(token_fields))),
};
static const struct rest_operation token_issued = {
	.help = "Makes a token for the user; it is shown this once.",
	.gives = REST_GIVES(FIELD_ROW("Token", OBJECT(token_fields))),
};
static const struct rest_operation token_revoked = {
	.help = "Revokes a token by its first eight digits.",
	.gives = REST_GIVES(REST_EMPTY),
};

static const struct json_field login_form[] = BODY_TABLE(LOGIN_FORM);

static const struct rest_operation logged_in = {
	.help = "Begins a session, of which the cookie is in the answer.",
	.body = login_form,
	.is_form = true,
	.gives = REST_GIVES(REST_EMPTY),
};
static const struct rest_operation logged_out = {
	.help = "Ends the session of the cookie.",
	.gives = REST_GIVES(REST_EMPTY),
};

#define EVENT_FIELDS(F)                                                                            \
	F("reachable", BOOL, true)                                                                 \
	F("text", OPT(STR), NULL)

static const struct json_field event_fields[] = FIELDS_TABLE(EVENT_FIELDS);

/* Data of events are documents of the manager; the one that is always sent is described. */
static const struct rest_operation followed = {
	.help = "A stream of server-sent events. Event manager: whether it is reached; event: one "
		"of its events, with kind, time and text; fabric: it has another key than "
		"before; again: some were missed. Events status, alarms, marks, health, traffic, "
		"managers and history are documents that have changed. The stream ends after five "
		"minutes; with Last-Event-ID the next one begins there.",
	.type = "text/event-stream",
	.gives = REST_GIVES(FIELD_ROW("ManagerEvent", OBJECT(event_fields))),
};
static const struct rest_operation file_given = {
	.help = "A file of the page for a browser.",
};

#define TOKENS_PATH "/app/tokens"

static const struct own_row {
	struct rest_endpoint endpoint;
	enum exchange_kind kind;
	void (*run)(struct exchange *x, const char *id); /* of tokens */
} rows[] = {
	{ { REST_GET, TOKENS_PATH, REST_READ, false, &tokens_listed },
	  EXCHANGE_TOKENS,
	  list_tokens },
	{ { REST_POST, TOKENS_PATH, REST_TENANT, true, &token_issued },
	  EXCHANGE_TOKENS,
	  issue_token },
	{ { REST_DELETE, TOKENS_PATH "/{id}", REST_READ, true, &token_revoked },
	  EXCHANGE_TOKENS,
	  revoke_token },
	{ { REST_POST, "/dologin", REST_READ, false, &logged_in }, EXCHANGE_DOLOGIN, NULL },
	{ { REST_GET, "/logout", REST_READ, false, &logged_out }, EXCHANGE_LOGOUT, NULL },
	{ { REST_GET, "/events", REST_READ, false, &followed }, EXCHANGE_EVENTS, NULL },
	/* The last ones: they are not of the interface, and not in its document. */
	{ { REST_GET, "/", REST_READ, false, &file_given }, EXCHANGE_PAGE, NULL },
	{ { REST_GET, "/page.js", REST_READ, false, &file_given }, EXCHANGE_PAGE, NULL },
	{ { REST_GET, "/page.css", REST_READ, false, &file_given }, EXCHANGE_PAGE, NULL },
};

const struct rest_endpoint *own_endpoint(size_t i, bool *ret_is_login)
{
	if (i >= ARRAY_SIZE(rows) || rows[i].kind == EXCHANGE_PAGE)
		return NULL;
	*ret_is_login = rows[i].kind == EXCHANGE_DOLOGIN || rows[i].kind == EXCHANGE_LOGOUT;
	return &rows[i].endpoint;
}

/* Below which prefixes each kind is. */
static bool is_at(enum exchange_kind kind, enum rest_entry entry)
{
	switch (kind) {
	case EXCHANGE_DOLOGIN:
	case EXCHANGE_LOGOUT:
		return entry == ENTRY_NONE || entry == ENTRY_SESSION;
	case EXCHANGE_PAGE:
		return entry == ENTRY_NONE;
	case EXCHANGE_TOKENS:
	case EXCHANGE_EVENTS:
		return entry != ENTRY_NONE;
	case EXCHANGE_ENDPOINT:
		break;
	}
	return false;
}

bool own_find(const char *path, enum rest_entry entry, enum exchange_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		*ret = rows[i].kind;
		if (route_fits(rows[i].endpoint.pattern, path) && is_at(*ret, entry))
			return true;
	}
	return false;
}

bool own_is_open(enum exchange_kind kind)
{
	return kind == EXCHANGE_DOLOGIN || kind == EXCHANGE_LOGOUT || kind == EXCHANGE_PAGE;
}

void own_run_tokens(struct exchange *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].run && rows[i].endpoint.method == x->request.method &&
		    route_fits(rows[i].endpoint.pattern, x->target.path)) {
			rows[i].run(x, strrchr(x->target.path, '/') + 1);
			return;
		}
	rest_answer_error(&x->answer, 405,
			  "GET or POST " TOKENS_PATH ", or DELETE " TOKENS_PATH "/ID is expected");
}
