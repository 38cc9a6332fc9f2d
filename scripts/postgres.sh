#!/usr/bin/env bash
# Installs PostgreSQL for the tests that need one, where it is absent and can be installed.
set -euo pipefail
if ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null
fi
