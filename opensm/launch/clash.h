// SPDX-License-Identifier: BSD-2-Clause
/* Resources that two instances must not share: the port, the log, the folder of dumps. */
#pragma once

#include "conf/conf.h"
#include "launch/instance.h"

/* Adds a warning for each of them that two instances share. */
void clash_find(struct instance *const *items, size_t n, struct conf_report *r);
