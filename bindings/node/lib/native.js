'use strict'
// The compiled library. It is empty until the entry of the platform has filled it: the addon in Node, WebAssembly in
// edge runtimes and browsers. `StdioTransport` is there where processes can be started.

module.exports = {}
