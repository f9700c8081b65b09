// SPDX-License-Identifier: BSD-2-Clause
/* Texts of pictures. */
#pragma once

#include <stdio.h>

#include "topo/topofile.h"

/* Whatever nodes call themselves: no markup, and no byte but printable ASCII. */
void svg_escaped(FILE *out, const char *text);
/* "": it has none. */
const char *svg_switch_name(const struct topofile *names, const struct topo *t, uint32_t sw);
