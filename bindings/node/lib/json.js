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

/** The JSON text of `data` as bytes, and whether it was a value. Bytes are text already; a string is too. */
function asBytes(data) {
  if (data instanceof Uint8Array) return { bytes: data, isValue: false }
  if (typeof data === 'string') return { bytes: encode(data), isValue: false }
  const text = JSON.stringify(data)
  if (text === undefined) throw new TypeError('the value has no JSON form')
  return { bytes: encode(text), isValue: true }
}

module.exports = { asBytes, decode, encode }
