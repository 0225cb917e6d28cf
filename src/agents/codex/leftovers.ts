import { readdirSync, readFileSync } from 'node:fs'
import { rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const PATIENCE_MS = 2000
const LOOK_MS = 20

/** Empty folders that the sandbox of a command makes, and leaves behind when the command is cut off. */
const FOLDERS = ['.git', '.codex', '.agents', '.aws']

/**
 * Ends the commands that an interrupted turn left running. They end by SIGTERM, which lets the sandbox tidy up after
 * itself; what does not is killed. Linux only: elsewhere Codex's own way to end them has to do.
 */
export async function endCommands(thread: string): Promise<void> {
  signal(commandsOf(thread), 'SIGTERM')
  if (!(await areGone(thread, PATIENCE_MS))) signal(commandsOf(thread), 'SIGKILL')
}

/** Whether no command of this conversation runs any more, at the latest after so many milliseconds. */
export async function areGone(thread: string, withinMs: number): Promise<boolean> {
  for (const end = Date.now() + withinMs; ; await setTimeout(LOOK_MS)) {
    if (commandsOf(thread).length === 0) return true
    if (Date.now() >= end) return false
  }
}

/** Removes the sandbox's folders that were made since then; one with something in it is somebody's. */
export async function removeFolders(directories: string[], since: number): Promise<void> {
  const paths = directories.flatMap((directory) => FOLDERS.map((name) => join(directory, name)))
  await Promise.all(
    paths.map(async (path) => {
      try {
        if ((await stat(path)).birthtimeMs >= since) await rmdir(path)
      } catch {
        // Not there, or not empty.
      }
    }),
  )
}

/** Codex names the conversation in the environment of every command. */
function commandsOf(thread: string): number[] {
  if (process.platform !== 'linux') return []
  const mark = `\0CODEX_THREAD_ID=${thread}\0`
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  return pids.filter((pid) => {
    try {
      return pid !== process.pid && `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(mark)
    } catch {
      return false // Not ours to read, or gone already.
    }
  })
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
