# What the install scripts of drivers in C share; sourced by them. `to` is where drivers are kept.
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

# need PACKAGE COMMAND…: has Debian's package installed unless the command succeeds.
need() {
    local package=$1 root=()
    shift
    "$@" >/dev/null 2>&1 && return
    [[ $EUID == 0 ]] || root=(sudo -n)
    "${root[@]}" apt-get install -y --no-install-recommends "$package" >&2 ||
        failed "$package could not be had; on Debian: apt-get install $package"
}

# has_header NAME
has_header() {
    echo "#include <$1>" | gcc -E -
}

# driver NAME OPTION…: compiles the driver of this directory with the library, unless it is newer than its sources.
driver() {
    local name=$1 c program
    shift
    need libjansson-dev has_header jansson.h
    c=$(cd "$here/../c" && pwd)
    program=$to/stowplan-driver-$name
    [[ -x $program && -z $(find "$here" "$c" -newer "$program" -name '*.[ch]') ]] && return
    gcc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$program.new" "$here/$name.c" "$c"/{driver,null}.c "$@" -ljansson
    mv "$program.new" "$program"
    echo "$program"
}

mkdir -p "$to"
to=$(cd "$to" && pwd)
