// The corpus in Node: the addon, or with `--conditions=browser` the WebAssembly module.   node corpus.mjs VECTORS
import { readFileSync } from 'node:fs'
import { Inspector } from 'countersign-mcp'
import { runCorpus } from './vectors.mjs'

const { passed, failed } = runCorpus(Inspector, readFileSync(process.argv[2], 'utf8'))
if (failed.length > 0) console.log(failed.join('\n'))
console.log(`corpus: ${passed} passed, ${failed.length} failed`)
process.exit(failed.length > 0 || passed < 800 ? 1 : 0)
