// SPDX-License-Identifier: BSD-2-Clause
/*
 * The parameters of ChangePartition as a request to the manager: types, spellings, names of hosts.
 * tenants_judge() decides whether a change is allowed.
 */
#pragma once

#include "api/control_method.h"
#include "conf/tenants/tenants.h"

/* Most names of hosts in one answer. */
#define CONTROL_HOSTS_TOLD 10000

/*
 * Reads a request. False: `err`. True: ret->members is to be freed, even if empty; `*ret_hosts` is
 * an array to be put, with the name of each host of the request (the first CONTROL_HOSTS_TOLD) and
 * its port GUIDs, also those that left the fabric, which "gone" lists, too.
 */
extern const struct json_field control_host_fields[]; /* members of that array */
bool control_read_change(const struct daemon_api *api, struct json_object *parameters,
			 struct tenant_request *ret, struct json_object **ret_hosts,
			 struct control_error *err);
/*
 * Reads a caller's P_Key: a number, or "0x5", "0x0005", "5" (decimal); 1 to 0x7FFF. Bit 15 would be
 * a membership, which is another parameter. False: `err`.
 */
bool control_read_pkey(struct json_object *value, uint16_t *ret, struct control_error *err);
/* Is this manager the master? False: `err` has its state. */
bool control_is_master(const struct daemon_api *api, struct control_error *err);
