import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'

export interface HumanLayerSettings {
  socket: string
  /** The socket's directory is HumanLayer's own: others have no business in it. */
  privateDirectory: boolean
  /** What `health` reports instead of Corral's version. */
  version: string | null
  /** What was wrong with the configuration and is not used. */
  warnings: string[]
}

export interface SettingsSources {
  env: NodeJS.ProcessEnv
  home: string
  cwd: string
  /** From Corral's own configuration: wins over everything. */
  socket: string | null
}

const FILE = 'humanlayer.json'
const path = z.string().min(1).nullish()
/** HumanLayer's daemon reads the one key and its command line the other: whoever set either means the same socket. */
const fileSchema = z.looseObject({ daemon_socket: path, socket_path: path })

/** HumanLayer's own places and names, so that its clients find this daemon where they look for theirs. */
export function readHumanLayerSettings(sources: SettingsSources): HumanLayerSettings {
  const { env, home, cwd } = sources
  const warnings: string[] = []
  const ownDirectory = join(home, '.humanlayer')
  const chosen =
    sources.socket ||
    env['HUMANLAYER_DAEMON_SOCKET'] ||
    fromFiles(sources, warnings) ||
    join(ownDirectory, 'daemon.sock')
  const socket = resolve(cwd, expandTilde(chosen, home))
  return {
    socket,
    privateDirectory: dirname(socket) === ownDirectory,
    version: env['HUMANLAYER_DAEMON_VERSION_OVERRIDE'] || null,
    warnings,
  }
}

function fromFiles({ env, home, cwd }: SettingsSources, warnings: string[]): string | null {
  const xdg = env['XDG_CONFIG_HOME']
  const directories = [cwd, ...(xdg ? [join(xdg, 'humanlayer')] : []), join(home, '.config', 'humanlayer')]
  for (const directory of directories) {
    const found = socketIn(join(directory, FILE), warnings)
    if (found) return found
  }
  return null
}

function socketIn(file: string, warnings: string[]): string | null {
  if (!existsSync(file)) return null
  try {
    const content = fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    return content.daemon_socket ?? content.socket_path ?? null
  } catch {
    warnings.push(`${file} cannot be used and is ignored`)
    return null
  }
}

function expandTilde(given: string, home: string): string {
  return given === '~' || given.startsWith('~/') ? join(home, given.slice(1)) : given
}
