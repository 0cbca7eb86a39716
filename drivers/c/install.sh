# What the installers of drivers in C share; sourced by them, with their arguments.
. "$here/../install.sh"

# has_header NAME
has_header() {
    echo "#include <$1>" | gcc -E -
}

# driver NAME OPTION…: compiles the driver of this directory with the library, unless it is newer than its sources.
driver() {
    local name=$1 c program
    shift
    need "Jansson with its header" libjansson-dev has_header jansson.h
    c=$(cd "$here/../c" && pwd)
    program=$to/stowplan-driver-$name
    [[ -x $program && -z $(find "$here" "$c" -newer "$program" -name '*.[ch]') ]] && return
    gcc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$program.new" "$here/$name.c" "$c"/{driver,null}.c "$@" -ljansson
    mv "$program.new" "$program"
    echo "$program"
}

need "a C compiler" "gcc libc6-dev" has_header stdio.h
