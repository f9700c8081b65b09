// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread that reads one open umad device and hands its MADs to the main thread through a ring.
 *
 *   main thread   receiver_next() <-- ring <-- umad_recv() <-- umad_poll()   receive thread
 *
 * Between receiver_new() and receiver_free() the descriptor must stay open.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>

#include "opensm/transport.h"

struct bell;
struct receiver;
struct window;

/*
 * `bell` rings when receiver_next() has something. Each answer to a request of `window` makes room
 * for the next one there, which the thread writes; while many more are to come, `bell` rings once
 * for several of them. NULL: there is no window. NULL and errno on failure.
 */
struct receiver *receiver_new(int fd, struct window *window, struct bell *bell);
/* The thread ends at its next look. NULL is fine. */
void receiver_stop(struct receiver *t);
/*
 * Stops it and waits. False: the thread does not come back from its device within `patience_ms`; it
 * and all it uses must be left alone until the process ends. NULL is fine.
 */
bool receiver_free(struct receiver *t, unsigned patience_ms);

/* The next event: true. TRANSPORT_GONE: the device is gone, nothing follows. */
bool receiver_next(struct receiver *t, struct transport_event *ret);
/* Has the thread ended because the device is gone? receiver_next() may still have MADs of it. */
bool receiver_is_gone(const struct receiver *t);

/*
 * What a failed call of libibumad meant: it leaves the reason in errno, its value is often just
 * EIO.
 */
static inline int umad_error(int result)
{
	return errno ? -errno : result < 0 ? result : -EIO;
}
