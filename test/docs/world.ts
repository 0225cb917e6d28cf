import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect, type NativeClient } from '../../src/client/client.ts'
import type { RunFile } from '../../src/system/run-file.ts'
import { COMPILED } from '../support/daemon.ts'
import { MAIN } from '../support/program.ts'
import { arrival, until } from '../support/wait.ts'

export interface Ended {
  code: number | null
  output: string
}

/** A user with an empty home, a git repository, the demo agent and `corral` on the PATH. */
export interface World {
  /** As typed into a shell in the repository. `untilSaid`: it does not end by itself, and is ended when it has said something. */
  run(script: string, options?: { env?: NodeJS.ProcessEnv; untilSaid?: boolean }): Promise<Ended>
  /** A text with the ids and ports of examples replaced by those of real things, made for it. */
  real(text: string): Promise<string>
  isRunning(): boolean
  end(): Promise<void>
}

/** Where nothing of that name is installed: the few words of it that the documentation uses. */
const NETCAT = `
import { connect } from 'node:net'
const socket = connect(process.argv.at(-1))
socket.pipe(process.stdout)
process.stdin.pipe(socket, { end: process.argv.some((arg) => /^-\\w*N/.test(arg)) })
socket.on('close', () => process.exit())
`

export function makeWorld(): World {
  const home = mkdtempSync(join(tmpdir(), 'corral-docs-'))
  const repository = join(home, 'work')
  const bin = join(home, 'bin')
  for (const directory of [repository, bin, join(home, 'tmp')]) mkdirSync(directory)
  const env = environment(home, bin)
  program(join(bin, 'corral'), `exec "${process.execPath}" "${MAIN}" "$@"`)
  if (spawnSync('nc', ['-h']).error) {
    writeFileSync(join(bin, 'nc.mjs'), NETCAT)
    program(join(bin, 'nc'), `exec "${process.execPath}" "${join(bin, 'nc.mjs')}" "$@"`)
  }
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: repository, env })
  git('init', '--quiet', '--initial-branch=main')
  git('commit', '--quiet', '--allow-empty', '--message=begin')
  // What the examples read.
  writeFileSync(join(repository, 'key.txt'), 'sk-example\n')

  const runFile = join(home, '.corral/run.json')
  const listeners = (): RunFile['listeners'] =>
    (JSON.parse(readFileSync(runFile, 'utf8')) as RunFile).listeners
  const withClient = async <T>(work: (client: NativeClient) => Promise<T>): Promise<T> => {
    const client = await connect(listeners()['native']!)
    return work(client).finally(() => client.close())
  }
  const world: World = {
    run: (script, options) =>
      shell(script, { cwd: repository, env: { ...env, ...options?.env } }, options?.untilSaid),
    isRunning: () => existsSync(runFile),
    async real(text) {
      let found = text
      for (const [example, make] of Object.entries(EXAMPLES))
        if (found.includes(example))
          found = found.replaceAll(example, await withClient((client) => make(client, repository)))
      for (const [port, name] of Object.entries(PORTS))
        if (found.includes(`:${port}`))
          found = found.replaceAll(`:${port}`, `:${new URL(listeners()[name]!).port}`)
      return found
    },
    async end() {
      await world.run('corral stop --now')
      rmSync(home, { recursive: true, force: true })
    },
  }
  return world
}

function environment(home: string, bin: string): NodeJS.ProcessEnv {
  const author = { GIT_AUTHOR_NAME: 'Reader', GIT_AUTHOR_EMAIL: 'reader@example.com' }
  return {
    PATH: [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    LANG: 'C.UTF-8',
    ...COMPILED,
    ...author,
    GIT_COMMITTER_NAME: author.GIT_AUTHOR_NAME,
    GIT_COMMITTER_EMAIL: author.GIT_AUTHOR_EMAIL,
    CORRAL_VERIFY: '1',
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    CORRAL_PORT: '0',
    CORRAL_CODECAST_PORT: '0',
    CORRAL_CLAWDE_PORT: '0',
    CORRAL_RELAY_PORT: '0',
    CORRAL_RELAY_AGENT: 'demo',
    CORRAL_HUMANLAYER_AGENT: 'demo',
    CORRAL_DEFAULTS_AGENT: 'demo',
    CORRAL_DEMO_STATE: join(home, 'demo'),
    CORRAL_SIGNIN_KEYCHAIN: 'false',
  }
}

function program(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`)
  chmodSync(path, 0o755)
}

/** The ports of the documentation, by the listener that has them if nobody says otherwise. */
const PORTS: Readonly<Record<string, string>> = { 2677: 'corral', 7421: 'relay', 9100: 'codecast' }

/** The ids of examples, and what stands for each: whoever writes another example uses one of these, or adds its own here. */
const EXAMPLES: Readonly<Record<string, (client: NativeClient, cwd: string) => Promise<string>>> = {
  // A session with a worktree of its own, in which something has changed.
  '5acbbca2': async (client, cwd) => {
    const session = await client.call('session.create', { agent: 'demo', cwd, worktree: true, mode: 'auto' })
    await turn(client, session.id, 'hello')
    writeFileSync(join(session.cwd, `${session.id}.txt`), 'work\n')
    return session.id
  },
  // A session that a program got the id of.
  '01a1…': async (client, cwd) => (await client.call('session.create', { agent: 'demo', cwd })).id,
  // Approvals that are open: commands, and a question.
  'cbbca2.1': (client, cwd) => asked(client, cwd, '[[shell make deploy]]'),
  'c5c034.1': (client, cwd) => asked(client, cwd, '[[shell make deploy]]'),
  'c5c034.2': (client, cwd) => asked(client, cwd, '[[ask Which branch do you want to release?]]'),
}

async function turn(client: NativeClient, sessionId: string, content: string): Promise<void> {
  await client.call('session.send', { sessionId, content })
  const ended = async () => (await client.call('session.get', { sessionId })).lastOutcome !== null
  await until(ended, () => `the turn of ${sessionId} ends`)
}

async function asked(client: NativeClient, cwd: string, content: string): Promise<string> {
  const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd, mode: 'ask' })
  await client.call('session.send', { sessionId, content })
  const open = async () => (await client.call('approval.list', { sessionId, open: true })).approvals[0]
  return (await until(open, 'the demo agent asks')).id
}

/** Nothing can be typed. */
async function shell(
  script: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
  untilSaid = false,
): Promise<Ended> {
  const child = spawn('/bin/bash', ['-euo', 'pipefail', '-c', script], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const said = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      said.resolve()
    })
  const closed = once(child, 'close') as Promise<[number | null]>
  try {
    if (!untilSaid)
      return { code: (await arrival(closed, () => `it ends:\n${script}\n${output}`))[0], output }
    await arrival(Promise.race([said.promise, closed]), () => `it says something:\n${script}`)
    return { code: output === '' ? child.exitCode : 0, output }
  } finally {
    // All that it has started, but for a daemon, which is in a group of its own.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
}
