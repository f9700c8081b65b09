// SPDX-License-Identifier: BSD-2-Clause
/*
 * A topo as bytes, for another process of the same program: exactly the same again, marks of ports
 * included.
 */
#pragma once

#include "topo/topo.h"
#include "util/pack.h"

/* `before`: a topo that the reader has already, then only differences are written; or NULL. */
void topo_pack(const struct topo *t, const struct topo *before, struct pack *p);
/*
 * One reference; `before` as in topo_pack(). NULL: not the bytes of a topo (every index is
 * checked), and `u` is bad.
 */
struct topo *topo_unpack(struct unpack *u, const struct topo *before);
