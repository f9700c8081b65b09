// SPDX-License-Identifier: BSD-2-Clause
/* Keys of other subnet managers, known by name only. */
#pragma once

#include <stdbool.h>

/* True for an option of NVIDIA's subnet manager that this one does not have. */
bool foreign_is_nvidia(const char *key);
/* True for a key of OpenSM before 3.3, which OpenSM itself has ignored since. */
bool foreign_is_old(const char *key);
/*
 * For an option of NVIDIA's subnet manager that would protect the fabric (keys, trust, tenants,
 * limits): a clause that says which protection is missing here. NULL for any other key.
 */
const char *foreign_lack(const char *key);
/*
 * False for a value that switches nothing on: FALSE, 0, off, (null) ...; and for an option (lease,
 * protect bits, file) that needs another option to switch it on.
 */
bool foreign_asks(const char *key, const char *value);
/* True for a routing engine of NVIDIA's subnet manager. */
bool foreign_is_engine(const char *name);
