import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { absence, agentHome, type AgentHome, pinned } from './agent-home.ts'
import type { ScriptedModel } from './model/server.ts'

/** The pinned real binary, if `npm run agents:install` has been run. */
export const OPENCODE = pinned(`opencode-${process.platform}-${process.arch}/bin/opencode`)

export const opencodeAbsent = absence(OPENCODE, 'opencode')

/** Environment for a daemon (or an opencode) that talks to a scripted model on loopback and to nobody else. */
export async function scriptedOpencode(shared?: ScriptedModel): Promise<AgentHome> {
  const agent = await agentHome('opencode', shared)
  const [config, data, cache, state] = ['config', 'data', 'cache', 'state'].map((one) =>
    join(agent.home, one),
  )
  const own = join(config!, 'opencode')
  // It finds its plugin package installed here, and so does not ask the registry for it.
  mkdirSync(join(own, 'node_modules'), { recursive: true })
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }
  writeFileSync(join(own, 'package-lock.json'), JSON.stringify(lock))
  writeFileSync(join(own, 'opencode.json'), JSON.stringify(configFor(agent.model.url)))
  return {
    ...agent,
    env: {
      ...agent.env,
      XDG_CONFIG_HOME: config,
      XDG_DATA_HOME: data,
      XDG_CACHE_HOME: cache,
      XDG_STATE_HOME: state,
      CORRAL_OPENCODE_BIN: OPENCODE,
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
    },
  }
}

function configFor(modelUrl: string) {
  const model = {
    tool_call: true,
    reasoning: true,
    attachment: true,
    modalities: { input: ['text', 'image'], output: ['text'] },
    limit: { context: 100_000, output: 8000 },
    cost: { input: 1, output: 2 },
  }
  const options = { baseURL: `${modelUrl}/v1`, apiKey: 'sk-test' }
  return {
    provider: {
      scripted: { npm: '@ai-sdk/openai-compatible', options, models: { scripted: model, other: model } },
    },
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    enabled_providers: ['scripted'],
    autoupdate: false,
    share: 'disabled',
  }
}
