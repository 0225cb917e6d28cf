import { Agent, handoff, MemorySession, OpenAIChatCompletionsModel, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { calling, MODEL, play, saying, url } from './scenarios.mjs'

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
const model = new OpenAIChatCompletionsModel(client, MODEL)
const runner = new Runner({ tracingDisabled: true })

const add = tool({
  name: 'add',
  description: 'Adds two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `sum ${a + b}`,
})
const agentOf = (more = {}) =>
  new Agent({ name: 'Helper', instructions: '[[sysword TERSE]]', model, ...more })

await play({
  text: async () => (await runner.run(agentOf(), '[[say hello there]]')).finalOutput,
  system: async () => (await runner.run(agentOf(), '[[system]]')).finalOutput,
  stream: async () => {
    const result = await runner.run(agentOf(), '[[drip 12 5]]', { stream: true })
    let text = ''
    for await (const part of result.toTextStream()) text += part
    await result.completed
    return text
  },
  tools: async () =>
    (await runner.run(agentOf({ tools: [add] }), calling(['add', { a: 2, b: 3 }]))).finalOutput,
  streamedTools: async () => {
    const result = await runner.run(agentOf({ tools: [add] }), calling(['add', { a: 2, b: 3 }]), {
      stream: true,
    })
    for await (const _ of result);
    await result.completed
    return result.finalOutput
  },
  twoTools: async () =>
    (await runner.run(agentOf({ tools: [add] }), calling(['add', { a: 1, b: 1 }], ['add', { a: 2, b: 2 }])))
      .finalOutput,
  handoff: async () => {
    const other = new Agent({ name: 'Other', instructions: '[[sysword OTHER]]', model })
    const first = agentOf({ handoffs: [handoff(other)] })
    const result = await runner.run(first, calling(['transfer_to_Other', {}]))
    return result.lastAgent.name
  },
  memory: async () => {
    const session = new MemorySession()
    await runner.run(agentOf(), '[[remember PLUM]] [[say noted]]', { session })
    return (await runner.run(agentOf(), '[[recall]]', { session })).finalOutput
  },
  object: async () => {
    const outputType = z.object({ name: z.string(), count: z.number() })
    return (await runner.run(agentOf({ outputType }), saying('```json\n{"name":"plum","count":3}\n```')))
      .finalOutput
  },
  refused: () => runner.run(agentOf(), '[[fail 401]]'),
})
