// SPDX-License-Identifier: BSD-2-Clause
/*
 * The security checklist: thirteen lines that guides and controllers verify before tenants get root
 * on hosts, each with a verdict.
 *
 * A line passes only on what this host knows: the configuration in force, PortInfo as read from the
 * devices, managers that were seen. What it cannot know, and what is not supported, is UNKNOWN and
 * never a pass. Values of keys are not in it.
 */
#pragma once

#include "api/daemon_api.h"

#define SECURITY_CHECKS	   13
#define SECURITY_PORTS_MAX 20 /* ports that are named */

enum security_verdict { SECURITY_UNKNOWN, SECURITY_PASS, SECURITY_FAIL };

struct security_check {
	const char *name; /* constant: "m_key" */
	enum security_verdict verdict;
	char present[300];  /* present state, as a clause */
	const char *advice; /* what to do if it does not pass; constant */
};

struct security {
	struct security_check checks[SECURITY_CHECKS]; /* line n is checks[n - 1] */
	/* number of end ports without the protection that the configuration demands */
	unsigned n_ports;
	char ports[SECURITY_PORTS_MAX][PORT_STRLEN]; /* the first of these ports */
};

/* WITH_FILES also reads the configuration of opensm-rest; without it that line is UNKNOWN. */
enum security_reach { SECURITY_OF_MEMORY, SECURITY_WITH_FILES };

/* Main thread only. O(end ports). */
void security_judge(const struct daemon_api *api, enum security_reach reach, struct security *ret);
unsigned security_count(const struct security *s, enum security_verdict verdict);
const char *security_verdict_name(enum security_verdict verdict); /* "pass" */
