// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the expected topology. */
#pragma once

#include "sm/expected/expected.h"
#include "sm/sm_internal.h"
#include "topo/expect_file.h"
#include "util/told.h"

#define EXPECTED_COPY "expected_topology"

/* An expected topology with its text. References are counted as of struct drift. */
struct meant {
	unsigned refs;
	struct expect *x;
	char *text;
	size_t len;
	uint64_t digest; /* digest of `text` */
	int64_t learnt;
};

/* A refused cable, named by one end. */
struct refused {
	guid_t node;
	uint8_t port;
};

/* The flaws of each cable found, compared with one expected topology. */
struct verdicts {
	struct meant *of;      /* expected topology; NULL: nothing was judged yet */
	bool by_name;	       /* set if a node is matched with an absent one by its description */
	uint64_t shape, edits; /* versions of the fabric when it was judged */
	uint32_t n_nodes;
	guid_t *guids;	 /* node GUID by node->index */
	uint32_t *first; /* row of port 0 in `rows`, by node->index, with one more at the end */
	uint32_t *at;	 /* index of the node in the expected topology, by node->index */
	uint8_t *rows;	 /* VERDICT_CABLE and the flaws, at the first end of each cable */
	uint32_t n_rows;
	uint64_t judged; /* number of cables judged since the start */
};
#define VERDICT_CABLE 0x80u

/* The flaws of the cable whose first end this is; 0: no cable. */
static inline uint8_t verdict_of(const struct verdicts *v, const struct port *first_end)
{
	return v->rows[v->first[first_end->node->index] + first_end->num];
}

static inline bool verdict_is_cable(const struct verdicts *v, const struct port *p)
{
	return verdict_of(v, p) & VERDICT_CABLE;
}

/* The topology found, as far as it was collected for a comparison. */
struct facts {
	struct expect_builder *builder; /* NULL: no comparison is being prepared */
	uint64_t hash;			/* hash of the facts collected */
	bool by_name;			/* set if nodes have the names that are expected of them */
	uint32_t at;			/* progress: first nodes, then the cables of nodes */
};

struct expected {
	char *path; /* path of the copy; NULL: no cache folder */
	struct meant *now, *candidate;
	uint64_t generation; /* number of files read so far */
	bool reading;	     /* set while a job reads the file of this generation */
	bool knows_copy;     /* set if the copy was read */
	/* set if a candidate is to be judged now, as no sweep may be about to */
	bool judge_anew;
	unsigned agreed;  /* flaws for which `now` may hold cables, as the cap was kept */
	uint64_t refused; /* digest of the refused file; 0: none */
	char why[200];	  /* reason why the file is not in force; "": it is */
	struct verdicts verdicts;
	bool over_cap;	  /* told of `now`: its new modes would hold too much */
	struct refused *cables; /* that are refused, in the order of nodes and ports */
	uint32_t n_cables, cap_cables;
	unsigned held, spared;
	bool stale;	    /* set if something was read since the last comparison */
	struct facts facts; /* facts for the next comparison */
	bool comparing;
	uint64_t compared; /* hash of the topology compared last */
	struct drift *drift;
	mono_t grace_end; /* end of the grace time; MONO_NEVER: none */
	bool storing, store_again;
	struct told told;
};

enum { TOLD_FILE, TOLD_STORE };

/* expected_file.c */
struct meant *meant_unref(struct meant *m);
/* Stores `now`, with the flaws for which it may hold cables. */
void expected_store(struct sm *sm);

/* expected_judge.c: the flaws for which a cable is held, by the options. */
unsigned expected_modes(const struct sm *sm);
/* The number of cables of the fabric with one of these flaws, and the number of all cables. */
unsigned expected_count(struct sm *sm, struct meant *want, unsigned flaws, unsigned *ret_cables);
/* Refuses the cables that have one of these flaws compared with `now`: gives them the reason. */
void expected_refuse(struct sm *sm, unsigned flaws);

/* expected_verdicts.c: makes `verdicts` those of the present fabric, compared with `want`. */
void expected_judge(struct sm *sm, struct meant *want);
void expected_forget_verdicts(struct expected *e);
/* The name of a node where names alone are expected: from the node-name map, or its own. */
const char *expected_name(const struct node *n);
struct expect_seen expected_seen(const struct port *p); /* .at: TOPO_NONE */
struct expect_rate expected_rate(const struct port *p);

/* expected_compare.c: begins a comparison between sweeps, unless nothing has changed. */
void expected_compare(struct sm *sm);
/* Collects more facts; after the last of them starts the job. */
void expected_collect(struct sm *sm);
/* Drops the facts collected so far, which are of another topology. */
void expected_drop_facts(struct sm *sm);

/* expected_tell.c: replaces the last comparison by `now`. */
void expected_tell(struct sm *sm, struct drift *now);
