// SPDX-License-Identifier: BSD-2-Clause
#include "libvendor/out.h"

#include <time.h>

int64_t out_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

uint64_t out_in_ms(unsigned ms)
{
	return (uint64_t)out_now_us() / 1000 + ms;
}

bool out_is_late(const struct out *out)
{
	return out->not_after && out_in_ms(0) > out->not_after;
}
