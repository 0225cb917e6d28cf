import { existsSync, rmdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { clawdeTokenFile } from '../../dialects/clawde/settings.ts'
import { takeLock } from '../../system/lock.ts'
import { remainsElsewhere, remainsIn, remainsOfOthers, type Remain } from '../../system/remains.ts'
import { uninstallService } from '../../system/service/manage.ts'
import type { Cli, Command } from '../cli.ts'
import { statusOf } from '../detach.ts'
import { bytes, clean, table } from '../format.ts'
import { hasService, ownService } from '../own-service.ts'
import { stopDaemon } from './daemon.ts'

export const uninstall: Command = async (cli) => {
  const running = await statusOf(cli.socket)
  const service = hasService(cli) ? ownService(cli) : null
  const found = remains(cli)
  const isDone = cli.options['yes'] === true
  if (isDone) {
    if (service) await uninstallService(service, cli.env)
    if (await statusOf(cli.socket)) await stopDaemon(cli, 'end', true)
    remove(cli, found)
  }
  const [removed, kept] = [found.filter((one) => one.kept === null), found.filter((one) => one.kept !== null)]
  if (cli.json)
    return cli.printJson({
      done: isDone,
      daemon: running?.pid ?? null,
      service: service?.path ?? null,
      removed,
      kept,
    })
  const verb = isDone ? 'removed' : 'would remove'
  if (running)
    cli.print(`${isDone ? 'stopped' : 'would stop'} the daemon and its agents (pid ${running.pid})`)
  if (service) cli.print(`${verb} the service ${clean(service.path)}`)
  if (removed.length > 0) {
    cli.print(`${verb} ${bytes(removed.reduce((sum, one) => sum + one.bytes, 0))}:`)
    cli.print(table(removed.map(({ path, what, bytes: size }) => [`  ${clean(path)}`, bytes(size), what])))
  }
  if (kept.length > 0) {
    cli.print('left alone:')
    cli.print(table(kept.map(({ path, what, kept: why }) => [`  ${clean(path)}`, what, why ?? ''])))
  }
  sayRest(cli, isDone)
}

function remains({ home, env }: Cli): Remain[] {
  const token = clawdeTokenFile(env, homedir(), process.platform)
  return [...remainsIn(home), ...remainsElsewhere(home, homedir()), ...remainsOfOthers(homedir(), token)]
}

/** Under the daemon's lock: one that starts meanwhile keeps its data. */
function remove({ home }: Cli, found: readonly Remain[]): void {
  if (!existsSync(home)) return
  const lock = takeLock(join(home, 'lock'), join(home, 'run.json'))
  try {
    const ours = found.filter(({ path, kept }) => kept === null && !isLock(path))
    for (const { path, folder } of ours) {
      if (folder) removeIfEmpty(path)
      else rmSync(path, { recursive: true, force: true })
    }
  } finally {
    lock.release()
  }
  for (const name of ['lock', 'lock-journal']) rmSync(join(home, name), { force: true })
  removeIfEmpty(home)
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something is in it that is not ours.
  }
}

/** It is held until everything else is gone. */
function isLock(path: string): boolean {
  return /^lock(-journal)?$/.test(basename(path))
}

function sayRest(cli: Cli, isDone: boolean): void {
  cli.note(
    'checkpoints are refs of your repositories (refs/corral); what a keychain has, `corral logout` removes first',
  )
  if (!isDone)
    cli.note('nothing was changed; to do it: corral uninstall --yes (corral backup FILE keeps a copy)')
  else cli.note('the program itself: npm uninstall --global corral')
}
