// The vectors of the corpus: the same decision, findings, reason and bytes as in Rust. It uses nothing of Node, because it
// also runs in an edge runtime.

const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

function judge(Inspector, vector) {
  const inspector = new Inspector(vector.settings, { server: 'stub' })
  const tool = vector.tool === null ? inspector.tool('plain') : inspector.declare(bytes(vector.tool))
  if (vector.arguments !== undefined) return [inspector.arguments(tool, bytes(vector.arguments))]
  const reading = { era: vector.era, client: vector.client ?? undefined, id: vector.id ?? undefined }
  const verdict = inspector.result(tool, bytes(vector.reply), reading)
  return [verdict, hex(verdict.bytes)]
}

/** Runs every line: how many passed, and what differs. */
export function runCorpus(Inspector, lines) {
  const failed = []
  let passed = 0
  for (const line of lines.trim().split('\n')) {
    const vector = JSON.parse(line)
    const [verdict, emitted] = judge(Inspector, vector)
    const rules = verdict.findings.map((finding) => finding.rule)
    const seen = JSON.stringify([verdict.decision, verdict.reason ?? null, rules, emitted])
    const expected = JSON.stringify([vector.decision, vector.reason, vector.findings, vector.emitted])
    if (seen === expected) passed += 1
    else failed.push(`FAILED ${vector.name}\n seen     ${seen.slice(0, 600)}\n expected ${expected.slice(0, 600)}`)
  }
  return { passed, failed }
}
