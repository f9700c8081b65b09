// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of a scenario: shared by their functions (expect.c). */
#pragma once

#include <string.h>

#include "tests/scenario/scenario.h"

/* One check of conditions; the simulator's verdict is made at most once for it. */
struct look {
	struct scenario *s;
	struct sim_verdict verdict;
	bool judged;
	char why[4000]; /* reason why the condition does not hold */
};

struct cond {
	const char *name; /* NULL ends the table */
	unsigned args;
	int (*test)(struct look *l, const char *const *arg); /* 1, 0 with look->why, or -EINVAL */
};
extern const struct cond port_conds[]; /* expect_ports.c */
extern const struct cond told_conds[]; /* expect_told.c */
extern const struct cond peer_conds[]; /* expect_peers.c */
extern const struct cond key_conds[];  /* expect_keys.c */
extern const struct cond host_conds[]; /* hosts.c */

/* Names of enum ib_port_state. */
static const char *const state_names[] = { "NONE", "DOWN", "INIT", "ARMED", "ACTIVE" };

/* The manager on a node (expect_peers.c). NULL, with -EINVAL in *ret_r: none runs there. */
struct sm *manager_on(struct look *l, const char *node, int *ret_r);
/* Is this P_Key in the table of a port? `port` is 0 for hosts (expect_ports.c). */
bool port_holds(struct sim *sim, int node, unsigned port, uint64_t key);
/* Number of end ports whose M_Key is not that of `keep-keys`. */
unsigned peers_keys_changed(const struct scenario *s);
const struct sim_verdict *judge(struct look *l);
/* Returns `ok`; if it is false, the reason is the text of `fmt`. */
bool require(struct look *l, bool ok, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Does `have` fit the word N, <=N or >=N? */
int compare(struct look *l, const char *what, uint64_t have, const char *word);
/* Does `text` begin with these words, where _ matches a blank or itself? */
bool begins(const char *text, const char *words);
/* The place of the words in `text`; NULL: it does not have them. */
const char *find_words(const char *text, const char *words);
