# What the installers of drivers share; sourced by them, with their arguments. `to` is where drivers are kept: that of
# --to DIR, or a directory of the user's data.
set -euo pipefail

to="${XDG_DATA_HOME:-$HOME/.local/share}/stowplan/drivers"
if [[ "${1:-}" == --to && -n "${2:-}" ]]; then
    to=$2
    shift 2
fi

# failed MESSAGE
failed() {
    echo "$0: $1" >&2
    exit 1
}

# get PACKAGE…: has Debian's packages installed, one installer after the other. A new machine has no lists of them, an
# old one has old lists.
get() {
    local root=() install=(apt-get install -y -qq --no-install-recommends "$@")
    [[ $EUID == 0 ]] || root=(sudo -n)
    {
        flock 9
        "${root[@]}" "${install[@]}" || { "${root[@]}" apt-get update -qq && "${root[@]}" "${install[@]}"; }
    } >&2 9>"${TMPDIR:-/tmp}/stowplan-packages-$EUID"
}

# need WHAT PACKAGES COMMAND…: has Debian's packages installed unless the command succeeds, which it must then.
need() {
    local what=$1 debian=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    # shellcheck disable=SC2086 # they are several words
    get $debian && "$@" >/dev/null 2>&1 || failed "$what is needed; on Debian: apt-get install $debian; then run this again"
}

# program NAME COMMAND…: makes the command the program of the driver, whole or not at all.
program() {
    local name=stowplan-driver-$1 new
    shift
    new=$(mktemp "$to/.$name.XXXXXX")
    {
        echo '#!/usr/bin/env bash'
        printf 'exec'
        printf ' %q' "$@"
        echo ' "$@"'
    } >"$new"
    chmod 755 "$new"
    mv "$new" "$to/$name"
    echo "$to/$name"
}

mkdir -p "$to"
to=$(cd "$to" && pwd)
