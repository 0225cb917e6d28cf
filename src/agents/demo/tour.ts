import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
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

To run a command I need your answer: **allow it once**, for this session, for everything in this directory, or say no and tell me why.`

const HELP = `I am the demo agent: there is no model behind me, and I can only play this one piece.

Start a session with a real agent for anything else. **Now** and **System** say which ones are installed here, and how to install and sign in to the others.`

/** Whether a directory was made for the tour. */
export function isTourDirectory(directory: string, env: NodeJS.ProcessEnv): boolean {
  const home = env['CORRAL_HOME']
  if (!home) return false
  try {
    return realpathSync(directory).startsWith(join(realpathSync(home), TOURS) + sep)
  } catch {
    return false
  }
}

/** What to do there about what was said; null where the script language decides. */
export function tourOf(said: readonly Utterance[]): Action[] | null {
  const last = said.at(-1)
  if (last?.by === 'tool') return [tell(closing(last.text))]
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

/** Told by what the command has said. */
function closing(output: string): string {
  const passed = /^# pass (\d+)|ℹ pass (\d+)/m.exec(output)
  if (passed && /(?:^# |ℹ )fail 0/m.test(output)) {
    return `Done: ${passed[1] ?? passed[2]} tests pass.

**Changes** shows what I wrote. Then go to **Now**: it says which real agents are installed here, and how to set up the others.`
  }
  if (output.startsWith(REFUSED)) {
    return `You said no, so I have not run it. The two files are there, and **Changes** shows them.`
  }
  return `The test did not pass:

\`\`\`
${output.slice(0, 400).replaceAll('```', "'''")}
\`\`\`

The two files are there, and **Changes** shows them.`
}
