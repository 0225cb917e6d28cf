import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Detection } from '../agent.ts'
import { findProgram, isExecutable, versionOf } from '../find.ts'

const INSTALL = 'npm install -g @anthropic-ai/claude-code, or set CORRAL_CLAUDE_BIN'

export async function detect(env: NodeJS.ProcessEnv): Promise<Detection> {
  const named = env.CORRAL_CLAUDE_BIN
  if (named && !(await isExecutable(named))) {
    return missing(`CORRAL_CLAUDE_BIN names ${named}, which is not a program that can be run`, named)
  }
  const found = named || (await findProgram('claude', env))
  if (!found) return missing(`Claude Code is not installed: ${INSTALL}`)
  const path = (await nativeBeside(found)) ?? found
  const answer = await versionOf(path, env)
  if (answer.version === null) return missing(`${path} does not run (${answer.problem}): ${INSTALL}`, path)
  return { name: 'claude', installed: true, path, version: answer.version, problem: null }
}

function missing(problem: string, path: string | null = null): Detection {
  return { name: 'claude', installed: false, path, version: null, problem }
}

const STUB_BYTES = 64 * 1024

/**
 * npm installs the program as a package per platform and lets a script put it in place of a stub. Where scripts are
 * off the stub stays, and the program itself is in the package beside it.
 */
async function nativeBeside(path: string): Promise<string | null> {
  const real = await realpath(path)
  if ((await stat(real)).size > STUB_BYTES) return null
  const wrapper = resolve(real, '../..')
  const platform = `claude-code-${process.platform}-${process.arch}`
  const program = process.platform === 'win32' ? 'claude.exe' : 'claude'
  for (const scope of [resolve(wrapper, '..'), join(wrapper, 'node_modules', '@anthropic-ai')]) {
    for (const name of [platform, `${platform}-musl`]) {
      const native = join(scope, name, program)
      if (await isExecutable(native)) return native
    }
  }
  return null
}
