import type { EventBody } from '../../src/core/event.ts'
import { says, thinks, uses, writeHome, type Writer } from '../../test/support/written.ts'

/** The last words of the long session: when they are seen, it is open. */
export const NEWEST = 'This is the newest message of all.'

const MESSAGES = 5000
const SESSIONS = 1000

const CODE = `export function settled(rows: readonly Row[]): Row[] {
  // What waits for nobody comes last.
  return rows.filter(({ state }) => state !== 'open').toSorted((a, b) => b.at - a.at)
}`

const PARAGRAPHS = [
  'The list is sorted twice: once when it is read and once when it is shown. The second time is not needed, since **nothing** changes in between.',
  'There are three places that depend on the order:\n\n1. the list itself, in `list.ts`\n2. the counts beside it\n3. the test `keeps the newest first`\n\nOnly the last one looks at more than the first row.',
  `I changed it like this:\n\n\`\`\`ts\n${CODE}\n\`\`\`\n\nThe rest stays as it is.`,
  '| file | before | after |\n|---|--:|--:|\n| list.ts | 120 | 96 |\n| counts.ts | 44 | 44 |\n\nSee [the guide](https://example.com/guide) for why.',
  '> A row that is closed keeps its place.\n\nThat is what the specification says, and the new code does it.',
]

/** What an answer of a coding agent looks like, in Markdown. */
export function answerOf(n: number): string {
  const at = (offset: number): string => PARAGRAPHS[(n + offset) % PARAGRAPHS.length]!
  return `### Step ${n}\n\n${at(0)}\n\n${at(2)}`
}

/** A long answer, for streaming. */
export function longAnswer(parts: number): string {
  return Array.from({ length: parts }, (_, n) => answerOf(n)).join('\n\n')
}

function work(n: number): EventBody[] {
  if (n % 3 > 0) return []
  return [
    thinks('The order matters only where the rows are shown. Let me look at who reads them first.'),
    ...uses({ tool: 'Read', input: { file_path: `/project/src/list-${n}.ts` }, output: CODE }),
    ...uses({
      tool: 'Bash',
      input: { command: 'npm test' },
      output: 'ok 1 - keeps the newest first\n'.repeat(40),
    }),
  ]
}

/** Half of the messages are the user's, half are the agent's; returns the session's id. */
export async function writeLongSession(home: string): Promise<string> {
  let id = ''
  await writeHome(home, async (writer) => {
    id = await writer.session({ title: 'A long session' })
    const turns = MESSAGES / 2
    for (let n = 0; n < turns; n++) {
      const last = n === turns - 1 ? `\n\n${NEWEST}\n\nThat is all.` : ''
      await writer.turn(id, `What about step ${n}?`, [...work(n), says(answerOf(n) + last)], { ms: 20 })
    }
  })
  return id
}

/** A thousand sessions that somebody should look at. */
export async function writeManySessions(home: string): Promise<void> {
  await writeHome(home, async (writer) => {
    for (let n = 0; n < SESSIONS; n++) await oneOfMany(writer, n)
  })
}

async function oneOfMany(writer: Writer, n: number): Promise<void> {
  const id = await writer.session({ title: `Session number ${n}: sort the rows once` })
  const ends = n % 10 === 0 ? { error: { code: 'model_error', message: 'The model is overloaded' } } : {}
  await writer.turn(id, 'Sort them once.', [says(answerOf(n))], {
    ms: 20,
    usage: { costUsd: n / 1000 },
    ...ends,
  })
}
