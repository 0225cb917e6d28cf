import { join, resolve } from 'node:path'

export interface ClawdeSettings {
  host: string
  port: number
  tokenFile: string
  tlsCert: string
  tlsKey: string
}

export interface SettingsSources {
  env: NodeJS.ProcessEnv
  home: string
  platform: NodeJS.Platform
  host: string
  port: number
}

/** ClawDE's own places and names: its clients look for the token there. */
export function clawdeSettings({ env, home, platform, host, port }: SettingsSources): ClawdeSettings {
  const directory = dataDirectory(env, home, platform)
  return {
    host,
    port,
    tokenFile: join(directory, 'auth_token'),
    tlsCert: join(directory, 'tls-cert.pem'),
    tlsKey: join(directory, 'tls-key.pem'),
  }
}

function dataDirectory(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  const chosen = env['CLAWD_DATA_DIR']
  if (chosen) return resolve(home, chosen)
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'clawd')
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'clawd')
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'clawd')
}
