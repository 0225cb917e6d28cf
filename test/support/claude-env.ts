import { absence, agentHome, type AgentHome, pinned } from './agent-home.ts'
import { startScriptedModel, type ScriptedModel } from './model/server.ts'

/** The pinned real binary, if `npm run agents:install` has been run. */
export const CLAUDE = pinned(`@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`)

export const claudeAbsent = absence(CLAUDE, 'claude')

/** Environment for a daemon (or a claude) that talks to a scripted model on loopback and to nobody else. */
export async function scriptedClaude(): Promise<{
  env: NodeJS.ProcessEnv
  model: ScriptedModel
  close(): Promise<void>
}> {
  const model = await startScriptedModel()
  return { model, env: claudeEnv(model.url), close: () => model.close() }
}

/** The same, with a home of its own. */
export async function claudeHome(): Promise<AgentHome> {
  const agent = await agentHome('claude')
  return { ...agent, env: { ...agent.env, ...claudeEnv(agent.model.url) } }
}

export function claudeEnv(modelUrl: string): Record<string, string> {
  return {
    CORRAL_CLAUDE_BIN: CLAUDE,
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  }
}
