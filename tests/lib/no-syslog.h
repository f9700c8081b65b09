// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keeps tests from writing to syslog: without a syslog daemon libc would write each line to the
 * console of the machine, which may be a serial one. These definitions precede those of the
 * library.
 */
#pragma once

/* Prototypes of our own, as <syslog.h> with _FORTIFY_SOURCE has others with these names. */
void syslog(int priority, const char *fmt, ...);
void __syslog_chk(int priority, int flag, const char *fmt, ...);

__attribute__((weak)) void syslog(int priority, const char *fmt, ...)
{
}

__attribute__((weak)) void __syslog_chk(int priority, int flag, const char *fmt, ...)
{
}
