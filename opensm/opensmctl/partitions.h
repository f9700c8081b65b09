// SPDX-License-Identifier: BSD-2-Clause
/* Changes of partitions: what the files of the command share. */
#pragma once

#include "opensmctl/talk/ctl.h"

/* create ... configure, and verify. */
int partition_change(struct ctl *c);
int partition_verify(struct ctl *c);

/* ---- partitions_words.c ---- */

/* Words behind create and configure; delete; add, remove and set. */
extern const struct ctl_word partition_fields_takes[], partition_delete_takes[],
	partition_add_takes[], partition_remove_takes[], partition_set_takes[];
/* The words that `members` has become objects of ChangePartition. */
void partition_read_members(struct json_object *parameters);

/* ---- partitions_text.c ---- */

/* `verb`: "add". */
void partition_print_change(struct ctl *c, const char *verb, struct json_object *answer);
void partition_print_blocks(struct ctl *c, struct json_object *blocks);
