// SPDX-License-Identifier: BSD-2-Clause
/* The owner of the process at the other end of a TCP connection within this machine. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * `from`: "127.0.0.1:40022", the end that connected to port `to` of 127.0.0.1. 0; -ENOENT: no
 * process of this machine holds that end; other -errno: the kernel does not say. On failure the
 * peer is not to be trusted.
 *
 * Must be called while the connection is new: an end that was closed has no owner. An end that was
 * passed to another process belongs to the user that opened it.
 */
int tcp_peer_uid(const char *from, uint16_t to, uid_t *ret);
