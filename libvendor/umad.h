// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport over libibumad. Nothing else in the tree calls umad_*().
 *
 * A small receive thread blocks in umad_poll() and hands MADs over through a single-producer ring
 * and an eventfd: ibsim's libumad2sim intercepts read() and poll() on its descriptor, not epoll.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opensm/transport.h"

struct umad_port_choice {
	char device[64];      /* "mlx5_0" */
	int port;             /* 1..; 0 is the management port of a switch */
	uint64_t guid;
	unsigned state;       /* enum ib_port_state as sysfs tells; may be stale */
	unsigned lid;
};

/*
 * InfiniBand ports of this host with a non-zero GUID, in order of device name, then port. Returns
 * the number found (up to cap; 0 without any device) or -errno.
 */
int umad_list_ports(struct umad_port_choice *ret, size_t cap);

/*
 * The port to use out of `ports`: with `guid` that one; 0 picks the only port, else the first whose
 * link is ACTIVE, else the first that is not DOWN, else the first. Index, or -ENODEV.
 */
int umad_choose_port(const struct umad_port_choice *ports, size_t n, uint64_t guid);

/* Whether a link layer as sysfs words it (empty: an old kernel) can carry SMPs. */
bool umad_link_layer_fits(const char *link_layer);

/*
 * Opens the port with `guid` (0: see umad_choose_port). -ENODEV: not there (yet); -EACCES: no
 * rights; -EBUSY: another SM owns the agents (the caller waits and says so once); -errno. `why`
 * gets one line for the log, on success the name of the port.
 */
int umad_transport_open(uint64_t guid, struct transport **ret, char *why, size_t why_len);

/* Name of the device and port behind a transport made here ("mlx5_0/1"). */
const char *umad_transport_name(const struct transport *t);
