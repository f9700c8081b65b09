// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters of ports and the agent that answers for them. Counters stop at what their field can show
 * (16.1.3.5) and exist only where something was counted. Not here: what is counted; links falling
 * and MADs tell, tests set the rest.
 */
#include "sim/pma.h"

#include <errno.h>

#include "ib/pm.h"
#include "ib/records.h"
#include "sim/sim_internal.h"

#define PERF_CLASS_VERSION 1
#define PERF_RESP_TIME	   16

/* Counters of one port. */
struct sim_tally {
	uint64_t n[SIM_COUNTERS];     /* counts since the device started, up to `since` */
	/* part of the counts that was removed by Sets of fields below 64 bits */
	uint64_t hidden[SIM_COUNTERS];
	uint64_t rate[SIM_COUNTERS];  /* more of them per second */
	mono_t since[SIM_COUNTERS];
};

struct row {
	struct ib_field field;
	enum sim_counter counter;
	/* bit of `struct select` that lets a Set change it */
	uint8_t select;
};

#define ROW(f, counter, bit) { { #f, f, f##_W }, counter, bit }

static const struct row basic[] = {
	ROW(PC_SYMBOL_ERRORS, SIM_SYMBOL_ERRORS, 0),
	ROW(PC_LINK_RECOVERIES, SIM_LINK_RECOVERIES, 1),
	ROW(PC_LINK_DOWNED, SIM_LINK_DOWNED, 2),
	ROW(PC_RCV_ERRORS, SIM_RCV_ERRORS, 3),
	ROW(PC_RCV_REMOTE_ERRORS, SIM_RCV_REMOTE_ERRORS, 4),
	ROW(PC_RCV_RELAY_ERRORS, SIM_RCV_RELAY_ERRORS, 5),
	ROW(PC_XMIT_DISCARDS, SIM_XMIT_DISCARDS, 6),
	ROW(PC_XMIT_CONSTRAINTS, SIM_XMIT_CONSTRAINTS, 7),
	ROW(PC_RCV_CONSTRAINTS, SIM_RCV_CONSTRAINTS, 8),
	ROW(PC_LINK_INTEGRITY, SIM_LINK_INTEGRITY, 9),
	ROW(PC_BUFFER_OVERRUNS, SIM_BUFFER_OVERRUNS, 10),
	ROW(PC_VL15_DROPPED, SIM_VL15_DROPPED, 11),
	ROW(PC_XMIT_DATA, SIM_XMIT_DATA, 12),
	ROW(PC_RCV_DATA, SIM_RCV_DATA, 13),
	ROW(PC_XMIT_PACKETS, SIM_XMIT_PACKETS, 14),
	ROW(PC_RCV_PACKETS, SIM_RCV_PACKETS, 15),
	ROW(PC_XMIT_WAIT, SIM_XMIT_WAIT, 16),
	ROW(PC_QP1_DROPPED, SIM_QP1_DROPPED, 17),
};

/* The first BASIC_EXTENDED are there without PM_CAP2_EXT_ERRORS. */
#define BASIC_EXTENDED 6
static const struct row extended[] = {
	ROW(PCX_XMIT_DATA, SIM_XMIT_DATA, 0),
	ROW(PCX_RCV_DATA, SIM_RCV_DATA, 1),
	ROW(PCX_XMIT_PACKETS, SIM_XMIT_PACKETS, 2),
	ROW(PCX_RCV_PACKETS, SIM_RCV_PACKETS, 3),
	ROW(PCX_UNICAST_XMIT, SIM_XMIT_PACKETS, 4),
	ROW(PCX_UNICAST_RCV, SIM_RCV_PACKETS, 5),
	ROW(PCX_SYMBOL_ERRORS, SIM_SYMBOL_ERRORS, 16),
	ROW(PCX_LINK_RECOVERIES, SIM_LINK_RECOVERIES, 17),
	ROW(PCX_LINK_DOWNED, SIM_LINK_DOWNED, 18),
	ROW(PCX_RCV_ERRORS, SIM_RCV_ERRORS, 19),
	ROW(PCX_RCV_REMOTE_ERRORS, SIM_RCV_REMOTE_ERRORS, 20),
	ROW(PCX_RCV_RELAY_ERRORS, SIM_RCV_RELAY_ERRORS, 21),
	ROW(PCX_XMIT_DISCARDS, SIM_XMIT_DISCARDS, 22),
	ROW(PCX_XMIT_CONSTRAINTS, SIM_XMIT_CONSTRAINTS, 23),
	ROW(PCX_RCV_CONSTRAINTS, SIM_RCV_CONSTRAINTS, 24),
	ROW(PCX_LINK_INTEGRITY, SIM_LINK_INTEGRITY, 25),
	ROW(PCX_BUFFER_OVERRUNS, SIM_BUFFER_OVERRUNS, 26),
	ROW(PCX_VL15_DROPPED, SIM_VL15_DROPPED, 27),
	ROW(PCX_XMIT_WAIT, SIM_XMIT_WAIT, 28),
	ROW(PCX_QP1_DROPPED, SIM_QP1_DROPPED, 29),
};

static const struct row rcv_details[] = {
	ROW(PRE_LOCAL_PHYSICAL, SIM_RCV_LOCAL_PHYSICAL, 0),
	ROW(PRE_MALFORMED, SIM_RCV_MALFORMED, 1),
	ROW(PRE_BUFFER_OVERRUN, SIM_RCV_BUFFER_OVERRUN, 2),
	ROW(PRE_DLID_MAPPING, SIM_RCV_DLID_MAPPING, 3),
	ROW(PRE_VL_MAPPING, SIM_RCV_VL_MAPPING, 4),
	ROW(PRE_LOOPING, SIM_RCV_LOOPING, 5),
};

static const struct row xmit_details[] = {
	ROW(PXD_INACTIVE, SIM_DISCARDS_INACTIVE, 0),
	ROW(PXD_NEIGHBOR_MTU, SIM_DISCARDS_MTU, 1),
	ROW(PXD_LIFETIME, SIM_DISCARDS_LIFETIME, 2),
	ROW(PXD_HOQ_LIFETIME, SIM_DISCARDS_HOQ, 3),
};

/* RS-FEC: the symbols of all lanes are shown as those of the first. */
static const struct row speeds[] = {
	ROW(PES_SYNC_ERRORS, SIM_SYNC_ERRORS, 0),
	{ { "CORRECTED", PES_CORRECTED, 32 }, SIM_FEC_CORRECTED, 14 },
	ROW(PES_PORT_UNCORRECTABLE, SIM_FEC_UNCORRECTABLE, 39),
};

/*
 * Attributes: positions of the bits of CounterSelect, and counters that follow them from bit
 * `next`.
 */
static const struct attr {
	uint16_t id;
	const struct row *rows;
	uint8_t n_rows;
	struct ib_field select, more;
	uint8_t next;
} attrs[] = {
	{ PM_PORT_COUNTERS, basic, ARRAY_SIZE(basic),
	  { "", PC_COUNTER_SELECT, PC_COUNTER_SELECT_W },
	  { "", PC_COUNTER_SELECT2, PC_COUNTER_SELECT2_W }, 16 },
	{ PM_PORT_COUNTERS_EXT, extended, ARRAY_SIZE(extended),
	  { "", PCX_COUNTER_SELECT, PCX_COUNTER_SELECT_W },
	  { "", PCX_COUNTER_SELECT2, PCX_COUNTER_SELECT2_W }, 16 },
	{ PM_PORT_RCV_ERROR_DETAILS, rcv_details, ARRAY_SIZE(rcv_details),
	  { "", PRE_COUNTER_SELECT, PRE_COUNTER_SELECT_W }, { 0 }, 0 },
	{ PM_PORT_XMIT_DISCARD_DETAILS, xmit_details, ARRAY_SIZE(xmit_details),
	  { "", PXD_COUNTER_SELECT, PXD_COUNTER_SELECT_W }, { 0 }, 0 },
	{ PM_PORT_EXT_SPEEDS, speeds, ARRAY_SIZE(speeds),
	  { "", PES_COUNTER_SELECT, PES_COUNTER_SELECT_W }, { 0 }, 0 },
};

/* CapabilityMask, CapabilityMask2 and how many of attrs[] there are. */
static const struct kind {
	uint16_t caps;
	uint8_t caps2, n_attrs;
} kinds[] = {
	[SIM_PMA_EXTENDED] = { PM_CAP_ALL_PORTS | PM_CAP_EXT_WIDTH | PM_CAP_XMIT_WAIT, 0, 4 },
	[SIM_PMA_BASIC] = { 0, 0, 1 },
	[SIM_PMA_WIDE] = { PM_CAP_ALL_PORTS | PM_CAP_EXT_WIDTH | PM_CAP_XMIT_WAIT | PM_CAP_RS_FEC |
				   PM_CAP_QP1_DROPPED,
			   PM_CAP2_EXT_ERRORS, 5 },
	[SIM_PMA_SILENT] = { 0, 0, 0 },
};

static struct sim_tally *tally(struct sim_port *p)
{
	if (!p->tally)
		p->tally = xcalloc(1, sizeof(*p->tally));
	return p->tally;
}

void pma_count(struct sim_port *p, enum sim_counter which, uint64_t n)
{
	tally(p)->n[which] += n;
}

void pma_reset(struct sim_port *p)
{
	free(p->tally);
	p->tally = NULL;
}

static struct sim_port *port_at(struct sim *sim, int node, unsigned port)
{
	struct sim_node *at = sim_node(sim, node);

	return at && port <= at->nports ? &at->ports[port] : NULL;
}

int sim_count_errors(struct sim *sim, int node, unsigned port, enum sim_counter which, uint64_t n)
{
	struct sim_port *p = port_at(sim, node, port);

	if (!p || which >= SIM_COUNTERS)
		return -EINVAL;
	pma_count(p, which, n);
	return 0;
}

/* The count up to now. */
static uint64_t counted(const struct sim_tally *t, enum sim_counter which, mono_t now)
{
	return t->n[which] +
	       t->rate[which] * (uint64_t)(now - t->since[which]) / (uint64_t)MONO_S;
}

int sim_set_rate(struct sim *sim, int node, unsigned port, enum sim_counter which, uint64_t per_s)
{
	struct sim_port *p = port_at(sim, node, port);
	struct sim_tally *t;

	if (!p || which >= SIM_COUNTERS)
		return -EINVAL;
	t = tally(p);
	t->n[which] = counted(t, which, sim->now);
	t->since[which] = sim->now;
	t->rate[which] = per_s;
	return 0;
}

int sim_clear_counters(struct sim *sim, int node, unsigned port)
{
	struct sim_port *p = port_at(sim, node, port);

	if (!p)
		return -EINVAL;
	for (unsigned i = 0; p->tally && i < SIM_COUNTERS; i++) {
		p->tally->n[i] = p->tally->hidden[i] = 0;
		p->tally->since[i] = sim->now;
	}
	return 0;
}

int sim_set_pma(struct sim *sim, int node, enum sim_pma kind)
{
	struct sim_node *at = sim_node(sim, node);

	if (!at || kind >= ARRAY_SIZE(kinds))
		return -EINVAL;
	at->pma = (uint8_t)kind;
	return 0;
}

int sim_count_pkey_violations(struct sim *sim, int node, unsigned port, unsigned n)
{
	struct sim_node *at = sim_node(sim, node);
	uint64_t count;

	if (!at || port > at->nports)
		return -EINVAL;
	count = ib_get(at->ports[port].info, PI_P_KEY_VIOLATIONS) + n;
	ib_put(at->ports[port].info, PI_P_KEY_VIOLATIONS, MIN(count, (uint64_t)UINT16_MAX));
	return 0;
}

bool pma_answers(const uint8_t *mad)
{
	uint64_t method = ib_get(mad, SMP_METHOD);

	return ib_get(mad, SMP_CLASS) == MAD_CLASS_PERF && (method == MAD_GET || method == MAD_SET);
}

static uint64_t most(unsigned width)
{
	return width == 64 ? UINT64_MAX : (1ull << width) - 1;
}

struct ports {
	struct sim_port *ports;
	unsigned first, last;
	mono_t now;
};

/* A field of 64 bits shows all that was counted, a smaller one what no Set took away. */
static uint64_t sum(const struct ports *ps, const struct row *row)
{
	uint64_t v = 0;

	for (unsigned p = ps->first; p <= ps->last; p++) {
		const struct sim_tally *t = ps->ports[p].tally;

		if (t)
			v += counted(t, row->counter, ps->now) -
			     (row->field.width == 64 ? 0 : t->hidden[row->counter]);
	}
	return v;
}

/* The two kinds of fields are registers of their own: a Set of one leaves the other. */
static void write_counters(const struct ports *ps, const struct row *row, uint64_t v)
{
	unsigned c = row->counter;

	for (unsigned p = ps->first; p <= ps->last; p++) {
		struct sim_tally *t = tally(&ps->ports[p]);
		uint64_t n = counted(t, c, ps->now);

		if (row->field.width < 64) {
			t->hidden[c] = n - v;
			continue;
		}
		t->hidden[c] += v - n;
		t->n[c] = v;
		t->since[c] = ps->now;
	}
}

static uint64_t selected(const struct attr *a, const uint8_t *payload)
{
	uint64_t select = ib_bits_get(payload, a->select.offset, a->select.width);

	if (a->next)
		select |= ib_bits_get(payload, a->more.offset, a->more.width) << a->next;
	return select;
}

/* All counter attributes begin with the port, then the counters that a Set clears. */
static uint16_t counters(struct sim_node *n, uint8_t *payload, bool set, const struct attr *a,
			 mono_t now)
{
	unsigned port = (unsigned)ib_get(payload, PC_PORT_SELECT);
	struct ports ps = { n->ports, port, port, now };
	bool narrow = a->rows == extended && !(kinds[n->pma].caps2 & PM_CAP2_EXT_ERRORS);
	uint64_t select = selected(a, payload);

	if (port == PM_SELECT_ALL_PORTS) {
		ps.first = 1;
		ps.last = n->nports;
	}
	if (ps.last > n->nports || (!node_is_switch(n) && ps.first == 0))
		return MAD_STATUS_BAD_VALUE;
	for (size_t i = 0; i < (narrow ? BASIC_EXTENDED : a->n_rows); i++) {
		const struct row *row = &a->rows[i];
		const struct ib_field *f = &row->field;

		if (set && (select >> row->select & 1))
			write_counters(&ps, row, ib_bits_get(payload, f->offset, f->width));
		ib_bits_put(payload, f->offset, f->width, MIN(sum(&ps, row), most(f->width)));
	}
	return 0;
}

static uint16_t class_port_info(const struct sim_node *n, uint8_t *payload)
{
	memset(payload, 0, SMP_DATA_SIZE);
	ib_put(payload, CPI_BASE_VERSION, 1);
	ib_put(payload, CPI_CLASS_VERSION, PERF_CLASS_VERSION);
	ib_put(payload, CPI_CAP_MASK, kinds[n->pma].caps);
	ib_put(payload, CPI_CAP_MASK2, kinds[n->pma].caps2);
	ib_put(payload, CPI_RESP_TIME, PERF_RESP_TIME);
	return 0;
}

static uint16_t answer(struct sim_node *n, uint8_t *mad, mono_t now)
{
	bool set = ib_get(mad, SMP_METHOD) == MAD_SET;
	uint8_t *payload = mad + SMP_DATA;

	if (ib_get(mad, SMP_BASE_VERSION) != 1 ||
	    ib_get(mad, SMP_CLASS_VERSION) != PERF_CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	if (ib_get(mad, SMP_ATTR_ID) == PM_CLASS_PORT_INFO && !set)
		return class_port_info(n, payload);
	for (size_t i = 0; i < kinds[n->pma].n_attrs; i++)
		if (attrs[i].id == ib_get(mad, SMP_ATTR_ID))
			return counters(n, payload, set, &attrs[i], now);
	return MAD_STATUS_BAD_METHOD_ATTR;
}

void pma_arrive(struct sim *sim, struct event *ev)
{
	struct sim_node *n = &sim->nodes[ev->node];

	if (n->pma == SIM_PMA_SILENT) {
		event_free(sim, ev);
		return;
	}
	smp_make_response(ev->mad, answer(n, ev->mad, sim->now), NULL);
	forward_answer(sim, ev);
}
