#!/bin/sh
# Brings the Lua formatter into .cache/stylua, through npm.
set -eu
cd "$(dirname "$0")/../.."
version=2.5.2
work=.cache/stylua/npm
mkdir -p "$work"
. tests/tools/setup_npm.sh

echo "acp_nvim: bringing stylua $version into .cache/stylua"
(cd "$work" && run_npm install --prefix . --no-save --no-audit --no-fund --loglevel=error \
  "@johnnymorganz/stylua-bin@$version") >/dev/null || {
  echo "acp_nvim: stylua could not be brought (see above). The first make check needs the network." >&2
  exit 1
}

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
