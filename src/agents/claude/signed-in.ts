import { join } from 'node:path'
import { asObject, type JsonObject } from '../json.ts'
import { homeIn, isSet, isText, judged, objectIn, type SignedIn } from '../signed-in.ts'

const HINT =
  'run `claude` once and sign in with /login, set ANTHROPIC_API_KEY, or run `corral login anthropic`'
const KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
/** Somebody else than Anthropic lets it in, in ways of their own. */
const ELSEWHERE = [
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_GATEWAY',
  'CLAUDE_CODE_USE_MANTLE',
  'ANTHROPIC_PROFILE',
  'ANTHROPIC_UNIX_SOCKET',
]

export async function signedIn(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<SignedIn> {
  const chosen = env.CLAUDE_CONFIG_DIR
  const directory = chosen || join(homeIn(env), '.claude')
  const [credentials, settings, managed, state] = await Promise.all([
    objectIn(join(directory, '.credentials.json')),
    objectIn(join(directory, 'settings.json')),
    objectIn('/etc/claude-code/managed-settings.json'),
    objectIn(chosen ? join(chosen, '.claude.json') : join(homeIn(env), '.claude.json')),
  ])
  const { accessToken, refreshToken } = asObject(credentials?.claudeAiOauth)
  return judged(
    HINT,
    inEnvironment(env),
    bySettings(settings),
    bySettings(managed),
    credentials && (isText(accessToken) || isText(refreshToken)),
    state && isText(state.primaryApiKey),
    // There it keeps them in the keychain, which is not ours to open.
    platform === 'darwin' ? null : false,
  )
}

function inEnvironment(env: NodeJS.ProcessEnv): boolean | null {
  if (isSet(env, ...ELSEWHERE)) return null
  return isSet(env, ...KEYS)
}

/** They may name a program that knows the key, or have variables of their own. */
function bySettings(settings: JsonObject | null): boolean | null {
  if (settings === null) return null
  const variables = Object.entries(asObject(settings.env)).filter(([, value]) => isText(value))
  return isText(settings.apiKeyHelper) || inEnvironment(Object.fromEntries(variables) as NodeJS.ProcessEnv)
}
