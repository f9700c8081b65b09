// SPDX-License-Identifier: BSD-2-Clause
/*
 * Endpoints of opensm-rest: shared by api_*.c.
 *
 *   api_table.c       which function answers which path
 *   api_partitions.c  reads partitions            api_change.c  changes them
 *   api_members.c     members and fields of a change, as bodies have them
 *   api_ports.c       /resources/ports, and filters
 *   api_systems.c     /resources/systems and links
 *   api_marks.c       ports out of service
 *   api_topology.c    the expected topology
 *   api_app.c         the manager itself, and what is not there
 *   api_fabric.[ch]   the fabric as these speak of it
 *   api_values.[ch], api_hosts.c  spellings
 *   api_text.[ch]     long answers, written without a tree of objects
 *   api_turn.[ch]     large documents of the manager, one at a time
 *
 * Each endpoint is a function of a request that calls the manager (rest_call()) and fills an
 * answer. None keeps state: several run at once, except those with large documents.
 */
#pragma once

#include "rest/api_values.h"
#include "rest/rest.h"

typedef void api_fn(const struct rest_request *q, struct rest_answer *ret);

/* ---- api_partitions.c ---- */

api_fn api_pkeys, api_pkey, api_last_updated;
/*
 * Finds the partition of a key in TenantPartitions: an object that the caller puts. NULL: there is
 * none, or `ret` is filled with the reason (then `*ret_failed`).
 */
struct json_object *api_find_partition(const struct rest_request *q, struct rest_answer *ret,
				       uint16_t pkey, bool members, bool *ret_failed);

/*
 * For a P_Key without a partition: waits until it is confirmed removed from all ports, until
 * q->until at the latest; returns at once with ?wait=0. False: `ret` is filled with the reason, 504
 * if there are such ports.
 */
bool api_wait_settled(const struct rest_request *q, struct rest_answer *ret, uint16_t pkey);

/* ---- api_change.c ---- */

api_fn api_add_guids, api_set_guids, api_create, api_configure, api_delete;
api_fn api_remove_guids, api_remove_listed, api_add_hosts, api_remove_hosts;

/* ---- api_members.c ---- */

/*
 * Members of a body for ChangePartition: an array, the caller's, made of "guids" or "hosts_names"
 * with "membership", "memberships" and "index0". NULL: `why` says what is wrong.
 */
struct json_object *api_members_of_guids(struct json_object *body, char why[API_WHY_MAX]);
struct json_object *api_members_of_hosts(struct json_object *body, char why[API_WHY_MAX]);
/* Members from a part of a path: "G1,G2", "h1,h[2-4]". */
struct json_object *api_members_of_guid_list(const char *list, char why[API_WHY_MAX]);
struct json_object *api_members_of_host_list(const char *list, char why[API_WHY_MAX]);
/* Adds name, ip_over_ib, mtu, rate and sl, as far as the body has them. False: `why`. */
bool api_add_fields(struct json_object *body, struct json_object *parameters,
		    char why[API_WHY_MAX]);

/* ---- api_ports.c, api_systems.c, api_app.c ---- */

api_fn api_ports, api_port, api_systems, api_links;
api_fn api_version, api_smconf, api_smconf_refused, api_nothing;
api_fn api_actions;

/* ---- api_topology.c ---- */

api_fn api_topology, api_set_topology;

/* ---- api_marks.c ---- */

api_fn api_unhealthy, api_unhealthy_one, api_isolated, api_set_unhealthy, api_job;
/* Answers a request whose body is an object. */
void api_mark_device(const struct rest_request *q, struct rest_answer *ret, bool unhealthy);

/* ---- all files ---- */

/* {"error":"text"} with 400. */
#define api_refuse(ret, ...) rest_answer_error((ret), 400, __VA_ARGS__)
