import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultsFrom, type Candidate } from '../../src/core/defaults.ts'

const agent = (name: string, signedIn: boolean | null, installed = true): Candidate => ({
  name,
  installed,
  signedIn,
})
const demo = agent('demo', null)
const none = { agent: null, mode: 'ask' } as const

test('any real agent that is installed comes before the demo agent', () => {
  const chosen = (...agents: Candidate[]): string => defaultsFrom(none, agents).agent
  assert.equal(chosen(agent('claude', null, false), agent('codex', true), demo), 'codex')
  assert.equal(chosen(agent('claude', false), agent('codex', true), demo), 'codex', 'signed in')
  assert.equal(chosen(agent('claude', false), agent('codex', false), demo), 'claude')
  assert.equal(chosen(agent('claude', true), agent('codex', true), demo), 'claude')
  assert.equal(chosen(agent('codex', false), demo), 'codex', 'also one that still needs a sign-in')
  assert.equal(chosen(demo, agent('goose', null)), 'goose', "one of the user's own")
})

test('it says how the agent was chosen', () => {
  assert.deepEqual(defaultsFrom(none, [demo]), { agent: 'demo', chosen: 'demo', mode: 'ask' })
  assert.deepEqual(defaultsFrom({ agent: 'demo', mode: 'code' }, [agent('codex', true), demo]), {
    agent: 'demo',
    chosen: 'set',
    mode: 'code',
  })
  assert.equal(defaultsFrom(none, [agent('codex', true), demo]).chosen, 'found')
})
