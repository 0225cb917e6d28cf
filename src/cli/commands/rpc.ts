import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { uuid } from '../../core/ids.ts'
import type { Daemon } from '../../daemon.ts'
import type { Memory } from '../../dialects/loaf/ports.ts'
import { within } from '../../dialects/loaf/within.ts'
import type { NativeClient } from '../../client/client.ts'
import { isHeadless } from '../../signin/headless.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { version } from '../version.ts'
import { corralOf } from './rpc-corral.ts'
import { signInWith } from './rpc-sign-in.ts'

/** How long a request waits for a daemon that is not reachable. A running turn is waited for without a limit. */
const CALL_MS = 30_000
/** How long an engine that another process starts may take. */
const START_MS = 30_000
const POLL_MS = 50
const SLOWEST_POLL_MS = 500
/** How long the process may go on when its client has gone. */
const EXIT_MS = 500
/** How long an engine may take to stop before this process ends without it. */
const STOP_MS = 20_000
/** How long agents of `--standalone` outlive an engine that could not end them. */
const ORPHAN_MS = 10_000

export const rpc: Command = async (cli) => {
  const leaving = Promise.withResolvers<string>()
  const quit = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      leaving.resolve(signal.toLowerCase())
      quit.abort()
    })
  }
  const starting = engineFor(cli, quit)
  const engine = await Promise.race([starting, leaving.promise.then(() => null)])
  if (!engine) return leaveEarly(cli, starting)
  try {
    await cli.withDaemon(
      (calls) =>
        cli.withDaemon((feed) => attend(cli, { calls, feed, engine, leaving: leaving.promise }), {
          reconnect: true,
          giveUpMs: Infinity,
        }),
      { reconnect: true, giveUpMs: CALL_MS },
    )
  } finally {
    await within(STOP_MS, engine.stop())
    exitSoon()
  }
  return EXIT.ok
}

/** Does not wait for an engine that is still starting, unless it is for this client only: nobody else would end its agents. */
async function leaveEarly(cli: Cli, starting: Promise<Engine>): Promise<number> {
  const left = starting.then(({ stop }) => stop()).catch(() => {})
  if (isAlone(cli)) await within(STOP_MS, left)
  exitSoon()
  return EXIT.ok
}

function exitSoon(): void {
  setTimeout(() => process.exit(), EXIT_MS).unref()
}

/** The engine is for this client only. */
function isAlone({ options }: Cli): boolean {
  return options['standalone'] === true
}

interface Around {
  calls: NativeClient
  feed: NativeClient
  engine: Engine
  leaving: Promise<string>
}

/** Serves the client until it has gone, or a signal or the engine ends it. */
async function attend(cli: Cli, { calls, feed, engine, leaving }: Around): Promise<void> {
  const { serve } = await import('../../dialects/loaf/server.ts')
  const { closed, leave } = serve({
    corral: corralOf(calls, feed),
    signIn: signInWith(calls, isHeadless(cli.env)),
    memory: memoryIn(cli.home),
    input: cli.stdin,
    output: cli.stdout,
    cwd: process.cwd(),
    home: homedir(),
    newId: () => uuid(),
    now: Date.now,
  })
  void leaving.then(leave)
  await Promise.race([closed, engine.stopped])
}

/** What runs the sessions: a daemon, this process, or another `corral rpc`. */
interface Engine {
  /** Rejects when the engine of this process was stopped from outside. */
  stopped: Promise<never>
  /** Leaves running turns to the next engine, unless it is for this client only. */
  stop(): Promise<void>
}

async function engineFor(cli: Cli, quit: AbortController): Promise<Engine> {
  const { signal } = quit
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => {})
  let found = await findOrHost(cli, signal)

  /** Starts an engine here when the process ends whose engine was used until then. */
  async function stayServed(): Promise<void> {
    while (found.isOfAnother && !signal.aborted) {
      await endOf(cli.socket, signal)
      await delay(POLL_MS)
      found = await findOrHost(cli, signal)
    }
    void found.own?.stopped.then(() =>
      stopped.reject(new CliError('the daemon of this process was stopped from outside')),
    )
  }

  const served = stayServed().catch((error: unknown) => {
    if (signal.aborted) return
    cli.note(`the daemon has stopped, and another one could not be started: ${(error as Error).message}`)
  })
  return {
    stopped: stopped.promise,
    async stop() {
      quit.abort()
      await served
      await found.own?.stop({ agents: isAlone(cli) ? 'end' : 'keep', now: true })
    },
  }
}

/** Resolves when the engine behind the socket has stopped. */
async function endOf(socket: string, signal: AbortSignal): Promise<void> {
  const { connect } = await import('../../client/client.ts')
  const client = await connect(socket).catch(() => null)
  const close = (): void => client?.close()
  signal.addEventListener('abort', close)
  try {
    if (client && !signal.aborted) for await (const _ of client.events({ types: ['daemon.renamed'] }));
  } catch {
    // The engine has stopped.
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

interface Found {
  /** Null when another process runs the engine. */
  own: Daemon | null
  /** The engine belongs to another `corral rpc`. */
  isOfAnother: boolean
}

async function findOrHost(cli: Cli, signal: AbortSignal): Promise<Found> {
  const { statusOf } = await import('../detach.ts')
  const alone = isAlone(cli)
  const deadline = Date.now() + START_MS
  for (let wait = POLL_MS; ; wait = Math.min(wait * 2, SLOWEST_POLL_MS)) {
    signal.throwIfAborted()
    const running = await statusOf(cli.socket)
    if (running && alone) {
      throw new CliError(
        `a daemon (pid ${running.pid}) is running for ${cli.home}; leave out --standalone to use it`,
      )
    }
    if (running) return { own: null, isOfAnother: running.listeners.every(({ name }) => name === 'native') }
    try {
      return { own: await host(cli), isOfAnother: false }
    } catch (error) {
      // Another process holds the lock but does not listen, yet or any more: try again.
      const isTaken = (error as { code?: unknown }).code === 'storage'
      if (alone || !isTaken || Date.now() > deadline) throw error
    }
    await delay(wait)
  }
}

/** A daemon without its listeners for other clients. */
async function host(cli: Cli): Promise<Daemon> {
  const closed = {
    'http.enabled': false,
    'codecast.enabled': false,
    'humanlayer.enabled': false,
    'clawde.enabled': false,
    'relay.enabled': false,
  }
  const flags = { home: cli.home, socket: cli.socket, ...closed }
  const [{ loadConfig }, { runDaemon }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../daemon.ts'),
  ])
  const config = await loadConfig({ env: cli.env, flags })
  const orphanMs = Math.min(config.agents.orphanMs, isAlone(cli) ? ORPHAN_MS : Infinity)
  const own = { ...config, agents: { ...config.agents, orphanMs } }
  return runDaemon({ config: own, version, env: cli.env, homedir: homedir(), print: cli.note })
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
