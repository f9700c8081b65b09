// SPDX-License-Identifier: BSD-2-Clause
/* The InfiniBand ports of this host, and the one that a manager binds to. */
#include "libvendor/umad.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"

bool umad_link_layer_fits(const char *link_layer)
{
	return !*link_layer || !strcmp(link_layer, "InfiniBand") || !strcmp(link_layer, "IB");
}

int umad_choose_port(const struct umad_port_choice *ports, size_t n, uint64_t guid)
{
	int up = -1;

	for (size_t i = 0; i < n; i++) {
		if (guid && ports[i].guid == guid)
			return (int)i;
		if (!guid && ports[i].state == IB_PORT_ACTIVE)
			return (int)i;
		if (up < 0 && ports[i].state > IB_PORT_DOWN)
			up = (int)i;
	}
	if (guid || !n)
		return -ENODEV;
	return up < 0 ? 0 : up;
}

/* Ports of one device that an SM could use, appended to ret[n..cap). The new n. */
static size_t list_device(const char *device, struct umad_port_choice *ret, size_t n, size_t cap)
{
	umad_ca_t ca;

	if (umad_get_ca(device, &ca) < 0)
		return n;
	for (int i = 0; i < UMAD_CA_MAX_PORTS && n < cap; i++) {
		const umad_port_t *port = ca.ports[i];

		if (!port || !port->port_guid || !umad_link_layer_fits(port->link_layer))
			continue;
		ret[n] = (struct umad_port_choice) {
			.port = port->portnum,
			.guid = be64toh(port->port_guid),
			.state = port->state,
			.lid = port->base_lid,
		};
		snprintf(ret[n].device, sizeof(ret[n].device), "%s", port->ca_name);
		n++;
	}
	umad_release_ca(&ca);
	return n;
}

int umad_list_ports(struct umad_port_choice *ret, size_t cap)
{
	struct umad_device_node *devices;
	size_t n = 0;

	if (umad_init() < 0)
		return -ENODEV;
	devices = umad_get_ca_device_list();
	if (devices)
		umad_sort_ca_device_list(&devices, 0);
	for (const struct umad_device_node *d = devices; d; d = d->next)
		n = list_device(d->ca_name, ret, n, cap);
	umad_free_ca_device_list(devices);
	return (int)n;
}
