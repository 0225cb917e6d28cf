import { createHash } from 'node:crypto'

export const MANAGERS = ['systemd', 'launchd'] as const
export type Manager = (typeof MANAGERS)[number]

/** What a service is made from. */
export interface ServiceFacts {
  /** What starts this very program. */
  command: readonly string[]
  /** The data directory, and whether it is the usual one. */
  home: string
  isUsualHome: boolean
  /** Of the user who installs it: agents are found by their PATH. */
  env: { PATH?: string | undefined; CORRAL_SOCKET?: string | undefined; XDG_CONFIG_HOME?: string | undefined }
  homedir: string
  uid: number
}

/** A service of this user, as data: its file, and the commands that make the system take notice of it. */
export interface Service {
  manager: Manager
  /** What the manager calls it. */
  name: string
  path: string
  text: string
  /** Each is a program with its arguments. */
  install: readonly Step[]
  uninstall: readonly Step[]
  restart: Step
  /** Prints its state, which `readState` understands. */
  look: Step
  readState(printed: string): ServiceState
}

export type Step = readonly [program: string, ...args: string[]]

export interface ServiceState {
  isRunning: boolean
  /** Whether it starts with the machine, or with the next login; null: the manager does not say. */
  isEnabled: boolean | null
  pid: number | null
  /** In the manager's own words. */
  words: string
}

/** In every file that Corral writes for a manager: no other file is ever replaced or removed. */
export const MARK = 'Written by `corral service install`; `corral service uninstall` removes it.'

/** Each data directory has a service of its own. */
export function suffixOf({ home, isUsualHome }: ServiceFacts): string {
  return isUsualHome ? '' : `-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`
}

/** The arguments of the daemon: when the manager stops it, running turns go on, and the next one takes them over. */
export function daemonCommand({ command, home }: ServiceFacts): string[] {
  return [...command, 'start', '--keep-agents', '--home', home]
}

export function environmentOf({ env, home }: ServiceFacts): [name: string, value: string][] {
  const values = { PATH: env.PATH, CORRAL_HOME: home, CORRAL_SOCKET: env.CORRAL_SOCKET }
  return Object.entries(values).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []))
}
