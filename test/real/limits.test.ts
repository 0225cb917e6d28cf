import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startClient, turn, type Client, type Result } from '../dialects/loaf/support.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { claudeAbsent, claudeEnv } from '../support/claude-env.ts'
import { codexAbsent, scriptedCodex } from '../support/codex-env.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { corral } from '../cli/support.ts'

const IN_TWO_HOURS = Math.ceil(Date.now() / 60_000) * 60 + 7200
const IN_TWO_DAYS = IN_TWO_HOURS + 2 * 86_400

/** As OpenAI sends them to Codex. */
const OPENAI = {
  'x-codex-primary-used-percent': '63',
  'x-codex-primary-window-minutes': '300',
  'x-codex-primary-reset-at': String(IN_TWO_HOURS),
  'x-codex-secondary-used-percent': '21',
  'x-codex-secondary-window-minutes': '10080',
  'x-codex-secondary-reset-at': String(IN_TWO_DAYS),
}

/** As Anthropic sends them to whoever has a subscription. */
const ANTHROPIC = {
  'anthropic-ratelimit-unified-status': 'allowed',
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  'anthropic-ratelimit-unified-reset': String(IN_TWO_HOURS),
  'anthropic-ratelimit-unified-5h-status': 'allowed',
  'anthropic-ratelimit-unified-5h-utilization': '0.63',
  'anthropic-ratelimit-unified-5h-reset': String(IN_TWO_HOURS),
  'anthropic-ratelimit-unified-7d-status': 'allowed',
  'anthropic-ratelimit-unified-7d-utilization': '0.21',
  'anthropic-ratelimit-unified-7d-reset': String(IN_TWO_DAYS),
}

const SNAPSHOT = {
  planType: null,
  primary: {
    usedPercent: 63,
    remainingPercent: 37,
    limitWindowSeconds: 18_000,
    resetAtEpochSeconds: IN_TWO_HOURS,
  },
  secondary: {
    usedPercent: 21,
    remainingPercent: 79,
    limitWindowSeconds: 604_800,
    resetAtEpochSeconds: IN_TWO_DAYS,
  },
}

describe(
  'what the real agents tell about accounts and summaries',
  { skip: claudeAbsent || codexAbsent },
  () => {
    let at: AgentHome
    let daemon: TestDaemon
    let client: Client

    before(async () => {
      at = await scriptedCodex()
      // A top-level setting stands before all tables.
      const file = join(at.env['CODEX_HOME']!, 'config.toml')
      writeFileSync(file, `model_auto_compact_token_limit = 1000\n${readFileSync(file, 'utf8')}`)
      const { CODEX_HOME, CORRAL_CODEX_BIN, OPENAI_API_KEY } = at.env
      // Another key than that of an API: a subscription has one, too.
      const { ANTHROPIC_API_KEY: _, ...claude } = claudeEnv(at.model.url)
      const env = {
        ...claude,
        CODEX_HOME,
        CORRAL_CODEX_BIN,
        OPENAI_API_KEY,
        CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-test',
      }
      daemon = await startDaemon({ env: env as Record<string, string> })
      client = startClient(daemon)
    })
    after(async () => {
      await client?.close()
      await daemon?.stop()
      await at?.close()
    })

    async function session(provider: string): Promise<string> {
      await client.call('model.select', { model_id: 'default', provider, thinking_level: 'HIGH' })
      return (await client.call<{ session_id: string }>('session.create')).session_id
    }

    type Told = { ok: boolean; snapshot?: unknown; message?: string }
    const limits = () =>
      client.call<Record<'openai' | 'antigravity' | 'anthropic', Told | null>>('limits.get')

    test('nothing before they have answered anything', async () => {
      const { openai, antigravity, anthropic } = await limits()
      assert.deepEqual([openai?.ok, antigravity, anthropic?.ok], [false, null, false])
      assert.match(
        `${openai?.message} ${anthropic?.message}`,
        /Codex has not told yet .* Claude has not told yet/,
      )
    })

    for (const [provider, agent, headers] of [
      ['openai', 'codex', OPENAI],
      ['anthropic', 'claude', ANTHROPIC],
    ] as const) {
      test(`${agent} tells what its model's answers say, once`, async () => {
        Object.assign(at.model.headers, headers)
        const sessionId = await session(provider)
        await turn(client, sessionId, '[[say one]]')
        assert.deepEqual((await limits())[provider], { ok: true, snapshot: SNAPSHOT })
        await turn(client, sessionId, '[[say two]]')
        const { stdout } = await corral(daemon.env, ['export', '--format', 'json', sessionId])
        assert.equal(stdout.split('"agent.limits"').length - 1, 1)
        const shown = await corral(daemon.env, ['agents', agent])
        assert.match(shown.stdout, new RegExp(`^${agent}: 5 h window 63 % used, resets `, 'm'))
      })

      test(`${agent} sums up when it is told to, and says how much that has left`, async () => {
        const sessionId = await session(provider)
        await turn(client, sessionId, '[[words 400]]')
        const from = client.lines.length
        const { output } = await client.call<{ output: Result }>('command.execute', {
          session_id: sessionId,
          raw_command: '/compress',
        })
        assert.deepEqual([output['compressed'], output['reason']], [true, 'manual'])
        const completed = client.lines
          .slice(from)
          .find(({ params }) => params?.type === 'compaction.completed')
        const { estimated_tokens_before: before, estimated_tokens_after: left } = completed!.params!.payload
        assert.ok(
          Number(before) > 400 && Number(left) > 0 && before !== left,
          `${String(before)} ${String(left)}`,
        )
      })
    }

    test('Codex sums up by itself when it is time', async () => {
      const sessionId = await session('openai')
      await turn(client, sessionId, '[[words 900]]')
      const { lines, turnId } = await turn(client, sessionId, '[[say two]]')
      const told = lines.flatMap(({ params }) => (params?.type.startsWith('compaction.') ? [params] : []))
      assert.deepEqual(
        told.map(({ type, payload }) => [type, payload.reason, payload.turn_id]),
        ['started', 'anchor_selected', 'summary_merged', 'completed'].map((one) => {
          return [`compaction.${one}`, 'auto', turnId]
        }),
      )
    })

    test('Claude says why it could not', async () => {
      const sessionId = await session('anthropic')
      await turn(client, sessionId, '[[say hello]]')
      const { lines } = await turn(client, sessionId, '/compact [[fail 400]]')
      const failed = lines.find(({ params }) => params?.type === 'compaction.failed')
      assert.match(failed!.params!.payload.message, /scripted 400/)
      assert.equal(failed!.params!.payload.reason, 'manual')
    })
  },
)
