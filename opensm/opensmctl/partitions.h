// SPDX-License-Identifier: BSD-2-Clause
/* Changes of partitions: what the files of the command share. */
#pragma once

#include "opensmctl/talk/ctl.h"

enum partition_verb {
	VERB_LIST,
	VERB_SHOW,
	VERB_CREATE,
	VERB_DELETE,
	VERB_ADD,
	VERB_REMOVE,
	VERB_SET,
	VERB_CONFIGURE,
	VERB_VERIFY,
	VERB_NONE, /* no verb: the name of a partition, or no word at all */
};
enum partition_verb partition_verb_of(int argc, char **argv);
const char *partition_verb_name(enum partition_verb verb);

/*
 * Makes parameters of ChangePartition from the words behind the subcommand. "pkey" stays as the
 * user wrote it. 0, or the exit code after an error was printed.
 */
int partition_parameters(enum partition_verb verb, int argc, char **argv, struct json_object *ret);

/* create ... configure, and verify. argv begins behind the subcommand. Return the exit code. */
int partition_change(struct ctl *c, int argc, char **argv);
int partition_verify(struct ctl *c, int argc, char **argv);

/* ---- partitions_text.c ---- */

void partition_print_change(struct ctl *c, enum partition_verb verb, struct json_object *answer);
void partition_print_blocks(struct ctl *c, struct json_object *blocks);
