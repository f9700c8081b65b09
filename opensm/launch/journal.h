// SPDX-License-Identifier: BSD-2-Clause
/* Records of the launcher: in the journal with fields; without a journal as lines on stderr. */
#pragma once

#include <syslog.h>

#include "conf/conf.h"
#include "util/log.h"

/*
 * "instance NAME text", with OPENSM_INSTANCE=NAME; `name` may be NULL, `id` LOG_ID_NONE, `level` is
 * one of syslog(3).
 */
void journal_about(enum log_id id, const char *name, int level, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define journal_text(level, ...) journal_about(LOG_ID_NONE, NULL, level, __VA_ARGS__)
/* Writes a record for each finding. */
void journal_findings(const struct conf_report *r);
