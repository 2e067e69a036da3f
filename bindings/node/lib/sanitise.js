'use strict'
// Cleaning one text.

const native = require('./native.js')
const { configured } = require('./errors.js')

/** Cleans a text under an `output_sanitisation` block. */
function sanitise(text, settings = {}) {
  const cleaned = configured(() => native.nativeSanitise(text, JSON.stringify(settings)))
  return { text: cleaned.text, findings: JSON.parse(cleaned.findings), blocked: cleaned.blocked }
}

module.exports = { sanitise }
