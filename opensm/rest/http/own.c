// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is about users alone: tokens, the login form, its end. Tokens are answered in a thread, as
 * their file waits for the disk.
 */
#include "rest/http/http_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/json.h"
#include "util/str.h"

#define TOKENS_PATH "/app/tokens"

bool own_find(const char *path, enum rest_entry entry, enum exchange_kind *ret)
{
	bool session = entry == ENTRY_NONE || entry == ENTRY_SESSION;

	if (session && !strcmp(path, "/dologin"))
		*ret = EXCHANGE_DOLOGIN;
	else if (session && !strcmp(path, "/logout"))
		*ret = EXCHANGE_LOGOUT;
	else if (!strcmp(path, TOKENS_PATH) || str_starts(path, TOKENS_PATH "/"))
		*ret = EXCHANGE_TOKENS;
	else
		return false;
	return true;
}

/* ---- tokens -------------------------------------------------------------------------------- */

static struct json_object *describe_token(const char *text, const char *user, int64_t issued,
					  int64_t life)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "access_token", text);
	json_add_bool(o, "revoked", false);
	json_add_int(o, "issued_at", issued);
	json_add_int(o, "expires_in", life);
	json_add_str(o, "username", user);
	return o;
}

/* Lists tokens by their id, the beginning of their text, as no more of it is stored. */
static void list_tokens(struct exchange *x)
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

static void issue_token(struct exchange *x)
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

void own_run_tokens(struct exchange *x)
{
	const char *id = x->target.path + strlen(TOKENS_PATH);

	if (x->request.method == REST_GET && !*id)
		list_tokens(x);
	else if (x->request.method == REST_POST && !*id)
		issue_token(x);
	else if (x->request.method == REST_DELETE && *id)
		revoke_token(x, id + 1);
	else
		rest_answer_error(&x->answer, 405,
				  "GET or POST " TOKENS_PATH ", or DELETE " TOKENS_PATH
				  "/ID is expected");
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
			   "session=%s; Path=/; HttpOnly; SameSite=Strict%s", cookie,
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
	rest_answer_header(&x->answer, "Set-Cookie", "session=; Path=/; HttpOnly; Max-Age=0");
}

enum login_verdict own_answer(struct exchange *x)
{
	switch (x->kind) {
	case EXCHANGE_LOGOUT:
		log_out(x);
		break;
	case EXCHANGE_DOLOGIN:
		return log_in(x);
	case EXCHANGE_ENDPOINT:
	case EXCHANGE_TOKENS:
		break;
	}
	return LOGIN_OK;
}
