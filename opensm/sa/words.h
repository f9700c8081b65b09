// SPDX-License-Identifier: BSD-2-Clause
/* Who asked, and whose port it is, for the log. */
#pragma once

#include "fabric/words.h"
#include "sa/impl.h"

/* The port of this GUID, with what the journal is told of it; nobody's is its GUID. */
struct sa_who {
	struct log_about about;
	char text[PLACE_STRLEN]; /* "'h3' port 1 (0x...), LID 7, behind 'leaf1' port 5" */
};
void sa_who_port(const struct sa *sa, guid_t port_guid, lid_t lid, struct sa_who *ret);
/* The requester. */
void sa_who_asks(const struct sa *sa, const struct sa_request *rq, struct sa_who *ret);
