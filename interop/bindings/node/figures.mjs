// The time of other validators over ours, as ratios of the least time of several rounds in turns, in one run. Above 1 this package
// is faster. `figures.mjs FOLDER` takes the pairs of the test data.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv2020 from 'ajv/dist/2020.js'
import { Validator } from '@cfworker/json-schema'
import { z } from 'zod'
import { Schema } from 'countersign-mcp'
import { attacks, judgeAttack } from './attacks.mjs'

const folder = join(process.argv[2], 'bench')

const cpu = () => process.cpuUsage().user + process.cpuUsage().system

/** How many calls can be measured. */
function countOf(work) {
  for (let count = 1; ; count *= 2) {
    const start = cpu()
    for (let index = 0; index < count; index += 1) work()
    if (cpu() - start > 10_000) return count
  }
}

/** The least time of one call of each, in microseconds. They take turns, so that a busy machine disturbs all alike. */
function least(...works) {
  const counts = works.map(countOf)
  const best = works.map(() => Infinity)
  for (let round = 0; round < 15; round += 1) {
    works.forEach((work, at) => {
      const start = cpu()
      for (let index = 0; index < counts[at]; index += 1) work()
      best[at] = Math.min(best[at], (cpu() - start) / counts[at])
    })
  }
  return best
}

const cell = (time) => (Number.isFinite(time) ? time.toFixed(1) : '–')
console.log('| pair | from | ours, µs | ajv | cfworker | zod |\n|---|---|---|---|---|---|')
for (const name of ['a_weather', 'b_issues', 'c_records', 'd_fhir']) {
  const schema = JSON.parse(readFileSync(join(folder, `${name}.schema.json`), 'utf8'))
  const bytes = readFileSync(join(folder, `${name}.json`))
  const value = JSON.parse(bytes)
  const ours = Schema.compile(schema)
  const { $schema, ...plain } = schema
  const compiled = new Ajv2020({ strict: false, validateFormats: false }).compile(plain)
  const cfworker = new Validator(schema, '2020-12')
  let type
  try {
    type = z.fromJSONSchema(schema)
    if (!type.safeParse(value).success) type = undefined
  } catch {
    // It does not take every schema.
  }
  const [ajv, cf, parse, fromBytes, fromValue, typed] = least(
    () => compiled(value),
    () => cfworker.validate(value),
    () => JSON.parse(bytes),
    () => ours.isValid(bytes),
    () => ours.isValid(value),
    () => type?.safeParse(value),
  )
  const zod = type === undefined ? NaN : typed
  const row = (from, mine, extra) =>
    console.log(`| ${name} | ${from} | ${cell(mine)} | ${[ajv, cf, zod].map((time) => cell((time + extra) / mine)).join(' | ')} |`)
  row('bytes', fromBytes, parse)
  row('value', fromValue, 0)
}

let longest = ['', 0]
for (const attack of attacks()) {
  const start = process.cpuUsage()
  judgeAttack(attack)
  const { user, system } = process.cpuUsage(start)
  if (user + system > longest[1]) longest = [attack.name, user + system]
}
console.log(`\nof the attacks, each compiled and judged twice, the longest took ${(longest[1] / 1000).toFixed(0)} ms: ${longest[0]}`)
