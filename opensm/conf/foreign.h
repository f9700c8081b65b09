// SPDX-License-Identifier: BSD-2-Clause
/* Keys of other subnet managers, known by name only. */
#pragma once

#include <stdbool.h>

/* True for an option of NVIDIA's subnet manager that this one does not have. */
bool foreign_is_nvidia(const char *key);
