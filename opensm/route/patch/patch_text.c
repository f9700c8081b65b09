// SPDX-License-Identifier: BSD-2-Clause
/* The sentence of a patch. Its counts are the record; nothing here decides. */
#include "route/patch/patch_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "util/str.h"

/* Text that grows up to a bound; what does not fit is cut. */
struct text {
	char *at;
	size_t len, cap;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->at + t->len, t->cap - t->len, fmt, args);
	va_end(args);
	if (n > 0)
		t->len = t->len + (size_t)n < t->cap ? t->len + (size_t)n : t->cap - 1;
}

unsigned patch_tally_moved(const struct patch_tally *t)
{
	unsigned moved = 0;

	assert(t);
	for (unsigned how = 0; how < PATCH_WAITING; how++)
		moved += t->destinations[how];
	return moved;
}

const char *patch_way_words(enum patch_how how, unsigned cables)
{
	static const char *const words[PATCH_HOWS] = {
		[PATCH_BESIDE] = "beside it",
		[PATCH_RULE] = "by the engine's rule",
		[PATCH_NEIGHBOUR] = "by another neighbour",
		[PATCH_BACK] = "one hop back",
		[PATCH_WAITING] = "waiting",
	};

	assert(how < PATCH_HOWS);
	return how == PATCH_BESIDE && cables != 1 ? "beside them" : words[how];
}

static void add_loss(struct text *s, const char *what, unsigned cables)
{
	if (what && cables == 1)
		add(s, "%s lost", what);
	else if (what)
		add(s, "%s: %u cables lost", what, cables);
	else
		add(s, "%s lost", STR_COUNT(cables, "cable", "cables"));
}

/* Milliseconds; those below ten with one digit behind the point. */
static void add_time(struct text *s, unsigned us)
{
	unsigned tenths = us / 100 + (us % 100 >= 50);

	if (tenths < 100)
		add(s, " in %u.%u ms", tenths / 10, tenths % 10);
	else
		add(s, " in %u ms", us / 1000 + (us % 1000 >= 500));
}

static void add_ways(struct text *s, const struct patch_tally *t)
{
	unsigned waiting = t->destinations[PATCH_WAITING];

	add(s, " (");
	for (unsigned how = 0; how < PATCH_WAITING; how++)
		if (t->destinations[how])
			add(s, "%u %s, ", t->destinations[how], patch_way_words(how, t->cables));
	add(s, "%u waiting%s)", waiting, waiting ? " for the routing" : "");
}

static void add_trees(struct text *s, const struct patch_tally *t)
{
	if (!t->groups && !t->branches_waiting)
		return;
	add(s, "; trees of %s joined again",
	    STR_COUNT(t->groups, "multicast group", "multicast groups"));
	if (t->branches_waiting)
		add(s, ", %s waiting for the routing",
		    STR_COUNT(t->branches_waiting, "branch", "branches"));
}

char *patch_text(const char *what, const struct patch_tally *t, char *ret, size_t len)
{
	struct text s = { ret, 0, len };
	unsigned moved;

	assert(t && t->cables && ret && len);
	moved = patch_tally_moved(t);
	add_loss(&s, what, t->cables);
	if (!moved && !t->destinations[PATCH_WAITING]) {
		add(&s, ": no destination was routed over %s", t->cables == 1 ? "it" : "them");
	} else {
		add(&s, ": %s moved", STR_COUNT(moved, "destination", "destinations"));
		add_time(&s, t->us);
		add_ways(&s, t);
	}
	add_trees(&s, t);
	return ret;
}
