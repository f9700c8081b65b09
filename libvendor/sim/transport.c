// SPDX-License-Identifier: BSD-2-Clause
/*
 * A port as the manager sees it: requests go out and come back once, others' requests come in.
 * Behaves as the kernel's MAD layer: the upper half of a request's TID becomes the agent's, a
 * response finds its request by TID, a response nobody waits for is dropped.
 */
#include <errno.h>

#include "libvendor/sim/impl.h"

#define PENDING_BUCKETS 1024u
#define INBOX_MAX 200000u /* what the kernel holds for one reader */

struct link {
	struct transport transport;
	struct sim *sim;
	uint32_t index;
	uint32_t node;
	uint8_t port;
	bool issm;
	uint32_t n_inbox;
	struct event *inbox, **inbox_end;
	struct event *pending[PENDING_BUCKETS]; /* EV_TIMEOUT events, in the queue at the same time */
};

static struct link *get_link(struct transport *t)
{
	return (struct link *)t; /* first member */
}

static struct event **find_pending(struct link *l, uint64_t tid, unsigned class)
{
	struct event **at = &l->pending[tid % PENDING_BUCKETS];

	while (*at && (ib_get((*at)->mad, SMP_TID) != tid || ib_get((*at)->mad, SMP_CLASS) != class))
		at = &(*at)->next;
	return at;
}

static void inbox_add(struct link *l, struct event *ev, int error)
{
	if (l->n_inbox == INBOX_MAX) {
		event_free(l->sim, ev);
		return;
	}
	ev->kind = EV_IDLE;
	ev->error = error;
	ev->next = NULL;
	*l->inbox_end = ev;
	l->inbox_end = &ev->next;
	l->n_inbox++;
}

/* Only a response has a request to end; true if it found one. */
static bool end_request(struct link *l, const struct event *response)
{
	struct event **at = find_pending(l, ib_get(response->mad, SMP_TID), (unsigned)ib_get(response->mad, SMP_CLASS));
	struct event *request = *at;

	if (!request)
		return false;
	*at = request->next;
	queue_remove(l->sim, request);
	event_free(l->sim, request);
	return true;
}

void link_deliver(struct sim *sim, uint32_t link, struct event *ev)
{
	struct link *l = link < sim->n_links ? sim->links[link] : NULL;

	if (!l) {
		event_free(sim, ev);
		return;
	}
	if (ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT) {
		if (!end_request(l, ev)) {
			event_free(sim, ev);
			return;
		}
		ib_put(ev->mad, SMP_TID, ib_get(ev->mad, SMP_TID) & UINT32_MAX);
	}
	inbox_add(l, ev, 0);
}

void link_timeout(struct sim *sim, struct event *ev)
{
	struct link *l = sim->links[ev->link];
	struct event **at = find_pending(l, ib_get(ev->mad, SMP_TID), (unsigned)ib_get(ev->mad, SMP_CLASS));

	*at = ev->next;
	ib_put(ev->mad, SMP_TID, ib_get(ev->mad, SMP_TID) & UINT32_MAX);
	inbox_add(l, ev, -ETIMEDOUT);
}

bool link_is_sm(const struct sim *sim, const struct sim_port *p)
{
	return p->link && sim->links[p->link - 1]->issm;
}

static int link_fd(struct transport *t)
{
	return -1;
}

static bool is_request(unsigned method)
{
	return !(method & MAD_RESPONSE_BIT) && method != MAD_TRAP_REPRESS && method != MAD_SEND;
}

/* Remembers the request until its answer or its timeout. -EINVAL: this TID is under way already. */
static int expect_answer(struct link *l, const struct event *ev, unsigned timeout_ms)
{
	struct event **at = find_pending(l, ib_get(ev->mad, SMP_TID), (unsigned)ib_get(ev->mad, SMP_CLASS));
	struct event *wait;

	if (*at)
		return -EINVAL;
	wait = event_new(l->sim, EV_TIMEOUT);
	memcpy(wait->mad, ev->mad, ev->length);
	wait->length = ev->length;
	wait->from = ev->from;
	wait->link = l->index;
	wait->next = NULL;
	*at = wait;
	queue_add(l->sim, wait, l->sim->now + timeout_ms * MONO_MS);
	return 0;
}

/* A request starts its way with an empty route behind it; a response goes back the way it came. */
static bool is_well_formed(const uint8_t *mad)
{
	unsigned hops = (unsigned)ib_get(mad, SMP_HOP_COUNT);
	bool response = ib_get(mad, SMP_METHOD) & MAD_RESPONSE_BIT;

	if (ib_get(mad, SMP_CLASS) != MAD_CLASS_SMI_DR)
		return true;
	if (hops > IB_MAX_HOPS || ib_get(mad, SMP_DIRECTION) != response)
		return false;
	if (ib_get(mad, SMP_DR_SLID) != LID_PERMISSIVE || ib_get(mad, SMP_DR_DLID) != LID_PERMISSIVE)
		return false;
	return ib_get(mad, SMP_HOP_POINTER) == (response ? hops + 1 : 0);
}

static int link_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		     size_t length, unsigned timeout_ms)
{
	struct link *l = get_link(t);
	struct sim_node *n = &l->sim->nodes[l->node];
	struct event *ev;
	unsigned method;
	int r = 0;

	if (length < 24 || length > MAD_SIZE || !is_well_formed(mad))
		return -EINVAL;
	ev = event_new(l->sim, EV_ARRIVE);
	memcpy(ev->mad, mad, length);
	memset(ev->mad + length, 0, MAD_SIZE - length);
	ev->length = length;
	ev->dlid = to->lid;
	ev->from = *to;
	ev->from.lid = (lid_t)ib_get(node_end_port(n, l->port)->info, PI_LID);
	method = (unsigned)ib_get(mad, SMP_METHOD);
	if (is_request(method))
		ib_put(ev->mad, SMP_TID, (uint64_t)(l->index + 1) << 32 | (ib_get(mad, SMP_TID) & UINT32_MAX));
	if (timeout_ms)
		r = expect_answer(l, ev, timeout_ms);
	if (r < 0) {
		event_free(l->sim, ev);
		return r;
	}
	sim_tally(l->sim, (uint16_t)ib_get(mad, SMP_ATTR_ID), (uint8_t)method);
	forward_send(l->sim, ev, l->node, l->port);
	return 0;
}

static int link_receive(struct transport *t, struct transport_event *ret)
{
	struct link *l = get_link(t);
	struct event *ev = l->inbox;

	if (!ev)
		return 0;
	l->inbox = ev->next;
	if (!l->inbox)
		l->inbox_end = &l->inbox;
	l->n_inbox--;
	ret->kind = ev->error ? TRANSPORT_RETURNED : TRANSPORT_MAD;
	ret->error = ev->error;
	ret->from = ev->from;
	ret->length = ev->length;
	memcpy(ret->mad, ev->mad, MAD_SIZE);
	ret->whole = NULL;
	event_free(l->sim, ev);
	return 1;
}

static int link_set_issm(struct transport *t, bool on)
{
	struct link *l = get_link(t);
	struct sim_port *p = &l->sim->nodes[l->node].ports[l->port];
	uint32_t caps = (uint32_t)ib_get(p->info, PI_CAP_MASK);

	if (l->issm == on)
		return 0;
	l->issm = on;
	ib_put(p->info, PI_CAP_MASK, on ? caps | IB_CAP(IB_CAP_IS_SM) : caps & ~IB_CAP(IB_CAP_IS_SM));
	trap_local_change(l->sim, l->node, l->port, 0);
	return 0;
}

static struct transport *link_close(struct transport *t)
{
	struct link *l = get_link(t);
	struct sim *sim = l->sim;

	link_set_issm(t, false);
	sim->nodes[l->node].ports[l->port].link = 0;
	sim->links[l->index] = NULL;
	for (unsigned b = 0; b < PENDING_BUCKETS; b++)
		while (l->pending[b]) {
			struct event *ev = l->pending[b];

			l->pending[b] = ev->next;
			queue_remove(sim, ev);
			event_free(sim, ev);
		}
	while (l->inbox) {
		struct event *ev = l->inbox;

		l->inbox = ev->next;
		event_free(sim, ev);
	}
	free(l);
	return NULL;
}

static const struct transport_ops link_ops = {
	.fd = link_fd,
	.send = link_send,
	.receive = link_receive,
	.set_issm = link_set_issm,
	.close = link_close,
};

struct transport *sim_attach(struct sim *sim, const char *id_or_desc, int port)
{
	int node = sim_find(sim, id_or_desc);
	struct sim_node *n = sim_node(sim, node);
	struct link *l;

	if (!n || port < 0 || port > n->nports || (node_is_switch(n) && port != 0))
		return NULL;
	if (!node_is_switch(n) && port == 0)
		port = 1;
	if (n->ports[port].link)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->transport.ops = &link_ops;
	l->transport.port_guid = n->ports[port].guid;
	l->sim = sim;
	l->node = (uint32_t)node;
	l->port = (uint8_t)port;
	l->inbox_end = &l->inbox;
	l->index = sim->n_links;
	GROW(sim->links, sim->n_links + 1, sim->cap_links);
	sim->links[sim->n_links++] = l;
	n->ports[port].link = (uint16_t)(l->index + 1);
	return &l->transport;
}

bool sim_has_mail(const struct transport *tr)
{
	return ((const struct link *)tr)->inbox;
}

void links_close(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->n_links; i++)
		if (sim->links[i])
			transport_close(&sim->links[i]->transport);
	free(sim->links);
	sim->links = NULL;
	sim->n_links = 0;
}
