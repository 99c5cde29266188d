#!/usr/bin/env bash
set -e

# @describe Run a query on the table of a file of comma-separated values.

# @option --file! <FILE> The table, whose first line names the columns
# @option --where* <CONDITION> Conditions as column=value, all of which a row has to fulfil
# @option --columns*, The columns to show

# @env LLM_OUTPUT=/dev/stdout Where the result goes

# A declaration at the top, which the function below needs.
declare -A place

main() {
    local header row fields i
    {
        IFS= read -r header
        IFS=, read -r -a fields <<< "$header"
        for i in "${!fields[@]}"; do place[${fields[i]}]=$i; done
        while IFS=, read -r -a row; do
            ! fits || show
        done
    } < "$argc_file" >> "$LLM_OUTPUT"
}

fits() {
    local condition
    for condition in "${argc_where[@]}"; do
        [[ "${row[place[${condition%%=*}]]}" == "${condition#*=}" ]] || return 1
    done
}

show() {
    local column shown=()
    for column in "${argc_columns[@]:-${fields[@]}}"; do
        shown+=("${row[place[$column]]}")
    done
    (IFS=,; echo "${shown[*]}")
}

eval "$(argc --argc-eval "$0" "$@")"
