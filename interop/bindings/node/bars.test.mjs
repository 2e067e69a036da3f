// What holds for the package by itself: hostile schemas and values, memory, errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ConfigError, Inspector, NotJson, Schema, Unenforceable, Violation, sanitise } from 'countersign-mcp'
import { attacks, judgeAttack } from './attacks.mjs'
import { STRICT } from './harness.mjs'

// So many verdicts in .ci/run; a million with `VERDICTS=1000000`.
const VERDICTS = Number(process.env.VERDICTS ?? 100_000)

test('every attack has an outcome', { timeout: 60_000 }, () => {
  let count = 0
  for (const attack of attacks()) {
    const [outcome, decision, isTold] = judgeAttack(attack)
    // A result that breaks its schema is blocked; a schema that cannot be enforced is reported.
    const isLoud = outcome === 'Unenforceable' ? isTold : decision === 'blocked'
    assert.ok(isLoud || outcome === 'valid', `${attack.name}: ${outcome}, ${decision}`)
    count += 1
  }
  assert.ok(count > 40)
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
