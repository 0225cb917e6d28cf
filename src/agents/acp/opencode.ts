import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SAFE_EFFORTS } from '../effort.ts'
import { isExecutable } from '../find.ts'
import { asArray, asObject, type JsonObject } from '../json.ts'
import { detectProgram } from './detect.ts'
import type { AcpProfile } from './profile.ts'
import { opencodeSignedIn } from './signed-in-opencode.ts'

/**
 * By itself it asks nothing. Here it asks before it changes or fetches anything, and before it uses a tool of an MCP
 * server (which has an underscore in its name). The last rule that fits wins, and these come after the user's own:
 * written like this they replace only what the user says of `*`, so that a user who forbids `rm *` has it forbidden.
 */
const PERMISSION = {
  bash: { '*': 'ask' },
  edit: { '*': 'ask' },
  webfetch: 'ask',
  websearch: 'ask',
  codesearch: 'ask',
  '*_*': 'ask',
  // What a sub-agent asks never gets out of the process: the turn would wait for ever.
  'tas?': 'deny',
}

/** OpenCode, whose providers and models are the user's own configuration. */
export const opencode: AcpProfile = {
  name: 'opencode',
  title: 'OpenCode',
  capabilities: {
    streaming: true,
    thinking: true,
    approvals: true,
    images: true,
    documents: false,
    resume: true,
    relocate: false,
    fork: true,
    cost: true,
    setModel: true,
    effort: true,
    setMode: true,
    pause: true,
    survivesRestart: true,
    clientTools: false,
    bare: false,
    compact: true,
  },
  unasked: {
    read: { what: 'files in the session’s directory, but for `.env`' },
    search: { what: 'searches in the session’s directory' },
    mcp: { what: 'resources of servers' },
    other: { what: 'its own lists and skills, and tools of your own' },
  },
  detect: (env) =>
    detectProgram(
      {
        name: 'opencode',
        title: 'OpenCode',
        command: 'opencode',
        variable: 'CORRAL_OPENCODE_BIN',
        install: 'npm install -g opencode-ai',
        packages: /^opencode-(?:ai|[a-z]+-[a-z0-9-]+)$/,
        instead: nativeBeside,
      },
      env,
    ),
  launch: ({ settings }, ids) => ({
    args: ['acp'],
    ownTmp: true,
    env: {
      OPENCODE_PERMISSION: JSON.stringify({
        ...PERMISSION,
        ...(settings.questions === false && { question: 'deny' }),
      }),
      // It listens on a port, too, for anybody on this machine who knows the word.
      OPENCODE_SERVER_PASSWORD: ids(),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
  }),
  conversations: async () => (await import('./opencode-conversations.ts')).opencodeConversations,
  unrecorded: { OPENCODE_DB: ':memory:' },
  modes: { auto: ['build'], code: ['build'], plan: ['plan'], ask: ['build'] },
  offers: { files: false, terminals: false },
  signIn: 'run `opencode auth login`',
  signedIn: opencodeSignedIn,
  effortOption: { id: 'effort', words: [...SAFE_EFFORTS, 'default'], now: null },
  serverTool,
  planIn: ({ rawOutput }) => asObject(asObject(rawOutput).metadata).todos,
  questionOf,
  filesOf,
}

/** Of a search the title is what is searched for, and of a file outside of the session's directory where it is. */
function questionOf({ parentDir, query, provider }: JsonObject): string | null {
  if (typeof parentDir === 'string') return 'ExternalDirectory'
  return typeof query === 'string' && typeof provider === 'string' ? 'WebSearch' : null
}

/**
 * It asks for `SERVER_TOOL`, without a word about the input; of its own tools' questions those with an underscore tell what
 * they are about. A tool of the user's own that asks in the very same words cannot be told from a server's, and counts as one.
 */
function serverTool({ title, rawInput }: JsonObject): string | null {
  const silent = Object.keys(asObject(rawInput)).length === 0
  return silent && typeof title === 'string' && /^[\w-]+_[\w-]+$/.test(title) ? title : null
}

/** Of a patch `filepath` has all of them in one text, and not from the session's directory. */
function filesOf({ files }: JsonObject): string[] | null {
  const paths = asArray(files).flatMap((one) => {
    const { filePath, movePath } = asObject(one)
    return [filePath, movePath].filter((path) => typeof path === 'string')
  })
  return paths.length > 0 ? paths : null
}

const STUB_BYTES = 1024 * 1024

/** npm installs the program as a package per platform; what is on the PATH may be a script that only starts it. */
async function nativeBeside(found: string): Promise<string | null> {
  const real = await realpath(found)
  if ((await stat(real)).size > STUB_BYTES) return null
  const wrapper = dirname(dirname(real))
  for (const modules of [dirname(wrapper), join(wrapper, 'node_modules')]) {
    const names = await readdir(modules).catch(() => [])
    const prefix = `opencode-${process.platform}-${process.arch}`
    for (const name of names.filter((one) => one.startsWith(prefix)).sort()) {
      const native = join(modules, name, 'bin', 'opencode')
      if (await isExecutable(native)) return native
    }
  }
  return null
}
