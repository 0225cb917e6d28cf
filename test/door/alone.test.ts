import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corral } from '../cli/support.ts'
import { ask, askHuman, daemonFor, doorOf, first, nativeFor, tokenOf, webSocketOf } from './support.ts'

const SEEDS_OFF = {
  CORRAL_CODECAST_ENABLED: 'false',
  CORRAL_HUMANLAYER_ENABLED: 'false',
  CORRAL_CLAWDE_ENABLED: 'false',
  CORRAL_RELAY_ENABLED: 'false',
}

test('everything of Corral’s own works with every other protocol switched off', async (t) => {
  const daemon = await daemonFor(t, SEEDS_OFF)
  assert.deepEqual(Object.keys(daemon.listeners).toSorted(), ['corral', 'native'])

  const far = await nativeFor(t, daemon, tokenOf(daemon))
  const { id } = await far.call('session.create', { agent: 'demo', cwd: daemon.project })
  await far.call('session.send', { sessionId: id, content: '[[say hello]]' })
  await first(far, 'turn.completed')
  const { stdout } = await corral(daemon.env, ['history', id])
  assert.match(stdout, /hello/)

  const asked = await askHuman(daemon)
  const answer = asked.text()
  const { approval } = await first(far, 'approval.requested')
  await far.call('approval.decide', { approvalId: approval.id, behavior: 'respond', text: 'Yes, do' })
  assert.match(await answer, /Yes, do/)

  const paired = await corral(daemon.env, ['pair', '--json'])
  assert.equal(paired.code, 0, paired.stderr)
  const [pin] = paired.json<{ url: string | null; native: string; qr: string | null }>()
  assert.deepEqual([pin?.url, pin?.native, pin?.qr], [null, webSocketOf(daemon), null])
  assert.match((await corral(daemon.env, ['pair'])).stdout, /native +ws:/)
  assert.equal((await corral(daemon.env, ['pair', '--svg', `${daemon.home}/qr.svg`])).code, 1)

  assert.equal((await ask(`${doorOf(daemon)}/ready`)).status, 200)
  assert.equal((await ask(`${doorOf(daemon)}/metrics`)).status, 200)
  const doctor = (await corral(daemon.env, ['doctor'])).stdout
  assert.match(doctor, /ok +corral +http:/)
  assert.match(doctor, /ok +native /)
  assert.doesNotMatch(doctor, /listening/)
})
