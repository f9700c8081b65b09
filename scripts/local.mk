# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += scripts/README.md scripts/chaos scripts/common.sh scripts/demo scripts/fuzz scripts/ibfab scripts/image scripts/keys-storm scripts/pace.bash scripts/package scripts/soak scripts/tenants-storm scripts/test
