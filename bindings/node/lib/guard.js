'use strict'
// The hook for transports that hand over parsed messages: each is written as JSON again and judged as a value.

const native = require('./native.js')
const { decode, encode } = require('./json.js')

class GuardedTransport {
  #inner
  #boundary
  #lines
  #deliver

  constructor(nativeInspector, deliver, inner) {
    this.#inner = inner
    this.#deliver = deliver
    this.#boundary = new native.NativeBoundary(nativeInspector, true)
    this.#lines = this.#boundary.lines()
    inner.onclose = () => this.onclose?.()
    inner.onerror = (error) => this.onerror?.(error)
    inner.onmessage = (message, extra) => this.#receive(message, extra)
  }

  #receive(message, extra) {
    for (const piece of this.#lines.feed(encode(`${JSON.stringify(message)}\n`))) {
      this.onmessage?.(JSON.parse(decode(this.#deliver(piece))), extra)
    }
  }

  get sessionId() {
    return this.#inner.sessionId
  }

  setProtocolVersion(version) {
    this.#inner.setProtocolVersion?.(version)
  }

  start() {
    return this.#inner.start()
  }

  async send(message, options) {
    const lines = decode(this.#boundary.sent(encode(JSON.stringify(message))))
    for (const line of lines.split('\n')) await this.#inner.send(JSON.parse(line), options)
  }

  close() {
    return this.#inner.close()
  }
}

module.exports = { GuardedTransport }
