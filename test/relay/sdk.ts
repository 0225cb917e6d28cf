import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Heading, Served } from '../../src/relay/answer.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Both official clients, talking to a server that answers like this and ends with the test. */
export async function clientsOf(t: TestContext, answer: Answer) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    anthropic: new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 1 }),
    openai: new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 1 }),
  }
}

/** Answers with these parts of an event stream, each in a write of its own. */
export function streaming(parts: readonly string[]): Answer {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) response.write(part)
    response.end()
  }
}

export function json(body: object, status = 200, headers: Record<string, string> = {}): Answer {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
}

export const heading: Heading = {
  id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
  model: 'claude-sonnet-4-6',
  startedAt: 1_779_094_486_123,
  inputTokens: 7,
}

export const served: Served = {
  provider: 'agent',
  durationMs: 12,
  fallbackChain: [{ provider: 'other', error: 'is cooling down' }],
}
