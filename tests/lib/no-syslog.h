// SPDX-License-Identifier: BSD-2-Clause
/*
 * A test tells syslog nothing: where none runs, libc would write each line to the console of the
 * machine, which may be a serial one. These definitions come before those of the library.
 */
#pragma once

/* Not from <syslog.h>, which with _FORTIFY_SOURCE has other ones of these names. */
void syslog(int priority, const char *fmt, ...);
void __syslog_chk(int priority, int flag, const char *fmt, ...);

__attribute__((weak)) void syslog(int priority, const char *fmt, ...)
{
}

__attribute__((weak)) void __syslog_chk(int priority, int flag, const char *fmt, ...)
{
}
