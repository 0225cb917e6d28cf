import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Everything Corral keeps, under one directory. */
export interface Paths {
  home: string
  config: string
  /** Who runs here: pid, version, listeners. Written by the daemon. */
  run: string
  /** Touched by a living daemon; agents end by themselves when it stays untouched for too long. */
  alive: string
  /** One folder per agent process: journal, stdin, exit status. */
  runs: string
  db: string
  log: string
  /** What lets its owner in at the front door. */
  token: string
  /** Which secrets there are, and those that no keychain has. */
  signin: string
  /** What a daemon in the background prints. */
  output: string
  socket: string
}

export function pathsOf(home: string): Paths {
  return {
    home,
    config: join(home, 'config.yaml'),
    run: join(home, 'run.json'),
    alive: join(home, 'alive'),
    runs: join(home, 'runs'),
    db: join(home, 'corral.db'),
    log: join(home, 'corral.log'),
    token: join(home, 'token'),
    signin: join(home, 'signin.json'),
    output: join(home, 'corral.out'),
    socket: join(home, 'corral.sock'),
  }
}

export interface PathOptions {
  env: NodeJS.ProcessEnv
  flags?: { home?: string | undefined; socket?: string | undefined } | undefined
  homedir?: string | undefined
}

/** The data directory. It cannot be set in the configuration file, which is inside it. */
export function homeOf({ env, flags, homedir: user = homedir() }: PathOptions): string {
  const chosen = flags?.home || env['CORRAL_HOME'] || '~/.corral'
  return resolve(expandTilde(chosen, user))
}

/** Where the daemon's socket is. Neither in the file: a client finds it without reading any. */
export function socketOf(options: PathOptions): string {
  const chosen = options.flags?.socket || options.env['CORRAL_SOCKET']
  return chosen ? resolve(expandTilde(chosen, options.homedir ?? homedir())) : pathsOf(homeOf(options)).socket
}

function expandTilde(path: string, user: string): string {
  return path === '~' || path.startsWith('~/') ? join(user, path.slice(1)) : path
}
