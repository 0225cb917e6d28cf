import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type Api, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { corral } from '../../cli/support.ts'
import { connect as connectHumanLayer, type Json } from '../humanlayer/support.ts'
import { demoSession, refusal, turn } from './support.ts'

let daemon: TestDaemon
let client: NativeClient

before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket)
})

after(async () => {
  client.close()
  await daemon.stop()
})

type Items = Api['history.read']['result']['items']

const texts = (items: Items): string[] =>
  items.flatMap((item) => (item.kind === 'assistant' ? [item.text] : []))

async function said(sessionId: string, text: string): Promise<string> {
  const [first] = await turn(client, sessionId, `[[say ${text}]]`)
  return first!.turnId!
}

/** Three turns, and a session that branched off after the second. */
async function branched() {
  const { id: parent } = await demoSession(client, daemon)
  await said(parent, 'one')
  const turnId = await said(parent, 'two')
  await said(parent, 'never')
  const fork = await client.call('session.fork', { sessionId: parent, turnId, title: 'branch' })
  await said(parent, 'never')
  await said(fork.id, 'three')
  return { parent, turnId, fork }
}

test('the history of a branch is the conversation up to there, nothing that came later, and then its own', async () => {
  const { parent, turnId, fork } = await branched()
  assert.deepEqual([fork.parentId, fork.branch?.turnId, fork.title], [parent, turnId, 'branch'])
  const { items, next } = await client.call('history.read', { sessionId: fork.id })
  assert.deepEqual([texts(items), next], [['one', 'two', 'three'], null])
  const alone = await client.call('history.read', { sessionId: fork.id, ancestors: false })
  assert.deepEqual(texts(alone.items), ['three'])
  let paged: Items = []
  for (let before: number | null = null; ;) {
    const place: { before?: number } = before === null ? {} : { before }
    const page: Api['history.read']['result'] = await client.call('history.read', {
      sessionId: fork.id,
      limit: 2,
      ...place,
    })
    paged = [...page.items, ...paged]
    if ((before = page.next) === null) break
  }
  assert.deepEqual(paged, items)
})

test('other clients tell the same', async () => {
  const { fork } = await branched()
  const humanlayer = await connectHumanLayer(daemon.listeners['humanlayer']!)
  const { events } = await humanlayer.call<{ events: Json[] }>('getConversation', { session_id: fork.id })
  humanlayer.close()
  const answers = events.filter((it) => it['event_type'] === 'message' && it['role'] === 'assistant')
  assert.deepEqual(
    answers.map(({ content }) => content),
    ['one', 'two', 'three'],
  )
  const { stdout } = await corral(daemon.env, ['history', fork.id])
  assert.ok(
    ['one', 'two', 'three'].every((text) => stdout.includes(text)) && !stdout.includes('never'),
    stdout,
  )
})

test('a branch of a branch, and of its ancestor; the same key is the same branch', async () => {
  const { parent, turnId, fork } = await branched()
  const own = (await client.call('turn.list', { sessionId: fork.id })).turns[0]!.id
  await said(fork.id, 'never')
  const wish = { sessionId: fork.id, turnId: own, key: `branch ${fork.id}` }
  const child = await client.call('session.fork', wish)
  assert.equal((await client.call('session.fork', wish)).id, child.id)
  await said(child.id, 'four')
  const { items } = await client.call('history.read', { sessionId: child.id })
  assert.deepEqual(texts(items), ['one', 'two', 'three', 'four'])
  const sibling = await client.call('session.fork', { sessionId: child.id, turnId })
  assert.deepEqual([sibling.parentId, sibling.branch], [parent, fork.branch])
  const nobody = client.call('session.fork', { sessionId: fork.id, turnId: 'nobody' })
  assert.equal((await refusal(nobody)).code, 'turn_not_found')
})
