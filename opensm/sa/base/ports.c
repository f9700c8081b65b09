// SPDX-License-Identifier: BSD-2-Clause
/* Finds ports by GID or interface id, aliases included. */
#include "sa/guidinfo.h"
#include "sa/base/sa_internal.h"
#include "util/guidmap.h"
#include "view/view.h"

void sa_gid(uint64_t prefix, guid_t id, uint8_t ret[16])
{
	ib_bits_put(ret, 0, 64, prefix);
	ib_bits_put(ret, 64, 64, id);
}

uint32_t sa_port_of_interface_id(const struct sa *sa, const struct view *v, guid_t id)
{
	uint32_t port = view_port_of_guid(v, id);
	const struct alias_port *p;

	if (port != VIEW_NONE || !id)
		return port;
	p = guidmap_get(sa->guids->by_guid, id);
	return p ? view_port_of_guid(v, p->port) : VIEW_NONE;
}
