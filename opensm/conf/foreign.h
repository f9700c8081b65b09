// SPDX-License-Identifier: BSD-2-Clause
/* Keys of other subnet managers, known by name only. */
#pragma once

#include <stdbool.h>

/* True for an option of NVIDIA's subnet manager that this one does not have. */
bool foreign_is_nvidia(const char *key);
/* True for a key that OpenSM had before 3.3, and reads no more either. */
bool foreign_is_old(const char *key);
/*
 * Of one of NVIDIA's that would protect the fabric (keys, trust, tenants, limits): what is missing
 * here, as a clause. NULL: it is none of these.
 */
const char *foreign_lack(const char *key);
/*
 * False for a value that asks for nothing: FALSE, 0, off, (null) ...; and for the lease, protect
 * bits or the file of something that another option switches on.
 */
bool foreign_asks(const char *key, const char *value);
/* True for a routing engine of NVIDIA's subnet manager. */
bool foreign_is_engine(const char *name);
