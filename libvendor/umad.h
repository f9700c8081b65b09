// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport over libibumad. Nothing else in the tree calls umad_*().
 *
 * A small receive thread per device blocks in umad_poll() and hands MADs over through a
 * single-producer ring and an eventfd: ibsim's libumad2sim intercepts read() and poll() on its
 * descriptor, not epoll.
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
	unsigned state;       /* enum ib_port_state from sysfs; may be stale */
	unsigned lid;
	bool sm_disabled;     /* IsSMDisabled: its device takes GMPs, no SMPs */
};

/*
 * InfiniBand ports of this host with a non-zero GUID, in order of device name, then port; the
 * caller frees *ret. Returns the number found (0 without any device) or -errno. Two with one GUID
 * are one port with a device for SMPs and one for GMPs.
 */
int umad_list_ports(struct umad_port_choice **ret);
/* Keeps in `ports` those that a manager may use, one for each GUID. Returns their number. */
size_t umad_keep_sm_ports(struct umad_port_choice *ports, size_t n);

/*
 * Chooses a port of `ports`, by its device for SMPs: with `guid` that one; 0 selects the only port,
 * else the first whose link is ACTIVE, else the first that is not DOWN, else the first. Never one
 * with SMs disabled. Index, or -ENODEV.
 */
int umad_choose_port(const struct umad_port_choice *ports, size_t n, uint64_t guid);
/* Writes the reason why umad_choose_port() found none. */
void umad_say_none(const struct umad_port_choice *ports, size_t n, uint64_t guid, char *why,
		   size_t why_len);

/*
 * The device for GMPs of port `smi`: the one with the same GUID and SMs disabled, according to
 * libibumad or, if it cannot tell, to the ports themselves; `smi` itself if there is none.
 */
size_t umad_gsi_of(const struct umad_port_choice *ports, size_t n, size_t smi);

/* A pair of devices as libibumad reports it since IBUMAD_1.4. */
struct umad_lib_pair {
	char smi_name[20];
	uint32_t smi_port;
	char gsi_name[20];
	uint32_t gsi_port;
};
typedef int (*umad_pair_fn)(const char *device, uint8_t port, struct umad_lib_pair *ret,
			    unsigned enforce_smi);
/* umad_gsi_of() with another function to ask; NULL: none. For tests. */
size_t umad_gsi_by(umad_pair_fn ask, const struct umad_port_choice *ports, size_t n, size_t smi);

/* Can a link layer of sysfs (empty: an old kernel) carry SMPs? */
bool umad_link_layer_fits(const char *link_layer);

/*
 * Opens the port with `guid` (0: see umad_choose_port). -ENODEV: there is no such port (yet), or
 * one of its two devices is missing; -EACCES: no permission; -EBUSY: another SM has the agents (the
 * caller waits and logs it once); -errno. `why` gets one line for the log, on success the name of
 * the port.
 */
int umad_transport_open(uint64_t guid, struct transport **ret, char *why, size_t why_len);

/*
 * Name of the device and port behind a transport made here: "mlx5_0/1", or "smi1/1 (GMPs by
 * mlx5_0/1)".
 */
const char *umad_transport_name(const struct transport *t);
