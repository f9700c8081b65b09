// SPDX-License-Identifier: BSD-2-Clause
/* Tools of administrators: the control socket of each manager of a scenario, and its clients. */
#pragma once

#include "tests/scenario/scenario.h"

/* A front for the rig of `s`, which owns it. Never NULL. */
struct front *front_new(struct scenario *s);
/* Closes the control sockets of all managers; called before the rig is freed. */
void front_close(struct front *f);
/* called after front_close(); NULL is fine; returns NULL */
struct front *front_free(struct front *f);

/* Notes that a manager has started at this index of the rig; that one is about to be freed. */
void front_sm_starts(struct front *f, unsigned place, const struct conf *conf);
void front_sm_goes(struct front *f, unsigned place);
/* Folder for the files of this node's manager, created if necessary. Valid until the next call. */
const char *front_folder(struct front *f, const char *node);
/* Parent of the folders of all nodes; "": there is none. */
const char *front_folders(const struct front *f);
/* Folder for the files that `file` writes. */
const char *front_scratch(struct front *f);
/* A function for rig->event. */
void front_event(struct rig_sm *sm, const struct sm_event *event);

/* ctl [on NODE] WORD..., ctl-refused [on NODE] WORD... */
int scenario_ctl(struct scenario *s, const struct words *w);
/* rest [on NODE] METHOD TARGET [BODY], rest-refused [on NODE] METHOD TARGET [BODY] */
int scenario_rest(struct scenario *s, const struct words *w);
/* metrics [on NODE]: those of metrics_groups, as the daemon gives them */
int scenario_metrics(struct scenario *s, const struct words *w);
