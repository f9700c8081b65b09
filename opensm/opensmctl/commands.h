// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the commands about the manager. */
#pragma once

#include "opensmctl/talk/ctl.h"

int ctl_too_many(const struct ctl_command *command, const char *word);

int cmd_status(struct ctl *c, int argc, char **argv);	 /* status.c */
int cmd_instances(struct ctl *c, int argc, char **argv); /* instances.c */
int cmd_monitor(struct ctl *c, int argc, char **argv);	 /* monitor.c */
int cmd_drain(struct ctl *c, int argc, char **argv);	 /* marks.c */
int cmd_isolate(struct ctl *c, int argc, char **argv);
int cmd_restore(struct ctl *c, int argc, char **argv);
int cmd_marks(struct ctl *c, int argc, char **argv);
int cmd_health(struct ctl *c, int argc, char **argv); /* health.c */
bool cmd_health_acts(int argc, char **argv);
int cmd_ledger(struct ctl *c, int argc, char **argv); /* ledger.c */
bool cmd_ledger_acts(int argc, char **argv);
int cmd_security(struct ctl *c, int argc, char **argv);	 /* security.c */
int cmd_congestion(struct ctl *c, int argc, char **argv); /* congestion.c */
int cmd_report(struct ctl *c, int argc, char **argv);	 /* report.c */
int cmd_options(struct ctl *c, int argc, char **argv);	 /* configuration.c */
int cmd_check(struct ctl *c, int argc, char **argv);
int cmd_reload(struct ctl *c, int argc, char **argv);
