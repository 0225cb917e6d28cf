import { aboutTool } from '../../src/core/about.ts'
import type { Api } from '../client/client.ts'
import { withoutMarkup } from './row-words.ts'
import { visible, visibleLine } from './visible-text.ts'

type Item = Api['history.read']['result']['items'][number]

export interface PeekLine {
  who: 'you' | 'agent' | 'tool' | 'note'
  text: string
  bad?: true
}

const MAX_LINES = 8
const MAX_PARAGRAPH = 600
const MAX_OWN = 160

/** The end of a conversation in a few lines: what was said and done last. */
export function peekLines(items: readonly Item[]): PeekLine[] {
  return items.flatMap(lineOf).slice(-MAX_LINES)
}

function lineOf(item: Item): PeekLine[] {
  switch (item.kind) {
    case 'user': {
      const text = item.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
      return [{ who: 'you', text: beginning(text) }]
    }
    case 'assistant':
      return item.parent === null && item.text.trim() !== ''
        ? [{ who: 'agent', text: ending(item.text) }]
        : []
    case 'tool':
      return item.parent === null ? [{ who: 'tool', text: callText(item.tool, item.input) }] : []
    case 'end':
      if (item.outcome === 'completed') return []
      return [
        { who: 'note', bad: true, text: visibleLine(item.error?.message ?? `The turn was ${item.outcome}.`) },
      ]
    case 'notice':
      return item.level === 'warning' ? [{ who: 'note', text: visibleLine(item.message) }] : []
    default:
      return []
  }
}

function callText(tool: string, input: unknown): string {
  const [subject] = aboutTool(tool, input).subjects
  return visibleLine(subject === undefined ? tool : `${tool} ${subject}`).slice(0, 300)
}

/** One knows what one has said: a reminder is enough. */
function beginning(text: string): string {
  const shown = visible(text).trim()
  return shown.length > MAX_OWN ? `${shown.slice(0, MAX_OWN)} …` : shown
}

/** The last of what was said is what one wants to see of it. */
function ending(text: string): string {
  const shown = visible(text).split('\n').map(withoutMarkup).join('\n').trim()
  return shown.length > MAX_PARAGRAPH ? `… ${shown.slice(-MAX_PARAGRAPH).trimStart()}` : shown
}
