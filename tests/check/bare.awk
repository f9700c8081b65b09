# SPDX-License-Identifier: BSD-2-Clause
# Prints C code as FILE:LINE:text with comments removed and strings emptied.
FNR == 1 { inside = 0 }
{
	out = ""
	n = length($0)
	for (i = 1; i <= n; i++) {
		c = substr($0, i, 1)
		two = substr($0, i, 2)
		if (inside) {
			if (two == "*/") { inside = 0; i++ }
		} else if (two == "/*") {
			inside = 1; i++; out = out " "
		} else if (two == "//") {
			break
		} else if (c == "\"" || c == "'") {
			for (j = i + 1; j <= n; j++) {
				d = substr($0, j, 1)
				if (d == "\\") j++
				else if (d == c) break
			}
			out = out c c
			i = j
		} else {
			out = out c
		}
	}
	if (out ~ /[^ \t]/)
		print FILENAME ":" FNR ":" out
}
