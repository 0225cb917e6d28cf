import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { uuid } from '../../core/ids.ts'
import type { Daemon } from '../../daemon.ts'
import type { Memory } from '../../dialects/loaf/ports.ts'
import { within } from '../../dialects/loaf/within.ts'
import type { NativeClient } from '../../dialects/native/client.ts'
import { isHeadless } from '../../signin/headless.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { version } from '../version.ts'
import { corralOf } from './rpc-corral.ts'
import { signInWith } from './rpc-sign-in.ts'

/** How long a request waits for a daemon that is away; what runs is waited for however long it takes. */
const CALL_MS = 30_000
/** How long somebody else's engine may take to come up. */
const START_MS = 30_000
const POLL_MS = 50
const SLOWEST_POLL_MS = 500
/** Whatever still holds the process when its client has gone has had its chance. */
const EXIT_MS = 500
/** An engine that does not stop is left behind after this long. */
const STOP_MS = 20_000
/** How long agents outlive an engine that nobody comes after, and that could not end them. */
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

/** Whoever has the engine, or starts one here, may take longer than anybody waits; but nobody else ends its agents. */
async function leaveEarly(cli: Cli, starting: Promise<Engine>): Promise<number> {
  const left = starting.then(({ stop }) => stop()).catch(() => {})
  if (isAlone(cli)) await within(STOP_MS, left)
  exitSoon()
  return EXIT.ok
}

function exitSoon(): void {
  setTimeout(() => process.exit(), EXIT_MS).unref()
}

/** Its engine is for this client only. */
function isAlone({ options }: Cli): boolean {
  return options['standalone'] === true
}

interface Around {
  calls: NativeClient
  feed: NativeClient
  engine: Engine
  leaving: Promise<string>
}

/** Until the client has gone, or somebody wants an end. */
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

/** What runs the sessions: a daemon, or this process, or another one like this. */
interface Engine {
  /** Rejects when ours was stopped from outside. */
  stopped: Promise<never>
  /** What runs goes on for the next one, unless there will be none. */
  stop(): Promise<void>
}

async function engineFor(cli: Cli, quit: AbortController): Promise<Engine> {
  const { signal } = quit
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => {})
  let found = await findOrHost(cli, signal)

  /** When another client leaves with the engine that we have used, we have to have one. */
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

/** Resolves when nobody is there any more. */
async function endOf(socket: string, signal: AbortSignal): Promise<void> {
  const { connect } = await import('../../dialects/native/client.ts')
  const client = await connect(socket).catch(() => null)
  const close = (): void => client?.close()
  signal.addEventListener('abort', close)
  try {
    if (client && !signal.aborted) for await (const _ of client.events({ types: ['daemon.renamed'] }));
  } catch {
    // That is what was waited for.
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

interface Found {
  /** Null: another one runs. */
  own: Daemon | null
  /** One that another client has for itself. */
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
      // Somebody has the lock who does not listen yet, or does not any more: one of us will have it.
      const isTaken = (error as { code?: unknown }).code === 'storage'
      if (alone || !isTaken || Date.now() > deadline) throw error
    }
    await delay(wait)
  }
}

/** All of a daemon but its doors for others. */
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
