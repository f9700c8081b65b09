// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of a scenario: what their functions share (expect.c). */
#pragma once

#include <string.h>

#include "tests/scenario/scenario.h"

/* The verdict is made once per look, and only if it is asked for. */
struct look {
	struct scenario *s;
	struct sim_verdict verdict;
	bool judged;
	char why[720]; /* what is missing */
};

struct cond {
	const char *name; /* NULL: behind the last */
	unsigned args;
	int (*test)(struct look *l, const char *const *arg); /* 1, 0 with look->why, or -EINVAL */
};
extern const struct cond port_conds[]; /* expect_ports.c */
extern const struct cond told_conds[]; /* expect_told.c */

/* By enum ib_port_state. */
static const char *const state_names[] = { "NONE", "DOWN", "INIT", "ARMED", "ACTIVE" };

const struct sim_verdict *judge(struct look *l);
/* `ok`; if not, the reason is what `fmt` says. */
bool require(struct look *l, bool ok, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Is `have` as the word says: N, <=N or >=N? */
int compare(struct look *l, const char *what, uint64_t have, const char *word);
/* Does `text` begin with these words, where _ stands for a blank or itself? */
bool begins(const char *text, const char *words);
/* NULL: they are not in it. */
const char *find_words(const char *text, const char *words);
