import Anthropic from '@anthropic-ai/sdk'
import type { TestDaemon } from '../support/daemon.ts'
import { LOOKUP, relayScriptOf, type Act, type Plan } from './plan.ts'

/** One call to the relay as its caller knows it: what it has sent, what it got, and which tools it has carried out. */
export interface Relayed {
  said: string
  uses: number
  answer: string
}

/** Asks the relay in the name of the plan's session, and carries out its tool until there is an answer. */
export async function askRelay(
  daemon: TestDaemon,
  plan: Plan,
  { uses, last }: Act & { act: 'relay' },
): Promise<Relayed> {
  const client = new Anthropic({ baseURL: daemon.listeners['relay']!, apiKey: 'none', maxRetries: 0 })
  const said = relayScriptOf(uses, last)
  let content: Anthropic.MessageParam['content'] = said
  for (let left = uses; ; left--) {
    const request = {
      model: 'demo',
      max_tokens: 10_000,
      messages: [{ role: 'user' as const, content }],
      tools: [{ name: LOOKUP, input_schema: { type: 'object' as const } }],
    }
    const options = { headers: { 'X-IR-Session-ID': `${plan.seed}` } }
    const answer: Anthropic.Message =
      plan.relay === 'stream'
        ? await client.messages.stream(request, options).finalMessage()
        : await client.messages.create(request, options)
    const use = answer.content.find((block) => block.type === 'tool_use')
    if (!use) return { said, uses, answer: textOf(answer) }
    content = [{ type: 'tool_result', tool_use_id: use.id, content: relayScriptOf(left - 1, last) }]
  }
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}
