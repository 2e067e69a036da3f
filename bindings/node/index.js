'use strict'
// The entry in Node.

const { StdioTransport } = require('./lib/stdio.js')

Object.assign(require('./lib/native.js'), require('./lib/addon.js'), { StdioTransport })

module.exports = require('./lib/exports.js')
