// SPDX-License-Identifier: BSD-2-Clause
/* How many Sets of SL2VL tables a fabric costs from scratch, for the planner. */
#include <assert.h>
#include <string.h>

#include "plan/slvl.h"
#include "util/mem.h"

/* A row's content by pair of classes, as a number that alike rows share. */
static uint32_t *number_rows(const struct qos_plan *plan, unsigned vls)
{
	unsigned n = qos_n_pairs(plan);
	uint8_t(*rows)[SMP_DATA_SIZE] = xcalloc(n, sizeof(*rows));
	uint32_t *ret = xcalloc(n, sizeof(*ret));

	for (unsigned pair = 0; pair < n; pair++) {
		unsigned like = 0;

		qos_sl2vl(plan, QOS_SWITCH, pair, vls, rows[pair]);
		while (memcmp(rows[like], rows[pair], sizeof(*rows)) != 0)
			like++;
		ret[pair] = like + 1;
	}
	free(rows);
	return ret;
}

/* Ports with a cable, and port 0 as a way in. */
static bool find_ports(const struct topo *t, uint32_t sw, struct slvl_grid *ret)
{
	*ret = (struct slvl_grid){ .n_in = 1 };
	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++) {
		const struct topo_port *port = topo_port(t, sw, p);

		if (port->sw == TOPO_NONE && port->host == TOPO_NONE && !port->aside)
			continue;
		ret->in[ret->n_in++] = (uint8_t)p;
		ret->out[ret->n_out++] = (uint8_t)p;
	}
	return ret->n_out > 0;
}

/* Of a switch of which nothing is known; `row_of` by pair. */
static uint64_t count_switch(const struct qos_plan *plan, uint32_t sw, const uint32_t *row_of,
			     bool wildcards, struct slvl_grid *g)
{
	size_t n_rows = (size_t)g->n_in * g->n_out, n, sum;
	_cleanup_free_ struct slvl_set *sets = xcalloc(n_rows, sizeof(*sets));
	_cleanup_free_ struct slvl_row *rows = xcalloc(n_rows, sizeof(*rows));

	g->rows = rows;
	for (unsigned out = 0; out < g->n_out; out++)
		for (unsigned in = 0; in < g->n_in; in++)
			rows[(size_t)out * g->n_in + in] = (struct slvl_row){
				row_of[qos_pair(plan, sw, g->in[in], g->out[out])], true };
	sum = n = slvl_sets(g, wildcards, sets);
	if (n != 1 || ~sets[0].mod & (SLVL_ALL_IN | SLVL_ALL_OUT))
		return sum;
	/* The exceptions follow. */
	for (size_t i = 0; i < n_rows; i++)
		rows[i].missing = rows[i].want != sets[0].row;
	return sum + slvl_sets(g, wildcards, sets);
}

uint64_t slvl_count(const struct qos_plan *plan, const struct topo *t, bool wildcards)
{
	_cleanup_free_ uint32_t *row_of = NULL;
	uint64_t sum = t->n_hosts + t->n_asides;

	assert(plan && t && (!plan->lanes || plan->topo == t));
	if (!plan->wanted)
		return 0;
	row_of = number_rows(plan, ib_vls_code(sl2vl_available(t)));
	for (uint32_t s = 0; s < t->n_switches; s++) {
		struct slvl_grid g;

		if (find_ports(t, s, &g))
			sum += count_switch(plan, s, row_of, wildcards, &g);
	}
	return sum;
}
