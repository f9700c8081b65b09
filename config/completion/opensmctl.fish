# SPDX-License-Identifier: BSD-2-Clause
# fish completion for opensmctl: the program itself knows what may come, as for bash.

function __opensmctl_complete
    set -l words (commandline -opc)
    set -l offers ($words[1] --complete $words[2..-1] (commandline -ct) 2>/dev/null)
    if test "$offers[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $offers
    end
end

complete -c opensmctl -f -a '(__opensmctl_complete)'
