// SPDX-License-Identifier: BSD-2-Clause
/*
 * A request.
 *
 *   NEW --credentials--> LOGIN --checked--> CHECKED --> BODY --complete--> WORK --> READY --> SENT
 *     \----- known at once ---------------------------^    \--- refused, or ours -----------^
 *
 * Rights are decided before the body is read. A body that is not wanted is read and dropped, up to
 * a limit, so that the client gets to read the answer. libmicrohttpd calls exchange_on_request() at
 * the headers, for each piece of the body, at its end, and after each time it was suspended.
 */
#include "rest/http/http_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "rest/http/router.h"
#include "util/str.h"

#define CHANGE_TIME (8 * MONO_S)
#define READ_TIME   (30 * MONO_S)
#define FOREIGN	    "the request comes from the page of another site"

static const char *header_of(const struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

#define refuse(x, status, ...)                                                                     \
	do {                                                                                       \
		rest_answer_error(&(x)->answer, (status), __VA_ARGS__);                            \
		(x)->is_refused = true;                                                            \
	} while (0)

/* ---- life ---------------------------------------------------------------------------------- */

static void on_checked(struct login_check *c, enum login_verdict verdict);

void *exchange_on_uri(void *arg, const char *uri, struct MHD_Connection *c)
{
	struct listener *listener = arg;
	struct exchange *x = xcalloc(1, sizeof(*x));
	uint8_t id[8];

	secret_random(id, sizeof(id));
	secret_to_hex(id, sizeof(id), x->id);
	x->http = listener->http;
	x->connection = c;
	x->conn = conn_of(c);
	x->raw = strlen(uri) <= TARGET_MAX ? xstrdup(uri) : NULL;
	x->body_limit = REST_BODY_MAX;
	return x;
}

static void drop_body(struct exchange *x)
{
	x->http->bodies -= x->body_cap;
	free(x->body);
	x->body = NULL;
	x->body_len = x->body_cap = 0;
}

void exchange_on_completed(void *listener, struct MHD_Connection *c, void **exchange,
			   enum MHD_RequestTerminationCode how)
{
	struct exchange *x = *exchange;

	*exchange = NULL;
	if (!x)
		return;
	if (x->conn)
		conn_enter(x->conn, CONN_ASKING);
	drop_body(x);
	explicit_bzero(x->check.given.password, sizeof(x->check.given.password));
	rest_answer_clear(&x->answer);
	target_clear(&x->target);
	json_object_put(x->request.body);
	free(x->segments);
	free(x->raw);
	free(x);
}

/* ---- login --------------------------------------------------------------------------------- */

/* The answer of a verdict that is not LOGIN_OK. */
static void refuse_login(struct exchange *x, enum login_verdict verdict)
{
	switch (verdict) {
	case LOGIN_REFUSED:
		refuse(x, 401, "missing or wrong credentials");
		if (x->target.entry == ENTRY_BASIC || x->target.entry == ENTRY_TOKEN)
			rest_answer_header(&x->answer, "WWW-Authenticate",
					   "Basic realm=\"opensm-rest\"");
		break;
	case LOGIN_LATER:
		refuse(x, 429, "too many failed logins; wait %lld s",
		       (long long)(x->check.wait / MONO_S + 1));
		rest_answer_header(&x->answer, "Retry-After", "%lld",
				   (long long)(x->check.wait / MONO_S + 1));
		break;
	case LOGIN_BUSY:
		refuse(x, 503, "too many passwords are being checked");
		rest_answer_header(&x->answer, "Retry-After", "1");
		break;
	case LOGIN_OK:
	case LOGIN_PENDING:
		assert(false);
	}
}

static enum login_verdict log_in_by_certificate(struct exchange *x)
{
	const union MHD_ConnectionInfo *u =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	char name[TLS_NAME_MAX];
	bool skip;

	if (!u || !u->tls_session || !x->http->source.tls->client_ca ||
	    !tls_client_is_verified(u->tls_session))
		return LOGIN_REFUSED;
	for (unsigned i = 0; tls_client_name(u->tls_session, i, name, &skip); i++)
		if (!skip && login_by_san(x->http->source.login, &x->check, name) == LOGIN_OK)
			return LOGIN_OK;
	return LOGIN_REFUSED;
}

static enum login_verdict log_in_by_basic(struct exchange *x)
{
	const char *header = header_of(x, "Authorization");

	if (!header && x->conn->listener->tls)
		return log_in_by_certificate(x);
	if (!header || login_from_basic(header, &x->check.given) < 0)
		return LOGIN_REFUSED;
	return login_by_password(x->http->source.login, &x->check, http_now(x->http));
}

static enum login_verdict log_in(struct exchange *x)
{
	struct login *l = x->http->source.login;
	char cookie[SECRET_TEXT];
	const char *token;

	switch (x->target.entry) {
	case ENTRY_BASIC:
		return log_in_by_basic(x);
	case ENTRY_TOKEN:
		token = token_from_header(header_of(x, "Authorization"));
		return token ? login_by_token(l, &x->check, token, http_wall(x->http))
			     : LOGIN_REFUSED;
	case ENTRY_SESSION:
		if (session_from_cookie(header_of(x, "Cookie"), cookie, sizeof(cookie)))
			return login_by_session(l, &x->check, cookie, http_now(x->http));
		break;
	case ENTRY_NONE:
		break;
	}
	return LOGIN_REFUSED;
}

/*
 * A browser sends its cookie, the password it was given, and its certificate for pages of other
 * sites too; it says where these are from. Only a browser sends these headers.
 */
static bool is_foreign(const struct exchange *x)
{
	const char *origin = header_of(x, "Origin"), *host = header_of(x, "Host"), *at;
	const char *site = header_of(x, "Sec-Fetch-Site");

	if (x->request.method == REST_GET && x->kind != EXCHANGE_LOGOUT)
		return false;
	if (site && !strcasecmp(site, "cross-site"))
		return true;
	if (!origin)
		return false;
	at = strstr(origin, "://");
	return !at || !host || strcasecmp(at + 3, host) != 0;
}

/* Clients send empty bodies, or `{}`, with methods that have none; these bodies are ignored. */
static bool wants_body(const struct exchange *x)
{
	return x->kind != EXCHANGE_TOKENS && x->kind != EXCHANGE_EVENTS &&
	       x->request.method != REST_GET;
}

static void limit_body(struct exchange *x)
{
	if (!wants_body(x))
		x->body_limit = DRAIN_MAX;
	else if (x->request.method == REST_DELETE)
		x->body_limit = DELETE_BODY_MAX;
}

/* The user is known: is the request allowed, and is there such an endpoint? */
static void admit(struct exchange *x)
{
	enum rest_right need = REST_READ;
	int r = 0;

	memcpy(x->user, x->check.user, sizeof(x->user));
	x->request.right = x->check.right;
	x->conn->is_known = true;
	limit_body(x);
	if (x->kind == EXCHANGE_ENDPOINT)
		r = route_find(x->http->source.endpoints, x->request.method, x->target.path,
			       &x->endpoint);
	if (x->endpoint)
		need = x->endpoint->right;
	if (r == -ENOENT)
		refuse(x, 404, "there is no %s", x->target.path);
	else if (r < 0)
		refuse(x, 405, "%s has no method %s", x->target.path, x->method);
	else if (x->check.right < need)
		refuse(x, 403, "%s needs the right %s; user %s has %s", x->target.path,
		       right_name(need), x->user, right_name(x->check.right));
	else if (is_foreign(x))
		refuse(x, 403, FOREIGN);
}

static void on_verdict(struct exchange *x, enum login_verdict verdict)
{
	if (verdict != LOGIN_OK)
		refuse_login(x, verdict);
	else if (x->kind == EXCHANGE_DOLOGIN)
		own_logged_in(x);
	else
		admit(x);
}

/* ---- the begin ----------------------------------------------------------------------------- */

static bool parse_head(struct exchange *x, const char *method)
{
	int r = x->raw ? target_parse(x->raw, &x->target) : -EINVAL;

	x->method = "-";
	if (!x->raw)
		refuse(x, 414, "the target has more than %d bytes", TARGET_MAX);
	else if (r == -ENOENT)
		refuse(x, 404, "/ufmRest, /ufmRestV2 or /ufmRestV3 is expected");
	else if (r < 0)
		refuse(x, 400, "the target of the request is malformed");
	else if (!method_from_name(method, &x->request.method))
		refuse(x, 405, "GET, POST, PUT or DELETE is expected");
	if (x->is_refused)
		return false;
	x->method = method;
	if (!own_find(x->target.path, x->target.entry, &x->kind))
		x->kind = EXCHANGE_ENDPOINT;
	return true;
}

static uint64_t content_length(const struct exchange *x)
{
	const char *text = header_of(x, "Content-Length");
	uint64_t len = 0;

	return text && str_to_u64(text, 10, UINT64_MAX, &len) < 0 ? UINT64_MAX : len;
}

/* The headers are complete, and the verdict is there: what of the body? */
static enum MHD_Result begin_body(struct exchange *x)
{
	uint64_t len = content_length(x);

	if (!x->is_refused && len > x->body_limit)
		refuse(x, 413, "a body has at most %zu bytes", x->body_limit);
	if (!x->is_refused && len + x->http->bodies > BODIES_MAX)
		refuse(x, 503, "bodies of other requests fill the memory");
	x->stage = EXCHANGE_BODY;
	conn_enter(x->conn, x->conn->is_known ? CONN_SENDING : CONN_ASKING);
	return x->is_refused && len > DRAIN_MAX ? exchange_send(x) : MHD_YES;
}

/* A password is being checked. */
static enum MHD_Result await_login(struct exchange *x)
{
	x->stage = EXCHANGE_LOGIN;
	conn_enter(x->conn, CONN_WAITING);
	MHD_suspend_connection(x->connection);
	return MHD_YES;
}

static enum MHD_Result begin_exchange(struct exchange *x, const char *method)
{
	enum login_verdict verdict = LOGIN_OK;

	memcpy(x->check.address, x->conn->network, sizeof(x->check.address));
	x->check.on_checked = on_checked;
	if (!parse_head(x, method))
		return begin_body(x);
	if (own_is_open(x->kind)) {
		x->body_limit = FORM_MAX;
		if (is_foreign(x))
			refuse(x, 403, FOREIGN);
		return begin_body(x);
	}
	verdict = log_in(x);
	if (verdict == LOGIN_PENDING)
		return await_login(x);
	on_verdict(x, verdict);
	return begin_body(x);
}

/* On the main thread: the password of a header, or of a form. */
static void on_checked(struct login_check *c, enum login_verdict verdict)
{
	struct exchange *x = (struct exchange *)((char *)c - offsetof(struct exchange, check));

	on_verdict(x, verdict);
	x->stage = x->kind == EXCHANGE_DOLOGIN ? EXCHANGE_READY : EXCHANGE_CHECKED;
	MHD_resume_connection(x->connection);
}

/* ---- the body ------------------------------------------------------------------------------ */

static enum MHD_Result add_body(struct exchange *x, const char *bytes, size_t *len)
{
	size_t n = *len, cap = x->body_cap;

	*len = 0;
	/* A body without Content-Length arrives in chunks. */
	if (!x->is_refused && x->body_len + n > x->body_limit)
		refuse(x, 413, "a body has at most %zu bytes", x->body_limit);
	if (!x->is_refused && x->body_len + n + 1 > cap &&
	    x->http->bodies + x->body_len + n > BODIES_MAX)
		refuse(x, 503, "bodies of other requests fill the memory");
	if (x->is_refused || !wants_body(x)) {
		x->drained += n;
		return x->drained <= DRAIN_MAX ? MHD_YES : MHD_NO;
	}
	GROW(x->body, x->body_len + n + 1, x->body_cap);
	x->http->bodies += x->body_cap - cap;
	memcpy(x->body + x->body_len, bytes, n);
	x->body_len += n;
	x->body[x->body_len] = '\0';
	return MHD_YES;
}

/* In a thread. False: it is no JSON, or too much. */
static bool parse_body(struct exchange *x)
{
	struct json_tokener *tok;
	bool whole;

	if (!x->body_len || strspn(x->body, " \t\r\n") == x->body_len)
		return true;
	if (memchr(x->body, '\0', x->body_len) || !json_is_modest(x->body, x->body_len))
		return false;
	tok = json_tokener_new_ex(REST_DEPTH_MAX);
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	x->request.body = json_tokener_parse_ex(tok, x->body, (int)x->body_len + 1);
	whole = json_tokener_get_error(tok) == json_tokener_success;
	json_tokener_free(tok);
	return whole;
}

/* The time of the event loop is the main thread's. */
static mono_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t)ts.tv_sec * MONO_S + ts.tv_nsec / 1000;
}

/* While it is suspended libmicrohttpd does not look at the connection. */
static bool has_hung_up(const struct exchange *x)
{
	struct pollfd pfd = { .fd = x->conn->fd, .events = POLLRDHUP };

	return poll(&pfd, 1, 0) > 0 && (pfd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* In a thread. */
static void run_request(struct work *w)
{
	struct exchange *x = (struct exchange *)w;

	if (clock_now() >= x->request.until || has_hung_up(x)) {
		rest_answer_error(&x->answer, 503, "the request waited too long and was not begun");
		rest_answer_header(&x->answer, "Retry-After", "1");
	} else if (x->kind == EXCHANGE_TOKENS) {
		own_run_tokens(x);
	} else if (parse_body(x)) {
		x->endpoint->operation->answer(&x->request, &x->answer);
	} else {
		rest_answer_error(&x->answer, 400,
				  "the body is no JSON, is deeper than %d levels, or has more than "
				  "%u values or %u objects and arrays",
				  REST_DEPTH_MAX, JSON_VALUES_MAX, JSON_GROUPS_MAX);
	}
	json_object_put(x->request.body);
	x->request.body = NULL;
}

static void on_request_done(struct work *w)
{
	struct exchange *x = (struct exchange *)w;

	drop_body(x);
	x->stage = EXCHANGE_READY;
	MHD_resume_connection(x->connection);
}

static void fill_request(struct exchange *x)
{
	struct rest_request *q = &x->request;
	const struct http_source *s = &x->http->source;

	q->path = x->target.path;
	if (x->endpoint)
		x->segments =
			route_segments(x->endpoint->pattern, q->path, q->segments, &q->n_segments);
	memcpy(q->query, x->target.query, sizeof(q->query));
	q->n_query = x->target.n_query;
	q->if_match = header_of(x, REST_IF_MATCH);
	q->user = x->user;
	q->address = x->conn->address;
	q->id = x->id;
	q->prefix = x->target.prefix;
	x->wall = http_wall(x->http);
	q->now = http_now(x->http);
	q->until = q->now + (!x->endpoint || x->endpoint->changes ? CHANGE_TIME : READ_TIME);
	q->policy = s->policy;
	q->backend = s->backend;
}

static enum MHD_Result start_work(struct exchange *x)
{
	fill_request(x);
	x->work = (struct work){ .owner = x->user, .run = run_request, .done = on_request_done };
	conn_enter(x->conn, CONN_WAITING);
	if (workers_add(x->http->workers, &x->work) < 0) {
		rest_answer_error(&x->answer, 503, "too many requests of this user, or of all");
		rest_answer_header(&x->answer, "Retry-After", "1");
		return exchange_send(x);
	}
	x->stage = EXCHANGE_WORK;
	MHD_suspend_connection(x->connection);
	return MHD_YES;
}

static enum MHD_Result finish_body(struct exchange *x)
{
	enum login_verdict verdict;

	if (x->is_refused)
		return exchange_send(x);
	if (x->kind == EXCHANGE_ENDPOINT || x->kind == EXCHANGE_TOKENS)
		return start_work(x);
	if (x->kind == EXCHANGE_EVENTS)
		return streams_begin(x);
	verdict = own_answer(x);
	if (verdict == LOGIN_PENDING)
		return await_login(x);
	if (verdict != LOGIN_OK)
		refuse_login(x, verdict);
	return exchange_send(x);
}

enum MHD_Result exchange_on_request(void *listener, struct MHD_Connection *c, const char *url,
				    const char *method, const char *version, const char *body,
				    size_t *body_len, void **exchange)
{
	struct exchange *x = *exchange;

	if (!x || !x->conn)
		return MHD_NO;
	switch (x->stage) {
	case EXCHANGE_NEW:
		return begin_exchange(x, method);
	case EXCHANGE_CHECKED:
		return begin_body(x);
	case EXCHANGE_BODY:
		return *body_len ? add_body(x, body, body_len) : finish_body(x);
	case EXCHANGE_READY:
		return exchange_send(x);
	case EXCHANGE_LOGIN:
	case EXCHANGE_WORK:
	case EXCHANGE_SENT:
		break;
	}
	return MHD_NO;
}
