import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { mentionsIn } from '../../../src/dialects/loaf/mentions.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor, demoSession, startClient, turn, type Client } from './support.ts'

describe('mentions of skills', () => {
  const cases: [text: string, names: string[]][] = [
    ['$review this', ['review']],
    ['Use $Front-End, then ($a.b:c_d).', ['front-end', 'a.b:c_d']],
    ['$review. And $review: again', ['review']],
    ['it costs $5, or $1.50, or US$dollars, or $$twice', []],
    ['$ alone, $-dash', []],
    ['', []],
  ]
  for (const [text, names] of cases) {
    test(`in ‘${text}’: ${names.join(' ') || 'none'}`, () => assert.deepEqual(mentionsIn(text), names))
  }
})

describe('a message that mentions skills', () => {
  let daemon: TestDaemon
  let client: Client

  before(async () => {
    daemon = await startDaemon()
    skill(join(daemon.project, '.agents/skills'), 'Review', '# Review\n\nBe kind.\n')
    skill(join(daemon.home, '.agents/skills'), 'twice', 'of the user')
    skill(join(daemon.project, '.agents/skills'), 'twice', 'of the project')
    client = startClient(daemon)
  })
  after(async () => {
    await client.close()
    await daemon.stop()
  })

  function skill(root: string, name: string, text: string): void {
    mkdirSync(join(root, name), { recursive: true })
    writeFileSync(join(root, name, 'SKILL.md'), text)
  }

  test('brings their instructions to the agent, and says so', async (t) => {
    const sessionId = await demoSession(client)
    const text = '$review my change, $twice, $nobody'
    await turn(client, sessionId, text)
    const { messages, history } = await client.state(sessionId)
    assert.deepEqual(
      messages.slice(0, 2).map(({ kind, text }) => [kind, text]),
      [
        ['system', 'skills applied: Review'],
        ['user', text],
      ],
    )
    assert.equal(history[0]!.text, text)
    const answer = messages[2]!.text
    assert.ok(answer.startsWith(`echo: ${text}`), answer)
    assert.match(
      answer,
      /<skill>\n<name>Review<\/name>\n<path>.*SKILL\.md<\/path>\n# Review\n\nBe kind\.\n<\/skill>/,
    )
    assert.doesNotMatch(answer, /of the (user|project)/)

    const later = clientFor(t, daemon)
    assert.deepEqual((await later.state(sessionId)).messages, messages)
    const { sessions } = await later.call<{ sessions: { title: string }[] }>('history.list')
    assert.equal(sessions[0]!.title, text)
  })

  test('shows as it was written while it waits', async () => {
    const sessionId = await demoSession(client)
    await client.call('session.send', { session_id: sessionId, text: '[[hang]]' })
    await client.call('session.send', { session_id: sessionId, text: '$review later', enqueue: true })
    assert.deepEqual(
      (await client.state(sessionId)).queue.map(({ text }) => text),
      ['$review later'],
    )
    await client.call('session.interrupt', { session_id: sessionId })
    await client.event(
      'session.message.appended',
      ({ session_id, message }) => session_id === sessionId && message.text === 'skills applied: Review',
    )
    await client.event('session.completed', ({ session_id }) => session_id === sessionId)
  })
})
