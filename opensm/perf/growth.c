// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the counters of a port grew by between two readings, for those that judge links by it. A
 * counter below its last reading was cleared by others: nothing is known of it for this interval,
 * its growth begins anew, and the reset is counted.
 */
#include <assert.h>

#include <string.h>

#include "perf/perf_internal.h"
#include "util/mem.h"

static const struct {
	enum perf_error from;
	enum port_count to;
} errors[] = {
	{ PERF_SYMBOL, PORT_COUNT_SYMBOL_ERRORS },
	{ PERF_LINK_RECOVER, PORT_COUNT_LINK_RECOVERIES },
	{ PERF_LINK_DOWNED, PORT_COUNT_LINK_DOWNED },
	{ PERF_RCV, PORT_COUNT_RCV_ERRORS },
	{ PERF_RCV_REM_PHYS, PORT_COUNT_RCV_REMOTE_PHYSICAL },
	{ PERF_XMIT_DISCARDS, PORT_COUNT_XMIT_DISCARDS },
	{ PERF_XMIT_WAIT, PORT_COUNT_XMIT_WAIT },
};

static const struct {
	enum perf_data from;
	enum port_count to;
} amounts[] = {
	{ PERF_XMIT_DATA, PORT_COUNT_XMIT_DATA },
	{ PERF_RCV_DATA, PORT_COUNT_RCV_DATA },
	{ PERF_XMIT_PKTS, PORT_COUNT_XMIT_PKTS },
	{ PERF_RCV_PKTS, PORT_COUNT_RCV_PKTS },
};

static void grow(struct port_counts *c, enum port_count n, uint64_t before, uint64_t now)
{
	if (now < before) {
		c->reset = true;
		return;
	}
	c->known |= 1u << n;
	c->grown[n] = now - before;
}

void perf_grow_errors(const struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		      bool wide, struct port_counts *c)
{
	const struct perf_past *past = &e->past[port];
	const struct perf_caps *caps = &e->past[e->is_switch ? 0 : port].caps;

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		enum perf_error from = errors[i].from;
		uint32_t bit = 1u << errors[i].to;

		if (from == PERF_XMIT_WAIT && !perf_has_xmit_wait(caps))
			continue;
		if (wide)
			c->wide |= bit;
		else if (perf_error_at_end(from, now[from]))
			c->saturated |= bit;
		if (past->has_errors)
			grow(c, errors[i].to, past->errors[from], now[from]);
	}
}

void perf_grow_data(const struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		    struct port_counts *c)
{
	const struct perf_past *past = &e->past[port];

	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
		enum perf_data from = amounts[i].from;
		uint32_t bit = 1u << amounts[i].to;

		if (e->ports[port].extended)
			c->wide |= bit;
		else if (perf_data_at_end(now[from]))
			c->saturated |= bit;
		if (past->has_data)
			grow(c, amounts[i].to, past->data[from], now[from]);
	}
}

void perf_grow_fec(struct perf_past *past, const struct perf_fec *now, struct port_counts *c)
{
	if (now->at_end)
		c->saturated |= 1u << PORT_COUNT_FEC_CORRECTED | 1u << PORT_COUNT_FEC_UNCORRECTABLE;
	if (past->has_fec) {
		grow(c, PORT_COUNT_FEC_CORRECTED, past->fec.corrected, now->corrected);
		grow(c, PORT_COUNT_FEC_UNCORRECTABLE, past->fec.uncorrectable, now->uncorrectable);
	}
	past->fec = *now;
	past->has_fec = true;
}

static void watch(struct ber_watch *w, const struct perf_past *past, const struct port_counts *c,
		  enum port_count n)
{
	if (port_count_known(c, n) && !(c->saturated & 1u << n))
		ber_watch_add(w, c->grown[n], past->bits, c->interval_us);
}

bool perf_grow_end(struct perf_past *past, struct port_counts *c, mono_t at)
{
	mono_t before = past->read_at;

	assert(at > 0);
	past->read_at = at;
	if (!before || at <= before)
		return false;
	c->interval_us = (uint64_t)(at - before);
	if (c->reset)
		past->resets++;
	watch(&past->symbol, past, c, PORT_COUNT_SYMBOL_ERRORS);
	watch(&past->effective, past, c, PORT_COUNT_FEC_UNCORRECTABLE);
	past->last = *c;
	return true;
}

static void show(struct perf_view *v, enum port_count n, uint64_t value)
{
	v->has |= 1u << n;
	v->shown[n] = value;
}

static void show_counters(struct perf_view *v, const struct perf_past *past)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors) && past->has_errors; i++)
		if (errors[i].from != PERF_XMIT_WAIT || perf_has_xmit_wait(&v->caps))
			show(v, errors[i].to, past->errors[errors[i].from]);
	for (size_t i = 0; i < ARRAY_SIZE(amounts) && past->has_data; i++)
		show(v, amounts[i].to, past->data[amounts[i].from]);
	if (!past->has_fec)
		return;
	show(v, PORT_COUNT_FEC_CORRECTED, past->fec.corrected);
	show(v, PORT_COUNT_FEC_UNCORRECTABLE, past->fec.uncorrectable);
}

bool perf_view_port(const struct perf *p, guid_t guid, unsigned port, struct perf_view *ret)
{
	const struct perf_entry *e = perf_totals_find(&p->totals, guid);
	const struct perf_past *past;

	if (!e || port > e->node.n_ports)
		return false;
	past = &e->past[port];
	*ret = (struct perf_view){
		.node = &e->node,
		.read = past->read_at,
		.caps = e->past[e->is_switch ? 0 : port].caps,
		.read_at = past->read_at,
		.resets = past->resets,
		.bits = past->bits,
		.last = past->last,
		.symbol = past->symbol,
		.effective = past->effective,
		.has_details = { past->has_details[0], past->has_details[1] },
	};
	memcpy(ret->details, past->details, sizeof(ret->details));
	show_counters(ret, past);
	return true;
}
