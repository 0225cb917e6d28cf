/**
 * Everything that can go wrong with a command, as a closed list. A dialect maps codes to its own wire codes;
 * nothing ever looks at the message text.
 */
export type ErrorCode =
  | 'invalid' // a parameter is wrong; data.field names it
  | 'session_not_found'
  | 'turn_not_found'
  | 'approval_not_found'
  | 'call_not_found' // the agent does not wait for this result; data.callId
  | 'approval_resolved' // somebody else was first; data.decision says how
  | 'path_not_found' // data.path, data.resolved
  | 'project_not_found'
  | 'repo_not_found' // not a repository, or not one of this project; data.path
  | 'repo_in_project' // it is there already; data.path
  | 'device_not_found'
  | 'pin_invalid' // wrong, used, or void after too many tries; data.reason
  | 'pin_expired'
  | 'forbidden' // this device may not do that; data.scope
  | 'git_failed' // git could not do it, or took too long; data.command
  | 'unsaved_work' // it would be lost without force; data.files, data.commits
  | 'agent_unknown' // no driver of that name; data.known lists them
  | 'agent_missing' // a driver, but its program is not installed
  | 'unsupported' // this agent cannot do that
  | 'conversation_busy' // another session, or a turn that runs, holds what is wanted; data.reason
  | 'queue_full'
  | 'not_running' // there is no turn to steer, or it is being stopped; data.interrupting
  | 'cursor_reset' // the cursor belongs to another log
  | 'storage' // the log cannot be written: disk full, read-only
  | 'stopping' // the daemon is on its way out
  | 'internal'

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
