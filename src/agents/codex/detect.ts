import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Detection } from '../agent.ts'
import { findProgram, isExecutable, versionOf } from '../find.ts'

const INSTALL = 'npm install -g @openai/codex, or set CORRAL_CODEX_BIN'

export async function detect(env: NodeJS.ProcessEnv): Promise<Detection> {
  const named = env.CORRAL_CODEX_BIN
  if (named && !(await isExecutable(named))) {
    return missing(`CORRAL_CODEX_BIN names ${named}, which is not a program that can be run`, named)
  }
  const found = named || (await findProgram('codex', env))
  if (!found) return missing(`Codex is not installed: ${INSTALL}`)
  const path = (await nativeBehind(found)) ?? found
  const answer = await versionOf(path, env)
  if (answer.version === null) return missing(`${path} does not run (${answer.problem}): ${INSTALL}`, path)
  return { name: 'codex', installed: true, path, version: answer.version, problem: null }
}

function missing(problem: string, path: string | null = null): Detection {
  return { name: 'codex', installed: false, path, version: null, problem }
}

const ARCHITECTURES: Partial<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }
const SYSTEMS: Partial<Record<string, string>> = { linux: 'unknown-linux-musl', darwin: 'apple-darwin' }

/** What npm puts on the path is a script, which stays as a second process where Node is not the newest. */
async function nativeBehind(path: string): Promise<string | null> {
  const real = await realpath(path)
  const [arch, system] = [ARCHITECTURES[process.arch], SYSTEMS[process.platform]]
  if (!real.endsWith('.js') || !arch || !system) return null
  const wrapper = resolve(real, '../..')
  const native = join(
    `codex-${process.platform}-${process.arch}`,
    'vendor',
    `${arch}-${system}`,
    'bin',
    'codex',
  )
  const places = [
    join(resolve(wrapper, '..'), native),
    join(wrapper, 'node_modules', '@openai', native),
    join(wrapper, 'vendor', `${arch}-${system}`, 'bin', 'codex'),
  ]
  for (const place of places) if (await isExecutable(place)) return place
  return null
}
