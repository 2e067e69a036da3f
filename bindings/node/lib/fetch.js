'use strict'
// The hook for HTTP: a `fetch` that inspects what comes back, the whole body or event by event.

const native = require('./native.js')
const { decode, encode } = require('./json.js')

const EMPTY = new Set([101, 204, 205, 304])

/** A `fetch` around `next`. Requests that are not MCP pass untouched. */
function guardedFetch(inspector, nativeInspector, deliver, next) {
  const boundary = new native.NativeBoundary(nativeInspector, false)
  return async (input, init) => {
    const [exchange, sent] = await begin(boundary, input, init)
    const response = await next(input, sent)
    if (exchange === undefined || response.body === null || EMPTY.has(response.status)) return response
    return inspected(exchange, response, deliver)
  }
}

async function begin(boundary, input, init) {
  const request = input instanceof Request ? input : undefined
  const method = (init?.method ?? request?.method ?? 'GET').toUpperCase()
  if (method === 'POST') {
    let sent = init
    let body = init?.body
    if (body === undefined || body === null) body = await request?.clone().arrayBuffer()
    if (typeof body === 'string') body = encode(body)
    else if (body instanceof ArrayBuffer) body = new Uint8Array(body)
    else if (body !== undefined && !(body instanceof Uint8Array)) {
      // A stream can be read once only, so what was read is sent.
      body = new Uint8Array(await new Response(body).arrayBuffer())
      sent = { ...init, body }
    }
    const isMessage = body !== undefined && decode(body).includes('jsonrpc')
    return [isMessage ? boundary.exchange(body) : undefined, sent]
  }
  const headers = new Headers(init?.headers ?? request?.headers)
  const listens = method === 'GET' && (headers.get('accept') ?? '').includes('text/event-stream')
  return [listens ? boundary.listen(headers.get('last-event-id') ?? undefined) : undefined, init]
}

function inspected(exchange, response, deliver) {
  exchange.open(response.status, response.headers.get('content-type') ?? '')
  const filter = new TransformStream({
    transform(chunk, controller) {
      for (const piece of exchange.feed(chunk)) controller.enqueue(deliver(piece))
    },
    flush(controller) {
      const piece = exchange.finish()
      if (piece !== null && piece !== undefined) controller.enqueue(deliver(piece))
    },
  })
  const headers = new Headers(response.headers)
  // The body is decoded already, and its length may differ.
  headers.delete('content-encoding')
  headers.delete('content-length')
  const { status, statusText } = response
  const result = new Response(response.body.pipeThrough(filter), { status, statusText, headers })
  Object.defineProperty(result, 'url', { value: response.url })
  Object.defineProperty(result, 'redirected', { value: response.redirected })
  return result
}

module.exports = { guardedFetch }
