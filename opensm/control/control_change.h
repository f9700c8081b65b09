// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parameters of ChangePartition as a request to the manager: types, spellings, names of hosts.
 * What a change may be is tenants_judge()'s matter.
 */
#pragma once

#include "api/control_method.h"
#include "conf/tenants/tenants.h"

/* Names of hosts in one answer. */
#define CONTROL_HOSTS_TOLD 10000

/*
 * False: `err`. True: ret->members is to be freed, also if there are none; `*ret_hosts` is an array
 * to be put, with the name of each host of the request (the first CONTROL_HOSTS_TOLD) and the port
 * GUIDs that it stands for, those that left the fabric in "gone", too.
 */
extern const struct json_field control_host_fields[]; /* of that array */
bool control_read_change(const struct daemon_api *api, struct json_object *parameters,
			 struct tenant_request *ret, struct json_object **ret_hosts,
			 struct control_error *err);
/*
 * A P_Key of a caller: a number, or "0x5", "0x0005", "5" (decimal); 1 to 0x7FFF: bit 15 would be
 * a membership, which is asked for otherwise. False: `err`.
 */
bool control_read_pkey(struct json_object *value, uint16_t *ret, struct control_error *err);
/* False: `err` says what this manager is instead. */
bool control_is_master(const struct daemon_api *api, struct control_error *err);
