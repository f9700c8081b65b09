// SPDX-License-Identifier: BSD-2-Clause
/* How a change of a partition, and blocks of P_Key tables, are shown to people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/partitions.h"
#include "util/mem.h"

#define KEYS_PER_BLOCK 32

/* ---- blocks ---------------------------------------------------------------------------------- */

static const char *key_at(struct json_object *block, size_t n)
{
	const char *key = n < js_len(block) ? json_object_get_string(js_at(block, n)) : NULL;

	return key && strcmp(key, "0x0000") ? key : "-";
}

static void print_block(struct ctl *c, struct json_object *b)
{
	struct json_object *before = js_get(b, "before"), *after = js_get(b, "after");
	const char *name = js_has(b, "node") ? js_str(b, "node") : js_str(b, "node_guid");
	size_t first = (size_t)js_int(b, "block") * KEYS_PER_BLOCK;

	printf("%s%s/%" PRId64 "%s, block %" PRId64 "%s%s\n", ctl_color(c, CTL_NAME), name,
	       js_int(b, "port"), ctl_color(c, CTL_PLAIN), js_int(b, "block"),
	       js_bool(b, "switch") ? ", the switch port that faces it" : "",
	       before ? "" : ", which was not read yet");
	for (size_t i = 0; i < js_len(after); i++) {
		const char *was = before ? key_at(before, i) : "?", *is = key_at(after, i);

		if (strcmp(was, is) && (before || strcmp(is, "-")))
			printf("  index %-4zu %s -> %s\n", first + i, was, is);
	}
}

void partition_print_blocks(struct ctl *c, struct json_object *blocks)
{
	for (size_t i = 0; i < js_len(blocks); i++)
		print_block(c, js_at(blocks, i));
}

/* ---- changes --------------------------------------------------------------------------------- */

static void print_pending(struct ctl *c, struct json_object *answer)
{
	struct json_object *pending = js_get(answer, "pending");
	size_t n = js_len(pending);

	for (size_t i = 0; i < n; i++) {
		struct json_object *p = js_at(pending, i);

		printf("%s%s%s%s%s waits%s: %s\n", ctl_color(c, CTL_WARN), js_str(p, "guid"),
		       js_has(p, "node") ? " (" : "", js_str(p, "node"),
		       js_has(p, "node") ? ")" : "", ctl_color(c, CTL_PLAIN), js_str(p, "why"));
	}
	if (js_int(answer, "n_pending") > (int64_t)n)
		printf("and %" PRId64 " more wait\n", js_int(answer, "n_pending") - (int64_t)n);
}

static void print_dry_run(struct ctl *c, struct json_object *answer)
{
	int64_t n = js_int(answer, "n_blocks");
	size_t told = js_len(js_get(answer, "blocks"));
	char text[64];

	partition_print_blocks(c, js_get(answer, "blocks"));
	if (n > (int64_t)told)
		printf("and %" PRId64 " more blocks\n", n - (int64_t)told);
	printf("a dry run, nothing was changed: %s would be written\n",
	       ctl_plural(n, "block", text));
}

static void print_guids(struct json_object *guids)
{
	for (size_t i = 0; i < js_len(guids); i++)
		printf("%s%s", i ? ", " : "", json_object_get_string(js_at(guids, i)));
}

/* Which ports the name of a host stood for. */
static void print_hosts(struct ctl *c, struct json_object *hosts)
{
	for (size_t i = 0; i < js_len(hosts); i++) {
		struct json_object *o = js_at(hosts, i), *gone = js_get(o, "gone");
		char ports[64];

		printf("%s%s%s is %s: ", ctl_color(c, CTL_NAME), js_str(o, "host"),
		       ctl_color(c, CTL_PLAIN),
		       ctl_plural((int64_t)js_len(js_get(o, "guids")), "port", ports));
		print_guids(js_get(o, "guids"));
		if (js_len(gone)) {
			printf("; not in the fabric: ");
			print_guids(gone);
		}
		putchar('\n');
	}
}

void partition_print_change(struct ctl *c, const char *verb, struct json_object *answer)
{
	bool is_delete = !strcmp(verb, "delete");
	char members[64], copies[CTL_COPIES_STRLEN];

	print_hosts(c, js_get(answer, "hosts"));
	if (js_has(answer, "blocks")) {
		print_dry_run(c, answer);
		print_pending(c, answer);
		return;
	}
	print_pending(c, answer);
	if (js_str(answer, "text")[0])
		puts(js_str(answer, "text"));
	if (!js_bool(answer, "changed"))
		printf("nothing to change");
	else if (is_delete)
		printf("deleted");
	else
		printf("done");
	if (!is_delete)
		printf(": %s", ctl_plural(js_int(answer, "n_members"), "member", members));
	printf(", generation %" PRId64, js_int(answer, "generation"));
	if (js_bool(answer, "changed"))
		printf(", %s", ctl_copies(answer, copies));
	putchar('\n');
}
