// SPDX-License-Identifier: BSD-2-Clause
/* The InfiniBand ports of this host that a subnet manager can work through, as /sys lists them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * GUIDs of the ports with a umad device, in the order of these; to be freed. Ethernet ports are
 * left out, and devices with SMs disabled: the SMI device of such a port stands for it.
 */
uint64_t *ports_list(const char *sys_dir, size_t *ret_n);
bool ports_have(const uint64_t *ports, size_t n, uint64_t guid);
