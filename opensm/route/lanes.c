// SPDX-License-Identifier: BSD-2-Clause
/* The container of a lane scheme. Which path gets which lane is decided by engines. */
#include "route/lanes.h"

#include <string.h>

#include "util/mem.h"

size_t lanes_n_sl(const struct lanes *l)
{
	switch (l->by) {
	case LANES_BY_NOTHING:
		return 0;
	case LANES_BY_LID:
		return l->row_size;
	case LANES_BY_SWITCHES:
		return (size_t)l->n_switches * l->n_switches;
	case LANES_BY_SWITCH_LID:
		return (size_t)l->n_switches * l->row_size;
	}
	return 0;
}

struct lanes *lanes_new(const struct topo *t, unsigned n_vls, enum lanes_by by, uint32_t row_size,
			unsigned n_classes)
{
	struct lanes *l = xcalloc(1, sizeof(*l));

	*l = (struct lanes){
		.n_vls = (uint8_t)n_vls, .by = by, .n_switches = t->n_switches,
		.row_size = row_size, .n_classes = n_classes,
		.sl_mask = by == LANES_BY_NOTHING ? 0 : LANES_SLS - 1,
	};
	if (by != LANES_BY_NOTHING)
		l->sl = xcalloc(MAX(lanes_n_sl(l), 1u), sizeof(*l->sl));
	l->vl = xcalloc((size_t)n_classes * n_classes * LANES_SLS, sizeof(*l->vl));
	for (size_t i = 0; i < (size_t)n_classes * n_classes * LANES_SLS; i++)
		l->vl[i] = (uint8_t)(i % LANES_SLS % n_vls);
	for (unsigned sl = 0; sl < LANES_SLS; sl++)
		l->host_vl[sl] = (uint8_t)(sl % n_vls);
	return l;
}

static size_t count_ports(const struct topo *t)
{
	size_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	return n;
}

struct lanes *lanes_copy(const struct topo *t, const struct lanes *l, uint32_t row_size)
{
	struct lanes *ret = lanes_new(t, l->n_vls, l->by, row_size, l->n_classes);
	uint32_t old = l->by == LANES_BY_SWITCHES ? l->n_switches : l->row_size;
	uint32_t new = l->by == LANES_BY_SWITCHES ? l->n_switches : row_size;
	uint32_t rows = l->by == LANES_BY_NOTHING ? 0 : l->by == LANES_BY_LID ? 1 : l->n_switches;

	ret->n_needed = l->n_needed;
	ret->sl_mask = l->sl_mask;
	ret->mcast_mask_zero = l->mcast_mask_zero;
	for (uint32_t i = 0; i < rows; i++)
		memcpy(ret->sl + (size_t)i * new, l->sl + (size_t)i * old, MIN(old, new));
	if (l->class_of)
		ret->class_of = xmemdup(l->class_of, count_ports(t));
	memcpy(ret->vl, l->vl, (size_t)l->n_classes * l->n_classes * LANES_SLS);
	memcpy(ret->host_vl, l->host_vl, sizeof(ret->host_vl));
	return ret;
}

struct lanes *lanes_free(struct lanes *l)
{
	if (!l)
		return NULL;
	free(l->sl);
	free(l->class_of);
	free(l->vl);
	free(l);
	return NULL;
}

void lanes_freep(struct lanes **l)
{
	*l = lanes_free(*l);
}

size_t lanes_bytes(const struct lanes *l)
{
	return l ? sizeof(*l) + lanes_n_sl(l) + (size_t)l->n_classes * l->n_classes * LANES_SLS : 0;
}

uint8_t lanes_sl(const struct lanes *l, uint32_t src, uint32_t dst, lid_t lid, uint8_t wish)
{
	uint8_t sl = 0;

	if (!l || l->by == LANES_BY_NOTHING)
		return wish;
	switch (l->by) {
	case LANES_BY_NOTHING:
		return wish;
	case LANES_BY_LID:
		sl = lid < l->row_size ? l->sl[lid] : 0;
		break;
	case LANES_BY_SWITCHES:
		if (src < l->n_switches && dst < l->n_switches)
			sl = l->sl[(size_t)src * l->n_switches + dst];
		break;
	case LANES_BY_SWITCH_LID:
		if (src < l->n_switches && lid < l->row_size)
			sl = l->sl[(size_t)src * l->row_size + lid];
		break;
	}
	return (uint8_t)((sl & l->sl_mask) | (wish & ~l->sl_mask));
}

unsigned lanes_available(const struct topo *t)
{
	unsigned least = LANES_VLS_MAX;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			const struct topo_port *port = topo_port(t, s, p);

			if (port->sw != TOPO_NONE)
				least = MIN(least, MAX((unsigned)port->vls, 1u));
		}
	return least;
}
