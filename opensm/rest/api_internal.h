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
 *   api_alarms.c      what is wrong, and what is out of service
 *   api_jobs.c        changes that go on, and that have ended
 *   api_topology.c    the expected topology
 *   api_app.c         the manager itself, and what is not there
 *   api_page.c        the data of the page for a browser
 *   api_fabric.[ch]   the fabric as these speak of it
 *   api_values.[ch], api_hosts.c  spellings
 *   api_text.[ch]     long answers, written without a tree of objects
 *   http/turn.[ch]     large documents of the manager, one at a time
 *
 * Each endpoint is an operation whose function calls the manager (rest_call()) and fills an answer.
 * None keeps state: several run at once, except those with large documents.
 */
#pragma once

#include "rest/api_values.h"
#include "rest/rest.h"

/* ---- operations: columns of api_table.c ---- */

extern const struct rest_operation api_pkeys, api_pkey, api_last_updated; /* api_partitions.c */
/* api_change.c */
extern const struct rest_operation api_add_guids, api_set_guids, api_create, api_configure;
extern const struct rest_operation api_delete, api_remove_guids, api_remove_listed;
extern const struct rest_operation api_add_hosts, api_remove_hosts;
extern const struct rest_operation api_ports, api_port;		  /* api_ports.c */
extern const struct rest_operation api_systems, api_links;	  /* api_systems.c */
extern const struct rest_operation api_topology, api_set_topology; /* api_topology.c */
/* api_marks.c */
extern const struct rest_operation api_unhealthy, api_unhealthy_one, api_set_unhealthy;
extern const struct rest_operation api_isolated, api_actions;
extern const struct rest_operation api_jobs, api_job; /* api_jobs.c */
extern const struct rest_operation api_alarms;	      /* api_alarms.c */
/* api_app.c */
extern const struct rest_operation api_openapi, api_version, api_smconf, api_set_smconf;
extern const struct rest_operation api_vports;
extern const struct rest_operation api_page; /* api_page.c */

/* ---- api_partitions.c ---- */

/*
 * Finds the partition of a key in TenantPartitions: an object that the caller puts. NULL: there is
 * none, or `ret` is filled with the reason (then `*ret_failed`).
 */
struct json_object *api_find_partition(const struct rest_request *q, struct rest_answer *ret,
				       uint16_t pkey, bool members, bool *ret_failed);

/*
 * For a P_Key without a partition: waits until it is confirmed removed from all ports, until
 * q->until at the latest. False: `ret` is filled with the reason, 504 if there are such ports.
 */
bool api_wait_settled(const struct rest_request *q, struct rest_answer *ret, uint16_t pkey);

/* ---- api_members.c ---- */

/* Members of a body that changes a partition; each operation takes some of these lists. */
#define BODY_KEY(B) B(pkey, OF("int|string"), "P_Key: 0x1 to 0x7ffe")
#define BODY_GUIDS(B)                                                                              \
	B(guids, OF("[]string"), "GUIDs of ports: 16 hexadecimal digits")                          \
	B(memberships, OF("?[]string"), "membership of each of guids")
#define BODY_HOSTS(B) B(hosts_names, STR, "names of hosts: n1,n[3-8]")
#define BODY_MANNER(B)                                                                             \
	B(membership, OPT(STR), "full, as if absent, or limited")                                  \
	B(default_membership, OPT(STR), "former name of membership")                               \
	B(index0, OF("?bool|int|string"), "true: index 0 of the P_Key tables")
#define BODY_FIELDS(B)                                                                             \
	B(ip_over_ib, OF("?bool|int|string"), "true: with IPoIB")                                  \
	B(mtu_limit, OF("?float|string"), "2 or 4: K bytes")                                       \
	B(rate_limit, OF("?float|string"), "Gb/s of a link: 2.5, 10, 100, 200")                    \
	B(service_level, OF("?int|string"), "0 to 15")                                             \
	B(partition_name, OPT(STR), "name of the partition")
#define BODY_ALL(B) BODY_KEY(B) BODY_GUIDS(B) BODY_HOSTS(B) BODY_MANNER(B) BODY_FIELDS(B)

struct api_body {
	BODY_ALL(BODY_MEMBER)
};

/*
 * Members of a body for ChangePartition: an array, the caller's, made of `guids` or `hosts_names`
 * with `membership`, `memberships` and `index0`. NULL: `why` says what is wrong.
 */
struct json_object *api_members_of_guids(const struct api_body *b, char why[API_WHY_MAX]);
struct json_object *api_members_of_hosts(const struct api_body *b, char why[API_WHY_MAX]);
/* Members from a part of a path: "G1,G2", "h1,h[2-4]". */
struct json_object *api_members_of_guid_list(const char *list, char why[API_WHY_MAX]);
struct json_object *api_members_of_host_list(const char *list, char why[API_WHY_MAX]);
/* Adds name, ip_over_ib, mtu, rate and sl, as far as the body has them. False: `why`. */
bool api_add_fields(const struct api_body *b, struct json_object *parameters,
		    char why[API_WHY_MAX]);

/* ---- api_jobs.c ---- */

/* Answers a request that has begun a job: 202, with its number, 0 for none, and its Location. */
void api_answer_job(const struct rest_request *q, struct rest_answer *ret, uint64_t number);
#define API_STARTED_FIELDS(F)                                                                      \
	F("ID", STR, id)                                                                           \
	F("Status", STR, "Completed")                                                              \
	F("Progress", INT, 100)

/* ---- all files ---- */

/* {"error":"text"} with 400. */
#define api_refuse(ret, ...) rest_answer_error((ret), 400, __VA_ARGS__)
