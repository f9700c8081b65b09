// SPDX-License-Identifier: BSD-2-Clause
/*
 * The audit: one record per request that asks for a change, and per login that is refused; other
 * requests at debug. In the journal with fields (REST_USER, REST_ADDRESS, REST_REQUEST,
 * REST_METHOD, REST_PATH, REST_STATUS, REST_GENERATION), else as lines on stderr.
 *
 * Changes that were made, and those whose end is not known (504), are always written. What is
 * refused is written at most ten times in ten seconds, with the number that was left out.
 */
#pragma once

#include "rest/rest.h"
#include "util/log.h"

struct audit_record {
	const char *user; /* NULL: none is known */
	const char *address, *request, *method, *path;
	unsigned status;
	uint64_t generation; /* 0: none */
	bool is_change;	     /* the request asks for a change */
	bool changed;	     /* set if something was changed */
};

struct audit {
	struct log_limit refused;
};

void audit_open(struct audit *a);
void audit_write(struct audit *a, const struct audit_record *record, mono_t now);
