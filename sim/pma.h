// SPDX-License-Identifier: BSD-2-Clause
/*
 * The performance agent every port has (IBA 16.1): ClassPortInfo, PortCounters and its extension,
 * details of errors and discards, FEC.
 */
#pragma once

#include "sim/sim.h"

struct event;
struct sim_port;

/* Is this MAD a request to the performance agent? */
bool pma_answers(const uint8_t *mad);
void pma_arrive(struct sim *sim, struct event *ev); /* takes ev */
void pma_count(struct sim_port *p, enum sim_counter which, uint64_t n);
/* Clears all counters of the port. */
void pma_reset(struct sim_port *p);
