import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { absence, agentHome, type AgentHome, pinned } from './agent-home.ts'
import type { ScriptedModel } from './model/server.ts'

const ARCH = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const SYSTEM = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-musl'

/** The pinned real binary, if `npm run agents:install` has been run. */
export const CODEX = pinned(
  `@openai/codex-${process.platform}-${process.arch}/vendor/${ARCH}-${SYSTEM}/bin/codex`,
)

export const codexAbsent = absence(CODEX, 'codex')

/** Environment for a daemon (or a codex) that talks to a scripted model on loopback and to nobody else. */
export async function scriptedCodex(shared?: ScriptedModel): Promise<AgentHome> {
  const agent = await agentHome('codex', shared)
  const codexHome = join(agent.home, '.codex')
  mkdirSync(codexHome)
  writeFileSync(join(codexHome, 'config.toml'), configFor(agent.model.url))
  const env = { ...agent.env, CODEX_HOME: codexHome, CORRAL_CODEX_BIN: CODEX, OPENAI_API_KEY: 'sk-test' }
  return { ...agent, env }
}

/** The model has to be one that codex knows: with another name it warns in every turn and has no apply_patch. */
function configFor(modelUrl: string): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1

[features]
plugins = false
apps = false

[analytics]
enabled = false

[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
`
}
