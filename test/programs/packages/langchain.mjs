import { ChatAnthropic } from '@langchain/anthropic'
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { calling, MODEL, play, saying, url } from './scenarios.mjs'

const providers = {
  anthropic: new ChatAnthropic({ model: MODEL, apiKey: 'none', anthropicApiUrl: url, maxRetries: 0 }),
  openai: new ChatOpenAI({
    model: 'gpt-4o',
    apiKey: 'none',
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: `${url}/v1` },
  }),
}

const add = tool(({ a, b }) => `sum ${a + b}`, {
  name: 'add',
  description: 'Adds two numbers',
  schema: z.object({ a: z.number(), b: z.number() }),
})
const Fruit = z.object({ name: z.string(), count: z.number().int() })

/** The loop that every agent has: call the tools, bring the results. */
async function loop(model, ask) {
  const messages = [new HumanMessage(ask)]
  for (;;) {
    const answer = await model.invoke(messages)
    if (!answer.tool_calls?.length) return { text: answer.text, messages: messages.length }
    messages.push(answer)
    for (const call of answer.tool_calls) messages.push(await add.invoke(call))
  }
}

function scenariosOf(model, structured) {
  return {
    text: async () => {
      const { text, usage_metadata: usage } = await model.invoke('[[say hello there]]')
      return { text, counted: usage.input_tokens > 0 && usage.output_tokens > 0 }
    },
    system: async () =>
      (await model.invoke([new SystemMessage('[[sysword TERSE]]'), new HumanMessage('[[system]]')])).text,
    stream: async () => {
      let text = ''
      for await (const chunk of await model.stream('[[drip 12 5]]')) text += chunk.text
      return text
    },
    tools: () => loop(model.bindTools([add]), calling(['add', { a: 2, b: 3 }])),
    twoTools: async () =>
      (await loop(model.bindTools([add]), calling(['add', { a: 1, b: 1 }], ['add', { a: 2, b: 2 }]))).text,
    streamedTools: async () => {
      let whole
      for await (const chunk of await model.bindTools([add]).stream(calling(['add', { a: 2, b: 3 }])))
        whole = whole ? whole.concat(chunk) : chunk
      return whole.tool_calls.map(({ name, args }) => [name, args])
    },
    memory: async () =>
      (
        await model.invoke([
          new HumanMessage('[[remember PLUM]] [[say noted]]'),
          new AIMessage('noted'),
          new HumanMessage('[[recall]]'),
        ])
      ).text,
    toolMemory: async () =>
      (
        await model
          .bindTools([add])
          .invoke([
            new HumanMessage('what is it?'),
            new AIMessage({ content: '', tool_calls: [{ id: 'call_1', name: 'add', args: { a: 1, b: 2 } }] }),
            new ToolMessage({ tool_call_id: 'call_1', content: '[[say three]]' }),
          ])
      ).text,
    object: () =>
      model
        .withStructuredOutput(Fruit, { name: 'fruit', method: structured })
        .invoke(saying('```json\n{"name":"plum","count":3}\n```')),
    objectByTool: () =>
      model
        .withStructuredOutput(Fruit, { name: 'fruit', method: 'functionCalling' })
        .invoke(calling(['fruit', { name: 'plum', count: 5 }])),
    refused: () => model.invoke('[[fail 401]]'),
  }
}

const json = {
  jsonMode: () =>
    providers.openai
      .withStructuredOutput(Fruit, { name: 'fruit', method: 'jsonMode' })
      .invoke(saying('Sure!\n{"name":"plum","count":3}')),
}

await play(
  Object.fromEntries([
    ...Object.entries(providers).flatMap(([name, model]) =>
      Object.entries(scenariosOf(model, 'jsonSchema')).map(([scenario, run]) => [`${name}.${scenario}`, run]),
    ),
    ['openai.jsonMode', json.jsonMode],
  ]),
)
