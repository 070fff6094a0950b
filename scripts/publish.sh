#!/usr/bin/env bash
# Publishes the four packages of this repository, the small ones first. `--dry-run` shows what would be published, and
# changes nothing. Run it in a clean checkout: it removes the guard against publishing by mistake.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(node -p 'require("./package.json").version')
options=(--access public --tag latest)
case "$version" in *-*) options=(--access public --tag next) ;; esac

publish() {
  if [ "$1" = --dry-run ]; then
    npm pack --dry-run
    return
  fi
  npm pkg delete private
  if [ -n "${GITHUB_REPOSITORY:-}" ]; then
    # The provenance statement names the repository, and npm compares it with the package.
    npm pkg set repository.type=git "repository.url=git+https://github.com/$GITHUB_REPOSITORY.git"
    npm publish --provenance "${options[@]}"
  else
    npm publish "${options[@]}"
  fi
}

for folder in packages/webhooks packages/client packages/n8n-nodes-waygate .; do
  (cd "$folder" && publish "${1:-}")
done
