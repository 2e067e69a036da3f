// Bundles the worker as its users' tools do, by the `workerd` condition of the package, runs it in workerd, and sends it
// the corpus.   node test.mjs VECTORS
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { build } from 'esbuild'
import workerd from 'workerd'

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

await build({
  entryPoints: ['worker.mjs'],
  bundle: true,
  format: 'esm',
  conditions: ['workerd', 'worker', 'browser'],
  loader: { '.wasm': 'copy' },
  assetNames: '[name]',
  outfile: 'bundle/worker.mjs',
})
const port = await freePort()
writeFileSync(
  'bundle/config.capnp',
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "./countersign_wasm_bg.wasm", wasm = embed "countersign_wasm_bg.wasm")
  ],
  compatibilityDate = "2026-01-01"
);
`,
)
const child = spawn(workerd.default, ['serve', 'bundle/config.capnp'], { stdio: 'inherit' })
try {
  const address = `http://127.0.0.1:${port}`
  let answer
  while (answer === undefined) {
    assert.equal(child.exitCode, null, 'workerd ended')
    answer = await fetch(address).catch(() => new Promise((resolve) => setTimeout(resolve, 50)))
  }
  assert.deepEqual(await answer.json(), {
    isError: true,
    stdio: 'stdio() needs Node: no process can be started here',
    isValid: true,
    clean: 'a(removed: control token)',
  })
  const corpus = await fetch(`${address}/corpus`, { method: 'POST', body: readFileSync(process.argv[2]) })
  const { passed, failed } = await corpus.json()
  console.log(failed.join('\n'))
  console.log(`corpus in workerd: ${passed} passed, ${failed.length} failed`)
  assert.ok(failed.length === 0 && passed > 800)
} finally {
  child.kill()
}
