// SPDX-License-Identifier: BSD-2-Clause
/* The InfiniBand ports of this host that a subnet manager can use, from /sys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * GUIDs of the ports with a umad device, in the order of the devices; to be freed. Ethernet ports
 * are left out, and devices with SMs disabled: such a port is found by its SMI device.
 */
uint64_t *ports_list(const char *sys_dir, size_t *ret_n);
bool ports_have(const uint64_t *ports, size_t n, uint64_t guid);
