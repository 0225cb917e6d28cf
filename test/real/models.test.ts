import assert from 'node:assert/strict'
import { globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import OpenAI from 'openai'
import { connect } from '../../src/client/client.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { claudeAbsent, claudeHome } from '../support/claude-env.ts'
import { codexAbsent, scriptedCodex } from '../support/codex-env.ts'
import { startDaemon } from '../support/daemon.ts'
import { geminiAbsent, scriptedGemini } from '../support/gemini-env.ts'
import { askUntil } from '../support/wait.ts'
import { opencodeAbsent, scriptedOpencode } from '../support/opencode-env.ts'

interface Asked {
  agent: string
  absent: string | false
  home: () => Promise<AgentHome>
  /** One of its models. */
  model: RegExp
  /** Where it keeps what was said. */
  records: string
}

const AGENTS: Asked[] = [
  {
    agent: 'claude',
    absent: claudeAbsent,
    home: claudeHome,
    model: /^sonnet/,
    records: '.claude/projects/**/*.jsonl',
  },
  {
    agent: 'codex',
    absent: codexAbsent,
    home: scriptedCodex,
    model: /^gpt-5/,
    records: '.codex/sessions/**/*.jsonl',
  },
  {
    agent: 'opencode',
    absent: opencodeAbsent,
    home: scriptedOpencode,
    model: /^scripted\/scripted$/,
    records: 'data/opencode/opencode.db',
  },
  {
    agent: 'gemini',
    absent: geminiAbsent,
    home: scriptedGemini,
    model: /^gemini-2\.5-pro$/,
    // It begins an empty one, which nobody is shown.
    records: 'none',
  },
]

for (const { agent, absent, home, model, records } of AGENTS) {
  test(`the relay lists the models of a ${agent} that has never run`, { skip: absent }, async (t) => {
    const own = await home()
    t.after(() => own.close())
    const daemon = await startDaemon({ env: { ...own.env, CORRAL_RELAY_AGENT: agent } })
    t.after(() => daemon.stop())
    const client = new OpenAI({ apiKey: 'none', baseURL: `${daemon.listeners['relay']}/v1`, maxRetries: 0 })
    const list = async (): Promise<OpenAI.Model[]> => (await client.models.list()).data
    const [data, again] = await Promise.all([list(), list()])
    assert.deepEqual(again, data)
    // An agent that takes longer to start than a caller waits tells the next one.
    const toldIn = (models: OpenAI.Model[]): OpenAI.Model[] =>
      models.slice(
        0,
        models.findIndex(({ id }) => id === 'claude-sonnet-4-6'),
      )
    const isOne = ({ id }: OpenAI.Model): boolean => model.test(id)
    const told = toldIn(await askUntil(list, (models) => toldIn(models).some(isOne), `a model like ${model}`))
    const one = told.find(isOne)!
    assert.equal((await client.models.retrieve(one.id)).id, one.id)

    const native = await connect(daemon.socket)
    t.after(() => native.close())
    assert.deepEqual((await native.call('session.list', {})).sessions, [])
    assert.deepEqual(
      (await native.call('agents.models', { agent })).models.map(({ id }) => id),
      told.map(({ id }) => id),
    )
    assert.deepEqual(readdirSync(join(daemon.corralHome, 'runs')), [], 'no process')
    assert.deepEqual(globSync(records, { cwd: own.env['HOME']! }), [], 'no conversation')
    assert.equal(own.model.requests.length, 0, 'no model was asked anything')
  })
}
