// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tree (tree.h) as a file system through libfuse's low-level interface: requests for places,
 * and programs that wait in a read, a poll or an open. One thread; the caller's loop waits for
 * fd().
 */
#pragma once

#include "sim/serve/control.h"

struct fs;

/* Mounts at `folder`. NULL: errno and a line on stderr. */
struct fs *fs_new(struct control *control, const char *folder);
/* Unmounts. NULL is fine; returns NULL. */
struct fs *fs_free(struct fs *fs);

/* Readable when there are requests. */
int fs_fd(const struct fs *fs);
/* Handles one request. 1: handled, 0: there was none, -errno: the file system is gone. */
int fs_step(struct fs *fs);
