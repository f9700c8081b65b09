// SPDX-License-Identifier: BSD-2-Clause
/* One value of a struct conf, by its type; for the files of conf/ only. */
#pragma once

#include "conf/conf.h"

void *value_at(struct conf *c, enum conf_id id);
const void *value_of(const struct conf *c, enum conf_id id);

void value_set_default(struct conf *c, enum conf_id id);
void value_free(struct conf *c, enum conf_id id);
/* Gives `c` a string of its own after the struct was copied bytewise. */
void value_own(struct conf *c, enum conf_id id);
