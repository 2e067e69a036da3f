'use strict'
// A transport for servers on stdio. The SDK's own keeps its streams private, so this one starts the process itself.

const { spawn } = require('node:child_process')
const native = require('./native.js')

const INHERITED =
  process.platform === 'win32'
    ? ['APPDATA', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATH', 'PROCESSOR_ARCHITECTURE', 'SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'USERNAME', 'USERPROFILE']
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']

/** How long a process may take to end by itself. */
const GRACE = 2000

function environment(own) {
  const inherited = INHERITED.filter((name) => process.env[name] !== undefined)
  return { ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])), ...own }
}

class StdioTransport {
  #server
  #boundary
  #deliver
  #process

  constructor(nativeInspector, deliver, server) {
    this.#server = server
    this.#deliver = deliver
    this.#boundary = new native.NativeBoundary(nativeInspector, false)
  }

  async start() {
    if (this.#process !== undefined) throw new Error('the transport has been started already')
    const { command, args = [], env, cwd, stderr = 'inherit' } = this.#server
    const stdio = ['pipe', 'pipe', stderr]
    const child = spawn(command, args, { env: environment(env), cwd, stdio, windowsHide: true })
    this.#process = child
    const lines = this.#boundary.lines()
    child.stdout.on('data', (chunk) => {
      for (const piece of lines.feed(chunk)) this.#receive(this.#deliver(piece))
    })
    child.stdin.on('error', (error) => this.onerror?.(error))
    await new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => {
        reject(error)
        this.onerror?.(error)
      })
      child.once('close', () => {
        this.#process = undefined
        this.onclose?.()
      })
    })
  }

  #receive(line) {
    let message
    try {
      message = JSON.parse(line.toString())
    } catch (error) {
      this.onerror?.(error)
      return
    }
    for (const one of Array.isArray(message) ? message : [message]) this.onmessage?.(one)
  }

  /** The process id, while the server runs. */
  get pid() {
    return this.#process?.pid ?? null
  }

  async send(message) {
    const child = this.#process
    if (child === undefined) throw new Error('the transport is not connected')
    const line = this.#boundary.sent(Buffer.from(JSON.stringify(message)))
    if (!child.stdin.write(Buffer.concat([line, Buffer.from('\n')]))) {
      await new Promise((resolve) => child.stdin.once('drain', resolve))
    }
  }

  async close() {
    const child = this.#process
    if (child === undefined) return
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.stdin.end()
    for (const signal of ['SIGTERM', 'SIGKILL']) {
      let timer
      const late = new Promise((resolve) => (timer = setTimeout(resolve, GRACE, true)))
      const isLate = await Promise.race([closed, late])
      clearTimeout(timer)
      if (isLate !== true) return
      child.kill(signal)
    }
    await closed
  }
}

module.exports = { StdioTransport }
