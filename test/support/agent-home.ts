import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startScriptedModel, type ScriptedModel } from './model/server.ts'

/** An environment for a real agent: a home of its own, and a scripted model on loopback. */
export interface AgentHome {
  env: NodeJS.ProcessEnv
  model: ScriptedModel
  /** An empty directory to work in. */
  work: string
  close(): Promise<void>
}

/** Nothing of the environment at hand gets in. A model that is shared stays open at the end. */
export async function agentHome(name: string, shared?: ScriptedModel): Promise<AgentHome & { home: string }> {
  const model = shared ?? (await startScriptedModel())
  const root = realpathSync(mkdtempSync(join(tmpdir(), `corral-${name}-`)))
  const [home, tmp, work] = ['home', 'tmp', 'work'].map((one) => join(root, one)) as [string, string, string]
  for (const path of [home, tmp, work]) mkdirSync(path)
  return {
    home,
    work,
    model,
    env: {
      HOME: home,
      TMPDIR: tmp,
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
    },
    async close() {
      if (!shared) await model.close()
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** A path among the pinned real agents. */
export function pinned(path: string): string {
  return join(import.meta.dirname, `../real/cli/node_modules/${path}`)
}

/** Why tests with this program cannot run here, or false. Where everything has to be there, they run and fail instead. */
export function absence(program: string, name: string): string | false {
  if (existsSync(program) || process.env['CI']) return false
  return `the real ${name} is not installed: npm run agents:install`
}
