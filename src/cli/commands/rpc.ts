import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { loadConfig } from '../../config/config.ts'
import { uuid } from '../../core/ids.ts'
import type { Daemon } from '../../daemon.ts'
import type { Memory } from '../../dialects/loaf/ports.ts'
import type { NativeClient } from '../../dialects/native/client.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { version } from '../version.ts'
import { corralOf } from './rpc-corral.ts'

/** How long a request waits for a daemon that is away; what runs is waited for however long it takes. */
const CALL_MS = 30_000
/** How long somebody else's engine may take to come up. */
const START_MS = 10_000
const POLL_MS = 50
/** Whatever still holds the process when its client has gone has had its chance. */
const EXIT_MS = 500

export const rpc: Command = async (cli) => {
  const leaving = Promise.withResolvers<string>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => leaving.resolve(signal.toLowerCase()))
  }
  const daemon = await engine(cli)
  try {
    await cli.withDaemon(
      (calls) =>
        cli.withDaemon((feed) => attend(cli, calls, feed, leaving.promise, daemon), {
          reconnect: true,
          giveUpMs: Infinity,
        }),
      { reconnect: true, giveUpMs: CALL_MS },
    )
  } finally {
    // What runs goes on for the next one.
    await daemon?.stop({ agents: 'keep', now: true })
    setTimeout(() => process.exit(), EXIT_MS).unref()
  }
  return EXIT.ok
}

/** Until the client has gone, or somebody wants an end. */
async function attend(
  cli: Cli,
  calls: NativeClient,
  feed: NativeClient,
  leaving: Promise<string>,
  daemon: Daemon | null,
): Promise<void> {
  const [{ serve }, { NO_SIGN_IN }] = await Promise.all([
    import('../../dialects/loaf/server.ts'),
    import('../../dialects/loaf/no-sign-in.ts'),
  ])
  const { closed, leave } = serve({
    corral: corralOf(calls, feed),
    signIn: NO_SIGN_IN,
    memory: memoryIn(cli.home),
    input: cli.stdin,
    output: cli.stdout,
    cwd: process.cwd(),
    home: homedir(),
    newId: () => uuid(),
    now: Date.now,
  })
  void leaving.then(leave)
  const stopped = daemon?.stopped.then(() => {
    throw new CliError('the engine was stopped from outside')
  })
  await (stopped ? Promise.race([closed, stopped]) : closed)
}

/** One of our own where there is none; null: another one runs. */
async function engine(cli: Cli): Promise<Daemon | null> {
  const { statusOf } = await import('../detach.ts')
  const running = await statusOf(cli.socket)
  if (running && cli.options['standalone']) {
    throw new CliError(`a daemon (pid ${running.pid}) has ${cli.home}; leave out --standalone to use it`)
  }
  if (running) return null
  try {
    return await host(cli)
  } catch (error) {
    if (cli.options['standalone'] || (error as { code?: unknown }).code !== 'storage') throw error
    // Two that start together: one has the lock, the other is its guest as soon as it listens.
    for (const deadline = Date.now() + START_MS; Date.now() < deadline; await delay(POLL_MS)) {
      if (await statusOf(cli.socket)) return null
    }
    throw error
  }
}

/** All of a daemon but its doors for others. */
async function host(cli: Cli): Promise<Daemon> {
  const closed = { 'codecast.enabled': false, 'humanlayer.enabled': false, 'clawde.enabled': false }
  const flags = { home: cli.home, socket: cli.socket, ...closed }
  const config = await loadConfig({ env: cli.env, flags })
  const { runDaemon } = await import('../../daemon.ts')
  return runDaemon({ config, version, env: cli.env, homedir: homedir(), print: cli.note })
}

function memoryIn(home: string): Memory {
  const file = join(home, 'loaf.json')
  return {
    onboarded() {
      try {
        return (JSON.parse(readFileSync(file, 'utf8')) as { onboarded?: unknown }).onboarded === true
      } catch {
        return false
      }
    },
    setOnboarded(onboarded) {
      const draft = `${file}.${process.pid}`
      writeFileSync(draft, `${JSON.stringify({ onboarded })}\n`, { mode: 0o600 })
      renameSync(draft, file)
    },
  }
}
