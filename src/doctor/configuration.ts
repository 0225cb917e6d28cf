import { existsSync } from 'node:fs'
import { type Config, ConfigError, loadConfig, type LoadOptions } from '../config/config.ts'
import { pathsOf } from '../config/paths.ts'
import { SETTINGS } from '../config/schema.ts'
import { type Check, checksOf } from './check.ts'

export interface Configuration {
  path: string
  file: boolean
  config: Config | null
  /** Why it cannot be used. */
  problem: string | null
  /** Variables that look like ours and are not. */
  strangers: string[]
  socket: string
}

/** Beside the settings. */
const VARIABLES = [
  'HOME',
  'SOCKET',
  'SESSION_ID',
  'RUN',
  'DEBUG',
  'DEMO_STATE',
  'DEMO_FAULT',
  ...['CLAUDE', 'CODEX', 'GEMINI', 'OPENCODE'].map((agent) => `${agent}_BIN`),
].map((name) => `CORRAL_${name}`)

export async function lookAtConfiguration(
  options: LoadOptions,
  place: { home: string; socket: string },
): Promise<Configuration> {
  const known = new Set([...VARIABLES, ...SETTINGS.map(({ env }) => env)])
  const path = pathsOf(place.home).config
  const about = {
    path,
    file: existsSync(path),
    strangers: Object.keys(options.env).filter((name) => name.startsWith('CORRAL_') && !known.has(name)),
    socket: place.socket,
  }
  try {
    return { ...about, config: await loadConfig(options), problem: null }
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    return { ...about, config: null, problem: thrown.message }
  }
}

const { ok, warn, error } = checksOf('configuration')
const MAX_SOCKET = 107

export function judgeConfiguration({
  path,
  file,
  problem,
  config,
  strangers,
  socket,
}: Configuration): Check[] {
  const own = Object.keys(config?.customAgents ?? {})
  const agents = own.length === 0 ? '' : `, with agents of your own: ${own.join(', ')}`
  return [
    problem !== null
      ? error('config', problem, 'correct it or take it out: Corral does not start like this')
      : ok('config', file ? `${path} is fine${agents}` : `no ${path}; everything is as it comes`),
    ...strangers.map((name) =>
      warn(
        'environment',
        `${name} is not a setting of Corral's`,
        'unset it, or look for its right name in docs/configuration.md',
      ),
    ),
    ...(Buffer.byteLength(socket) > MAX_SOCKET
      ? [error('socket', `the path ${socket} is too long for a socket`, 'set CORRAL_SOCKET to a shorter one')]
      : []),
  ]
}
