import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { RealAgent } from './agent.ts'
import type { Rig } from './rig.ts'

/** A conversation, and the directory it belongs to. */
export function directories(_: RealAgent, rigOf: () => Rig): void {
  let rig: Rig
  let id: string
  before(async () => {
    rig = rigOf()
    id = await rig.session()
    await rig.turn(id, '[[remember FIG]] [[say noted]]')
  })
  const cwd = () => rig.now.engine.sessions.get(id).cwd
  const recalls = async (sessionId = id) => {
    const { texts, notices } = await rig.turn(sessionId, '[[recall]]')
    return [...texts, ...notices]
  }

  test('a directory that was moved away is named in the reason; when it is back, all goes on', async () => {
    await rig.endProcess(id)
    const from = cwd()
    renameSync(from, `${from}-moved`)
    const { end } = await rig.turn(id, '[[recall]]')
    assert.ok(end.type === 'turn.failed')
    assert.equal(end.error.message, `The session's directory is gone: ${from}`)
    renameSync(`${from}-moved`, from)
    await fromElsewhere(() => rig.restart())
    assert.deepEqual(await recalls(), ['recall: FIG'], 'also with a daemon that was started elsewhere')
  })

  test('a conversation that is nowhere is said to be lost, a fresh one begins, and even its directory may go', async () => {
    const nativeId = '00000000-0000-4000-8000-000000000000'
    const stranger = await rig.session({ nativeId })
    assert.deepEqual(await recalls(stranger), ['recall: none', 'conversation_lost'])
    assert.notEqual(rig.now.engine.sessions.get(stranger).nativeId, nativeId)
    await leave(stranger)
  })

  /** Its directory goes while the agent is in it: the turn ends one way or the other, and so does the session. */
  async function leave(sessionId: string): Promise<void> {
    rmSync(rig.now.engine.sessions.get(sessionId).cwd, { recursive: true })
    const { end } = await rig.turn(sessionId, '[[say still]]')
    assert.ok(end.type === 'turn.completed' || (end.type === 'turn.failed' && end.error.message !== ''))
    await rig.now.engine.sessions.destroy(sessionId)
  }
}

async function fromElsewhere(start: () => Promise<void>): Promise<void> {
  const [here, elsewhere] = [process.cwd(), mkdtempSync(join(tmpdir(), 'corral-elsewhere-'))]
  process.chdir(elsewhere)
  try {
    await start()
  } finally {
    process.chdir(here)
    rmSync(elsewhere, { recursive: true })
  }
}
