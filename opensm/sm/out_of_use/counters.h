// SPDX-License-Identifier: BSD-2-Clause
/* Counters of switch ports, asked for by GMPs of class PerfMgt. */
#pragma once

#include "sm/sm.h"

#define PERF_COUNTERS	  0x0012
#define PERF_COUNTERS_EXT 0x001D

struct counters_ask;

/*
 * The end of a question, once for each that counters_get() has sent; `ev` NULL: there is no answer,
 * or no good one.
 */
typedef void counters_fn(struct sm *sm, const struct counters_ask *ask,
			 const struct transport_event *ev);

struct counters_ask {
	uint32_t tid;  /* 0: free */
	uint16_t attr; /* PERF_COUNTERS, PERF_COUNTERS_EXT */
	lid_t lid;     /* of the switch that was asked */
	uint8_t asked; /* and the number of its port */
	guid_t node;   /* these two are the caller's, for `done` */
	uint8_t port;
	counters_fn *done;
};

/* Room for the questions that are under way at a time; the caller frees it. */
struct counters_ask *counters_new(void);
unsigned counters_free(const struct sm *sm);
/* The switch of `p` is asked for counters of that port. False: it cannot be asked now. */
bool counters_get(struct sm *sm, const struct port *p, const struct counters_ask *ask);
/* A GMP of class PerfMgt, or one that came back. False: it is about no question of these. */
bool counters_receive(struct sm *sm, struct transport_event *ev);
