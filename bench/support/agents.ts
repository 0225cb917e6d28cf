import { join } from 'node:path'
import { DRIVERS } from '../../src/agents/drivers.ts'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { agentHome, type AgentHome } from '../../test/support/agent-home.ts'
import { CLAUDE, claudeAbsent, claudeEnv } from '../../test/support/claude-env.ts'
import { CODEX, codexAbsent, scriptedCodex } from '../../test/support/codex-env.ts'
import { GEMINI, geminiAbsent, scriptedGemini } from '../../test/support/gemini-env.ts'
import type { ScriptedModel } from '../../test/support/model/server.ts'
import { OPENCODE, opencodeAbsent, scriptedOpencode } from '../../test/support/opencode-env.ts'
import { startProgram } from './server.ts'
import type { Workshop } from './workshop.ts'

const MODEL = join(import.meta.dirname, '../../test/support/model/main.ts')

/** A real agent of the pinned version. */
export interface RealAgent {
  readonly name: string
  readonly title: string
  /** Why it cannot be measured here. */
  readonly absent: string | false
  readonly path: string
  readonly driver: AgentDriver
  /** An environment of its own, in which it talks to the scripted model and to nobody else. */
  home(model: ScriptedModel): Promise<AgentHome>
}

export const REAL_AGENTS: readonly RealAgent[] = [
  real('claude', CLAUDE, claudeAbsent, async (model) => {
    const home = await agentHome('claude', model)
    return { ...home, env: { ...home.env, ...claudeEnv(model.url) } }
  }),
  real('codex', CODEX, codexAbsent, scriptedCodex),
  real('gemini', GEMINI, geminiAbsent, scriptedGemini),
  real('opencode', OPENCODE, opencodeAbsent, scriptedOpencode),
]

function real(name: string, path: string, absent: string | false, home: RealAgent['home']): RealAgent {
  const driver = DRIVERS.find((one) => one.name === name)!
  return { name, title: driver.title, absent, path, driver, home }
}

/** In a process of its own, so that its work is not done by the one that measures. */
export async function startModel(shop: Workshop): Promise<ScriptedModel> {
  const { server, line } = await startProgram(shop, [MODEL])
  const elsewhere = (): never => {
    throw new Error('what the model is asked is known to its own process only')
  }
  return { url: line, requests: [], headers: {}, troubles: [], next: elsewhere, close: () => server.stop() }
}
