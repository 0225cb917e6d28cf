import { join } from 'node:path'
import { asObject, type JsonObject } from '../json.ts'
import { homeIn, isSet, isText, judged, objectIn, textIn, type SignedIn } from '../signed-in.ts'

const LOGIN = 'run `codex login` or `corral login openai`'
const LOGIN_WITH_KEY =
  'run `printenv OPENAI_API_KEY | codex login --with-api-key`: Codex does not use the variable'

export async function signedIn(env: NodeJS.ProcessEnv): Promise<SignedIn> {
  const home = env.CODEX_HOME || join(homeIn(env), '.codex')
  const [auth, config] = await Promise.all([
    objectIn(join(home, 'auth.json')),
    textIn(join(home, 'config.toml')),
  ])
  const hint = isSet(env, 'OPENAI_API_KEY') ? LOGIN_WITH_KEY : LOGIN
  if (config === null) return judged(hint, stored(auth), null)
  const settings = settingsIn(config)
  const provider = settings['model_provider']
  if (provider === undefined || provider === 'openai') {
    // The account may also be in the keyring, or another profile may have its own.
    const elsewhere = settings['cli_auth_credentials_store'] ?? settings['profile']
    return judged(hint, stored(auth), elsewhere === undefined || elsewhere === 'file' ? false : null)
  }
  const { [`model_providers.${provider}.env_key`]: key } = settings
  if (key === undefined) return judged(hint, stored(auth), null)
  return judged(`set ${key}: Codex takes the key of ${provider} from there`, isSet(env, key))
}

/** What else may be in the file is not known here: it may be a way in, too. */
function stored(auth: JsonObject | null): boolean | null {
  if (auth === null) return null
  const { OPENAI_API_KEY: key, tokens, auth_mode: _, last_refresh: __, ...other } = auth
  if (isText(key) || Object.values(asObject(tokens)).some(isText)) return true
  return Object.values(other).some((value) => (value ?? null) !== null) ? null : false
}

/** The texts in a TOML file by their full names; all that is looked for here is written that plainly. */
function settingsIn(toml: string): Partial<Record<string, string>> {
  const found: Partial<Record<string, string>> = {}
  let section = ''
  for (const line of toml.split('\n')) {
    const [, table] = /^\s*\[\s*([^\][]+?)\s*\]/.exec(line) ?? []
    if (table !== undefined) section = `${table.replaceAll(/["']/g, '')}.`
    const [, name, , value] = /^\s*([\w.-]+)\s*=\s*(["'])(.*?)\2/.exec(line) ?? []
    if (name !== undefined) found[section + name] = value
  }
  return found
}
