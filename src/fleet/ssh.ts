import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { stripVTControlCharacters } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a connection may take to stand. */
const READY_MS = 20_000
const LOOK_MS = 50
/** Of what ssh has to say when it fails. */
const MAX_WORDS = 2000
const MARK = 'corral-socket:'

/** Where the daemon there listens, in the words of a shell; the rest of what it prints is somebody's greeting. */
const FIND_SOCKET = `sh -c 'printf "\\n${MARK}%s\\n" "\${CORRAL_SOCKET:-\${CORRAL_HOME:-$HOME/.corral}/corral.sock}"'`

/**
 * The user's own ssh with the user's own settings: host keys are checked as always, and nobody is asked for a password. Nothing but the one
 * socket is forwarded.
 */
const OPTIONS = [
  '-a',
  '-x',
  '-T',
  ...['BatchMode=yes', 'ConnectTimeout=15', 'ServerAliveInterval=15', 'ServerAliveCountMax=3'].flatMap(
    option,
  ),
  ...['ExitOnForwardFailure=yes', 'StreamLocalBindUnlink=yes', 'StreamLocalBindMask=0177'].flatMap(option),
  ...['ControlMaster=no', 'ControlPath=none', 'PermitLocalCommand=no'].flatMap(option),
]

function option(text: string): string[] {
  return ['-o', text]
}

export interface Tunnel {
  /** Resolves when it is over, with the reason. */
  readonly closed: Promise<string>
  close(): void
}

export interface TunnelOptions {
  /** `user@host`, or whatever else ssh takes for a host. */
  target: string
  /** Where to make the socket of the daemon there available here. */
  socket: string
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** Resolves when the socket can be connected to. */
export async function openTunnel({ target, socket, env, signal }: TunnelOptions): Promise<Tunnel> {
  const remote = await findSocket(target, env, signal)
  rmSync(socket, { force: true })
  // What it runs there ends with this daemon, however that ends: then its standard input is over.
  const child = ssh(['-L', `${socket}:${remote}`, '--', target, 'cat >/dev/null'], env)
  const words = lastWords(child)
  const closed = once(child, 'close').then(
    () => words() || 'the connection ended',
    (error: Error) => error.message,
  )
  const close = (): void => {
    child.kill('SIGTERM')
    rmSync(socket, { force: true })
  }
  signal.addEventListener('abort', close)
  void closed.then(() => signal.removeEventListener('abort', close))
  const isOver = closed.then((reason) => ({ reason }))
  for (let waited = 0; !(await canConnect(socket)); waited += LOOK_MS) {
    const over = await Promise.race([isOver, sleep(LOOK_MS, null)])
    if (over) throw new Error(over.reason)
    if (waited < READY_MS) continue
    close()
    throw new Error('ssh took too long to connect')
  }
  return { closed, close }
}

/** That a socket has a name does not mean yet that somebody listens there. */
function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

async function findSocket(target: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const child = ssh(['--', target, FIND_SOCKET], env)
  const end = (): void => void child.kill('SIGTERM')
  const timer = setTimeout(end, READY_MS)
  signal.addEventListener('abort', end)
  try {
    child.stdin!.end()
    const words = lastWords(child)
    let output = ''
    child.stdout!.setEncoding('utf8')
    child.stdout!.on('data', (text: string) => (output = (output + text).slice(-64 * 1024)))
    const [code] = (await once(child, 'close')) as [number | null]
    const line = output.split('\n').find((one) => one.startsWith(MARK))
    if (code === 0 && line !== undefined) return line.slice(MARK.length).trim()
    throw new Error(words() || `ssh ended with ${code}`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

function ssh(args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(env['CORRAL_SSH'] ?? 'ssh', [...OPTIONS, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin!.on('error', () => {}) // It has ended: `close` says so.
  return child
}

/** What it said last on stderr, made for people. */
function lastWords(child: ChildProcess): () => string {
  let text = ''
  child.stderr!.setEncoding('utf8')
  child.stderr!.on('data', (piece: string) => (text = (text + piece).slice(-MAX_WORDS)))
  return () => stripVTControlCharacters(text).trim().split('\n').at(-1)!.trim()
}
