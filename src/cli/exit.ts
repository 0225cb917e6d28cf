/** Exit codes, for scripts. */
export const EXIT = { ok: 0, error: 1, usage: 2, noDaemon: 3, left: 130 } as const

/** A problem to tell the user in one line, and the code to end with. */
export class CliError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.error) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
  }
}
