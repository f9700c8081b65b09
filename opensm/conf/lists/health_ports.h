// SPDX-License-Identifier: BSD-2-Clause
/*
 * hm_ports_health_policy_file: ports whose links are exempt from the checks of their health, and
 * links that an administrator calls sick.
 *
 *	0x0002c90300000001 12 healthy
 *	0x0002c90300000001 13 unhealthy disable		# or no action: hm_..._manual_action
 *	all healthy
 *
 * A port is named by the GUID of its node; whichever end of a cable that is, it counts for the
 * cable. "0x" may be left out, '#' begins a comment, words may be of any case. Whether there is
 * such a port is not known here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"
#include "util/types.h"

#define CONF_HEALTH_PORTS_MAX 65536 /* lines; more are ignored, with a finding */

/* The action of a line, as in options hm_..._action, by severity; NONE: the line has none. */
enum conf_health_action {
	CONF_HEALTH_IGNORE,
	CONF_HEALTH_REPORT,
	CONF_HEALTH_ISOLATE,
	CONF_HEALTH_NO_DISCOVER,
	CONF_HEALTH_DISABLE,
	CONF_HEALTH_NONE,
};

struct conf_health_port {
	guid_t guid;
	uint8_t port; /* 1..254 */
	bool healthy;
	enum conf_health_action action;
	unsigned line;
};

struct conf_health_ports {
	struct conf_health_port *items; /* by GUID and port, each once */
	size_t n;
	bool all_healthy;
};

/* Returns as conf_prefixes_read_text(). */
int conf_health_ports_read_text(const char *path, const char *text, size_t len,
				struct conf_health_ports *ret, struct conf_report *r);
void conf_health_ports_clear(struct conf_health_ports *p);
/* The line for a port; NULL: there is none. */
const struct conf_health_port *conf_health_ports_find(const struct conf_health_ports *p,
						      guid_t guid, unsigned port);
