# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += tests/keys/README.md tests/keys/rig.bash tests/keys/judge.py
