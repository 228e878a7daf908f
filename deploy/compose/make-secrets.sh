#!/bin/sh
# Makes the folder `secrets` with new secrets for compose.yaml. Never overwrites one.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir secrets || { echo 'There are secrets already; they are kept.' >&2; exit 1; }

random() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; }
password=$(random)
token=$(random)
printf %s "$password" > secrets/postgres_password
printf %s "$token" > secrets/metrics_token
# The containers read these two as users of their own. Nobody else reaches them: the folder is closed.
chmod 644 secrets/postgres_password secrets/metrics_token
cat > secrets/gateway.env << END
TOLLGATE_SECRET=$(random)
DATABASE_URL=postgres://tollgate:$password@postgres/tollgate
METRICS_TOKEN=$token
# Keys of providers, such as OPENAI_API_KEY=…
END
