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
    meaning: 'The agent does not wait for a result of this call.',
    remedy: 'Do nothing: the call has its result, or its turn has ended.',
    data: '`callId`',
  },
  approval_resolved: {
    meaning: 'The approval was decided before.',
    remedy: 'Do nothing: `decision` says what was decided.',
    data: '`decision`',
  },
  path_not_found: {
    meaning: 'The file or directory does not exist.',
    remedy: 'Give one that exists.',
    data: '`path`, `resolved`',
  },
  project_not_found: { meaning: 'No project has this id.', remedy: 'List the projects.' },
  repo_not_found: {
    meaning: 'The directory is not a git repository, or is not in this project.',
    remedy: 'Give a repository, or add it to the project.',
    data: '`path`',
  },
  repo_in_project: {
    meaning: 'The repository is already in this project.',
    remedy: 'Do nothing.',
    data: '`path`',
  },
  device_not_found: { meaning: 'No device has this id.', remedy: 'List the devices.' },
  pin_invalid: {
    meaning: 'The PIN is wrong, was used before, or was tried too often.',
    remedy: 'Make a new PIN on the host (`corral pair`).',
    data: '`reason`',
  },
  pin_expired: {
    meaning: 'The PIN has expired.',
    remedy: 'Make a new PIN on the host (`corral pair`).',
    data: '`reason`',
  },
  forbidden: {
    meaning: 'This device may not do that.',
    remedy: "Use a device with the scope that `scope` names, or the owner's token.",
    data: '`scope`',
  },
  git_failed: {
    meaning: 'git failed, or took too long.',
    remedy: 'Read the message: it is what git said.',
    data: '`command`',
  },
  unsaved_work: {
    meaning: 'Work that is nowhere else would be lost.',
    remedy: 'Commit or merge it, or set `force` to lose it.',
    data: '`files`, `commits`, `conflicts`',
  },
  agent_unknown: {
    meaning: 'No agent has this name.',
    remedy: 'Use one of the agents in `known`.',
    data: '`known`',
  },
  agent_missing: { meaning: 'The agent is not installed.', remedy: 'Install it; `corral doctor` says how.' },
  unsupported: {
    meaning: 'This agent cannot do that.',
    remedy: 'Look at the capabilities of the agent (`agents.list`).',
  },
  conversation_busy: {
    meaning: 'A running turn or another session uses what is needed.',
    remedy: 'Wait until it is done, or interrupt it.',
    data: '`reason`',
  },
  conversation_not_found: {
    meaning: 'The agent has no such conversation in its store.',
    remedy: 'List the conversations (`agents.conversations`).',
    data: '`agent`, `id`',
  },
  conversation_adopted: {
    meaning: 'The conversation is in Corral already.',
    remedy: 'Use the session that `sessionId` names.',
    data: '`sessionId`',
  },
  conflict: {
    meaning: 'Somebody else has changed it meanwhile.',
    remedy: 'Look at what is there now, which `data` has, and try again with its revision.',
    data: '`text`, `revision`, `updatedAt`',
  },
  queue_full: {
    meaning: 'Too many messages or approvals wait.',
    remedy: 'Wait until some are done, or clear the queue.',
    data: '`limit`',
  },
  not_running: {
    meaning: 'No turn is running, or it is being stopped.',
    remedy: 'Send the text as a message.',
    data: '`interrupting`',
  },
  cursor_reset: {
    meaning: 'The cursor belongs to another log.',
    remedy: 'Read this log from its beginning.',
    data: '`log`, `head`, `oldest`',
  },
  machine_not_found: {
    meaning: 'No machine has this name.',
    remedy: 'List the machines (`corral machine ls`).',
    data: '`machine`',
  },
  machine_unreachable: {
    meaning: 'The machine that the session runs on does not answer. Nothing was done.',
    remedy: 'Look why (`corral machine ls`), and try again when it is back.',
    data: '`machine`',
  },
  storage: {
    meaning: 'The log cannot be written.',
    remedy: 'Free disk space, or make the data directory writable.',
  },
  stopping: { meaning: 'The daemon is stopping.', remedy: 'Try again when it has started again.' },
  internal: {
    meaning: 'Corral itself has failed.',
    remedy: "Look into the daemon's log, and report the error.",
  },
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
