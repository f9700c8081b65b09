// SPDX-License-Identifier: BSD-2-Clause
/* A port for the log: its text and its journal fields. */
#pragma once

#include "fabric/words.h"
#include "sa/base/sa_internal.h"

struct sa_port_text {
	struct log_about about;
	char text[PLACE_STRLEN]; /* "'h3' port 1 (0x...), LID 7, behind 'leaf1' port 5" */
};
/*
 * Fills in the port of this GUID as the fabric knows it now, which may be more than the view knew.
 * A port that is gone, or has GUID 0, is shown by the given numbers. `ret->about` points into the
 * fabric.
 */
void sa_port_text(const struct sa *sa, guid_t port_guid, lid_t lid, struct sa_port_text *ret);
/* Fills in the port that sent a request. */
void sa_requester_text(const struct sa *sa, const struct sa_request *rq, struct sa_port_text *ret);
