import { CorralError } from '../core/error.ts'
import { oneByOne } from '../core/one-by-one.ts'
import type { Kept, SecretPlace } from '../core/signin.ts'
import type { Keychain } from './keychain.ts'
import { openVault, type Entry } from './vault.ts'

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

  async function keep(name: string, value: string, about: Record<string, unknown>): Promise<Kept> {
    const kept = useKeychain
      ? await intoKeychain(keychain, name, value)
      : { place: 'file' as const, why: null }
    if (keychain && kept.why !== null)
      notice(`${kept.why}; ${name} is in ${path} instead, for its owner only`)
    known.delete(name)
    if (kept.place === 'file') {
      const left = await isLeftIn(keychain, name, vault.get(name))
      vault.put(name, { place: 'file', value, about, ...(left && { left }) })
    } else {
      vault.put(name, { place: 'keychain', about })
      known.set(name, Promise.resolve(value))
    }
    return kept
  }

  function readOnce(name: string): Promise<string | null> {
    const value =
      known.get(name) ??
      fromKeychain(keychain, name).catch((error: unknown) => {
        known.delete(name)
        throw error
      })
    known.set(name, value)
    return value
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
      return entry?.place === 'keychain' ? readOnce(name) : Promise.resolve(entry?.value ?? null)
    },
    set: (name, value, about = {}) => inTurn(() => keep(name, value, about)),
    remove: (name) =>
      inTurn(async () => {
        const entry = vault.get(name)
        if (!entry) return false
        if (entry.place === 'keychain' || entry.left) await removeFrom(keychain, name)
        known.delete(name)
        vault.drop(name)
        return true
      }),
  }
}

/** What cannot be kept there goes into the file; `why` says so. */
async function intoKeychain(keychain: Keychain | null, name: string, value: string): Promise<Kept> {
  if (!keychain) return { place: 'file', why: 'this system has no keychain that Corral knows' }
  try {
    await keychain.write(name, value)
    if ((await keychain.read(name)) === value) return { place: 'keychain', why: null }
    await keychain.remove(name)
    throw new Error('what was written could not be read again')
  } catch (error) {
    return { place: 'file', why: `the keychain cannot be used: ${(error as Error).message}` }
  }
}

async function fromKeychain(keychain: Keychain | null, name: string): Promise<string | null> {
  try {
    if (!keychain) throw new Error('this system has none that Corral knows')
    return await keychain.read(name)
  } catch (error) {
    throw new CorralError('storage', `The keychain does not give out ${name}: ${(error as Error).message}`)
  }
}

/** Whether the keychain still has an older one, now that the file has it. */
async function isLeftIn(keychain: Keychain | null, name: string, entry: Entry | null): Promise<boolean> {
  if (entry?.place !== 'keychain' && !entry?.left) return false
  return removeFrom(keychain, name).then(
    () => false,
    () => true,
  )
}

async function removeFrom(keychain: Keychain | null, name: string): Promise<void> {
  try {
    await keychain?.remove(name)
  } catch (error) {
    const reason = (error as Error).message
    throw new CorralError('storage', `The keychain does not let go of ${name}: ${reason}`)
  }
}
