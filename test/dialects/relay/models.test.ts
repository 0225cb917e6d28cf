import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { connect } from '../../../src/client/client.ts'
import { type Json, type Relay, startRelay } from './conformance/rig.ts'

const bin = mkdtempSync(join(tmpdir(), 'corral-claude-'))
after(() => rmSync(bin, { recursive: true, force: true }))

async function listed(relay: Relay): Promise<string[]> {
  const { status, body } = await relay.get('/v1/models')
  assert.equal(status, 200)
  return (body['data'] as Json[]).map(({ id }) => String(id))
}

/** A claude that writes down that it was started, and then does this. */
function program(name: string, then: string): NodeJS.ProcessEnv {
  const path = join(bin, name)
  const version = '[ "$1" = --version ] && echo "2.0.0 (Claude Code)" && exit'
  writeFileSync(path, `#!/bin/sh\n${version}\necho started >> "${path}.starts"\n${then}\n`)
  chmodSync(path, 0o755)
  return { CORRAL_RELAY_AGENT: 'claude', CORRAL_CLAUDE_BIN: path, ANTHROPIC_API_KEY: 'sk-test' }
}

const starts = (name: string): number =>
  readFileSync(join(bin, `${name}.starts`), 'utf8').split('\n').length - 1

describe('on a fresh home', () => {
  test('the agent’s own models are listed, and no session of it', async () => {
    const relay = await startRelay()
    const lists = await Promise.all(Array.from({ length: 5 }, () => listed(relay)))
    for (const ids of lists) assert.deepEqual(ids.slice(0, 2), ['demo', 'claude-sonnet-4-6'])
    const native = await connect(relay.daemon.socket)
    assert.deepEqual((await native.call('session.list', {})).sessions, [])
    native.close()
    assert.deepEqual(readdirSync(join(relay.daemon.corralHome, 'runs')), [])
  })

  test('one of them is there by its name', async () => {
    const relay = await startRelay()
    const { status, body } = await relay.get('/v1/models/demo')
    assert.deepEqual([status, body['display_name'], body['max_input_tokens']], [200, 'Demo', 100_000])
    assert.equal((await relay.get('/v1/models/nobody')).status, 404)
  })

  for (const [name, then] of [
    ['hangs', 'exec sleep 1000'],
    ['fails', 'exit 1'],
  ] as const) {
    test(`an agent that ${name} is asked once, and the usual names are listed`, async () => {
      const relay = await startRelay({ env: program(name, then) })
      const lists = await Promise.all([listed(relay), listed(relay)])
      for (const ids of [...lists, await listed(relay)]) assert.equal(ids[0], 'claude-sonnet-4-6')
      assert.equal(starts(name), 1)
    })
  }

  test('so they are without an agent, or without an account', async () => {
    const env = program('unknown', 'exit 1')
    for (const given of [
      { ...env, CORRAL_CLAUDE_BIN: join(bin, 'nothing') },
      { ...env, ANTHROPIC_API_KEY: '' },
    ]) {
      assert.equal((await listed(await startRelay({ env: given })))[0], 'claude-sonnet-4-6')
    }
    assert.throws(() => starts('unknown'), /ENOENT/)
  })
})
