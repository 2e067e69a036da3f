// The attacks on a schema engine, as the file that ATTACKS names has them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Exhausted, Inspector, Schema, Unenforceable, Violation } from 'countersign-mcp'
import { STRICT } from './harness.mjs'

export function attacks() {
  const lines = readFileSync(process.env.ATTACKS, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** Compiles and judges, by itself and as the schema of a tool; the outcomes as words. */
export function judgeAttack({ name, schema, instance }) {
  let outcome = 'valid'
  try {
    Schema.compile(schema).validate(instance)
  } catch (error) {
    const isKnown = [Unenforceable, Violation, Exhausted].some((kind) => error instanceof kind)
    assert.ok(isKnown && error.message.length < 500, `${name}: ${error}`)
    outcome = error.name
  }
  const inspector = new Inspector(STRICT)
  const tool = inspector.declare(`{"name":"t","inputSchema":{},"outputSchema":${schema}}`)
  const verdict = inspector.result(tool, `{"content":[],"structuredContent":${instance}}`)
  return [outcome, verdict.decision, tool.diagnostics.length > 0]
}
