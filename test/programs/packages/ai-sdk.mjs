import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { calling, MODEL, play, saying, url } from './scenarios.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false

const providers = {
  anthropic: createAnthropic({ baseURL: `${url}/v1`, apiKey: 'none' })(MODEL),
  openai: createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }).chat('gpt-4o'),
  compatible: createOpenAICompatible({
    name: 'relay',
    baseURL: `${url}/v1`,
    apiKey: 'none',
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(MODEL),
}

const add = tool({
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `sum ${a + b}`,
})
const Fruit = z.object({ name: z.string(), count: z.number().int() })

function scenariosOf(model) {
  const ask = { model, maxRetries: 0 }
  return {
    text: async () => {
      const { text, finishReason, usage } = await generateText({ ...ask, prompt: '[[say hello there]]' })
      return { text, finishReason, counted: usage.inputTokens > 0 && usage.outputTokens > 0 }
    },
    system: async () =>
      (await generateText({ ...ask, system: '[[sysword TERSE]]', prompt: '[[system]]' })).text,
    stream: async () => {
      const { textStream, finishReason } = streamText({ ...ask, prompt: '[[drip 12 5]]' })
      let text = ''
      for await (const part of textStream) text += part
      return { text, finishReason: await finishReason }
    },
    tools: async () => {
      const prompt = calling(['add', { a: 2, b: 3 }])
      const { text, steps } = await generateText({ ...ask, tools: { add }, stopWhen: stepCountIs(3), prompt })
      return {
        text,
        steps: steps.length,
        called: steps[0].toolCalls.map(({ toolName, input }) => [toolName, input]),
      }
    },
    streamedTools: async () => {
      const prompt = calling(['add', { a: 2, b: 3 }])
      const result = streamText({ ...ask, tools: { add }, stopWhen: stepCountIs(3), prompt })
      await result.consumeStream()
      return { text: await result.text, steps: (await result.steps).length }
    },
    twoTools: async () => {
      const prompt = calling(['add', { a: 1, b: 1 }], ['add', { a: 2, b: 2 }])
      return (await generateText({ ...ask, tools: { add }, stopWhen: stepCountIs(3), prompt })).text
    },
    memory: async () => {
      const messages = [
        { role: 'user', content: '[[remember PLUM]] [[say noted]]' },
        { role: 'assistant', content: 'noted' },
        { role: 'user', content: '[[recall]]' },
      ]
      return (await generateText({ ...ask, messages })).text
    },
    object: async () => {
      const prompt = saying('Here you are:\n```json\n{"name":"plum","count":3}\n```')
      return (await generateText({ ...ask, output: Output.object({ schema: Fruit }), prompt })).output
    },
    streamedObject: async () => {
      const prompt = saying('```json\n{"name":"plum","count":3}\n```')
      const result = streamText({ ...ask, output: Output.object({ schema: Fruit }), prompt })
      for await (const _ of result.partialOutputStream);
      return await result.output
    },
    objectAgain: async () => {
      const prompt = saying(`{"name":"plum"} ${saying('{"name":"plum","count":4}')}`)
      return (await generateText({ ...ask, output: Output.object({ schema: Fruit }), prompt })).output
    },
    noObject: () => generateText({ ...ask, output: Output.object({ schema: Fruit }), prompt: '[[say no]]' }),
    refused: () => generateText({ ...ask, prompt: '[[fail 401]]' }),
    streamedRefusal: async () => {
      const errors = []
      const result = streamText({
        ...ask,
        prompt: '[[fail 429]]',
        onError: ({ error }) => void errors.push(error),
      })
      await result.consumeStream()
      throw errors[0]
    },
  }
}

await play(
  Object.fromEntries(
    Object.entries(providers).flatMap(([name, model]) =>
      Object.entries(scenariosOf(model)).map(([scenario, run]) => [`${name}.${scenario}`, run]),
    ),
  ),
)
