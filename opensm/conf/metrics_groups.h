// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups of metrics that metrics_groups chooses from: what the option may say, its help, and what
 * metrics/ writes.
 */
#pragma once

#include <stdint.h>

/* ROW(MEMBER, NAME). Groups of "default": each has less than one series for a port. */
#define CONF_METRICS_SMALL(ROW)                                                                    \
	ROW(MANAGER, "manager")                                                                    \
	ROW(ALARMS, "alarms")                                                                      \
	ROW(SWEEPS, "sweeps")                                                                      \
	ROW(ROUTING, "routing")                                                                    \
	ROW(FABRIC, "fabric")                                                                      \
	ROW(LINKS, "links")                                                                        \
	ROW(TENANTS, "tenants")                                                                    \
	ROW(SECURITY, "security")                                                                  \
	ROW(CONGESTION, "congestion")                                                              \
	ROW(MADS, "mads")                                                                          \
	ROW(SA, "sa")                                                                              \
	ROW(PERFMGR, "perfmgr")                                                                    \
	ROW(SWITCHES, "switches")                                                                  \
	ROW(HOSTS, "hosts")

/* Groups that are only written if they are named, or with "all": several series for each port. */
#define CONF_METRICS_LARGE(ROW)                                                                    \
	ROW(CABLES, "cables")                                                                      \
	ROW(PORT_ERRORS, "port_errors")                                                            \
	ROW(PORT_TRAFFIC, "port_traffic")

#define CONF_METRICS_MEMBER(member, name) METRICS_##member,
enum metrics_group {
	CONF_METRICS_SMALL(CONF_METRICS_MEMBER) CONF_METRICS_LARGE(CONF_METRICS_MEMBER)
		METRICS_GROUPS
};
#define METRICS_BIT(group) (1u << (group))

/* "cables, port_errors, " */
#define CONF_METRICS_AND_COMMA(member, name) name ", "

/*
 * The groups that a value of metrics_groups names, of enum metrics_group, a bit each. Unknown words
 * are left out; the groups of "default" if there is no known one, and for NULL.
 */
uint32_t conf_metrics_groups(const char *list);
