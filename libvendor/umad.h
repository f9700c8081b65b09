// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport over libibumad. Nothing else in the tree calls umad_*().
 *
 * A small receive thread blocks in umad_recv() and hands MADs over through a single-producer ring
 * and an eventfd: ibsim's libumad2sim intercepts read() and poll() on its descriptor, not epoll.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "opensm/transport.h"

struct umad_port_choice {
	char device[64];      /* "mlx5_0" */
	int port;
	uint64_t guid;
	unsigned state;       /* enum ib_port_state as sysfs tells; may be stale */
	unsigned lid;
};

/* InfiniBand ports of this host with a non-zero GUID, in device order. Returns the number found (up to cap) or -errno. */
int umad_list_ports(struct umad_port_choice *ret, size_t cap);

/*
 * Opens the port with `guid`; 0 picks the only port, else the first whose link is up (ACTIVE
 * before merely not DOWN), else the first. Ethernet link layers and zero GUIDs are passed over.
 * -ENODEV: not there (yet); -EPERM/-EACCES: no rights; -EBUSY: another SM owns the agents (the
 * caller waits and says so once). `why` gets one line for the log.
 */
int umad_transport_open(uint64_t guid, struct transport **ret, char *why, size_t why_len);

/* Name of the device and port behind a transport made here ("mlx5_0/1"). */
const char *umad_transport_name(const struct transport *t);
