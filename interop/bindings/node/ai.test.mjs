// The AI SDK: a mock model that calls three tools and keeps its prompts.
import { test } from 'node:test'
import { createMCPClient } from '@ai-sdk/mcp'
import { generateText, isStepCount } from 'ai'
import * as mocks from 'ai/test'
import { Inspector } from 'countersign-mcp'
import { PYTHON, SERVER, STRICT, checkBlocked, checkGood, checkToken, withHttpServer } from './harness.mjs'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

async function use(transport) {
  const client = await createMCPClient({ transport })
  const received = {}
  const model = new mocks.MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      for (const message of prompt.filter((message) => message.role === 'tool')) {
        for (const part of message.content) received[part.toolName] ??= part.output
      }
      const next = ['good', 'bad', 'token'].find((name) => received[name] === undefined)
      const content = next
        ? [{ type: 'tool-call', toolCallId: next, toolName: next, input: '{}' }]
        : [{ type: 'text', text: 'done' }]
      const unified = next ? 'tool-calls' : 'stop'
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
    },
  })
  try {
    await generateText({ model, prompt: 'go', tools: await client.tools(), stopWhen: isStepCount(6) })
  } finally {
    await client.close()
  }
  checkGood(received.good)
  checkBlocked(received.bad)
  checkToken(received.token)
}

test('AI SDK: HTTP', { timeout: 60_000 }, () =>
  withHttpServer((address) => use({ type: 'http', url: `${address}/events`, fetch: new Inspector(STRICT).fetch() })))

test('AI SDK: stdio', { timeout: 60_000 }, () =>
  use(new Inspector(STRICT).stdio({ command: PYTHON, args: [SERVER, 'stdio'] })))
