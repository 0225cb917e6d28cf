/** Exit codes, for scripts. */
export const EXIT = { ok: 0, error: 1, usage: 2, noDaemon: 3, left: 130 } as const

/** A problem that the user is told in one line, and the exit code. */
export class CliError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.error) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
  }
}
