# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += scripts/README.md scripts/common.sh scripts/demo scripts/fuzz scripts/ibfab scripts/package scripts/soak scripts/test
