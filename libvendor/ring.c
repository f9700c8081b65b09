// SPDX-License-Identifier: BSD-2-Clause
/*
 * Single-writer, single-reader ring: its reader sleeps at a bell, its writer at a semaphore. Knows
 * nothing about what is in a slot.
 *
 * Each side announces that it is going to sleep, then looks again, then sleeps; the other side
 * publishes, then looks at the announcement. All four are sequentially consistent, so one of the
 * two always sees the other. A wake-up may come too often, never too rarely.
 */
#include "libvendor/ring.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/mem.h"

struct bell {
	int fd;
	int64_t owed; /* used by the reader: wake-ups announced, less those read from fd */
};

struct ring {
	/* constant */
	unsigned mask;
	size_t slot_size;
	uint8_t *slots;
	struct bell *bell; /* the reader's bell */
	sem_t room; /* the writer waits for it */

	/* written by the writer */
	alignas(64) atomic_uint tail;
	unsigned head_seen;
	unsigned notified; /* tail at the last notify */

	/* written by the reader */
	alignas(64) atomic_uint head;
	unsigned tail_seen;

	/* announcements: set by the sleeping thread, cleared by the one that wakes it */
	alignas(64) atomic_bool reader_sleeps;
	atomic_bool writer_sleeps;
};

static void eventfd_add(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* The sum of the additions since the last call; 0: none. */
static uint64_t eventfd_take(int fd)
{
	uint64_t count = 0;
	ssize_t n;

	do
		n = read(fd, &count, sizeof(count));
	while (n < 0 && errno == EINTR);
	return n == sizeof(count) ? count : 0;
}

static void *slot_at(const struct ring *r, unsigned index)
{
	return r->slots + (size_t)(index & r->mask) * r->slot_size;
}

struct bell *bell_new(enum bell_reader reader)
{
	struct bell *b = xcalloc(1, sizeof(*b));

	b->fd = eventfd(0, reader == BELL_POLLED ? EFD_CLOEXEC | EFD_NONBLOCK : EFD_CLOEXEC);
	return b->fd < 0 ? bell_free(b) : b;
}

struct bell *bell_free(struct bell *b)
{
	int saved = errno;

	if (b && b->fd >= 0)
		close(b->fd);
	free(b);
	errno = saved;
	return NULL;
}

int bell_fd(const struct bell *b)
{
	return b->fd;
}

void bell_ring(struct bell *b)
{
	eventfd_add(b->fd);
}

void bell_wait(struct bell *b)
{
	b->owed -= (int64_t)eventfd_take(b->fd);
}

/*
 * A writer adds to the bell once for each announcement that it clears, perhaps a moment later: what
 * writers owe is counted, so that an idle reader reads the descriptor neither too often nor too
 * rarely. What is read here may also be of a slot that came since: so the rings are asked again.
 */
bool bell_is_quiet(struct bell *b)
{
	if (b->owed <= 0)
		return true;
	b->owed -= (int64_t)eventfd_take(b->fd);
	return false;
}

struct ring *ring_new(unsigned slots, size_t slot_size, struct bell *bell)
{
	struct ring *r = xalloc_aligned64(sizeof(*r));

	assert(slots && !(slots & (slots - 1)) && bell);
	r->mask = slots - 1;
	r->slot_size = (slot_size + 63) & ~(size_t)63;
	r->bell = bell;
	sem_init(&r->room, 0, 0);
	/* The reader may poll before it asks for the first time. */
	atomic_init(&r->reader_sleeps, true);
	/* Pages cost nothing before a slot in them is used. */
	r->slots = xmalloc_aligned64(slots * r->slot_size);
	return r;
}

struct ring *ring_free(struct ring *r)
{
	int saved = errno;

	if (!r)
		return NULL;
	sem_destroy(&r->room);
	free(r->slots);
	free(r);
	errno = saved;
	return NULL;
}

void *ring_reserve(struct ring *r)
{
	unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (tail - r->head_seen > r->mask)
		r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
	return tail - r->head_seen > r->mask ? NULL : slot_at(r, tail);
}

void ring_wait_room(struct ring *r)
{
	ring_notify(r);
	atomic_store(&r->writer_sleeps, true);
	if (atomic_load(&r->tail) - atomic_load(&r->head) > r->mask)
		while (sem_wait(&r->room) < 0 && errno == EINTR)
			;
}

void ring_publish(struct ring *r)
{
	atomic_fetch_add(&r->tail, 1);
}

void ring_notify(struct ring *r)
{
	unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	if (r->notified == tail)
		return;
	r->notified = tail;
	if (atomic_load(&r->reader_sleeps) && atomic_exchange(&r->reader_sleeps, false))
		eventfd_add(r->bell->fd);
}

static void fall_asleep(struct ring *r)
{
	if (!atomic_exchange(&r->reader_sleeps, true))
		r->bell->owed++;
}

void *ring_front(struct ring *r)
{
	unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);

	if (r->tail_seen == head)
		r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	if (r->tail_seen == head) {
		fall_asleep(r);
		r->tail_seen = atomic_load(&r->tail);
	}
	return r->tail_seen == head ? NULL : slot_at(r, head);
}

void ring_pop(struct ring *r)
{
	atomic_fetch_add(&r->head, 1);
	if (atomic_load(&r->writer_sleeps) && atomic_exchange(&r->writer_sleeps, false))
		sem_post(&r->room);
}
