// SPDX-License-Identifier: BSD-2-Clause
/* Families of the manager itself, and of its process. */
#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "metrics/metrics_internal.h"
#include "util/mem.h"

void metrics_manager(const struct metrics *m, struct metrics_text *t)
{
	static const enum sm_state states[] = { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY,
						SM_MASTER };

	metric_family(t, "opensm_build_info", METRIC_GAUGE, "Version of the subnet manager");
	metric_labelled(t, "version", m->version, 1);
	metric_family(t, "opensm_port_info", METRIC_GAUGE,
		      "Port that it works through; none while it waits for one");
	if (m->open) {
		metric_labelled(t, "port", m->port_name, 1);
	}
	metric_family(t, "opensm_state", METRIC_GAUGE,
		      "1 for the state that it is in, 0 for all others");
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		metric_labelled(t, "state", sm_state_name(states[i]),
				m->open && m->state == states[i]);
	}
	metric_gauge(t, "opensm_is_master", "It is the master of its subnet",
		     m->open && m->state == SM_MASTER);
	metric_gauge(t, "opensm_subnet_up",
		     "It is master, and the last sweep that set up the subnet ended without errors",
		     m->open && m->state == SM_MASTER && m->stats.up);
	metric_gauge(t, "opensm_config_errors", "Errors in the configuration when it was read last",
		     m->config_errors);
	metric_gauge(t, "opensm_config_warnings",
		     "Warnings about the configuration when it was read last", m->config_warnings);
	metric_gauge(t, "opensm_config_last_reload_success",
		     "The configuration that was read last is in force", !m->refused);
}

/* ---- the process ---------------------------------------------------------------------------- */

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n > 3 ? n - 3 : 0; /* ".", "..", and the folder itself */
}

/* Names are those that every client library has, without an instance. */
void metrics_process(const struct metrics *m, struct metrics_text *t)
{
	struct rlimit files = { 0 };
	struct rusage used = { 0 };
	unsigned long pages = 0, resident = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	getrusage(RUSAGE_SELF, &used);
	getrlimit(RLIMIT_NOFILE, &files);
	if (statm && fscanf(statm, "%lu %lu", &pages, &resident) != 2)
		pages = resident = 0;
	if (statm)
		fclose(statm);
	metric_counter(t, "process_cpu_seconds_total", "CPU time",
		       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	metric_gauge(t, "process_resident_memory_bytes", "Memory in use",
		     (double)resident * (double)sysconf(_SC_PAGESIZE));
	metric_gauge(t, "process_virtual_memory_bytes", "Address space in use",
		     (double)pages * (double)sysconf(_SC_PAGESIZE));
	metric_gauge(t, "process_start_time_seconds", "When it was started", (double)m->started);
	metric_gauge(t, "process_open_fds", "Open descriptors", count_fds());
	metric_gauge(t, "process_max_fds", "Descriptors that it may open", (double)files.rlim_cur);
}
