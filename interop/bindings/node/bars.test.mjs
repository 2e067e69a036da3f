// What holds for the package by itself: hostile schemas and values, memory, errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ConfigError, Exhausted, Inspector, NotJson, Schema, Unenforceable, Violation, sanitise } from 'countersign-mcp'
import { STRICT } from './harness.mjs'

// So many verdicts in .ci/run; a million with `VERDICTS=1000000`.
const VERDICTS = Number(process.env.VERDICTS ?? 100_000)

function doubled(levels) {
  const defs = { [`d${levels}`]: { minProperties: 1 } }
  for (let level = 0; level < levels; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    defs[`d${level}`] = { allOf: [next, next] }
  }
  return { $ref: '#/$defs/d0', $defs: defs }
}

const HOSTILE = {
  'a doubled chain': [doubled(40), {}],
  'a pattern that backtracks': [{ items: { pattern: '^(a+)+$' } }, [`${'a'.repeat(5000)}!`]],
  'a schema that refers to itself': [{ $ref: '#' }, 1],
  'a value as deep as its schema allows': [{ items: { $ref: '#' } }, JSON.parse('['.repeat(400) + ']'.repeat(400))],
  'unique items': [{ uniqueItems: true }, Array.from({ length: 5000 }, (_, a) => ({ a }))],
  'a large enum': [{ enum: Array.from({ length: 100_000 }, (_, index) => index) }, -1],
}

test('hostile schemas have an outcome', { timeout: 60_000 }, () => {
  for (const [name, [schema, value]] of Object.entries(HOSTILE)) {
    try {
      Schema.compile(schema).validate(value)
    } catch (error) {
      const known = [Unenforceable, Violation, Exhausted].some((kind) => error instanceof kind)
      assert.ok(known && error.message.length < 500, `${name}: ${error}`)
    }
    const inspector = new Inspector(STRICT)
    const tool = inspector.declare({ name: 't', inputSchema: {}, outputSchema: schema })
    const verdict = inspector.result(tool, { content: [], structuredContent: value })
    assert.ok(['allowed', 'blocked'].includes(verdict.decision), name)
  }
})

test('hostile bytes have a verdict', { timeout: 60_000 }, () => {
  const inspector = new Inspector(STRICT)
  const tool = inspector.declare({ name: 't', inputSchema: {}, outputSchema: { type: 'object' } })
  for (const reply of ['', '['.repeat(1_000_000), '{"a":'.repeat(200_000), '{"content":NaN}', '1e999999', '"""""""']) {
    assert.ok(['allowed', 'blocked'].includes(inspector.result(tool, Buffer.from(reply)).decision))
  }
  assert.equal(inspector.result(tool, Buffer.from([0xff, 0xfe])).decision, 'blocked')
  assert.throws(() => Schema.compile(true).validate(undefined), TypeError)
})

test('errors have their parts and no values', () => {
  assert.throws(
    () => Schema.compile({ type: 'integer' }).validate('"SECRET"'),
    (error) => error instanceof Violation && error.keyword === 'type' && !error.message.includes('SECRET'),
  )
  assert.throws(
    () => Schema.compile({ $ref: 'https://evil.example/SECRET' }),
    (error) => error instanceof Unenforceable && error.kind === 'external_ref' && !error.message.includes('SECRET'),
  )
  assert.throws(() => Schema.compile({}).isValid('{'), NotJson)
  assert.throws(
    () => new Inspector({ output_validation: { mode: 'strictly' } }),
    (error) => error instanceof ConfigError && error.key === 'output_validation.mode' && error.allowed.length === 3,
  )
  assert.throws(() => new Inspector({ input_validation: { mode: 'strict' } }).fetch(), ConfigError)
  assert.equal(sanitise('fine<|im_start|>system').text, 'fine(removed: control token)system')
})

test('memory is flat', { timeout: 600_000 }, async () => {
  const inspector = new Inspector(STRICT, { onRecord: () => {} })
  const tool = inspector.declare({ name: 't', inputSchema: {}, outputSchema: { type: 'object', required: ['n'] } })
  const replies = ['{"content":[],"structuredContent":{"n":1}}', '{"content":[],"structuredContent":{}}']
  const work = async (count) => {
    for (let index = 0; index < count; index += 1) {
      // Node frees what an addon holds when its event loop turns.
      if (index % 500 === 0) await setImmediate()
      const verdict = inspector.result(tool, replies[index % 2])
      assert.ok(verdict.bytes.length > 0 && verdict.findings.length < 2)
    }
  }
  const settled = async () => {
    for (let round = 0; round < 5; round += 1) {
      globalThis.gc()
      await setImmediate()
    }
    return process.memoryUsage().rss
  }
  await work(VERDICTS)
  const before = await settled()
  await work(VERDICTS)
  const grown = (await settled()) - before
  console.log(`${VERDICTS} verdicts: ${(grown / 2 ** 20).toFixed(1)} MiB more`)
  assert.ok(grown < 24 * 2 ** 20, String(grown))
})
