import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { LaunchPlan } from '../agent.ts'

/*
 * How an agent is started so that it does not need its daemon: stdin is a FIFO that it holds open itself (it never sees the
 * end of it), stdout and stderr are files. A small shell around it writes down its exit code and, when no daemon has touched
 * the `alive` file for long enough, ends the whole group.
 */

export const runFiles = (dir: string) => ({
  input: join(dir, 'in'),
  journal: join(dir, 'out'),
  errors: join(dir, 'err'),
  exit: join(dir, 'exit'),
  pid: join(dir, 'pid'),
})

/** In the environment of an agent and of all that it starts, wherever they go. */
export const markOf = (runId: string): string => `CORRAL_RUN=${runId}`

// The traps are handlers, not `ignore`, so that the agent starts with signals as they should be. A background shell
// ignores SIGINT by itself: an interrupt of the group does not end the watch. The shell's own remarks ("Killed") are kept
// out of the agent's stderr. The exit code has its place from the start: a disk that is full by then must not keep it.
const SCRIPT = `
dir=$1 alive=$2 pause=$3
shift 3
trap : INT TERM HUP
echo $$ > "$dir/pid"
echo '        ' > "$dir/exit.tmp"
(
  exec < /dev/null > /dev/null 2>&1
  trap - TERM HUP
  missed=0
  while touch "$dir/seen"; do
    sleep "$pause" &
    echo $! > "$dir/nap"
    wait $! || exit
    if [ "$alive" -nt "$dir/seen" ]; then missed=0; continue; fi
    missed=$((missed + 1))
    if [ $missed -ge 2 ]; then
      trap '' TERM
      kill -TERM 0
      kill -CONT 0
      tries=0
      while [ $tries -lt 10 ] && [ ! -e "$dir/exit" ]; do sleep 1; tries=$((tries + 1)); done
      kill -KILL 0
    fi
  done
  trap '' TERM
  kill -TERM 0
) &
echo $! > "$dir/watch"
exec 3>&2 2> /dev/null
(exec "$@" 2>&3 3>&-)
code=$?
echo $code 1<> "$dir/exit.tmp" && mv "$dir/exit.tmp" "$dir/exit"
trap '' TERM
kill -TERM 0
exit $code
`

export interface LaunchOptions {
  dir: string
  plan: LaunchPlan
  env: NodeJS.ProcessEnv
  /** Touched by every living daemon. */
  aliveFile: string
  /** How long an agent goes on without a daemon. */
  orphanMs: number
}

/** A process that runs and is nobody's yet. */
export interface Launched {
  id: string
  dir: string
  child: ChildProcess
}

const makeFifo = promisify(execFile)

export async function launch(options: LaunchOptions): Promise<ChildProcess> {
  const { dir } = options
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  try {
    return await start(options)
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw error
  }
}

/** A group that is stopped has a watch that goes on: an agent that nobody wakes again must end some day, too. */
export function wakeWatcher(dir: string): void {
  for (const file of [join(dir, 'watch'), join(dir, 'nap')]) {
    try {
      process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 'SIGCONT')
    } catch {
      // It is gone, and with it the need.
    }
  }
}

async function start({ dir, plan, env, aliveFile, orphanMs }: LaunchOptions): Promise<ChildProcess> {
  const files = runFiles(dir)
  await makeFifo('mkfifo', ['-m', '600', files.input])
  const append = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND
  const stdio: number[] = []
  try {
    stdio.push(openSync(files.input, constants.O_RDWR))
    for (const file of [files.journal, files.errors]) stdio.push(openSync(file, append, 0o600))
    const pause = String(Math.max(1, orphanMs / 2000))
    return await started(
      spawn('/bin/sh', ['-c', SCRIPT, 'corral-agent', dir, aliveFile, pause, plan.command, ...plan.args], {
        cwd: plan.cwd,
        env: {
          ...env,
          ...tmpIn(dir, plan),
          ...filesIn(dir, plan),
          ...plan.env,
          ...Object.fromEntries([markOf(basename(dir)).split('=')]),
        },
        stdio,
        detached: true,
      }),
    )
  } finally {
    for (const fd of stdio) closeSync(fd)
  }
}

function tmpIn(dir: string, { ownTmp }: LaunchPlan): NodeJS.ProcessEnv {
  if (!ownTmp) return {}
  const tmp = join(dir, 'tmp')
  mkdirSync(tmp, { mode: 0o700 })
  return { TMPDIR: tmp }
}

function filesIn(dir: string, { files = {} }: LaunchPlan): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(files).map(([variable, text]) => {
      const path = join(dir, variable)
      writeFileSync(path, text, { mode: 0o600 })
      return [variable, path]
    }),
  )
}

function started(child: ChildProcess): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => resolve(child))
    child.unref()
  })
}
