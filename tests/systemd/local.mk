# SPDX-License-Identifier: BSD-2-Clause
# Needs root, and boots machines: not with `make check`.
EXTRA_DIST += tests/systemd/box tests/systemd/rig.bash
