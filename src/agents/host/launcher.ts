import { join } from 'node:path'
import type { LaunchPlan } from '../agent.ts'
import type { HostDeps } from './deps.ts'
import { openFifo } from './fifo.ts'
import { launch, runFiles, type Launched } from './wrapper.ts'

type LauncherDeps = Pick<HostDeps, 'env' | 'credentials' | 'newId' | 'options'>

/** Starts a process and tells it its greeting. */
export type Launcher = (plan: LaunchPlan, agent: string) => Promise<Launched>

/** What a process is told at once is written before anything is noted: a crash in between leaves a process that is swept. */
export function createLauncher({ env, credentials, newId, options }: LauncherDeps): Launcher {
  const { runsDir, aliveFile, orphanMs } = options
  return async (plan, agent) => {
    const given = { ...env, ...(await credentials?.(agent)) }
    const id = newId()
    const dir = join(runsDir, id)
    const launched = { id, dir, child: await launch({ dir, plan, env: given, aliveFile, orphanMs }) }
    await tell(launched, plan.greeting)
    return launched
  }
}

/** More than the FIFO holds takes as long as the agent takes to read it, or dies. */
export async function tell({ dir, child }: Launched, lines: string[]): Promise<void> {
  const fifo = openFifo(runFiles(dir).input)
  const died = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await Promise.race([fifo.write(lines), died]).finally(() => fifo.close())
}
