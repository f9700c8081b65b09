// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers that need a large document of the manager, one at a time of all threads: the memory limit
 * of opensm-rest has room for one such document, not for one in each thread.
 */
#pragma once

#include <stdbool.h>

#include "rest/rest.h"

/*
 * Waits until no other thread holds the turn. False: two requests wait already, or one of this user
 * holds the turn or waits; `ret` is filled with 503 and Retry-After. A request that holds the turn
 * must not ask for it again.
 */
bool turn_wait(const struct rest_request *q, struct rest_answer *ret);
/* Ends the turn, on the thread that holds it, after the document was freed. */
void turn_end(const struct rest_request *q);
