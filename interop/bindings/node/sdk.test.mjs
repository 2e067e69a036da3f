// The TypeScript SDK, both majors: HTTP in every form, stdio, any transport, and the validator.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { Inspector } from 'countersign-mcp'
import { PYTHON, SERVER, STRICT, callAll, checkGood, checkToken, withHttpServer } from './harness.mjs'

const limit = { timeout: 60_000 }
const info = { name: 'test', version: '1' }
const majors = [
  ['1', Client1, Http1],
  ['2', Client2, Http2],
]

async function use(client, transport) {
  await client.connect(transport)
  try {
    const { tools } = await client.listTools()
    for (const tool of tools) assert.equal(tool.description, `${tool.name}(removed: control token)`)
    await callAll((name) => client.callTool({ name, arguments: {} }))
  } finally {
    await client.close()
  }
}

for (const [major, Client, Http] of majors) {
  test(`SDK ${major}: HTTP in every form`, limit, () =>
    withHttpServer(async (address) => {
      for (const path of ['json', 'events', 'gzip', 'split', 'cut']) {
        const inspector = new Inspector(STRICT)
        await use(new Client(info), new Http(new URL(`${address}/${path}`), { fetch: inspector.fetch() }))
      }
    }))

  test(`SDK ${major}: an answer under a foreign id or in a batch is refused`, limit, () =>
    withHttpServer(async (address) => {
      for (const [path, rule] of [['foreign', 'transport.bad_id'], ['extra', 'transport.bad_id'], ['batch', 'transport.not_json']]) {
        const client = new Client(info)
        const fetch = new Inspector(STRICT).fetch()
        await client.connect(new Http(new URL(`${address}/${path}`), { fetch }))
        const text = JSON.stringify(await client.callTool({ name: 'good', arguments: {} }))
        assert.ok(text.includes('blocked by policy') && text.includes(rule), text)
        await client.close()
      }
    }))

  test(`SDK ${major}: sixteen sessions over one fetch`, limit, () =>
    withHttpServer(async (address) => {
      const fetch = new Inspector(STRICT).fetch()
      const one = () => use(new Client(info), new Http(new URL(`${address}/events`), { fetch }))
      await Promise.all(Array.from({ length: 16 }, one))
    }))

  test(`SDK ${major}: a tool that was not listed is cleaned and recorded`, limit, () =>
    withHttpServer(async (address) => {
      const tools = []
      const inspector = new Inspector(STRICT, { onRecord: (record) => tools.push(JSON.parse(record).tool) })
      const client = new Client(info)
      await client.connect(new Http(new URL(`${address}/events`), { fetch: inspector.fetch() }))
      checkToken(await client.callTool({ name: 'token', arguments: {} }))
      await client.listTools()
      await client.callTool({ name: 'unlisted', arguments: {} })
      await client.close()
      assert.deepEqual(tools, ['token', 'token', 'unlisted'])
    }))

  test(`SDK ${major}: a message longer than allowed is refused`, limit, () =>
    withHttpServer(async (address) => {
      const inspector = new Inspector({ ...STRICT, max_message_bytes: 4096 })
      const fetch = inspector.fetch()
      const transports = ['json', 'events'].map((path) => new Http(new URL(`${address}/${path}`), { fetch }))
      for (const transport of [inspector.stdio({ command: PYTHON, args: [SERVER, 'stdio'] }), ...transports]) {
        const client = new Client(info)
        await client.connect(transport)
        const text = JSON.stringify(await client.callTool({ name: 'large', arguments: { bytes: 100_000 } }))
        assert.ok(!text.includes('PAYLOAD') && text.includes('transport.'), text)
        // The rest of the long message is thrown away, and the next one is read.
        checkToken(await client.callTool({ name: 'token', arguments: {} }))
        await client.close()
      }
    }))

  test(`SDK ${major}: stdio`, limit, async () => {
    const records = []
    const inspector = new Inspector(STRICT, { server: 'weather', onRecord: (record) => records.push(JSON.parse(record)) })
    await use(new Client(info), inspector.stdio({ command: PYTHON, args: [SERVER, 'stdio'] }))
    const kinds = records.map((record) => record.decision ?? record.status)
    assert.deepEqual(kinds, ['success', 'error', 'blocked', 'success', 'rewritten'])
    assert.ok(records.every((record) => record.fidelity === 'bytes'))
  })

  test(`SDK ${major}: the validator is a second look`, limit, async () => {
    const inspector = new Inspector()
    const client = new Client(info, { jsonSchemaValidator: inspector.validator() })
    await client.connect(inspector.stdio({ command: PYTHON, args: [SERVER, 'stdio'] }))
    await client.listTools()
    checkGood(await client.callTool({ name: 'good', arguments: {} }))
    await assert.rejects(client.callTool({ name: 'bad', arguments: {} }), (error) => {
      assert.ok(!String(error).includes('PAYLOAD'), String(error))
      return true
    })
    await client.close()
  })
}

test('any transport: values', limit, async () => {
  const records = []
  const inspector = new Inspector(STRICT, { onRecord: (record) => records.push(JSON.parse(record)) })
  const transport = new Stdio1({ command: PYTHON, args: [SERVER, 'stdio'] })
  assert.throws(() => inspector.guard(transport, { require: 'bytes' }), TypeError)
  await use(new Client1(info), inspector.guard(transport))
  assert.ok(records.every((record) => record.fidelity === 'value' && record.payload_digest === undefined))
})

test('a record that cannot be handed over withholds the result', limit, async () => {
  const onRecord = () => {
    throw new Error('disk full')
  }
  const client = new Client1(info)
  await client.connect(new Inspector(STRICT, { onRecord }).stdio({ command: PYTHON, args: [SERVER, 'stdio'] }))
  const text = JSON.stringify(await client.callTool({ name: 'good', arguments: {} }))
  assert.ok(text.includes('could not be recorded') && !text.includes('41'), text)
  await client.close()
})

test('requests that are not MCP pass untouched', limit, async () => {
  const body = '{"access_token":"<|im_start|>"}'
  const fetch = new Inspector(STRICT).fetch(async () => new Response(body))
  assert.equal(await (await fetch('http://x/token', { method: 'POST', body: 'grant_type=x' })).text(), body)
  assert.equal(await (await fetch('http://x/.well-known/y')).text(), body)
})
