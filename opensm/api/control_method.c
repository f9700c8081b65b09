// SPDX-License-Identifier: BSD-2-Clause
/* Why a call has no answer. */
#include "api/control_method.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void *control_fail(struct control_error *err, const char *name, const char *fmt, ...)
{
	va_list args;

	assert(err && name);
	err->name = name;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return NULL;
}
