# SPDX-License-Identifier: BSD-2-Clause
# Prints C code as FILE:LINE:text with comments removed and strings emptied; with prose=1 what is in
# comments and strings, with prose=2 what is in comments.
FNR == 1 { inside = 0 }
{
	out = text = ""
	n = length($0)
	for (i = 1; i <= n; i++) {
		c = substr($0, i, 1)
		two = substr($0, i, 2)
		if (inside) {
			if (two == "*/") { inside = 0; i++; text = text " " } else text = text c
		} else if (two == "/*") {
			inside = 1; i++; out = out " "
		} else if (two == "//") {
			text = text substr($0, i + 2)
			break
		} else if (c == "\"" || c == "'") {
			for (j = i + 1; j <= n; j++) {
				d = substr($0, j, 1)
				if (d == "\\") j++
				else if (d == c) break
			}
			out = out c c
			if (prose == 1)
				text = text substr($0, i + 1, j - i - 1)
			i = j
		} else {
			out = out c
		}
	}
	if (prose)
		out = text
	if (out ~ /[^ \t]/)
		print FILENAME ":" FNR ":" out
}
