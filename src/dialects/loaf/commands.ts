import { z } from 'zod'
import { Streaming } from '../../transports/jsonrpc.ts'
import { choiceFields } from './choices.ts'
import { failure } from './errors.ts'
import type { Context } from './method.ts'
import { authStatus } from './methods/auth.ts'
import { compressInTurn } from './methods/compress.ts'
import { clearSession } from './methods/history.ts'
import { limits } from './methods/limits.ts'
import { listModels } from './methods/model.ts'
import { listTools, shutDown } from './methods/system.ts'
import { findSaved, listSaved } from './saved.ts'
import { findSkills } from './skills.ts'
import { stateChanged } from './snapshot.ts'
import * as wire from './wire.ts'

interface Spoken {
  sessionId: string
  words: readonly string[]
  context: Context
}

interface Command {
  description: string
  /** It changes the session, as messages do: in the order of requests. */
  inOrder?: true
  output: z.ZodType
  run(spoken: Spoken): unknown
}

const { error: _, ...compressed } = wire.compaction.shape
const leaving = z.strictObject({ shutting_down: z.literal(true) })

const quit: Command['run'] = ({ context }) =>
  shutDown(context, 'quit_command', { handled: true, output: { shutting_down: true } })

const COMMANDS: Readonly<Record<string, Command>> = {
  auth: {
    description: 'which accounts and keys there are',
    output: z.strictObject({ auth_status: wire.authStatus, hint: z.string() }),
    async run({ context }) {
      return { auth_status: await authStatus(context), hint: 'auth.connect.* and auth.set.* sign in' }
    },
  },
  onboarding: {
    description: 'whether the first steps are done',
    output: z.strictObject({ completed: z.boolean() }),
    run: ({ context }) => ({ completed: context.memory.onboarded() }),
  },
  forgeteverything: {
    description: 'sign out, and forget keys, the chosen models and the first steps; sessions stay',
    output: z.strictObject({ cleared: z.literal(true), kept_files: z.array(z.string()).exactOptional() }),
    async run({ context }) {
      const kept = await context.signIn.forgetAll()
      context.memory.setOnboarded(false)
      context.choices.forget()
      await stateChanged(context, 'forgeteverything')
      return { cleared: true, ...(kept.length > 0 && { kept_files: kept }) }
    },
  },
  model: {
    description: 'the chosen model, and those there are',
    output: z.strictObject({ ...wire.choice.shape, available: wire.modelList }),
    async run({ context }) {
      return { ...choiceFields(context.choices.selected()), available: await listModels(context) }
    },
  },
  limits: {
    description: 'what is left of the accounts',
    output: wire.limits,
    run: ({ context }) => limits(context),
  },
  history: {
    description: 'list sessions, or go on with one: last, or an id',
    output: z.union([wire.savedSessions, z.strictObject({ resumed: z.string(), session_id: z.string() })]),
    run: history,
  },
  clear: {
    description: 'begin the conversation afresh',
    output: z.strictObject({ cleared: z.literal(true) }),
    inOrder: true,
    async run({ sessionId, context }) {
      await context.sessions.inTurn(sessionId, (session) => clearSession(session, context))
      return { cleared: true }
    },
  },
  compress: {
    description: 'sum up the conversation',
    inOrder: true,
    output: z.strictObject({
      ...compressed,
      reason: z.literal('manual'),
      hint: z.string().exactOptional().describe('why nothing was done'),
    }),
    run: compress,
  },
  skills: {
    description: 'list skills',
    output: wire.skills,
    run: ({ context }) => findSkills(context.cwd, context.home),
  },
  tools: { description: 'list tools', output: wire.tools, run: ({ context }) => listTools(context) },
  help: {
    description: 'list commands',
    output: z.strictObject({
      commands: z.array(z.strictObject({ name: z.string(), description: z.string() })),
    }),
    run: () => ({
      commands: Object.entries(COMMANDS).map(([name, { description }]) => ({
        name: `/${name}`,
        description,
      })),
    }),
  },
  quit: { description: 'end this process', output: leaving, run: quit },
  exit: { description: 'end this process', output: leaving, run: quit },
}

/** What `/…` may answer. */
export const COMMAND_OUTPUTS = [
  ...new Set(Object.values(COMMANDS).map(({ output }) => output)),
  z.strictObject({ error: z.string() }),
]

/** Goes on with an earlier session: it is opened here, and its id is the one to use from now on. */
async function history({ words: [which], context }: Spoken): Promise<unknown> {
  if (which === undefined || which === 'list' || which === 'all') return listSaved(context, {})
  const last = which === 'last'
  const session = await findSaved(context, { last, rolloutPath: undefined, id: last ? undefined : which })
  await context.sessions.find(session.id)
  await stateChanged(context, 'session_resumed')
  return { resumed: session.id, session_id: session.id }
}

async function compress({ sessionId, context }: Spoken): Promise<unknown> {
  const { compressed, error, ...numbers } = await compressInTurn(sessionId, context)
  if (error !== undefined) throw failure(`context compaction failed: ${error}`, 'compaction_failed')
  return { compressed, reason: 'manual', ...numbers }
}

type Executed = { handled: false } | { handled: true; output: unknown }

export async function execute(
  sessionId: string,
  raw: string,
  context: Context,
): Promise<Executed | Streaming<Executed>> {
  const [first = '', ...words] = raw.split(' ').filter(Boolean)
  const name = first.slice(1).toLowerCase()
  const isCommand = raw.startsWith('/')
  const command = isCommand && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  // What goes in order begins at once, and looks for the session itself.
  if (!command?.inOrder) await context.sessions.find(sessionId)
  if (!isCommand) return { handled: false }
  if (!command) return { handled: true, output: { error: `unknown command: /${name}` } }
  const output = await command.run({ sessionId, words, context })
  return output instanceof Streaming ? (output as Streaming<Executed>) : { handled: true, output }
}
