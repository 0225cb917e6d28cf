import { detectProgram } from './detect.ts'
import { defaultSettings, dropEmptyRecords, prepareRecord } from './gemini-store.ts'
import type { AcpProfile } from './profile.ts'
import { geminiSignedIn } from './signed-in-gemini.ts'

const MODE = /^\[MODE_UPDATE\] (\w+)$/

/** `mcp_SERVER_TOOL__ID`: of a server's name it keeps what it can. */
function serverTool(callId: string): string | null {
  return /^(mcp_[\w.:-]+)__/.exec(callId)?.[1] ?? null
}

/**
 * Gemini CLI. Its own file and shell tools are used, so a daemon that restarts is not missed. It is never told to
 * authenticate: that may delete the user's credentials and rewrites their settings.
 */
export const gemini: AcpProfile = {
  name: 'gemini',
  title: 'Gemini CLI',
  capabilities: {
    streaming: true,
    thinking: true,
    approvals: true,
    images: true,
    documents: false,
    resume: true,
    relocate: false,
    fork: false,
    cost: false,
    setModel: true,
    effort: false,
    setMode: true,
    pause: true,
    survivesRestart: true,
    clientTools: false,
    bare: false,
    compact: false,
  },
  unasked: {
    shell: {
      what: 'commands that only look around (`ls`, `echo`, `git status`)',
      such: ['ls', 'echo x', 'git status', 'pwd'],
    },
    read: { all: true, what: 'files in its directories; others it cannot read' },
    search: { all: true, what: 'searches, also in the web' },
    mcp: { what: 'resources of servers' },
    other: { what: 'its own plans, notes and skills' },
  },
  detect: (env) =>
    detectProgram(
      {
        name: 'gemini',
        title: 'Gemini CLI',
        command: 'gemini',
        variable: 'CORRAL_GEMINI_BIN',
        install: 'npm install -g @google/gemini-cli',
        packages: /^@google\/gemini-cli$/,
      },
      env,
    ),
  launch: ({ settings }) => ({
    args: ['--acp', ...(settings.additionalDirectories ?? []).map((path) => `--include-directories=${path}`)],
    env: {
      // Else it starts itself a second time, and the first one keeps signals from it.
      GEMINI_CLI_NO_RELAUNCH: '1',
      NO_COLOR: '1',
    },
  }),
  conversations: async () => (await import('./gemini-conversations.ts')).geminiConversations,
  async prepare({ nativeId }, env) {
    if (nativeId !== null) await prepareRecord(nativeId, env, Date.now())
    return { files: defaultSettings(env) }
  },
  async opened({ nativeId }, env) {
    if (nativeId !== null) await dropEmptyRecords(nativeId, env)
  },
  modes: { auto: ['default'], code: ['autoEdit', 'default'], plan: ['plan'], ask: ['default'] },
  offers: { files: false, terminals: false },
  directoriesAtStart: true,
  signIn: 'run gemini once and sign in, or set GEMINI_API_KEY',
  signedIn: geminiSignedIn,
  oldModelMethod: true,
  toolOf: (callId) => serverTool(callId) ?? /^(\w+?)__/.exec(callId)?.[1] ?? null,
  serverTool: ({ toolCallId }) => serverTool(String(toolCallId)),
  modeIn: (text) => MODE.exec(text)?.[1] ?? null,
  // A thought without a heading still has the marks of one.
  thoughtIn: (text) => text.replace(/^\*{4}\n/, ''),
  silentRefusals: true,
}
