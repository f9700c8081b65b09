// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into a subnet manager: how long it computes before it writes tables. Between the last
 * MAD that came or went and the first Set of SwitchInfo or of a forwarding table it does nothing
 * but route. The longest such time of the process (all threads) goes to the file $UMADGAP_FILE, as
 * "CPU-seconds wall-seconds peak-RSS-kB".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/umad_types.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

typedef int (*send_fn)(int port, int agent, void *umad, int length, int timeout_ms, int retries);
typedef int (*recv_fn)(int port, void *umad, int *length, int timeout_ms);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double last_cpu, last_wall, longest = -1;

static double seconds(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void note(double cpu, double wall)
{
	const char *path = getenv("UMADGAP_FILE");
	struct rusage usage;
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	getrusage(RUSAGE_SELF, &usage);
	fprintf(out, "%.6f %.6f %ld\n", cpu, wall, usage.ru_maxrss);
	fclose(out);
}

static void event(int writes_tables)
{
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	if (writes_tables && last_wall && wall - last_wall > longest) {
		longest = wall - last_wall;
		note(cpu - last_cpu, wall - last_wall);
	}
	last_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	last_wall = seconds(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&lock);
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	static send_fn real;
	const struct umad_hdr *hdr = umad_get_mad(umad);
	int attr = be16toh(hdr->attr_id);

	if (!real)
		real = (send_fn)dlsym(RTLD_NEXT, "umad_send");
	event(hdr->method == 2 && (attr == 0x19 || attr == 0x12));
	return real(port, agent, umad, length, timeout_ms, retries);
}

int umad_recv(int port, void *umad, int *length, int timeout_ms)
{
	static recv_fn real;
	int r;

	if (!real)
		real = (recv_fn)dlsym(RTLD_NEXT, "umad_recv");
	r = real(port, umad, length, timeout_ms);
	if (r >= 0)
		event(0);
	return r;
}
