// SPDX-License-Identifier: BSD-2-Clause
/* Keys of other subnet managers, known by name only. */
#pragma once

#include <stdbool.h>

/* True for an option of NVIDIA's subnet manager that this one does not have. */
bool foreign_is_nvidia(const char *key);
/* True for a key that OpenSM had before 3.3, and reads no more either. */
bool foreign_is_old(const char *key);
/* True for a routing engine of NVIDIA's subnet manager. */
bool foreign_is_engine(const char *name);
