// SPDX-License-Identifier: BSD-2-Clause
/* Describes requesters for the log. */
#include "sa/base/requester.h"

#include <inttypes.h>
#include <stdio.h>

#include "view/view.h"

void sa_port_text(const struct sa *sa, guid_t port_guid, lid_t lid, struct sa_port_text *ret)
{
	const struct port *p = port_guid ? fabric_find_port(sa->fabric, port_guid) : NULL;

	ret->about = ABOUT(.port_guid = port_guid, .lid = lid);
	if (p) {
		ret->about.node_guid = p->node->guid;
		ret->about.name = node_name(p->node);
		ret->about.port = p->num;
		fabric_place_str(p, ret->text);
	} else if (port_guid) {
		snprintf(ret->text, sizeof(ret->text), "port 0x%016" PRIx64 ", LID %u", port_guid,
			 lid);
	} else {
		snprintf(ret->text, sizeof(ret->text), "LID %u", lid);
	}
}

void sa_requester_text(const struct sa *sa, const struct sa_request *rq, struct sa_port_text *ret)
{
	guid_t guid = sa->view && rq->port != VIEW_NONE ? sa->view->ports[rq->port].guid : 0;

	sa_port_text(sa, guid, rq->from.lid, ret);
}
