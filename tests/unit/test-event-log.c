// SPDX-License-Identifier: BSD-2-Clause
/* Events that wait for subscribers: they stay where they are, and the oldest make room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sa/notice/event_log.h"
#include "util/mem.h"

static struct event *append(struct event_log *l, uint16_t pkey)
{
	struct event *e = event_log_append(l);

	*e = (struct event){ .pkey = pkey };
	return e;
}

static unsigned n_pages(const struct event_log *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < EVENT_LOG_PAGES; i++)
		n += l->pages[i] ? 1 : 0;
	return n;
}

/* A table that grows by copying would hold up all that waits meanwhile. */
static void an_event_stays_where_it_is_however_many_follow(void **state)
{
	_cleanup_free_ struct event_log *l = xcalloc(1, sizeof(*l));
	struct event *first = append(l, 1);

	for (unsigned i = 1; i < EVENT_LOG_MAX; i++)
		append(l, (uint16_t)(i + 1));
	assert_ptr_equal(event_log_at(l, 0), first);
	for (unsigned i = 0; i < EVENT_LOG_MAX; i++)
		assert_int_equal(event_log_at(l, i)->pkey, (uint16_t)(i + 1));
	event_log_release(l);
	assert_int_equal(n_pages(l), 0);
}

static void the_oldest_make_room(void **state)
{
	_cleanup_free_ struct event_log *l = xcalloc(1, sizeof(*l));

	for (unsigned i = 0; i < 3 * EVENT_LOG_MAX + 7; i++) {
		append(l, (uint16_t)i);
		assert_true(l->end - l->first <= EVENT_LOG_MAX);
	}
	assert_int_equal(l->end - l->first, EVENT_LOG_MAX);
	for (uint64_t i = l->first; i < l->end; i++)
		assert_int_equal(event_log_at(l, i)->pkey, (uint16_t)i);
	event_log_release(l);
	assert_int_equal(n_pages(l), 0);
}

static void pages_go_with_their_events(void **state)
{
	_cleanup_free_ struct event_log *l = xcalloc(1, sizeof(*l));

	for (unsigned i = 0; i < 10 * EVENT_LOG_PAGE + 1; i++)
		append(l, 0);
	assert_int_equal(n_pages(l), 11);
	for (unsigned i = 0; i < 9 * EVENT_LOG_PAGE; i++)
		event_log_forget_oldest(l);
	assert_int_equal(n_pages(l), 2);
	event_log_clear(l);
	assert_int_equal(n_pages(l), 1);
	append(l, 3);
	assert_int_equal(event_log_at(l, 10 * EVENT_LOG_PAGE + 1)->pkey, 3);
	event_log_release(l);
	assert_int_equal(n_pages(l), 0);
}

/* What the address sanitizer says of it counts, too. */
static void an_audience_lives_as_long_as_its_events(void **state)
{
	_cleanup_free_ struct event_log *l = xcalloc(1, sizeof(*l));
	struct pkey_entry entry = { 0 };
	const struct pkey_set set = { .entries = &entry, .n = 1 };
	struct audience *a = audience_new(&set);
	struct event copy;

	append(l, 0)->audience = a;
	copy = event_copy(event_log_at(l, 0));
	assert_int_equal(a->refs, 2);
	event_log_clear(l);
	assert_int_equal(copy.audience->refs, 1);
	assert_ptr_not_equal(copy.audience->set.entries, set.entries);
	assert_null(audience_unref(copy.audience));
	event_log_release(l);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_stays_where_it_is_however_many_follow),
		cmocka_unit_test(the_oldest_make_room),
		cmocka_unit_test(pages_go_with_their_events),
		cmocka_unit_test(an_audience_lives_as_long_as_its_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
