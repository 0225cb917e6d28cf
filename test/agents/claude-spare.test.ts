import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ANYWHERE } from '../../src/agents/agent.ts'
import { claim, claimable, sparePlan } from '../../src/agents/claude/spare.ts'
import type { Session } from '../../src/core/session.ts'
import { session } from '../support/claude-process.ts'

const DETECTION = { name: 'claude', installed: true, path: '/bin/claude', version: '2.1.325', problem: null }
const ids = () => {
  let n = 0
  return () => `id${++n}`
}
const parse = (lines: string[]) => lines.map((line) => JSON.parse(line) as Record<string, unknown>)

describe('spare', () => {
  test('a spare is parked, and a claim tells it where it belongs', () => {
    const { args, cwd, greeting } = sparePlan(DETECTION, ANYWHERE, '/parking', ids())
    assert.equal(cwd, '/parking')
    assert.deepEqual(args.slice(6), ['--await-claim', '--session-id=id1'])
    assert.deepEqual(parse(greeting)[0]!['request'], { subtype: 'initialize' })
    const lines = parse(
      claim(
        session({
          mode: 'code',
          model: 'haiku',
          settings: { appendSystemPrompt: 'p', customInstructions: 'c' },
        }),
        ANYWHERE,
      ),
    )
    assert.deepEqual(lines, [
      {
        type: 'control_request',
        request_id: 'claim:s1',
        request: {
          subtype: 'claim_session',
          cwd: '/project',
          permission_mode: 'default',
          append_system_prompt: 'p\n\nc',
          include_initialize: false,
          sdk_mcp_servers: [],
        },
      },
      { type: 'control_request', request_id: 'model:s1', request: { subtype: 'set_model', model: 'haiku' } },
    ])
  })

  test('where nobody can answer questions, a spare is one that was started without the tool for them', () => {
    const [unasked, mute] = [session({}), session({ settings: { questions: false } })]
    const kinds = [ANYWHERE, { cwd: '/project', ownTools: true }]
    for (const kind of kinds) {
      const quiet = { ...kind, questions: false }
      assert.ok(!sparePlan(DETECTION, kind, '/parking', ids()).args.some((arg) => /AskUser/.test(arg)))
      assert.ok(
        sparePlan(DETECTION, quiet, '/parking', ids()).args.includes('--disallowedTools=AskUserQuestion'),
      )
      assert.deepEqual([claimable(unasked, kind), claimable(mute, quiet)], [true, true])
      assert.deepEqual([claimable(mute, kind), claimable(unasked, quiet)], [false, false])
    }
  })

  test('only a new conversation without settings of argv can have a spare', () => {
    assert.ok(
      claimable(session({ settings: { appendSystemPrompt: 'p', additionalDirectories: ['/a'] } }), ANYWHERE),
    )
    assert.ok(
      claimable(session({ settings: { customInstructions: 'c', permissionPromptTool: 'stdio' } }), ANYWHERE),
    )
    assert.ok(!claimable(session({ settings: { permissionPromptTool: 'mcp__gate__ask' } }), ANYWHERE))
    assert.ok(!claimable(session({ nativeId: 'n' }), ANYWHERE))
    assert.ok(!claimable(session({ forkFrom: 'n' }), ANYWHERE))
    assert.ok(!claimable(session({ settings: { maxTurns: 1 } }), ANYWHERE))
    assert.ok(!claimable(session({ settings: { systemPrompt: 'p' } }), ANYWHERE))
  })
})

describe('a spare that has been told something', () => {
  const told = { systemPrompt: 'be terse', model: 'sonnet' }
  const kind = { cwd: '/project', ownTools: false, told }
  const fitting = { systemPrompt: 'be terse', ownTools: false, clientTools: [] }

  test('is started with it, and has nothing more to hear', () => {
    const { args, greeting } = sparePlan(DETECTION, kind, '/parking', ids())!
    assert.ok(args.includes('--model=sonnet') && args.includes('--tools='))
    assert.deepEqual(parse(greeting)[0]!.request, { subtype: 'initialize', systemPrompt: ['be terse'] })
    assert.deepEqual(claim(session({ model: 'sonnet', settings: fitting }), kind), [])
    const other = parse(claim(session({ model: 'haiku', settings: fitting }), kind))
    assert.deepEqual(
      other.map(({ request }) => request),
      [{ subtype: 'set_model', model: 'haiku' }],
    )
  })

  test('becomes no session that was to be told something else', () => {
    const fits = (model: string | null, more: Session['settings'] = {}): boolean =>
      claimable(session({ model, settings: { ...fitting, ...more } }), kind)
    const tool = { name: 't', description: '', inputSchema: {} }
    assert.deepEqual([fits('sonnet'), fits('haiku'), fits(null)], [true, true, false])
    assert.ok(!fits('sonnet', { systemPrompt: 'other' }))
    assert.ok(!fits('sonnet', { appendSystemPrompt: 'more' }))
    assert.ok(!fits('sonnet', { clientTools: [tool] }))
    assert.ok(!fits('sonnet', { ownTools: true }))
  })
})
