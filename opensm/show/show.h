// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subnet as JSON documents: topology, nodes, ports, routes, paths, partitions, groups,
 * registrations.
 */
#pragma once

#include "api/control_method.h"

struct alarm;
struct sa_stats;
struct sm_ledger_peer;

/* Ends with a row without a name. */
extern const struct control_method show_methods[];

/* Called with the GUID of an end port of words[at]; `is_gone`: its node left the fabric. */
typedef void show_host_fn(void *arg, size_t at, guid_t guid, bool is_gone);
/*
 * Finds the end ports of `n` hosts by name (of the map, else the description, or the first word of
 * these, which several adapters may share), or of one port (NAME/PORT), in the order of `words`.
 * `also_gone`: by the names of nodes that left the fabric lately, too; for removals. False: `err`
 * says which word is unknown (NotFound) or the name of several nodes (InvalidParameter); `port` may
 * have been called for some. O((nodes + words) * log words), whatever the words are.
 */
bool show_hosts(const struct daemon_api *api, const char *const *words, size_t n, bool also_gone,
		show_host_fn *port, void *arg, struct control_error *err);

/* An alarm (sm/alarms/alarms.h); the caller owns it. */
struct json_object *show_alarm(const struct alarm *a);
extern const struct json_field show_alarm_fields[];

/* The numbers of requests to the SA and of registrations. */
struct json_object *show_sa_counts(const struct sa_stats *c);
extern const struct json_field show_sa_count_fields[];

/* Another manager of ours, and how much of this one's ledger it has (sm/sm_ledger.h). */
struct json_object *show_ledger_peer(const struct sm *sm, const struct sm_ledger_peer *p);
extern const struct json_field show_ledger_peer_fields[];
