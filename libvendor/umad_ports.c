// SPDX-License-Identifier: BSD-2-Clause
/* The InfiniBand ports of this host, and the one that a manager binds to. */
#include "libvendor/umad.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"
#include "util/mem.h"

bool umad_link_layer_fits(const char *link_layer)
{
	return !*link_layer || !strcmp(link_layer, "InfiniBand") || !strcmp(link_layer, "IB");
}

/* Finds the device with this GUID; one that is not DOWN is preferred. */
static int find_guid(const struct umad_port_choice *ports, size_t n, uint64_t guid, bool disabled)
{
	int found = -ENODEV;

	for (size_t i = 0; i < n; i++) {
		if (ports[i].guid != guid || ports[i].sm_disabled != disabled)
			continue;
		if (ports[i].state > IB_PORT_DOWN)
			return (int)i;
		found = found < 0 ? (int)i : found;
	}
	return found;
}

int umad_choose_port(const struct umad_port_choice *ports, size_t n, uint64_t guid)
{
	int up = -1, first = -ENODEV;

	if (guid)
		return find_guid(ports, n, guid, false);
	for (size_t i = 0; i < n; i++) {
		if (ports[i].sm_disabled)
			continue;
		if (ports[i].state == IB_PORT_ACTIVE)
			return (int)i;
		if (up < 0 && ports[i].state > IB_PORT_DOWN)
			up = (int)i;
		first = first < 0 ? (int)i : first;
	}
	return up < 0 ? first : up;
}

void umad_say_none(const struct umad_port_choice *ports, size_t n, uint64_t guid, char *why,
		   size_t why_len)
{
	const struct umad_port_choice *gsi = NULL;

	for (size_t i = 0; i < n && !gsi; i++)
		if (ports[i].sm_disabled && (!guid || ports[i].guid == guid))
			gsi = &ports[i];
	if (gsi)
		snprintf(why, why_len,
			 "%s/%d, GUID 0x%016llx: port has SMs disabled; needs an SMI device "
			 "(rdma dev add NAME type SMI parent %s)",
			 gsi->device, gsi->port, (unsigned long long)gsi->guid, gsi->device);
	else if (!n)
		snprintf(why, why_len, "this host has no InfiniBand port");
	else
		snprintf(why, why_len,
			 "none of this host's %zu InfiniBand ports has GUID 0x%016llx", n,
			 (unsigned long long)guid);
}

size_t umad_keep_sm_ports(struct umad_port_choice *ports, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!ports[i].sm_disabled && find_guid(ports, kept, ports[i].guid, false) < 0)
			ports[kept++] = ports[i];
	return kept;
}

/* ---- pairs of devices ---- */

/* The port that libibumad names, if it can be right: of the same GUID, with SMs disabled. */
static int find_named(const struct umad_port_choice *ports, size_t n, uint64_t guid,
		      const struct umad_lib_pair *pair)
{
	for (size_t i = 0; i < n; i++)
		if (ports[i].guid == guid && ports[i].sm_disabled &&
		    (uint32_t)ports[i].port == pair->gsi_port &&
		    !strncmp(ports[i].device, pair->gsi_name, sizeof(pair->gsi_name)))
			return (int)i;
	return -ENODEV;
}

size_t umad_gsi_by(umad_pair_fn ask, const struct umad_port_choice *ports, size_t n, size_t smi)
{
	const struct umad_port_choice *p = &ports[smi];
	struct umad_lib_pair pair = { 0 };
	int found = -ENODEV;

	if (ask && ask(p->device, (uint8_t)p->port, &pair, 1) == 0)
		found = find_named(ports, n, p->guid, &pair);
	if (found < 0)
		found = find_guid(ports, n, p->guid, true);
	return found < 0 ? smi : (size_t)found;
}

size_t umad_gsi_of(const struct umad_port_choice *ports, size_t n, size_t smi)
{
	umad_pair_fn ask;

	*(void **)&ask = dlsym(RTLD_DEFAULT, "umad_get_smi_gsi_pair_by_ca_name");
	return umad_gsi_by(ask, ports, n, smi);
}

/* ---- what there is ---- */

struct port_list {
	struct umad_port_choice *ports;
	size_t n, cap;
};

/* Ports of one device that carry MADs. */
static void list_device(const char *device, struct port_list *list)
{
	umad_ca_t ca;

	if (umad_get_ca(device, &ca) < 0)
		return;
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		const umad_port_t *port = ca.ports[i];
		struct umad_port_choice *p;

		if (!port || !port->port_guid || !umad_link_layer_fits(port->link_layer))
			continue;
		GROW(list->ports, list->n + 1, list->cap);
		p = &list->ports[list->n++];
		*p = (struct umad_port_choice) {
			.port = port->portnum,
			.guid = be64toh(port->port_guid),
			.state = port->state,
			.lid = port->base_lid,
			.sm_disabled = be32toh(port->capmask) & IB_CAP(IB_CAP_SM_DISABLED),
		};
		snprintf(p->device, sizeof(p->device), "%s", port->ca_name);
	}
	umad_release_ca(&ca);
}

int umad_list_ports(struct umad_port_choice **ret)
{
	struct umad_device_node *devices;
	struct port_list list = { 0 };

	if (umad_init() < 0)
		return -ENODEV;
	devices = umad_get_ca_device_list();
	if (devices)
		umad_sort_ca_device_list(&devices, 0);
	for (const struct umad_device_node *d = devices; d; d = d->next)
		list_device(d->ca_name, &list);
	umad_free_ca_device_list(devices);
	*ret = list.ports;
	return (int)list.n;
}
