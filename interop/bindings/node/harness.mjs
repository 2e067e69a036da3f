// What the tests of the frameworks share: servers that are real processes, and what may and may not reach a model.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export const PYTHON = process.env.PYTHON ?? 'python3'
export const SERVER = fileURLToPath(new URL('../server.py', import.meta.url))
export const STRICT = { output_validation: { mode: 'strict' } }
const SECRET = 'PAYLOAD-THAT-NO-MODEL-MAY-READ'

/** Runs `work` with the address of a server over HTTP, without the path. */
export async function withHttpServer(work) {
  const child = spawn(PYTHON, [SERVER, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = await once(child.stdout, 'data')
    return await work(`http://127.0.0.1:${Number(port)}`)
  } finally {
    child.kill()
  }
}

export function checkBlocked(received) {
  const text = JSON.stringify(received)
  assert.ok(!text.includes(SECRET), text)
  assert.match(text, /output schema validation failed: type at \/n: expected integer, got string/)
}

export function checkGood(received) {
  const text = JSON.stringify(received)
  assert.ok(text.includes('41') && !text.includes('failed'), text)
}

export function checkToken(received) {
  const text = JSON.stringify(received)
  assert.ok(!text.includes('im_start') && text.includes('(removed: control token)'), text)
}

/** Calls every tool; an error's text is what a framework shows to a model. */
export async function callAll(call) {
  const told = async (name) => {
    try {
      return await call(name)
    } catch (error) {
      return String(error)
    }
  }
  checkGood(await told('good'))
  checkBlocked(await told('bad'))
  checkToken(await told('token'))
}
