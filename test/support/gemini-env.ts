import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { absence, agentHome, type AgentHome, pinned } from './agent-home.ts'
import type { ScriptedModel } from './model/server.ts'

/** The pinned real program, if `npm run agents:install` has been run. It needs a `node` on the PATH. */
export const GEMINI = pinned('@google/gemini-cli/bundle/gemini.js')

export const geminiAbsent = absence(GEMINI, 'gemini')

/** Environment for a daemon (or a gemini) that talks to a scripted model on loopback and to nobody else. */
export async function scriptedGemini(shared?: ScriptedModel): Promise<AgentHome> {
  const agent = await agentHome('gemini', shared)
  mkdirSync(join(agent.home, '.gemini'))
  writeFileSync(join(agent.home, '.gemini/settings.json'), JSON.stringify(SETTINGS))
  return {
    ...agent,
    env: {
      ...agent.env,
      CORRAL_GEMINI_BIN: GEMINI,
      GEMINI_API_KEY: 'sk-test',
      GOOGLE_GEMINI_BASE_URL: agent.model.url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: '1',
    },
  }
}

/** With a base URL set gemini picks a way to log in that it then refuses; with no model set it asks one which to use. */
const SETTINGS = {
  // What a burst says looks like a model that goes round in circles.
  model: { name: 'gemini-2.5-pro', disableLoopDetection: true },
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: {
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    maxAttempts: 2,
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  tools: { shell: { enableInteractiveShell: false } },
}
