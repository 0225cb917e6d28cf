import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peekLines } from '../../web/state/peek-lines.ts'

type Item = Parameters<typeof peekLines>[0][number]

const place = { seq: 1, at: 1, turnId: 't' }
const said = (text: string, parent: string | null = null): Item => ({
  kind: 'assistant',
  ...place,
  messageId: 'm',
  text,
  aborted: false,
  parent,
})

test('The end of a conversation is what was said and done last', () => {
  const items: Item[] = [
    { kind: 'user', ...place, content: [{ type: 'text', text: 'Fix it' }], origin: null },
    { kind: 'thinking', ...place, messageId: 'm', text: 'hm', aborted: false, parent: null },
    said('I look.'),
    { kind: 'tool', ...place, callId: 'c', tool: 'Bash', input: { command: 'ls\n-l' }, parent: null },
    said('of a helper', 'c'),
    said('   '),
    {
      kind: 'end',
      ...place,
      outcome: 'failed',
      usage: {
        inputTokens: 0,
        outputTokens: 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        costUsd: null,
        modelCalls: 0,
        durationMs: 0,
      },
      error: { code: 'x', message: 'no credit' },
    },
  ]
  assert.deepEqual(peekLines(items), [
    { who: 'you', text: 'Fix it' },
    { who: 'agent', text: 'I look.' },
    { who: 'tool', text: 'Bash ls -l' },
    { who: 'note', bad: true, text: 'no credit' },
  ])
})

test('What the agent has said is read as text, as in the list', () => {
  const [line] = peekLines([said('## Done\n\n1. **two** `tests`\n- a * b')])
  assert.equal(line!.text, 'Done\n\ntwo tests\na * b')
})

test('Of much, the last lines; of a long answer, its end; of a long question, its beginning', () => {
  assert.equal(peekLines(Array.from({ length: 50 }, (_, at) => said(`line ${at}`))).length, 8)
  assert.match(peekLines([said(`${'a'.repeat(5000)} end`)])[0]!.text, /^… .* end$/)
  const [question] = peekLines([
    { kind: 'user', ...place, content: [{ type: 'text', text: `begin ${'a'.repeat(500)}` }], origin: null },
  ])
  assert.match(question!.text, /^begin .* …$/)
})
