import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  contactRequest,
  contactReply,
  permissionRequest,
  permissionReply,
} from '../../../src/dialects/mcp/answers.ts'

test('a permission is asked as what it is', () => {
  const kindOf = (tool: string) => {
    const { kind, edits } = permissionRequest({ tool_name: tool, input: {} })
    return [kind, edits]
  }
  assert.deepEqual(kindOf('Bash'), ['tool', false])
  assert.deepEqual(kindOf('Edit'), ['tool', true])
  assert.deepEqual(kindOf('mcp__files__write'), ['tool', false])
  assert.deepEqual(kindOf('AskUserQuestion'), ['question', false])
  assert.deepEqual(kindOf('ExitPlanMode'), ['plan', false])
  assert.equal(permissionRequest({ tool_name: 'Bash', input: {}, tool_use_id: '' }).callId, null)
})

const say = (input: Record<string, unknown>, decision: Parameters<typeof permissionReply>[1]): unknown =>
  JSON.parse(permissionReply(input, decision).text)

test('words answer a single question, and are a no to everything else', () => {
  const questions = [{ question: 'Red?' }, { question: 'Blue?' }]
  const words = { behavior: 'respond', text: 'Rather green' } as const
  assert.deepEqual(say({ questions: questions.slice(0, 1) }, words), {
    behavior: 'allow',
    updatedInput: { questions: [{ question: 'Red?' }], answers: { 'Red?': 'Rather green' } },
  })
  for (const input of [
    { questions },
    { questions: [] },
    { questions: [7] },
    { questions: 'x' },
    { plan: 'x' },
  ]) {
    assert.deepEqual(say(input, words), { behavior: 'deny', message: 'Rather green' })
  }
})

test('an edited input wins, also an empty one; answers go with it', () => {
  assert.deepEqual(say({ a: 1 }, { behavior: 'allow', input: {} }), { behavior: 'allow', updatedInput: {} })
  assert.deepEqual(say({ a: 1 }, { behavior: 'allow', answers: { q: 'x' } }), {
    behavior: 'allow',
    updatedInput: { a: 1, answers: { q: 'x' } },
  })
})

test('a question to a human has the form of an agent’s question', () => {
  assert.deepEqual(contactRequest({ message: 'Go?', options: ['yes', 'no'] }), {
    kind: 'question',
    tool: 'contact_human',
    input: { questions: [{ question: 'Go?', header: '', options: [{ label: 'yes' }, { label: 'no' }] }] },
  })
})

test('every kind of answer reaches the agent in words', () => {
  const text = (decision: Parameters<typeof contactReply>[0]) => {
    const reply = contactReply(decision)
    return `${reply.isError ? 'error: ' : ''}${reply.text}`
  }
  assert.equal(text({ behavior: 'allow', answers: { a: 'one', b: 'two' } }), 'one\ntwo')
  assert.equal(text({ behavior: 'allow', input: { answers: { a: 'inside' } } }), 'inside')
  assert.equal(text({ behavior: 'allow' }), 'The human agreed, without further words.')
  assert.equal(text({ behavior: 'deny', comment: '' }), 'error: The human declined')
  assert.equal(
    text({ behavior: 'cancelled', reason: 'gone' }),
    'error: Nobody will answer this any more: gone',
  )
})
