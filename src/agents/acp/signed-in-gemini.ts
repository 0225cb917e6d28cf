import { join } from 'node:path'
import { asObject, asString } from '../json.ts'
import { homeIn, isSet, isText, judged, objectIn, textIn, type SignedIn } from '../signed-in.ts'

const HINT = 'run `gemini` once and sign in, set GEMINI_API_KEY, or run `corral login gemini`'

/** What counts depends on the way in that was chosen in Gemini's settings; without a choice it wants a key. */
export async function geminiSignedIn(env: NodeJS.ProcessEnv): Promise<SignedIn> {
  const home = env.GEMINI_CLI_HOME || homeIn(env)
  const directory = join(home, '.gemini')
  const [settings, ...files] = await Promise.all([
    textIn(join(directory, 'settings.json')),
    textIn(join(directory, '.env')),
    textIn(join(home, '.env')),
  ])
  const all = { ...variablesIn(files.join('\n')), ...env }
  switch (settings === null ? 'unknown' : chosenIn(settings)) {
    case 'oauth-personal':
      return judged(HINT, ...(await byGoogleAccount(directory, all)))
    case 'gemini-api-key':
      // It may have been given to Gemini itself, which keeps it in a keyring or a file that only it can read.
      return judged(HINT, isSet(all, 'GEMINI_API_KEY') || null)
    case 'vertex-ai':
      return judged('set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or GOOGLE_API_KEY', byVertex(all))
    case null:
      return judged(HINT, isSet(all, 'GEMINI_API_KEY'), isSet(all, 'GOOGLE_GEMINI_BASE_URL') ? null : false)
    default:
      return judged(HINT, null)
  }
}

async function byGoogleAccount(directory: string, env: NodeJS.ProcessEnv): Promise<(boolean | null)[]> {
  const plain = await objectIn(join(directory, 'oauth_creds.json'))
  const sealed = await textIn(join(directory, 'gemini-credentials.json'))
  return [
    plain && (isText(plain.refresh_token) || isText(plain.access_token)),
    sealed === '' && !isSet(env, 'GEMINI_FORCE_ENCRYPTED_FILE_STORAGE', 'GOOGLE_APPLICATION_CREDENTIALS')
      ? false
      : null,
  ]
}

/** With a project it is the cloud's own credentials that count. */
function byVertex(env: NodeJS.ProcessEnv): boolean | null {
  if (isSet(env, 'GOOGLE_API_KEY')) return true
  return isSet(env, 'GOOGLE_CLOUD_PROJECT') && isSet(env, 'GOOGLE_CLOUD_LOCATION') ? null : false
}

/** The file may have comments, which JSON has not; then the choice is found by its name. */
function chosenIn(settings: string): string | null {
  try {
    const { security, selectedAuthType } = asObject(JSON.parse(settings || '{}'))
    return asString(asObject(asObject(security).auth).selectedType) ?? asString(selectedAuthType)
  } catch {
    return /"selected(?:Auth)?Type"\s*:\s*"([\w-]+)"/.exec(settings)?.[1] ?? 'unknown'
  }
}

function variablesIn(text: string): NodeJS.ProcessEnv {
  const lines = text.matchAll(/^\s*(?:export\s+)?(\w+)\s*=[ \t]*(['"]?)([^\n]*?)\2[ \t]*$/gm)
  return Object.fromEntries([...lines].map(([, name, , value]) => [name, value])) as NodeJS.ProcessEnv
}
