// SPDX-License-Identifier: BSD-2-Clause
/* The record types there are, by attribute. */
#include "sa/impl.h"
#include "util/mem.h"

static const struct sa_type *const types[] = {
	[SA_CLASS_PORT_INFO] = &sa_class_port_info,
	[SA_NODE_RECORD] = &sa_node_record,
};

const struct sa_type *sa_type_find(uint16_t attr)
{
	return attr < ARRAY_SIZE(types) ? types[attr] : NULL;
}
