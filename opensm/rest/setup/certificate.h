// SPDX-License-Identifier: BSD-2-Clause
/* opensm-rest --make-certificate */
#pragma once

#include <stdbool.h>

#include "rest/setup/conf.h"

/*
 * Makes a key (P-256) and a certificate for the names of this host, signed by itself, valid for
 * 825 days, and stores both where `conf` looks for them. Nothing is overwritten: false with
 * `fault`, also if only one of the files is there.
 */
bool make_certificate(const struct rest_conf *conf, struct fault *fault);
