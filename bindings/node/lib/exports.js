'use strict'
// What the package exports, on every platform. Node and bundlers read the names of an ES module from this object.

const { Blocked, ConfigError, Exhausted, NotJson, Unenforceable, Violation } = require('./errors.js')
const { Inspector, Tool, Verdict } = require('./inspector.js')
const { sanitise } = require('./sanitise.js')
const { Schema } = require('./schema.js')

module.exports = {
  Blocked,
  ConfigError,
  Exhausted,
  Inspector,
  NotJson,
  Schema,
  Tool,
  Unenforceable,
  Verdict,
  Violation,
  sanitise,
}
