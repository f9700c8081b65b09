// SPDX-License-Identifier: BSD-2-Clause
/* The server's parts: listeners (addresses), connections, exchanges (a request and its answer). */
#pragma once

#include <microhttpd.h>

#include "rest/http/audit.h"
#include "rest/http/http.h"
#include "rest/http/request.h"
#include "rest/http/workers.h"

#define BODIES_MAX	(32u << 20)  /* most bytes in bodies of all exchanges */
#define ANSWERS_MAX	(256u << 20) /* most bytes of all answers that are being sent */
#define SMALL_ANSWER	(64u << 10)  /* is sent, however full it is */
#define DRAIN_MAX	(256u << 10) /* most bytes that are read of a body that is not wanted */
#define FORM_MAX	4095u
#define DELETE_BODY_MAX 4096u
#define CONNECTION_POOL (32u << 10)

struct listener {
	struct http *http;
	struct MHD_Daemon *daemon;
	sd_event_source *io, *timer;
	bool has_room; /* a connection went since libmicrohttpd last ran */
	bool tls;
};

enum conn_state {
	CONN_ASKING,  /* waits for a request: newly connected, or the last answer was sent */
	CONN_SENDING, /* a request of a known user: its body is awaited */
	CONN_WAITING, /* waits for the server */
	CONN_READING, /* reads the answer */
	CONN_STREAM,  /* reads a stream of events, and something waits for it */
};

/* A connection, from accept to close; in a list. */
struct conn {
	struct conn *next;
	struct listener *listener;
	struct MHD_Connection *connection;
	int fd;
	enum conn_state state;
	mono_t since; /* time of the last change of state */
	bool is_known; /* a request of it was that of a user */
	char address[64]; /* address in logs */
	char network[64]; /* network by which connections are counted */
};

/* Kinds of requests by endpoint. */
enum exchange_kind {
	EXCHANGE_ENDPOINT,
	EXCHANGE_TOKENS,
	EXCHANGE_DOLOGIN,
	EXCHANGE_LOGOUT,
	EXCHANGE_PAGE,	 /* a file of the page */
	EXCHANGE_EVENTS, /* a stream of events */
};

enum exchange_stage {
	EXCHANGE_NEW,
	EXCHANGE_LOGIN,	 /* suspended: a password is being checked */
	EXCHANGE_CHECKED, /* resumed */
	EXCHANGE_BODY,
	EXCHANGE_WORK,	 /* suspended: a thread runs the endpoint */
	EXCHANGE_READY,	 /* resumed */
	EXCHANGE_SENT,
};

/* A request, from its first line to the end of its answer. */
struct exchange {
	struct work work;	   /* first */
	struct login_check check;
	struct http *http;
	struct conn *conn;
	struct MHD_Connection *connection;
	enum exchange_stage stage;
	enum exchange_kind kind;
	bool is_refused;	   /* the answer is there; the body is not wanted */
	bool is_audited;
	char *raw;		   /* the target as received; NULL: it was too long */
	struct target target;
	char *segments;		   /* memory of them */
	int64_t wall;		   /* http_wall() when the work was queued */
	const char *method;	   /* name */
	const struct rest_endpoint *endpoint;
	struct rest_request request;
	struct rest_answer answer;
	char *body;
	size_t body_len, body_cap, body_limit, drained;
	char id[17];
	char user[USER_NAME_MAX + 1];
};

/* An answer that is being sent, counted until its end. */
struct sending {
	struct http *http;
	char *bytes;
	size_t len;
	char user[USER_NAME_MAX + 1];
	struct sending *next;
};

struct http {
	sd_event *event;
	struct http_source source;
	struct workers *workers;
	sd_event_source *work_io, *login_io;
	struct listener listeners[CONF_LISTEN_MAX];
	unsigned n_listeners;
	struct conn *conns;
	unsigned n_conns;
	struct audit audit;
	size_t bodies;
	struct sending *sendings;
	struct streams *streams;
};

/* ---- time, as the loop has it ---- */

static inline mono_t http_now(const struct http *h)
{
	uint64_t usec = 0;

	sd_event_now(h->event, CLOCK_MONOTONIC, &usec);
	return (mono_t)usec;
}

/* Seconds since 1970. */
static inline int64_t http_wall(const struct http *h)
{
	uint64_t usec = 0;

	sd_event_now(h->event, CLOCK_REALTIME, &usec);
	return (int64_t)(usec / 1000000);
}

/* ---- http.c ---- */
/* Lets libmicrohttpd go on, as a connection was resumed. */
void http_run(struct http *h);

/* ---- conns.c ---- */
enum MHD_Result conns_may_enter(void *listener, const struct sockaddr *at, socklen_t len);
void conns_on_connection(void *listener, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode code);
struct conn *conn_of(struct MHD_Connection *c);
void conn_enter(struct conn *g, enum conn_state state);
/* Ends connections that take too long. */
void conns_close_slow(struct http *h);

/* ---- exchange.c ---- */
void *exchange_on_uri(void *listener, const char *uri, struct MHD_Connection *c);
enum MHD_Result exchange_on_request(void *listener, struct MHD_Connection *c, const char *url,
				    const char *method, const char *version, const char *body,
				    size_t *body_len, void **exchange);
void exchange_on_completed(void *listener, struct MHD_Connection *c, void **exchange,
			   enum MHD_RequestTerminationCode how);

/* ---- send.c ---- */
/* Queues the answer of the exchange, and writes the audit. */
enum MHD_Result exchange_send(struct exchange *x);

/* The headers that all answers have. */
void add_common_headers(struct exchange *x, struct MHD_Response *r);

/* ---- streams.c ---- */
struct streams *streams_new(struct http *h);
/* All streams end, so that libmicrohttpd may be stopped. */
void streams_end(struct streams *all);
struct streams *streams_free(struct streams *all); /* NULL is fine; returns NULL */
/* Answers with a stream of events. */
enum MHD_Result streams_begin(struct exchange *x);

/* ---- own.c: endpoints about users (http/own.h) ---- */
/* Lists, makes or revokes tokens: in a thread. */
void own_run_tokens(struct exchange *x);
/*
 * A login form, or its end. LOGIN_OK: it is answered; LOGIN_PENDING: the password is being checked;
 * else the login is to be refused.
 */
enum login_verdict own_answer(struct exchange *x);
/* Answers a login form whose password is right. */
void own_logged_in(struct exchange *x);
/* Is such a request answered without a user? */
bool own_is_open(enum exchange_kind kind);
/* Whether `path` is one of them, and which. */
bool own_find(const char *path, enum rest_entry entry, enum exchange_kind *ret);
