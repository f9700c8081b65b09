// SPDX-License-Identifier: BSD-2-Clause
/*
 * One at a time, of all threads: answers that need a large document of the manager. The memory
 * limit of opensm-rest has room for one such document, not for one in each thread.
 */
#pragma once

#include <stdbool.h>

#include "rest/rest.h"

/*
 * Waits until no other thread has the turn. False: two wait already, or one of this user has the
 * turn or waits; `ret` is filled with 503 and Retry-After. A request that has the turn asks for no
 * second one.
 */
bool api_turn_wait(const struct rest_request *q, struct rest_answer *ret);
/* By the thread that has it, behind the end of the document. */
void api_turn_end(const struct rest_request *q);
