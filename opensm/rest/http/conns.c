// SPDX-License-Identifier: BSD-2-Clause
/* Connections: which may come in, and which take too long. */
#include "rest/http/http_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ASK_PATIENCE	 (10 * MONO_S)
#define CROWDED_PATIENCE (2 * MONO_S)
#define KNOWN_PATIENCE	 (60 * MONO_S)
#define BODY_PATIENCE	 (20 * MONO_S)
#define READ_PATIENCE	 (60 * MONO_S)
#define STREAM_PATIENCE	 (30 * MONO_S)

/* ---- addresses ----------------------------------------------------------------------------- */

static void format_v6(const struct in6_addr *in, char shown[64], char network[64])
{
	struct in6_addr net = *in;

	if (IN6_IS_ADDR_V4MAPPED(in)) {
		inet_ntop(AF_INET, &in->s6_addr[12], shown, 64);
		memcpy(network, shown, 64);
		return;
	}
	inet_ntop(AF_INET6, in, shown, 64);
	memset(&net.s6_addr[8], 0, 8);
	inet_ntop(AF_INET6, &net, network, 64);
}

static void format_address(const struct sockaddr *at, char shown[64], char network[64])
{
	memset(shown, 0, 64);
	if (at && at->sa_family == AF_INET6) {
		format_v6(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr, shown,
			  network);
		return;
	}
	if (at && at->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)at)->sin_addr, shown,
			  64);
	else
		snprintf(shown, 64, "unknown");
	memcpy(network, shown, 64);
}

static bool is_crowded(const struct http *h)
{
	return h->n_conns >= h->source.max_connections / 4 * 3;
}

enum MHD_Result conns_may_enter(void *arg, const struct sockaddr *at, socklen_t len)
{
	const struct listener *listener = arg;
	const struct http *h = listener->http;
	unsigned n = 0, limit = h->source.max_per_address;
	char shown[64], network[64];

	format_address(at, shown, network);
	for (const struct conn *g = h->conns; g; g = g->next)
		if (!strcmp(g->network, network))
			n++;
	if (is_crowded(h))
		limit = MAX(limit / 4, 1u);
	return n < limit ? MHD_YES : MHD_NO;
}

/* ---- the list ------------------------------------------------------------------------------ */

static void add_conn(struct listener *listener, struct MHD_Connection *c, void **context)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *at =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct conn *g = xcalloc(1, sizeof(*g));

	*g = (struct conn){ .next = listener->http->conns,
			    .listener = listener,
			    .connection = c,
			    .fd = fd ? fd->connect_fd : -1,
			    .since = http_now(listener->http) };
	format_address(at ? at->client_addr : NULL, g->address, g->network);
	listener->http->conns = g;
	listener->http->n_conns++;
	*context = g;
}

static void forget_conn(struct listener *listener, struct conn *g)
{
	struct conn **at = &listener->http->conns;

	while (*at && *at != g)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = g->next;
	listener->http->n_conns--;
	listener->has_room = true;
	free(g);
}

void conns_on_connection(void *listener, struct MHD_Connection *c, void **context,
			 enum MHD_ConnectionNotificationCode code)
{
	switch (code) {
	case MHD_CONNECTION_NOTIFY_STARTED:
		add_conn(listener, c, context);
		break;
	case MHD_CONNECTION_NOTIFY_CLOSED:
		forget_conn(listener, *context);
		*context = NULL;
		break;
	}
}

struct conn *conn_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *u =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return u ? u->socket_context : NULL;
}

void conn_enter(struct conn *g, enum conn_state state)
{
	g->state = state;
	g->since = http_now(g->listener->http);
}

/* ---- patience ------------------------------------------------------------------------------ */

static mono_t patience_of(const struct conn *g, bool crowded)
{
	switch (g->state) {
	case CONN_ASKING:
		if (crowded)
			return CROWDED_PATIENCE;
		return g->is_known ? KNOWN_PATIENCE : ASK_PATIENCE;
	case CONN_SENDING:
		return BODY_PATIENCE;
	case CONN_STREAM:
		return STREAM_PATIENCE;
	case CONN_READING:
		return g->is_known ? READ_PATIENCE : ASK_PATIENCE;
	case CONN_WAITING:
		break;
	}
	return MONO_NEVER;
}

void conns_close_slow(struct http *h)
{
	mono_t now = http_now(h);
	bool crowded = is_crowded(h);

	for (struct conn *g = h->conns; g; g = g->next)
		if (g->fd >= 0 && now - g->since > patience_of(g, crowded))
			shutdown(g->fd, SHUT_RDWR);
}
