'use strict'

const native = require('./lib/native.js')
const { Blocked, ConfigError, Exhausted, NotJson, Unenforceable, Violation, configured } = require('./lib/errors.js')
const { Inspector, Tool, Verdict } = require('./lib/inspector.js')
const { Schema } = require('./lib/schema.js')

/** Cleans a text under an `output_sanitisation` block. */
function sanitise(text, settings = {}) {
  const cleaned = configured(() => native.nativeSanitise(text, JSON.stringify(settings)))
  return { text: cleaned.text, findings: JSON.parse(cleaned.findings), blocked: cleaned.blocked }
}

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
