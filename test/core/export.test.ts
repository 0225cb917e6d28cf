import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { emptyConversation, step } from '../../src/core/conversation/conversation.ts'
import { CorralError } from '../../src/core/error.ts'
import { LoggedEvent, type Event, type EventBody } from '../../src/core/event.ts'
import type { ExportFormat } from '../../src/core/export/export.ts'
import { changeText } from '../../src/core/export/markdown.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { aQuestion } from '../support/session.ts'

let t: TestEngine
beforeEach(async () => {
  t = await startEngine()
})
afterEach(() => t.stop())

async function newSession(title: string | null = null): Promise<string> {
  const settings = { mcpConfig: { key: 'a secret' } }
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode: 'auto', title, settings })).id
}

function pagesOf(sessionId: string, format: ExportFormat): string[] {
  const pages: string[] = []
  let cursor: string | null = null
  do {
    const page = t.engine.sessions.exportPage({ sessionId, format, ...(cursor !== null && { cursor }) })
    pages.push(page.text)
    cursor = page.next
  } while (cursor !== null)
  return pages
}

interface Document {
  format: string
  version: number
  session: { id: string; title: string | null; settings: object; turnCount: number }
  events: Event[]
}

function parsed(sessionId: string): Document {
  return JSON.parse(pagesOf(sessionId, 'json').join('')) as Document
}

/** Fills a session's log with what an agent could have said. */
async function append(sessionId: string, bodies: EventBody[]): Promise<void> {
  let seq = t.log.head
  const events = bodies.map((body) =>
    LoggedEvent.of({ seq: ++seq, at: seq, sessionId, turnId: null, ...body } as Event),
  )
  await t.log.append({ events, writes: [] })
}

test('JSON has every event of the session as it is in the log, and no other, and no secret', async () => {
  const id = await newSession('A title')
  const other = await newSession()
  await t.turn(id, '[[shell echo hello]]')
  await t.turn(id, '[[think hm]] [[say done]]')
  await t.turn(other, '[[say elsewhere]]')
  await t.engine.daemon.setName('also elsewhere')
  const { format, version, session, events } = parsed(id)
  assert.deepEqual(
    [format, version, session.id, session.title, session.turnCount],
    ['corral-session', 1, id, 'A title', 2],
  )
  const logged = t.engine.events.read({ after: 0, sessionId: id, whole: true, limit: 9999 })
  assert.deepEqual(
    events,
    logged.map(({ event }) => event),
  )
  assert.equal(events[0]!.type, 'session.created')
  assert.ok(!pagesOf(id, 'json').join('').includes('a secret'))
  assert.ok(!pagesOf(id, 'markdown').join('').includes('a secret'))
})

test('a session in which nothing happened is a document too', async () => {
  const id = await newSession()
  assert.deepEqual(
    parsed(id).events.map(({ type }) => type),
    ['session.created'],
  )
  assert.match(pagesOf(id, 'markdown').join(''), /^# Session\n\n- Session: `/)
  assert.throws(
    () => t.engine.sessions.exportPage({ sessionId: 'nobody', format: 'json' }),
    (error: unknown) => error instanceof CorralError && error.code === 'session_not_found',
  )
})

test('a large one comes in pages that are no larger than they must be, as it was when it began', async () => {
  const id = await newSession()
  const text = 'x'.repeat(300_000)
  const message = {
    type: 'message.completed',
    messageId: 'm',
    kind: 'text',
    parent: null,
    aborted: false,
  } as const
  for (let round = 0; round < 4; round++) {
    await append(
      id,
      Array.from({ length: 10 }, () => ({ ...message, text })),
    )
  }
  await append(
    id,
    Array.from({ length: 1200 }, (_, i) => ({ ...message, text: `small ${i}` })),
  )
  for (const format of ['json', 'markdown'] as const) {
    const first = t.engine.sessions.exportPage({ sessionId: id, format })
    await append(id, [{ ...message, text: 'too late' }])
    const pages = [first.text]
    for (let { next } = first; next !== null;) {
      const page = t.engine.sessions.exportPage({ sessionId: id, format, cursor: next })
      pages.push(page.text)
      next = page.next
    }
    assert.ok(pages.length > 10)
    assert.ok(Math.max(...pages.map((page) => page.length)) < 2_000_000)
    const whole = pages.join('')
    assert.equal(whole.includes('small 1199'), true)
    assert.equal(
      whole.split('too late').length - 1,
      format === 'json' ? 0 : 1,
      'what came meanwhile is not in it',
    )
  }
  assert.equal(parsed(id).events.length, 1 + 40 + 1200 + 2)
})

test('Markdown is what was said, thought and done, asked and decided, and what it cost', async () => {
  const id = await newSession('Two\nlines')
  await t.engine.sessions.configure({ sessionId: id, mode: 'ask' })
  const { seq } = await t.engine.turns.send({
    sessionId: id,
    input: [{ type: 'text', text: '[[shell echo hello]]' }],
  })
  const { approval } = await t.event('approval.requested', { sessionId: id, after: seq })
  await t.engine.approvals.decide({ approvalId: approval.id, decision: { behavior: 'allow' }, by: 'me' })
  await t.event('turn.completed', { sessionId: id, after: seq })
  await t.turn(id, '[[think hm]] [[say **done**]]')
  const text = pagesOf(id, 'markdown').join('')
  const places = [
    '# Two lines\n',
    '## You\n',
    '[[shell echo hello]]\n',
    '**Tool:** `Shell`\n\n```sh\necho hello\n```\n',
    '**May `Shell` run?**',
    '**Allowed** (me)\n',
    '<summary>Result of Shell</summary>\n\n```\n(pretend) ran: echo hello\n```\n',
    '*Completed: ',
    '[[think hm]] [[say **done**]]\n',
    '<summary>Thinking</summary>\n\nhm\n',
    '## Agent\n\n**done**\n',
  ].map((part) => [part, text.indexOf(part)] as const)
  for (const [part, at] of places) assert.ok(at >= 0, `${JSON.stringify(part)} in ${text}`)
  const order = places.map(([, at]) => at)
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
})

/** What the last of these events adds. */
function told(...bodies: EventBody[]): string {
  const conversation = emptyConversation()
  const texts = bodies.map((body) => {
    const event = { seq: 1, at: 0, sessionId: 's', ...body } as Event
    return step(conversation, event)
      .map((change) => changeText(change, event, () => null))
      .join('')
  })
  return texts.at(-1)!
}

test('nothing that was said breaks out of where it stands', () => {
  const output = 'a\n```\nb\n`````\nc'
  const done = { type: 'tool.completed', callId: 'c', isError: false, parent: null, cut: 0 } as const
  const result = told({ ...done, output, isError: true, cut: 7 })
  assert.match(result, /<summary>Error<\/summary>\n\n``````\na\n```\nb\n`````\nc\n``````\n\n\*\(7 more bytes/)
  const started = { type: 'tool.started', callId: 'c', tool: '<b>&', input: {}, parent: null } as const
  assert.match(
    told(started, { ...done, output: '' }),
    /<summary>Result of &#60;b&#62;&#38;<\/summary>\n\n\*\(nothing\)\*/,
  )
  assert.equal(told({ type: 'turn.started', turnId: 'gone' }).includes('*(not kept any more)*'), true)
  const settled = { external: false, timeoutAt: null, turnId: null, approval: aQuestion('a'), open: false }
  assert.equal(told({ type: 'approval.requested', ...settled }), '', 'nobody was asked')
  const allow = { behavior: 'allow' } as const
  assert.equal(told({ type: 'approval.resolved', approvalId: 'a', decision: allow, by: 'rule' }), '')
})

test('a plan is a list, with what is done and what is under way', () => {
  const entries = [
    { text: 'look\nclosely', state: 'done' as const },
    { text: 'work', state: 'active' as const },
    { text: 'rest', state: 'pending' as const },
  ]
  const list = '**Plan:**\n\n- [x] look closely\n- [ ] work *(now)*\n- [ ] rest'
  assert.equal(told({ type: 'agent.plan', entries }), list)
})

test('a cursor of somebody else is refused', async () => {
  const sessionId = await newSession()
  for (const cursor of ['', 'x', 'e30', Buffer.from('{"after":1,"until":"x"}').toString('base64url')]) {
    assert.throws(
      () => t.engine.sessions.exportPage({ sessionId, format: 'json', cursor }),
      (error: unknown) => error instanceof CorralError && error.code === 'invalid',
    )
  }
})

test('a text with very many backticks can be exported', () => {
  const input = { content: '` '.repeat(500_000), path: '/x' }
  const started: EventBody = { type: 'tool.started', callId: 'c', tool: 'Write', input, parent: null }
  assert.ok(told(started).endsWith('\n```'))
})
