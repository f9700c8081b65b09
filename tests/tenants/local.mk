# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += tests/tenants/README.md tests/tenants/rig.bash tests/tenants/judge.awk tests/tenants/faults.bash tests/tenants/looks.bash
