import { CorralError } from '../core/error.ts'
import { oneByOne } from '../core/one-by-one.ts'
import type { Kept, SecretPlace } from '../core/signin.ts'
import type { Keychain } from './keychain.ts'
import { openVault } from './vault.ts'

/** Named secrets, in the keychain where one answers, else in a file. What is said about one openly is in the file. */
export interface Secrets {
  /** Those that there are; nothing is opened for it. */
  list(): { name: string; place: SecretPlace; about: Record<string, unknown> }[]
  has(name: string): boolean
  about(name: string): Record<string, unknown>
  annotate(name: string, about: Record<string, unknown>): void
  /** Null: there is none. Throws when the keychain does not give it out. */
  get(name: string): Promise<string | null>
  set(name: string, value: string, about?: Record<string, unknown>): Promise<Kept>
  /** False: there was none. */
  remove(name: string): Promise<boolean>
}

export interface SecretsOptions {
  path: string
  /** Null: this system has none that we know. */
  keychain: Keychain | null
  /** False: nothing new is put into it. */
  useKeychain: boolean
  notice(message: string): void
}

export function openSecrets({ path, keychain, useKeychain, notice }: SecretsOptions): Secrets {
  const vault = openVault(path, notice)
  const inTurn = oneByOne()
  /** Only this process writes: what was read once need not be asked for again. */
  const known = new Map<string, Promise<string | null>>()

  async function intoKeychain(name: string, value: string): Promise<Kept> {
    if (!useKeychain) return { place: 'file', why: null }
    if (!keychain) return { place: 'file', why: 'this system has no keychain that Corral knows' }
    try {
      await keychain.write(name, value)
      if ((await keychain.read(name)) === value) return { place: 'keychain', why: null }
      await keychain.remove(name)
      throw new Error('what was written could not be read again')
    } catch (error) {
      const problem = `the keychain cannot be used: ${(error as Error).message}`
      notice(`${problem}; ${name} is in ${path} instead, for its owner only`)
      return { place: 'file', why: problem }
    }
  }

  async function fromKeychain(name: string): Promise<string | null> {
    try {
      if (!keychain) throw new Error('this system has none that Corral knows')
      return await keychain.read(name)
    } catch (error) {
      known.delete(name)
      throw new CorralError('storage', `The keychain does not give out ${name}: ${(error as Error).message}`)
    }
  }

  return {
    list: () => vault.all().map(([name, { place, about }]) => ({ name, place, about })),
    has: (name) => vault.get(name) !== null,
    about: (name) => vault.get(name)?.about ?? {},
    annotate(name, about) {
      const entry = vault.get(name)
      if (entry) vault.put(name, { ...entry, about })
    },
    get(name) {
      const entry = vault.get(name)
      if (!entry || entry.place === 'file') return Promise.resolve(entry?.value ?? null)
      const value = known.get(name) ?? fromKeychain(name)
      known.set(name, value)
      return value
    },
    set: (name, value, about = {}) =>
      inTurn(async () => {
        const kept = await intoKeychain(name, value)
        known.delete(name)
        if (kept.place === 'file') {
          vault.put(name, { place: 'file', value, about, ...((await isLeft(name)) && { left: true }) })
        } else {
          vault.put(name, { place: 'keychain', about })
          known.set(name, Promise.resolve(value))
        }
        return kept
      }),
    remove: (name) =>
      inTurn(async () => {
        const entry = vault.get(name)
        if (!entry) return false
        if (entry.place === 'keychain' || entry.left) await removeFromKeychain(name)
        known.delete(name)
        vault.drop(name)
        return true
      }),
  }

  /** Whether the keychain still has an older one, now that the file has it. */
  async function isLeft(name: string): Promise<boolean> {
    const entry = vault.get(name)
    if (entry?.place !== 'keychain' && !entry?.left) return false
    return removeFromKeychain(name).then(
      () => false,
      () => true,
    )
  }

  async function removeFromKeychain(name: string): Promise<void> {
    try {
      await keychain?.remove(name)
    } catch (error) {
      const reason = (error as Error).message
      throw new CorralError('storage', `The keychain does not let go of ${name}: ${reason}`)
    }
  }
}
