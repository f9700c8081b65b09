// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the expected topology. */
#pragma once

#include "sm/expected/expected.h"
#include "sm/sm_internal.h"
#include "topo/expect_file.h"
#include "util/told.h"

#define EXPECTED_COPY "expected_topology"

/* A picture of the fabric as it was meant, with its text. Counted as struct drift. */
struct meant {
	unsigned refs;
	struct expect *x;
	char *text;
	size_t len;
	uint64_t digest; /* of the text */
	int64_t learnt;
};

/* A cable that is refused, by one end. */
struct refused {
	guid_t node;
	uint8_t port;
};

/* Flaws of each cable that is found, beside one picture. */
struct verdicts {
	struct meant *of;      /* the picture; NULL: nothing was judged yet */
	bool by_name;	       /* a node counts as the absent one with its description */
	uint64_t shape, edits; /* of the fabric, when it was judged */
	uint32_t n_nodes;
	guid_t *guids;	 /* by node->index, as the two below: which node it is */
	uint32_t *first; /* the row of port 0; one more than nodes */
	uint32_t *at;	 /* the same node in the picture */
	uint8_t *rows;	 /* VERDICT_CABLE at the first end of a cable, with its flaws */
	uint32_t n_rows;
	uint64_t judged; /* cables, since the start */
};
#define VERDICT_CABLE 0x80u

/* Of the cable whose first end this is; 0: there is none. */
static inline uint8_t verdict_of(const struct verdicts *v, const struct port *first_end)
{
	return v->rows[v->first[first_end->node->index] + first_end->num];
}

static inline bool verdict_is_cable(const struct verdicts *v, const struct port *p)
{
	return verdict_of(v, p) & VERDICT_CABLE;
}

/* The picture as it is found, in part. */
struct facts {
	struct expect_builder *builder; /* NULL: none is collected */
	uint64_t hash;			/* of what was added */
	bool by_name;			/* nodes with the names that are expected of them */
	uint32_t at;			/* nodes that were, then nodes whose cables were */
};

struct expected {
	char *path; /* of the copy; NULL: there is no cache folder */
	struct meant *now, *candidate;
	uint64_t generation; /* of the file: how often another one came */
	bool reading;	     /* a job reads that one */
	bool knows_copy;     /* the copy was read */
	bool judge_anew;     /* there is a candidate, and no sweep may be about to judge it */
	unsigned agreed;  /* flaws that `now` may hold cables for: the cap was kept */
	uint64_t refused; /* digest of the file that was refused; 0: none */
	char why[200];	  /* why the file is not in force; "" it is */
	struct verdicts verdicts;
	bool over_cap;	  /* told of `now`: its new modes would hold too much */
	struct refused *cables; /* that are refused, in the order of nodes and ports */
	uint32_t n_cables, cap_cables;
	unsigned held, spared;
	bool stale;	   /* something was read since the last comparison */
	struct facts facts; /* for a comparison */
	bool comparing;
	uint64_t compared; /* hash of the picture that was compared last */
	struct drift *drift;
	mono_t grace_end; /* MONO_NEVER: none runs */
	bool storing, store_again;
	struct told told;
};

enum { TOLD_FILE, TOLD_STORE };

struct meant *meant_unref(struct meant *m);

/* expected_file.c */
/* `now` is stored, with the flaws it may hold cables for. */
void expected_store(struct sm *sm);

/* expected_judge.c: which flaws have a cable held, by the options. */
unsigned expected_modes(const struct sm *sm);
/* How many cables of the fabric have one of these flaws, and of how many. */
unsigned expected_count(struct sm *sm, struct meant *want, unsigned flaws, unsigned *ret_cables);
/* Those that have, beside `now`, are refused: `cables`, which have a reason not to be used. */
void expected_refuse(struct sm *sm, unsigned flaws);
/* The name of a node where names alone are expected: that of the node-name map, or its own. */
const char *expected_name(const struct node *n);
struct expect_seen expected_seen(const struct port *p); /* .at: TOPO_NONE */
struct expect_rate expected_rate(const struct port *p);

/* expected_verdicts.c: `verdicts` are those of the fabric as it is now, beside `want`. */
void expected_judge(struct sm *sm, struct meant *want);
void expected_forget_verdicts(struct expected *e);

/* expected_compare.c: between sweeps; begins, unless the last comparison was of the same. */
void expected_compare(struct sm *sm);
/* Goes on with the facts; the last of them are followed by the job. */
void expected_collect(struct sm *sm);
/* Those collected so far are of another picture. */
void expected_drop_facts(struct sm *sm);

/* expected_tell.c: `now` takes the place of the comparison before. */
void expected_tell(struct sm *sm, struct drift *now);
