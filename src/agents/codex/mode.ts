import type { Mode } from '../../core/mode.ts'
import type { Session } from '../../core/session.ts'
import type { JsonObject } from '../json.ts'

type Sandbox = 'readOnly' | 'workspaceWrite' | 'dangerFullAccess'

interface Policy {
  sandbox: Sandbox
  approvals: 'untrusted' | 'never'
}

/**
 * What Codex is told for each of our modes. `untrusted` asks before every command and every edit; `never` refuses what
 * would have to be asked. In `auto` and `code` Codex asks as in `ask`, and Corral says yes, in `code` to edits only: what
 * is forbidden here by a rule stays forbidden.
 */
const POLICIES: Readonly<Record<Mode, Policy>> = {
  auto: { sandbox: 'dangerFullAccess', approvals: 'untrusted' },
  code: { sandbox: 'workspaceWrite', approvals: 'untrusted' },
  plan: { sandbox: 'readOnly', approvals: 'never' },
  ask: { sandbox: 'workspaceWrite', approvals: 'untrusted' },
}

const READ_ONLY = 'corral_read_only'

/**
 * A command that the user's own rules allow Codex runs outside of its sandbox, but not while there is a file that must not
 * be read: that forbids to leave the sandbox at all. This one is nobody's to read.
 */
export const GUARD: JsonObject = {
  [`permissions.${READ_ONLY}`]: { extends: ':read-only', filesystem: { '/etc/shadow': 'deny' } },
  default_permissions: ':read-only',
}

/** Told before a message in `plan`. A conversation without the guard does not know it, and has no need of it. */
export function guardOf({ mode, nativeId }: Session): JsonObject | null {
  return mode === 'plan' ? { threadId: nativeId, permissions: READ_ONLY } : null
}

/**
 * Told with every message: Codex forgets its sandbox over a resume, and a sandbox that is set when a conversation is
 * opened makes it write the directory into the user's own settings.
 */
export function policyOf({ mode, settings }: Session): JsonObject {
  const { sandbox, approvals } = POLICIES[mode]
  return {
    approvalPolicy: approvals,
    // Whoever else the user's settings name, it is Corral that is asked.
    approvalsReviewer: 'user',
    sandboxPolicy: sandboxOf(sandbox, settings.additionalDirectories ?? []),
  }
}

function sandboxOf(type: Sandbox, writableRoots: string[]): JsonObject {
  if (type === 'dangerFullAccess') return { type }
  if (type === 'readOnly') return { type, networkAccess: false }
  // Codex makes empty folders in every directory that may be written to; the machine's temporary ones are spared.
  return { type, writableRoots, networkAccess: false, excludeTmpdirEnvVar: true, excludeSlashTmp: true }
}
