// SPDX-License-Identifier: BSD-2-Clause
/*
 * The agents of the ports: the sender of each request, and its receiver. See agent.h.
 * Not here: long messages (rmpp.c), the way through the fabric (forward.c).
 */
#include "sim/agent.h"

#include <errno.h>

#include "sim/agent_internal.h"
#include "sim/rmpp.h"

#define MAD_MIN 24 /* the common header */

/* A port that programs have open: it has agents, or IsSM, or both. */
struct link {
	uint32_t index;
	uint32_t node;
	uint8_t port;
	bool issm;
	struct agent *agents;
};

/* ---- ports ---- */

/* The port programs may open by this number; NULL: none. */
static struct sim_port *open_port(const struct sim *sim, int node, unsigned port)
{
	struct sim_node *n = sim_node(sim, node);

	if (!n || port > n->nports || node_is_switch(n) != (port == 0))
		return NULL;
	return &n->ports[port];
}

static struct link *link_get(struct sim *sim, uint32_t node, unsigned port)
{
	struct sim_port *p = &sim->nodes[node].ports[port];
	struct link *l;
	uint32_t i;

	if (p->link)
		return sim->links[p->link - 1];
	for (i = 0; i < sim->n_links && sim->links[i]; i++)
		;
	if (i == sim->n_links) {
		GROW(sim->links, i + 1, sim->cap_links);
		sim->n_links++;
	}
	l = xcalloc(1, sizeof(*l));
	l->index = i;
	l->node = node;
	l->port = (uint8_t)port;
	sim->links[i] = l;
	p->link = (uint16_t)(i + 1);
	return l;
}

/* Removes the port from sim.links if no program has it open. */
static void link_put(struct sim *sim, struct link *l)
{
	if (l->agents || l->issm)
		return;
	sim->nodes[l->node].ports[l->port].link = 0;
	sim->links[l->index] = NULL;
	free(l);
}

bool link_is_sm(const struct sim *sim, const struct sim_port *p)
{
	return p->link && sim->links[p->link - 1]->issm;
}

int agent_port_issm(struct sim *sim, int node, unsigned port, bool on)
{
	struct sim_port *p = open_port(sim, node, port);
	struct link *l;
	uint32_t caps;

	if (!p)
		return -ENODEV;
	if (link_is_sm(sim, p) == on)
		return 0;
	l = link_get(sim, (uint32_t)node, port);
	l->issm = on;
	caps = (uint32_t)ib_get(p->info, PI_CAP_MASK);
	ib_put(p->info, PI_CAP_MASK,
	       on ? caps | IB_CAP(IB_CAP_IS_SM) : caps & ~IB_CAP(IB_CAP_IS_SM));
	trap_local_change(sim, (uint32_t)node, port, 0);
	link_put(sim, l);
	return 0;
}

/* ---- senders of requests ---- */

static struct event **find_pending(struct agent *a, uint64_t tid, unsigned class)
{
	struct event **at = &a->pending[tid % PENDING_BUCKETS];

	while (*at &&
	       (ib_get((*at)->mad, SMP_TID) != tid || ib_get((*at)->mad, SMP_CLASS) != class))
		at = &(*at)->next;
	return at;
}

static struct event **pending_of(struct agent *a, const uint8_t *mad)
{
	return find_pending(a, ib_get(mad, SMP_TID), (unsigned)ib_get(mad, SMP_CLASS));
}

int agent_expect(struct agent *a, const struct transport_addr *to, const uint8_t *mad,
		 unsigned timeout_ms, unsigned retries)
{
	struct event **at = pending_of(a, mad);
	struct event *wait;

	if (*at)
		return -EINVAL;
	wait = event_new(a->sim, EV_TIMEOUT);
	memcpy(wait->mad, mad, MAD_SIZE);
	wait->length = MAD_SIZE;
	wait->to = *to;
	wait->owner = a;
	wait->timeout_ms = timeout_ms;
	wait->retries = (uint8_t)MIN(retries, 255u);
	wait->next = NULL;
	*at = wait;
	if (timeout_ms)
		queue_add(a->sim, wait, a->sim->now + timeout_ms * MONO_MS);
	return 0;
}

void agent_wait(struct agent *a, const uint8_t *mad, unsigned timeout_ms)
{
	struct event *wait = *pending_of(a, mad);

	if (!wait)
		return;
	queue_remove(a->sim, wait);
	queue_add(a->sim, wait, a->sim->now + timeout_ms * MONO_MS);
}

static void forget_pending(struct agent *a, struct event **at)
{
	struct event *wait = *at;

	*at = wait->next;
	queue_remove(a->sim, wait);
	event_free(a->sim, wait);
}

void agent_forget(struct agent *a, const uint8_t *mad)
{
	struct event **at = pending_of(a, mad);

	if (*at)
		forget_pending(a, at);
}

static void deliver(struct agent *a, struct transport_event *ev)
{
	a->spec.deliver(a->spec.owner, ev);
}

void link_timeout(struct sim *sim, struct event *wait)
{
	struct agent *a = wait->owner;
	struct transport_event back = {
		.kind = TRANSPORT_RETURNED,
		.error = -ETIMEDOUT,
		.from = wait->to,
		.length = MAD_HEADER_BYTES, /* as the kernel returns it */
	};

	if (wait->retries > 0) {
		wait->retries--;
		queue_add(sim, wait, sim->now + wait->timeout_ms * MONO_MS);
		agent_emit(a, &wait->to, wait->mad, wait->length);
		return;
	}
	memcpy(back.mad, wait->mad, MAD_HEADER_BYTES);
	forget_pending(a, pending_of(a, wait->mad));
	deliver(a, &back);
}

/* ---- what comes ---- */

void agent_accept(struct agent *a, struct event *ev, uint8_t *whole, size_t length)
{
	struct transport_event in = {
		.kind = TRANSPORT_MAD,
		.from = ev->from,
		.length = whole ? length : ev->length,
		.whole = whole,
	};
	bool response = mad_is_response(ev->mad);
	struct event **at = pending_of(a, ev->mad);

	/*
	 * A program that does RMPP by itself sees all segments; the first ends the request (13.6).
	 */
	if (response && *at)
		forget_pending(a, at);
	else if (response && (a->spec.rmpp || !rmpp_is_active(ev->mad))) {
		free(whole);
		event_free(a->sim, ev);
		return;
	}
	if (response && a->sessions)
		rmpp_answered(a, ev->mad);
	memcpy(in.mad, ev->mad, MAD_SIZE);
	event_free(a->sim, ev);
	deliver(a, &in);
}

static bool takes(const struct agent *a, const uint8_t *mad)
{
	unsigned method = (unsigned)ib_get(mad, SMP_METHOD);

	return a->spec.qp <= 1 && a->spec.mgmt_class == ib_get(mad, SMP_CLASS) &&
	       a->spec.class_version == ib_get(mad, SMP_CLASS_VERSION) &&
	       (a->spec.methods[method / 64 & 1] >> method % 64 & 1);
}

static struct agent *agent_of_request(const struct link *l, const struct event *ev)
{
	struct agent *any = NULL;

	for (struct agent *a = l->agents; a; a = a->next) {
		if (ev->to.qp > 1 ? a->spec.qp == ev->to.qp : takes(a, ev->mad))
			return a;
		if (ev->to.qp <= 1 && a->spec.any)
			any = a;
	}
	return any;
}

static struct agent *agent_of_response(const struct link *l, const struct event *ev)
{
	uint64_t number = ib_get(ev->mad, SMP_TID) >> 32;

	for (struct agent *a = l->agents; a; a = a->next)
		if (a->number == number)
			return a;
	return NULL;
}

/* The kernel's answer to a Get or Set that no program takes. */
static void refuse(struct sim *sim, struct event *ev)
{
	unsigned method = (unsigned)ib_get(ev->mad, SMP_METHOD);
	unsigned class = (unsigned)ib_get(ev->mad, SMP_CLASS);

	if ((method != MAD_GET && method != MAD_SET) || class == MAD_CLASS_SMI_DR ||
	    class == MAD_CLASS_SMI_LID) {
		event_free(sim, ev);
		return;
	}
	smp_make_response(ev->mad, MAD_STATUS_BAD_METHOD_ATTR, NULL);
	forward_answer(sim, ev);
}

void link_deliver(struct sim *sim, uint32_t link, struct event *ev)
{
	struct link *l = sim->links[link];
	bool response = mad_is_response(ev->mad);
	struct agent *a = response ? agent_of_response(l, ev) : agent_of_request(l, ev);

	if (a && a->spec.rmpp && rmpp_is_active(ev->mad))
		rmpp_arrive(a, ev);
	else if (a)
		agent_accept(a, ev, NULL, 0);
	else if (!response)
		refuse(sim, ev);
	else
		event_free(sim, ev);
}

/* ---- what goes ---- */

void agent_emit(struct agent *a, const struct transport_addr *to, const uint8_t *mad, size_t length)
{
	struct sim *sim = a->sim;
	struct event *ev = event_new(sim, EV_ARRIVE);
	const struct sim_port *p = &sim->nodes[a->link->node].ports[a->link->port];
	unsigned class = (unsigned)ib_get(mad, SMP_CLASS);

	secret_watch_look(sim, a->link->node, mad, length);
	memcpy(ev->mad, mad, length);
	memset(ev->mad + length, 0, MAD_SIZE - length);
	ev->length = MAD_SIZE;
	ev->dlid = to->lid;
	ev->to = *to;
	ev->from = (struct transport_addr){
		.lid = (lid_t)(ib_get(p->info, PI_LID) | to->path_bits),
		.sl = to->sl,
		.qp = a->spec.qp,
	};
	if (class == MAD_CLASS_SMI_DR || class == MAD_CLASS_SMI_LID) {
		ev->from.qp = 0;
		forward_count(sim, (uint16_t)ib_get(mad, SMP_ATTR_ID),
			  (uint8_t)ib_get(mad, SMP_METHOD));
	} else if (a->spec.qp == 0) {
		ev->from.qp = 1;
	}
	forward_send(sim, ev, a->link->node, a->link->port);
}

/*
 * A directed request begins with an empty return path, and may be LID-routed on a part of its way;
 * a response returns on the way of the request, all of it directed.
 */
static bool is_well_formed(const uint8_t *mad)
{
	unsigned hops = (unsigned)ib_get(mad, SMP_HOP_COUNT);
	bool response = ib_get(mad, SMP_METHOD) & MAD_RESPONSE_BIT;

	if (ib_get(mad, SMP_CLASS) != MAD_CLASS_SMI_DR)
		return true;
	if (hops > IB_MAX_HOPS || ib_get(mad, SMP_DIRECTION) != response)
		return false;
	if (response && (ib_get(mad, SMP_DR_SLID) != LID_PERMISSIVE ||
			 ib_get(mad, SMP_DR_DLID) != LID_PERMISSIVE))
		return false;
	return ib_get(mad, SMP_HOP_POINTER) == (response ? hops + 1 : 0);
}

int agent_send(struct agent *a, const struct transport_addr *to, const uint8_t *mad, size_t length,
	       unsigned timeout_ms, unsigned retries)
{
	uint8_t one[MAD_SIZE] = { 0 };
	int r = 0;

	if (length < MAD_MIN || length > TRANSPORT_MESSAGE_MAX)
		return -EMSGSIZE;
	memcpy(one, mad, MIN(length, (size_t)MAD_SIZE));
	if (!is_well_formed(one))
		return -EINVAL;
	if (!mad_is_response(one))
		ib_put(one, SMP_TID,
		       (uint64_t)a->number << 32 | (ib_get(one, SMP_TID) & UINT32_MAX));
	if (a->spec.rmpp && rmpp_is_active(one))
		return rmpp_send(a, to, &(struct rmpp_message){ one, mad, length }, timeout_ms,
				 retries);
	if (length > MAD_SIZE)
		return -EINVAL;
	if (timeout_ms && !mad_is_response(one))
		r = agent_expect(a, to, one, timeout_ms, retries);
	if (r == 0)
		agent_emit(a, to, one, MAD_SIZE);
	return r;
}

/* ---- open and close ---- */

static int check_spec(const struct link *l, const struct agent_spec *spec)
{
	for (const struct agent *a = l->agents; a; a = a->next) {
		if ((spec->qp > 1 && a->spec.qp == spec->qp) || (spec->any && a->spec.any))
			return -EBUSY;
		if (spec->qp > 1 || a->spec.qp > 1 || a->spec.mgmt_class != spec->mgmt_class)
			continue;
		if (a->spec.class_version == spec->class_version &&
		    ((a->spec.methods[0] & spec->methods[0]) ||
		     (a->spec.methods[1] & spec->methods[1])))
			return -EINVAL;
	}
	return 0;
}

int agent_open(struct sim *sim, int node, unsigned port, const struct agent_spec *spec,
	       struct agent **ret)
{
	struct agent *a;
	struct link *l;
	int r;

	if (!open_port(sim, node, port))
		return -ENODEV;
	l = link_get(sim, (uint32_t)node, port);
	r = check_spec(l, spec);
	if (r < 0) {
		link_put(sim, l);
		return r;
	}
	a = xcalloc(1, sizeof(*a));
	a->sim = sim;
	a->link = l;
	a->spec = *spec;
	a->number = ++sim->last_agent;
	a->next = l->agents;
	l->agents = a;
	*ret = a;
	return 0;
}

struct agent *agent_close(struct agent *a)
{
	struct agent **at;

	if (!a)
		return NULL;
	rmpp_close(a);
	for (unsigned b = 0; b < PENDING_BUCKETS; b++)
		while (a->pending[b])
			forget_pending(a, &a->pending[b]);
	for (at = &a->link->agents; *at != a; at = &(*at)->next)
		;
	*at = a->next;
	link_put(a->sim, a->link);
	free(a);
	return NULL;
}

void links_close(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->n_links; i++) {
		struct link *l = sim->links[i];

		if (l && l->issm)
			agent_port_issm(sim, (int)l->node, l->port, false);
		while ((l = sim->links[i]) && l->agents)
			agent_close(l->agents);
	}
	free(sim->links);
	sim->links = NULL;
	sim->n_links = 0;
}
