import { createHash } from 'node:crypto'
import { PATIENCE_MS, run } from './run.ts'

/** The operating system's own store of secrets. Whatever it refuses is thrown, in words without the secret. */
export interface Keychain {
  read(name: string): Promise<string | null>
  write(name: string, value: string): Promise<void>
  remove(name: string): Promise<void>
}

/** A keychain's items: short texts of letters, digits and dashes. */
interface Items {
  read(account: string): Promise<string | null>
  write(account: string, text: string): Promise<void>
  /** False: there was none. */
  remove(account: string): Promise<boolean>
}

export interface KeychainOptions {
  platform: NodeJS.Platform
  env: NodeJS.ProcessEnv
  /** Corral's data directory: two of them have secrets of their own. */
  home: string
  /** How long it may take to answer. */
  patienceMs?: number
}

/** Null: this system has none that we know. Whether one answers is found out by asking it. */
export function keychainOf(options: KeychainOptions): Keychain | null {
  const { platform, env, home, patienceMs = PATIENCE_MS } = options
  const service = `corral-${createHash('sha256').update(home).digest('hex').slice(0, 12)}`
  const ask: Ask = (command, args, input) => run(command, args, { input, env, patienceMs })
  if (platform === 'linux') return inPieces(secretService(service, ask))
  if (platform === 'darwin') return inPieces(appleKeychain(service, ask))
  return null
}

type Ask = (command: string, args: string[], input: string) => ReturnType<typeof run>

/** `security` reads command lines of 4096 bytes, and `secret-tool` does not take just any length either. */
const PIECE = 3000

/** A secret may be longer than an item: `name` has the first piece and says how many there are, `name.1` is the next. */
function inPieces(items: Items): Keychain {
  const account = (name: string, index: number): string => (index === 0 ? name : `${name}.${index}`)

  async function removeFrom(name: string, index: number): Promise<void> {
    for (let at = index; await items.remove(account(name, at)); at++);
  }

  return {
    async read(name) {
      const [, count, first] = /^(\d+)-(.*)$/.exec((await items.read(name)) ?? '') ?? []
      if (first === undefined) return null
      const pieces = [first]
      for (let at = 1; at < Number(count); at++) pieces.push((await items.read(account(name, at))) ?? '')
      return Buffer.from(pieces.join(''), 'base64url').toString('utf8')
    },
    async write(name, value) {
      const pieces = Buffer.from(value)
        .toString('base64url')
        .match(new RegExp(`.{1,${PIECE}}`, 'g')) ?? ['']
      // The first piece comes last: until then the old secret counts.
      for (const [at, piece] of [...pieces.entries()].toReversed()) {
        await items.write(account(name, at), at === 0 ? `${pieces.length}-${piece}` : piece)
      }
      await removeFrom(name, pieces.length)
    },
    remove: (name) => removeFrom(name, 0),
  }
}

/** libsecret's `secret-tool`: GNOME Keyring, KWallet, KeePassXC. What is not there is no error to it: it says nothing. */
function secretService(service: string, ask: Ask): Items {
  const tool = async (args: string[], account: string, input = '') => {
    const attributes = ['service', service, 'account', account]
    const ran = await ask('secret-tool', [...args, ...attributes], input)
    if (ran.code !== 0 && (ran.code === null || ran.stderr.trim() !== ''))
      throw refused('secret-tool', ran.code)
    return ran
  }
  const read = async (account: string): Promise<string | null> => {
    const { code, stdout } = await tool(['lookup'], account)
    return code === 0 ? stdout : null
  }
  return {
    read,
    async write(account, text) {
      const { code } = await tool(['store', `--label=Corral: ${account}`], account, text)
      if (code !== 0) throw refused('secret-tool', code)
    },
    async remove(account) {
      // Some versions say the same whether there was one or not.
      if ((await read(account)) === null) return false
      await tool(['clear'], account)
      return true
    },
  }
}

const NOT_FOUND = 44

/** `security -i` takes whole commands from stdin, so that the secret is in nobody's list of processes. */
function appleKeychain(service: string, ask: Ask): Items {
  const security = async (args: string[], input = '') => {
    const ran = await ask('security', args, input)
    if (ran.code !== 0 && ran.code !== NOT_FOUND) throw refused('security', ran.code)
    return ran
  }
  return {
    async read(account) {
      const { code, stdout } = await security(['find-generic-password', '-a', account, '-s', service, '-w'])
      return code === 0 ? stdout.trim() : null
    },
    async write(account, text) {
      const command = ['add-generic-password', '-U', '-a', account, '-s', service, '-w', text]
      await security(['-i'], `${command.join(' ')}\n`)
    },
    async remove(account) {
      const { code } = await security(['delete-generic-password', '-a', account, '-s', service])
      return code === 0
    },
  }
}

function refused(program: string, code: number | null): Error {
  return new Error(`${program} could not do it (${code === null ? 'it took too long' : `status ${code}`})`)
}
