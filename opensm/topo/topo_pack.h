// SPDX-License-Identifier: BSD-2-Clause
/*
 * A topo as bytes, for another process of the same program, which makes an identical one of them.
 */
#pragma once

#include "topo/topo.h"
#include "util/pack.h"

/* `before`: a topo that the reader has, so that only differences are written; or NULL. */
void topo_pack(const struct topo *t, const struct topo *before, struct pack *p);
/*
 * Reads a topo; the caller owns one reference. `before` as given to topo_pack(). NULL: invalid
 * bytes (every index is checked), and `u` is bad.
 */
struct topo *topo_unpack(struct unpack *u, const struct topo *before);
