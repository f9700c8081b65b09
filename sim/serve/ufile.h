// SPDX-License-Identifier: BSD-2-Clause
/*
 * An open /dev/infiniband/umadN as the Linux kernel (user_mad.c) behaves: agents, headers of both
 * sizes, the queue of what came. No FUSE here: the caller brings the bytes and takes them away.
 *
 * Errors are those of the system calls: -EIO and -EPIPE when the port is gone, -EINVAL for
 * everything malformed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

#define UFILE_AGENTS 32
#define UFILE_IOCTL_MAX 64 /* bytes an ioctl takes and gives */

struct ufile;

struct ufile_counts {
	uint64_t sent, received, returned, dropped;
};

/* `readable` is called when something is there to be read where nothing was. */
struct ufile *ufile_new(struct sim *sim, int node, unsigned port, void (*readable)(void *owner),
			void *owner);
/* Which MADs the device carries: agents for others are refused, as the kernel does. */
enum ufile_takes { UFILE_ALL, UFILE_SMPS, UFILE_GMPS, UFILE_NOTHING };
void ufile_limit(struct ufile *f, enum ufile_takes takes);
enum ufile_takes ufile_takes(const struct ufile *f);
/* Closes its agents. NULL is fine; returns NULL. */
struct ufile *ufile_free(struct ufile *f);

/* One message with its header. The bytes taken (all of them), or -errno. */
int ufile_write(struct ufile *f, const uint8_t *bytes, size_t n);
/*
 * The next message with its header for a buffer of `room` bytes: 0 and *ret (the caller frees it),
 * *ret_n. -EAGAIN: nothing there. -EINVAL: less room than one MAD needs. -ENOSPC: a message of
 * several segments does not fit; it stays, and *ret is what the kernel leaves in the buffer all the
 * same.
 */
int ufile_read(struct ufile *f, size_t room, uint8_t **ret, size_t *ret_n);
bool ufile_is_readable(const struct ufile *f);
bool ufile_is_unplugged(const struct ufile *f);
/*
 * The ioctls REGISTER_AGENT, REGISTER_AGENT2, UNREGISTER_AGENT, ENABLE_PKEY. `arg` holds what the
 * caller gave (n bytes) and becomes what it gets. -ENOTTY: another one.
 */
int ufile_ioctl(struct ufile *f, unsigned request, uint8_t arg[UFILE_IOCTL_MAX], size_t n);
/* The device is removed; the file stays until it is closed. */
void ufile_unplug(struct ufile *f);

const struct ufile_counts *ufile_counts(const struct ufile *f);
