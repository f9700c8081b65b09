// SPDX-License-Identifier: BSD-2-Clause
/* Reads the devices themselves, and shares no code with what programmed them. */
#include "tests/lib/lanewalk.h"

#include <string.h>

#include "ib/attrs.h"
#include "util/mem.h"

#define VLS	 16
#define HOPS_MAX 64

struct lanewalk {
	struct sim *sim;
	uint32_t *first; /* by node: channels of port p on VL v are first + p * VLS + v */
	uint32_t n;	 /* channels */
	uint8_t *waits;	 /* n * n bits */
	int *node_of;	 /* by LID; -1 */
	uint8_t *port_of;
	uint16_t vls;
};

struct lanewalk *lanewalk_new(struct sim *sim)
{
	struct lanewalk *w = xcalloc(1, sizeof(*w));
	unsigned n_nodes = sim_n_nodes(sim);

	w->sim = sim;
	w->first = xcalloc(n_nodes, sizeof(*w->first));
	w->node_of = xmalloc((LID_MAX_UCAST + 1u) * sizeof(*w->node_of));
	memset(w->node_of, 0xFF, (LID_MAX_UCAST + 1u) * sizeof(*w->node_of));
	w->port_of = xcalloc(LID_MAX_UCAST + 1u, 1);
	for (unsigned i = 0; i < n_nodes; i++) {
		uint8_t ni[SMP_DATA_SIZE];
		bool is_switch = sim_node_is_switch(sim, (int)i);

		sim_read(sim, (int)i, IB_ATTR_NODE_INFO, 0, ni);
		w->first[i] = w->n;
		w->n += ((uint32_t)ib_get(ni, NI_NUM_PORTS) + 1) * VLS;
		for (unsigned p = is_switch ? 0 : 1;
		     p <= (is_switch ? 0 : ib_get(ni, NI_NUM_PORTS)); p++) {
			lid_t lid = sim_port_lid(sim, (int)i, p);

			w->node_of[lid] = lid ? (int)i : -1;
			w->port_of[lid] = (uint8_t)p;
		}
	}
	w->waits = xcalloc(((size_t)w->n * w->n + 7) / 8, 1);
	return w;
}

struct lanewalk *lanewalk_free(struct lanewalk *w)
{
	if (!w)
		return NULL;
	free(w->first);
	free(w->node_of);
	free(w->port_of);
	free(w->waits);
	free(w);
	return NULL;
}

/* The VL of what leaves `node` by port `out`; VLS: none. */
static unsigned vl_at(struct lanewalk *w, int node, unsigned in, unsigned out, unsigned sl)
{
	static const unsigned vls_of[] = { 0, 1, 2, 4, 8, 15 };
	bool is_switch = sim_node_is_switch(w->sim, node);
	uint8_t row[SMP_DATA_SIZE], info[SMP_DATA_SIZE];
	unsigned vl;

	if (sim_read(w->sim, node, IB_ATTR_SL2VL, is_switch ? in << 8 | out : 0, row) < 0 ||
	    sim_read(w->sim, node, IB_ATTR_PORT_INFO, out, info) < 0)
		return VLS;
	vl = (unsigned)ib_bits_get(row, sl * 4, 4);
	return vl < vls_of[MIN(ib_get(info, PI_OPER_VLS), 5u)] ? vl : VLS;
}

static bool arrives(struct lanewalk *w, int node, lid_t dlid)
{
	return w->node_of[dlid] == node;
}

bool lanewalk_add(struct lanewalk *w, lid_t slid, lid_t dlid, unsigned sl)
{
	int node = w->node_of[slid], next;
	unsigned in = 0, out = w->port_of[slid], at;
	uint32_t held = UINT32_MAX, channel;

	for (unsigned hops = 0; node >= 0 && hops < HOPS_MAX; hops++) {
		unsigned vl = vl_at(w, node, in, out, sl);

		if (vl == VLS || !sim_peer(w->sim, node, out, &next, &at))
			return false;
		channel = w->first[node] + out * VLS + vl;
		if (held != UINT32_MAX) {
			size_t bit = (size_t)held * w->n + channel;

			w->waits[bit / 8] |= (uint8_t)(1u << bit % 8);
		}
		if (sim_node_is_switch(w->sim, node) && sim_node_is_switch(w->sim, next))
			w->vls |= (uint16_t)(1u << vl);
		held = channel;
		if (arrives(w, next, dlid))
			return true;
		if (!sim_node_is_switch(w->sim, next))
			return false;
		node = next;
		in = at;
		out = sim_lft(w->sim, node, dlid);
		if (!out || out == LFT_NO_PORT)
			return false;
	}
	return false;
}

static bool waits(const struct lanewalk *w, uint32_t a, uint32_t b)
{
	size_t bit = (size_t)a * w->n + b;

	return w->waits[bit / 8] >> bit % 8 & 1;
}

/* Channels that wait for none (any more) are taken out, until none is left. */
bool lanewalk_has_cycle(const struct lanewalk *w)
{
	_cleanup_free_ uint32_t *open = xcalloc(w->n + 1, sizeof(*open)),
				*free_ones = xcalloc(w->n + 1, sizeof(*open));
	uint32_t n = 0, left = w->n;

	for (uint32_t a = 0; a < w->n; a++) {
		for (uint32_t b = 0; b < w->n; b++)
			open[a] += waits(w, a, b);
		if (!open[a])
			free_ones[n++] = a;
	}
	while (n) {
		uint32_t b = free_ones[--n];

		left--;
		for (uint32_t a = 0; a < w->n; a++) {
			if (waits(w, a, b) && !--open[a])
				free_ones[n++] = a;
		}
	}
	return left > 0;
}

uint16_t lanewalk_vls(const struct lanewalk *w)
{
	return w->vls;
}
