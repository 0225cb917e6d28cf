import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isHeld, takeLock, type Lock } from '../system/lock.ts'
import type { Cli } from './cli.ts'
import { launchAndWait, runsAs, sayTroubles, statusOf } from './detach.ts'
import { CliError, EXIT } from './exit.ts'
import { hasEnded, isAlive } from './process-end.ts'

/** How long a daemon that stops is waited for. */
const STOPPING_MS = 30_000
/** How long another command may take to start the daemon. */
const TURN_MS = 30_000
const POLL_MS = 25
const LOCK = 'starting'

/** Starts a daemon where none runs, and says so. Commands that do it at the same time start one. */
export async function ensureDaemon(cli: Cli): Promise<void> {
  const status = await statusOf(cli.socket)
  if (status && !status.stopping) return
  await untilStopped(cli, status?.pid ?? null)
  await inTurn(cli, async () => {
    if (await statusOf(cli.socket)) return
    if (!cli.json) cli.note(`no daemon is running for ${cli.home}; starting one (corral stop ends it)`)
    const started = await launchAndWait(cli)
    if (!cli.json) sayTroubles(cli, started)
  })
}

/** One that no longer listens, and has not ended, has left its file: it stops, or another process has its number by now. */
async function untilStopped(cli: Cli, stopping: number | null): Promise<void> {
  const pid = stopping ?? runsAs(cli.home)
  if (pid === null || !isAlive(pid)) return
  if (!cli.json) cli.note(`the daemon for ${cli.home} (pid ${pid}) is stopping; waiting until it has ended`)
  const isOver = await hasEnded(pid, STOPPING_MS)
  if (isOver || stopping === null) return
  throw new CliError(
    `the daemon (pid ${pid}) is still stopping after ${STOPPING_MS / 1000} s; try again later, or use: corral stop --now`,
    EXIT.noDaemon,
  )
}

/** One command at a time starts a daemon for a data directory. The system drops the lock of one that was killed. */
export async function inTurn<T>({ home }: Cli, work: () => Promise<T>): Promise<T> {
  makeRoom(home)
  let lock: Lock | null = null
  for (const deadline = Date.now() + TURN_MS; !lock;) {
    try {
      lock = takeLock(join(home, LOCK), join(home, 'run.json'))
    } catch (error) {
      if (!isHeld(error)) throw error
      if (Date.now() > deadline)
        throw new CliError(
          `another command has been starting the daemon for ${TURN_MS / 1000} s; see: corral status`,
        )
      await delay(POLL_MS)
    }
  }
  try {
    return await work()
  } finally {
    lock.release()
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'it is on a disk that can only be read',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of this path is a file',
  EEXIST: 'it is a file',
}

function makeRoom(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    closeSync(openSync(join(home, LOCK), 'a', 0o600))
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const why = REASONS[code] ?? message
    throw new CliError(
      `the data directory ${home} cannot be used: ${why}; choose another one with --home or CORRAL_HOME`,
    )
  }
}
