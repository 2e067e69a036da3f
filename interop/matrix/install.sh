# Installs the clients and servers from the lock files here. Sourced by the suites that use them; $root is the checkout.
# Leaves everything under $matrix_work, and ends the suite with 77 where npm, Python or a registry is not to be had.

matrix_here="$root/interop/matrix"
matrix_work="$root/target/interop/matrix"

cannot() { echo "$1"; exit 77; }

# matrix_python MAJOR: the SDK of that line, in an environment of its own
matrix_python() {
    cmp -s "$matrix_here/python$1.txt" "$matrix_work/python$1/installed" && return
    python3 -m venv --clear "$matrix_work/python$1"
    "$matrix_work/python$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps \
        --only-binary :all: --require-hashes -r "$matrix_here/python$1.txt"
    cp "$matrix_here/python$1.txt" "$matrix_work/python$1/installed"
}

matrix_node() {
    cmp -s "$matrix_here/package-lock.json" "$matrix_work/installed" && return
    rm -f "$matrix_work/installed"
    cp "$matrix_here/package.json" "$matrix_here/package-lock.json" "$matrix_work/"
    (cd "$matrix_work" && npm ci --no-audit --no-fund --loglevel=error)
    # As published, this file is not JSON and the server does not start.
    echo '{"type":"module"}' >"$matrix_work/node_modules/@olaservo/mcp-server-everything-sep834/node_modules/@modelcontextprotocol/sdk/dist/esm/package.json"
    cp "$matrix_here/package-lock.json" "$matrix_work/installed"
}

# Builds the binaries and installs the clients and servers, at the same time.
matrix_install() {
    command -v npm >/dev/null || cannot "npm is not installed"
    command -v git >/dev/null || cannot "git is not installed"
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        cannot "Python 3.10 or newer with venv is not installed"
    mkdir -p "$matrix_work"
    rm -rf "$matrix_work/clients"
    cp -r "$matrix_here/clients" "$matrix_here/loopback.cjs" "$matrix_work/"
    (cd "$root" && cargo build --locked --quiet -p countersign -p countersign-fixture) &
    local build=$!
    matrix_node & local npm=$!
    (matrix_python 1 && matrix_python 2) & local pip=$!
    wait "$build"
    # A lock file that cannot be installed is a failure; a registry that cannot be asked is not.
    wait "$npm" || ! npm view node version >/dev/null 2>&1 || exit 1
    wait "$pip" || ! python3 -m pip download --quiet --no-deps --dest "$matrix_work/asked" mcp >/dev/null 2>&1 || exit 1
    [[ -f "$matrix_work/installed" ]] || cannot "npm cannot install the clients and servers"
    [[ -f "$matrix_work/python1/installed" && -f "$matrix_work/python2/installed" ]] ||
        cannot "pip cannot install the clients and servers"
    "$matrix_work/node_modules/node/bin/node" --version >/dev/null ||
        cannot "the node package has no build for this machine"
}
