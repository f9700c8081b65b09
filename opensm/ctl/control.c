// SPDX-License-Identifier: BSD-2-Clause
#include "ctl/control.h"

#include <stdarg.h>
#include <stdio.h>

const struct control_method control_methods[] = {
	{ 0 },
};

void control_fail(struct control_error *err, const char *name, const char *fmt, ...)
{
	va_list args;

	err->name = name;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
}
