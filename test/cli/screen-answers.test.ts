import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_PTY } from '../support/screen.ts'
import { desk } from './desk.ts'
import { newSession } from './support.ts'

const options = NO_PTY === null ? {} : { skip: NO_PTY }
const here = desk()

test('an approval shows the diff and is answered by a key', options, async (t) => {
  const { id, screen } = await here.attached(t, {}, '--mode', 'ask')
  screen.type('[[edit src/a.ts old new]]\r')
  await screen.sees('modified src/a.ts +1 -1\n  1 -old\n  1 +new')
  await screen.sees('y once')
  screen.type('y')
  await screen.sees('allowed (cli)')
  await screen.sees('-- done')
  screen.type('[[shell rm x]]\r')
  await screen.sees('command: rm x')
  screen.type('w')
  await screen.sees('why not?')
  screen.type('never do that\r')
  await screen.sees('denied (cli): never do that')
  await screen.sees('tool said: never do that')
  screen.type('[[shell ls]]\r')
  await screen.sees('command: ls')
  await screen.sees('e edit it')
  screen.type('e')
  await screen.sees('! ls')
  screen.type(' -l\r')
  await screen.sees('tool said: (pretend) ran: ls -l')
  const { items } = await here.client.call('history.read', { sessionId: id, limit: 100 })
  const decisions = items.flatMap((item) => (item.kind === 'decision' ? [item.decision] : []))
  assert.deepEqual(decisions, [
    { behavior: 'allow' },
    { behavior: 'deny', comment: 'never do that' },
    { behavior: 'allow', input: { command: 'ls -l' } },
  ])
})

test('who is typing does not answer by accident; Tab goes to the question', options, async (t) => {
  const { id, screen } = await here.attached(t, {}, '--mode', 'ask')
  screen.type('y')
  await screen.sees('> y')
  await here.client.call('session.send', { sessionId: id, content: '[[shell echo one]]' })
  await screen.sees('Tab goes to the question above')
  screen.type('es')
  await screen.sees('> yes')
  screen.type('\tn')
  await screen.sees('denied (cli)')
  await screen.sees('> yes')
})

test('a question is answered by its number, or in other words', options, async (t) => {
  const { screen } = await here.attached(t)
  screen.type('[[ask Which colour?]]\r')
  await screen.sees('1) Yes: Agree')
  screen.type('2')
  await screen.sees('tool said: No')
  screen.type('[[ask And why?]]\r')
  await screen.sees('the agent asks:')
  screen.type('because green\r')
  await screen.sees('tool said: because green')
})

test('an approval that somebody else answers goes away', options, async (t) => {
  const { id, screen } = await here.attached(t, {}, '--mode', 'ask')
  screen.type('[[shell echo one]]\r')
  await screen.sees('y once')
  const { approvals } = await here.client.call('approval.list', { sessionId: id })
  await here.client.call('approval.decide', {
    approvalId: approvals[0]!.id,
    behavior: 'deny',
    comment: 'elsewhere',
  })
  await screen.sees('denied (native): elsewhere')
  await screen.lacks('y once')
})

test('a question that was asked from outside before waits at attach', options, async (t) => {
  const id = await newSession(here.daemon, '--mode', 'ask')
  const { id: approvalId } = await here.client.call('approval.request', {
    sessionId: id,
    tool: 'Deploy',
    input: { target: 'staging' },
  })
  const screen = here.corral(t, ['attach', id])
  await screen.sees('may the agent use Deploy?')
  await screen.sees('target: staging')
  await screen.sees('y once')
  screen.type('y')
  await screen.sees('allowed (cli)')
  const { decision } = await here.client.call('approval.get', { approvalId })
  assert.equal(decision?.behavior, 'allow')
})
