// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device files beyond those that libibumad looks for: before IBUMAD_1.4 it knows umad0 to umad63,
 * and a host with 128 devices has more. Its other calls take any descriptor.
 */
#pragma once

/* The N of /dev/infiniband/umadN and issmN of this port, or -ENODEV. */
int umad_file_number(const char *device, int port);

/* Opens /dev/infiniband/umadN of the port as umad_open_port() does. The descriptor, or -errno. */
int umad_file_open(const char *device, int port);
