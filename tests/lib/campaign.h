// SPDX-License-Identifier: BSD-2-Clause
/*
 * Campaigns: lives of simulated fabrics with managers on them, under faults drawn from a seed,
 * judged when everything is mended.
 *
 * A plan is a seed (what the fabric and its managers are like) and a list of faults, each with dice
 * of its own; so any fault can be left out and the others stay what they are, which is how a
 * failing plan is made short (life_shrink()). The same plan gives the same life.
 *
 * What is demanded at the end is in campaign-judge.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/mono.h"

/* What may happen; the names make a mix ("links,weather"; "all"; "all,-hup"). */
#define FAULT_KINDS(F)                                                                             \
	F(LINKS, "links")	  /* cables out, back in, out for a moment */                      \
	F(REBOOTS, "reboots")	  /* power cycles, one node or several */                          \
	F(POWER, "power")	  /* off; on again by another such fault, or at the end */         \
	F(SILENCE, "silence")	  /* a node that answers nothing */                                \
	F(PARTIAL, "partial")	  /* a node that ignores an attribute, all Sets or all Gets */     \
	F(REFUSALS, "refusals")	  /* Sets of an attribute get an error */                          \
	F(WEATHER, "weather")	  /* loss to 20 %, duplicates, reordering, delays, short queues */ \
	F(LINK_LOSS, "lossy")	  /* one cable loses SMPs */                                       \
	F(TRAPS_LOST, "traps")	  /* traps do not arrive */                                        \
	F(NOISE, "noise")	  /* traps without a cause */                                      \
	F(CABLES, "cables")	  /* swapped, moved, looped back, between two hosts */             \
	F(ADDRESSES, "addresses") /* LIDs changed by others than the manager */                    \
	F(NAMES, "names")	  /* NodeDescription, CapabilityMask */                            \
	F(REPLACED, "replaced")	  /* a host with other GUIDs */                                    \
	F(MANAGERS, "managers")	  /* one to three; kill -9 and start again, freeze, priority */    \
	F(SPLITS, "splits")	  /* the fabric in two parts, joined again later */                \
	F(HUPS, "hup")		  /* SIGHUP with another partitions.conf, other options */         \
	F(GROUPS, "groups")	  /* hosts join, leave, register services */                       \
	/* properties of the fabric */                                                             \
	F(LMC, "lmc") F(ENHANCED, "enhanced") F(DUAL, "dual") F(M_KEY, "mkey") F(JOBS, "jobs")     \
	F(ENGINES, "engines")                                                                      \
	F(KEYS, "keys") /* an M_Key for each port, level 2, with rotation */                       \
	F(SEEDS, "seeds") /* with keys: each manager has a seed of its own */                      \
	/* judged, too: did anything ever loop? Does a fresh manager write forwarding tables? */   \
	F(LOOPS, "loops") F(HITLESS, "hitless")                                                   \
	/* half of the fabrics are worn (sim/gen/wear.c); what is silent is until the end */       \
	F(WEAR, "wear")

enum fault_kind {
#define FAULT_ENUM(id, name) FAULT_##id,
	FAULT_KINDS(FAULT_ENUM)
#undef FAULT_ENUM
		N_FAULT_KINDS,
	FIRST_SHAPE = FAULT_LMC,
};

struct life_fault {
	uint8_t kind; /* enum fault_kind */
	uint64_t dice;
	mono_t wait; /* after it */
};

#define LIFE_MAX_FAULTS 64
struct life_plan {
	uint64_t seed;
	uint32_t kinds; /* bit per enum fault_kind */
	mono_t calm;	/* before the first fault */
	unsigned n;
	struct life_fault faults[LIFE_MAX_FAULTS];
};

struct life_result {
	char why[400];			     /* what is wrong; "" if nothing */
	mono_t healed;			     /* from the mending until everything was well */
	unsigned last_gets;		     /* of the heavy sweep in the end */
	uint32_t heavy_sweeps, light_sweeps; /* of the master in the end */
};

/* Bits of a mix; 0: not understood. NULL: "all". */
uint32_t life_mix(const char *text);

void life_plan_make(struct life_plan *ret, uint64_t seed, uint32_t kinds);
/* One line per fault. */
void life_plan_print(const struct life_plan *plan, FILE *out);
/* True: everything was as it should. Says its faults on stderr with `loud`. */
bool life_run(const struct life_plan *plan, bool loud, struct life_result *ret);
/*
 * Leaves out what the failure does not need; `why` is that of its result, and no other one counts.
 * Each try is a process of its own: it may crash.
 */
void life_shrink(struct life_plan *plan, const char *why);

/* A campaign as a program: arguments [SEED [N [MIX]]], environment LOUD=1 and SHRINK=1. */
struct campaign {
	const char *name;
	unsigned first, n;
	const char *mix;
};
/* 0: all lives were good; else the number of bad ones, each printed with how to repeat it. */
int campaign_run(const struct campaign *c, int argc, char **argv);
