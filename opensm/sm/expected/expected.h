// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cables that are meant to be there (expected_topology_file), beside those that are.
 *
 *   the file --read, not faulty--> CANDIDATE --would hold no more than the cap--> IN FORCE
 *                 |                    |                                             |
 *                 '---- refused -------'-- refused: what was in force counts on      '-> its copy
 *
 * What is in force has a copy in the cache folder, which counts at the next start until the file
 * was judged, and wherever the file cannot be read.
 *
 * Two things follow, apart from each other. Before each routing, and so before a port is armed for
 * the first time, each cable that changed since is judged by itself: with enforce, one that is not
 * in the picture is refused (out_of_use.h), held in INIT, and taken down where it is up. After a
 * sweep the whole picture is compared by a job, and causes are told: when they begin, and when they
 * end.
 */
#pragma once

#include "sm/sm.h"
#include "topo/expect.h"

struct expected;
struct expect_seen;

void expected_new(struct sm *sm, const struct sm_paths *paths);
void expected_free(struct sm *sm);
/* The files of the configuration were read: there is another one, or none. */
void expected_file_came(struct sm *sm);
/* Before anything is discovered: the copy is read, unless it was. */
void expected_recall(struct sm *sm);
/* A job reads the file, or the copy: nothing is to be routed before that has ended. */
bool expected_busy(const struct sm *sm);
/* Before out_of_use_settle(): refused cables have a reason not to be used. */
void expected_settle(struct sm *sm);
void expected_sweep_ended(struct sm *sm);
void expected_state_changed(struct sm *sm);
void expected_tick(struct sm *sm);
mono_t expected_next(const struct sm *sm);
/* The switch port that an end port belongs behind. False: nothing is expected of it. */
bool expected_place(const struct sm *sm, const uint8_t *node_info, guid_t *ret_switch,
		    uint8_t *ret_port);

/* ---- for those that show it ---- */

struct drift_row {
	uint64_t key;
	uint32_t finding; /* in report->findings */
	enum expect_kind kind;
	char *text;
	int64_t since; /* seconds since 1970; 0: not known */
};

/* One comparison: never changed. References are counted on the thread of the SM. */
struct drift {
	unsigned refs;
	struct expect *want, *have;
	struct expect_report *report;
	struct drift_row *rows; /* by key */
	uint32_t n;
	unsigned of_kind[EXPECT_KINDS];
	int64_t learnt;
	bool csv;     /* the file is */
	bool by_name; /* the file knows nodes by names: it is not written by us */
};

struct sm_expected {
	const char *path;    /* the file; NULL: none is configured */
	const char *refused; /* why it is not in force; NULL: it is, or none is configured */
	bool in_force;	     /* something is: the file, or the copy */
	unsigned cables;     /* that have to be there */
	unsigned held, spared;
	uint64_t judged; /* cables, since the start; one that did not change is not judged again */
	int64_t learnt;
	uint64_t digest;
	bool is_grace;
	const char *text;	   /* that is in force, until the next dispatch; NULL: nothing is */
	const struct drift *drift; /* NULL: nothing was compared yet */
};
void sm_expected(const struct sm *sm, struct sm_expected *ret);
struct drift *drift_ref(const struct drift *d);
struct drift *drift_unref(struct drift *d); /* NULL is fine; returns NULL */
