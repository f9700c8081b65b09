// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pairs that have a path, and no service level that comes through: a switch drops what its SL2VL
 * table sends to VL 15 (7.6.6). Where SLs are given a path has one; else it is lost if none gets
 * through.
 */
#include <string.h>

#include "offline/verify.h"
#include "util/mem.h"

#define ALL_SLS 0xFFFF

/* The SLs of `mask` that switch `sw` forwards from port `in` to port `out`. */
static uint16_t pass(const struct sl2vl *l, const struct topo *t, uint32_t sw, unsigned in,
		     unsigned out, uint16_t mask)
{
	uint16_t passed = 0;

	for (uint8_t sl = 0; sl < SL2VL_SLS; sl++)
		if (mask >> sl & 1 && sl2vl_vl(l, t, sw, in, out, sl) != SL2VL_VL_DROP)
			passed |= (uint16_t)(1u << sl);
	return passed;
}

/* Are packets of end ports on `from`, behind port `in`, to `lid` dropped? True: *ret says where. */
static bool is_dropped(const struct routes *r, uint32_t from, unsigned in, lid_t lid, uint32_t at,
		       struct verify_dropped *ret)
{
	const struct topo *t = r->topo;
	int sl = r->lanes->by == SL2VL_BY_NOTHING ? -1 : sl2vl_sl(r->lanes, from, at, lid, 0);
	uint16_t mask = sl < 0 ? ALL_SLS : (uint16_t)(1u << sl);
	uint32_t sw = from;

	for (uint32_t hops = 0; hops <= t->n_switches; hops++) {
		uint8_t out = routes_port(r, sw, lid);

		if (!out || out > t->switches[sw].n_ports)
			return false; /* it is lost, or has arrived */
		mask = pass(r->lanes, t, sw, in, out, mask);
		if (!mask) {
			*ret = (struct verify_dropped){ .to = lid, .from = from, .sw = sw,
							.in = (uint8_t)in,
							.out = out, .sl = sl };
			return true;
		}
		if (topo_port(t, sw, out)->sw == TOPO_NONE)
			return false;
		in = topo_port(t, sw, out)->port;
		sw = topo_port(t, sw, out)->sw;
	}
	return false;
}

/* From all hosts to one LID of an end port. */
static void look_at(struct verify *v, const struct topo_host *to, lid_t lid)
{
	const struct topo *t = v->topo;
	struct verify_dropped *d = &v->dropped, now;

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *from = &t->hosts[h];

		if (from == to || from->sw == TOPO_NONE || !from->lid ||
		    !is_dropped(v->routes, from->sw, from->sw_port, lid, to->sw, &now))
			continue;
		now.n = d->n + 1;
		if (d->n)
			d->n++;
		else
			*d = now;
	}
}

void verify_find_dropped(struct verify *v)
{
	const struct topo *t = v->topo;

	if (!sl2vl_drops(v->routes->lanes, ALL_SLS))
		return;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		TOPO_EACH_LID(&t->hosts[h], lid)
			if (t->hosts[h].sw != TOPO_NONE)
				look_at(v, &t->hosts[h], (lid_t)lid);
	for (uint32_t i = 0; i < t->n_asides; i++)
		TOPO_EACH_LID(&t->asides[i], lid)
			if (t->asides[i].sw != TOPO_NONE)
				look_at(v, &t->asides[i], (lid_t)lid);
}
