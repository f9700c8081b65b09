// SPDX-License-Identifier: BSD-2-Clause
/* Answers on their way out: headers, what they hold of memory, the audit. */
#include "rest/http/http_internal.h"

#include <assert.h>
#include <string.h>

/* ---- memory of answers --------------------------------------------------------------------- */

static bool has_room_for(const struct http *h, const char *user, size_t len)
{
	size_t all = len, own = len;

	if (len <= SMALL_ANSWER)
		return true;
	for (const struct sending *s = h->sendings; s; s = s->next) {
		all += s->len;
		if (!strcmp(s->user, user))
			own += s->len;
	}
	/* An answer that exceeds the limit alone is sent if no other is being sent. */
	return (all <= ANSWERS_MAX || all == len) && (own <= ANSWERS_MAX / 2 || own == len);
}

static void on_sent(void *arg)
{
	struct sending *s = arg, **at = &s->http->sendings;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
	free(s->bytes);
	free(s);
}

static struct MHD_Response *make_response(struct exchange *x)
{
	struct sending *s = xcalloc(1, sizeof(*s));
	struct MHD_Response *r;

	*s = (struct sending){ .http = x->http,
			       .bytes = take(x->answer.bytes),
			       .len = x->answer.len,
			       .next = x->http->sendings };
	memcpy(s->user, x->user, sizeof(s->user));
	x->http->sendings = s;
	r = MHD_create_response_from_buffer_with_free_callback_cls(s->len, s->bytes, on_sent, s);
	if (!r)
		on_sent(s);
	return r;
}

/* ---- the answer ---------------------------------------------------------------------------- */

void add_common_headers(struct exchange *x, struct MHD_Response *r)
{
	MHD_add_response_header(r, "Cache-Control", "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "X-Request-Id", x->id);
}

static void add_headers(struct exchange *x, struct MHD_Response *r)
{
	MHD_add_response_header(r, "Content-Type", x->answer.type);
	add_common_headers(x, r);
	for (size_t i = 0; i < x->answer.n_headers; i++)
		MHD_add_response_header(r, x->answer.headers[i].name, x->answer.headers[i].value);
}

static bool is_change(const struct exchange *x)
{
	return x->endpoint ? x->endpoint->changes : x->request.method != REST_GET;
}

static void write_audit(struct exchange *x)
{
	struct audit_record record = {
		.user = x->user,
		.address = x->conn->address,
		.request = x->id,
		.method = x->method ? x->method : "-",
		.path = x->raw ? x->raw : "-",
		.status = x->answer.status,
		.generation = x->answer.generation,
		.is_change = is_change(x),
		.changed = x->answer.changed,
	};

	if (!x->is_audited)
		audit_write(&x->http->audit, &record, http_now(x->http));
	x->is_audited = true;
}

enum MHD_Result exchange_send(struct exchange *x)
{
	enum MHD_Result result = MHD_NO;
	struct MHD_Response *r;
	unsigned status;

	if (!x->answer.status)
		rest_answer_error(&x->answer, 500, "the endpoint made no answer");
	write_audit(x);
	if (!has_room_for(x->http, x->user, x->answer.len)) {
		rest_answer_clear(&x->answer);
		rest_answer_error(&x->answer, 503, "answers that clients read fill the memory");
	}
	status = x->answer.status;
	r = make_response(x);
	if (r) {
		add_headers(x, r);
		result = MHD_queue_response(x->connection, status, r);
		MHD_destroy_response(r);
	}
	x->stage = EXCHANGE_SENT;
	conn_enter(x->conn, CONN_READING);
	return result;
}
