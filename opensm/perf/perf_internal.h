// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of perf/. */
#pragma once

#include "perf/decode.h"
#include "perf/perf.h"
#include "util/guidmap.h"

/* ---- totals.c ---- */

/* State of a port, beside its totals. */
struct perf_past {
	bool has_errors, has_data; /* the two below are readings */
	bool caps_known;
	uint16_t caps;
	struct perf_redirection to;
	uint64_t errors[PERF_ERRORS], data[PERF_DATA]; /* as the port showed them last */
};

struct perf_entry {
	struct perf_node node; /* first */
	struct perf_port *ports;
	struct perf_past *past;
};

struct perf_totals {
	struct perf_entry **entries; /* in rising order of GUID */
	unsigned n, cap;
	struct guidmap *by_guid;
	bool sorted;
};

void perf_totals_init(struct perf_totals *t);
void perf_totals_clear(struct perf_totals *t);
/* The entry of a node, made if there is none; named anew. */
struct perf_entry *perf_totals_meet(struct perf_totals *t, const struct node *n, const char *name,
				    int64_t realtime);
struct perf_entry *perf_totals_find(const struct perf_totals *t, guid_t guid);
void perf_totals_sort(struct perf_totals *t);
/* Forgets nodes that are not active. How many. */
unsigned perf_totals_drop(struct perf_totals *t);
/* A reading; `ret` gets the growth. False: it is the first, from which counting begins. */
bool perf_add_errors(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		     int64_t realtime, uint64_t ret[PERF_ERRORS]);
bool perf_add_data(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		   int64_t realtime, uint64_t ret[PERF_DATA]);
/* Is one of them not 0? print.c */
bool perf_any_error(const uint64_t errors[PERF_ERRORS]);
/* The port's counters were set to zero by us. */
void perf_was_cleared(struct perf_entry *e, uint8_t port);
