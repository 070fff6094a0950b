#!/usr/bin/env bash
# Installs Debian's Chromium for the tests of the pages, where that is possible; without it they are skipped.
set -euo pipefail
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" > /dev/null; then exit 0; fi
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
  echo "No Chromium, and no way to install it: the tests of the pages will be skipped." >&2
  exit 0
fi
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } > /dev/null 2>&1; then
  echo "Chromium could not be installed: the tests of the pages will be skipped." >&2
fi
