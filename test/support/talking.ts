import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { AgentHome } from './agent-home.ts'
import type { Talker } from './model/talker.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** What is different from agent to agent. */
export interface Expected {
  thought: string
  /** How `[[ask Shall we?]]` is answered. */
  ask: RegExp
  failure: RegExp
}

/**
 * Tests that hold for every real agent on the scripted model. `start` makes `[[sysword zebra]]` part of its system
 * prompt.
 */
export function talksToTheScriptedModel(
  name: string,
  skip: string | false,
  home: () => Promise<AgentHome>,
  start: (home: AgentHome) => Promise<Talker>,
  expected: Expected,
): void {
  describe(`the real ${name} on the scripted model`, { skip, concurrency: false }, () => {
    let at: AgentHome
    let agent: Talker

    before(async () => {
      at = await home()
      agent = await start(at)
    })
    after(async () => {
      await agent?.close()
      await at?.close()
    })
    const said = async (text: string) => (await agent.turn(text)).text

    test('says what the script says', async () => {
      assert.equal(await said('[[say hello]]'), 'hello')
    })

    test('echoes a text without a directive, without what the agent puts around it', async () => {
      assert.equal(await said('good morning'), 'echo: good morning')
    })

    test('streams dripped words one by one, after a thought', async () => {
      const told = await agent.turn('[[think deep thought]] [[drip 5 20]]')
      assert.deepEqual(told.pieces, ['w1', ' w2', ' w3', ' w4', ' w5'])
      assert.equal(told.thought, expected.thought)
    })

    test('streams a burst completely', async () => {
      assert.equal(await said('[[burst 300 10]]'), 'x'.repeat(3000))
    })

    test('runs a shell command once it is allowed', async () => {
      const told = await agent.turn('[[shell touch made.txt && echo hi]]')
      assert.match(told.text, /^tool said: [^]*\bhi\b/)
      assert.equal(told.asked.length, 1)
      assert.ok(existsSync(join(agent.cwd, 'made.txt')))
    })

    test('writes and edits a file in its directory', async () => {
      const read = () => readFileSync(join(agent.cwd, 'notes.txt'), 'utf8').trimEnd()
      assert.equal((await agent.turn('[[write notes.txt old]]')).asked.length, 1)
      assert.equal(read(), 'old')
      await agent.turn('[[edit notes.txt old new]]')
      assert.equal(read(), 'new')
    })

    test('refuses a path outside its directory', async () => {
      assert.match(
        await said('[[write ../outside.txt text]]'),
        /^refused: write: \.\.\/outside\.txt is not inside/,
      )
    })

    test('asks a question if it has a tool for that', async () => {
      assert.match(await said('[[ask Shall we?]]'), expected.ask)
    })

    test('recalls what an earlier turn was to remember', async () => {
      await agent.turn('[[remember marzipan]] [[say noted]]')
      assert.equal(await said('[[recall]]'), 'recall: marzipan')
    })

    test('sees the system prompt', async () => {
      assert.equal(await said('[[system]]'), 'system: zebra')
    })

    test('sees an attached picture', async () => {
      const told = await agent.turn('[[attachments]]', { mediaType: 'image/png', data: PIXEL })
      assert.equal(told.text, `attachments: 1 image/png/${Buffer.from(PIXEL, 'base64').length}`)
    })

    test('goes on after an interrupt of a model that never answers', async () => {
      const requested = at.model.next()
      const turn = agent.turn('[[hang]]')
      await requested
      await agent.interrupt()
      assert.equal((await turn).interrupted, true)
      assert.equal(await said('still there?'), 'echo: still there?')
    })

    test('reports the failure of the model, and goes on', async () => {
      assert.match((await agent.turn('[[fail 500]]')).failure ?? 'none', expected.failure)
      assert.equal(await said('and now?'), 'echo: and now?')
    })
  })
}
