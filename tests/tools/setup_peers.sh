#!/bin/sh
# Brings the protocol's official SDK into .cache/peers, for the agents of tests/peers, and a node to run them.
# The lock file there is a copy: a checkout that only touched the original costs nothing.
set -eu
cd "$(dirname "$0")/../.."
peers=.cache/peers
stamp=$peers/.stamp

if [ -f "$stamp" ] && cmp -s tests/peers/package-lock.json $peers/package-lock.json; then
  touch "$stamp"
  exit 0
fi

. tests/tools/setup_npm.sh
echo "acp_nvim: bringing the protocol's official SDK into $peers"
rm -f "$stamp"
install_locked tests/peers $peers "the SDK" "set-up"
rm -rf "$npm_config_cache"
touch "$stamp"
