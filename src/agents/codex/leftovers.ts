import { readdir, readFile, readlink, rmdir, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Session } from '../../core/session.ts'

const PATIENCE_MS = 2000
const LOOK_MS = 20

/** Empty folders that the sandbox of a command makes, and leaves behind when the command is cut off. */
const FOLDERS = ['.git', '.codex', '.agents', '.aws']

const THREAD = 'CODEX_THREAD_ID='

/**
 * What is in the environment of every command of a session. Codex names the conversation; its sub-agents have others, but the
 * session's id, unless the user's settings take it out.
 */
export function marksOf({ id, nativeId }: Session, children: string[] = []): string[] {
  const threads = nativeId === null ? children : [nativeId, ...children]
  return [`CORRAL_SESSION_ID=${id}`, ...threads.map((thread) => `${THREAD}${thread}`)]
}

/**
 * Ends the commands that an interrupted turn left running. They end by SIGTERM, which lets the sandbox tidy up after
 * itself; what does not is killed. Linux only: elsewhere Codex's own way to end them has to do.
 */
export async function endCommands(marks: string[]): Promise<void> {
  const commands = await marked(marks)
  signal(commands, 'SIGTERM')
  await untilGone(commands, marks, PATIENCE_MS)
  signal(await marked(marks), 'SIGKILL')
}

/** Whether no command with these marks runs any more, at the latest after so many milliseconds. */
export async function areGone(marks: string[], withinMs: number): Promise<boolean> {
  await untilGone(await marked(marks), marks, withinMs)
  return (await marked(marks)).length === 0
}

async function untilGone(commands: number[], marks: string[], withinMs: number): Promise<void> {
  const end = Date.now() + withinMs
  for (let left = commands; left.length > 0 && Date.now() < end; left = await withMark(left, marks)) {
    await setTimeout(LOOK_MS)
  }
}

/**
 * Removes the sandbox's folders that were made in that time; one with something in it is somebody's. They stay where the
 * command of a neighbour runs: they protect it, too.
 */
export async function removeFolders(
  directories: string[],
  { since, until }: { since: number; until: number },
  marks: string[],
): Promise<void> {
  const elsewhere = await placesOfOthers(marks)
  const free = directories.filter((directory) => !elsewhere.some((place) => isIn(place, directory)))
  const paths = free.flatMap((directory) => FOLDERS.map((name) => join(directory, name)))
  await Promise.all(
    paths.map(async (path) => {
      try {
        const { birthtimeMs } = await stat(path)
        if (birthtimeMs >= since && birthtimeMs <= until) await rmdir(path)
      } catch {
        // Not there, or not empty.
      }
    }),
  )
}

function isIn(place: string, directory: string): boolean {
  return `${place}${sep}`.startsWith(`${directory}${sep}`)
}

/** Where commands of Codex's run that are not ours: a sandbox stays where it was begun, wherever its command goes. */
async function placesOfOthers(marks: string[]): Promise<string[]> {
  const ours = new Set(await marked(marks))
  const others = (await processes()).filter((pid) => !ours.has(pid))
  const places = others.map(async (pid) => {
    if (!(await environmentOf(pid)).includes(`\0${THREAD}`)) return []
    return readlink(`/proc/${pid}/cwd`).then(
      (place) => [place],
      () => [],
    )
  })
  return (await Promise.all(places)).flat()
}

async function marked(marks: string[]): Promise<number[]> {
  return withMark(await processes(), marks)
}

async function withMark(pids: number[], marks: string[]): Promise<number[]> {
  const found = pids.map(async (pid) => {
    const environment = await environmentOf(pid)
    return marks.some((mark) => environment.includes(`\0${mark}\0`)) ? [pid] : []
  })
  return (await Promise.all(found)).flat()
}

async function processes(): Promise<number[]> {
  if (process.platform !== 'linux') return []
  return (await readdir('/proc')).flatMap((name) =>
    /^\d+$/.test(name) && Number(name) !== process.pid ? [Number(name)] : [],
  )
}

/** Empty for one that is not ours to read, or gone already. */
async function environmentOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/environ`, 'latin1').then(
    (text) => `\0${text}`,
    () => '',
  )
}

function signal(pids: number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It is gone.
    }
  }
}
