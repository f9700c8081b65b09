// SPDX-License-Identifier: BSD-2-Clause
/*
 * An open /dev/infiniband/umadN, behaving like the Linux kernel (user_mad.c): agents, headers of
 * both sizes, the queue of received MADs. No FUSE here: the caller moves the bytes.
 *
 * Errors are those of the system calls: -EIO and -EPIPE when the port is gone, -EINVAL for
 * malformed input.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

#define UFILE_AGENTS 32
#define UFILE_IOCTL_MAX 64 /* most bytes of an ioctl argument */

struct ufile;

struct ufile_counts {
	uint64_t sent, received, returned, dropped;
};

/* `readable` is called when the empty queue gets a message. */
struct ufile *ufile_new(struct sim *sim, int node, unsigned port, void (*readable)(void *owner),
			void *owner);
/* The MADs that the device carries: agents for others are refused, as by the kernel. */
enum ufile_takes { UFILE_ALL, UFILE_SMPS, UFILE_GMPS, UFILE_NOTHING };
void ufile_limit(struct ufile *f, enum ufile_takes takes);
enum ufile_takes ufile_takes(const struct ufile *f);
/* Closes the agents, too. NULL is fine; returns NULL. */
struct ufile *ufile_free(struct ufile *f);

/* Sends one message with its header. Returns the bytes taken (all of them), or -errno. */
int ufile_write(struct ufile *f, const uint8_t *bytes, size_t n);
/*
 * Takes the next message with its header for a buffer of `room` bytes: 0 and *ret (the caller frees
 * it), *ret_n. -EAGAIN: there is none. -EINVAL: less room than one MAD needs. -ENOSPC: a message of
 * several segments does not fit; it stays queued, and *ret is what the kernel leaves in the buffer
 * nevertheless.
 */
int ufile_read(struct ufile *f, size_t room, uint8_t **ret, size_t *ret_n);
bool ufile_is_readable(const struct ufile *f);
bool ufile_is_unplugged(const struct ufile *f);
/*
 * The ioctls REGISTER_AGENT, REGISTER_AGENT2, UNREGISTER_AGENT, ENABLE_PKEY. `arg` holds n bytes of
 * the caller and becomes the result. -ENOTTY: another ioctl.
 */
int ufile_ioctl(struct ufile *f, unsigned request, uint8_t arg[UFILE_IOCTL_MAX], size_t n);
/* Removes the device; the file stays until it is closed. */
void ufile_unplug(struct ufile *f);

const struct ufile_counts *ufile_counts(const struct ufile *f);
