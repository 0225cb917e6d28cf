import { findProgram, versionOf } from '../agents/find.ts'
import { type Check, checksOf } from './check.ts'

export interface Machine {
  platform: NodeJS.Platform
  arch: string
  node: string
  git: { path: string; version: string | null } | null
  /** Programs that processes of agents are started with. */
  missing: string[]
}

const NEEDED = ['sh', 'mkfifo']

export async function lookAtMachine(env: NodeJS.ProcessEnv): Promise<Machine> {
  const [git, ...needed] = await Promise.all(['git', ...NEEDED].map((name) => findProgram(name, env)))
  return {
    platform: process.platform,
    arch: process.arch,
    node: process.versions.node,
    git: git ? { path: git, version: (await versionOf(git, env)).version } : null,
    missing: NEEDED.filter((_, index) => !needed[index]),
  }
}

const OLDEST_NODE = 24
const { ok, warn, error } = checksOf('machine')

export function judgeMachine({ platform, arch, node, git, missing }: Machine): Check[] {
  return [
    Number.parseInt(node, 10) >= OLDEST_NODE
      ? ok('node', `Node ${node}`)
      : error('node', `Node ${node} is too old`, `install Node ${OLDEST_NODE} or newer`),
    judgePlatform(platform, arch),
    missing.length === 0
      ? ok('programs', `${NEEDED.join(' and ')} are on the PATH`)
      : error(
          'programs',
          `not on the PATH: ${missing.join(', ')}`,
          'put the directories of the system (/usr/bin:/bin) on the PATH: agents cannot be started without',
        ),
    judgeGit(git),
  ]
}

function judgePlatform(platform: NodeJS.Platform, arch: string): Check {
  const name = `${platform} ${arch}`
  if (platform === 'linux' || platform === 'darwin') return ok('platform', name)
  const fix = platform === 'win32' ? 'run Corral inside WSL' : 'use Linux or macOS'
  return error('platform', `${name}: Corral runs on Linux and macOS`, fix)
}

function judgeGit(git: Machine['git']): Check {
  const fix = 'install git: agents use it to see and undo what they have changed'
  if (!git) return warn('git', 'not on the PATH', fix)
  return git.version === null
    ? warn('git', `${git.path} does not run`, fix)
    : ok('git', `${git.version}, ${git.path}`)
}
