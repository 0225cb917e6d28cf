import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { TOUR_MESSAGE, TOURS } from '../../core/tour.ts'
import { REFUSED } from './real-tools.ts'
import type { Action, Utterance } from './script.ts'

/*
 * What somebody sees first: an agent that says what it does, writes two files, asks before it runs a command, and tells what
 * came of it. It is played only in a directory that was made for it, and nowhere else does a tool do anything.
 */

const WORD_MS = 28
const BREATH_MS = 350

const PROGRAM = `/** A greeting for whoever is there. */
export function greet(name = 'world') {
  return \`Hello, \${name}!\`
}

if (import.meta.filename === process.argv[1]) console.log(greet(process.argv[2]))
`

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { greet } from './greet.mjs'

test('greets whoever is named', () => assert.equal(greet('Ada'), 'Hello, Ada!'))
test('greets the world when nobody is', () => assert.equal(greet(), 'Hello, world!'))
`

const BEGINNING = `I will do this in two steps:

1. write \`greet.mjs\`, and a test for it in \`greet.test.mjs\`
2. run the test`

const MIDDLE = `Both files are written. This session is in the mode **code**, so I may edit files without asking.

To run a command I need your answer: **allow it once**, for this session or for this project, or refuse.`

const HELP = `I am the demo agent: there is no model behind me, and I can only play this one piece.

Start a session with a real agent for anything else. **Now** and **System** say which ones are installed here, and how to install and sign in to the others.`

/** Where the tour is played: in a worktree, which can be merged, or in a plain directory. */
export type Stage = 'worktree' | 'directory'

/** What a directory is to the tour; null: it was not made for it. */
export function stageAt(directory: string, env: NodeJS.ProcessEnv): Stage | null {
  const home = env['CORRAL_HOME']
  if (!home) return null
  try {
    const here = realpathSync(directory)
    const tours = join(realpathSync(home), TOURS) + sep
    if (here.startsWith(tours)) return 'directory'
    return repositoryOf(here)?.startsWith(tours) ? 'worktree' : null
  } catch {
    return null
  }
}

const LINK = /^gitdir: (.+)\n?$/

/** What a worktree belongs to. It says so itself, and is believed only if git has it in its books there. */
function repositoryOf(directory: string): string | null {
  const link = join(directory, '.git')
  if (!lstatSync(link).isFile()) return null
  const place = LINK.exec(readFileSync(link, 'utf8'))?.[1]
  if (place === undefined) return null
  const known = readFileSync(join(place, 'gitdir'), 'utf8').trimEnd()
  return realpathSync(dirname(known)) === directory ? realpathSync(place) : null
}

/** What to do there about what was said; null where the script language decides. */
export function tourOf(said: readonly Utterance[], stage: Stage): Action[] | null {
  const last = said.at(-1)
  if (last?.by === 'tool') return [tell(closing(last.text, NEXT[stage]))]
  if (last?.text.trim() === TOUR_MESSAGE) return BEGIN
  return last?.text.includes('[[') ? null : [tell(HELP)]
}

const wait: Action = { do: 'wait', ms: BREATH_MS }

const BEGIN: Action[] = [
  { do: 'think', text: 'Two small files will do: one that greets, and one that checks it.' },
  tell(BEGINNING),
  wait,
  { do: 'call', real: true, call: { tool: 'write', path: 'greet.mjs', text: PROGRAM } },
  wait,
  { do: 'call', real: true, call: { tool: 'write', path: 'greet.test.mjs', text: TEST } },
  wait,
  tell(MIDDLE),
  { do: 'call', real: true, call: { tool: 'shell', command: 'node --test' } },
]

function tell(text: string): Action {
  return { do: 'tell', text, everyMs: WORD_MS }
}

/** What to do with the two files. */
const NEXT: Readonly<Record<Stage, string>> = {
  worktree: `So far they are in a worktree: a checkout for this session alone. To have them in your repository:

1. Press **See the changes** below, and look at what I wrote.
2. Press **Merge**.

After that, **Now** says which real agents are installed here, and how to set up the others.`,
  directory: `**Changes**, at the top of this page, shows them. After that, **Now** says which real agents are installed here, and how to set up the others.`,
}

/** Told by what the command has said. */
function closing(output: string, next: string): string {
  const passed = /^# pass (\d+)|ℹ pass (\d+)/m.exec(output)
  if (passed && /(?:^# |ℹ )fail 0/m.test(output))
    return `Done: ${passed[1] ?? passed[2]} tests pass, and the two files are ready. ${next}`
  if (output.startsWith(REFUSED))
    return `You said no, so I have not run it. The two files are there all the same. ${next}`
  return `The test did not pass:

\`\`\`
${output.slice(0, 400).replaceAll('```', "'''")}
\`\`\`

The two files are there all the same. ${next}`
}
