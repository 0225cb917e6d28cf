import { Field } from './reading/fields.ts'

/** USD for a million tokens. */
export interface Price {
  input: number
  output: number
}

export type PriceTable = Readonly<Record<string, Price>>

export const PRICES: PriceTable = {
  'claude-opus-4-6': { input: 15, output: 75 },
  'claude-sonnet-4-6': { input: 3, output: 15 },
  'claude-haiku-4-5': { input: 0.8, output: 4 },
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4 },
  'gpt-4o': { input: 2.5, output: 10 },
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'o4-mini': { input: 1.1, output: 4.4 },
  o3: { input: 0.4, output: 1.6 },
  'o3-mini': { input: 1.1, output: 4.4 },
  o1: { input: 15, output: 60 },
  'llama3.1': { input: 0, output: 0 },
  mistral: { input: 0, output: 0 },
  'mistral-nemo': { input: 0, output: 0 },
  llava: { input: 0, output: 0 },
  'qwen2:0.5b': { input: 0, output: 0 },
}

const MILLION = 1_000_000
const BANDS = { opus: 'claude-opus-4-6', sonnet: 'claude-sonnet-4-6', haiku: 'claude-haiku-4-5' } as const

/** A user's own prices over ours: `{"gpt-4o": {"input": 2, "output": 8}}`. */
export function withOwnPrices(own: unknown, path = 'prices'): PriceTable {
  const table = new Field(own, path)
  const entries = Object.keys(table.object()).map((id) => {
    const price = table.at(id)
    price.object()
    return [id, { input: price.at('input').number(0), output: price.at('output').number(0) }] as const
  })
  return { ...PRICES, ...Object.fromEntries(entries) }
}

/** That of the model, of the longest id that it begins with, of its family, or of the family in the middle. */
export function priceOf(model: string, prices: PriceTable): Price {
  const known = Object.keys(prices).filter(
    (id) => model === id || model.startsWith(`${id}-`) || model.startsWith(`${id}:`),
  )
  const nearest = known.sort((a, b) => b.length - a.length)[0]
  const family = Object.entries(BANDS).find(([word]) => model.includes(word))?.[1] ?? BANDS.sonnet
  return prices[nearest ?? family]!
}

/** What a call would have cost, in USD. */
export function costOf(
  model: string,
  usage: { inputTokens: number; outputTokens: number },
  prices: PriceTable,
): number {
  const { input, output } = priceOf(model, prices)
  return (usage.inputTokens * input + usage.outputTokens * output) / MILLION
}
