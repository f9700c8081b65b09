// SPDX-License-Identifier: BSD-2-Clause
/* What is left of a fabric when cables and switches fail. */
#pragma once

#include <stdbool.h>

#include "topo/topo.h"
#include "util/mem.h"

struct cut {
	bool *ports;	/* per entry of topo->ports: the cable on it is out (either end says so) */
	bool *switches; /* set if the switch is removed, with all its cables */
	uint32_t n_ports;
};

/* Makes an empty list of damage for `t`. */
struct cut *cut_new(const struct topo *t);
struct cut *cut_free(struct cut *c);
FREEP(cut_free, struct cut)
/* A copy without the parts that are cut; hosts without a cable are kept. One reference. */
struct topo *cut_apply(const struct topo *t, const struct cut *c);
/* Entries of topo->ports of switches; the ports of the last one included. */
uint32_t cut_n_ports(const struct topo *t);
