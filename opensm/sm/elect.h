// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of the election:
 *
 *   elect.c       the states, and who is to be master
 *   remote_sm.c   what is known of other SMs, and which of them are to be believed
 *   elect_poll.c  watching one of them
 *   elect_set.c   what they, or anybody, tell us to do
 */
#pragma once

#include "fabric/words.h"
#include "sm/impl.h"

/* Modifiers of Set(SMInfo), 14.4.1.3. */
enum sm_info_set {
	SMI_HANDOVER = 1,
	SMI_ACKNOWLEDGE,
	SMI_DISABLE,
	SMI_STANDBY,
	SMI_DISCOVER,
};

/* ---- elect.c ---- */

/* Higher priority, then lower port GUID; ours as told now. */
bool elect_is_greater(const struct sm *sm, const struct remote_sm *r);
/* Discovery first; what it finds decides. */
void elect_take_over(struct sm *sm, const char *why);
/* MASTER: the other master that we waited for is one no more, or is not waited for any longer. */
void elect_end_wait(struct sm *sm, const char *why);
/* MASTER, and whoever was before us has let go. */
void elect_accept(struct sm *sm, const char *why);
/*
 * The M_Key that the manager behind `p` checks: that of its port; if that has none (yet), the one we are
 * configured with, as it is if it is one of ours. A port without a key takes any (14.2.4).
 */
uint64_t elect_mkey(const struct sm *sm, struct port *p);
void elect_fill(const struct sm *sm, uint8_t info[SMP_DATA_SIZE], bool with_key);

/* ---- remote_sm.c ---- */

struct remote_sm *remote_find(struct sm *sm, guid_t guid); /* NULL: never heard of */
/* A question outside of discovery. False: it cannot be put. */
bool remote_ask(struct sm *sm, struct port *p);
/*
 * Takes in an SMInfo that the port with this GUID answered with, over whatever way. NULL: it makes no
 * sense. What is returned may not be trusted.
 */
struct remote_sm *remote_learn(struct sm *sm, guid_t guid, const uint8_t *info);
/* It did not do what its state demands: nobody counts on it until it changes, or asks for it (trap 144). */
void remote_failed(struct remote_sm *r);
/* By what it says of itself. */
enum sm_trust remote_trust(const struct sm *sm, guid_t guid, uint64_t key);
const char *remote_trust_name(enum sm_trust trust); /* "has another SM_Key" */
void remote_reconfigured(struct sm *sm);
void remote_free(struct sm *sm);
/* "'h3' port 1 (0x...), LID 7, behind 'leaf1' port 5". `p` may be NULL. Returns `ret`. */
#define REMOTE_STRLEN SM_WHERE_STRLEN
char *remote_where(const struct port *p, guid_t guid, char ret[REMOTE_STRLEN]);

/* ---- elect_poll.c ---- */

/* Watches `guid` from now on, first at once; 0: nobody. */
void poll_start(struct sm *sm, guid_t guid);
void poll_tick(struct sm *sm);
mono_t poll_next(const struct sm *sm);
/* Trap 144 with ChangeFlags 0x0008 to the master, or to the one we wait for (handover.md 8, 9). */
void poll_tell(struct sm *sm);

/* ---- elect_set.c ---- */

/* SMInfo of whoever offered us the fabric has arrived. */
void offer_answered(struct sm *sm, const struct remote_sm *r);
void offer_tick(struct sm *sm);
mono_t offer_next(const struct sm *sm);
