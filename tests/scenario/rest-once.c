// SPDX-License-Identifier: BSD-2-Clause
/*
 * rest-once METHOD TARGET [BODY]: one request to the endpoints of opensm-rest, without HTTP, for
 * the manager whose control socket is $OPENSM_RUN_DIR/opensm.sock. Prints status, headers and body.
 * Exit code: 0 done, 1 refused, 2 not understood.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rest/backend.h"
#include "tests/lib/rest-fake.h"
#include "util/mem.h"

static mono_t a_minute_from_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((mono_t)ts.tv_sec + 60) * MONO_S;
}

int main(int argc, char **argv)
{
	const char *run_dir = getenv("OPENSM_RUN_DIR");
	const struct fake_manner manner = { .patience = a_minute_from_now() };
	struct rest_fake front = { 0 }; /* its partitions are not used */
	struct rest_answer answer;
	_cleanup_free_ char *path = NULL;
	unsigned status;

	if (argc < 3 || argc > 4 || !run_dir) {
		fprintf(stderr, "usage: OPENSM_RUN_DIR=... rest-once METHOD TARGET [BODY]\n");
		return 2;
	}
	path = xasprintf("%s/opensm.sock", run_dir);
	backend_open(&front.backend, path);
	fake_request(&front, argv[1], argv[2], argv[3], &manner, &answer);
	status = answer.status;
	printf("%u %s\n", status, answer.type ? answer.type : "-");
	for (size_t i = 0; i < answer.n_headers; i++)
		printf("%s: %s\n", answer.headers[i].name, answer.headers[i].value);
	fwrite(answer.bytes, 1, answer.len, stdout);
	printf("\n");
	rest_answer_clear(&answer);
	return status >= 400;
}
