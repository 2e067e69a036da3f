// Every vector of the corpus, in Node: the same decision, findings, reason and bytes as in Rust.
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Inspector } from 'countersign-mcp'

let [passed, failed] = [0, 0]
for (const line of readFileSync(process.argv[2], 'utf8').trim().split('\n')) {
  const vector = JSON.parse(line)
  const inspector = new Inspector(vector.settings, { server: 'stub' })
  const bytes = (hex) => Buffer.from(hex, 'hex')
  const tool = vector.tool === null ? inspector.tool('plain') : inspector.declare(bytes(vector.tool))
  let verdict, emitted
  if (vector.arguments !== undefined) {
    verdict = inspector.arguments(tool, bytes(vector.arguments))
  } else {
    const reading = { era: vector.era, client: vector.client ?? undefined, id: vector.id ?? undefined }
    verdict = inspector.result(tool, bytes(vector.reply), reading)
    emitted = verdict.bytes.toString('hex')
  }
  const rules = verdict.findings.map((finding) => finding.rule)
  const seen = [verdict.decision, verdict.reason ?? null, rules, emitted]
  const expected = [vector.decision, vector.reason, vector.findings, vector.emitted]
  if (isDeepStrictEqual(seen, expected)) {
    passed += 1
  } else {
    failed += 1
    console.log(`FAILED ${vector.name}\n seen     ${JSON.stringify(seen).slice(0, 600)}\n expected ${JSON.stringify(expected).slice(0, 600)}`)
  }
}
console.log(`corpus: ${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed < 800 ? 1 : 0)
