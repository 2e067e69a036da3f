// The declarations of the package against those of the SDKs: this file is checked, not run.
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client'
import { createMCPClient } from '@ai-sdk/mcp'
import { ConfigError, Inspector, Schema, sanitise, type Decision, type Finding } from 'countersign-mcp'

const inspector = new Inspector({ output_validation: { mode: 'strict' } }, { server: 'weather', onRecord: () => {} })
const url = new URL('http://localhost/mcp')
const info = { name: 'a', version: '1' }

export async function all(): Promise<void> {
  await new Client1(info).connect(new Http1(url, { fetch: inspector.fetch() }))
  await new Client1(info).connect(inspector.stdio({ command: 'uvx', args: ['weather'] }))
  await new Client1(info).connect(inspector.guard(new Http1(url)))
  await new Client2(info).connect(new Http2(url, { fetch: inspector.fetch() }))
  await new Client2(info).connect(inspector.stdio({ command: 'uvx' }))
  await createMCPClient({ transport: { type: 'http', url: url.href, fetch: inspector.fetch() } })
  const verdict = inspector.result(inspector.tool('t'), new Uint8Array())
  const decision: Decision = verdict.decision
  const findings: Finding[] = verdict.findings
  const structured: { n: number } | undefined = verdict.structured<{ n: number }>()
  Schema.compile({ type: 'integer' }).validate(1)
  const error: ConfigError = new ConfigError()
  console.log(decision, findings, structured, sanitise('a').text, error.key)
}
