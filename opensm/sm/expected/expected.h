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
#include "topo/expect_file.h"

void expected_new(struct sm *sm, const struct sm_paths *paths);
void expected_free(struct sm *sm);
/* Called when another expected topology, or none, was read with the configuration. */
void expected_file_came(struct sm *sm);
/* Called before anything is discovered: reads the copy, unless it was read already. */
void expected_recall(struct sm *sm);
/* Does a job read the file or the copy? Until it ends nothing is to be routed. */
bool expected_busy(const struct sm *sm);
/* Called before out_of_use_settle(): gives refused cables their reason not to be used. */
void expected_settle(struct sm *sm);
void expected_sweep_ended(struct sm *sm);
void expected_state_changed(struct sm *sm);
void expected_tick(struct sm *sm);
mono_t expected_next(const struct sm *sm);
/* The switch port that this end port is expected behind. False: the end port is not expected. */
bool expected_place(const struct sm *sm, const uint8_t *node_info, guid_t *ret_switch,
		    uint8_t *ret_port);

/* ---- for programs that show it ---- */

struct drift_row {
	uint64_t key;
	uint32_t finding; /* index in report->findings */
	enum expect_kind kind;
	char *text;
	int64_t since; /* start in seconds since 1970; 0: not known */
};

/* One comparison, immutable. References are counted on the thread of the SM. */
struct drift {
	unsigned refs;
	struct expect *want, *have;
	struct expect_report *report;
	struct drift_row *rows; /* sorted by key */
	uint32_t n;
	unsigned of_kind[EXPECT_KINDS];
	int64_t learnt;
	enum expect_format format; /* of the file */
};

struct sm_expected {
	const char *path; /* the file; NULL: none is configured */
	/* reason why the file is not in force; NULL: it is, or none is configured */
	const char *refused;
	bool in_force;	 /* set if the file or its copy is in force */
	unsigned cables; /* number of expected cables */
	unsigned held, spared;
	/* number of cables judged since the start; unchanged cables are not judged again */
	uint64_t judged;
	int64_t learnt;
	uint64_t digest;
	bool is_grace;
	const char *text;	   /* text in force, valid until the next dispatch; NULL: none */
	const struct drift *drift; /* last comparison; NULL: none yet */
};
void sm_expected(const struct sm *sm, struct sm_expected *ret);
struct drift *drift_ref(const struct drift *d);
struct drift *drift_unref(struct drift *d); /* NULL is fine; returns NULL */
