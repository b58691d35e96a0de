#!/bin/sh
# Brings the parser of Python that tests/tools/tree_sitter_python names and locks into .cache/tree-sitter-python, as a
# directory for 'runtimepath'. Neovim has none, and the package's compiled one for Node exports what Neovim loads.
set -eu
cd "$(dirname "$0")/../.."
work=.cache/parser
. tests/tools/setup_npm.sh

echo "acp_nvim: bringing a parser of Python into .cache/tree-sitter-python"
install_locked tests/tools/tree_sitter_python "$work" "the parser" "make picture"

package=$work/node_modules/tree-sitter-python
compiled=$package/prebuilds/$(node -p 'process.platform + "-" + process.arch')/tree-sitter-python.node
if [ ! -f "$compiled" ]; then
  echo "acp_nvim: there is no parser of Python for this kind of machine." >&2
  exit 1
fi
runtime=.cache/tree-sitter-python
mkdir -p "$runtime/parser" "$runtime/queries/python"
cp "$package/queries/highlights.scm" "$runtime/queries/python"
cp "$compiled" "$runtime/parser/python.so"
rm -rf "$work" "$npm_config_cache"
