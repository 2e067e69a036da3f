// The corpus in an edge runtime: the worker is sent the vectors and says what differs.
import { Inspector, Schema, sanitise } from 'countersign-mcp'
import { runCorpus } from '../node/vectors.mjs'

export default {
  async fetch(request) {
    const url = new URL(request.url)
    if (url.pathname === '/corpus') return Response.json(runCorpus(Inspector, await request.text()))
    // The hook for HTTP, around a server that answers with a result that breaks its schema.
    const tools = [{ name: 't', inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['n'] } }]
    const results = { 'tools/list': { tools }, 'tools/call': { content: [], structuredContent: {} } }
    const server = async (_, { body }) => {
      const { id, method } = JSON.parse(body)
      return Response.json({ jsonrpc: '2.0', id, result: results[method] })
    }
    const inspector = new Inspector({ output_validation: { mode: 'strict' } }, { server: 'edge' })
    const fetch = inspector.fetch(server)
    const ask = async (id, method, params) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      return (await fetch('http://server/', { method: 'POST', body })).json()
    }
    await ask(1, 'tools/list')
    const { result } = await ask(2, 'tools/call', { name: 't', arguments: {} })
    let stdio
    try {
      inspector.stdio({ command: 'x' })
    } catch (error) {
      stdio = error.message
    }
    const isValid = Schema.compile({ type: 'integer' }).isValid(1)
    return Response.json({ isError: result.isError, stdio, isValid, clean: sanitise('a<|im_start|>').text })
  },
}
