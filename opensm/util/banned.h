// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that no source of ours may name; the makefile includes this before every file.
 *
 * Unbounded copies and their cousins that leave strings unterminated: use snprintf(), memcpy() with
 * a size, or util/str.h. Names of temporary files: util/file.h.
 * The system headers that declare them come first, they must still compile.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy stpcpy strcat strncpy strncat strtok sprintf vsprintf gets
#pragma GCC poison tmpnam tempnam mktemp popen
