import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exchange, newSession } from './support/codecast.ts'
import type { Result } from './support/row.ts'
import { type BenchDaemon, startDaemon } from './support/server.ts'
import { median, spread } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const FILES = 2000
const ROUNDS = 30
const FIRST_TURNS = 3

type Times = Record<'off' | 'unchanged' | 'changed', number[]>

/** What it costs a turn that the files are kept as they are before it: message → first token, in a repository of some size. */
export async function checkpoint(shop: Workshop): Promise<Result[]> {
  const [off, on] = [await place(shop, 'false'), await place(shop, 'true')]
  const times: Times = { off: [], unchanged: [], changed: [] }
  for (let round = -FIRST_TURNS; round < ROUNDS; round++) {
    const into = round < 0 ? { off: [], unchanged: [], changed: [] } : times
    into.off.push(await off.turn())
    into.unchanged.push(await on.turn())
    on.change(round)
    into.changed.push(await on.turn())
  }
  for (const { daemon } of [off, on]) await daemon.stop()
  return rows(times)
}

interface Place {
  daemon: BenchDaemon
  turn(): Promise<number>
  /** What a person does between two turns. */
  change(round: number): void
}

async function place(shop: Workshop, checkpoints: 'true' | 'false'): Promise<Place> {
  const daemon = await startDaemon(shop, { env: { CORRAL_CHECKPOINTS_ENABLED: checkpoints } })
  const { port, project } = daemon
  repository(project)
  const sessionId = await newSession(port, project, 'demo')
  return {
    daemon,
    turn: async () => (await exchange(port, sessionId, '[[say hello]]')).firstMs,
    change: (round) => writeFileSync(join(project, 'src/0/0.ts'), `export const n = ${round}\n`),
  }
}

function repository(path: string): void {
  for (let n = 0; n < FILES; n++) {
    const folder = join(path, 'src', String(n % 40))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${n}.ts`), `export const n = ${n}\n`.repeat(50))
  }
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], {
      cwd: path,
    })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'all')
}

function rows({ off, unchanged, changed }: Times): Result[] {
  const row = (name: string, values: number[]): Result => ({
    name,
    value: median(values),
    unit: 'ms',
    ...(values === off ? {} : { ratio: median(values) / median(off) }),
    note: spread(values),
  })
  return [
    row(`a turn in a repository of ${FILES} files, without checkpoints`, off),
    row('… with one, where nothing has changed', unchanged),
    row('… with one, where a file has changed', changed),
  ]
}
