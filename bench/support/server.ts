import type { ChildProcess } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arrival } from '../../test/support/wait.ts'
import { end, type Workshop } from './workshop.ts'

/** A server in a process of its own. */
export interface Server {
  readonly pid: number
  /** From the start of the process to its first line, which it prints when it listens. */
  readonly readyMs: number
  /** Resident memory, in MB. */
  memory(): number
  stop(): Promise<void>
}

export interface BenchDaemon extends Server {
  /** Of the Codecast listener. */
  readonly port: number
  /** Of the native listener. */
  readonly socket: string
  /** The socket for HumanLayer clients. */
  readonly humanlayer: string
  /** The port for programs that speak to an API. */
  readonly relay: number
  /** Where the dashboard is. */
  readonly origin: string
  /** The native API on WebSocket, and what opens it. */
  readonly webSocket: string
  readonly token: string
  /** The port for ClawDE clients, and what opens it. */
  readonly clawde: number
  readonly clawdeToken: string
  /** A directory for sessions to be in. */
  readonly project: string
}

export interface DaemonOptions {
  /** Another copy of the program. */
  program?: string
  /** A user's home that is there already. */
  home?: string
  env?: NodeJS.ProcessEnv
  nodeArgs?: string[]
}

/** The built program, with nothing of this machine's user in its environment. */
export async function startDaemon(shop: Workshop, options: DaemonOptions = {}): Promise<BenchDaemon> {
  const home = options.home ?? shop.directory()
  const project = join(home, 'project')
  for (const name of ['project', 'tmp']) mkdirSync(join(home, name), { recursive: true })
  const args = [...(options.nodeArgs ?? []), options.program ?? shop.program, 'start', '--json']
  const { server, line } = await start(shop, args, {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    // An agent may be given a home of its own; ClawDE's token is here all the same.
    CLAWD_DATA_DIR: join(home, 'clawd'),
    CORRAL_HOME: join(home, '.corral'),
    CORRAL_PORT: '0',
    CORRAL_CODECAST_PORT: '0',
    CORRAL_CLAWDE_PORT: '0',
    CORRAL_RELAY_PORT: '0',
    ...options.env,
  })
  const { listeners } = JSON.parse(line) as {
    listeners: Record<'native' | 'corral' | 'codecast' | 'humanlayer' | 'clawde' | 'relay', string>
  }
  return Object.assign(server, {
    port: Number(new URL(listeners.codecast).port),
    socket: listeners.native,
    humanlayer: listeners.humanlayer,
    relay: Number(new URL(listeners.relay).port),
    origin: new URL(listeners.corral).origin,
    webSocket: `${listeners.corral.replace('http', 'ws')}/native`,
    token: readFileSync(join(home, '.corral', 'token'), 'utf8'),
    clawde: Number(new URL(listeners.clawde).port),
    clawdeToken: readFileSync(join(home, 'clawd', 'auth_token'), 'utf8'),
    project,
  })
}

const BARE_HTTP = `import { createServer } from 'node:http'
const server = createServer((req, res) => req.resume().on('end', () => res.end('{"ok":true}')))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** The least that a Node program can be which listens for HTTP. */
export async function startBareHttp(shop: Workshop): Promise<Server & { port: number }> {
  const { server, line } = await startScript(shop, BARE_HTTP)
  return Object.assign(server, { port: Number(line) })
}

const BARE_ECHO = `import { createServer } from 'node:net'
let rest = ''
const answer = (line) => JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result: {} }) + '\\n'
const server = createServer((socket) => socket.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\\n')
  rest = lines.pop()
  socket.write(lines.map(answer).join(''))
}))
server.listen('echo.sock', () => console.log('ready'))
`

/** Answers lines of JSON-RPC on a Unix socket with nothing. */
export async function startBareEcho(shop: Workshop): Promise<Server & { socket: string }> {
  const { server, directory } = await startScript(shop, BARE_ECHO)
  return Object.assign(server, { socket: join(directory, 'echo.sock') })
}

const BYTE_ECHO = `import { createServer } from 'node:net'
const server = createServer((socket) => socket.on('data', (bytes) => socket.write(bytes)))
server.listen('echo.sock', () => console.log('ready'))
`

/** The least that a Node program can be which answers on a Unix socket: it looks at nothing. */
export async function startByteEcho(shop: Workshop): Promise<Server & { socket: string }> {
  const { server, directory } = await startScript(shop, BYTE_ECHO)
  return Object.assign(server, { socket: join(directory, 'echo.sock') })
}

async function startScript(shop: Workshop, text: string) {
  const directory = shop.directory()
  const file = join(directory, 'server.mjs')
  writeFileSync(file, text)
  return { ...(await start(shop, [file], { PATH: process.env['PATH'] }, directory)), directory }
}

/** Any other program that prints a line when it is ready. */
export function startProgram(shop: Workshop, args: string[]): Promise<{ server: Server; line: string }> {
  return start(shop, args, { PATH: process.env['PATH'] })
}

async function start(shop: Workshop, args: string[], env: NodeJS.ProcessEnv, cwd?: string) {
  const startedAt = performance.now()
  const child = shop.spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const line = await firstLine(child)
  const server: Server = {
    pid: child.pid!,
    readyMs: performance.now() - startedAt,
    memory: () => memoryOf(child.pid!),
    stop: () => end(child),
  }
  return { server, line }
}

function firstLine(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let text = ''
  let problems = ''
  const about = (problem: string): string => `${child.spawnargs.join(' ')}: ${problem}\n${problems}`
  child.once('exit', () => reject(new Error(about('ended'))))
  child.stderr!.on('data', (bytes: Buffer) => (problems += bytes.toString()))
  child.stdout!.on('data', (bytes: Buffer) => {
    text += bytes.toString()
    const end = text.indexOf('\n')
    if (end >= 0) resolve(text.slice(0, end))
  })
  return arrival(promise, () => about('is ready'))
}

/** Where there is no `/proc`, by `ps`; starting that disturbs whatever else is measured. */
export function memoryOf(pid: number): number {
  if (process.platform === 'linux') {
    const [, kb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kb) / 1024
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024
}
