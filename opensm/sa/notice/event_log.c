// SPDX-License-Identifier: BSD-2-Clause
/* Events in pages; a page is found by the number of any of its events. */
#include "sa/notice/event_log.h"

#include <assert.h>

#include "util/mem.h"

static size_t page_of(uint64_t number)
{
	return number / EVENT_LOG_PAGE % EVENT_LOG_PAGES;
}

struct event *event_log_at(const struct event_log *l, uint64_t number)
{
	assert(number >= l->first && number < l->end);
	return &l->pages[page_of(number)][number % EVENT_LOG_PAGE];
}

struct event *event_log_append(struct event_log *l)
{
	struct event **page = &l->pages[page_of(l->end)];

	if (l->end - l->first == EVENT_LOG_MAX)
		event_log_forget_oldest(l);
	if (!*page)
		*page = xcalloc(EVENT_LOG_PAGE, sizeof(**page));
	return event_log_at(l, l->end++);
}

static void free_page(struct event_log *l, uint64_t number)
{
	struct event **page = &l->pages[page_of(number)];

	free(*page);
	*page = NULL;
}

void event_log_forget_oldest(struct event_log *l)
{
	struct event *e = event_log_at(l, l->first);

	e->audience = audience_unref(e->audience);
	l->first++;
	if (l->first % EVENT_LOG_PAGE == 0)
		free_page(l, l->first - 1);
}

void event_log_clear(struct event_log *l)
{
	while (l->first < l->end)
		event_log_forget_oldest(l);
}

void event_log_release(struct event_log *l)
{
	event_log_clear(l);
	free_page(l, l->first);
}

/* ---- audiences ------------------------------------------------------------------------------ */

struct event event_copy(const struct event *e)
{
	if (e->audience)
		e->audience->refs++;
	return *e;
}

struct audience *audience_new(const struct pkey_set *set)
{
	struct audience *a = xcalloc(1, sizeof(*a));

	a->refs = 1;
	a->made_from = set;
	a->set = *set;
	a->set.entries = xmemdup(set->entries, set->n * sizeof(*set->entries));
	return a;
}

struct audience *audience_unref(struct audience *a)
{
	if (a && --a->refs == 0) {
		free(as_owner(a->set.entries));
		free(a);
	}
	return NULL;
}
