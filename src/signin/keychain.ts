import { createHash } from 'node:crypto'
import { run } from './run.ts'

/** The operating system's own store of secrets. Whatever it refuses is thrown, in words without the secret. */
export interface Keychain {
  read(name: string): Promise<string | null>
  write(name: string, value: string): Promise<void>
  remove(name: string): Promise<void>
}

export interface KeychainOptions {
  platform: NodeJS.Platform
  env: NodeJS.ProcessEnv
  /** Corral's data directory: two of them have secrets of their own. */
  home: string
}

/** Null: this system has none that we know. Whether one answers is found out by asking it. */
export function keychainOf({ platform, env, home }: KeychainOptions): Keychain | null {
  const service = `corral-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`
  if (platform === 'linux') return secretService(service, env)
  if (platform === 'darwin') return appleKeychain(service, env)
  return null
}

/** libsecret's `secret-tool`: GNOME Keyring, KWallet, KeePassXC. It takes the secret from stdin. */
function secretService(service: string, env: NodeJS.ProcessEnv): Keychain {
  const tool = (args: string[], input = '') => run('secret-tool', args, { input, env })
  const attributes = (name: string): string[] => ['service', service, 'account', name]
  return {
    async read(name) {
      const { code, stdout, stderr } = await tool(['lookup', ...attributes(name)])
      if (code === 0) return stdout
      // What is not there is no error to it: it says nothing.
      if (stderr.trim() === '') return null
      throw refused('secret-tool', code)
    },
    async write(name, value) {
      const { code } = await tool(['store', `--label=Corral: ${name}`, ...attributes(name)], value)
      if (code !== 0) throw refused('secret-tool', code)
    },
    async remove(name) {
      const { code, stderr } = await tool(['clear', ...attributes(name)])
      if (code !== 0 && stderr.trim() !== '') throw refused('secret-tool', code)
    },
  }
}

const NOT_FOUND = 44
/** Its command lines may have 4096 bytes. */
const PIECE = 3000

/**
 * `security -i` takes whole commands from stdin, so that the secret is in nobody's list of processes. A long one is kept in
 * pieces: `name` has the first and says how many there are, `name.1` is the next.
 */
function appleKeychain(service: string, env: NodeJS.ProcessEnv): Keychain {
  const item = (account: string): string[] => ['-a', account, '-s', service]
  const account = (name: string, index: number): string => (index === 0 ? name : `${name}.${index}`)

  async function read(name: string): Promise<string | null> {
    const args = ['find-generic-password', ...item(name), '-w']
    const { code, stdout } = await run('security', args, { input: '', env })
    if (code === NOT_FOUND) return null
    if (code !== 0) throw refused('security', code)
    return stdout.trim()
  }

  async function remove(name: string): Promise<boolean> {
    const { code } = await run('security', ['delete-generic-password', ...item(name)], { input: '', env })
    if (code !== 0 && code !== NOT_FOUND) throw refused('security', code)
    return code === 0
  }

  async function removeFrom(name: string, index: number): Promise<void> {
    for (let at = index; await remove(account(name, at)); at++);
  }

  return {
    async read(name) {
      const [, count, first] = /^(\d+)\.(.*)$/.exec((await read(name)) ?? '') ?? []
      if (first === undefined) return null
      const pieces = [first]
      for (let at = 1; at < Number(count); at++) pieces.push((await read(account(name, at))) ?? '')
      return Buffer.from(pieces.join(''), 'base64url').toString('utf8')
    },
    async write(name, value) {
      const pieces = Buffer.from(value)
        .toString('base64url')
        .match(new RegExp(`.{1,${PIECE}}`, 'g')) ?? ['']
      const lines = pieces.map((piece, at) => {
        const text = at === 0 ? `${pieces.length}.${piece}` : piece
        return ['add-generic-password', '-U', ...item(account(name, at)), '-w', text].join(' ')
      })
      // The first piece is written last: until then the old secret counts.
      const input = `${lines.toReversed().join('\n')}\n`
      const { code } = await run('security', ['-i'], { input, env })
      if (code !== 0) throw refused('security', code)
      await removeFrom(name, pieces.length)
    },
    remove: (name) => removeFrom(name, 0),
  }
}

function refused(program: string, code: number | null): Error {
  return new Error(`${program} could not do it (${code === null ? 'it took too long' : `status ${code}`})`)
}
