// SPDX-License-Identifier: BSD-2-Clause
/* What administrators use: the control socket of each manager of a scenario, and its clients. */
#pragma once

#include "tests/scenario/scenario.h"

/* For the rig of `s`, whose owner is `s`. Never NULL. */
struct front *front_new(struct scenario *s);
/* The control sockets of all managers; before the rig goes. */
void front_close(struct front *f);
struct front *front_free(struct front *f); /* behind front_close(); NULL is fine; returns NULL */

/* A manager was started at this place of the rig; one is about to be freed. */
void front_sm_starts(struct front *f, unsigned place, const struct conf *conf);
void front_sm_goes(struct front *f, unsigned place);
/* Where the manager of this node keeps its files; made if need be. Until the next call. */
const char *front_folder(struct front *f, const char *node);
/* The folder with those of all nodes; "": none was made. */
const char *front_folders(const struct front *f);
/* Where files of `file` are. */
const char *front_scratch(struct front *f);
/* For rig->event. */
void front_event(struct rig_sm *sm, const struct sm_event *event);

/* ctl [on NODE] WORD..., ctl-refused [on NODE] WORD... */
int scenario_ctl(struct scenario *s, const struct words *w);
/* rest [on NODE] METHOD TARGET [BODY], rest-refused [on NODE] METHOD TARGET [BODY] */
int scenario_rest(struct scenario *s, const struct words *w);
