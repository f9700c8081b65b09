// SPDX-License-Identifier: BSD-2-Clause
/*
 * The channel dependency graph of one lane, kept free of cycles while turns are added.
 *
 * Channels stand in an order in which every turn taken so far leads forward. A turn that leads forward costs
 * nothing. One that leads backward makes those channels change places that lie between its ends and are
 * reached from it (Pearce and Kelly); if they reach back, it would close a cycle, and it is refused for ever.
 */
#pragma once

#include "route/nue_net.h"

struct nue_cdg;

enum nue_turn {
	NUE_TAKEN,   /* in use */
	NUE_FORWARD, /* not yet, but sure to fit */
	NUE_UNSURE,  /* nue_cdg_add() would say */
	NUE_REFUSED, /* would close a cycle */
};

struct nue_cdg *nue_cdg_new(const struct nue_net *net);
struct nue_cdg *nue_cdg_free(struct nue_cdg *cdg);

/* `places`: all channels in the order to begin with. Only while there are no turns. */
void nue_cdg_order(struct nue_cdg *cdg, const uint32_t *channels);
enum nue_turn nue_cdg_look(const struct nue_cdg *cdg, uint32_t in, uint32_t out);
/* Takes the turn from channel `in` to channel `out`; false, and nothing happens, if that would close a cycle. */
bool nue_cdg_add(struct nue_cdg *cdg, uint32_t in, uint32_t out);
/* What was added since may be taken back until the next mark. */
void nue_cdg_mark(struct nue_cdg *cdg);
void nue_cdg_undo(struct nue_cdg *cdg);
/* Many turns at once: set them unasked, then see whether they fit together. */
void nue_cdg_set(struct nue_cdg *cdg, uint32_t in, uint32_t out);
bool nue_cdg_settle(struct nue_cdg *cdg);
