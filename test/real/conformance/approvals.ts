import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { before, test } from 'node:test'
import { statusOf } from '../../../src/core/session.ts'
import { code } from '../../support/asking.ts'
import type { RealAgent } from './agent.ts'
import { call, type Rig } from './rig.ts'

const ALLOW = { behavior: 'allow' } as const
const DENY = { behavior: 'deny', comment: '' } as const

export function approvals({ tools, shell, denialEndsTurn }: RealAgent, rigOf: () => Rig): void {
  let rig: Rig
  let id: string
  before(async () => {
    rig = rigOf()
    id = await rig.session({ mode: 'ask' })
  })
  const open = () => rig.now.engine.approvals.list({ sessionId: id, open: true, limit: 9 })

  test('a command waits for a human, and runs when it is allowed', async () => {
    const sent = await rig.send(id, '[[shell touch yes.txt && echo done]]')
    const { approval } = await rig.next('approval.requested', id, sent.seq)
    assert.deepEqual([approval.tool, approval.kind, approval.edits], [tools.command, 'tool', false])
    assert.match(JSON.stringify(approval.input), /touch yes\.txt/)
    assert.deepEqual(
      open().map((one) => one.id),
      [approval.id],
    )
    assert.deepEqual([statusOf(rig.now.engine.sessions.get(id)), rig.has(id, 'yes.txt')], ['waiting', false])
    await rig.decide(approval.id, ALLOW)
    const told = await rig.told(id, sent)
    assert.deepEqual([told.end.type, rig.has(id, 'yes.txt')], ['turn.completed', true])
    assert.deepEqual([told.tools.length, told.outputs.length, told.asked.length], [1, 1, 1])
    assert.deepEqual([told.tools[0]!.callId, told.outputs[0]!.isError], [approval.callId, false])
    assert.match(told.outputs[0]!.output, /done/)
    await assert.rejects(rig.decide(approval.id, DENY), code('approval_resolved'))
  })

  test('a command that is denied does not run', async () => {
    const told = await rig.turn(id, '[[shell touch no.txt && echo done]]', DENY)
    assert.deepEqual([told.end.type, rig.has(id, 'no.txt')], ['turn.completed', false])
    assert.deepEqual(
      told.outputs.map(({ isError }) => isError),
      [true],
    )
    assert.equal(told.texts.length, denialEndsTurn ? 0 : 1)
    assert.deepEqual((await rig.turn(id, '[[say still there]]')).texts, ['still there'])
  })

  test('a file is written and edited after a question that tells the path', async () => {
    for (const [what, text] of [
      ['write notes.txt old', 'old'],
      ['edit notes.txt old new', 'new'],
    ] as const) {
      const told = await rig.turn(id, `[[${what}]]`, ALLOW)
      const { tool, edits, input } = told.asked[0]!.approval
      assert.deepEqual([told.asked.length, edits], [1, true])
      assert.match(tool, tools.edit)
      assert.ok(JSON.stringify(input).includes(rig.inside(id, 'notes.txt')), JSON.stringify(input))
      assert.equal(readFileSync(rig.inside(id, 'notes.txt'), 'utf8').trimEnd(), text)
    }
  })

  test('a yes for the session is not asked again', async () => {
    await rig.turn(id, '[[shell touch again.txt]]', { ...ALLOW, forSession: true })
    rmSync(rig.inside(id, 'again.txt'))
    const told = await rig.turn(id, '[[shell touch again.txt]]')
    assert.ok(rig.has(id, 'again.txt') && told.asked.every((event) => !event.open))
    await rig.now.engine.sessions.configure({ sessionId: id, rules: { allow: [] } })
    const sent = await rig.send(id, '[[shell touch again.txt]]')
    assert.equal((await rig.endOrQuestion(id, sent)).type, 'approval.requested', 'until the rule is gone')
    await rig.told(id, sent, DENY)
  })

  test('two commands in one answer are two questions', async () => {
    const names = ['first.txt', 'second.txt']
    const script = call(...names.map((name) => shell(`touch ${name}`)))
    const told = await rig.turn(id, script, ALLOW)
    assert.equal(told.end.type, 'turn.completed')
    assert.deepEqual([told.asked.length, told.tools.length, told.outputs.length], [2, 2, 2])
    assert.ok(names.every((name) => rig.has(id, name)))
  })

  test('an interrupt closes the question, and nothing was done', async () => {
    const sent = await rig.send(id, '[[shell touch open.txt && true]]')
    const { approval } = await rig.next('approval.requested', id, sent.seq)
    await rig.interrupt(id)
    const told = await rig.told(id, sent)
    assert.deepEqual([told.end.type, rig.has(id, 'open.txt')], ['turn.interrupted', false])
    assert.equal(rig.now.engine.approvals.get(approval.id).decision?.behavior, 'cancelled')
    await assert.rejects(rig.decide(approval.id, ALLOW), code('approval_resolved'))
    const { turn, approvals: waiting, queue } = rig.now.engine.sessions.get(id)
    assert.deepEqual([turn, waiting, queue], [null, [], []])
    assert.deepEqual((await rig.turn(id, '[[say on]]')).texts, ['on'])
  })

  test('a rule that forbids something holds where everything is allowed', async () => {
    await rig.now.engine.sessions.configure({
      sessionId: id,
      mode: 'auto',
      rules: { deny: [`${tools.command}(touch *)`] },
    })
    const told = await rig.turn(id, '[[shell touch forbidden.txt]]')
    assert.deepEqual([told.end.type, rig.has(id, 'forbidden.txt')], ['turn.completed', false])
  })
}
