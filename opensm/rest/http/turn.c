// SPDX-License-Identifier: BSD-2-Clause
/*
 * Large documents of the manager, one at a time. A place is for one user: the right to read is not
 * one to keep all others from reading.
 */
#include "rest/http/turn.h"

#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>

#define UNDER_WAY_MAX 3 /* requests that hold the turn (1) or wait for it (2), a thread each */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* guarded by `lock`; NULL: a free place */
static const struct rest_request *under_way[UNDER_WAY_MAX];

static bool is_of_user(const struct rest_request *a, const struct rest_request *b)
{
	return a && !strcmp(a->user ? a->user : "", b->user ? b->user : "");
}

/* NULL: it has a place; else why not. */
static const char *take_place(const struct rest_request *q)
{
	const struct rest_request **place = NULL;

	for (unsigned i = 0; i < UNDER_WAY_MAX; i++) {
		if (is_of_user(under_way[i], q))
			return "another long list is being made for this user";
		if (!under_way[i])
			place = &under_way[i];
	}
	if (!place)
		return "other long lists are being made";
	*place = q;
	return NULL;
}

bool turn_wait(const struct rest_request *q, struct rest_answer *ret)
{
	const char *why;

	assert(q && ret);
	pthread_mutex_lock(&lock);
	why = take_place(q);
	pthread_mutex_unlock(&lock);
	if (why) {
		rest_answer_error(ret, 503, "%s", why);
		rest_answer_header(ret, "Retry-After", "1");
		return false;
	}
	pthread_mutex_lock(&turn);
	return true;
}

void turn_end(const struct rest_request *q)
{
	/* The next one runs in another thread, whose arena cannot use what this one has freed. */
	malloc_trim(0);
	pthread_mutex_unlock(&turn);
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < UNDER_WAY_MAX; i++) {
		if (under_way[i] == q)
			under_way[i] = NULL;
	}
	pthread_mutex_unlock(&lock);
}
