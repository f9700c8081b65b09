// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport contract over an agent that takes everything that comes to its port, or to a queue
 * pair of its own. What arrived waits here until it is received.
 */
#include <errno.h>

#include "sim/agent_internal.h"

#define INBOX_MAX    200000u /* most MADs that the kernel queues for one reader */
#define RMPP_RETRIES 3	     /* value that libvendor/umad.c passes to the kernel */

struct mail {
	struct mail *next;
	struct transport_event ev;
};

struct simport {
	struct transport transport;
	struct agent *agent;
	struct sim *sim;
	struct simport *next; /* next transport of the same simulator */
	int node;
	unsigned port;
	bool issm;
	unsigned n_inbox;
	struct mail *inbox, **inbox_end;
	struct mail *spare; /* freed mails for reuse */
};

static struct simport *get_simport(struct transport *t)
{
	return (struct simport *)t; /* first member */
}

/* Programs know the low half of their TIDs only; the TID of another program's request is whole. */
static bool is_own(const struct transport_event *ev)
{
	return ev->kind == TRANSPORT_RETURNED || (ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT);
}

static void mask_tid(uint8_t *mad)
{
	ib_put(mad, SMP_TID, ib_get(mad, SMP_TID) & UINT32_MAX);
}

static void on_mail(void *owner, struct transport_event *ev)
{
	struct simport *s = owner;
	struct mail *m = s->spare;
	bool never_back = ev->kind == TRANSPORT_RETURNED && mad_is_response(ev->mad);

	if (s->n_inbox == INBOX_MAX || never_back) {
		free(ev->whole);
		return;
	}
	if (m)
		s->spare = m->next;
	else
		m = xmalloc(sizeof(*m));
	m->ev = *ev;
	m->next = NULL;
	if (is_own(ev)) {
		mask_tid(m->ev.mad);
		if (m->ev.whole)
			mask_tid(m->ev.whole);
	}
	*s->inbox_end = m;
	s->inbox_end = &m->next;
	s->n_inbox++;
}

static int simport_fd(struct transport *t)
{
	return -1;
}

static int simport_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
			size_t length, unsigned timeout_ms)
{
	/* Hardware would drop it at the other end; an error is more useful. */
	if (to->qp == 1 && to->qkey != MAD_QP1_QKEY)
		return -EINVAL;
	return agent_send(get_simport(t)->agent, to, mad, length, timeout_ms,
			  length > MAD_SIZE ? RMPP_RETRIES : 0);
}

static struct mail *take_mail(struct simport *s)
{
	struct mail *m = s->inbox;

	if (!m)
		return NULL;
	s->inbox = m->next;
	if (!s->inbox)
		s->inbox_end = &s->inbox;
	s->n_inbox--;
	return m;
}

static int simport_receive(struct transport *t, struct transport_event *ret)
{
	struct simport *s = get_simport(t);
	struct mail *m = take_mail(s);

	if (!m)
		return 0;
	*ret = m->ev;
	m->next = s->spare;
	s->spare = m;
	return 1;
}

static int simport_set_issm(struct transport *t, bool on)
{
	struct simport *s = get_simport(t);

	if (s->issm == on)
		return 0;
	s->issm = on;
	return agent_port_issm(s->sim, s->node, s->port, on);
}

static int simport_look(struct transport *t, struct transport_port *ret)
{
	const struct simport *s = get_simport(t);
	const uint8_t *info = node_end_port(&s->sim->nodes[s->node], s->port)->info;

	*ret = (struct transport_port){ .lid = (lid_t)ib_get(info, PI_LID),
					.sm_lid = (lid_t)ib_get(info, PI_MASTER_SM_LID),
					.sm_sl = (uint8_t)ib_get(info, PI_MASTER_SM_SL),
					.lmc = (uint8_t)ib_get(info, PI_LMC) };
	ret->gmp_lid = ret->lid;
	ret->gmp_sm_lid = ret->sm_lid;
	return 0;
}

static struct transport *simport_close(struct transport *t)
{
	struct simport *s = get_simport(t), **at;
	struct mail *m;

	simport_set_issm(t, false);
	s->agent = agent_close(s->agent);
	while ((m = take_mail(s))) {
		free(m->ev.whole);
		free(m);
	}
	while ((m = s->spare)) {
		s->spare = m->next;
		free(m);
	}
	for (at = &s->sim->simports; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	free(s);
	return NULL;
}

static const struct transport_ops simport_ops = {
	.fd = simport_fd,
	.send = simport_send,
	.receive = simport_receive,
	.set_issm = simport_set_issm,
	.close = simport_close,
	.look = simport_look,
};

struct transport *sim_attach_qp(struct sim *sim, const char *id_or_desc, int port, uint32_t qp)
{
	int node = sim_find(sim, id_or_desc);
	struct sim_node *n = sim_node(sim, node);
	struct simport *s;
	struct agent_spec spec = { .qp = qp, .any = qp <= 1, .rmpp = true, .deliver = on_mail };

	if (!n || port < 0)
		return NULL;
	if (!node_is_switch(n) && port == 0)
		port = 1;
	s = xcalloc(1, sizeof(*s));
	spec.owner = s;
	if (agent_open(sim, node, (unsigned)port, &spec, &s->agent) < 0) {
		free(s);
		return NULL;
	}
	s->transport.ops = &simport_ops;
	s->transport.port_guid = n->ports[port].guid;
	s->sim = sim;
	s->node = node;
	s->port = (unsigned)port;
	s->inbox_end = &s->inbox;
	s->next = sim->simports;
	sim->simports = s;
	return &s->transport;
}

struct transport *sim_attach(struct sim *sim, const char *id_or_desc, int port)
{
	return sim_attach_qp(sim, id_or_desc, port, 0);
}

bool sim_has_mail(const struct transport *tr)
{
	return ((const struct simport *)tr)->inbox;
}

void simports_close(struct sim *sim)
{
	while (sim->simports)
		transport_close(&sim->simports->transport);
}
