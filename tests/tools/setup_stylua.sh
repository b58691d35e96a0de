#!/bin/sh
# Brings the Lua formatter that tests/tools/stylua names and locks into .cache/stylua, through npm.
set -eu
cd "$(dirname "$0")/../.."
work=.cache/stylua/npm
. tests/tools/setup_npm.sh

echo "acp_nvim: bringing stylua into .cache/stylua"
install_locked tests/tools/stylua "$work" "stylua" "make check"

for binary in "$work"/node_modules/@johnnymorganz/stylua-bin-*/stylua; do
  [ -f "$binary" ] || continue
  "$binary" --version >/dev/null
  mv "$binary" .cache/stylua/stylua
  touch .cache/stylua/stylua
  rm -rf "$work" "$npm_config_cache"
  exit 0
done
echo "acp_nvim: there is no stylua for this kind of machine." >&2
exit 1
