# SPDX-License-Identifier: MIT
# Completion of ntuple and ntuplefs for fish. Which words there are "ntuple complete" knows; here they are handed over.

function __ntuple_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    # "ntuplefs" is completed by the "ntuple" beside it.
    set -l program (string replace -r 'fs$' '' -- $words[1] | string replace -r '^~/' "$HOME/")
    for line in ($program complete -- $words (string unescape -- $word; or echo $word) 2>/dev/null)
        switch $line
            case \tfiles
                __fish_complete_path $word
            case \t'*'
            case '*'
                echo $line
        end
    end
end

complete -c ntuple -c ntuplefs -f -k -a '(__ntuple_complete)'
