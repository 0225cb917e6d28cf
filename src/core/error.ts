/** What an error means, what to do about it, and what `data` has. */
export interface ErrorEntry {
  readonly meaning: string
  readonly remedy: string
  readonly data?: string
}

/**
 * Everything that can go wrong with a command, as a closed list. A dialect maps codes to its own wire codes; nothing ever looks at
 * the text of a message.
 */
export const ERRORS = {
  invalid: {
    meaning: 'A parameter is wrong.',
    remedy: 'Correct the parameter that `field` names.',
    data: '`field`, `issues`',
  },
  session_not_found: {
    meaning: 'No session has this id, or it was destroyed.',
    remedy: 'List the sessions.',
    data: '`sessionId`',
  },
  turn_not_found: {
    meaning: 'No turn has this id, or it no longer waits.',
    remedy: 'List the turns or the queue.',
  },
  approval_not_found: { meaning: 'No approval has this id.', remedy: 'List the approvals.' },
  call_not_found: {
    meaning: 'The agent does not wait for the result of this call.',
    remedy: 'Nothing: it has an answer, or its turn is over.',
    data: '`callId`',
  },
  approval_resolved: {
    meaning: 'Somebody else was first.',
    remedy: 'Nothing: `decision` says what was decided.',
    data: '`decision`',
  },
  path_not_found: {
    meaning: 'The directory does not exist.',
    remedy: 'Give an existing directory.',
    data: '`path`, `resolved`',
  },
  project_not_found: { meaning: 'No project has this id.', remedy: 'List the projects.' },
  repo_not_found: {
    meaning: 'The directory is no git repository, or not one of this project.',
    remedy: 'Give a repository, or add it to the project.',
    data: '`path`',
  },
  repo_in_project: {
    meaning: 'The repository is in this project already.',
    remedy: 'Nothing.',
    data: '`path`',
  },
  device_not_found: { meaning: 'No device has this id.', remedy: 'List the devices.' },
  pin_invalid: {
    meaning: 'The PIN is wrong, was used, or is void after too many tries.',
    remedy: 'Make a new PIN on the host.',
    data: '`reason`',
  },
  pin_expired: { meaning: 'The PIN is too old.', remedy: 'Make a new PIN on the host.', data: '`reason`' },
  forbidden: {
    meaning: 'This device may not do that.',
    remedy: "Use a device with the scope that `scope` names, or the owner's token.",
    data: '`scope`',
  },
  git_failed: {
    meaning: 'git could not do it, or took too long.',
    remedy: "Read the message, which is git's own.",
    data: '`command`',
  },
  unsaved_work: {
    meaning: 'Work would be lost.',
    remedy: 'Commit or merge it, or say `force`.',
    data: '`files`, `commits`',
  },
  agent_unknown: {
    meaning: 'No agent has this name.',
    remedy: 'Use one that `known` lists.',
    data: '`known`',
  },
  agent_missing: { meaning: 'The agent is not installed.', remedy: 'Install it; `corral doctor` says how.' },
  unsupported: { meaning: 'This agent cannot do that.', remedy: 'Look at its capabilities.' },
  conversation_busy: {
    meaning: 'Another session, or a turn that runs, holds what is wanted.',
    remedy: 'Wait for it, or interrupt it.',
    data: '`reason`',
  },
  queue_full: {
    meaning: 'Too many messages or questions wait.',
    remedy: 'Let some finish.',
    data: '`limit`',
  },
  not_running: {
    meaning: 'No turn runs, or it is being stopped.',
    remedy: 'Send it as a message of its own.',
    data: '`interrupting`',
  },
  cursor_reset: {
    meaning: 'The cursor belongs to another log.',
    remedy: 'Start over from the beginning of this one.',
    data: '`log`, `head`, `oldest`',
  },
  storage: { meaning: 'The log cannot be written.', remedy: 'Free disk space, or make it writable.' },
  stopping: { meaning: 'The daemon is on its way out.', remedy: 'Try again when it is back.' },
  internal: { meaning: "A fault of Corral's own.", remedy: "Look at the daemon's log, and report it." },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

export class CorralError extends Error {
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, data: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CorralError'
    this.code = code
    this.data = data
  }
}

/** Whatever was thrown, as one of ours. */
export function asCorralError(thrown: unknown): CorralError {
  if (thrown instanceof CorralError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new CorralError('internal', message, {}, thrown)
}
