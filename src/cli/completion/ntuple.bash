# SPDX-License-Identifier: MIT
# Completion of ntuple and ntuplefs for bash. Which words there are "ntuple complete" knows; here they are handed over.

_ntuple() {
    local line=() word glue= text help has_paths= separator kept= program
    # bash breaks words at = and :, and leaves quotes and backslashes in them.
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ $glue || $word =~ ^[=:]+$ ]] && ((${#line[@]})); then
            line[-1]+=$word
        else
            line+=("$word")
        fi
        [[ $word =~ ^[=:]+$ ]] && glue=yes || glue=
    done
    line=("${line[@]#[\"\']}")
    line=("${line[@]//\\/}")
    word=${line[-1]}

    # What stands in front of the last of these characters bash keeps by itself.
    for separator in = :; do
        if [[ $COMP_WORDBREAKS == *$separator* && $word == *$separator* ]]; then
            text=${word%"${word##*$separator}"}
            ((${#text} > ${#kept})) && kept=$text
        fi
    done

    COMPREPLY=()
    program=${line[0]%fs} # "ntuplefs" is completed by the "ntuple" beside it
    while IFS= read -r line; do
        text=${line%%$'\t'*} help=${line#*$'\t'}
        if [[ $text ]]; then
            COMPREPLY+=("${text#"$kept"}")
        elif [[ $help == files ]]; then
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
            has_paths=yes
        elif [[ $help == paths ]]; then
            has_paths=yes
        fi
    done < <("${program/#~\//$HOME/}" complete -- "${line[@]}" 2>/dev/null)

    # Outside of a completion, as in a test, there is nothing to set.
    [[ $has_paths ]] && compopt -o filenames 2>/dev/null
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -F _ntuple ntuple ntuplefs
