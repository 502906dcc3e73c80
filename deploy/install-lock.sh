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
for attempt in 1 2 3; do
    "$environment/bin/pip" install --quiet --disable-pip-version-check \
        --no-deps --require-hashes -r "$lock" && break
    test "$attempt" -lt 3 || { echo "$lock can't be installed" >&2; exit 1; }
    sleep 5
done
"$environment/bin/pip" check --disable-pip-version-check
