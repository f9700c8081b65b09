// SPDX-License-Identifier: BSD-2-Clause
/* A map from non-zero 64-bit keys (GUIDs) to pointers: open addressing, no allocation per entry. */
#pragma once

#include <stddef.h>

#include "util/mem.h"
#include "util/types.h"

struct guidmap;

struct guidmap *guidmap_new(void);
struct guidmap *guidmap_free(struct guidmap *m);
FREEP(guidmap_free, struct guidmap)
void *guidmap_get(const struct guidmap *m, guid_t key);
/* Returns the previous value or NULL. Key 0 is not allowed. */
void *guidmap_put(struct guidmap *m, guid_t key, void *value);
/* Returns the removed value or NULL. */
void *guidmap_remove(struct guidmap *m, guid_t key);
size_t guidmap_count(const struct guidmap *m);
/* Next entry at or after `*pos` (start with 0); false at the end. Order is arbitrary but fixed. */
bool guidmap_next(const struct guidmap *m, size_t *pos, guid_t *ret_key, void **ret_value);
