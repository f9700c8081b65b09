// SPDX-License-Identifier: BSD-2-Clause
/* A part of the channel between managers, sealed as by the side that has the key. */
#pragma once

#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

/* `mad` has the head of the part, and its contents behind it. */
static inline void seal_part(const uint8_t *key, uint8_t *mad)
{
	uint8_t *part = mad + SA_DATA, label[CHANNEL_LABEL_BYTES] = { 0 };
	const struct channel_box box = {
		.key = key, .label = label, .head = part, .head_len = CHP_TAG / 8
	};
	uint32_t length = ib_get(part, CHP_LENGTH),
		 segment = ib_get(part, CHP_OFFSET) / CHANNEL_PART_BYTES;
	struct channel_tag tag;
	size_t n = 0;

	if (ib_get(part, CHP_KIND) == PART_SEGMENT)
		n = channel_segment_bytes(length, segment);
	else if (ib_get(part, CHP_KIND) == PART_REPLY)
		n = MIN(length, (uint32_t)CHANNEL_PART_BYTES);
	label[0] = ib_get(part, CHP_KIND);
	label[1] = ib_get(part, CHP_STREAM);
	label[2] = ib_get(part, CHP_REASON);
	ib_bits_put(label, 32, 32, ib_get(part, CHP_SERIAL));
	ib_bits_put(label, 64, 32, segment);
	channel_seal(&box, part + CHP_BYTES, n, part + CHP_BYTES, &tag);
	memcpy(ib_at(part, CHP_TAG), tag.bytes, sizeof(tag.bytes));
}
