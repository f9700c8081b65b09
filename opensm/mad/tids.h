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

/* Ids drawn at a time: 256 bytes, the most that getrandom(2) gives without a break. */
#define TIDS_BLOCK 64u
/* Ids remembered, of each kind: a power of two. 4,096 of 12 bytes. */
#define TIDS_ENDED 4096u

/* Of SMPs without an answer one may still come: those with one do not push them out. */
enum tid_kind { TID_SMP, TID_SMP_ANSWERED, TID_GMP, TID_KINDS };

/* An id that is not on the wire any more. */
struct tid_ended {
	uint32_t tid;	 /* 0: none */
	uint32_t whence; /* where its answer is to come from */
};

struct tids {
	struct mad_draw draw;
	uint32_t block[TIDS_BLOCK];
	unsigned left; /* of `block` */
	/* An id has one place, and the next one there replaces it. */
	struct tid_ended ended[TID_KINDS][TIDS_ENDED];
};

void tids_init(struct tids *t, const struct mad_draw *draw);
/* An id that has not ended lately, never 0. The caller sees that none such is on the wire. */
uint32_t tids_next(struct tids *t);

/* `whence` of an SMP over this path, which is that of its answer; or else of a MAD to this LID. */
uint32_t tid_whence(const struct dr_path *path, lid_t lid);
/* What the sender of an answer says of itself. */
uint32_t tid_whence_of(const struct transport_addr *from, const uint8_t *mad);

/* The id has ended. */
void tids_note(struct tids *t, enum tid_kind kind, uint32_t tid, uint32_t whence);
/* Has this id ended lately, and was its answer to come from there? */
bool tids_was(const struct tids *t, enum tid_kind kind, uint32_t tid, uint32_t whence);
