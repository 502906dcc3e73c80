#!/bin/sh
# Install a complete lock file: deploy/install-lock.sh ENVIRONMENT LOCK
#
# ENVIRONMENT is the folder of a virtual environment; $PYTHON, or python3, makes it if
# it isn't there. pip resolves nothing, so it never looks at a version that the lock
# doesn't name; pip check then says whether the lock was complete. What fails, as for
# the network's sake, is tried three times.
set -eu

environment=$1
lock=$2

test -x "$environment/bin/python" || "${PYTHON:-python3}" -m venv "$environment"

# Count what pip says, on one line of a terminal; fail where pip has failed.
progress() {
    all=$(grep -c '==' "$lock") count=0 status=0 said=
    while read -r word rest; do
        case $word in
            Collecting | Requirement) count=$((count + 1)) said="$count of $all packages fetched" ;;
            Installing) said="installing $all packages" ;;
            FAILED) status=1 ;;
        esac
        if test -t 2 && test "$said"; then printf '\r%-40s' "$said" >&2; fi
    done
    if test -t 2 && test "$said"; then echo >&2; fi
    return "$status"
}

for attempt in 1 2 3; do
    { PYTHONUNBUFFERED=1 "$environment/bin/pip" install --disable-pip-version-check \
        --no-deps --require-hashes -r "$lock" || echo FAILED; } | progress && break
    test "$attempt" -lt 3 || { echo "$lock can't be installed" >&2; exit 1; }
    sleep 5
done
"$environment/bin/pip" check --disable-pip-version-check
