import { join, resolve } from 'node:path'

export interface ClawdeSettings {
  host: string
  port: number
  tokenFile: string
  tlsCert: string
  tlsKey: string
  /** New connections from one address in a minute; 0: any number. */
  connectionsPerMinute: number
  /** Callers on this machine are counted, too. */
  limitLoopback: boolean
  /** Of one connection; 0: any number. */
  requestsPerSecond: number
  /** Null: any number. */
  maxSessions: number | null
}

export type ClawdeLimits = Pick<
  ClawdeSettings,
  'connectionsPerMinute' | 'limitLoopback' | 'requestsPerSecond' | 'maxSessions'
>

export interface SettingsSources extends ClawdeLimits {
  env: NodeJS.ProcessEnv
  home: string
  platform: NodeJS.Platform
  host: string
  port: number
}

/** ClawDE's own places and names: its clients look for the token there. */
export function clawdeSettings(sources: SettingsSources): ClawdeSettings {
  const { env, home, platform, host, port } = sources
  const { connectionsPerMinute, limitLoopback, requestsPerSecond, maxSessions } = sources
  const directory = dataDirectory(env, home, platform)
  return {
    host,
    port,
    tokenFile: join(directory, 'auth_token'),
    tlsCert: join(directory, 'tls-cert.pem'),
    tlsKey: join(directory, 'tls-key.pem'),
    connectionsPerMinute,
    limitLoopback,
    requestsPerSecond,
    maxSessions,
  }
}

/** Where ClawDE's clients look for the token. */
export function clawdeTokenFile(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  return join(dataDirectory(env, home, platform), 'auth_token')
}

function dataDirectory(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  const chosen = env['CLAWD_DATA_DIR']
  if (chosen) return resolve(home, chosen)
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'clawd')
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'clawd')
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'clawd')
}
