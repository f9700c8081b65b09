// SPDX-License-Identifier: BSD-2-Clause
/* What two instances must not share: the port, the log, the folder of dumps. */
#pragma once

#include "conf/conf.h"
#include "launch/instance.h"

/* A warning for each thing that two of them share. */
void clash_find(struct instance *const *items, size_t n, struct conf_report *r);
