'use strict'
// Inspector, tools and verdicts.

const native = require('./native.js')
const { asBytes, encode } = require('./json.js')
const { Blocked, ConfigError, configured } = require('./errors.js')
const { Schema } = require('./schema.js')
const { guardedFetch } = require('./fetch.js')
const { GuardedTransport } = require('./guard.js')

class Tool {
  constructor(declared) {
    Object.defineProperty(this, 'native', { value: declared })
    Object.freeze(this)
  }

  get name() {
    return this.native.name
  }

  get diagnostics() {
    return this.native.diagnostics
  }
}

class Verdict {
  #native
  #refusal

  constructor(judged, refusal) {
    this.#native = judged
    this.#refusal = refusal
    Object.freeze(this)
  }

  get decision() {
    return this.#refusal === undefined ? this.#native.decision : 'blocked'
  }

  get reason() {
    if (this.#refusal !== undefined) return 'the result was withheld because it could not be recorded'
    return this.#native.reason ?? undefined
  }

  get findings() {
    return JSON.parse(this.#native.findingsJson()).map(finding)
  }

  get tool() {
    return this.#native.tool
  }

  get mode() {
    return this.#native.mode
  }

  get fidelity() {
    return this.#native.fidelity
  }

  get bytes() {
    return this.#refusal ?? this.#native.emitted()
  }

  get isBlocked() {
    return this.decision === 'blocked'
  }

  structured() {
    const text = this.#refusal === undefined ? this.#native.structuredText() : undefined
    return text === undefined || text === null ? undefined : JSON.parse(text)
  }

  throwIfBlocked() {
    if (this.isBlocked) throw new Blocked(this)
    return this
  }
}

function finding(found) {
  const { instance_pointer, schema_pointer, ...rest } = found
  return { ...rest, instancePointer: instance_pointer, schemaPointer: schema_pointer }
}

class Inspector {
  #native
  #onRecord

  constructor(settings = {}, { server, onRecord } = {}) {
    this.#native = configured(() => new native.NativeInspector(JSON.stringify(settings), server))
    this.#onRecord = onRecord
    this.server = server
    Object.freeze(this)
  }

  declare(tool) {
    return new Tool(this.#native.declare(asBytes(tool).bytes))
  }

  tool(name) {
    return new Tool(this.#native.tool(name))
  }

  result(tool, reply, { era = 'modern', client, id } = {}) {
    const { bytes, isValue } = asBytes(reply)
    const isLegacyClient = client === undefined ? undefined : client === 'legacy'
    const declared = typeof tool === 'string' ? this.tool(tool) : tool
    const judged = this.#native.result(declared.native, bytes, isValue, era === 'legacy', isLegacyClient, id)
    if (this.#onRecord === undefined || this.#record(this.#native.records(judged))) return new Verdict(judged)
    return new Verdict(judged, this.#native.refusesUnrecorded(judged) ? this.#native.unrecorded() : undefined)
  }

  arguments(tool, args) {
    const declared = typeof tool === 'string' ? this.tool(tool) : tool
    const bytes = args === undefined ? undefined : asBytes(args).bytes
    const { decision, reason, findings } = this.#native.arguments(declared.native, bytes)
    return { decision, reason: reason ?? undefined, findings: JSON.parse(findings).map(finding) }
  }

  fetch(next = globalThis.fetch) {
    this.#checkInput()
    return guardedFetch(this, this.#native, (piece) => this.#deliver(piece), next)
  }

  stdio(server) {
    this.#checkInput()
    if (native.StdioTransport === undefined) throw new TypeError('stdio() needs Node: no process can be started here')
    return new native.StdioTransport(this.#native, (piece) => this.#deliver(piece), server)
  }

  guard(transport, { require: fidelity } = {}) {
    this.#checkInput()
    if (typeof transport?.start !== 'function' || typeof transport.send !== 'function') {
      throw new TypeError('guard takes a transport of the MCP SDK')
    }
    if (fidelity === 'bytes') {
      throw new TypeError('a transport hands over parsed messages; use fetch() or stdio(), where they are bytes')
    }
    return new GuardedTransport(this.#native, (piece) => this.#deliver(piece), transport)
  }

  validator() {
    return { getValidator }
  }

  #checkInput() {
    if (!this.#native.isInputStrict) return
    const message =
      'input_validation.mode: strict cannot be enforced around a connection; call arguments() instead'
    throw new ConfigError(message, 'input_validation.mode', ['off', 'warn'])
  }

  /** Hands records over; false if that failed. */
  #record(records) {
    if (this.#onRecord === undefined) return true
    const now = new Date().toISOString()
    try {
      for (const record of records) this.#onRecord(`{"timestamp":"${now}",${record.slice(1)}`)
    } catch {
      return false
    }
    return true
  }

  /** What may be passed on, once its records were handed over. */
  #deliver({ bytes, records, refusal }) {
    const isRefused = records.length > 0 && !this.#record(records) && refusal
    return isRefused ? refusal : bytes
  }
}

/** A validator for the SDK's own second look. A schema that cannot be enforced accepts nothing. */
function getValidator(schema) {
  let compiled
  try {
    compiled = Schema.compile(schema)
  } catch (error) {
    return () => ({ valid: false, data: undefined, errorMessage: `the schema cannot be enforced: ${error.message}` })
  }
  return (data) => {
    try {
      // A string is a value here, not JSON text.
      compiled.validate(encode(JSON.stringify(data) ?? 'null'))
      return { valid: true, data, errorMessage: undefined }
    } catch (error) {
      return { valid: false, data: undefined, errorMessage: error.message }
    }
  }
}

module.exports = { Inspector, Tool, Verdict }
