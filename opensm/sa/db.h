// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm-sa.dump (files.md 6): what db.c writes and db-read.c reads.
 *
 * The peer reads what we write. What its format cannot carry follows at the end of the line, where it
 * does not look:
 *
 *   Service Record    name_hex=0x...   the name's 64 bytes, if it is no plain text
 *   InformInfo Record grh: gid=... flow_label=... hop_limit=... tclass=...   if requests came with one
 */
#pragma once

#include "sa/impl.h"

/* A name that can stand between single quotes and be read back: text, then zeroes. */
bool db_name_is_plain(const uint8_t name[64]);
