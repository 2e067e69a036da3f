// The page that runs in the browser: the corpus, the hook for HTTP around a server that breaks its schema, and values that
// only JavaScript has. It sends what came of it to the server that it came from.
import { Inspector, Schema, sanitise } from 'countersign-mcp'
import { runCorpus } from '../node/vectors.mjs'

async function call() {
  const inspector = new Inspector({ output_validation: { mode: 'strict' } }, { server: 'page' })
  const fetch = inspector.fetch()
  const ask = async (id, method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    return (await fetch('/mcp', { method: 'POST', body })).json()
  }
  await ask(1, 'tools/list')
  const { result } = await ask(2, 'tools/call', { name: 't', arguments: {} })
  return result
}

async function report() {
  const vectors = await (await fetch('/vectors')).text()
  const schema = Schema.compile({ type: 'object', required: ['n'] })
  return {
    corpus: runCorpus(Inspector, vectors),
    call: await call(),
    buffer: schema.isValid(new TextEncoder().encode('{"n":1}').buffer),
    value: schema.isValid({ n: 1 }),
    clean: sanitise('a<|im_start|>').text,
    agent: navigator.userAgent,
  }
}

const outcome = await report().catch((error) => ({ error: String(error?.stack ?? error) }))
await fetch('/report', { method: 'POST', body: JSON.stringify(outcome) })
