import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'

export interface CodecastSettings {
  port: number
  bind: string
  tokensFile: string
  tlsCert: string
  tlsKey: string
  /** What was wrong with the configuration and is not used. */
  warnings: string[]
}

const DEFAULT_PORT = 9100
const DEFAULT_BIND = '127.0.0.1'

const port = z.coerce.number().int().min(0).max(65_535)
const text = z.string().min(1)

/** Codecast's own places and names, so that an existing set-up goes on working: `daemon.yaml`, then the environment. */
export async function readCodecastSettings(env: NodeJS.ProcessEnv, home: string): Promise<CodecastSettings> {
  const dir = join(home, '.codecast')
  const warnings: string[] = []
  const file = await readSettingsFile(join(dir, 'daemon.yaml'), warnings)

  function first<T>(schema: z.ZodType<T>, sources: [name: string, value: unknown][], fallback: T): T {
    for (const [name, value] of sources) {
      if (value === undefined || value === null || value === '') continue
      const result = schema.safeParse(value)
      if (result.success) return result.data
      warnings.push(`${name} is not valid and is ignored`)
    }
    return fallback
  }

  function path(name: string, fallback: string): string {
    const given = first(text, [[`${name} in daemon.yaml`, file[name]]], join(dir, fallback))
    return given === '~' || given.startsWith('~/') ? join(home, given.slice(1)) : resolve(dir, given)
  }

  return {
    port: first(
      port,
      [
        ['CORRAL_CODECAST_PORT', env['CORRAL_CODECAST_PORT']],
        ['DAEMON_PORT', env['DAEMON_PORT']],
        ['port in daemon.yaml', file['port']],
      ],
      DEFAULT_PORT,
    ),
    bind: first(
      text,
      [
        ['CORRAL_CODECAST_BIND', env['CORRAL_CODECAST_BIND']],
        ['DAEMON_BIND', env['DAEMON_BIND']],
        ['bind in daemon.yaml', file['bind']],
      ],
      DEFAULT_BIND,
    ),
    tokensFile: path('tokens_file', 'tokens.yaml'),
    tlsCert: path('tls_cert', 'tls-cert.pem'),
    tlsKey: path('tls_key', 'tls-key.pem'),
    warnings,
  }
}

async function readSettingsFile(path: string, warnings: string[]): Promise<Record<string, unknown>> {
  if (!existsSync(path)) return {}
  try {
    const { parse } = await import('yaml') // only who has such a file pays for reading it
    const content: unknown = parse(readFileSync(path, 'utf8'))
    if (content === null) return {}
    return z.record(z.string(), z.unknown()).parse(content)
  } catch {
    warnings.push(`${path} cannot be read and is ignored`)
    return {}
  }
}
