// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary requests through the endpoints of opensm-rest, to a manager of paper. An input is
 * requests, separated by lines of "%%": a line "METHOD TARGET", then the body.
 *
 * Whatever comes: each request has one answer, which is JSON with a status that clients know; the
 * manager is only sent calls of its schema (rest-fake.c asserts it); a body that is refused has
 * changed nothing; what is stored is read back with GUIDs of 16 lower-case digits.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/rest-fake.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

#define REQUESTS_MAX 16

static void demand(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool is_known(unsigned status)
{
	static const unsigned known[] = { 200, 400, 403, 404, 405, 412, 501, 503 };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i] == status)
			return true;
	return false;
}

static void check_answer(const struct rest_fake *f, const struct rest_answer *a, int64_t before)
{
	struct json_object *o = a->bytes ? json_tokener_parse(a->bytes) : NULL;

	demand(is_known(a->status), "a status that no client knows");
	demand(o && strlen(a->bytes) == a->len, "an answer that is no JSON");
	demand(a->status == 200 || json_object_object_get(o, "error"), "an error without a text");
	/* Of several hosts those that are known leave, though the answer is about another one. */
	demand(a->status == 200 || a->changed || f->generation == before, "refused, and changed");
	demand(!a->changed || f->generation > before, "a change that is none");
	json_object_put(o);
}

static void check_guids(struct json_object *partition)
{
	struct json_object *guids = json_object_object_get(partition, "guids");

	demand(guids != NULL, "a partition without guids");
	for (size_t i = 0; i < json_object_array_length(guids); i++) {
		const char *guid = json_object_get_string(json_object_object_get(
			json_object_array_get_idx(guids, i), "guid"));

		demand(strlen(guid) == 16 && strspn(guid, "0123456789abcdef") == 16,
		       "a GUID that clients do not know");
	}
}

static void check_stored(struct rest_fake *f)
{
	struct rest_answer a;
	struct json_object *o;

	fake_request(f, "GET", "/resources/pkeys/?guids_data=true&qos_conf=True", NULL, NULL, &a);
	demand(a.status == 200, "partitions cannot be read");
	o = json_tokener_parse(a.bytes);
	demand(o != NULL, "partitions are no JSON");
	json_object_object_foreach(o, key, partition) {
		demand(!strncmp(key, "0x", 2) && strlen(key) <= 6, "a P_Key that is none");
		check_guids(partition);
	}
	json_object_put(o);
	rest_answer_clear(&a);
}

/* "POST /resources/pkeys\n{...}" */
static void send_request(struct rest_fake *f, char *text)
{
	static const struct fake_manner manners[] = {
		{ 0 }, { .known_only = true }, { .if_match = "*" }, { .if_match = "\"0\"" }
	};
	char *body = text, *line = strsep(&body, "\n"), *target = line;
	const char *method = strsep(&target, " ");
	int64_t before = f->generation;
	struct rest_answer a;

	if (!target)
		return;
	fake_request(f, method, target, body && *body ? body : NULL,
		     &manners[strlen(target) % ARRAY_SIZE(manners)], &a);
	check_answer(f, &a, before);
	rest_answer_clear(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_free_ char *text = xmalloc(len + 1);
	static struct rest_fake fake;
	char *rest = text;

	memcpy(text, input, len);
	text[len] = '\0';
	fake_start(&fake);
	for (unsigned i = 0; rest && i < REQUESTS_MAX; i++) {
		char *one = rest, *end = strstr(rest, "\n%%\n");

		rest = end ? end + 4 : NULL;
		if (end)
			*end = '\0';
		send_request(&fake, one);
	}
	check_stored(&fake);
	fake_stop(&fake);
	return 0;
}
