// Bundles a page as its users' tools do, by the `browser` condition of the package, serves it, opens it in a browser, and
// waits for its report.   node test.mjs VECTORS BROWSER
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

const [vectors, browser] = process.argv.slice(2)
await build({
  entryPoints: ['page.mjs'],
  bundle: true,
  format: 'esm',
  target: 'es2022',
  conditions: ['browser'],
  outfile: 'bundle/page.mjs',
})

const tools = [{ name: 't', inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['n'] } }]
const results = { 'tools/list': { tools }, 'tools/call': { content: [], structuredContent: { secret: 'SECRET' } } }
const files = {
  '/': ['text/html', '<!doctype html><meta charset="utf-8"><script type="module" src="/page.mjs"></script>'],
  '/page.mjs': ['text/javascript', readFileSync('bundle/page.mjs')],
  '/wasm/countersign_wasm_bg.wasm': [
    'application/wasm',
    readFileSync('node_modules/countersign-mcp/wasm/countersign_wasm_bg.wasm'),
  ],
  '/vectors': ['application/jsonl', readFileSync(vectors)],
}

let reported
const report = new Promise((resolve) => (reported = resolve))

async function answer(request, response) {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  if (request.url === '/report') reported(JSON.parse(body))
  if (request.url === '/mcp') {
    const { id, method } = JSON.parse(body)
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
  }
  const [type, content] = files[request.url] ?? ['text/plain', '']
  // Most pages forbid code made from text; WebAssembly has a permission of its own.
  response.setHeader('content-security-policy', "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'")
  response.setHeader('content-type', type)
  response.end(content)
}

const server = createServer(answer).listen(0, '127.0.0.1')
await once(server, 'listening')
const profile = mkdtempSync(join(tmpdir(), 'countersign-browser-'))
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', `--user-data-dir=${profile}`]
const child = spawn(browser, [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: 'ignore' })
const ended = once(child, 'exit').then(([code]) => ({ error: `the browser ended with ${code}` }))
try {
  const outcome = await Promise.race([report, ended])
  assert.equal(outcome.error, undefined)
  const { corpus, call, agent, ...rest } = outcome
  assert.deepEqual(rest, { buffer: true, value: true, clean: 'a(removed: control token)' })
  assert.equal(call.isError, true)
  assert.ok(!JSON.stringify(call).includes('SECRET'))
  console.log(corpus.failed.join('\n'))
  console.log(`corpus in ${agent.match(/Chrome\/[\d.]+/) ?? agent}: ${corpus.passed} passed, ${corpus.failed.length} failed`)
  assert.ok(corpus.failed.length === 0 && corpus.passed > 800)
} finally {
  child.kill()
  await ended
  server.close()
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
}
