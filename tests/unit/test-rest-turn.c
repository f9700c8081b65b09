// SPDX-License-Identifier: BSD-2-Clause
/* Long lists of opensm-rest, asked for by several threads and users at once. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/lib/rest-fake.h"
#include "util/mem.h"

static struct rest_fake fake;

static int start(void **state)
{
	fake_start(&fake);
	return 0;
}

static int stop(void **state)
{
	fake_stop(&fake);
	return 0;
}

static void assert_status(unsigned status, const char *method, const char *target)
{
	struct rest_answer a;

	fake_request(&fake, method, target, NULL, NULL, &a);
	assert_int_equal(a.status, status);
	rest_answer_clear(&a);
}

static atomic_uint inside, overlaps, answered, refused;

static struct json_object *slow_topology(struct rest_backend *b, const struct rest_request *q,
					 const char *method, struct json_object *parameters,
					 struct rest_error *err)
{
	if (atomic_fetch_add(&inside, 1))
		overlaps++;
	for (unsigned i = 0; i < 50; i++)
		sched_yield();
	atomic_fetch_sub(&inside, 1);
	json_object_put(parameters);
	return json_tokener_parse("{\"nodes\":[]}");
}

static bool has_header(const struct rest_answer *a, const char *name)
{
	for (size_t i = 0; i < a->n_headers; i++)
		if (!strcmp(a->headers[i].name, name))
			return true;
	return false;
}

static void *ask_often(void *arg)
{
	static const char *const paths[] = {
		"/resources/ports",
		"/resources/pkeys?guids_data=true",
		"/resources/systems",
		"/resources/pkeys/0x5?guids_data=true",
		"/resources/links",
		"/actions/get_all_pkeys?guids_data=true",
	};
	struct rest_fake one;
	struct rest_answer a;

	fake_start(&one);
	one.backend.call = slow_topology;
	for (unsigned i = 0; i < 60; i++) {
		fake_request(&one, "GET", paths[i % ARRAY_SIZE(paths)], NULL, NULL, &a);
		if (a.status == 200)
			answered++;
		else if (a.status == 503 && has_header(&a, "Retry-After"))
			refused++;
		rest_answer_clear(&a);
	}
	fake_stop(&one);
	return NULL;
}

/* Documents of a large fabric take hundreds of megabytes: there are never two. */
static void one_document_is_in_memory_at_a_time(void **state)
{
	pthread_t threads[8];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(answered + refused, 60 * ARRAY_SIZE(threads));
	assert_true(answered > 0);
	assert_int_equal(overlaps, 0);
	assert_status(200, "GET", "/resources/ports");
	fake.fails = "NotReady";
	for (unsigned i = 0; i < 8; i++) {
		assert_status(503, "GET", "/resources/ports");
		assert_status(503, "GET", "/resources/pkeys?guids_data=true");
		assert_status(503, "GET", "/resources/pkeys/0x5?guids_data=true");
	}
	fake.fails = NULL;
	assert_status(200, "GET", "/resources/ports");
	assert_status(200, "GET", "/resources/pkeys?guids_data=true");
	assert_status(200, "GET", "/resources/pkeys/0x5?guids_data=true");
}

static sem_t begun, go_on;

static struct json_object *held_topology(struct rest_backend *b, const struct rest_request *q,
					 const char *method, struct json_object *parameters,
					 struct rest_error *err)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2;
	sem_post(&begun);
	sem_timedwait(&go_on, &until);
	json_object_put(parameters);
	return json_tokener_parse("{\"nodes\":[]}");
}

static unsigned status_for(const char *user)
{
	const struct fake_manner manner = { .user = user };
	struct rest_fake one;
	struct rest_answer a;
	unsigned status;

	fake_start(&one);
	one.backend.call = held_topology;
	fake_request(&one, "GET", "/resources/ports", NULL, &manner, &a);
	status = a.status;
	rest_answer_clear(&a);
	fake_stop(&one);
	return status;
}

static void *ask_as(void *user)
{
	return (void *)(uintptr_t)status_for(user);
}

/* One that asks again and again keeps no other user from reading. */
static void a_user_has_one_place_for_long_lists(void **state)
{
	pthread_t mine, others;
	void *status;

	assert_int_equal(sem_init(&begun, 0, 0), 0);
	assert_int_equal(sem_init(&go_on, 0, 0), 0);
	assert_int_equal(pthread_create(&mine, NULL, ask_as, "mine"), 0);
	sem_wait(&begun);
	assert_int_equal(status_for("mine"), 503);
	assert_int_equal(pthread_create(&others, NULL, ask_as, "other"), 0);
	sem_post(&go_on);
	sem_post(&go_on);
	pthread_join(mine, &status);
	assert_int_equal((uintptr_t)status, 200);
	pthread_join(others, &status);
	assert_int_equal((uintptr_t)status, 200);
	sem_post(&go_on);
	assert_int_equal(status_for("mine"), 200);
}

#define REST_TEST(fn) cmocka_unit_test_setup_teardown(fn, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REST_TEST(one_document_is_in_memory_at_a_time),
		REST_TEST(a_user_has_one_place_for_long_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
