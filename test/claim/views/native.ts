import { textOf } from '../../../src/core/content.ts'
import type { Event } from '../../../src/core/event.ts'
import type { HistoryItem } from '../../../src/dialects/native/wire.ts'
import { renderItems } from '../../../src/cli/render.ts'
import { corral } from '../../cli/support.ts'
import { createTeller, toldBy, type Told } from '../told.ts'
import type { View } from '../view.ts'

/** Page by page from the end, as somebody scrolls back. */
async function historyOf({ world, sessionId, random }: Parameters<View['read']>[0]): Promise<HistoryItem[]> {
  let items: HistoryItem[] = []
  let before: number | null = null
  do {
    const limit = 1 + random(random(2) === 0 ? 3 : 40)
    const page: { items: HistoryItem[]; next: number | null } = await world.native.call('history.read', {
      ancestors: false,
      sessionId,
      limit,
      ...(before !== null && { before }),
    })
    items = [...page.items, ...items]
    before = page.next
  } while (before !== null)
  return items
}

function toldByItems(items: readonly HistoryItem[]): Told[] {
  const teller = createTeller()
  for (const item of items) {
    if (item.kind === 'user') teller.add({ what: 'user', text: textOf(item.content) })
    if (item.kind === 'assistant') teller.add({ what: 'answer', text: item.text, aborted: item.aborted })
    if (item.kind === 'tool') teller.call(item.callId, { tool: item.tool })
    if (item.kind === 'result') teller.call(item.callId, { state: item.isError ? 'failed' : 'done' })
    if (item.kind === 'decision' && item.asked) {
      teller.add({ what: 'decision', behavior: item.decision.behavior })
    }
    if (item.kind === 'end') teller.add({ what: 'end', outcome: item.outcome })
  }
  return teller.told
}

async function exported({ world, sessionId }: Parameters<View['read']>[0], format: 'json' | 'markdown') {
  let text = ''
  let cursor: string | null = null
  do {
    const page: { text: string; next: string | null } = await world.native.call('session.export', {
      sessionId,
      format,
      ...(cursor !== null && { cursor }),
    })
    text += page.text
    cursor = page.next
  } while (cursor !== null)
  return text
}

/** A person reads it line by line. */
function toldByMarkdown(text: string): Told[] {
  const teller = createTeller()
  const parts = text.split(/\n(?=## |\*\*|<details>|\*[A-Z])/).slice(1)
  const open: string[] = []
  let calls = 0
  for (const part of parts.map((one) => one.trim())) {
    const [head = ''] = part.split('\n')
    const body = part.slice(head.length).trim()
    if (head.startsWith('## You')) {
      teller.add({ what: 'user', text: body.replace(/^<sub>.*<\/sub>\s*/, '') })
    } else if (head.startsWith('## Agent')) {
      teller.add({
        what: 'answer',
        text: body.replace(/\s*\*\(cut off\)\*$/, ''),
        aborted: body.endsWith('*(cut off)*'),
      })
    } else if (head.startsWith('**Tool:**')) {
      open.push(`${++calls}`)
      teller.call(open.at(-1)!, { tool: /`(.*)`/.exec(head)![1]! })
    } else if (/^<details>\n<summary>(Result|Error)/.test(part)) {
      teller.call(open.pop() ?? '0', { state: part.includes('<summary>Error') ? 'failed' : 'done' })
    } else if (/^\*\*(Allowed|Refused|Answered|Taken back)/.test(head)) {
      const behavior = { Al: 'allow', Re: 'deny', An: 'respond', Ta: 'cancelled' } as const
      teller.add({ what: 'decision', behavior: behavior[head.slice(2, 4) as keyof typeof behavior] })
    } else if (/^\*(Completed|Interrupted|Failed):/.test(head)) {
      const outcome = { C: 'completed', I: 'interrupted', F: 'failed' } as const
      teller.add({ what: 'end', outcome: outcome[head[1] as keyof typeof outcome] })
    }
  }
  return teller.told
}

/** What `corral history` prints. */
function toldByScreen(text: string): Told[] {
  const teller = createTeller()
  /** The last call of the agent, and that of its sub-agent. */
  const last = ['', '']
  let calls = 0
  let isQuestion = false
  let isAnswer = false
  for (const row of text.split('\n')) {
    const depth = !isQuestion && row.startsWith('    ') ? 1 : 0
    const line = row.slice(4 * depth)
    const isBelow = line.startsWith('  ')
    if (line === '' || line.startsWith('thought ')) continue
    const wasAnswer = isAnswer
    isAnswer = false
    if (line.startsWith('? ')) isQuestion = true
    else if (/^ {2}(allowed \(|denied \(|answered \(|withdrawn: )/.test(line)) {
      const behavior = { al: 'allow', de: 'deny', an: 'respond', wi: 'cancelled' } as const
      teller.add({ what: 'decision', behavior: behavior[line.slice(2, 4) as keyof typeof behavior] })
      isQuestion = false
    } else if (line.startsWith('> ')) teller.add({ what: 'user', text: line.slice(2) })
    else if (line.startsWith('* ')) teller.call((last[depth] = `${++calls}`), { tool: line.split(' ')[1]! })
    else if (/^-- (done|interrupted),|^failed: /.test(line)) {
      const outcome = { '-- d': 'completed', '-- i': 'interrupted', fail: 'failed' } as const
      teller.add({ what: 'end', outcome: outcome[line.slice(0, 4) as keyof typeof outcome] })
    } else if (isBelow && !isQuestion && last[depth] !== '') teller.call(last[depth]!, { state: 'done' })
    else if (!isBelow && !line.startsWith('-- ')) {
      const aborted = line.endsWith(' (cut off)')
      const text = aborted ? line.slice(0, -' (cut off)'.length) : line
      const above = wasAnswer ? teller.told.pop() : null
      const whole = above?.what === 'answer' ? `${above.text}\n${text}` : text
      teller.add({ what: 'answer', text: whole, aborted })
      isAnswer = true
      continue
    }
  }
  return teller.told
}

/** A refusal is a result that is an error. */
const REFUSED = { states: { refused: 'failed' } } as const

/** The tool call of a question is not shown, its result is; how a call ended is shown by a colour. */
const SCREEN = { tools: ['Ask'], states: { refused: 'done', failed: 'done' } } as const

export const nativeViews: View[] = [
  {
    name: 'native events',
    silence: {},
    live: true,
    read: async ({ world, sessionId }) => toldBy(world.witness(sessionId).events),
  },
  { name: 'native history', silence: REFUSED, read: async (about) => toldByItems(await historyOf(about)) },
  {
    name: 'export as JSON',
    silence: {},
    forgets: true,
    read: async (about) => toldBy((JSON.parse(await exported(about, 'json')) as { events: Event[] }).events),
  },
  {
    name: 'export as Markdown',
    silence: REFUSED,
    read: async (about) => toldByMarkdown(await exported(about, 'markdown')),
  },
  {
    name: 'corral history',
    silence: SCREEN,
    read: async (about) => toldByScreen(renderItems(await historyOf(about), (_, text) => text)),
  },
  {
    // A process costs more than all other views together: one session of each daemon's.
    name: 'corral history, the program',
    silence: SCREEN,
    async read({ world, played, sessionId }) {
      // It prints a session that branched off with what was said before.
      if (played.plan.seed % 50 !== 1 || sessionId !== played.sessionId) return null
      const { stdout } = await corral(world.daemon.env, ['history', sessionId, '--limit', '1000'])
      return toldByScreen(stdout)
    },
  },
]
