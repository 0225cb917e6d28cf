import { join } from 'node:path'
import { asObject } from '../json.ts'
import { homeIn, isSet, isText, judged, objectIn, textIn, type SignedIn } from '../signed-in.ts'

const HINT =
  'run `opencode auth login` or `corral login openrouter`; until then only the free models of OpenCode itself answer'

/** The best known of very many. */
const KEYS = [
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'OPENROUTER_API_KEY',
  'OPENCODE_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
]
const CONFIGURED = ['OPENCODE_CONFIG', 'OPENCODE_CONFIG_CONTENT', 'OPENCODE_CONFIG_DIR']

export async function opencodeSignedIn(env: NodeJS.ProcessEnv): Promise<SignedIn> {
  const data = join(env.XDG_DATA_HOME || join(homeIn(env), '.local', 'share'), 'opencode')
  const config = join(env.XDG_CONFIG_HOME || join(homeIn(env), '.config'), 'opencode')
  const accounts = await objectIn(join(data, 'auth.json'))
  const files = ['opencode.json', 'opencode.jsonc', 'config.json'].map((name) => textIn(join(config, name)))
  const configured = (await Promise.all(files)).some(namesProvider)
  const others = Object.keys(env).some((name) => name.endsWith('_API_KEY') && isSet(env, name))
  return judged(
    HINT,
    isSet(env, 'OPENCODE_AUTH_CONTENT', ...KEYS),
    accounts && Object.values(accounts).some(hasSecret),
    configured || others || isSet(env, ...CONFIGURED) ? null : false,
  )
}

/** An account is a kind and, in words that differ from kind to kind, what lets it in. */
function hasSecret(account: unknown): boolean {
  const { type, ...rest } = asObject(account)
  return isText(type) && Object.values(rest).some(isText)
}

/** A provider of the user's own may be a local one, which needs no key. */
function namesProvider(config: string | null): boolean {
  return config === null || /"provider"\s*:/.test(config)
}
