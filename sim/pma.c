// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters of ports and the agent that answers for them. Counters stop at what their field can show
 * (16.1.3.5) and exist only where something was counted. Not here: what is counted; links falling
 * and MADs tell, tests set the rest.
 */
#include "sim/pma.h"

#include <errno.h>

#include "ib/records.h"
#include "sim/sim_internal.h"

#define ALL_PORTS	   0xFF
#define PERF_CLASS_VERSION 1
/* AllPortSelect, ExtendedWidth, PortXmitWait (16.1.3.1). */
#define PERF_CAP_MASK	   0x1300
#define PERF_RESP_TIME	   16

enum perf_attr {
	PERF_CLASS_PORT_INFO = 0x0001,
	PERF_PORT_COUNTERS = 0x0012,
	PERF_PORT_COUNTERS_EXT = 0x001D
};

/* 16.1.3.5 */
#define PORT_COUNTERS_LIST(F)                                                                      \
	F(PC, RSV0, 8) F(PC, PORT_SELECT, 8) F(PC, COUNTER_SELECT, 16) F(PC, SYMBOL_ERRORS, 16)   \
	F(PC, LINK_RECOVERIES, 8) F(PC, LINK_DOWNED, 8) F(PC, RCV_ERRORS, 16)                     \
	F(PC, RCV_REMOTE_ERRORS, 16) F(PC, RCV_RELAY_ERRORS, 16) F(PC, XMIT_DISCARDS, 16)         \
	F(PC, XMIT_CONSTRAINTS, 8) F(PC, RCV_CONSTRAINTS, 8) F(PC, COUNTER_SELECT2, 8)            \
	F(PC, LINK_INTEGRITY, 4) F(PC, BUFFER_OVERRUNS, 4) F(PC, QP1_DROPPED, 16)                 \
	F(PC, VL15_DROPPED, 16) F(PC, XMIT_DATA, 32) F(PC, RCV_DATA, 32) F(PC, XMIT_PACKETS, 32)  \
	F(PC, RCV_PACKETS, 32) F(PC, XMIT_WAIT, 32)
IB_LAYOUT_ENUM(PC, PORT_COUNTERS_LIST)

/* 16.1.4.11 */
#define PORT_COUNTERS_EXT_LIST(F)                                                                  \
	F(PCX, RSV0, 8)                                                                            \
	F(PCX, PORT_SELECT, 8) F(PCX, COUNTER_SELECT, 16) F(PCX, RSV1, 32) F(PCX, XMIT_DATA, 64)   \
		F(PCX, RCV_DATA, 64) F(PCX, XMIT_PACKETS, 64) F(PCX, RCV_PACKETS, 64)              \
			F(PCX, UNICAST_XMIT, 64) F(PCX, UNICAST_RCV, 64)                           \
				F(PCX, MULTICAST_XMIT, 64) F(PCX, MULTICAST_RCV, 64)
IB_LAYOUT_ENUM(PCX, PORT_COUNTERS_EXT_LIST)

_Static_assert(PC_BYTES == 44 && PCX_BYTES == 72, "16.1.3.5, 16.1.4.11");

struct row {
	struct ib_field field;
	enum sim_counter counter;
	/* bit of CounterSelect that lets a Set change it; 16 and up: CounterSelect2 */
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
};

static const struct row extended[] = {
	ROW(PCX_XMIT_DATA, SIM_XMIT_DATA, 0),	    ROW(PCX_RCV_DATA, SIM_RCV_DATA, 1),
	ROW(PCX_XMIT_PACKETS, SIM_XMIT_PACKETS, 2), ROW(PCX_RCV_PACKETS, SIM_RCV_PACKETS, 3),
	ROW(PCX_UNICAST_XMIT, SIM_XMIT_PACKETS, 4), ROW(PCX_UNICAST_RCV, SIM_RCV_PACKETS, 5),
};

void pma_count(struct sim_port *p, enum sim_counter which, uint64_t n)
{
	if (!p->counters)
		p->counters = xcalloc(SIM_COUNTERS, sizeof(*p->counters));
	p->counters[which] += n;
}

void pma_reset(struct sim_port *p)
{
	free(p->counters);
	p->counters = NULL;
}

int sim_count_errors(struct sim *sim, int node, unsigned port, enum sim_counter which, uint64_t n)
{
	struct sim_node *at = sim_node(sim, node);

	if (!at || port > at->nports || which >= SIM_COUNTERS)
		return -EINVAL;
	pma_count(&at->ports[port], which, n);
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

static uint64_t sum(const struct sim_node *n, unsigned first, unsigned last, enum sim_counter which)
{
	uint64_t v = 0;

	for (unsigned p = first; p <= last; p++)
		v += n->ports[p].counters ? n->ports[p].counters[which] : 0;
	return v;
}

static void write_counters(struct sim_node *n, unsigned first, unsigned last, const struct row *row,
			   uint64_t v)
{
	for (unsigned p = first; p <= last; p++)
		if (n->ports[p].counters || v) {
			pma_count(&n->ports[p], row->counter, 0);
			n->ports[p].counters[row->counter] = v;
		}
}

/* Both attributes begin alike: port, then which counters a Set means. */
static uint16_t counters(struct sim_node *n, uint8_t *payload, bool set, const struct row *rows,
			 size_t n_rows)
{
	unsigned port = (unsigned)ib_get(payload, PC_PORT_SELECT), first = port, last = port;
	uint64_t select = ib_get(payload, PC_COUNTER_SELECT);

	if (rows == basic)
		select |= ib_get(payload, PC_COUNTER_SELECT2) << 16;
	if (port == ALL_PORTS) {
		first = 1;
		last = n->nports;
	}
	if (last > n->nports || (!node_is_switch(n) && first == 0))
		return MAD_STATUS_BAD_VALUE;
	for (size_t i = 0; i < n_rows; i++) {
		const struct ib_field *f = &rows[i].field;

		if (set && (select >> rows[i].select & 1))
			write_counters(n, first, last, &rows[i],
				       ib_bits_get(payload, f->offset, f->width));
		ib_bits_put(payload, f->offset, f->width,
			    MIN(sum(n, first, last, rows[i].counter), most(f->width)));
	}
	return 0;
}

static uint16_t class_port_info(uint8_t *payload)
{
	memset(payload, 0, SMP_DATA_SIZE);
	ib_put(payload, CPI_BASE_VERSION, 1);
	ib_put(payload, CPI_CLASS_VERSION, PERF_CLASS_VERSION);
	ib_put(payload, CPI_CAP_MASK, PERF_CAP_MASK);
	ib_put(payload, CPI_RESP_TIME, PERF_RESP_TIME);
	return 0;
}

static uint16_t answer(struct sim_node *n, uint8_t *mad)
{
	bool set = ib_get(mad, SMP_METHOD) == MAD_SET;
	uint8_t *payload = mad + SMP_DATA;

	if (ib_get(mad, SMP_BASE_VERSION) != 1 ||
	    ib_get(mad, SMP_CLASS_VERSION) != PERF_CLASS_VERSION)
		return MAD_STATUS_BAD_VERSION;
	switch (ib_get(mad, SMP_ATTR_ID)) {
	case PERF_CLASS_PORT_INFO:
		return set ? MAD_STATUS_BAD_METHOD_ATTR : class_port_info(payload);
	case PERF_PORT_COUNTERS:
		return counters(n, payload, set, basic, ARRAY_SIZE(basic));
	case PERF_PORT_COUNTERS_EXT:
		return counters(n, payload, set, extended, ARRAY_SIZE(extended));
	default:
		return MAD_STATUS_BAD_METHOD_ATTR;
	}
}

void pma_arrive(struct sim *sim, struct event *ev)
{
	smp_make_response(ev->mad, answer(&sim->nodes[ev->node], ev->mad), NULL);
	gmp_answer(sim, ev);
}
