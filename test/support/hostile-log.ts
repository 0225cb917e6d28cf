import type { EventBody } from '../../src/core/event.ts'
import { HOSTILE, NAMES } from './hostile.ts'
import { says, thinks, uses, type Writer } from './written.ts'

const SESSION_TEXTS = 30

/** Sessions in which everything that an agent can say is hostile; their ids. */
export async function writeHostile(writer: Writer, texts: readonly string[] = HOSTILE): Promise<string[]> {
  const ids: string[] = []
  for (let from = 0; from < texts.length; from += SESSION_TEXTS) {
    const some = texts.slice(from, from + SESSION_TEXTS)
    const id = await writer.session({ title: some[0]!.slice(0, 500), model: some[1]?.slice(0, 200) ?? null })
    for (const text of some) await writer.turn(id, text, everything(text))
    await writer.turn(id, 'and then it failed', [], { error: { code: some[0]!, message: some.join('\n') } })
    ids.push(id)
  }
  ids.push(await writePrototypes(writer))
  return ids
}

/** One text in every place that an agent has for one. */
function everything(text: string): EventBody[] {
  const short = text.slice(0, 200)
  return [
    thinks(text),
    says(text),
    ...uses({ tool: short, input: { [short]: text, command: text }, output: text }),
    ...uses({ tool: 'Bash', input: { command: text, description: text }, output: text, isError: true }),
    ...uses({
      tool: 'Edit',
      input: { file_path: `/${text}`, old_string: text, new_string: `${text}!` },
      output: text,
    }),
    ...uses({ tool: 'WebFetch', input: { url: text, prompt: text }, output: text }),
    ...subAgent(text),
    {
      type: 'agent.plan',
      entries: [
        { text, state: 'active' },
        { text: short, state: 'done' },
      ],
    },
    { type: 'agent.notice', level: 'warning', code: short, message: text, data: { text } },
    { type: 'agent.compacted', tokensBefore: 1, tokensAfter: 1, window: 2, error: text },
    { type: 'agent.model', model: short },
  ]
}

function subAgent(text: string): EventBody[] {
  const callId = 'task'
  return [
    {
      type: 'tool.started',
      callId,
      tool: 'Task',
      input: { description: text, prompt: text, subagent_type: text },
      parent: null,
    },
    says(text, callId),
    ...uses({ tool: 'Read', input: { file_path: text }, output: text, parent: callId }),
    { type: 'tool.completed', callId, output: text, isError: false, parent: null, cut: 0 },
  ]
}

/** Ids that mean something to JavaScript, on their own and as each other's parents. */
async function writePrototypes(writer: Writer): Promise<string> {
  const id = await writer.session({ title: '__proto__' })
  for (const name of NAMES) {
    await writer.turn(id, name, [
      { type: 'message.completed', messageId: name, kind: 'text', text: name, parent: name, aborted: false },
      ...uses({
        tool: name,
        input: JSON.parse(`{"${name}": {"${name}": "x"}}`),
        output: name,
        callId: name,
        parent: name,
      }),
      says(`after ${name}`),
    ])
  }
  return id
}
