# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += scripts/README.md scripts/common.sh scripts/demo scripts/fuzz scripts/ibfab scripts/soak scripts/test
