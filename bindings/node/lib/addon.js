'use strict'
// The addon for this platform: beside this package, or in a package of its own.

const { existsSync } = require('node:fs')
const { join } = require('node:path')

function platform() {
  const { platform, arch } = process
  if (platform === 'linux') {
    const musl = !process.report.getReport().header.glibcVersionRuntime
    return `linux-${arch}-${musl ? 'musl' : 'gnu'}`
  }
  return platform === 'win32' ? `win32-${arch}-msvc` : `${platform}-${arch}`
}

const name = `countersign-mcp.${platform()}.node`
const beside = join(__dirname, '..', name)

module.exports = existsSync(beside) ? require(beside) : require(`countersign-mcp-${platform()}`)
