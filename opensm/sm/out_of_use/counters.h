// SPDX-License-Identifier: BSD-2-Clause
/* Reads counters of switch ports by GMPs of class PerfMgt. */
#pragma once

#include "sm/sm.h"

#define PERF_COUNTERS	  0x0012
#define PERF_COUNTERS_EXT 0x001D

struct counters_ask;

/*
 * Called once at the end of each question that counters_get() has sent; `ev` NULL: no valid answer.
 */
typedef void counters_fn(struct sm *sm, const struct counters_ask *ask,
			 const struct transport_event *ev);

struct counters_ask {
	uint32_t tid;  /* transaction ID; 0: free */
	uint16_t attr; /* PERF_COUNTERS, PERF_COUNTERS_EXT */
	lid_t lid;     /* LID of the switch that was asked */
	uint8_t asked; /* port number in the question */
	guid_t node;   /* node and port: the caller's, for `done` */
	uint8_t port;
	counters_fn *done;
};

/* Room for the questions under way, which the caller frees. */
struct counters_ask *counters_new(void);
unsigned counters_free(const struct sm *sm);
/* Asks the switch of `p` for counters of that port. False: it cannot be asked now. */
bool counters_get(struct sm *sm, const struct port *p, const struct counters_ask *ask);
/* Takes a GMP of class PerfMgt, or one that returned unanswered. False: not of these questions. */
bool counters_receive(struct sm *sm, struct transport_event *ev);
