// SPDX-License-Identifier: BSD-2-Clause
/*
 * Transaction ids: drawn at random, so that no host can guess the one of a question to another
 * host; and the last that have ended, so that a late answer is told from a forged one. Private to
 * mad/.
 *
 * 32 bits are ours, the kernel owns the upper half of a TID. All 32 are drawn: a host that answers
 * for another one is right once in four billion times for each question on the wire.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mad/mad.h"

/* Number of ids drawn at a time: 256 bytes, the most that getrandom(2) returns uninterrupted. */
#define TIDS_BLOCK 64u
/* Number of ended ids remembered per kind, a power of two; 12 bytes each. */
#define TIDS_ENDED 4096u

/* Kinds of ended ids. An unanswered SMP may still be answered: answered ones do not displace it. */
enum tid_kind { TID_SMP, TID_SMP_ANSWERED, TID_GMP, TID_KINDS };

/* An id that is not in use any more. */
struct tid_ended {
	uint32_t tid;	 /* 0: none */
	uint32_t whence; /* origin of its answer (tid_whence()) */
};

struct tids {
	struct mad_draw draw;
	uint32_t block[TIDS_BLOCK];
	unsigned left; /* ids of `block` that are unused */
	/* Hash table without chains: a new id replaces the old one in its place. */
	struct tid_ended ended[TID_KINDS][TIDS_ENDED];
};

void tids_init(struct tids *t, const struct mad_draw *draw);
/* Returns an id that has not ended lately, never 0. The caller checks that it is not in use. */
uint32_t tids_next(struct tids *t);

/* The origin of the answer to an SMP over this path, or else to a MAD to this LID. */
uint32_t tid_whence(const struct dr_path *path, lid_t lid);
/* The origin of an answer, by what its sender says. */
uint32_t tid_whence_of(const struct transport_addr *from, const uint8_t *mad);

/* Notes that the id has ended. */
void tids_note(struct tids *t, enum tid_kind kind, uint32_t tid, uint32_t whence);
/* Has this id ended lately, and was its answer to come from this origin? */
bool tids_was(const struct tids *t, enum tid_kind kind, uint32_t tid, uint32_t whence);
