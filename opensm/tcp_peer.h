// SPDX-License-Identifier: BSD-2-Clause
/* Whose process is at the other end of a TCP connection within this machine. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * `from`: "127.0.0.1:40022", whoever connected to port `to` of 127.0.0.1. 0; -ENOENT: nobody holds that end
 * any more, or it is none of this machine; other -errno: the kernel does not say (then nothing is known,
 * and nobody to be trusted).
 *
 * To be asked while the connection is young: an end that was closed belongs to nobody. An end that a
 * process was given by another counts as that of who opened it.
 */
int tcp_peer_uid(const char *from, uint16_t to, uid_t *ret);
