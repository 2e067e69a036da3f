'use strict'
// JSON text or a value, as callers have it.

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The bytes of a text. */
function encode(text) {
  return encoder.encode(text)
}

/** The text of bytes. */
function decode(bytes) {
  return decoder.decode(bytes)
}

/** Bytes in any of their forms, also of another realm; nothing if `data` is something else. Shared memory is copied. */
function bytesOf(data) {
  if (data instanceof Uint8Array) return data
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (data?.byteLength === undefined) return undefined
  const kind = Object.prototype.toString.call(data)
  if (kind === '[object ArrayBuffer]') return new Uint8Array(data)
  return kind === '[object SharedArrayBuffer]' ? Uint8Array.from(new Uint8Array(data)) : undefined
}

/** The JSON text of `data` as bytes, and whether it was a value. Bytes are text already; a string is too. */
function asBytes(data) {
  if (typeof data === 'string') return { bytes: encode(data), isValue: false }
  const bytes = bytesOf(data)
  if (bytes !== undefined) return { bytes, isValue: false }
  const text = JSON.stringify(data)
  if (text === undefined) throw new TypeError('the value has no JSON form')
  return { bytes: encode(text), isValue: true }
}

module.exports = { asBytes, bytesOf, decode, encode }
