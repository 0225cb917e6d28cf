import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { aboutOf } from '../../../src/core/about.ts'
import type { Mode } from '../../../src/core/mode.ts'
import { NO_RULES, type Rules } from '../../../src/core/rule.ts'
import { MCP_SERVER, RESOURCE } from '../../support/mcp-server.ts'
import type { RealAgent } from './agent.ts'
import { type Answer, call, deciders, type Rig, startRig } from './rig.ts'

/** Agents put their own marks between the names: one with a hyphen shows whether they are told apart. */
const SERVER = 'my-files'
const ALLOW = { behavior: 'allow' } as const
const DENY = { behavior: 'deny', comment: '' } as const

/** Rules hold for the tools of a real MCP server, which the user has told the agent of. */
export function servers({ mcp, driver, absent, home, ...rest }: RealAgent): void {
  describe(`MCP servers of ${driver.title}`, { skip: absent, concurrency: false }, () => {
    let rig: Rig
    let id: string
    const withServer = async () => {
      const at = await home()
      mcp.add(at, SERVER, MCP_SERVER)
      return at
    }
    before(async () => {
      rig = await startRig({ mcp, driver, absent, ...rest, home: withServer })
      id = await rig.session()
    })
    after(() => rig?.close())

    /** What comes of a call of a tool that would write a file. */
    async function attempt(tool: string, mode: Mode, rules: Partial<Rules>, answer?: Answer, sessionId = id) {
      await rig.now.engine.sessions.configure({ sessionId, mode, rules: { ...NO_RULES, ...rules } })
      const path = rig.inside(sessionId, `${tool}.txt`)
      const told = await rig.turn(sessionId, call([mcp.names(SERVER, tool).called, { path }]), answer)
      const done = existsSync(path)
      rmSync(path, { force: true })
      return { told, done, by: deciders(told) }
    }
    const { asked: own } = mcp.names(SERVER, 'write')

    test('a call of a tool waits for a human, as what it is, and happens after a yes only', async () => {
      for (const answer of [DENY, ALLOW]) {
        const { told, done } = await attempt('write', 'ask', {}, answer)
        assert.deepEqual([told.end.type, told.asked.length], ['turn.completed', 1])
        const { approval } = told.asked[0]!
        assert.deepEqual([approval.tool, approval.kind, approval.edits], [own, 'tool', false])
        assert.equal(aboutOf(approval).class, 'mcp')
        assert.equal(done, answer === ALLOW)
      }
    })

    test('a refusal holds where everything is allowed, by the class and by the name', async () => {
      for (const rule of ['mcp', `mcp__${SERVER}__*`, `mcp__${SERVER}__write`, own, '*']) {
        const { by, done } = await attempt('write', 'auto', { deny: [rule] })
        assert.deepEqual([by, done], [['rule'], false], rule)
      }
      for (const rule of ['edit', 'mcp__files__*', `mcp__${SERVER}__look`]) {
        const { by, done } = await attempt('write', 'auto', { deny: [rule] })
        assert.deepEqual([by, done], [['mode:auto'], true], rule)
      }
    })

    test('a permission lets it pass without a question, by the class and by its own name', async () => {
      for (const rule of ['mcp', own]) {
        const { by, done } = await attempt('write', 'ask', { allow: [rule] })
        assert.deepEqual([by, done], [['rule'], true], rule)
      }
      const { by, done } = await attempt('write', 'code', { allow: ['edit', 'other'] }, DENY)
      assert.deepEqual([by, done], [['test'], false])
    })

    test('in `plan` nothing is done', async () => {
      assert.equal((await attempt('write', 'plan', {}, DENY)).done, false)
    })

    test('what is said about its silence is so: tools that only look by their own account, and resources', async () => {
      const { by, done } = await attempt('look', 'ask', { deny: ['mcp'] })
      assert.deepEqual([by, done], mcp.believes ? [[], true] : [['rule'], false])
      assert.equal(/only look/.test(driver.unasked.mcp!.what), mcp.believes)
      const told = await rig.turn(id, call(mcp.reads(SERVER, RESOURCE.uri)))
      assert.deepEqual(told.asked, [])
      assert.match(told.texts.join(), new RegExp(RESOURCE.text))
      assert.match(driver.unasked.mcp!.what, /resources/)
    })

    test('it asks about every tool of a server that the session brings', async () => {
      const mcpConfig = { mcpServers: { [SERVER]: MCP_SERVER } }
      const bringing = await rig.session({ settings: { mcpConfig } })
      const { by, done } = await attempt('look', 'auto', { deny: ['mcp'] }, undefined, bringing)
      assert.deepEqual([by, done], [['rule'], false])
    })
  })
}
