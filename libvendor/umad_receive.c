// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread that reads a port; see umad_receive.h. It blocks in umad_poll(), reads what is there
 * and publishes it in the ring.
 */
#include "libvendor/umad_receive.h"

#include <assert.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "ib/mad.h"
#include "ib/records.h"
#include "libvendor/ring.h"
#include "libvendor/sender.h"
#include "libvendor/window.h"
#include "util/mem.h"

#define RING_SLOTS 512
/* umad_size() is this, or 56 without a P_Key index */
#define UMAD_HEADER_MAX OUT_HEADER
/* longer than any request: such a message is read and dropped */
#define WHOLE_MAX (64u << 10)
#define LOOK_MS 200                 /* how often the thread looks whether it is to end */
#define BATCH 32                    /* MADs read before the main thread must hear of them */
/* questions to the SA in a row, and nothing else: they come thick */
#define THICK_AFTER 64
#define THICK_BATCH 2               /* least number per pause for which they continue to be thick */
#define PAUSE_US 100
/* answers that the main thread hears of together while the wire is full, and how long at most */
#define UNHEARD_MAX 16u
#define UNHEARD_MS 1
#define EMPTY_READS_MAX 64          /* "readable" without anything to read: the port is dead */

struct slot {
	int error;      /* -errno: the port is gone, the other members are unset; 0: a MAD */
	int length;     /* bytes of the message */
	uint32_t took_us; /* since a request of the window was written; 0: it is no answer to one */
	uint8_t *whole; /* a message longer than one MAD, owned by the reader; else NULL */
	_Alignas(8) uint8_t umad[UMAD_HEADER_MAX + TRANSPORT_MAD_SIZE];
};

struct receiver {
	int fd;
	struct ring *ring;
	struct window *window; /* window of the device; NULL: none */
	pthread_t thread;
	atomic_bool stop;
	atomic_bool gone; /* set once, by the thread */
	void *big; /* used by the thread: messages that do not fit a slot */
	size_t big_size;
	unsigned questions; /* used by the thread: requests to the SA in a row */
	/* used by the thread: MADs published without waking the main thread; time of the first */
	unsigned unheard;
	int64_t unheard_since_us;
};

static bool nothing_yet(int error)
{
	return error == -EAGAIN || error == -EWOULDBLOCK || error == -EINTR || error == -ETIMEDOUT;
}

#define DROPPED 1

/*
 * A message longer than a slot: `length` is its real size. Keeps all of it, or DROPPED: any host
 * may send one of any length, and it stands before all others until it is read. Else as read_mad().
 */
static int read_big_mad(struct receiver *t, struct slot *slot, int length)
{
	size_t need = umad_size() + (size_t)length;
	_cleanup_free_ void *huge = NULL;
	void *big;
	int r;

	if (length <= 0)
		return -EIO;
	if (length <= (int)WHOLE_MAX)
		GROW(t->big, need, t->big_size);
	else
		huge = try_calloc(1, need, (size_t)INT_MAX + UMAD_HEADER_MAX);
	big = length <= (int)WHOLE_MAX ? t->big : huge;
	if (!big)
		return -EIO;
	errno = 0;
	r = umad_recv(t->fd, big, &length, 0);
	if (r < 0)
		return umad_error(r);
	if (huge)
		return DROPPED;
	slot->length = length;
	memcpy(slot->umad, big, umad_size() + MIN(length, TRANSPORT_MAD_SIZE));
	slot->whole = length > TRANSPORT_MAD_SIZE ? xmemdup(umad_get_mad(big), (size_t)length)
						  : NULL;
	return 0;
}

/*
 * Reads one MAD without waiting. 0: it is in `slot`; -EAGAIN and similar: there is none, or the
 * thread is to stop; -errno: the port is gone.
 */
static int read_mad(struct receiver *t, struct slot *slot)
{
	int r;

	do {
		slot->error = 0;
		slot->whole = NULL;
		slot->length = TRANSPORT_MAD_SIZE;
		errno = 0;
		r = umad_recv(t->fd, slot->umad, &slot->length, 0);
		if (r >= 0)
			return 0;
		r = umad_error(r);
		if (r == -ENOSPC)
			r = read_big_mad(t, slot, slot->length);
	} while (r == DROPPED && !atomic_load(&t->stop));
	return r == DROPPED ? -EAGAIN : r;
}

static void wake_main(struct receiver *t)
{
	t->unheard = 0;
	ring_notify(t->ring);
}

/* Sleeps until there may be something to read. False: there is not. */
static bool wait_readable(struct receiver *t)
{
	bool readable = umad_poll(t->fd, t->unheard ? UNHEARD_MS : LOOK_MS) != -ETIMEDOUT;

	if (!readable && t->unheard)
		wake_main(t);
	return readable;
}

static struct slot *free_slot(struct receiver *t)
{
	struct slot *slot;

	while (!(slot = ring_reserve(t->ring)) && !atomic_load(&t->stop))
		ring_wait_room(t->ring);
	return slot;
}

static bool is_question(const struct slot *slot)
{
	const uint8_t *mad = umad_get_mad((void *)slot->umad);

	return ib_get(mad, SMP_CLASS) == MAD_CLASS_SA &&
	       !(ib_get(mad, SMP_METHOD) & MAD_RESPONSE_BIT);
}

/* The end of a request on the wire: microseconds since it was written; 0: it is none. */
static uint32_t time_on_wire(const struct receiver *t, struct slot *slot)
{
	const uint8_t *mad = umad_get_mad(slot->umad);
	bool is_answer = umad_status(slot->umad) || ib_get(mad, SMP_METHOD) & MAD_RESPONSE_BIT;

	return t->window && is_answer
		       ? window_ended(t->window, (uint32_t)ib_get(mad, SMP_TID)) : 0;
}

/*
 * The place of what was answered is that of the next. Returns true if more answers are to come, so
 * that the main thread need not hear of this one at once. Before this thread waits for another one
 * that writes, all is told.
 */
static bool refill_window(struct receiver *t)
{
	if (!window_try_pump(t->window)) {
		wake_main(t);
		window_pump(t->window);
	}
	return window_has_plenty(t->window);
}

static void publish(struct receiver *t)
{
	if (!t->unheard++)
		t->unheard_since_us = out_now_us();
	ring_publish(t->ring);
}

/*
 * Reads the MADs that have arrived, at most BATCH. Returns their number; -errno: the port is gone.
 */
static int read_batch(struct receiver *t)
{
	bool urgent = false, is_end;
	struct slot *slot;
	int n, r;

	for (n = 0; n < BATCH; n++) {
		slot = free_slot(t);
		if (!slot)
			break;
		r = read_mad(t, slot);
		if (nothing_yet(r))
			break;
		if (r < 0)
			return r;
		t->questions = is_question(slot) ? t->questions + 1 : 0;
		slot->took_us = time_on_wire(t, slot);
		is_end = slot->took_us;
		publish(t);
		urgent |= !is_end || !refill_window(t);
	}
	if (urgent || t->unheard >= UNHEARD_MAX ||
	    (t->unheard && out_now_us() - t->unheard_since_us > UNHEARD_MS * 1000))
		wake_main(t);
	return n;
}

/*
 * Waking up for each of many questions costs more than their answers. While they come thick, and
 * nothing else comes that could be late, the thread sleeps a little instead of waiting for the
 * next. Returns true if it did.
 */
static bool coalesce_wakeups(const struct receiver *t)
{
	const struct timespec pause = { .tv_nsec = PAUSE_US * 1000 };

	if (t->questions < THICK_AFTER)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

static void *receive_loop(void *arg)
{
	struct receiver *t = arg;
	struct slot *slot;
	unsigned empty = 0;
	bool gathered;
	int n = 0;

	prctl(PR_SET_NAME, "umad-receive");
	while (n >= 0 && empty < EMPTY_READS_MAX && !atomic_load(&t->stop)) {
		gathered = coalesce_wakeups(t);
		if (!gathered && n < BATCH && !wait_readable(t))
			continue;
		n = read_batch(t);
		if (gathered && n < THICK_BATCH)
			t->questions = 0;
		empty = n == 0 ? empty + 1 : 0;
	}
	atomic_store(&t->gone, true);
	slot = atomic_load(&t->stop) ? NULL : free_slot(t);
	if (!slot)
		return NULL;
	slot->error = n < 0 ? n : -EIO;
	slot->whole = NULL;
	ring_publish(t->ring);
	wake_main(t);
	return NULL;
}

static void drop_unread(struct ring *ring)
{
	struct slot *slot;

	while (ring && (slot = ring_front(ring))) {
		free(slot->whole);
		ring_pop(ring);
	}
}

static int start_thread(struct receiver *t)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&t->thread, NULL, receive_loop, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

static void free_all(struct receiver *t)
{
	drop_unread(t->ring);
	ring_free(t->ring);
	free(t->big);
	free(t);
}

struct receiver *receiver_new(int fd, struct window *window, struct bell *bell)
{
	struct receiver *t = xcalloc(1, sizeof(*t));
	int r = ENOMEM;

	assert(fd >= 0);
	t->fd = fd;
	t->window = window;
	t->ring = ring_new(RING_SLOTS, sizeof(struct slot), bell);
	if (t->ring)
		r = start_thread(t);
	if (r == 0)
		return t;
	free_all(t);
	errno = r;
	return NULL;
}

void receiver_stop(struct receiver *t)
{
	if (t)
		atomic_store(&t->stop, true);
}

bool receiver_free(struct receiver *t, unsigned patience_ms)
{
	if (!t)
		return true;
	receiver_stop(t);
	drop_unread(t->ring);
	if (!thread_ends(t->thread, patience_ms))
		return false;
	free_all(t);
	return true;
}

bool receiver_is_gone(const struct receiver *t)
{
	return atomic_load_explicit(&t->gone, memory_order_relaxed);
}

static void read_grh(const ib_mad_addr_t *from, struct transport_addr *ret)
{
	ret->global = true;
	ret->grh = (struct transport_grh){
		.gid_index = from->gid_index,
		.hop_limit = from->hop_limit,
		.traffic_class = from->traffic_class,
		.flow_label = be32toh(from->flow_label) & 0xFFFFF,
	};
	memcpy(ret->grh.gid, from->gid, sizeof(ret->grh.gid));
}

static void read_slot(struct slot *slot, struct transport_event *ret)
{
	size_t first;
	const ib_mad_addr_t *from = umad_get_mad_addr(slot->umad);
	int status = umad_status(slot->umad);

	ret->kind = status ? TRANSPORT_RETURNED : TRANSPORT_MAD;
	ret->error = -status;
	ret->took_us = slot->took_us;
	ret->from = (struct transport_addr) {
		.lid = be16toh(from->lid),
		.sl = from->sl,
		.path_bits = from->path_bits,
		.qp = be32toh(from->qpn),
		.qkey = be32toh(from->qkey),
		.pkey_index = (uint16_t)umad_get_pkey(slot->umad),
	};
	if (from->grh_present)
		read_grh(from, &ret->from);
	ret->length = (size_t)slot->length;
	ret->whole = take(slot->whole);
	first = MIN(ret->length, (size_t)TRANSPORT_MAD_SIZE);
	memcpy(ret->mad, umad_get_mad(slot->umad), first);
	memset(ret->mad + first, 0, TRANSPORT_MAD_SIZE - first);
}

bool receiver_next(struct receiver *t, struct transport_event *ret)
{
	struct slot *slot = ring_front(t->ring);

	if (!slot)
		return false;
	if (slot->error) {
		ret->kind = TRANSPORT_GONE;
		ret->error = slot->error;
		ret->length = 0;
		ret->took_us = 0;
	} else {
		read_slot(slot, ret);
	}
	ring_pop(t->ring);
	return true;
}
