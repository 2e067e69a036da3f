// Mastra: what a tool of its MCP client returns is what its agents give to a model.
import { test } from 'node:test'
import { MCPClient } from '@mastra/mcp'
import { Inspector } from 'countersign-mcp'
import { STRICT, callAll, withHttpServer } from './harness.mjs'

test('Mastra: HTTP', { timeout: 60_000 }, () =>
  withHttpServer(async (address) => {
    const url = new URL(`${address}/events`)
    const client = new MCPClient({ servers: { weather: { url, fetch: new Inspector(STRICT).fetch() } } })
    try {
      const tools = await client.listTools()
      await callAll((name) => tools[`weather_${name}`].execute({}, {}))
    } finally {
      await client.disconnect()
    }
  }))
