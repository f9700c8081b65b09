// SPDX-License-Identifier: BSD-2-Clause
/* Lists that only routing engines read (qos.md 7). Readers as in conf/lists/lists.h. */
#pragma once

#include "conf/lists/lists.h"

/* A switch and the number that updn takes for its GUID; the same shape as struct route_guid_id. */
struct conf_guid_id {
	guid_t guid;
	uint64_t id;
};

/* Entries in the order of the file; of two for one switch the first holds. */
struct conf_guid_ids {
	struct conf_guid_id *items;
	size_t n;
};

/* The ports of a switch that are tried first; the same shape as struct route_port_order. */
struct conf_port_order {
	guid_t guid;
	uint8_t n;
	uint8_t ports[255];
};

struct conf_port_orders {
	struct conf_port_order *items;
	size_t n;
};

int conf_guid_ids_read_text(const char *path, const char *text, size_t len,
			    struct conf_guid_ids *ret, struct conf_report *r);
void conf_guid_ids_clear(struct conf_guid_ids *ids);
int conf_port_orders_read_text(const char *path, const char *text, size_t len,
			       struct conf_port_orders *ret, struct conf_report *r);
void conf_port_orders_clear(struct conf_port_orders *orders);
