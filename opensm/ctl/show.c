// SPDX-License-Identifier: BSD-2-Clause
#include "ctl/control.h"

const struct control_method show_methods[] = {
	{ 0 },
};
