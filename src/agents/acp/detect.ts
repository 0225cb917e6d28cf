import { readFile, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import type { Detection } from '../agent.ts'
import { findProgram, isExecutable, versionOf } from '../find.ts'
import { asObject, asString, parsed } from '../json.ts'

/** A program that comes with a package, or is on the PATH. */
interface Program {
  name: string
  title: string
  /** What it is called on the PATH. */
  command: string
  /** The variable that names it if it is elsewhere. */
  variable: string
  install: string
  /** The packages that it may be part of: their manifest tells the version sooner than the program does. */
  packages: RegExp
  /** The program to run instead of the one that was found. */
  instead?(found: string): Promise<string | null>
}

export async function detectProgram(program: Program, env: NodeJS.ProcessEnv): Promise<Detection> {
  const { name, title, variable, install } = program
  const missing = (problem: string, at: string | null = null): Detection => ({
    name,
    installed: false,
    path: at,
    version: null,
    problem,
  })
  const named = env[variable]
  if (named && !(await isExecutable(named))) {
    return missing(`${variable} names ${named}, which is not a program that can be run`, named)
  }
  const found = named || (await findProgram(program.command, env))
  if (!found) return missing(`${title} is not installed: ${install}, or set ${variable}`)
  const path = (await program.instead?.(found)) ?? found
  const told = await manifestVersion(path, program.packages)
  if (told !== null) return { name, installed: true, path, version: told, problem: null }
  const { version, problem } = await versionOf(path, env)
  if (version === null) return missing(`${path} does not run (${problem}): ${install}`, path)
  return { name, installed: true, path, version, problem: null }
}

const LEVELS = 3

/** The version of the package that a program is part of; null when it is part of none of these. */
async function manifestVersion(path: string, packages: RegExp): Promise<string | null> {
  let directory = await realpath(path)
  for (let level = 0; level < LEVELS; level++) {
    directory = dirname(directory)
    const manifest = await readFile(join(directory, 'package.json'), 'utf8').catch(() => null)
    if (manifest === null) continue
    const { name, version } = asObject(parsed(manifest))
    if (packages.test(asString(name) ?? '')) return asString(version)
  }
  return null
}

/** A command of the user's own: only whether it can be run is known, not what it answers to. */
export async function detectCommand(
  { name, title, command }: { name: string; title: string; command: string },
  env: NodeJS.ProcessEnv,
): Promise<Detection> {
  const path = isAbsolute(command)
    ? (await isExecutable(command))
      ? command
      : null
    : await findProgram(command, env)
  const problem =
    path === null ? `${title} is not installed: ${command} is not a program that can be run` : null
  return { name, installed: path !== null, path, version: null, problem }
}
