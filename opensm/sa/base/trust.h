// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which requests are answered at all, by the key they carry and the port they come from: the
 * enhanced trust model, claimed GIDs, the rate of a port, guessed keys.
 *
 * A request with the right key is trusted and passes, but for that of a virtual function that
 * sa_etm_allow_guidinfo_rec_by_vf forbids. What is refused here gets no answer: a requester that
 * probes learns nothing. With all options at their defaults nothing is refused.
 */
#pragma once

#include "sa/base/sa_internal.h"

/* Has the request a key that is neither 0 nor the right one? */
bool trust_is_guess(const struct sa_request *rq);
/* Is this key that of trusted requests? */
bool trust_has_key(const struct sa *sa, uint64_t sm_key);
/*
 * The reason why an admitted request gets no answer, and its kind; NULL: it is
 * answered, and *ret_kind is undefined. Counts it for the rate of its port.
 */
const struct sa_why *trust_refusal(struct sa *sa, const struct sa_request *rq,
				   enum sa_abuse *ret_kind);

/* ---- askers.c: state of a port that sends requests ---- */

struct askers *askers_new(void);
struct askers *askers_free(struct askers *a);
/* Counts a request of this port; false: it has reached sa_rate_threshold. */
bool askers_may_ask(struct sa *sa, const struct sa_request *rq);
/* Counts a request with a wrong key; raises the event when there are enough. */
void askers_guessed(struct sa *sa, const struct sa_request *rq);
