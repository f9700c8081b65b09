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
 * `bell` rings when receiver_next() has an event. Each answer to a request of `window` makes room
 * for the next one, which the thread writes; while many more requests wait, `bell` rings once for
 * several answers. NULL: there is no window. NULL and errno on failure.
 */
struct receiver *receiver_new(int fd, struct window *window, struct bell *bell);
/* Lets the thread end soon. NULL is fine. */
void receiver_stop(struct receiver *t);
/*
 * Stops the thread and waits. False: it does not return from its device within `patience_ms`; the
 * thread and all it uses must be left alone until the process ends. NULL is fine.
 */
bool receiver_free(struct receiver *t, unsigned patience_ms);

/* The next event: true. TRANSPORT_GONE: the device is gone, nothing follows. */
bool receiver_next(struct receiver *t, struct transport_event *ret);
/* Has the thread ended because the device is gone? receiver_next() may still have MADs. */
bool receiver_is_gone(const struct receiver *t);

/*
 * The error of a failed call of libibumad: errno has the reason, while the result is often just
 * EIO.
 */
static inline int umad_error(int result)
{
	return errno ? -errno : result < 0 ? result : -EIO;
}
