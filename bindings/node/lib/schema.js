'use strict'
// JSON Schema for schemas and values from servers that are not trusted.

const native = require('./native.js')
const { asBytes, bytesOf } = require('./json.js')
const { Exhausted, NotJson, Unenforceable, Violation } = require('./errors.js')

const [VALID, INVALID, EXHAUSTED] = [0, 1, 2]

class Schema {
  #native

  constructor(compiled) {
    this.#native = compiled
    Object.freeze(this)
  }

  static compile(schema, { dialect = '2020-12', assertFormats = false } = {}) {
    try {
      return new Schema(native.NativeSchema.compile(asBytes(schema).bytes, dialect, assertFormats))
    } catch (error) {
      let parts
      try {
        parts = JSON.parse(error.message)
      } catch {
        throw error
      }
      throw new Unenforceable(parts.message, parts.kind, parts.pointer)
    }
  }

  isValid(data) {
    const bytes = bytesOf(data)
    const outcome = bytes === undefined ? this.#native.isValidText(text(data)) : this.#native.isValid(bytes)
    return outcome === VALID || (outcome !== INVALID && raise(outcome === EXHAUSTED ? 'exhausted' : 'not_json'))
  }

  validate(data) {
    const [word, ...parts] = this.#native.validate(asBytes(data).bytes)
    if (word === 'invalid') throw new Violation(...parts)
    if (word !== 'valid') raise(word)
  }
}

function text(data) {
  const written = typeof data === 'string' ? data : JSON.stringify(data)
  if (written === undefined) throw new TypeError('the value has no JSON form')
  return written
}

function raise(word) {
  throw word === 'exhausted' ? new Exhausted() : new NotJson()
}

module.exports = { Schema }
