// SPDX-License-Identifier: BSD-2-Clause
/* Reasons for which a call has no answer; types of parameters. */
#include "api/control_method.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

struct sm *control_manager(const struct daemon_api *api, struct control_error *err)
{
	if (!api->sm)
		control_fail(err, "NotReady", "%s",
			     api->status[0] ? api->status : "no port is open");
	return api->sm;
}

/* ---- types ----------------------------------------------------------------------------------- */

static const char *copy_until(const char *at, const char *ends, char *ret, size_t cap)
{
	size_t len = strcspn(at, ends);

	snprintf(ret, cap, "%.*s", (int)len, at);
	return at + len;
}

/* Copies a type, of which text in parentheses is a part; otherwise as copy_until(). */
static const char *copy_type(const char *at, char *ret, size_t cap)
{
	size_t len = 0;

	for (int depth = 0; at[len]; len++) {
		depth += at[len] == '(';
		if (!depth && (at[len] == ',' || at[len] == ')'))
			break;
		depth -= at[len] == ')';
	}
	snprintf(ret, cap, "%.*s", (int)len, at);
	return at + len;
}

const char *control_next_parameter(const char *at, struct control_parameter *ret)
{
	at += strspn(at, " ,(");
	if (!*at || *at == ')')
		return NULL;
	at = copy_until(at, ":,)", ret->name, sizeof(ret->name));
	at += strspn(at, ": ");
	ret->optional = *at == '?';
	return copy_type(at + ret->optional, ret->type, sizeof(ret->type));
}
