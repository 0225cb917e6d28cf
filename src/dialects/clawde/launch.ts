import { realpath } from 'node:fs/promises'
import { isAbsolute, join, normalize, sep } from 'node:path'
import { z } from 'zod'
import type { CreateSession, PlaceMaker } from '../../core/command.ts'
import { createInWorktree } from '../../core/own-worktree.ts'
import type { Session } from '../../core/session.ts'
import { ClawdeError } from './errors.ts'
import type { Context } from './method.ts'
import { policyOf, SCOPES, type Policy, type Scope } from './permissions.ts'
import { routed } from './route.ts'
import { chosenMode, isModeChosen, isReadOnly, MODES } from './status.ts'
import * as wire from './wire.ts'

const permissions = z
  .union([z.array(z.enum(SCOPES)), z.record(z.string(), z.unknown())])
  .describe(
    `what passes without a question: a list of ${SCOPES.join(', ')}, or an object of them; all, if not given`,
  )

export const createParams = z.object({
  repoPath: z
    .string()
    .min(1)
    .exactOptional()
    .describe('absolute; where the daemon was started, if not given'),
  provider: z.string().min(1).default('claude').describe('an agent, or `auto`'),
  model: z.string().min(1).nullish(),
  title: z.string().max(1000).nullish(),
  permissions: permissions.nullish(),
  mode: z.enum(MODES).exactOptional().describe('`FORGE` and `STORM` forbid changes'),
  initialMessage: z.string().nullish().describe('what `auto` decides by; it is not sent'),
  worktree: z.boolean().default(false).describe('work in a git worktree of its own'),
  carry: z.boolean().default(false).describe('uncommitted work comes along into the worktree'),
  key: z.string().min(1).max(200).exactOptional().describe('the same twice is one session'),
})

export type CreateParams = z.output<typeof createParams>

export interface Launched {
  session: Session
  routedProvider?: string
  worktree?: { path: string; branch: string | null }
}

export async function launch(params: CreateParams, context: Context): Promise<Launched> {
  const { engine, settings } = context
  const policy = policyFor(params)
  const path = await placeOf(params.repoPath, context)
  const agent = await agentFor(params, context)
  const total = Object.values(engine.sessions.count()).reduce((sum, count) => sum + count, 0)
  if (settings.maxSessions !== null && total >= settings.maxSessions) {
    throw new ClawdeError('sessionLimitReached', `There are ${total} sessions: delete one first`, {
      limit: settings.maxSessions,
    })
  }
  const { model = null, title = null, key } = params
  const given = { agent, ...policy, model, title, origin: 'clawde', ...(key && { key: `clawde ${key}` }) }
  const create = async (command: CreateSession, place?: PlaceMaker): Promise<Session> => {
    const session = await engine.sessions.create(command, place)
    if (!params.mode || isModeChosen(session)) return session
    return engine.sessions.configure({ sessionId: session.id, notes: chosenMode(params.mode) })
  }
  const routing = params.provider === 'auto' ? { routedProvider: agent } : {}
  if (!params.worktree) return { session: await create({ ...given, cwd: path }), ...routing }
  const makers = { create, workspace: context.workspace, daemonId: async () => context.daemonId }
  const command = { ...given, cwd: path }
  const { session, worktree } = await createInWorktree(makers, command, { carry: params.carry })
  return {
    session,
    ...(worktree && { worktree: { path: worktree.path, branch: worktree.branch } }),
    ...routing,
  }
}

function policyFor({ permissions: given, mode }: CreateParams): Policy {
  const policy = policyOf(given ? scopesFrom(given) : null)
  return mode && isReadOnly(mode) ? { ...policy, mode: 'plan' } : policy
}

/** An object names what is allowed, or only what is not; a key that means nothing here must not be passed over. */
function scopesFrom(given: Scope[] | Record<string, unknown>): Scope[] | null {
  if (Array.isArray(given)) return given
  const { requireApproval, require_approval: alsoSpelled, ...rest } = given
  if (requireApproval === true || alsoSpelled === true) return []
  const named = Object.entries(rest).map(([key, value]) => [scopeOf(key), value] as const)
  if (named.length === 0) return null
  const allowed = named.flatMap(([scope, value]) => (value === true ? [scope] : []))
  if (allowed.length > 0) return allowed
  const refused = named.map(([scope]) => scope)
  return SCOPES.filter((scope) => !refused.includes(scope))
}

function scopeOf(key: string): Scope {
  const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const scope = SCOPES.find((one) => one === name)
  if (scope) return scope
  throw new ClawdeError('invalidParams', `permissions: ${key} is none of ${SCOPES.join(', ')}`, {
    field: `permissions.${key}`,
  })
}

async function agentFor({ provider, initialMessage }: CreateParams, { providers }: Context): Promise<string> {
  if (provider === 'cursor') {
    const data = { reason: 'unsupported_provider', provider }
    throw new ClawdeError('providerNotAvailable', 'Corral does not drive Cursor', data)
  }
  if (provider === 'external') {
    throw new ClawdeError('invalidParams', 'provider: an external agent starts its sessions itself', {
      field: 'provider',
    })
  }
  if (provider !== 'auto') return provider
  const wanted = routed(initialMessage ?? '')
  const installed = (await providers()).filter((report) => report.installed).map(({ name }) => name)
  return installed.includes(wanted)
    ? wanted
    : (['claude', 'codex'].find((name) => installed.includes(name)) ?? wanted)
}

async function placeOf(given: string | undefined, { home, cwd, dataDir }: Context): Promise<string> {
  const path = absolutePath(given ?? cwd, home, 'repoPath')
  const real = await realpath(path).catch(() => null)
  if (real === null) {
    throw new ClawdeError('repoNotFound', `There is no directory ${path}`, { reason: 'path_not_found', path })
  }
  const ours = await realpath(dataDir).catch(() => dataDir)
  if (real === ours || real.startsWith(ours + sep)) {
    throw new ClawdeError('invalidParams', 'repoPath: sessions do not work in the data directory', {
      field: 'repoPath',
    })
  }
  return path
}

/** `~` is the user's home; anything else has to say where it is. */
export function absolutePath(given: string, home: string, field: string): string {
  const path = given === '~' || given.startsWith('~/') ? join(home, given.slice(1)) : given
  if (!isAbsolute(path) || path.includes('\0') || path.split(/[\\/]/).includes('..')) {
    throw new ClawdeError('invalidParams', `${field}: must be an absolute path without ..`, { field })
  }
  const plain = normalize(path)
  return plain.length > 1 && plain.endsWith(sep) ? plain.slice(0, -1) : plain
}

export const createResult = wire.session
