'use strict'
// What cannot be done. A refused result is a verdict, not an error, and no message quotes a value.

class ConfigError extends Error {
  constructor(message, key = '', allowed = []) {
    super(message)
    this.name = 'ConfigError'
    this.key = key
    this.allowed = allowed
  }
}

class Unenforceable extends Error {
  constructor(message, kind, pointer) {
    super(message)
    this.name = 'Unenforceable'
    this.kind = kind
    this.pointer = pointer
  }
}

class Violation extends Error {
  constructor(keyword, instancePointer, schemaPointer, expected, actual) {
    super(`${keyword} at ${instancePointer || 'the root'}: expected ${expected}, got ${actual}`)
    this.name = 'Violation'
    Object.assign(this, { keyword, instancePointer, schemaPointer, expected, actual })
  }
}

class Exhausted extends Error {
  constructor() {
    super('judging the value costs more than it may')
    this.name = 'Exhausted'
  }
}

class NotJson extends Error {
  constructor() {
    super('the text is not JSON')
    this.name = 'NotJson'
  }
}

class Blocked extends Error {
  constructor(verdict) {
    super(verdict.reason ?? 'blocked by policy')
    this.name = 'Blocked'
    this.verdict = verdict
  }
}

/** Runs `work`; an error of the addon has its parts as JSON in its message. */
function configured(work) {
  try {
    return work()
  } catch (error) {
    let parts
    try {
      parts = JSON.parse(error.message)
    } catch {
      throw error
    }
    throw new ConfigError(parts.message, parts.key, parts.allowed)
  }
}

module.exports = { Blocked, ConfigError, Exhausted, NotJson, Unenforceable, Violation, configured }
