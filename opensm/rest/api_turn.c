// SPDX-License-Identifier: BSD-2-Clause
/* Large documents of the manager, one at a time. */
#include "rest/api_turn.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

#define UNDER_WAY_MAX 3 /* one that is read, and those that wait: each has a thread */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint under_way;

bool api_turn_wait(struct rest_answer *ret)
{
	if (atomic_fetch_add(&under_way, 1) >= UNDER_WAY_MAX) {
		atomic_fetch_sub(&under_way, 1);
		rest_answer_error(ret, 503, "other long lists are being made");
		rest_answer_header(ret, "Retry-After", "1");
		return false;
	}
	pthread_mutex_lock(&turn);
	return true;
}

void api_turn_end(void)
{
	/* The next one runs in another thread, whose arena cannot use what this one has freed. */
	malloc_trim(0);
	pthread_mutex_unlock(&turn);
	atomic_fetch_sub(&under_way, 1);
}
