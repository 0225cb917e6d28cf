import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Capabilities } from '../../../src/core/capabilities.ts'
import { code } from '../../support/asking.ts'
import { until } from '../../support/wait.ts'
import type { RealAgent } from './agent.ts'
import { stateOf } from './counts.ts'
import { type Rig, words } from './rig.ts'

type Check = (rig: Rig, sessionId: string) => Promise<void>

/** A row of the table in docs/agents.md: what shows that it is so, and what shows that it is not. */
interface Row {
  yes: Check
  no: Check
}

export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PICTURE = { type: 'image', mediaType: 'image/png', data: PIXEL } as const
const PAGE =
  '%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF'
const DOCUMENT = {
  type: 'document',
  mediaType: 'application/pdf',
  data: Buffer.from(PAGE).toString('base64'),
} as const
const STRANGER = '00000000-0000-4000-8000-000000000000'
const unsupported = code('unsupported')

const CHECKS: Record<keyof Capabilities, Row> = {
  streaming: {
    yes: async (rig, id) => assert.equal(await pieces(rig, id), 5),
    no: async (rig, id) => assert.ok((await pieces(rig, id)) <= 1),
  },
  thinking: {
    yes: async (rig, id) => assert.deepEqual(await thoughts(rig, id), ['deep thought']),
    no: async (rig, id) => assert.deepEqual(await thoughts(rig, id), []),
  },
  approvals: {
    yes: async (rig, id) => assert.equal(await firstOf(rig, id), 'approval.requested'),
    no: async (rig, id) => assert.equal(await firstOf(rig, id), 'turn.completed'),
  },
  images: {
    async yes(rig, id) {
      const { texts } = await rig.turn(id, [{ type: 'text', text: '[[attachments]]' }, PICTURE])
      assert.deepEqual(texts, [`attachments: 1 image/png/${Buffer.from(PIXEL, 'base64').length}`])
    },
    no: (rig, id) => assert.rejects(rig.send(id, [PICTURE]), unsupported),
  },
  documents: {
    async yes(rig, id) {
      await rig.turn(id, [{ type: 'text', text: '[[say read]]' }, DOCUMENT])
      const { body } = rig.model.requests.at(-1)!
      assert.ok(JSON.stringify(body).includes(DOCUMENT.data), 'the model has it')
    },
    no: (rig, id) => assert.rejects(rig.send(id, [DOCUMENT]), unsupported),
  },
  resume: {
    async yes(rig, id) {
      await rig.turn(id, '[[remember PLUM]] [[say noted]]')
      const { nativeId } = rig.now.engine.sessions.get(id)
      // Killed while it is idle: that costs nothing.
      process.kill(-rig.groupOf(id), 'SIGKILL')
      const { texts, notices, events } = await rig.turn(id, '[[recall]]')
      assert.deepEqual([texts, notices], [['recall: PLUM'], []])
      assert.ok(events.some((event) => event.type === 'agent.started' && event.resumed))
      assert.equal(rig.now.engine.sessions.get(id).nativeId, nativeId)
    },
    no: (rig) => assert.rejects(rig.session({ nativeId: STRANGER }), unsupported),
  },
  relocate: {
    async yes(rig, id) {
      await rig.turn(id, '[[remember LIME]] [[say noted]]')
      await rig.endProcess(id)
      const other = await rig.session({ nativeId: rig.now.engine.sessions.get(id).nativeId })
      assert.deepEqual((await rig.turn(other, '[[recall]]')).texts, ['recall: LIME'])
      await rig.turn(other, '[[write here.txt text]]', { behavior: 'allow' })
      assert.ok(rig.has(other, 'here.txt'), 'it works where the session is')
      await rig.now.engine.sessions.destroy(other)
      assert.deepEqual(
        (await rig.turn(id, '[[recall]]')).texts,
        ['recall: LIME'],
        'the first one is as it was',
      )
    },
    async no(rig, id) {
      await rig.turn(id, '[[say hello]]')
      const { nativeId } = rig.now.engine.sessions.get(id)
      await assert.rejects(rig.session({ nativeId }), unsupported)
    },
  },
  fork: {
    async yes(rig, id) {
      await rig.turn(id, '[[remember PEAR]] [[say noted]]')
      const fork = await rig.now.engine.sessions.fork({ sessionId: id })
      assert.deepEqual((await rig.turn(fork.id, '[[recall]]')).texts, ['recall: PEAR'])
      await rig.turn(fork.id, '[[remember LIME]] [[say noted]]')
      assert.deepEqual((await rig.turn(id, '[[recall]]')).texts, ['recall: PEAR'])
      const [one, other] = [id, fork.id].map((each) => rig.now.engine.sessions.get(each).nativeId)
      assert.notEqual(one, other)
    },
    no: (rig, id) => assert.rejects(rig.now.engine.sessions.fork({ sessionId: id }), unsupported),
  },
  cost: {
    yes: async (rig, id) => assert.ok((await costOf(rig, id))! > 0),
    no: async (rig, id) => assert.equal(await costOf(rig, id), null),
  },
  setModel: {
    async yes(rig, id) {
      for (const model of rig.agent.models) {
        await rig.now.engine.sessions.configure({ sessionId: id, model })
        const { events } = await rig.turn(id, '[[say hello]]')
        assert.ok(usedModels(rig).at(-1)?.includes(model.replace(/^.*\//, '')), usedModels(rig).join())
        assert.ok(!events.some(({ type }) => type === 'agent.started'), 'the same process')
      }
    },
    no: (rig, id) =>
      assert.rejects(
        rig.now.engine.sessions.configure({ sessionId: id, model: rig.agent.models[0] }),
        unsupported,
      ),
  },
  effort: {
    async yes(rig, id) {
      for (const effort of ['high', 'low', 'off'] as const) {
        await rig.now.engine.sessions.configure({ sessionId: id, effort })
        const { events, texts, notices } = await rig.turn(id, '[[effort]]')
        // None of these can do without thinking, Claude's newest models included: they get the least there is.
        assert.deepEqual([texts, notices], [[`effort: ${effort === 'off' ? 'low' : effort}`], []])
        assert.ok(!events.some(({ type }) => type === 'agent.started'), 'the same process')
      }
      const other = await rig.session({ effort: 'high' })
      assert.deepEqual(
        (await rig.turn(other, '[[effort]]')).texts,
        ['effort: high'],
        'from the first turn on',
      )
      await rig.now.engine.sessions.destroy(other)
    },
    no: (rig, id) =>
      assert.rejects(rig.now.engine.sessions.configure({ sessionId: id, effort: 'high' }), unsupported),
  },
  setMode: {
    async yes(rig, id) {
      await rig.now.engine.sessions.configure({ sessionId: id, mode: 'auto' })
      const { events } = await rig.turn(id, '[[shell touch auto.txt]]')
      assert.ok(rig.has(id, 'auto.txt') && !events.some(({ type }) => type === 'agent.started'))
      await rig.now.engine.sessions.configure({ sessionId: id, mode: 'ask' })
      assert.equal(await firstOf(rig, id), 'approval.requested')
    },
    no: (rig, id) =>
      assert.rejects(rig.now.engine.sessions.configure({ sessionId: id, mode: 'auto' }), unsupported),
  },
  steer: {
    async yes(rig, id) {
      const { sent, approval } = await asking(rig, id)
      const input = [{ type: 'text' as const, text: '[[say steered]]' }]
      const { turnId } = await rig.now.engine.turns.steer({ sessionId: id, input })
      await rig.decide(approval.id, { behavior: 'allow' })
      const { end, events } = await rig.told(id, sent)
      assert.ok(end.type === 'turn.completed' && events.some(({ type }) => type === 'turn.steer_accepted'))
      assert.deepEqual([turnId, end.text], [sent.turnId, 'steered'])
    },
    async no(rig, id) {
      const { sent } = await asking(rig, id)
      const input = [{ type: 'text' as const, text: '[[say steered]]' }]
      await assert.rejects(rig.now.engine.turns.steer({ sessionId: id, input }), unsupported)
      await rig.told(id, sent, { behavior: 'deny', comment: '' })
    },
  },
  editInput: {
    async yes(rig, id) {
      const input = { command: 'touch edited.txt' }
      await rig.turn(id, '[[shell touch unedited.txt]]', { behavior: 'allow', input })
      assert.deepEqual([rig.has(id, 'edited.txt'), rig.has(id, 'unedited.txt')], [true, false])
    },
    async no(rig, id) {
      const { sent, approval } = await asking(rig, id, 'unedited.txt')
      const input = { command: 'touch edited.txt' }
      await assert.rejects(rig.decide(approval.id, { behavior: 'allow', input }), unsupported)
      await rig.told(id, sent, { behavior: 'deny', comment: '' })
      assert.deepEqual([rig.has(id, 'edited.txt'), rig.has(id, 'unedited.txt')], [false, false])
    },
  },
  denyComment: {
    async yes(rig, id) {
      assert.deepEqual(await heard(rig, id), { byModel: true, notices: [] })
    },
    async no(rig, id) {
      assert.deepEqual(await heard(rig, id), { byModel: false, notices: ['comment_unheard'] })
    },
  },
  pause: {
    async yes(rig, id) {
      const sent = await rig.send(id, '[[drip 40 20]]')
      await rig.next('message.delta', id, sent.seq)
      await rig.now.engine.sessions.pause(id)
      await until(
        () => stateOf(rig.agentOf(id).pid) === 'T',
        () => `stopped: ${stateOf(rig.agentOf(id).pid)}`,
      )
      await rig.now.engine.sessions.resume(id)
      assert.deepEqual((await rig.told(id, sent)).texts, [words(40)])
    },
    async no(rig, id) {
      const { sent } = await asking(rig, id)
      await assert.rejects(rig.now.engine.sessions.pause(id), unsupported)
      await rig.told(id, sent, { behavior: 'deny', comment: '' })
    },
  },
  survivesRestart: {
    async yes(rig, id) {
      const { sent, told, group } = await restarted(rig, id)
      assert.deepEqual([told.end.type, told.texts], ['turn.completed', [words(60)]])
      assert.equal(rig.groupOf(id), group, 'the same process')
      assert.equal(told.end.turnId, sent.turnId)
    },
    async no(rig, id) {
      assert.equal((await restarted(rig, id)).told.end.type, 'turn.failed')
    },
  },
  clientTools: {
    async yes(rig) {
      const id = await rig.session({ settings: { clientTools: WEATHER } })
      const name = rig.agent.driver.name === 'claude' ? 'mcp__client__weather' : 'weather'
      const [london, paris] = ['London', 'Paris'].map((city) => base64({ city }))
      const sent = await rig.send(id, `[[call ${name} ${london} ${name} ${paris}]]`)
      await until(
        () => rig.now.engine.sessions.get(id).calls.length === 2,
        () => `calls: ${rig.now.engine.sessions.get(id).calls.length}`,
      )
      // Held calls outlive the daemon.
      await rig.restart()
      const { calls } = rig.now.engine.sessions.get(id)
      assert.deepEqual(calls.map(({ tool, input }) => JSON.stringify([tool, input])).toSorted(), [
        '["weather",{"city":"London"}]',
        '["weather",{"city":"Paris"}]',
      ])
      for (const { callId, input } of calls) {
        const content = [{ type: 'text' as const, text: `rain in ${(input as { city: string }).city}` }]
        await rig.now.engine.turns.answerCall({ sessionId: id, callId, result: { content, isError: false } })
      }
      const { end, tools, outputs } = await rig.told(id, sent)
      assert.ok(
        end.type === 'turn.completed' && /rain in (London|Paris)/.test(end.text ?? ''),
        JSON.stringify(end),
      )
      assert.deepEqual(outputs.map(({ output }) => output).toSorted(), ['rain in London', 'rain in Paris'])
      assert.deepEqual(
        tools.map(({ callId }) => callId).toSorted(),
        calls.map(({ callId }) => callId).toSorted(),
      )
      await rig.now.engine.sessions.destroy(id)
    },
    no: (rig) => assert.rejects(rig.session({ settings: { clientTools: WEATHER } }), unsupported),
  },
  bare: {
    async yes(rig) {
      const id = await rig.session({ settings: { clientTools: WEATHER, ownTools: false } })
      await rig.turn(id, '[[say hello]]')
      const { tools } = rig.model.requests.at(-1)!.body as { tools?: { name: string }[] }
      assert.deepEqual(
        tools?.map(({ name }) => name),
        ['mcp__client__weather'],
      )
      await rig.now.engine.sessions.destroy(id)
    },
    no: (rig) => assert.rejects(rig.session({ settings: { ownTools: false } }), unsupported),
  },
  compact: {
    async yes(rig, id) {
      await rig.turn(id, '[[say plums]]')
      assert.ok(await modelHears(rig, id, 'plums'))
      const told = await rig.told(id, await rig.now.engine.turns.compact({ sessionId: id }))
      const seen = told.events.map(({ type }) => type).filter((type) => type.startsWith('agent.compact'))
      assert.deepEqual([told.end.type, seen], ['turn.completed', ['agent.compacting', 'agent.compacted']])
      const [done] = told.events.filter((event) => event.type === 'agent.compacted')
      assert.equal(done?.error, null)
      assert.ok(!(await modelHears(rig, id, 'plums')), 'what it said before is only in the summary')
    },
    no: (rig, id) => assert.rejects(rig.now.engine.turns.compact({ sessionId: id }), unsupported),
  },
}

const WEATHER = [
  {
    name: 'weather',
    description: 'The weather in a city',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]

function base64(input: object): string {
  return Buffer.from(JSON.stringify(input)).toString('base64')
}

export function capabilities({ driver }: RealAgent, rigOf: () => Rig): void {
  let rig: Rig
  let id: string
  before(async () => {
    rig = rigOf()
    id = await rig.session({ mode: 'ask' })
    await rig.turn(id, '[[say hello]]')
  })

  test('every capability is shown to be there or not', () => {
    assert.deepEqual(Object.keys(CHECKS).toSorted(), Object.keys(driver.capabilities).toSorted())
  })

  test('the models that it tells of are there for whoever asks', () => {
    const models = rig.now.log.models(driver.name)
    assert.ok(models.length > 1 && models.every(({ id, name }) => id && name), JSON.stringify(models))
    const thinking = models.some(({ efforts = [] }) => efforts.includes('high'))
    assert.equal(thinking, driver.capabilities.effort, JSON.stringify(models))
  })

  for (const [name, able] of Object.entries(driver.capabilities)) {
    test(`${name}: ${able ? 'yes' : 'no'}`, async () => {
      const row = CHECKS[name as keyof Capabilities]
      assert.ok(row, `${name} is a capability that nothing shows yet`)
      await (able ? row.yes(rig, id) : row.no(rig, id))
    })
  }
}

/** Whether an earlier answer of this one word is part of what the model is told. */
async function modelHears(rig: Rig, sessionId: string, word: string): Promise<boolean> {
  await rig.turn(sessionId, '[[say on]]')
  return JSON.stringify(rig.model.requests.at(-1)!.body).includes(`"${word}"`)
}

/** How many pieces an answer of five words comes in. */
async function pieces(rig: Rig, sessionId: string): Promise<number> {
  let count = 0
  const subscription = rig.now.engine.events.subscribe(
    { sessionId, after: rig.now.engine.events.head },
    (events) => {
      count += events.filter(({ type }) => type === 'message.delta').length
    },
  )
  // The deltas of a complete message leave the log, so they are counted while they come.
  await rig.turn(sessionId, '[[drip 5 50]]').finally(() => subscription.close())
  return count
}

async function thoughts(rig: Rig, sessionId: string): Promise<string[]> {
  const told = await rig.turn(sessionId, '[[think deep thought]] [[say 42]]')
  assert.deepEqual(told.texts, ['42'])
  return told.thoughts
}

/** A turn that waits for an answer about a command. */
async function asking(rig: Rig, sessionId: string, file = 'asking.txt') {
  const sent = await rig.send(sessionId, `[[shell touch ${file}]]`)
  const { approval } = await rig.next('approval.requested', sessionId, sent.seq)
  return { sent, approval }
}

/** Whether it asks before it runs a command. */
async function firstOf(rig: Rig, sessionId: string): Promise<string> {
  const sent = await rig.send(sessionId, '[[shell touch first.txt]]')
  const { type } = await rig.endOrQuestion(sessionId, sent)
  await rig.told(sessionId, sent, { behavior: 'deny', comment: '' })
  return type
}

async function costOf(rig: Rig, sessionId: string): Promise<number | null> {
  const { end } = await rig.turn(sessionId, '[[words 20]]')
  assert.ok(end.type === 'turn.completed')
  return end.usage.costUsd
}

function usedModels(rig: Rig): string[] {
  return rig.model.requests.map(rig.agent.usedModel).filter((name) => name !== null)
}

/** What becomes of the words that go with a no. */
async function heard(rig: Rig, sessionId: string): Promise<{ byModel: boolean; notices: string[] }> {
  const comment = 'rather tomorrow'
  const { notices } = await rig.turn(sessionId, '[[shell touch no.txt]]', { behavior: 'deny', comment })
  // Where a no ends the turn, the model hears of it with the next message.
  await rig.turn(sessionId, '[[say on]]')
  const byModel = rig.model.requests.some(({ body }) => JSON.stringify(body).includes(comment))
  return { byModel, notices }
}

async function restarted(rig: Rig, sessionId: string) {
  const sent = await rig.send(sessionId, '[[drip 60 40]]')
  await rig.next('message.delta', sessionId, sent.seq)
  const group = rig.groupOf(sessionId)
  await rig.restart()
  return { sent, group, told: await rig.told(sessionId, sent) }
}
